package advise

import (
	"fmt"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/tables"
	"overlay/internal/vendors"
)

const (
	fewLost   = 5
	lostShare = 0.01 // of launches
)

var _ = add(rule{
	id: "records-lost-gpu", group: Note, kind: None, level: High,
	why:      "launches without the kernel that they launched",
	title:    "kernels that were launched are not recorded",
	cause:    "the profiler lost their records, mostly because its buffers were full: the GPU looks idle where it was not",
	action:   []string{"record fewer steps, or without with_stack and record_shapes", "larger buffers: ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB in the file that KINETO_CONFIG names"},
	verify:   "every launch has a kernel",
	scenario: "",
	find: func(r *run) *found {
		has := r.m.NewSet()
		last := int64(0) // start of the last launch of which there is an operation: later ones may have run after recording
		for a := r.firstOp; int(a) < len(r.g.Acts); a++ {
			l := r.launch(a)
			if l == cdg.NoAct && !r.inside(a) {
				l = r.launcher(a)
			}
			if l != cdg.NoAct {
				has.Add(l)
				last = max(last, r.g.Acts[l].Start)
			}
		}
		launches := r.named(callKinds, func(s string) bool { return vendors.VerbOf(s) == vendors.KernelLaunch })
		captured := r.capturing()
		var lost []cdg.ActID
		n := 0
		for _, a := range launches {
			if captured(a) {
				continue
			}
			n++
			if !has.Has(a) && r.g.Acts[a].Start < last {
				lost = append(lost, a)
			}
		}
		if len(lost) <= fewLost || len(lost) == n || float64(len(lost)) <= lostShare*float64(n) {
			return nil
		}
		return &found{events: events{list: lost}, do: "record fewer steps, or with larger buffers",
			saw:     fmt.Sprintf("%s of %s", tables.Grouped(int64(len(lost))), tables.Counted(n, "launch")),
			numbers: []Number{countOf("launches without a kernel", len(lost)), countOf("launches", n)}}
	},
})

// capturing tells calls while a graph is captured on their thread: those launch nothing.
func (r *run) capturing() func(call cdg.ActID) bool {
	begins := r.named(callKinds, func(s string) bool { return strings.Contains(s, "StreamBeginCapture") })
	ends := r.named(callKinds, func(s string) bool { return strings.Contains(s, "StreamEndCapture") })
	return func(call cdg.ActID) bool {
		open := cdg.NoAct // the last begin before it; activities of a thread are numbered by start
		for _, b := range begins {
			if b < call && r.g.Acts[b].Lane == r.g.Acts[call].Lane {
				open = b
			}
		}
		if open == cdg.NoAct {
			return false
		}
		for _, e := range ends {
			if e > open && e < call && r.g.Acts[e].Lane == r.g.Acts[call].Lane {
				return false
			}
		}
		return true
	}
}
