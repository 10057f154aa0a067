package kineto

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var kindNames = [NumKinds]string{"other", "cpu_op", "annotation", "python", "runtime", "driver", "kernel", "memcpy", "memset", "graph_node",
	"gpu_annotation", "sync_record", "event_record", "overhead", "span", "device_other"}

func (k Kind) String() string { return kindNames[k] }

var classNames = [...]string{"other", "thread", "stream", "gpu_annotation", "sync", "span", "overhead", "device"}

func (c TrackClass) String() string { return classNames[c] }

// WriteText writes a stable dump, a line for each field, row, event and repair.
func (t *Trace) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	form := "object"
	if t.ArrayForm {
		form = "array"
	}
	fmt.Fprintf(b, "form %s base %d/%v rank %d truncated %v\n", form, t.Base, t.HasBase, t.Rank, t.Truncated)
	for _, f := range t.Fields {
		fmt.Fprintf(b, "field %q %d+%d\n", f.Key, f.Off, f.Len)
	}
	for i := range t.Procs {
		p := &t.Procs[i]
		fmt.Fprintf(b, "process %d pid %s device %d name %q labels %q sort %d/%v\n", i, t.Syms[p.PID.Raw], p.Device, p.Name, p.Labels, p.Sort, p.HasSort)
	}
	for i := range t.Tracks {
		x := &t.Tracks[i]
		fmt.Fprintf(b, "track %d process %d %s tid %s stream %d name %q sort %d/%v\n", i, x.Proc, x.Class, t.Syms[x.TID.Raw], x.Stream, x.Name, x.Sort, x.HasSort)
	}
	for i := range t.Events {
		t.writeEvent(b, EventID(i))
	}
	for _, r := range t.Repairs {
		fmt.Fprintf(b, "repair %s %d %v\n", r.Reason, r.Count, r.First)
	}
	return b.Flush()
}

func (t *Trace) writeEvent(b *bufio.Writer, id EventID) {
	e := &t.Events[id]
	ph := "-"
	if e.Ph != 0 {
		ph = strconv.QuoteRune(rune(e.Ph))
	}
	fmt.Fprintf(b, "event %d %s %s cat %q name %q track %d ts %d dur %d", id, ph, e.Kind, t.Syms[e.Cat], t.Syms[e.Name], e.Track, e.Start, e.Dur)
	if e.Flags&HasCorr != 0 || e.Corr != 0 {
		fmt.Fprintf(b, " corr %d", e.Corr)
	}
	if e.Flags&HasExt != 0 {
		fmt.Fprintf(b, " ext %d", e.Ext)
	}
	if e.Flags&HasSeq != 0 {
		fmt.Fprintf(b, " seq %d fwd %d", e.Seq, e.Fwd)
	}
	if t.Launch[id] != NoEvent {
		fmt.Fprintf(b, " launch %d", t.Launch[id])
	}
	fmt.Fprintf(b, " at %d+%d args %d flags %#x\n", e.Off, e.Len, e.Args, uint16(e.Flags))
}

// NormalName is a name as statistics group it: the addresses of Python objects and the path up to site-packages are cut.
func NormalName(s string) string {
	for {
		i := strings.Index(s, " at 0x")
		if i < 0 {
			break
		}
		j := i + len(" at 0x")
		for j < len(s) && isHex(s[j]) {
			j++
		}
		s = s[:i] + s[j:]
	}
	for _, dir := range [...]string{"/site-packages/", "/dist-packages/"} {
		if i := strings.LastIndex(s, dir); i >= 0 {
			s = s[i+len(dir):]
		}
	}
	return s
}
