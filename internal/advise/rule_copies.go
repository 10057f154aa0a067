package advise

import (
	"fmt"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/whatif"
)

var _ = add(rule{
	id: "copy-pageable-h2d", group: Specific, torch: true, class: critpath.ClassCopy, kind: Predicted, level: Medium,
	why:      "the copy's name says that the memory is pageable",
	title:    "batches are copied to the GPU from pageable memory",
	cause:    "the driver copies pageable memory twice, in small pieces, and the call waits for it",
	scenario: "each such copy is as fast as from pinned memory, and nobody waits for it",
	action:   []string{"DataLoader(..., pin_memory=True), or x.pin_memory() once", "x.to(device, non_blocking=True)"},
	verify:   "the copies are named Pinned -> Device, and no cudaStreamSynchronize follows them",
	find: func(r *run) *found {
		copies := largeCopies(r, func(s string) bool { return toDevice(s) && pageable(s) })
		if len(copies) == 0 {
			return nil
		}
		moved, busy := sum(copies, r.bytes), sum(copies, r.dur)
		f := &found{events: events{list: copies}, change: pinned(r, copies), do: "pin_memory=True, x.to(device, non_blocking=True)",
			saw:     fmt.Sprintf("%s in %s", tables.FormatBytes(moved), tables.Duration(busy)),
			numbers: []Number{countOf("copies", len(copies)), timeOf("in copies", busy), bytesOf("moved", moved)}}
		return f
	},
})

// readingTakes is what a thread does between a copy to the host and its next launch where it reads nothing of it, ns.
const readingTakes = 1_000_000

// launchesSoon reports whether the thread of a call launches again before it could have read much of what the call copied, and
// launches no collective: that one needs what was copied, such as how much each rank sends.
func launchesSoon(r *run, call cdg.ActID, calls, comms whatif.Set) bool {
	lane := &r.g.Lanes[r.g.Acts[call].Lane]
	end := r.g.Acts[call].End
	if op := r.opAround(call); op != cdg.NoAct { // in which a second call may wait for the copy
		end = r.g.Acts[op].End
	}
	for a := r.g.Enclosed(call); a < lane.Limit && r.g.Acts[a].Start < end+readingTakes; a++ {
		if calls.Has(a) {
			return !comms.Has(a)
		}
	}
	return false
}

var _ = add(rule{
	id: "copy-d2h", group: Specific, class: critpath.ClassCopy, kind: AtMost, level: Medium,
	why:      "the thread launches again within a millisecond; whether it reads the values before cannot be seen",
	title:    "the CPU waits for results that it copies from the GPU",
	cause:    "a copy to pageable memory returns when it is over, and with it everything before it on the GPU",
	scenario: "each such copy is as fast as to pinned memory, and nobody waits for it where the thread launches soon after",
	action:   []string{"copy into a pinned buffer with non_blocking=True, and read it a step later", "reduce on the GPU first: copy less"},
	verify:   "no call waits for the copies named DtoH",
	find: func(r *run) *found {
		calls, comms := r.launchesOf(r.ops), r.launchesOf(r.collectives())
		var copies, read []cdg.ActID // read: the program may read them at once, so the wait stays
		large := false
		for _, a := range r.named(gpuCopy, toHost) {
			c := r.launch(a)
			switch soon := c != cdg.NoAct && launchesSoon(r, c, calls, comms); {
			case c == cdg.NoAct:
				continue
			case !soon && r.bytes(a) >= largeCopy && pageable(r.name(a)):
				read = append(read, a)
				continue
			case !soon:
				continue
			}
			switch of, _ := asked(r, c); {
			case r.bytes(a) >= largeCopy:
				large = true
			case of != "": // a finding of its own
				continue
			}
			copies = append(copies, a)
		}
		_, waits := copying(r, copies)
		if len(waits) == 0 {
			copies = nil
		}
		change := pinned(r, copies)
		if len(read) < 2 { // a buffer that is used once costs more than it gains
			read = nil
		} else {
			time := pinnedTime(r)
			change.scale(read, func(a cdg.ActID, own int64) int64 { return min(own, time(r.bytes(a))) })
			large = true
		}
		if copies = append(copies, read...); len(copies) == 0 {
			return nil
		}
		slices.Sort(copies)
		moved, busy := sum(copies, r.bytes), sum(copies, r.dur)
		f := &found{events: events{list: copies}, change: change, do: "copy to pinned memory, read it a step later",
			saw:     fmt.Sprintf("%s in %s", tables.FormatBytes(moved), tables.Duration(busy)),
			numbers: []Number{countOf("copies", len(copies)), countOf("waits", len(waits)), timeOf("in copies", busy)}}
		if moved > 0 { // else no record says how much
			f.numbers = append(f.numbers, bytesOf("moved", moved))
		}
		if !slices.ContainsFunc(copies, func(a cdg.ActID) bool { return pageable(r.name(a)) }) {
			f.do, f.action = "copy less, on a stream of its own", []string{"copy on a stream of its own, and wait for it where the values are needed", "reduce on the GPU first: copy less"}
		}
		if !large {
			f.level = Low
			f.cause = ".cpu(), .tolist() and .numpy() wait until everything before them is computed, and then nothing is queued"
			f.action = []string{"keep them on the GPU, and copy once in N steps", "copy into a pinned buffer with non_blocking=True, and read it a step later"}
			f.do, f.saw = "keep results on the GPU, copy once in N steps", tables.Counted(len(waits), "wait")
		}
		return f
	},
})
