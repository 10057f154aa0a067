package frompftrace

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"overlay/internal/kineto"
	"overlay/internal/limits"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Parse reads a trace from the bytes of a .pftrace file, decompressed. The text of the trace goes to a spool, and the
// trace keeps that; src is not needed afterwards. name is for messages.
func Parse(src []byte, name string, o kineto.Options, to *kineto.Sink) (*trace.Trace, error) {
	r := newReader(src, name)
	if err := r.read(o.Cut); err != nil {
		return nil, err
	}
	size := int64(len(src))
	places, err := r.write(to)
	if much := (*limits.TooMuch)(nil); errors.As(err, &much) {
		return nil, kineto.TooMuch(name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	json, err := to.Bytes()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	repairs, truncated := r.sortedRepairs(), r.truncated
	r = nil // the text is all that is needed from here on
	tr, err := kineto.Parse(json, name, kineto.Options{From: size, Form: vendors.PerfettoTrace})
	if err != nil {
		var e *kineto.SyntaxError
		if errors.As(err, &e) {
			e.Offset, e.Pointer = -1, ""
		}
		return nil, err
	}
	tr.Truncated = truncated
	for _, m := range tr.Repairs {
		for i, off := range m.First {
			m.First[i] = placeOf(kineto.TextOf(tr), places, off)
		}
		repairs = append(repairs, m)
	}
	slices.SortStableFunc(repairs, func(a, b trace.Repair) int { return strings.Compare(a.Reason, b.Reason) })
	tr.Repairs = repairs
	if o.Strict && len(repairs) > 0 {
		first := slices.MinFunc(repairs, func(a, b trace.Repair) int { return cmp.Compare(a.First[0], b.First[0]) })
		return nil, &kineto.SyntaxError{File: name, Offset: first.First[0], Compressed: -1, Want: "--strict: " + strings.ReplaceAll(first.Reason, "_", " ")}
	}
	return tr, nil
}

// UnjoinedText is what to say of a trace that is Unjoined.
const UnjoinedText = "a slim .pftrace lacks the numbers that join calls with kernels: give the trace that it was made from, or write the slim one as .json"

// Unjoined reports whether a trace is a slim .pftrace of this program. Those leave out what the profiler joins its records
// by, so nothing but their rows can be used.
func Unjoined(tr *trace.Trace) bool {
	if x := kineto.TextOf(tr); x == nil || x.From == 0 {
		return false
	}
	if slim, ok := tr.Attrs["overlay.slim"].AsInt(); !ok || slim != 1 {
		return false
	}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 'X' && e.Flags&(trace.HasCorr|trace.HasExt|trace.HasSeq) != 0 {
			return false
		}
	}
	return true
}

// placeOf is where in the file an event stands that has a place in the text.
func placeOf(x *kineto.Text, places []int64, off int64) int64 {
	i := x.EventAt(off)
	if i < 0 || i >= len(places) {
		return 0
	}
	return places[i]
}

// read goes through the packets.
func (r *reader) read(cut bool) error {
	fail := func(at int64, want string) error {
		return &kineto.SyntaxError{File: r.name, Offset: at, Compressed: -1, Want: want}
	}
	r.makeRoom()
	r.scan()
	if cut && !r.truncated {
		r.truncate(int64(len(r.src)))
	}
	switch {
	case r.tooMany:
		return fail(0, fmt.Sprintf("more than %d events: split the trace", maxEvents))
	case len(r.recs) > 0:
	case r.truncated && len(r.ends) == 0:
		return fail(int64(len(r.src)), "the input ends before the first whole event")
	case r.repairs[ReasonBrokenTail] != nil && r.packets == 0:
		return fail(r.repairs[ReasonBrokenTail].First[0], "expected a packet: this is no Perfetto trace")
	case r.unusable() != "":
		return fail(-1, "no event of this Perfetto trace can be used ("+r.unusable()+"): record it again")
	default:
		return fail(-1, "this Perfetto trace holds no slices and no GPU render stages ("+r.contents()+"): give one that a profiler wrote")
	}
	if r.clocks.epoch != 0 {
		r.base, r.unix, r.hasBase = r.clocks.epoch, r.clocks.epoch, true
	} else if r.clocks.hasRealtime {
		r.unix, r.hasBase = r.clocks.realtime, true
	}
	r.pair()
	r.link()
	return nil
}

// unusable counts by reason the events that were sound and cannot be placed, "" without any.
func (r *reader) unusable() string {
	var list []string
	for _, reason := range []string{ReasonNeedsState, ReasonUnknownClock, ReasonNoTime} {
		if n := r.count(reason); n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, strings.ReplaceAll(reason, "_", " ")))
		}
	}
	return strings.Join(list, ", ")
}

// packetNames are what other packets hold, for messages.
var packetNames = map[uint32]string{1: "ftrace", 2: "processes", 52: "GPU counters", 56: "a heap graph", 66: "stack samples", 135: "stack samples", 37: "heap profiles", 9: "process statistics",
	54: "Android logs", 33: "the recording's settings", 35: "statistics", 7: "system statistics", 5: "Chrome events",
	50: compressedPackets, 133: compressedPackets}

const compressedPackets = "compressed packets, which 'traceconv decompress_packets' unpacks"

// contents says in a few words what a trace without slices holds.
func (r *reader) contents() string {
	var found []string
	for _, num := range slices.Sorted(maps.Keys(r.skipped)) {
		if name := packetNames[num]; name != "" {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("%d packets", r.packets)
	}
	return "it holds " + strings.Join(found, ", ")
}
