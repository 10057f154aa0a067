package advise

import (
	"fmt"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

const (
	clockKernel = 20_000 // ns
	clockLeast  = 9      // launches of the same work that tell a trend
	clockDrop   = 0.05   // by which the last third is slower than the first
	clockSpread = 0.3    // of one third: more is no one clock
	clockAgree  = 0.8    // of kernels' time, what has to be slower
	clockShare  = 0.3    // of the time of all long kernels, what has to be of work that is done again and again
)

var _ = add(rule{
	id: "clock-drop", group: Specific, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "the same kernels with the same grids take longer at the end of the window than at its start",
	title:    "the GPU gets slower in the course of the window",
	cause:    "heat or a limit of power lowers the clock, and all kernels take longer",
	scenario: "kernels that are slower than in the first third of the window are as fast as there",
	action: []string{"nvidia-smi -q -d CLOCK,PERFORMANCE,POWER beside the run: which limit holds it?", "cooling, the place in the chassis, the limit of power",
		"for measurements: a fixed clock, nvidia-smi --lock-gpu-clocks"},
	verify: "the same kernel takes as long at the end as at the start",
	find: func(r *run) *found {
		beside := r.busyWith(r.collectives())
		var alone []kernel
		whole := int64(0)
		for _, k := range r.kernelsByStart() {
			if d := r.dur(k.op); d >= clockKernel {
				whole += d
				if beside(k.op) == 0 {
					alone = append(alone, k)
				}
			}
		}
		var slow []cdg.ActID
		usual := map[cdg.ActID]int64{}
		known, agree, first, last := int64(0), int64(0), int64(0), int64(0)
		for _, list := range byShape(alone) {
			n := len(list) / 3
			if len(list) < clockLeast || !r.apart(list) {
				continue
			}
			a, b := r.times(list[:n]), r.times(list[len(list)-n:])
			if spread(a) > clockSpread || spread(b) > clockSpread {
				continue
			}
			was, is := a[n/2], b[n/2]
			time := int64(len(list)) * was
			known, first, last = known+time, first+time, last+int64(len(list))*is
			if float64(is) < (1+clockDrop/2)*float64(was) {
				continue
			}
			agree += time
			for _, k := range list[n:] {
				if d := r.dur(k.op); 2*d > was+is {
					slow = append(slow, k.op)
					usual[k.op] = was
				}
			}
		}
		if len(slow) == 0 || float64(known) < clockShare*float64(whole) || float64(agree) < clockAgree*float64(known) || float64(last) < (1+clockDrop)*float64(first) {
			return nil
		}
		drop := float64(last)/float64(first) - 1
		f := &found{events: events{list: slow}, change: r.scenario(), do: "nvidia-smi -q -d CLOCK,PERFORMANCE,POWER beside it",
			saw:     fmt.Sprintf("%s later than in the first third", tables.FormatPercent(100*drop)),
			numbers: []Number{countOf("slower kernels", len(slow)), timeOf("in them", sum(slow, r.dur)), timeOf("in kernels that are compared, as long as at the start", first), timeOf("as long as at the end", last)}}
		f.change.scale(slow, func(a cdg.ActID, own int64) int64 { return min(own, usual[a]) })
		return f
	},
})

// apart reports whether the first and the last third of launches lie in other thirds of the window: a trend, and no order within a step.
func (r *run) apart(list []kernel) bool {
	n := len(list) / 3
	at := func(k kernel) int64 { return r.g.Acts[k.op].Start - r.g.Window.Start }
	return at(list[n-1]) < at(list[len(list)-n]) && at(list[len(list)-1])-at(list[0]) > r.window/2
}
