package importer

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// track is a row of slices. A finished slice stays on the stack until the next one starts.
type track struct {
	pid, tid int64
	stack    []int     // slices
	pending  []flowKey // flow ends without bp that wait for the next slice
	overflow *track
}

type flowKey struct {
	id        string
	cat, name string
}

// sort puts events in the order in which they are parsed: by time; at one time ends first, then slices, the longest
// first, then everything else as in the file.
func (im *importer) sort() {
	class := func(e *event) int {
		switch {
		case e.ph == 'E':
			return 0
		case e.ph == 'X' && e.dur > 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(im.queue, func(a, b event) int {
		ca, cb := class(&a), class(&b)
		c := cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(ca, cb))
		if c == 0 && ca == 1 {
			c = cmp.Compare(b.dur, a.dur)
		}
		return c
	})
}

func (im *importer) track(key any, pid, tid int64) *track {
	t := im.tracks[key]
	if t == nil {
		t = &track{pid: pid, tid: tid}
		im.tracks[key] = t
	}
	return t
}

func (im *importer) parse(e *event) {
	thread := func() *track { return im.track(ThreadID{e.pid, e.tid}, e.pid, e.tid) }
	switch e.ph {
	case 'X':
		if e.dur < 0 {
			im.stat("slice_negative_duration")
			return
		}
		im.complete(thread(), e)
	case 'B':
		im.push(thread(), e, -1)
	case 'E':
		im.end(thread(), e)
	case 'i', 'I', 'R':
		t := thread()
		switch {
		case e.ph != 'R' && e.scope == "g":
			t = im.track("global", -1, -1)
		case e.ph != 'R' && e.scope == "p":
			t = im.track([2]any{"process", e.pid}, e.pid, -1)
		}
		im.r.Slices[im.push(t, e, 0)].Instant = true
	case 'b', 'n', 'e':
		t := im.track([3]any{"async", e.cat, string(e.id)}, e.pid, -1)
		switch e.ph {
		case 'b':
			im.push(t, e, -1)
		case 'n':
			im.r.Slices[im.push(t, e, 0)].Instant = true
		default:
			im.end(t, e)
		}
	case 'C':
		im.r.Counters++
	case 's', 't', 'f':
		im.flow(thread(), e)
	case 'M':
		im.meta(e)
	}
}

func (im *importer) endOf(s int) int64 {
	if sl := &im.r.Slices[s]; sl.Dur >= 0 {
		return sl.TS + sl.Dur
	}
	return 1<<63 - 1
}

// complete adds a slice, on an overflow row where it overlaps one that is open.
func (im *importer) complete(t *track, e *event) {
	for k := len(t.stack) - 1; k >= 0; k-- {
		end := im.endOf(t.stack[k])
		if end <= e.ts {
			continue
		}
		if e.ts+e.dur <= end {
			break
		}
		im.stat("slice_spill_overlapping_complete_event")
		if t.overflow == nil {
			t.overflow = &track{pid: t.pid, tid: t.tid}
		}
		s := im.add(t.overflow, e, e.dur)
		im.r.Slices[s].Spilled = true
		return
	}
	im.push(t, e, e.dur)
}

// push starts a slice on a row: what is finished leaves the stack, and waiting flow ends find it.
func (im *importer) push(t *track, e *event, dur int64) int {
	for n := len(t.stack); n > 0 && im.endOf(t.stack[n-1]) <= e.ts; n-- {
		t.stack = t.stack[:n-1]
	}
	s := im.add(t, e, dur)
	im.r.Slices[s].Depth = len(t.stack)
	if len(t.stack) >= 512 {
		im.stat("slice_max_depth_exceeded")
	}
	t.stack = append(t.stack, s)
	for _, k := range t.pending {
		im.join(im.flows[k], s, k) // a flow that was never started comes from slice 0
	}
	t.pending = nil
	return s
}

func (im *importer) add(t *track, e *event, dur int64) int {
	name := e.name
	if name == "" {
		name = "[No name]"
	}
	im.r.Slices = append(im.r.Slices, Slice{PID: t.pid, TID: t.tid, Name: name, Category: e.cat, TS: e.ts, Dur: dur, Event: e.pos})
	return len(im.r.Slices) - 1
}

// end closes the innermost open slice, of the given name where there is one.
func (im *importer) end(t *track, e *event) {
	for k := len(t.stack) - 1; k >= 0; k-- {
		s := &im.r.Slices[t.stack[k]]
		if s.Dur >= 0 || e.name != "" && s.Name != e.name {
			continue
		}
		s.Dur = e.ts - s.TS
		return
	}
}

func (im *importer) flow(t *track, e *event) {
	id, ok := flowID(e.id)
	if !ok {
		im.stat("flow_invalid_id")
		return
	}
	k := flowKey{id, e.cat, e.name}
	from, live := im.flows[k]
	if e.ph == 'f' && !e.bindEnd {
		t.pending = append(t.pending, k)
		return
	}
	if len(t.stack) == 0 {
		im.stat("flow_no_enclosing_slice")
		return
	}
	top := t.stack[len(t.stack)-1]
	switch {
	case e.ph == 's' && live:
		im.stat("flow_duplicate_id")
	case e.ph == 's':
		im.flows[k] = top
	case !live && e.ph == 't':
		im.stat("flow_step_without_start")
	case !live:
		im.stat("flow_end_without_start")
	default:
		im.join(from, top, k)
		if e.ph == 't' {
			im.flows[k] = top
		}
	}
}

// join adds an arrow; its direction follows from where the slices begin, not from which end is which.
func (im *importer) join(a, b int, k flowKey) {
	if len(im.r.Slices) == 0 {
		return
	}
	if im.r.Slices[b].TS < im.r.Slices[a].TS {
		a, b = b, a
	}
	im.r.Flows = append(im.r.Flows, Flow{Out: a, In: b, Category: k.cat, Name: k.name, ID: k.id})
}

// flowID is an id in one spelling: integers as they are, strings as hexadecimal numbers.
func flowID(raw json.RawMessage) (string, bool) {
	s := string(raw)
	if strings.HasPrefix(s, `"`) {
		if json.Unmarshal(raw, &s) != nil {
			return "", false
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
		return strconv.FormatUint(n, 10), err == nil
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return strconv.FormatUint(n, 10), true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return strconv.FormatUint(uint64(n), 10), err == nil
}

func (im *importer) meta(e *event) {
	var a struct {
		Name string      `json:"name"`
		Sort json.Number `json:"sort_index"`
	}
	if json.Unmarshal(e.args, &a) != nil {
		return
	}
	switch e.name {
	case "process_name":
		im.r.Processes[e.pid] = a.Name
	case "thread_name":
		im.r.Threads[ThreadID{e.pid, e.tid}] = a.Name
	case "process_sort_index":
		im.r.Order[e.pid], _ = a.Sort.Int64()
	}
}
