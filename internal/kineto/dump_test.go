package kineto

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"overlay/internal/trace"
)

// dump writes a trace that was read from JSON as stable text, a line for each field, row, event and repair.
func dump(w io.Writer, t *trace.Trace) error {
	b, x := bufio.NewWriter(w), TextOf(t)
	form := "object"
	if x.ArrayForm {
		form = "array"
	}
	fmt.Fprintf(b, "form %s base %d/%v rank %d truncated %v\n", form, t.Base, t.HasBase, t.Rank, t.Truncated)
	for _, f := range x.Fields {
		fmt.Fprintf(b, "field %q %d+%d\n", f.Key, f.Off, f.Len)
	}
	for i := range t.Procs {
		p := &t.Procs[i]
		fmt.Fprintf(b, "process %d pid %s device %d name %q labels %q sort %d\n", i, t.Syms[p.PID.Raw], p.Device, p.Name, p.Labels, p.Sort)
	}
	for i := range t.Tracks {
		k := &t.Tracks[i]
		fmt.Fprintf(b, "track %d process %d %s tid %s stream %d name %q sort %d/%v\n", i, k.Proc, k.Class, t.Syms[k.TID.Raw], k.Stream, k.Name, k.Sort, k.HasSort)
	}
	for i := range t.Events {
		dumpEvent(b, t, x, trace.EventID(i))
	}
	for _, r := range t.Repairs {
		fmt.Fprintf(b, "repair %s %d %v\n", r.Reason, r.Count, r.First)
	}
	return b.Flush()
}

func dumpEvent(b *bufio.Writer, t *trace.Trace, x *Text, id trace.EventID) {
	e := &t.Events[id]
	ph := "-"
	if e.Ph != 0 {
		ph = strconv.QuoteRune(rune(e.Ph))
	}
	fmt.Fprintf(b, "event %d %s %s cat %q name %q track %d ts %d dur %d", id, ph, e.Kind, t.Syms[e.Cat], t.Syms[e.Name], e.Track, e.Start, t.Dur(e))
	if e.Flags&trace.HasCorr != 0 || t.Corr(e) != 0 {
		fmt.Fprintf(b, " corr %d", t.Corr(e))
	}
	if e.Flags&trace.HasExt != 0 {
		fmt.Fprintf(b, " ext %d", t.ExternalID(id))
	}
	if seq, ok := t.Sequence(id); ok {
		fmt.Fprintf(b, " seq %d", seq)
	}
	call := t.Launch(id)
	if call != trace.NoEvent {
		fmt.Fprintf(b, " launch %d", call)
	}
	raw, args := x.Append(nil, id)
	fmt.Fprintf(b, " at %d+%d args %d flags %#x\n", x.Offset(id), len(raw), args, uint16(e.Flags&^trace.HasArgs))
}

// same reports whether two traces are alike, by whatever templates they were read.
func same(a, b *trace.Trace) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := TextOf(a), TextOf(b)
	if len(x.Spans) != len(y.Spans) || !bytes.Equal(textOf(a), textOf(b)) || x.Length() != y.Length() {
		return false
	}
	for i := range x.Spans {
		xs, xa := x.Append(nil, trace.EventID(i))
		if ys, ya := y.Append(nil, trace.EventID(i)); !bytes.Equal(xs, ys) || xa != ya {
			return false
		}
	}
	tx, ty := *a, *b
	tx.Source, ty.Source = nil, nil
	return reflect.DeepEqual(tx, ty) && x.ArrayForm == y.ArrayForm && x.ListOff == y.ListOff && x.Mended == y.Mended && len(x.Fields) == len(y.Fields)
}

// textOf is the text of a trace.
func textOf(t *trace.Trace) []byte {
	var b bytes.Buffer
	TextOf(t).WriteTo(&b)
	return b.Bytes()
}

// told is what the args of an event say, a line each.
func told(x *Text, id trace.EventID) string {
	var b strings.Builder
	x.Args(id, teller(&b))
	return b.String()
}

// toldByPattern is the same by what the event has alike with others, if there is something.
func toldByPattern(x *Text, id trace.EventID) string {
	_, parts, numbers := x.Pattern(id, nil)
	if parts == nil {
		return told(x, id)
	}
	var b strings.Builder
	tell := teller(&b)
	for i := range parts {
		v := parts[i].Value
		if parts[i].Holes > 0 {
			text := string(parts[i].Append(nil, numbers))
			if v = trace.NumberValue(text); parts[i].Value.Kind == trace.String {
				v = trace.Value{Kind: trace.String, Text: text}
			} else if v.Kind != parts[i].Value.Kind && v.Kind != trace.Uint {
				return fmt.Sprintf("%q: kind %d of a pattern with kind %d", text, v.Kind, parts[i].Value.Kind)
			}
		}
		tell(parts[i].Key, v)
	}
	return b.String()
}

func teller(b *strings.Builder) func(key string, v trace.Value) bool {
	return func(key string, v trace.Value) bool {
		fmt.Fprintf(b, "%q:%d %q %x\n", key, v.Kind, v.Text, v.Bits)
		return true
	}
}
