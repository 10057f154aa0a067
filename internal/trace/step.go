package trace

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// StepPrefix begins the name of the annotation of a profiler step; the number of the step follows.
const StepPrefix = "ProfilerStep#"

// IsStep reports whether a name is that of a profiler step.
func IsStep(name string) bool {
	digits, ok := strings.CutPrefix(name, StepPrefix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// StepsLike is the pattern of the names of steps and of what servers call an iteration, with * for what differs from one to the next: ""
// for other names.
func StepsLike(name string) string {
	if IsStep(name) {
		return StepPrefix + "*"
	}
	_, like := readIteration(name)
	return like
}

// IterationType is what the requests of an iteration are about.
type IterationType uint8

// The types.
const (
	NoIteration IterationType = iota
	Prefill                   // prompts only
	Decode                    // a further token for each request
	Mixed                     // both
	Verify                    // what a draft model guessed is verified
	Draft                     // the draft model's own part
	Image                     // an image, all of its denoising
	Idle                      // no request: a worker that only keeps others company
	Repeated                  // whatever repeats: its name says nothing more
	NumIterationTypes
)

// IterationTypes are the words for them.
var IterationTypes = [NumIterationTypes]string{"", "prefill", "decode", "mixed", "verify", "draft", "image", "idle", "iteration"}

func (t IterationType) String() string { return IterationTypes[t] }

// ReadStep reads what a user calls a step: a number, a name as it is printed (ProfilerStep#7, decode#7), or a type of iterations alone, of
// which the number is -1. The kind of a step without a type is NoIteration.
func ReadStep(word string) (kind IterationType, number int64, ok bool) {
	name, digits, numbered := strings.Cut(word, "#")
	if word != "" && strings.Trim(word, "0123456789") == "" || numbered && name+"#" == StepPrefix {
		name, digits, numbered = "", word[strings.IndexByte(word, '#')+1:], true
	}
	if number = -1; numbered {
		r := nameReader{rest: digits, ok: true}
		if number = r.number(); !r.ok || r.rest != "" {
			return NoIteration, -1, false
		}
	}
	i := slices.Index(IterationTypes[:], name)
	return IterationType(max(i, 0)), number, i > 0 || i == 0 && numbered
}

// Requests are the requests of an iteration that are in one phase, as far as its name tells; -1 is not told.
type Requests struct {
	Count   int64
	Tokens  int64 // that are computed: queries
	Keys    int64 // that they look at, all requests added up
	Squares int64 // sum of the squares of the queries of a request
	Pairs   int64 // sum of queries times keys of a request
}

// Iteration is an iteration of a server, by the name of the annotation around it.
type Iteration struct {
	Event           EventID
	Type            IterationType
	Number          int64 // that the server counts; -1: it does not
	Batch           int64 // requests; -1 not told
	Padded          int64 // tokens or requests as padded for a graph; -1 not told
	Tokens          int64 // that are computed; -1 not told
	Prefill, Decode Requests
}

var untold = Requests{-1, -1, -1, -1, -1}

// IterationNamed is the type of an iteration by the name that a server gives it, NoIteration for other names.
func IterationNamed(name string) IterationType {
	it, _ := readIteration(name)
	return it.Type
}

// readIteration reads the name of an iteration as vLLM, SGLang, ATOM, TensorRT-LLM and xDiT write it; like is the name with * for numbers.
// What SGLang's scheduler writes around an iteration, and vLLM for its first phase, is Repeated. The type of other names is NoIteration.
func readIteration(name string) (it Iteration, like string) {
	it = Iteration{Event: NoEvent, Number: -1, Batch: -1, Padded: -1, Tokens: -1, Prefill: untold, Decode: untold}
	switch {
	case strings.HasPrefix(name, "execute_"):
		like = it.readExecute(&nameReader{rest: name[len("execute_"):], ok: true})
	case strings.HasSuffix(name, "]") && strings.Contains(name, "["):
		like = it.readBracket(name)
	case strings.HasPrefix(name, "[Executor] _forward_step"), strings.HasPrefix(name, "_forward_step"), strings.HasPrefix(name, "executeStep: "):
		like = it.readForwardStep(name)
	case name == "scheduler.run_batch", name == "gpu_model_runner: preprocess":
		it.Type, like = Repeated, name
	}
	if like == "" {
		return Iteration{Event: NoEvent}, ""
	}
	return it, like
}

// readExecute reads vLLM's names: [padded_]context_N(T)_generation_N(T), with sums over the requests in place of T where it was asked for
// details; new_N_cached_N of 2025; and diffusion_N_WxH.
func (it *Iteration) readExecute(r *nameReader) string {
	if r.take("diffusion_") {
		it.Type, it.Batch = Image, r.number()
		return r.like("execute_diffusion_*")
	}
	if r.take("new_") { // of a request that is not new nobody knows whether more of its prompt is computed
		first := r.number()
		r.want("_cached_")
		next := r.number()
		it.decide(first, next)
		it.Batch = first + next
		return r.like("execute_new_*_cached_*")
	}
	if !strings.HasPrefix(r.rest, "context_") {
		it.Padded = r.number()
		r.want("_")
	}
	r.want("context_")
	it.Prefill = r.requests()
	r.want("_generation_")
	it.Decode = r.requests()
	it.settle()
	return r.like("execute_*context_*_generation_*")
}

// decide finds the type by the numbers of requests in each phase.
func (it *Iteration) decide(prefill, decode int64) {
	switch {
	case prefill > 0 && decode > 0:
		it.Type = Mixed
	case prefill > 0:
		it.Type = Prefill
	case decode > 0:
		it.Type = Decode
	default:
		it.Type = Idle
	}
}

// settle decides type, batch and tokens by the two phases.
func (it *Iteration) settle() {
	p, d := &it.Prefill, &it.Decode
	it.decide(p.Count, d.Count)
	it.Batch = max(p.Count, 0) + max(d.Count, 0)
	if it.Tokens < 0 && (p.Count <= 0 || p.Tokens >= 0) && (d.Count <= 0 || d.Tokens >= 0) {
		it.Tokens = max(p.Tokens, 0) + max(d.Tokens, 0)
	}
}

// modes are the words of SGLang (its pull request 23419 wrote them small, and "mixed bs=3 ext=512 dec=2") and of ATOM.
var modes = map[string]IterationType{"EXTEND": Prefill, "SPLIT_PREFILL": Prefill, "DLLM_EXTEND": Prefill, "DECODE": Decode, "MIXED": Mixed, "IDLE": Idle, "PREBUILT": Idle,
	"TARGET_VERIFY": Verify, "DRAFT_EXTEND": Draft, "DRAFT_EXTEND_V2": Draft, "VERIFY": Verify, "prefill": Prefill, "decode": Decode, "mixed": Mixed, "idle": Idle, "eager_decode": Decode}

// readBracket reads step[MODE bs=N key=N …], which a draft model has behind "draft ", and prefill[bs=N …] and decode[bs=N/PADDED …].
func (it *Iteration) readBracket(name string) string {
	head, rest, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	own, draft := strings.CutPrefix(head, "draft ")
	like, mode := head+"[*]", own
	if own == "step" {
		if mode, rest, _ = strings.Cut(rest, " "); mode == "" {
			return ""
		}
		like = head + "[" + mode + " *]"
	}
	if it.Type = modes[mode]; it.Type == NoIteration {
		return ""
	}
	for _, word := range strings.Fields(rest) {
		key, value, _ := strings.Cut(word, "=")
		r := nameReader{rest: value, ok: true}
		n := r.number()
		if r.ok && key == "bs" && r.take("/") {
			it.Padded = r.number()
		}
		if r.ok && r.rest == "" {
			it.say(key, n)
		}
	}
	if it.Batch < 0 {
		if it.Type != Idle {
			return ""
		}
		it.Batch, it.Tokens = 0, 0
	}
	switch p, d := &it.Prefill, &it.Decode; it.Type {
	case Mixed:
		if p.Tokens >= 0 && d.Tokens >= 0 {
			it.Tokens = p.Tokens + d.Tokens
		}
		if p.Count >= 0 && d.Count >= 0 {
			it.decide(p.Count, d.Count)
		}
	case Decode, Verify:
		if d.Count, d.Tokens = it.Batch, max(d.Tokens, it.Tokens); it.Type == Decode && d.Tokens < 0 {
			d.Tokens = it.Batch
		}
		it.Tokens = d.Tokens
	default:
		p.Count, p.Tokens = it.Batch, max(p.Tokens, it.Tokens)
		it.Tokens = p.Tokens
	}
	if draft {
		it.Type = Draft
	}
	return like
}

// say takes one number of a name in brackets. A sum without the letter of a phase is of the only one that there is.
func (it *Iteration) say(key string, n int64) {
	of := &it.Prefill
	if it.Type == Decode || it.Type == Verify {
		of = &it.Decode
	}
	if phase, sum, ok := strings.Cut(key, "_"); ok {
		switch key = sum; phase {
		case "c":
			of = &it.Prefill
		case "g":
			of = &it.Decode
		default:
			return
		}
	}
	switch key {
	case "bs":
		it.Batch = n
	case "toks", "tok":
		it.Tokens = n
	case "ext":
		it.Prefill.Tokens = n
	case "dec":
		it.Decode.Count, it.Decode.Tokens = n, n
	case "c":
		it.Prefill.Count = n
	case "g":
		it.Decode.Count = n
	case "sq":
		of.Tokens = n
	case "sk":
		of.Keys = n
	case "sqsq":
		of.Squares = n
	case "sqsk":
		of.Pairs = n
	}
}

// readForwardStep reads TensorRT-LLM's names: "[Executor] _forward_step 7: 1 ctx reqs, 512 ctx tokens, 3 gen reqs", older ones without number or
// tokens, and "executeStep: 1 ctx reqs, 3 gen reqs" of its C++ runtime.
func (it *Iteration) readForwardStep(name string) string {
	r := nameReader{rest: name, ok: true}
	r.take("[Executor] ")
	like := "_forward_step *"
	switch {
	case r.take("_forward_step "):
		it.Number = r.number()
		r.want(": ")
	case r.take("_forward_step: "):
	case r.take("executeStep: "):
		like = "executeStep: *"
	default:
		return ""
	}
	it.Prefill.Count = r.number()
	r.want(" ctx reqs, ")
	n := r.number()
	if r.take(" ctx tokens, ") {
		it.Prefill.Tokens = n
		n = r.number()
	}
	r.want(" gen reqs")
	if it.Decode.Count = n; n == 0 { // of others the name does not tell how many tokens of a draft are verified
		it.Decode.Tokens = 0
	}
	it.settle()
	return r.like(like)
}

// nameReader reads a name from left to right; what does not fit makes it not ok.
type nameReader struct {
	rest string
	ok   bool
}

func (r *nameReader) take(s string) bool {
	rest, ok := strings.CutPrefix(r.rest, s)
	r.rest = rest
	return ok
}

func (r *nameReader) want(s string) { r.ok = r.take(s) && r.ok }

// number reads up to 15 digits.
func (r *nameReader) number() (n int64) {
	i := 0
	for i < len(r.rest) && i < 15 && r.rest[i] >= '0' && r.rest[i] <= '9' {
		n = 10*n + int64(r.rest[i]-'0')
		i++
	}
	r.ok = r.ok && i > 0 && (i == len(r.rest) || r.rest[i] < '0' || r.rest[i] > '9')
	r.rest = r.rest[i:]
	return n
}

// requests reads N(T) or N(sqAskBsqsqCsqskD), in which sums may be missing.
func (r *nameReader) requests() Requests {
	q := untold
	q.Count = r.number()
	r.want("(")
	if !strings.HasPrefix(r.rest, "s") {
		q.Tokens = r.number()
	}
	for _, sum := range [...]struct {
		key string
		n   *int64
	}{{"sqsk", &q.Pairs}, {"sq", &q.Tokens}, {"sk", &q.Keys}, {"sqsq", &q.Squares}, {"sqsk", &q.Pairs}} {
		if r.take(sum.key) {
			*sum.n = r.number()
		}
	}
	r.want(")")
	return q
}

// like is the pattern of a name that was read well.
func (r *nameReader) like(pattern string) string {
	if !r.ok {
		return ""
	}
	return pattern
}

// Iterations lists the iterations of a server by start: of the thread that has most, those that no other encloses. Of several forwards within
// one batch of the scheduler (a draft model guesses, the target verifies) one iteration is made, which the scheduler's annotation stands for.
// In a trace of inference without a name that is known it is the annotation that repeats and tiles most of a thread.
func (t *Trace) Iterations() []Iteration {
	read := make(map[Sym]Iteration)
	for s, name := range t.Syms {
		if it, like := readIteration(name); like != "" {
			read[Sym(s)] = it
		}
	}
	if len(read) == 0 {
		return t.repeated()
	}
	var found []EventID
	of := map[TrackID]int{}
	for i := range t.Events {
		e := &t.Events[i]
		if _, ok := read[e.Name]; ok && t.isMarker(e) {
			found = append(found, EventID(i))
			of[e.Track]++
		}
	}
	best := NoTrack
	for track, n := range of {
		if best == NoTrack || n > of[best] || n == of[best] && track < best {
			best = track
		}
	}
	found = slices.DeleteFunc(found, func(id EventID) bool { return t.Events[id].Track != best })
	t.sortOutside(found)
	var out []Iteration
	var around EventID
	verified, end := false, int64(-1<<63)
	for _, id := range found {
		e := &t.Events[id]
		it := read[e.Name]
		it.Event = id
		verified = verified || it.Type == Verify
		if e.Start >= end {
			out, end, around = append(out, it), t.End(e), id
			continue
		}
		x := &out[len(out)-1]
		switch {
		case read[t.Events[around].Name].Type != Repeated || it.Type == Repeated: // the outer one tells
		case x.Type == Repeated:
			*x = it
		default:
			if it.Type == Verify || x.Type == Draft && it.Type != Draft {
				*x = it
			}
			x.Event = around
		}
	}
	for i := range out {
		if verified && out[i].Type == Decode { // older versions name a draft's like the target's, which verifies and does not decode
			out[i].Type = Draft
		}
	}
	return out
}

func (t *Trace) isMarker(e *Event) bool {
	return e.Ph == 'X' && (e.Kind == Annotation || e.Kind == CPUOp) && e.Track != NoTrack && e.Flags&ClampedTS == 0
}

// sortOutside sorts events of one thread by start, an outer one before what it encloses.
func (t *Trace) sortOutside(list []EventID) {
	slices.SortStableFunc(list, func(a, b EventID) int {
		x, y := &t.Events[a], &t.Events[b]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(t.Dur(y), t.Dur(x)))
	})
}

// trains are parts of names that only training has.
var trains = [...]string{StepPrefix, "autograd::engine", "Optimizer.", "Backward0", "torch::autograd::"}

// aside are starts of the names of annotations that are no iteration: what PyTorch itself and its compiler write, and captures.
var aside = [...]string{"## ", "enumerate(Data", "PyTorch Profiler", "capture_", "Torch-Compiled Region", "DataParallel.", "DistributedDataParallel."}

// repeats is how often an annotation has to come at least.
const repeats = 3

// repeated finds annotations whose names differ in digits alone, that follow each other on a thread and cover half of it or more, in a trace
// in which nothing is trained.
func (t *Trace) repeated() []Iteration {
	for _, name := range t.Syms {
		for _, part := range trains {
			if strings.Contains(name, part) {
				return nil
			}
		}
	}
	type family struct {
		track    TrackID
		skeleton string
	}
	of, skeletons := map[family][]EventID{}, map[Sym]string{}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != Annotation || !t.isMarker(e) {
			continue
		}
		name, ok := skeletons[e.Name]
		if !ok {
			if name = t.Str(e.Name); slices.ContainsFunc(aside[:], func(s string) bool { return strings.HasPrefix(name, s) }) {
				name = ""
			}
			name = skeleton(name)
			skeletons[e.Name] = name
		}
		if name != "" {
			of[family{e.Track, name}] = append(of[family{e.Track, name}], EventID(i))
		}
	}
	maps.DeleteFunc(of, func(_ family, list []EventID) bool { return len(list) < repeats })
	if len(of) == 0 {
		return nil
	}
	first, last := slices.Repeat([]int64{1<<63 - 1}, len(t.Tracks)), slices.Repeat([]int64{-1 << 63}, len(t.Tracks))
	for i := range t.Events {
		if e := &t.Events[i]; e.Ph == 'X' && e.Kind.Host() && e.Track != NoTrack && e.Flags&ClampedTS == 0 {
			first[e.Track], last[e.Track] = min(first[e.Track], e.Start), max(last[e.Track], t.End(e))
		}
	}
	var best []EventID
	most := int64(0)
	for f, list := range of {
		t.sortOutside(list)
		names, covered, longest := map[Sym]bool{}, int64(0), int64(0)
		nest, end := false, int64(-1<<63)
		for _, id := range list {
			e := &t.Events[id]
			names[e.Name] = true
			nest, end = nest || e.Start < end, t.End(e)
			covered, longest = covered+t.Dur(e), max(longest, t.Dur(e))
		}
		switch {
		case nest:
			continue
		case len(names) > 1 && len(names) < len(list): // layers come again and again by their numbers
			continue
		case 2*covered < last[f.track]-first[f.track], 2*longest > covered:
			continue
		}
		if covered > most || covered == most && (best == nil || list[0] < best[0]) {
			best, most = list, covered
		}
	}
	var out []Iteration
	for _, id := range best {
		it := Iteration{id, Repeated, -1, -1, -1, -1, untold, untold}
		if name := strings.ToLower(t.Name(id)); strings.HasPrefix(name, "decode") && !strings.HasPrefix(name, "decoder") {
			it.Type = Decode
		}
		out = append(out, it)
	}
	return out
}

// skeleton is a name with # for each run of digits.
func skeleton(name string) string {
	var b strings.Builder
	digit := false
	for i := range len(name) {
		is := name[i] >= '0' && name[i] <= '9'
		if !is {
			b.WriteByte(name[i])
		} else if !digit {
			b.WriteByte('#')
		}
		digit = is
	}
	return b.String()
}
