package advise

import (
	"fmt"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

const (
	contendKernel = 20_000 // ns
	contendFew    = 3      // launches on either side
	contendBeside = 0.8    // share of a kernel beside a collective from which on it counts as beside
	contendSlower = 1.1
	contendSpread = 0.25 // of either side: more has another reason
	contendMany   = 20   // kernels of one shape that are enough by themselves
)

var _ = add(rule{
	id: "contention", group: Specific, class: critpath.ClassCompute, kind: AtMost, level: Medium,
	why:      "the same kernels with the same grids take longer beside collectives than alone",
	title:    "computation is slower beside collectives",
	cause:    "the collective takes multiprocessors and memory bandwidth from the kernels beside it",
	scenario: "kernels beside collectives are as fast as alone",
	action: []string{"fewer channels for the collective: NCCL_MAX_CTAS, or NCCL_MAX_NCHANNELS before NCCL 2.17; it takes longer then, so compare both",
		"hide it behind kernels that are bound by computation, not by memory"},
	verify: "the same kernel takes as long beside a collective as alone",
	find: func(r *run) *found {
		all := r.collectives()
		if len(all) == 0 {
			return nil
		}
		beside := r.busyWith(all)
		var long []kernel
		for _, k := range r.kernelsByStart() {
			if r.dur(k.op) >= contendKernel {
				long = append(long, k)
			}
		}
		var slow []cdg.ActID
		alone := map[cdg.ActID]int64{}
		shapes := 0
		for _, list := range byShape(long) {
			var off, on []kernel
			for _, k := range list {
				switch s := beside(k.op); {
				case s == 0:
					off = append(off, k)
				case s >= contendBeside:
					on = append(on, k)
				}
			}
			if len(off) < contendFew || len(on) < contendFew {
				continue
			}
			a, b := r.times(off), r.times(on)
			was, is := a[len(a)/2], b[len(b)/2]
			if float64(is) < contendSlower*float64(was) || spread(a) > contendSpread || spread(b) > contendSpread {
				continue
			}
			shapes++
			for _, k := range on {
				slow = append(slow, k.op)
				alone[k.op] = was
			}
		}
		if shapes < 2 && len(slow) < contendMany {
			return nil
		}
		busy, usual := sum(slow, r.dur), sum(slow, func(a cdg.ActID) int64 { return alone[a] })
		f := &found{events: events{list: slow}, change: r.scenario(), do: "fewer channels for collectives: NCCL_MAX_CTAS",
			saw:     fmt.Sprintf("%s, %s, alone %s", tables.Counted(len(slow), "kernel"), tables.Duration(busy), tables.Duration(usual)),
			numbers: []Number{countOf("kernels beside collectives", len(slow)), countOf("shapes", shapes), timeOf("in them", busy), timeOf("as long as alone", usual)}}
		f.change.scale(slow, func(a cdg.ActID, own int64) int64 { return min(own, alone[a]) })
		return f
	},
})
