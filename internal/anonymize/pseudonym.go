package anonymize

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"overlay/internal/overlay"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// pseudonym stands for a text. It depends on the text alone, so that two traces of one program can be compared; who
// guesses the text can confirm the guess.
func pseudonym(prefix, text string) string {
	sum := sha256.Sum256([]byte("overlay\x00" + text))
	return prefix + hex.EncodeToString(sum[:5])
}

// eventText is the name of an event that is safe to share.
func eventText(kind trace.Kind, ph byte, name string) string {
	switch kind {
	case trace.Kernel, trace.Memcpy, trace.Memset, trace.DeviceMark, trace.SyncRecord, trace.EventRecord, trace.Overhead, trace.DeviceOther:
		return codeText("kernel_", name)
	case trace.Runtime, trace.Driver:
		if isPublic(name) {
			return name
		}
		return pseudonym("call_", name) + vendors.HintOf(name)
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
	case name == "", ph == 'M' && knownMetadata[name], plainFlow[name], name == "Record Window End", name == "Iteration Start: PyTorch Profiler":
		return name
	}
	return pseudonym("event_", name)
}

func categoryName(cat string) string {
	if cat == "" || plainFlow[cat] || vendors.KindOf(cat) != trace.KindOther {
		return cat
	}
	return pseudonym("cat_", cat)
}

// opName is the name of an operator. The first schemas wrote annotations as operators.
func opName(name string) string {
	if strings.Contains(name, "::") || !strings.ContainsAny(name, " #(.:-") && (!isMachine(name) || backwardEnd().MatchString(name)) {
		return codeText("op_", name)
	}
	return annotationName(name)
}

// Starts of annotations of PyTorch that stay although what follows does not.
var markers = append([]string{trace.StepPrefix, "enumerate(DataLoader)#", "enumerate(DataPipe)#", "Optimizer.step#", "Optimizer.zero_grad#", "## Call CompiledFxGraph ", "## ",
	"PyTorch Profiler ", "TorchDynamo ", "AOTDispatcher ", "Torch-Compiled Region ", "FSDP::pre_forward ", "FSDP::post_forward ", "FSDP::pre_backward ", "FSDP::post_backward ", "FSDP::root_pre_forward ",
	"FSDP::all_gather ", "FSDP::all_gather_copy_in ", "FSDP::all_gather_copy_out ", "FSDP::post_backward_reduce ", "FSDP::post_backward_rs_wait ", "FSDP::backward_prefetch ", "FSDP::"}, backendMarkers()...)

// backendMarkers are the starts of the annotations of torch.distributed.
func backendMarkers() (list []string) {
	for _, b := range vendors.Backends() {
		list = append(list, b+":")
	}
	return list
}

func annotationName(name string) string {
	if name == "" || isCommon(name) && !strings.HasPrefix(name, "FSDP::") || regions().MatchString(name) {
		return name
	}
	if strings.HasPrefix(name, "FSDP::") && isCommon(name) && !strings.Contains(name, " ") {
		return name
	}
	start := ""
	for _, m := range markers {
		if strings.HasPrefix(name, m) {
			start = m
			break
		}
	}
	for _, w := range strings.FieldsFunc(name[len(start):], func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) }) {
		if phaseHint().MatchString(w) {
			start += w + " "
			break
		}
	}
	return start + pseudonym("annotation_", name)
}

var (
	pythonFrame = lazy(`^(.+)\((\d+)\): (.+)$`)
	module      = lazy(`^nn\.Module: (.+?)(_\d+)?$`)
	library     = lazy(`^(torch|torchvision|torchaudio|torchdata|apex|deepspeed|megatron|multiprocessing|concurrent|asyncio)/|^(profiler|threading|queue|selectors|socket|subprocess|contextlib|functools|runpy)\.py$|^<(string|frozen importlib\._bootstrap)>$`)
	libraryAt   = lazy(`^.*/(?:site-packages|dist-packages|python3\.\d+)/`)
	plainPath   = lazy(`^[A-Za-z_/.<>]+$`)
)

// frameName is a Python frame. Frames of PyTorch and of the standard library stay, less the folder they are installed in.
func frameName(name string) string {
	if i := strings.Index(name, " at 0x"); i >= 0 { // the address differs from run to run
		end := i + len(" at 0x")
		for end < len(name) && strings.IndexByte("0123456789abcdefABCDEF", name[end]) >= 0 {
			end++
		}
		name = name[:i] + name[end:]
	}
	if m := pythonFrame().FindStringSubmatch(name); m != nil {
		file, fn := pseudonym("file_", m[1])+".py", m[3]
		lib := m[1][len(libraryAt().FindString(m[1])):]
		if library().MatchString(lib) && plainPath().MatchString(lib) && isCommon(strings.NewReplacer("/", " ", ".py", "").Replace(lib)) {
			file = lib
		}
		if !isCommon(fn) || file != lib && !readFrames[fn] {
			fn = pseudonym("f_", fn)
		}
		return file + "(" + m[2] + "): " + fn
	}
	if m := module().FindStringSubmatch(name); m != nil {
		if isCommon(m[1]) {
			return name
		}
		return "nn.Module: " + pseudonym("M", m[1]) + m[2]
	}
	switch {
	case isCommon(name):
		return name
	case strings.HasPrefix(name, "<built-in "):
		return "<built-in " + pseudonym("f_", name) + ">"
	}
	return pseudonym("f_", name)
}

// readFrames are functions of any file that the analysis knows: those that compute and those that wait.
var readFrames = set(`forward backward backward_step run_backward step wait wait_for join acquire result recv recv_bytes select poll get _wait_for_tstate_lock _pin_memory_loop`)

// processText is the name of a process; ours and the profiler's stay.
func processText(s string) string {
	if s == "" || s == overlay.TrackRoot || rowNames[s] || plainRow().MatchString(s) {
		return s
	}
	return "process"
}

var (
	threadName = lazy(`^(thread|Thread) (-?\d+) ?(?:\((.*)\))?$`)
	plainRow   = lazy(`^ *((s|S)tream -?\d+|Device -?\d+|(` + strings.Join(vendors.Devices(), "|") + `) \d+|(Trace )?PyTorch Profiler \(\d+\)|GPU: PyTorch Profiler( \(\d+\))?|-?\d{1,20}|(` + strings.Join(vendors.Numbered(), "|") + `)\d+(\([\w,]*\))?) *$`)
)

func threadText(s string) string {
	if m := threadName().FindStringSubmatch(s); m != nil {
		if m[3] == "" || isPlainThread(m[3]) {
			return s
		}
		return m[1] + " " + m[2]
	}
	if isPlainThread(s) {
		return s
	}
	return rowText(s)
}

// plainThread are the names that PyTorch gives its threads, with numbers or without; those of a back end of
// torch.distributed that watches its collectives are vendors'.
var plainThread = set("pt_main_thread pt_autograd_ pt_data_pin pt_data_worker")

func isPlainThread(s string) bool {
	s = strings.TrimRight(s, "0123456789")
	start, watchdog := strings.CutSuffix(s, "watchdg")
	return plainThread[s] || watchdog && slices.Contains(vendors.BackendThreads(), start)
}

// rowText is a text that names a row.
func rowText(s string) string {
	if s == "" || rowNames[strings.TrimSpace(s)] || plainRow().MatchString(s) {
		return s
	}
	return pseudonym("row_", s)
}

// number is one number as programs print it, or a word that stands for one.
var number = lazy(`^([-+]?\d{1,20}(\.\d{0,20})?([eE][-+]?\d{1,4})?|[-+]?\.\d{1,20}|0x[0-9a-fA-F]{1,16}|True|False|None|true|false|[-+]?(inf|nan|Infinity|NaN)|N/A)$`)

// isNumbers reports whether a text is numbers, in lists or not.
func isNumbers(s string) bool {
	for f := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" [](),", r) }) {
		if !number().MatchString(f) {
			return false
		}
	}
	return true
}

// argText is a text among args, under a key that is known or not.
func argText(known bool, s string) string {
	if s == "" || known && (isNumbers(s) || isCommon(s)) {
		return s
	}
	if rest, ok := strings.CutPrefix(s, "critical_path_"); ok && knownEdges[rest] {
		return s
	}
	return pseudonym("s_", s)
}

// knownEdges are the types of arrows of overlays, HTA's included.
var knownEdges = set("operator dependency kernel_launch_delay kernel_kernel_delay sync_dependency event_wait queue_full thread_handoff")
