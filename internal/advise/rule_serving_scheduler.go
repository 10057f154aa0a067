package advise

import (
	"overlay/internal/cdg"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// fewIterations is how many iterations of a server are no pattern.
const fewIterations = 3

// served are the iterations of a language model's server that begin in the window, of one type or, for NoIteration, of any. What verifies drafts
// decodes, too.
func served(r *run, kind trace.IterationType) (list []cdg.Step) {
	for _, s := range r.g.Steps {
		switch s.Of.Type {
		case trace.Prefill, trace.Decode, trace.Mixed, trace.Verify, trace.Draft:
			if (kind == trace.NoIteration || kind == s.Of.Type || kind == trace.Decode && s.Of.Type == trace.Verify) && r.g.ActOf[s.Of.Event] != cdg.NoAct && s.Start >= r.g.Window.Start && s.Start < r.g.Window.End {
				list = append(list, s)
			}
		}
	}
	return list
}

// A scheduler that runs beside the device prepares the next iteration before the tokens of this one are known: vLLM's --async-scheduling, the
// overlap scheduler of SGLang and of TensorRT-LLM, whose documents say that it takes the gaps between iterations away.
var _ = add(rule{
	id: "server-scheduler", group: Specific, kind: AtMost, level: Medium,
	why:      "that what stands between iterations takes no time is the best case",
	title:    "the GPU waits between iterations for the server's scheduler",
	cause:    "the next iteration is prepared only when the tokens of this one are there, and nothing is queued meanwhile",
	scenario: "what the host does between iterations takes no time, and no iteration waits for its results",
	action:   []string{"vLLM: --async-scheduling; SGLang: without --disable-overlap-schedule; TensorRT-LLM: without disable_overlap_scheduler", "fewer calls per token: detokenize, stream and log beside the loop"},
	verify:   "the host gap between iterations no longer shows on the critical path",
	find: func(r *run) *found {
		steps := served(r, trace.NoIteration)
		if len(steps) < fewIterations {
			return nil
		}
		last := len(steps) - 1
		lane := r.g.Acts[r.g.ActOf[steps[0].Of.Event]].Lane
		var list, shown []cdg.ActID
		gap, i := int64(0), 0
		for a := r.g.Lanes[lane].First; a < r.g.Lanes[lane].Limit; a++ {
			at := r.g.Acts[a].Start
			for i < last && steps[i+1].Start <= at {
				i++
			}
			if i < last && at >= r.tr.End(&r.tr.Events[steps[i].Of.Event]) && r.inside(a) {
				list = append(list, a)
				if ns := r.mark(a); ns > 0 {
					gap += ns
					shown = append(shown, a)
				}
			}
		}
		var waits []wait
		waited := int64(0)
		for _, w := range r.waits {
			if x := &r.g.Acts[w.call]; x.Lane == lane && x.Start >= steps[0].Start && x.Start < steps[last].Start {
				waits, shown = append(waits, w), append(shown, w.call)
				waited += r.mark(w.call)
			}
		}
		if len(shown) == 0 {
			return nil
		}
		f := &found{events: events{list: shown, exposed: true}, change: r.scenario(), do: "async or overlap scheduling", saw: tables.Duration(gap+waited) + " exposed",
			numbers: []Number{countOf("iterations", len(steps)), timeOf("between them, exposed", gap), timeOf("in waits for their results, exposed", waited)}}
		f.change.zero(list)
		f.change.noWait(waits)
		return f
	},
})
