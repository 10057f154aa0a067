package advise

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"overlay/internal/cdg"
	"overlay/internal/stat"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
	"overlay/internal/whatif"
)

const (
	coldCall     = 1_000_000 // ns from which on a first call is slow: usual launches take 3 to 9 µs
	coldFactor   = 20        // times the median of its name
	coldAgain    = 100       // times the median, from which on a call that is no first one made something too
	coldOnly     = 2_000_000 // ns of a call that is the only one of its name
	usualCall    = 20_000    // ns that a warm call takes at most
	longCompile  = 1_000_000 // ns
	onlyFirstUse = 2         // first use takes more than one in so many ns of a window: what remains is its shadow
)

// compilers are the frames of compilers and of what waits for them, functions by the end of their file, * for any that begin so: of PyTorch's, of Triton's, of the benchmarks by
// which they choose, of extensions in C++, and of a compiler in a process of its own. What they compiled runs under other names, such as CompiledFunction.
var compilers = []struct {
	file      string
	functions []string
}{
	{"torch/_dynamo/convert_frame.py", []string{"_compile", "compile_inner", "_compile_inner"}},
	{"torch/_inductor/compile_fx.py", []string{"compile_fx", "compile_fx_inner", "fx_codegen_and_compile"}},
	{"graph.py", []string{"compile_to_module", "codegen_and_compile", "load_by_key_path"}},
	{"codecache.py", []string{"compile_to_module", "codegen_and_compile", "load_by_key_path"}},
	{"async_compile.py", []string{"wait"}},
	{"triton/compiler/compiler.py", []string{"compile"}},
	{"triton/testing.py", []string{"do_bench*"}},
	{"triton_heuristics.py", []string{"autotune_to_one_config", "benchmark_all_configs"}},
	{"torch/utils/cpp_extension.py", []string{"load", "load_inline", "_jit_compile"}},
	{"subprocess.py", []string{"communicate", "wait"}},
}

// compilerMarks are annotations of compilers.
var compilerMarks = oneOf("_compile.compile_inner", "OutputGraph.call_user_compiler", "compile_fx_inner", "GraphLowering.compile_to_module", "async_compile.wait", "CUDAGraphNode.record")

// compiling reports whether a slice is work of a compiler, by its name.
func compiling(name string) bool {
	file, function := frameOf(name)
	if file == "" {
		return compilerMarks(name) || strings.HasSuffix(name, " (dynamo_timed)")
	}
	for i := range compilers {
		if c := &compilers[i]; strings.HasSuffix(file, c.file) && slices.ContainsFunc(c.functions, func(f string) bool {
			begin, any := strings.CutSuffix(f, "*")
			return f == function || any && strings.HasPrefix(function, begin)
		}) {
			return true
		}
	}
	return false
}

// capturesGraphs tells functions and annotations in which programs capture graphs, with the runs that warm up before.
func capturesGraphs(name string) bool {
	file, function := frameOf(name)
	if file == "" { // an annotation, as vLLM's capture_8192_PIECEWISE
		return strings.HasPrefix(name, "capture")
	}
	function = strings.TrimPrefix(function, "_")
	return entersCapture(name) || strings.HasPrefix(function, "capture") || strings.HasPrefix(function, "warm") || strings.HasPrefix(function, "record")
}

// runsNotBuilds: a compiler that launches more than one in so many operations of the window runs something.
const runsNotBuilds = 20

var coldStart = add(rule{
	id: "cold-start", group: Measurement, kind: Predicted, level: High,
	why:      "calls that take a thousand times what later ones do, compilers, and captures of graphs",
	title:    "a part of the window is first use: what happens once in a run",
	cause:    "the first call of each kind loads code and makes contexts, compilers compile, graphs are captured; in a long run that is nothing, so it is no gain",
	scenario: "first calls, compilation and capture take no time",
	action: []string{"record later steps: torch.profiler.schedule(wait=1, warmup=3, active=3)",
		"where each start counts: a pass of warm-up before the first request, a kept cache of what was compiled (TORCHINDUCTOR_CACHE_DIR)"},
	verify: "no call of the window takes 1 ms without waiting, and nothing is compiled",
	find: func(r *run) *found {
		calls, built, tried := coldCalls(r), append(compilations(r), captures(r)...), triedConvolutions(r)
		addColdOps(r, &calls)
		list := r.outermost(slices.Compact(slices.Sorted(slices.Values(slices.Concat(calls, built, tried)))))
		if len(list) == 0 {
			return nil
		}
		f := &found{events: events{list: list, expected: usualCall}, change: r.scenario(), do: "record later steps: schedule(wait=1, warmup=3, active=3)", numbers: []Number{countOf("first uses", len(list)), timeOf("in them", sum(list, r.dur))}}
		f.saw = tables.Duration(sum(list, r.dur)) + " of first use: " +
			countedAll(some{len(calls), "first call"}, some{len(built), "compilation or capture"}, some{len(tried), "convolution that tries algorithms"})
		f.change.zero(calls)
		f.change.shrink(built, 0)
		f.change.shrink(tried, usualCall)
		f.change.noWait(r.waitsIn(r.within(slices.Concat(built, tried))))
		return f
	},
})

// inFirstUse is what lies in first use. Slices of a thread that lie in one are numbered one after the other behind it.
func (r *run) inFirstUse() whatif.Set {
	set := r.m.NewSet()
	if cold := r.result(coldStart); cold != nil {
		r.outer(r.m.SetOf(cold.events.list...), func(a, limit cdg.ActID) {
			for ; a < limit; a++ {
				set.Add(a)
			}
		})
	}
	return set
}

// firstUse is how much of the critical path the CPU spends in first use, ns.
func firstUse(r *run) (ns int64) {
	r.cold().Each(func(a cdg.ActID) { ns += r.mark(a) })
	return ns
}

// compilations lists the outermost slices of compilers on threads that launch.
func compilations(r *run) (list []cdg.ActID) {
	on := r.launching()
	list = slices.DeleteFunc(r.outermost(r.named([]trace.Kind{trace.Python, trace.Annotation, trace.CPUOp}, compiling)), func(a cdg.ActID) bool {
		return !on[r.g.Acts[a].Lane] || r.dur(a) <= longCompile
	})
	launched := 0
	for a, o := range r.within(list) {
		if o != cdg.NoAct && r.g.Lanes[r.g.Acts[a].Lane].Stream {
			launched++
		}
	}
	if runsNotBuilds*launched > len(r.ops) {
		return nil
	}
	return list
}

// captures lists what threads do while they capture a graph: the outermost frame around the begin of a capture that says so, else the
// slices between begin and end, and between a capture and the next one. Of a capture that began before the recording or went on after it, the
// slices of its thread, where nothing that they launch has run.
func captures(r *run) (list []cdg.ActID) {
	begins := r.named(slices.Concat(callKinds, frameKinds), func(s string) bool { return strings.Contains(s, "StreamBeginCapture") || entersCapture(s) })
	ends := r.named(callKinds, func(s string) bool { return strings.Contains(s, "StreamEndCapture") })
	replays := r.named(callKinds, func(s string) bool { return vendors.VerbOf(s) == vendors.GraphLaunch })
	take := func(from, limit cdg.ActID, until int64) {
		for a := from; a < limit; {
			if r.g.Acts[a].End <= until {
				list = append(list, a)
				a = r.g.Enclosed(a)
			} else {
				a++
			}
		}
	}
	runs := func(from, limit cdg.ActID) bool {
		return slices.ContainsFunc(r.launches, func(l cdg.ActID) bool { return l >= from && l < limit })
	}
	// Activities of a thread are numbered by start, those around others before them.
	for i, e := range ends {
		first := r.g.Lanes[r.g.Acts[e].Lane].First
		if j, _ := slices.BinarySearch(begins, first); (j == len(begins) || begins[j] > e) && (i == 0 || ends[i-1] < first) && !runs(first, e) {
			take(first, e+1, r.g.Acts[e].End)
		}
	}
	for _, b := range begins {
		lane, from := r.g.Lanes[r.g.Acts[b].Lane], b
		i, _ := slices.BinarySearch(ends, b)
		ended, outer := i < len(ends) && ends[i] < lane.Limit, cdg.NoAct
		for p := b; p != cdg.NoAct; p = r.g.Parent[p] {
			switch {
			case !capturesGraphs(r.name(p)):
			case ended && ends[i] >= r.g.Enclosed(p): // it only begins the capture
				from = p
			default:
				outer = p
			}
		}
		switch {
		case outer != cdg.NoAct:
			list = append(list, outer)
		case ended:
			if i > 0 && ends[i-1] >= lane.First && !slices.ContainsFunc(replays, func(a cdg.ActID) bool { return a > ends[i-1] && a < b }) {
				from = min(from, ends[i-1]+1) // captures follow each other, with runs that warm up between them, before any is launched
			}
			take(from, ends[i]+1, r.g.Acts[ends[i]].End)
		case !runs(b, lane.Limit):
			take(from, lane.Limit, r.g.Window.End)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// entersCapture tells the frame of PyTorch's torch.cuda.graph in which a capture begins: it collects garbage and empties caches first.
func entersCapture(name string) bool {
	file, function := frameOf(name)
	return function == "__enter__" && strings.HasSuffix(file, "torch/cuda/graphs.py")
}

// triedConvolutions lists convolutions that time several algorithms with events, as torch.backends.cudnn.benchmark has the first of each shape do.
func triedConvolutions(r *run) (list []cdg.ActID) {
	in := r.within(r.outermost(r.named(opKinds, containsAny("cudnn_convolution", "miopen_convolution", "convolution_backward"))))
	for _, a := range r.named(callKinds, func(s string) bool { return vendors.VerbOf(s) == vendors.EventSync }) {
		if c := in.by(a); c != cdg.NoAct && r.dur(c) > coldCall {
			list = append(list, c)
		}
	}
	return slices.Compact(list)
}

// firstOps are operators whose first instance makes something that stays: contexts, handles, plans.
var firstOps = []string{"aten::empty", "aten::empty_strided", "aten::zeros", "aten::ones", "aten::to", "aten::cudnn_convolution", "aten::miopen_convolution", "aten::cudnn_batch_norm",
	"aten::view", "aten::as_strided", "aten::detach"}

// coldCalls lists slow calls that are the first of their name, the only one, far above its median, or launch a kernel for the first time.
func coldCalls(r *run) []cdg.ActID {
	first := sync.OnceValue(r.firstLaunches)
	var out []cdg.ActID
	for _, k := range callKinds {
		for _, s := range r.names[k] {
			if !vendors.IsAPI(r.tr.Str(s)) {
				continue
			}
			calls := r.list[r.first[s]:r.first[s+1]]
			switch r.verb(calls[0]) {
			case vendors.StreamSync, vendors.DeviceSync, vendors.EventSync, vendors.OtherSync, vendors.AsyncCopy, vendors.BlockingCopy, vendors.GraphLaunch:
				continue // these take as long as what they wait for
			}
			out = append(out, coldOf(r, calls, first)...)
		}
	}
	slices.Sort(out)
	return out
}

// firstLaunches are the calls that launch the first operation of each name.
func (r *run) firstLaunches() whatif.Set {
	calls, seen := r.m.NewSet(), make([]bool, len(r.tr.Syms))
	for _, o := range r.ops {
		if l := r.launch(o); l != cdg.NoAct && !seen[r.syms[o]] {
			seen[r.syms[o]] = true
			calls.Add(l)
		}
	}
	return calls
}

// coldOf lists the cold calls of one name.
func coldOf(r *run, calls []cdg.ActID, firstLaunches func() whatif.Set) (cold []cdg.ActID) {
	if !slices.ContainsFunc(calls, func(a cdg.ActID) bool { return r.own(a) > coldCall }) {
		return nil
	}
	earliest := earliest(r, calls)
	var durs []int64
	for _, a := range calls {
		if a != earliest {
			durs = append(durs, r.own(a))
		}
	}
	usual := max(stat.Median(durs), 1)
	if len(durs) == 0 {
		usual = usualCall
	}
	for _, a := range calls {
		own := r.own(a)
		if own > coldCall && own > coldFactor*usual && !r.waited.Has(a) && (a == earliest || own > coldAgain*usual || firstLaunches().Has(a)) {
			cold = append(cold, a)
		}
	}
	return cold
}

// addColdOps adds first instances of operators that make something.
func addColdOps(r *run, out *[]cdg.ActID) {
	for _, name := range firstOps {
		if list := r.named(opKinds, oneOf(name)); len(list) > 0 {
			if first := earliest(r, list); r.own(first) > coldCall {
				*out = append(*out, first)
			}
		}
	}
}

// earliest is the one that starts first.
func earliest(r *run, list []cdg.ActID) cdg.ActID {
	return slices.MinFunc(list, func(a, b cdg.ActID) int { return int(min(max(r.g.Acts[a].Start-r.g.Acts[b].Start, -1), 1)) })
}

// steady reports whether two steps or more hold no first use.
func steady(r *run) bool {
	n := 0
	for i := range r.g.Steps {
		s := &r.g.Steps[i]
		if !slices.ContainsFunc(r.result(coldStart).events.list, func(a cdg.ActID) bool { return r.g.Acts[a].Start < s.End && r.g.Acts[a].End > s.Start }) {
			n++
		}
	}
	return n >= 2
}

// manyVersions is how many times one frame was compiled for other inputs.
const manyVersions = 3

// PyTorch numbers the compiled versions of a frame in the name of its region: frame/version, after torch._dynamo's compile id.
var _ = add(rule{
	id: "recompiled", group: Note, kind: None, level: Medium,
	why:    "one frame runs in several compiled versions",
	title:  "the same code was compiled several times",
	cause:  "each new size or type of an input makes another version, which costs seconds to compile",
	action: []string{"torch._dynamo.mark_dynamic(x, dim), or dynamic=True where it is compiled", "TORCH_LOGS=recompiles says what differs"},
	verify: "one version of each frame",
	find: func(r *run) *found {
		const region = "Torch-Compiled Region: "
		versions := map[string]map[string]bool{}
		var list []cdg.ActID
		for _, a := range r.named(markKinds, func(s string) bool { return strings.HasPrefix(s, region) }) {
			frame, version, ok := strings.Cut(strings.TrimPrefix(r.name(a), region), "/")
			if !ok {
				continue
			}
			if versions[frame] == nil {
				versions[frame] = map[string]bool{}
			}
			versions[frame][version] = true
			list = append(list, a)
		}
		most := 0
		for _, v := range versions {
			most = max(most, len(v))
		}
		if most < manyVersions || len(r.g.Steps) < 3 {
			return nil
		}
		return &found{events: events{list: list}, do: "mark_dynamic, or dynamic=True", saw: fmt.Sprintf("%s of one frame", tables.Counted(most, "version")),
			numbers: []Number{countOf("versions of one frame", most), countOf("runs of compiled frames", len(list))}}
	},
})
