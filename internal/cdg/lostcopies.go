package cdg

import (
	"regexp"

	"overlay/internal/trace"
)

var lostCopiesRule = rule{name: "copies without calls", find: (*builder).lostCopies}

// copyOp names ops that copy between host and device, and wait for a copy of pageable memory.
var copyOp = regexp.MustCompile(`^aten::(copy_|_to_copy|to|_local_scalar_dense|item|nonzero)$`)

// idleInOp is how long an op must have done nothing of its own when a copy ended, to have waited for it.
const idleInOp = 20 * us

// lostCopies joins a copy to what returned when it ended though no recorded call waited for it: a copy call without a recorded copy, or an op that
// copies, in whose own time the wait lies. Of such a copy the call is lost, or the call that enqueued it is recorded and the one that waited
// is not: on Intel's devices PyTorch records the calls that submit work alone (Kineto's xpupti asks for PTI_API_CLASS_GPU_OPERATION_CORE).
func (b *builder) lostCopies() {
	d := b.d
	copies := matchSyms(b.tr, copyOp.MatchString)
	var threads []LaneID
	for l := range b.threads {
		if len(b.threads[l].launches) > 0 && len(threads) < fewLaunchers {
			threads = append(threads, LaneID(l))
		}
	}
	for a := b.firstOp; int(a) < len(d.Acts); a++ {
		if call := b.launch[a]; b.event(a).Kind != trace.Memcpy || call != NoAct && d.Acts[call].End > d.Acts[a].End {
			continue
		}
		kind := b.calls[b.event(a).Name]
		for _, thread := range threads {
			if c := b.returnedWith(thread, a, kind, copies); c != NoAct {
				b.add(c, a, Sync, ByAlignment)
				break
			}
		}
	}
}

// returnedWith is the call or op of a thread that may have waited for a copy, by the times of both; NoAct without one.
func (b *builder) returnedWith(thread LaneID, op ActID, kind callClass, copies []bool) ActID {
	d, stream := b.d, b.d.Acts[op].Lane
	start, end := d.Acts[op].Start, d.Acts[op].End
	i := d.PieceAt(thread, end)
	if i < 0 || i+1 >= int(d.PieceFirst[thread+1]) || d.Pieces[i].Owner == NoAct || d.Pieces[i+1].Start-end > d.Delays.Sync.Max || !b.sameProcess(stream, thread) {
		return NoAct
	}
	c := d.Pieces[i].Owner
	if d.Acts[c].Start > start || d.Marker(c) {
		return NoAct
	}
	if d.Call(c) {
		if class := b.class(c); b.ofCall[c] == NoAct && (class == blockingCopy || class == asyncCopy && kind != unwaited) {
			return c
		}
		return NoAct
	}
	idle := end - d.Pieces[i].Start
	if !copies[b.event(c).Name] || kind == unwaited || kind != waitedCopy && idle < idleInOp || len(b.order[stream]) > 0 && b.set[thread] != b.set[stream] {
		return NoAct
	}
	if d.copying == nil {
		d.copying = map[ActID]bool{}
	}
	d.copying[c] = true
	return c
}
