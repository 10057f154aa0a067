package cdg

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"overlay/internal/kineto"
)

// isAct reports whether an event is an activity: a complete event of a CPU thread or a GPU stream.
// Events clamped to ts 0 happened at an unknown time before the base and are left out.
func isAct(e *kineto.Event) bool {
	return e.Ph == 'X' && e.Track != kineto.NoTrack && e.Flags&kineto.ClampedTS == 0 && (e.Kind.Host() || e.Kind.Device())
}

// layActs puts the activities into lanes: threads before streams, each by the ids of process and row, so that lane
// ids do not depend on the order of the file.
func (b *builder) layActs() {
	tr, d := b.tr, b.d
	count := make([]int32, len(tr.Tracks))
	device := make([]bool, len(tr.Tracks))
	n := 0
	for i := range tr.Events {
		if e := &tr.Events[i]; isAct(e) {
			count[e.Track]++
			device[e.Track] = e.Kind.Device()
			n++
		}
	}
	var tracks []kineto.TrackID
	for t, c := range count {
		if c > 0 {
			tracks = append(tracks, kineto.TrackID(t))
		}
	}
	slices.SortStableFunc(tracks, func(x, y kineto.TrackID) int {
		if device[x] != device[y] {
			if device[y] {
				return -1
			}
			return 1
		}
		tx, ty := &tr.Tracks[x], &tr.Tracks[y]
		return cmp.Or(compareTokens(tr, procToken(tr, tx.Proc), procToken(tr, ty.Proc)), compareTokens(tr, tx.TID, ty.TID))
	})
	next := make([]int32, len(tr.Tracks))
	laneOf := make([]LaneID, len(tr.Tracks))
	at := int32(0)
	for i, t := range tracks {
		d.Lanes = append(d.Lanes, Lane{Track: t, Proc: tr.Tracks[t].Proc, Stream: device[t], First: ActID(at), Limit: ActID(at + count[t])})
		laneOf[t], next[t] = LaneID(i), at
		at += count[t]
	}
	d.Acts = make([]Act, n)
	for i := range tr.Events {
		if e := &tr.Events[i]; isAct(e) {
			d.Acts[next[e.Track]] = Act{e.Start, e.End(), kineto.EventID(i), laneOf[e.Track]}
			next[e.Track]++
		}
	}
	for i := range d.Lanes {
		SortRuns(d.Acts[d.Lanes[i].First:d.Lanes[i].Limit], actOrder{tr}.less)
	}
	d.ActOf = make([]ActID, len(tr.Events))
	for i := range d.ActOf {
		d.ActOf[i] = NoAct
	}
	b.clockGrain = us
	for a := range d.Acts {
		act := &d.Acts[a]
		d.ActOf[act.Event] = ActID(a)
		if (act.Start-d.Acts[0].Start)%us != 0 || (act.End-act.Start)%us != 0 {
			b.clockGrain = 1
		}
	}
}

func procToken(tr *kineto.Trace, p kineto.ProcID) kineto.Token {
	if p == kineto.NoProc {
		return kineto.Token{}
	}
	return tr.Procs[p].PID
}

func compareTokens(tr *kineto.Trace, x, y kineto.Token) int {
	if x.IsNum && y.IsNum {
		return cmp.Compare(x.Num, y.Num)
	}
	if x.IsNum != y.IsNum {
		if x.IsNum {
			return -1
		}
		return 1
	}
	return strings.Compare(tr.Str(x.Raw), tr.Str(y.Raw))
}

// actOrder is the order of activities: (start, longer first, outer kind first, ids, name, position).
type actOrder struct{ tr *kineto.Trace }

func (s actOrder) less(x, y *Act) bool {
	if x.Start != y.Start {
		return x.Start < y.Start
	}
	if x.End != y.End {
		return x.End > y.End
	}
	return s.tie(x, y) < 0
}

// nesting is the order of kinds from the outside in, for equal intervals.
var nesting = [kineto.NumKinds]uint8{kineto.Python: 0, kineto.Annotation: 1, kineto.CPUOp: 2, kineto.Runtime: 3, kineto.Driver: 4,
	kineto.Kernel: 5, kineto.Memcpy: 6, kineto.Memset: 7}

// tie orders equal intervals: by kind, then by the ids that count slices in the order they were opened.
func (s actOrder) tie(x, y *Act) int {
	ex, ey := &s.tr.Events[x.Event], &s.tr.Events[y.Event]
	if c := cmp.Compare(nesting[ex.Kind], nesting[ey.Kind]); c != 0 {
		return c
	}
	if c := cmp.Compare(ex.Ext, ey.Ext); c != 0 {
		return c
	}
	if ex.Dur > 0 {
		if c := cmp.Compare(eventIndex(s.tr, x.Event), eventIndex(s.tr, y.Event)); c != 0 {
			return c
		}
	}
	if ex.Name != ey.Name {
		return strings.Compare(s.tr.Str(ex.Name), s.tr.Str(ey.Name))
	}
	return cmp.Or(cmp.Compare(ex.Corr, ey.Corr), cmp.Compare(x.Event, y.Event))
}

var evIdxKey = []byte(`"Ev Idx"`)

// eventIndex reads args."Ev Idx", the profiler's own running number; -1 when absent.
func eventIndex(tr *kineto.Trace, id kineto.EventID) int64 {
	if v, ok := intArg(tr, id, evIdxKey); ok {
		return v
	}
	return -1
}

// intArg reads an integer argument of an event by its quoted key, from the event's bytes.
func intArg(tr *kineto.Trace, id kineto.EventID, key []byte) (int64, bool) {
	e := &tr.Events[id]
	if e.Args == 0 {
		return 0, false
	}
	raw := tr.Raw(id)[e.Args:]
	i := bytes.Index(raw, key)
	if i < 0 {
		return 0, false
	}
	raw = bytes.TrimLeft(raw[i+len(key):], " \t\r\n:\"")
	neg := len(raw) > 0 && raw[0] == '-'
	if neg {
		raw = raw[1:]
	}
	v, n := int64(0), 0
	for ; n < len(raw) && n < 18 && raw[n] >= '0' && raw[n] <= '9'; n++ {
		v = v*10 + int64(raw[n]-'0')
	}
	if neg {
		v = -v
	}
	return v, n > 0
}
