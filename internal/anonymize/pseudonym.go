package anonymize

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"overlay/internal/kineto"
	"overlay/internal/trace"

	"overlay/internal/overlay"
)

// pseudonym stands for a text. It depends on the text alone, so that two traces of one program can be compared; who
// guesses the text can confirm the guess.
func pseudonym(prefix, text string) string {
	sum := sha256.Sum256([]byte("overlay\x00" + text))
	return prefix + hex.EncodeToString(sum[:5])
}

// isKnown reports whether a part of a name, letters, digits and _, is made of known words. Numbers pass, and so do single
// letters: they are types, sizes and the like.
func isKnown(part string) bool {
	if knownWords[strings.ToLower(strings.Trim(part, "_"))] {
		return true
	}
	for i := 0; i < len(part); {
		switch c := part[i]; {
		case c == '_':
			i++
		case isDigit(c):
			n := i
			for i < len(part) && isDigit(part[i]) {
				i++
			}
			if i-n > 9 { // no size is that long
				return false
			}
		default:
			end := i + 1
			for end < len(part) && part[end] != '_' && !isDigit(part[end]) {
				end++
			}
			if !knownLetters(part[i:end]) {
				return false
			}
			i = end
		}
	}
	return true
}

// knownLetters cuts letters at changes of case unless they are a word as they are.
func knownLetters(s string) bool {
	if s == "" || knownWords[strings.ToLower(s)] {
		return true
	}
	upper := 0
	for upper < len(s) && isUpper(s[upper]) {
		upper++
	}
	end := max(upper, 1)
	for end < len(s) && !isUpper(s[end]) {
		end++
	}
	if upper > 1 && upper < len(s) { // CUDAFunctor is CUDA and Functor, NCHWto is NCHW and to
		return knownPiece(s[:upper-1]) && knownLetters(s[upper-1:]) || knownPiece(s[:upper]) && knownLetters(s[upper:])
	}
	return knownPiece(s[:end]) && knownLetters(s[end:])
}

func knownPiece(s string) bool { return len(s) == 1 || knownWords[strings.ToLower(s)] }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isWord(c byte) bool {
	return c == '_' || isDigit(c) || isUpper(c) || c >= 'a' && c <= 'z'
}

// Signs that names of functions and annotations are written with. A path, an address of mail or of a machine has others.
const (
	codeSigns = " :<>(),*&{}#~[]!=|^+-."
	textSigns = " :<>(),&{}#[]=|+-.*"
)

var (
	machine = regexp.MustCompile(`\d+\.\d+\.\d+|\d+[-:]\d+[-:]\d+`)    // an address, a date, a time
	regions = regexp.MustCompile(`^(Torch-Compiled Region): \d+/\d+$`) // PyTorch's number of a compiled frame and of its version
	longNum = regexp.MustCompile(`\d{7}`)
)

var (
	numbered = regexp.MustCompile(`[A-Za-z_]*[A-Za-z]\d{2,}\b`)             // node17
	dotted   = regexp.MustCompile(`-\d|[A-Za-z0-9]\.[A-Za-z]\w*\.[A-Za-z]`) // gpu-17, worker.data.center
)

// isMachine reports whether a text may be the name of a machine although its words are known.
func isMachine(s string) bool {
	if dotted.MatchString(s) {
		return true
	}
	for _, w := range numbered.FindAllString(s, -1) {
		if w = strings.ToLower(w); !knownWords[w] && !knownWords[w[strings.LastIndexByte(w, '_')+1:]] {
			return true
		}
	}
	return false
}

// isCommon reports whether a text that a user may have written says nothing of anybody.
func isCommon(s string) bool { return isPublic(s) && !isMachine(s) }

// isPublic reports whether a text is made of known words only.
func isPublic(s string) bool {
	if machine.MatchString(s) {
		return false
	}
	if longNum.MatchString(s) && !strings.HasPrefix(s, trace.StepPrefix) && !strings.HasPrefix(s, "execute_") {
		return false
	}
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && isWord(s[end]) {
			end++
		}
		if end == i {
			if strings.IndexByte(textSigns, s[i]) < 0 {
				return false
			}
			i++
		} else if !isKnown(s[i:end]) {
			return false
		} else {
			i = end
		}
	}
	return true
}

// Hints are kept from what is replaced, because analyses read them: who runs one on the result gets the same answer.
var (
	collectiveHint = regexp.MustCompile(`(?i)nccl|rccl|hccl|oneccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|sendrecv|multimem`)
	callHint       = regexp.MustCompile(`Launch|Memcpy|Memset|StreamSynchronize|DeviceSynchronize|EventSynchronize|Synchronize|EventRecord|WaitEvent|EventQuery`)
	phaseHint      = regexp.MustCompile(`^(?i:forward|fwd|fw|backward|bwd|bw|optimizer|optim|opt_step|zero_grad|clip_grad|grad_clip|loss|criterion|inference|generate|prefill|decode|load_batch|data_load|dataload|dataloader|copy_batch_to_gpu|wait_for_batch|update_params)$`)
	backwardEnd    = regexp.MustCompile(`Backward\d*$`)
	fusedStart     = regexp.MustCompile(`^triton_(poi|red|per|tem|for)_(fused_)?`)
)

// codeText is the name of a function, an operator or a kernel: of its qualified identifiers the known part stays.
func codeText(prefix, s string) string {
	if regions.MatchString(s) {
		return s
	}
	for i := 0; i < len(s); i++ {
		if !isWord(s[i]) && strings.IndexByte(codeSigns, s[i]) < 0 {
			return withHint(pseudonym(prefix, s), s)
		}
	}
	if machine.MatchString(s) {
		return withHint(pseudonym(prefix, s), s)
	}
	var out []byte
	hidden := false // the qualified name has ended in a pseudonym
	for i := 0; i < len(s); {
		if !isWord(s[i]) {
			if strings.HasPrefix(s[i:], "::") {
				if i += 2; !hidden {
					out = append(out, "::"...)
				}
				continue
			}
			hidden = false
			out = append(out, s[i])
			i++
			continue
		}
		end := i
		for end < len(s) && isWord(s[end]) {
			end++
		}
		id := s[i:end]
		i = end
		if hidden {
			continue
		}
		if safe, ok := identifier(id); ok {
			out = append(out, safe...)
			continue
		}
		hidden = true
		if id == s { // nothing beside it says what it is
			out = append(out, prefix...)
		}
		out = append(out, fusedStart.FindString(id)...)
		out = append(out, withHint(pseudonym("x", s+"\x00"+id), id)...)
		out = append(out, backwardEnd.FindString(id)...)
	}
	return string(out)
}

// withHint adds the collective that a name speaks of.
func withHint(p, name string) string {
	if h := collectiveHint.FindString(name); h != "" {
		return p + "_" + strings.ToLower(h)
	}
	return p
}

// identifier is an identifier that may stay, as it is or with parts replaced.
func identifier(id string) (string, bool) {
	switch {
	case strings.HasPrefix(id, "_Z"):
		return id, isMangled(id)
	case strings.HasPrefix(id, "Cijk_"):
		return id, isTensile(id)
	}
	return id, isKnown(id)
}

// letters are the runs of letters in a name.
var letters = regexp.MustCompile(`[A-Za-z]+`)

// isTensile reports whether a name is a solution of Tensile with parameters that it has, as MT128x64x32 or 1LDSB0.
func isTensile(id string) bool {
	for _, w := range letters.FindAllString(strings.TrimPrefix(id, "Cijk_"), -1) {
		if short := strings.TrimSuffix(w, "n"); len(short) > 1 && !tensile[w] && !tensile[short] { // n is a negative value
			return false
		}
	}
	return true
}

// mangling is a piece of an encoded C++ name that is no identifier: back references, literals, types, structure.
var mangling = regexp.MustCompile(`^(?:S[0-9A-Z]*_|S[tabsiod]|T[0-9]*_|L[a-z]n?\d+E|\d+E|DF\d+[_b]|D[a-z]|[NIJLEXPRKOVFAMDGUCZ_]|[vwbcahstijlmxynofdegzru]{1,16})`)

// isMangled reports whether all identifiers in a name that a C++ compiler encoded are known. They have their length in
// front; what stands between them is letters for types and structure.
func isMangled(id string) bool {
	names, types := 0, false
	for i := 2; i < len(id); {
		end := i
		for end < len(id) && isDigit(id[end]) {
			end++
		}
		if n, err := strconv.Atoi(id[i:end]); err == nil && n > 0 && n <= len(id)-end {
			if name := id[end : end+n]; isKnown(name) || strings.HasPrefix(name, "_GLOBAL__N_") {
				names, types = names+1, false
				i = end + n
				continue
			}
		}
		m := mangling.FindString(id[i:])
		lower := m != "" && m[0] >= 'a'

		if m == "" || lower && types { // no function has that many types in a row
			return false
		}
		types = lower
		i += len(m)
	}
	return names > 0
}

// eventText is the name of an event that is safe to share.
func eventText(kind trace.Kind, ph byte, name string) string {
	switch kind {
	case trace.Kernel, trace.Memcpy, trace.Memset, trace.SyncRecord, trace.EventRecord, trace.Overhead, trace.DeviceOther:
		return codeText("kernel_", name)
	case trace.Runtime, trace.Driver:
		if isPublic(name) {
			return name
		}
		return pseudonym("call_", name) + strings.Join(callHint.FindAllString(name, -1), "")
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
	if cat == "" || plainFlow[cat] || kineto.KindOf(cat) != trace.KindOther {
		return cat
	}
	return pseudonym("cat_", cat)
}

// opName is the name of an operator. The first schemas wrote annotations as operators.
func opName(name string) string {
	if strings.Contains(name, "::") || !strings.ContainsAny(name, " #(.:-") && (!isMachine(name) || backwardEnd.MatchString(name)) {
		return codeText("op_", name)
	}
	return annotationName(name)
}

// Starts of annotations of PyTorch that stay although what follows does not.
var markers = []string{trace.StepPrefix, "enumerate(DataLoader)#", "enumerate(DataPipe)#", "Optimizer.step#", "Optimizer.zero_grad#", "## Call CompiledFxGraph ", "## ",
	"PyTorch Profiler ", "TorchDynamo ", "AOTDispatcher ", "Torch-Compiled Region ", "FSDP::pre_forward ", "FSDP::post_forward ", "FSDP::pre_backward ", "FSDP::post_backward ", "FSDP::root_pre_forward ",
	"FSDP::all_gather ", "FSDP::all_gather_copy_in ", "FSDP::all_gather_copy_out ", "FSDP::post_backward_reduce ", "FSDP::post_backward_rs_wait ", "FSDP::backward_prefetch ", "FSDP::",
	"nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:", "rccl:"}

func annotationName(name string) string {
	if name == "" || isCommon(name) && !strings.HasPrefix(name, "FSDP::") || regions.MatchString(name) {
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
		if phaseHint.MatchString(w) {
			start += w + " "
			break
		}
	}
	return start + pseudonym("annotation_", name)
}

var (
	pythonFrame = regexp.MustCompile(`^(.+)\((\d+)\): (.+)$`)
	module      = regexp.MustCompile(`^nn\.Module: (.+?)(_\d+)?$`)
	library     = regexp.MustCompile(`^(torch|torchvision|torchaudio|torchdata|apex|deepspeed|megatron|multiprocessing|concurrent|asyncio)/|^(threading|queue|selectors|socket|subprocess|contextlib|functools|runpy)\.py$|^<(string|frozen importlib\._bootstrap)>$`)
	libraryAt   = regexp.MustCompile(`^.*/(?:site-packages|dist-packages|python3\.\d+)/`)
	plainPath   = regexp.MustCompile(`^[A-Za-z_/.<>]+$`)
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
	if m := pythonFrame.FindStringSubmatch(name); m != nil {
		file, fn := pseudonym("file_", m[1])+".py", m[3]
		lib := m[1][len(libraryAt.FindString(m[1])):]
		if library.MatchString(lib) && plainPath.MatchString(lib) && isCommon(strings.NewReplacer("/", " ", ".py", "").Replace(lib)) {
			file = lib
		}
		if !isCommon(fn) || file != lib && !readFrames[fn] {
			fn = pseudonym("f_", fn)
		}
		return file + "(" + m[2] + "): " + fn
	}
	if m := module.FindStringSubmatch(name); m != nil {
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
	if s == "" || s == overlay.TrackRoot || rowNames[s] || plainRow.MatchString(s) {
		return s
	}
	return "process"
}

var (
	threadName = regexp.MustCompile(`^(thread|Thread) (-?\d+) ?(?:\((.*)\))?$`)
	plainRow   = regexp.MustCompile(`^ *((s|S)tream -?\d+|Device -?\d+|(GPU|CPU|MTIA|XPU|HPU|NPU) \d+|(Trace )?PyTorch Profiler \(\d+\)|GPU: PyTorch Profiler( \(\d+\))?|-?\d{1,20}) *$`)
)

func threadText(s string) string {
	if m := threadName.FindStringSubmatch(s); m != nil {
		if m[3] == "" || plainThread[strings.TrimRight(m[3], "0123456789")] {
			return s
		}
		return m[1] + " " + m[2]
	}
	if plainThread[strings.TrimRight(s, "0123456789")] {
		return s
	}
	return rowText(s)
}

// plainThread are the names that PyTorch gives its threads.
var plainThread = set("pt_main_thread pt_autograd_ pt_data_pin pt_data_worker pt_nccl_watchdg")

// rowText is a text that names a row.
func rowText(s string) string {
	if s == "" || rowNames[strings.TrimSpace(s)] || plainRow.MatchString(s) {
		return s
	}
	return pseudonym("row_", s)
}

// number is one number as programs print it, or a word that stands for one.
var number = regexp.MustCompile(`^([-+]?\d{1,20}(\.\d{0,20})?([eE][-+]?\d{1,4})?|[-+]?\.\d{1,20}|0x[0-9a-fA-F]{1,16}|True|False|None|true|false|[-+]?(inf|nan|Infinity|NaN)|N/A)$`)

// isNumbers reports whether a text is numbers, in lists or not.
func isNumbers(s string) bool {
	for f := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" [](),", r) }) {
		if !number.MatchString(f) {
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
