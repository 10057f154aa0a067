package kineto

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

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
		fmt.Fprintf(b, "process %d pid %s device %d name %q labels %q sort %d/%v\n", i, t.Syms[p.PID.Raw], p.Device, p.Name, p.Labels, p.Sort, p.HasSort)
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
	fmt.Fprintf(b, " at %d+%d args %d flags %#x\n", x.Spans.At(int(id)).Off(), len(x.Raw(id)), x.ArgsAt(id), uint16(e.Flags&^trace.HasArgs))
}
