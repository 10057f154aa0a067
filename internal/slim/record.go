package slim

import (
	"fmt"
	"strconv"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/clock"
	"overlay/internal/overlay"
	"overlay/internal/trace"
)

// Record is what a slim trace says of the run that wrote it.
type Record struct {
	Method string
	cdg.Recorded
}

// recorded are the fields of the record beside method, window and annotation, which every overlay has.
func recordedInts(c *cdg.Delays) []struct {
	key string
	at  *int64
} {
	return []struct {
		key string
		at  *int64
	}{
		{"overlay.launch_min_ns", &c.Launch.Min}, {"overlay.launch_max_ns", &c.Launch.Max},
		{"overlay.kernel_min_ns", &c.Kernel.Min}, {"overlay.kernel_max_ns", &c.Kernel.Max},
		{"overlay.event_min_ns", &c.Event.Min}, {"overlay.event_max_ns", &c.Event.Max},
		{"overlay.sync_min_ns", &c.Sync.Min}, {"overlay.sync_max_ns", &c.Sync.Max},
	}
}

func recordedSamples(c *cdg.Delays) []struct {
	key string
	at  *int
} {
	return []struct {
		key string
		at  *int
	}{
		{"overlay.launch_samples", &c.Launch.Samples}, {"overlay.kernel_samples", &c.Kernel.Samples},
		{"overlay.event_samples", &c.Event.Samples}, {"overlay.sync_samples", &c.Sync.Samples},
	}
}

// recordedSpreads are fields that older runs did not write; without them the run goes on as those did.
func recordedSpreads(c *cdg.Delays) []struct {
	key string
	at  *cdg.Spread
} {
	return []struct {
		key string
		at  *cdg.Spread
	}{{"overlay.launch_spread_ns", &c.Launch.Spread}, {"overlay.kernel_spread_ns", &c.Kernel.Spread}, {"overlay.event_spread_ns", &c.Event.Spread}}
}

func spreadText(s *cdg.Spread) string {
	words := make([]string, len(s))
	for i, ns := range s {
		words[i] = strconv.FormatInt(ns, 10)
	}
	return strings.Join(words, " ")
}

// readSpread reads what spreadText wrote: as many times as a spread has, ascending.
func readSpread(text string) (s cdg.Spread, ok bool) {
	words := strings.Fields(text)
	if len(words) != len(s) {
		return s, false
	}
	for i, w := range words {
		ns, err := strconv.ParseInt(w, 10, 64)
		if err != nil || ns < 0 || ns > farthest || i > 0 && ns < s[i-1] {
			return s, false
		}
		s[i] = ns
	}
	return s, true
}

// Attrs writes the record into attributes.
func Attrs(rec *cdg.Recorded) []overlay.Attr {
	attrs := []overlay.Attr{{Key: overlay.AttrSlim, Int: 1}, {Key: overlay.AttrCarried, Int: int64(rec.Window.CarriedIn)}}
	for _, f := range recordedInts(&rec.Delays) {
		attrs = append(attrs, overlay.Attr{Key: f.key, Int: *f.at})
	}
	for _, f := range recordedSamples(&rec.Delays) {
		attrs = append(attrs, overlay.Attr{Key: f.key, Int: int64(*f.at)})
	}
	for _, f := range recordedSpreads(&rec.Delays) {
		attrs = append(attrs, overlay.Attr{Key: f.key, Str: spreadText(f.at), IsStr: true})
	}
	if len(rec.Clock) > 0 {
		attrs = append(attrs, overlay.Attr{Key: clockAttr, Str: clock.Text(rec.Clock), IsStr: true})
	}
	return append(attrs, overlay.Attr{Key: idleAttr, Int: rec.Delays.Idle}, overlay.Attr{Key: callAttr, Int: rec.Delays.Call}, overlay.Attr{Key: ownAttr, Int: rec.Delays.Own})
}

const (
	callAttr  = "overlay.call_ns" // runs that did not measure it have no such field; 0 stands for that
	ownAttr   = "overlay.own_ns"  // the same
	idleAttr  = "overlay.idle_ns"
	clockAttr = "overlay.clock" // only where a clock was corrected
	idleOlder = 30_000          // ns: what runs took for it that did not measure it, and have no such field
)

// farthest is how far from 0 times of a record may lie: differences of two of them still fit.
const farthest = 1 << 62

// ReadRecord returns the record of a slim trace; nil for every other trace. A record that no run can have written is an
// error: without it the trace would give another path than the one it was cut for.
func ReadRecord(tr *trace.Trace) (*Record, error) {
	if slim, ok := tr.Attrs[overlay.AttrSlim].AsInt(); !ok || slim != 1 {
		return nil, nil
	}
	var bad, err error
	number := func(key string, least int64) int64 {
		v, ok := tr.Attrs[key].AsInt()
		if bad == nil && (!ok || v < least || v > farthest) {
			bad = fmt.Errorf("the record of this slim trace is broken: metadata %q has no value that a run could have written", key)
		}
		return v
	}
	r := &Record{Method: tr.Attrs[overlay.AttrMethod].Text}
	r.Window = cdg.Window{Start: number(overlay.AttrStart, -farthest), Annotation: tr.Attrs[overlay.AttrAnnotation].Text,
		Instance: tr.Attrs[overlay.AttrInstance].Text}
	r.Window.End = number(overlay.AttrEnd, r.Window.Start+1)
	r.Window.CarriedIn = int(number(overlay.AttrCarried, 0))
	for _, f := range recordedInts(&r.Delays) {
		*f.at = number(f.key, 0)
	}
	for _, f := range recordedSamples(&r.Delays) {
		*f.at = int(number(f.key, 0))
	}
	r.Delays.Idle = idleOlder
	if _, ok := tr.Attrs[idleAttr]; ok {
		r.Delays.Idle = number(idleAttr, 0)
	}
	if _, ok := tr.Attrs[callAttr]; ok {
		r.Delays.Call = number(callAttr, 0)
	}
	if _, ok := tr.Attrs[ownAttr]; ok {
		r.Delays.Own = number(ownAttr, 0)
	}
	if v, ok := tr.Attrs[clockAttr]; ok {
		if r.Clock, err = clock.ParseText(v.Text); err != nil && bad == nil {
			bad = fmt.Errorf("the record of this slim trace is broken: metadata %q: %w", clockAttr, err)
		}
	}
	for _, f := range recordedSpreads(&r.Delays) {
		v, ok := tr.Attrs[f.key]
		if !ok {
			continue
		}
		if *f.at, ok = readSpread(v.Text); !ok && bad == nil {
			bad = fmt.Errorf("the record of this slim trace is broken: metadata %q has no value that a run could have written", f.key)
		}
	}
	if bad != nil {
		return nil, bad
	}
	return r, nil
}
