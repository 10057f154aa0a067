package kineto

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Parse reads a trace from its bytes. The trace keeps src; the caller must not change it. name is for messages.
func Parse(src []byte, name string, o Options) (*trace.Trace, error) {
	x := &Text{Src: src, From: o.From, Form: o.Form.Name}
	t := &draft{Trace: &trace.Trace{File: name, Rank: -1, DeviceNames: map[int64]string{}, Source: x, Lend: o.Lend}, Text: x}
	top := topLevel{t: t, p: scanner{s: src}, o: o}
	if err := top.read(); err != nil {
		return nil, err
	}
	if o.Cut && !t.Truncated {
		t.Truncated = true
		top.p.mend(RepairTruncated, len(src))
	}
	if len(t.Events) == 0 && t.Truncated {
		return nil, &SyntaxError{File: name, Offset: x.Length(), Compressed: -1, Pointer: "/traceEvents", Want: "the input ends before the first whole event"}
	}
	top.resolve()
	if t.Recorder = o.Form.By; t.Recorder == vendors.PyTorch {
		if w := t.writer(); w != nil {
			t.Recorder = w.By
		}
	}
	slices.SortFunc(top.p.repairs, func(a, b trace.Repair) int { return strings.Compare(a.Reason, b.Reason) })
	t.Repairs = top.p.repairs
	if o.Strict && len(t.Repairs) > 0 {
		r := slices.MinFunc(t.Repairs, func(a, b trace.Repair) int { return cmp.Compare(a.First[0], b.First[0]) })
		return nil, &SyntaxError{File: name, Offset: r.First[0], Compressed: -1, Want: "--strict: " + strings.ReplaceAll(r.Reason, "_", " ")}
	}
	return t.Trace, t.refuse()
}

// draft is a trace while it is read.
type draft struct {
	*trace.Trace
	*Text
	metas []trace.EventID // M events, until rows are named
}

// topLevel reads what is around the events.
type topLevel struct {
	t *draft
	p scanner
	o Options
}

func (r *topLevel) fail(at int, pointer, want string) error {
	return &SyntaxError{File: r.t.File, Offset: r.p.base + int64(at), Compressed: -1, Pointer: pointer, Want: want}
}

func (r *topLevel) read() error {
	src := r.t.Src
	i := documentStart(src)
	switch {
	case int64(len(src)) > maxText:
		return r.fail(0, "", "more than 1 TiB of JSON: split the trace")
	case i >= len(src):
		return r.fail(0, "", "the input is empty: expected a JSON trace")
	case src[i] == '[':
		r.t.ArrayForm = true
		end, err := r.events(i)
		if err == nil && !r.t.Truncated {
			r.trailing(end)
		}
		return err
	case src[i] != '{':
		return r.fail(i, "", noTrace(r.t.File, src[i:]))
	}
	return r.object(i)
}

// documentStart is where a document begins, behind a byte order mark and blanks.
func documentStart(src []byte) int {
	i := 0
	if len(src) >= 3 && src[0] == 0xef && src[1] == 0xbb && src[2] == 0xbf {
		i = 3
	}
	return skipSpace(src, i)
}

// object reads the top-level object at i, keys on either side of the events.
func (r *topLevel) object(i int) error {
	found := false
	m := members{p: &r.p, at: i, depth: 0}
	for {
		r.p.dirty = false
		if !m.next() {
			break
		}
		if string(m.key) == "traceEvents" && !found {
			if m.at >= len(r.t.Src) {
				return r.fail(m.at, "/traceEvents", "the input ends before the first whole event")
			}
			if r.t.Src[m.at] != '[' {
				return r.fail(m.at, "/traceEvents", "expected '[': the list of events")
			}
			found = true
			end, err := r.events(m.at)
			if err != nil {
				return err
			}
			if r.t.Truncated {
				return nil
			}
			m.at = end
			continue
		}
		key, at := unquote(m.key), m.at
		if !m.skip() {
			// A value that client code wrote broken: go on at the events when they come later.
			if found {
				break
			}
			n := r.findEvents(at)
			if n < 0 {
				return r.fail(at, "/"+key, "expected a JSON value")
			}
			r.p.mend(RepairTopLevel, at)
			m = members{p: &r.p, at: n, depth: 0, state: 1}
			continue
		}
		if key == "traceEvents" {
			r.p.mend(RepairSecondList, at)
			r.t.Mended = true
			continue
		}
		r.t.Mended = r.t.Mended || r.p.dirty
		r.t.Fields = append(r.t.Fields, Field{Key: key, Off: int64(at), Len: int64(m.at - at), Dirty: r.p.dirty})
		r.field(key, r.t.Src[at:m.at])
	}
	if !found {
		if m.end() >= 0 {
			return r.fail(i, "", noEvents(r.t.Fields))
		}
		return r.fail(m.at, "", `expected a JSON object with "traceEvents"`)
	}
	if end := m.end(); end >= 0 {
		r.trailing(end)
	} else if !r.t.Truncated {
		if tail := bytes.TrimRight(r.t.Src[m.at:], " \t\r\n"); len(tail) == 0 || tail[len(tail)-1] != '}' {
			r.t.Truncated = true
			r.p.mend(RepairTruncated, len(r.t.Src))
		} else {
			r.p.mend(RepairTopLevel, m.at)
		}
	}
	return nil
}

// trailing notes what stands behind the end of the document, such as a second trace: it is not read. Blanks and the
// NULs with which file systems and allocators pad are nothing.
func (r *topLevel) trailing(end int) {
	if rest := bytes.TrimLeft(r.t.Src[end:], " \t\r\n\x00"); len(rest) > 0 {
		r.p.mend(RepairTrailing, len(r.t.Src)-len(rest))
	}
}

// findEvents returns the position before the key "traceEvents", as if a member had just ended there.
func (r *topLevel) findEvents(i int) int {
	n := bytes.Index(r.t.Src[i:min(len(r.t.Src), i+16<<20)], []byte(`"traceEvents"`))
	if n < 0 {
		return -1
	}
	for n += i - 1; n > i && r.t.Src[n] != ','; n-- {
	}
	return n
}

// events reads the list at i and returns the position after it.
func (r *topLevel) events(i int) (int, error) {
	t := r.t
	t.ListOff = int64(i)
	from, pieces := r.o.Ahead.pieces(i + 1)
	if len(pieces) > 0 {
		t.gone, t.sums = r.o.Ahead.gone, r.o.Ahead.sums
	}
	t.EventsOff, t.EventsEnd = int64(from), int64(from)
	rest := scanList(t.Src, from, cmp.Or(r.o.chunk, chunkSize), t.gone)
	for _, p := range rest {
		if len(p.events) > 0 {
			if t.EventsEnd == int64(from) && t.gone == 0 {
				t.EventsOff = int64(p.first)
			}
			t.EventsEnd = int64(p.last)
		}
	}
	pieces = append(pieces, rest...)
	last := pieces[len(pieces)-1]
	t.ListEnd = int64(last.end)
	r.p.base = t.gone
	total := 0
	for _, p := range pieces {
		total += len(p.events)
		r.p.repairs.add(p.repairs...)
	}
	if total > 1<<31-2 {
		return 0, r.fail(i, "/traceEvents", "more than 2,147,483,646 events: split the trace")
	}
	if beyond := merge(t, pieces, total); beyond > 0 {
		r.p.repairs.add(trace.Repair{Reason: RepairCategories, Count: beyond, First: []int64{int64(i)}})
	}
	if len(t.alike) > 1<<spanFit {
		return 0, r.fail(i, "/traceEvents", "more than 16,777,216 kinds of events: split the trace")
	}
	if len(t.Syms) > 1<<31-1 {
		return 0, r.fail(i, "/traceEvents", "more than 2,147,483,647 different texts: split the trace")
	}
	if last.cut {
		t.Truncated = true
		r.p.mend(RepairTruncated, last.end)
		return last.end, nil
	}
	return last.end + 1, nil
}
