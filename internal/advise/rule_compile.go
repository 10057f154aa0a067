package advise

import (
	"fmt"
	"regexp"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// compiling are frames and annotations of PyTorch's compilers while they compile. What they compiled runs under other
// names, such as CompiledFunction.
var compiling = regexp.MustCompile(`^(.*torch/_dynamo/convert_frame\.py\(\d+\): (_compile|compile_inner|_compile_inner)|.*torch/_inductor/compile_fx\.py\(\d+\): (compile_fx|compile_fx_inner|fx_codegen_and_compile)|.*(graph|codecache)\.py\(\d+\): (compile_to_module|codegen_and_compile|load_by_key_path)|.*async_compile\.py\(\d+\): wait|.*triton/compiler/compiler\.py\(\d+\): compile|.* \(dynamo_timed\)|_compile\.compile_inner|OutputGraph\.call_user_compiler|compile_fx_inner|GraphLowering\.compile_to_module|async_compile\.wait)$`).MatchString

const (
	longCompile   = 1_000_000 // ns
	runsNotBuilds = 20        // a slice that launches more than one in so many operations of the window runs something
)

var _ = add(rule{
	id: "compile-in-window", group: Specific, kind: Predicted, level: Medium,
	why:      "frames of the compiler are recorded",
	title:    "models or kernels are compiled inside the window",
	cause:    "a compiler runs on the CPU while the GPU waits; in a long run that happens once for each kind of input",
	scenario: "compilation takes no time",
	action: []string{"profile after warm-up: torch.profiler.schedule(wait=1, warmup=3, active=3)", "TORCH_LOGS=recompiles says why it compiles again; torch._dynamo.mark_dynamic(x, dim), or dynamic=True",
		"keep what was compiled: TORCHINDUCTOR_CACHE_DIR"},
	verify: "no compilation inside a step",
	find: func(r *run) *found {
		on := r.launching()
		var list []cdg.ActID
		for _, a := range r.outermost(r.named([]trace.Kind{trace.Python, trace.Annotation, trace.CPUOp}, compiling)) {
			if on[r.g.Acts[a].Lane] && r.dur(a) > longCompile {
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			return nil
		}
		launched := 0
		for a, o := range r.within(list) {
			if o != cdg.NoAct && r.g.Lanes[r.g.Acts[a].Lane].Stream {
				launched++
			}
		}
		if runsNotBuilds*launched > len(r.ops) {
			return nil
		}
		f := r.about(list, "compilation", "compilations", "profile after warm-up; TORCH_LOGS=recompiles")
		f.events.expected = -1
		f.change.shrink(list, 0)
		return f
	},
})

// manyVersions is how many times one frame was compiled for other inputs.
const manyVersions = 3

var _ = add(rule{
	id: "recompiled", group: Note, kind: None, level: Medium,
	why:    "one frame runs in several compiled versions",
	title:  "the same code was compiled several times",
	cause:  "each new size or type of an input makes another version, which costs seconds to compile",
	action: []string{"torch._dynamo.mark_dynamic(x, dim), or torch.compile(dynamic=True)", "TORCH_LOGS=recompiles says what differs"},
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
