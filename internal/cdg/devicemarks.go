package cdg

import (
	"cmp"
	"slices"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Arguments of marks on the rows of streams.
const (
	seqNumArg   = "seq_num"
	streamIDArg = "stream_id" // of calls: the stream that they are about
)

var deviceMarksRule = rule{name: "device marks", find: func(b *builder) { markWaits{b}.find() }}

type markWaits struct{ *builder }

// find joins what the device itself recorded of streams that waited for each other: a wait on a stream's row is
// over when the event of its number was recorded on the other stream, which is behind all that was put there before. So the
// next operation waited for the last one before the record, and for whatever that stream still waited for itself.
func (b markWaits) find() {
	d, tr := b.d, b.tr
	marks := b.deviceMarks()
	if len(marks) == 0 {
		return
	}
	lanes := map[streamKey]LaneID{}
	b.streamIDs = map[streamKey]LaneID{}
	for l := range d.Lanes {
		if lane := &d.Lanes[l]; lane.Stream {
			lanes[streamKey{int64(lane.Proc), lane.Number}] = LaneID(l)
			b.streamIDs[streamKey{tr.Procs[lane.Proc].Device, lane.Number}] = LaneID(l)
		}
	}
	isWait := matchSyms(tr, func(s string) bool { return s == vendors.DeviceWait })
	type event struct {
		stream streamKey
		seq    int64
	}
	recorded := map[event][]ActID{}    // what the event of a number stands for
	pending := map[streamKey][]ActID{} // what a stream was made to wait for since its last operation
	next := map[LaneID]ActID{}         // the first operation that has not started
	standing := func(s streamKey, t int64) []ActID {
		lane, ok := lanes[s]
		if !ok {
			return pending[s]
		}
		n, started := next[lane]
		if !started {
			n = d.Lanes[lane].First
		}
		for ; n < d.Lanes[lane].Limit && d.Acts[n].Start < t; n++ {
			for _, x := range pending[s] {
				b.deviceWait(n, x)
			}
			delete(pending, s)
		}
		next[lane] = n
		if n > d.Lanes[lane].First {
			return append([]ActID{n - 1}, pending[s]...)
		}
		return pending[s]
	}
	for _, id := range marks {
		e := &tr.Events[id]
		t, on := tr.End(e), streamKey{int64(tr.Tracks[e.Track].Proc), tr.Tracks[e.Track].Stream}
		seq := b.argOr(id, seqNumArg)
		if !isWait[e.Name] {
			recorded[event{on, seq}] = standing(on, t)
			continue
		}
		standing(on, t)
		from := streamKey{on.device, b.argOr(id, waitStreamArg)}
		sources, ok := recorded[event{from, seq}]
		if !ok {
			sources = standing(from, t)
		}
		for _, x := range sources {
			if !slices.Contains(pending[on], x) {
				pending[on] = append(pending[on], x)
			}
		}
	}
	for s := range lanes {
		if len(pending[s]) > 0 {
			standing(s, 1<<62)
		}
	}
	b.findBusy()
}

// streamNamed returns the stream that a call says it is about, NoLane where the trace does not say that.
func (b *builder) streamNamed(call ActID) LaneID {
	if b.streamIDs != nil {
		e := b.d.Acts[call].Event
		if l, ok := b.streamIDs[streamKey{b.argOr(e, deviceArg), b.argOr(e, streamIDArg)}]; ok {
			return l
		}
	}
	return NoLane
}

// deviceWait lets an operation wait for another, where the times allow it.
func (b markWaits) deviceWait(k, x ActID) {
	ka, xa := &b.d.Acts[k], &b.d.Acts[x]
	if xa.Lane != ka.Lane && xa.End <= ka.Start+b.clockGrain && xa.Start < ka.Start && xa.End > xa.Start {
		b.add(k, x, EventWait, BySyncEvent)
	}
}

// deviceMarks returns the marks on the rows of streams in order of their ends; at one time records come before waits.
func (b markWaits) deviceMarks() []trace.EventID {
	tr, marks := b.tr, b.marks
	waits := func(id trace.EventID) int {
		if tr.Name(id) == vendors.DeviceWait {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(marks, func(x, y trace.EventID) int {
		return cmp.Or(cmp.Compare(tr.End(&tr.Events[x]), tr.End(&tr.Events[y])), cmp.Compare(waits(x), waits(y)), cmp.Compare(tr.Events[x].Start, tr.Events[y].Start))
	})
	return marks
}
