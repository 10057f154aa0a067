package viewer

import (
	"math"
	"slices"

	"overlay/internal/perfetto"
	"overlay/internal/wire"
)

// decoded is a TrackEvent.
type decoded struct {
	typ         uint64
	name        string
	hasName     bool
	category    string
	hasCategory bool
	color       string
	flows, ends []uint64
	args        [][]byte
	value       float64
	hasValue    bool
}

func (rd *reader) decode(e *rawEvent) decoded {
	var d decoded
	ok := wire.Each(e.body, func(f *wire.Fields) {
		switch f.Num {
		case 9:
			d.typ = f.V
		case 10:
			d.name, d.hasName = rd.lookup(e.state, 2, f.V, "unknown_name_iid")
		case 23:
			d.name, d.hasName = string(f.S), true
		case 3:
			s, _ := rd.lookup(e.state, 1, f.V, "unknown_category_iid")
			d.addCategory(s)
		case 22:
			d.addCategory(string(f.S))
		case 4:
			d.args = append(d.args, f.S)
		case 54:
			d.color, _ = rd.lookup(e.state, 43, f.V, "unknown_correlation_id_str_iid")
		case 53:
			d.color = string(f.S)
		case 47:
			d.flows = append(d.flows, f.V)
		case 48:
			d.ends = append(d.ends, f.V)
		case 30:
			d.value, d.hasValue = float64(int64(f.V)), true
		case 44:
			d.value, d.hasValue = math.Float64frombits(f.V), true
		}
	})
	if !ok {
		rd.problem("track_event_parser_errors")
	}
	return d
}

func (d *decoded) addCategory(s string) {
	if d.hasCategory {
		s = d.category + "," + s
	}
	d.category, d.hasCategory = s, true
}

func (rd *reader) lookup(s *sequence, field int, iid uint64, problem string) (string, bool) {
	str, ok := s.strings[field][iid]
	if !ok {
		rd.problem(problem)
	}
	return str, ok
}

// event replays one event, in order of time.
func (rd *reader) event(e *rawEvent) {
	d := rd.decode(e)
	track := rd.track(e.track, d.name)
	t := &rd.im.Tracks[track]
	if t.broken {
		rd.problem("event_on_broken_track")
		return
	}
	if (d.typ == typeCounterEvent) != (t.Kind == perfetto.Counter) {
		rd.problem("track_event_parser_errors")
		return
	}
	slice := int32(-1)
	switch d.typ {
	case typeSliceBegin:
		slice = rd.push(e, &d, track, -1)
	case typeSliceInstant:
		slice = rd.push(e, &d, track, 0)
	case typeSliceEnd:
		slice = rd.end(e, &d, t)
	case typeCounterEvent:
		if !d.hasValue {
			rd.problem("track_event_parser_errors")
			return
		}
		rd.im.Points = append(rd.im.Points, ReadPoint{Track: track, TS: e.ts, Value: d.value})
		return
	default:
		rd.problem("track_event_parser_errors")
		return
	}
	if slice < 0 {
		return
	}
	for _, id := range d.flows {
		rd.flow(id, slice, false)
	}
	for _, id := range d.ends {
		rd.flow(id, slice, true)
	}
}

// TrackEvent.Type.
const (
	typeSliceBegin   = 1
	typeSliceEnd     = 2
	typeSliceInstant = 3
	typeCounterEvent = 4
)

const (
	pending  = -1
	maxStack = 512
)

// push starts a slice: dur is pending, or 0 for an instant.
func (rd *reader) push(e *rawEvent, d *decoded, track int32, dur int64) int32 {
	t := &rd.im.Tracks[track]
	rd.settle(t, e.ts, dur)
	if len(t.stack) >= maxStack {
		rd.problem("slice_max_depth_exceeded")
		return -1
	}
	s := ReadSlice{TS: e.ts, Dur: dur, Track: track, Depth: int32(len(t.stack)), Parent: -1, Instant: dur == 0,
		Name: d.name, Unnamed: !d.hasName, Category: d.category, Color: d.color, args: d.args, state: e.state}
	if len(t.stack) > 0 {
		s.Parent = t.stack[len(t.stack)-1]
	}
	id := int32(len(rd.im.Slices))
	rd.im.Slices = append(rd.im.Slices, s)
	t.stack = append(t.stack, id)
	return id
}

// settle takes finished slices off the stack before something happens at ts.
func (rd *reader) settle(t *ReadTrack, ts, dur int64) {
	unfinished := false
	for i := len(t.stack) - 1; i >= 0; i-- {
		s := &rd.im.Slices[t.stack[i]]
		if s.Dur == pending {
			unfinished = true
			continue
		}
		end := s.TS + s.Dur
		if unfinished {
			if ts <= end {
				continue
			}
			// A slice was closed by name while its children are open: they end with it.
			rd.problem("misplaced_end_event")
			for _, child := range t.stack[i+1:] {
				c := &rd.im.Slices[child]
				c.Dur = end - c.TS
			}
			t.stack = t.stack[:i]
			unfinished = false
			continue
		}
		bothInstants := s.Dur == 0 && dur == 0
		if end < ts || end == ts && !bothInstants {
			t.stack = t.stack[:i]
		}
	}
}

// end closes the innermost open slice that name and category allow.
func (rd *reader) end(e *rawEvent, d *decoded, t *ReadTrack) int32 {
	rd.settle(t, e.ts, pending)
	for i := len(t.stack) - 1; i >= 0; i-- {
		id := t.stack[i]
		s := &rd.im.Slices[id]
		if s.Dur != pending || d.hasCategory && d.category != s.Category ||
			d.hasName && !s.Unnamed && d.name != s.Name {
			continue
		}
		s.Dur = e.ts - s.TS
		s.args = append(slices.Clip(s.args), d.args...)
		if i == len(t.stack)-1 {
			t.stack = t.stack[:i]
		}
		return id
	}
	rd.problem("unmatched_end")
	return -1
}

// flow joins a slice to the last one that carried the id; the slice that begins first is the source.
func (rd *reader) flow(id uint64, slice int32, terminate bool) {
	prev, active := rd.flows[id]
	if terminate {
		if !active {
			rd.problem("terminating_flow_without_start")
			return
		}
		delete(rd.flows, id)
	} else {
		rd.flows[id] = slice
	}
	if !active {
		return
	}
	from, to := prev, slice
	if rd.im.Slices[from].TS > rd.im.Slices[to].TS {
		from, to = to, from
	}
	rd.im.Flows = append(rd.im.Flows, ReadFlow{ID: id, From: from, To: to})
}

// finish counts what is wrong with the result as a whole.
func (rd *reader) finish() {
	for i := range rd.im.Slices {
		s := &rd.im.Slices[i]
		if s.Dur == pending {
			rd.problem("open_slice")
		}
		if s.Unnamed {
			rd.problem("unnamed_slice")
		}
	}
	used := make(map[uint64]bool)
	for _, f := range rd.im.Flows {
		used[f.ID] = true
	}
	for id := range rd.flows {
		if !used[id] {
			rd.problem("flow_with_one_end")
		}
	}
}
