package advise

import (
	"fmt"

	"overlay/internal/cdg"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// vLLM's documents of CUDA graphs: piecewise graphs leave attention to be launched from Python between two of them; a full graph of the decode
// step has it inside.
var _ = add(rule{
	id: "server-eager-islands", group: Specific, kind: AtMost, level: Medium,
	why:      "whether the backend of attention can be captured is not recorded",
	title:    "decode launches kernels one by one between its graphs",
	cause:    "the graphs are pieces of the model: what stands between two of them is launched from Python, and the GPU waits for it",
	scenario: "what the host does between two graphs of a decode iteration takes no time",
	action:   []string{"one graph of the whole decode step: vLLM's cudagraph_mode FULL_DECODE_ONLY or FULL_AND_PIECEWISE; SGLang without --disable-cuda-graph", "a backend of attention that can be captured"},
	verify:   "one graph launch for each decode iteration",
	find: func(r *run) *found {
		steps := r.served(trace.Decode)
		if len(steps) < fewIterations || !r.program().graphs {
			return nil
		}
		launches := map[cdg.ActID]cdg.ActID{} // of single operations
		for _, o := range r.ops {
			if l := r.launch(o); l != cdg.NoAct && r.verb(l) != vendors.GraphLaunch {
				launches[l] = o
			}
		}
		var list, launched []cdg.ActID
		islands := 0
		for _, s := range steps {
			first := r.g.ActOf[s.Of.Event]
			end := r.tr.End(&r.tr.Events[s.Of.Event])
			var since, ops []cdg.ActID // the last graph was launched
			any := false
			for a := first + 1; a < r.g.Lanes[r.g.Acts[first].Lane].Limit && r.g.Acts[a].Start < end; a++ {
				switch {
				case r.verb(a) == vendors.GraphLaunch:
					if len(ops) > 0 {
						islands++
						list, launched = append(list, since...), append(launched, ops...)
					}
					any, since, ops = true, nil, nil
				case any:
					since = append(since, a)
					if o, ok := launches[a]; ok {
						ops = append(ops, o)
					}
				}
			}
		}
		if islands < fewIterations {
			return nil
		}
		exposed := r.criticalOf(list)
		f := &found{events: events{list: launched}, change: r.scenario(), do: "capture the whole decode step in one graph",
			saw:     fmt.Sprintf("%s, %s exposed", tables.Counted(islands, "gap")+" between graphs", tables.Duration(exposed)),
			numbers: []Number{countOf("gaps between graphs with launches", islands), countOf("launches in them", len(launched)), timeOf("of the host there, exposed", exposed)}}
		f.change.zero(list)
		return f
	},
})
