package anonymize

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	jsoniter "github.com/json-iterator/go"

	"overlay/internal/chrome"
	"overlay/internal/trace"

	"overlay/internal/overlay"
)

// pseudonym stands for a text. It depends on the text alone, so that two traces of one program can be compared; who
// guesses the text can confirm the guess.
func pseudonym(prefix, text string) string {
	sum := sha256.Sum256([]byte("overlay\x00" + text))
	return prefix + hex.EncodeToString(sum[:5])
}

// Names that tell nothing of the user.
var (
	torchOp = regexp.MustCompile(`^(aten|prims|torch|c10|c10d|_c10d_functional|c10d_functional|autograd|quantized|inductor|fbgemm|nccl|symm_mem)::?[\w:. ]*$` +
		`|^triton_\w+$|^(record_param_comms|CompiledFunction(Backward)?|DataParallel\.forward)$|^\w*Backward\d+$|^Torch-Compiled Region: [\d/]+$`)
	torchNode       = regexp.MustCompile(`^(struct |class )?(torch|at|c10)::[\w:]+$|^\w*Backward\d+$`)
	torchAnnotation = regexp.MustCompile(`^ProfilerStep#\d+$|^PyTorch Profiler|^(nccl|gloo|mpi|ucc|xccl|hccl|rccl):[\w ->]*$|^(Distributed|FullySharded)DataParallel\.\w+$` +
		`|^FSDP::\w+$|^enumerate\(Data(Loader|Pipe)\)#_\w+ProcessingDataLoaderIter\.__next__$|^enumerate\(DataLoader\)#_SingleProcessDataLoaderIter\.__next__$|^TorchDynamo |^AOTDispatcher `)
	optimizer   = regexp.MustCompile(`^Optimizer\.(step|zero_grad)#(Adadelta|Adafactor|Adagrad|Adam|AdamW|Adamax|ASGD|LBFGS|NAdam|RAdam|RMSprop|Rprop|SGD|SparseAdam)\.(step|zero_grad)$`)
	vendorCall  = regexp.MustCompile(`^(cuda|cu|hip|hsa|ze|ur|pi|sycl|mtia|INVALID)\w*$`)
	pythonFrame = regexp.MustCompile(`^(.+)\((\d+)\): (.+)$`)
	module      = regexp.MustCompile(`^nn\.Module: (.+?)(_\d+)?$`)
	word        = regexp.MustCompile(`[A-Za-z]+`)
	threadName  = regexp.MustCompile(`^(thread|Thread) (-?\d+) ?(?:\((.*)\))?$`)
	plainRow    = regexp.MustCompile(`^ *((s|S)tream -?\d+|Device -?\d+|(GPU|CPU|MTIA|XPU|HPU)( \d+)?|CUPTI Overhead|Spans|Traces|(Trace )?PyTorch Profiler( \(\d+\))?|GPU: PyTorch Profiler.*) *$`)
	plainText   = regexp.MustCompile(`^([^\pL]|0x[0-9a-fA-F]+|True|False|None|true|false|inf|nan|Infinity|NaN|N/A)*$`)
	address     = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+|[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:]*`)
	shortList   = regexp.MustCompile(`^\d{0,4}$|^\[[\d, .]*\]$`)
)

// isPlain reports whether a text is numbers and signs only, and no address of a machine.
func isPlain(s string) bool { return plainText.MatchString(s) && !address.MatchString(s) }

// plainWords are the words of annotations that say no more than which part of a step it is.
var plainWords = map[string]bool{"forward": true, "backward": true, "fwd": true, "bwd": true, "optimizer": true, "step": true, "loss": true,
	"zero": true, "grad": true, "data": true, "load": true, "loader": true, "dataloader": true, "batch": true, "train": true, "eval": true,
	"iteration": true, "epoch": true, "copy": true, "to": true, "gpu": true, "wait": true, "for": true, "update": true}

// eventText is the name of an event that is safe to share.
func eventText(kind trace.Kind, ph byte, name string) string {
	switch kind {
	case trace.Kernel, trace.Memcpy, trace.Memset, trace.SyncRecord, trace.EventRecord, trace.Overhead:
		return name
	case trace.Runtime, trace.Driver:
		if vendorCall.MatchString(name) {
			return name
		}
		return pseudonym("call_", name)
	case trace.CPUOp:
		return opName(name)
	case trace.Annotation, trace.GPUAnnotation:
		return annotationName(name)
	case trace.Python:
		return frameName(name)
	case trace.Span:
		return rowText(name)
	}
	switch {
	case ph == 'M', name == "", plainFlow[name]:
		return name
	case strings.HasPrefix(name, "[") && strings.HasSuffix(name, "emory]"), name == "Record Window End", name == "Iteration Start: PyTorch Profiler":
		return name
	}
	return pseudonym("event_", name)
}

// plainFlow are names and categories of events that belong to no kind.
var plainFlow = map[string]bool{"ac2g": true, "async_gpu": true, "async_cpu_to_gpu": true, "launch": true, "async": true, "fwdbwd": true,
	"fwd_bwd": true, "forward_backward": true, "cpu_instant_event": true, "Trace": true, "critical_path": true, "critical_path_summary": true,
	"critical_path_analysis": true, "cdg": true, "": true}

func categoryName(cat string) string {
	if plainFlow[cat] {
		return cat
	}
	return pseudonym("cat_", cat)
}

func opName(name string) string {
	const engine = "autograd::engine::evaluate_function: "
	if node, ok := strings.CutPrefix(name, engine); ok {
		if torchNode.MatchString(node) {
			return name
		}
		return engine + pseudonym("op_", node) + backwardSuffix(node)
	}
	if torchOp.MatchString(name) || torchNode.MatchString(name) {
		return name
	}
	if safe := annotationName(name); safe == name { // the first schemas wrote annotations as ops
		return name
	}
	return pseudonym("op_", name) + backwardSuffix(name)
}

// backwardSuffix keeps what tells the phase of a node of the autograd graph.
func backwardSuffix(name string) string {
	if strings.HasSuffix(name, "Backward") {
		return "Backward"
	}
	return ""
}

func annotationName(name string) string {
	if name == "" || torchAnnotation.MatchString(name) || optimizer.MatchString(name) {
		return name
	}
	if rest, ok := strings.CutPrefix(name, "Optimizer."); ok {
		if verb, _, ok := strings.Cut(rest, "#"); ok && (verb == "step" || verb == "zero_grad") {
			return "Optimizer." + verb + "#" + pseudonym("", name)
		}
	}
	if rest, ok := strings.CutPrefix(name, "FSDP::"); ok {
		if verb, _, ok := strings.Cut(rest, " "); ok && torchAnnotation.MatchString("FSDP::"+verb) {
			return "FSDP::" + verb + " (" + pseudonym("", name) + ")"
		}
	}
	for _, w := range word.FindAllString(name, -1) {
		if !plainWords[strings.ToLower(w)] {
			return pseudonym("annotation_", name)
		}
	}
	return name
}

func frameName(name string) string {
	if m := pythonFrame.FindStringSubmatch(name); m != nil {
		return pseudonym("file_", m[1]) + ".py(" + m[2] + "): " + pseudonym("f_", m[3])
	}
	if m := module.FindStringSubmatch(name); m != nil {
		return "nn.Module: " + pseudonym("M", m[1]) + m[2]
	}
	if i := strings.Index(name, " at 0x"); i >= 0 {
		name = name[:i] // the address differs from run to run
	}
	if strings.HasPrefix(name, "<built-in ") {
		return "<built-in " + pseudonym("f_", name) + ">"
	}
	return pseudonym("f_", name)
}

// processText is the name of a process; ours and the profiler's stay.
func processText(s string) string {
	if s == "" || s == overlay.TrackRoot || plainRow.MatchString(s) {
		return s
	}
	return "process"
}

func threadText(s string) string {
	if m := threadName.FindStringSubmatch(s); m != nil {
		if m[3] == "" || strings.HasPrefix(m[3], "pt_") && plainThread[strings.TrimRight(m[3], "0123456789")] {
			return s
		}
		return m[1] + " " + m[2]
	}
	return rowText(s)
}

// plainThread are the names that PyTorch gives its threads.
var plainThread = map[string]bool{"pt_main_thread": true, "pt_autograd_": true, "pt_data_pin": true, "pt_data_worker": true, "pt_nccl_watchdg": true}

// rowText is a text that names a row.
func rowText(s string) string {
	if isPlain(s) || plainRow.MatchString(s) {
		return s
	}
	return pseudonym("row_", s)
}

// rowToken is a pid or tid as JSON.
func rowToken(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '"' {
		return raw
	}
	return chrome.AppendString(nil, rowText(jsoniter.Get(raw).ToString()))
}

// plainArgs are args whose texts come from PyTorch or a vendor.
var plainArgs = map[string]bool{"Input type": true, "dtype": true, "Collective name": true, "kind": true, "cuda_sync_kind": true, "direction": true,
	"kernel": true, "backend": true, "kernel_backend": true, "Trace name": false}

// appendValue appends a JSON value with its texts replaced. Texts under a key of plainArgs stay.
func appendValue(dst []byte, key string, value []byte) []byte {
	return appendStrings(dst, value, func(key, s string) string {
		switch {
		case plainArgs[key], isPlain(s), strings.HasPrefix(s, "critical_path_"):
			return s
		case key == "Process Group Description" && (s == "default_pg" || s == "undefined"):
			return s
		}
		return pseudonym("s_", s)
	})
}

// fieldValue is a top-level value that is safe to share. Texts get pseudonyms; of objects and lists only those stay
// that are known: others hold whole environments, and the profiler's logs hold paths and hosts.
func fieldValue(key string, value []byte) []byte {
	switch key {
	case "displayTimeUnit", "deviceProperties":
		return value
	case "distributedInfo":
	case "metadata": // ours, and what others put there
		return overlayOnly(value)
	default:
		if len(value) > 0 && value[0] == '{' {
			return []byte("{}")
		}
		if len(value) > 0 && value[0] == '[' {
			return []byte("[]")
		}
	}
	return appendStrings(nil, value, func(key, s string) string {
		if shortList.MatchString(s) || key == "backend" || key == "nccl_version" || key == "backend_config" && !strings.ContainsAny(s, "/@") {
			return s
		}
		return pseudonym("s_", s)
	})
}

// overlayOnly keeps the attributes of an earlier overlay.
func overlayOnly(value []byte) []byte {
	if len(value) == 0 || value[0] != '{' {
		return []byte("{}")
	}
	ours := chrome.AppendObject(nil, value, func(key []byte) bool { return !strings.HasPrefix(string(key), overlay.AttrPrefix) }, nil)
	return appendStrings(nil, ours, func(key, s string) string {
		if key == overlay.AttrAnnotation {
			return annotationName(s)
		}
		return s
	})
}

// appendStrings copies a JSON value and replaces its texts. text gets the innermost key around each, "" outside all.
func appendStrings(dst, value []byte, text func(key, s string) string) []byte {
	return appendStringsIn(dst, "", value, text)
}

func appendStringsIn(dst []byte, key string, v []byte, text func(key, s string) string) []byte {
	switch {
	case len(v) == 0:
		return append(dst, "null"...)
	case v[0] == '"':
		return chrome.AppendString(dst, text(key, jsoniter.Get(v).ToString()))
	case v[0] == '{':
		dst = append(dst, '{')
		for i, n := 1, 0; ; n++ {
			m, ok := chrome.NextMember(v, i)
			if !ok {
				return append(dst, '}')
			}
			i = m.End
			if n > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(append(dst, v[m.KeyAt:m.KeyAt+len(m.Key)+2]...), ": "...)
			dst = appendStringsIn(dst, string(m.Key), v[m.At:m.End], text)
		}
	case v[0] == '[':
		dst = append(dst, '[')
		for i, n := 1, 0; ; n++ {
			i = chrome.SkipSpace(v, i)
			if i < len(v) && v[i] == ',' {
				i = chrome.SkipSpace(v, i+1)
			}
			if i >= len(v) || v[i] == ']' {
				return append(dst, ']')
			}
			end := chrome.SkipValue(v, i)
			if end <= i {
				return append(dst, ']')
			}
			if n > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendStringsIn(dst, key, v[i:end], text)
			i = end
		}
	}
	return append(dst, v...)
}
