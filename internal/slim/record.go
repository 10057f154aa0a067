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

// measured are the delays of a record, by their names in its keys. Of the first measuredSpreads the spread is noted, too.
func measured(c *cdg.Delays) []namedDelay {
	return []namedDelay{{"overlay.launch", &c.Launch}, {"overlay.kernel", &c.Kernel}, {"overlay.event", &c.Event}, {"overlay.sync", &c.Sync}}
}

const measuredSpreads = 3

type namedDelay struct {
	key string
	*cdg.Delay
}

// The ends of their keys.
const (
	minKey, maxKey = "_min_ns", "_max_ns"
	samplesKey     = "_samples"
	spreadKey      = "_spread_ns"
)

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
	delays := measured(&rec.Delays)
	for _, d := range delays {
		attrs = append(attrs, overlay.Attr{Key: d.key + minKey, Int: d.Min}, overlay.Attr{Key: d.key + maxKey, Int: d.Max})
	}
	for _, d := range delays {
		attrs = append(attrs, overlay.Attr{Key: d.key + samplesKey, Int: int64(d.Samples)})
	}
	for _, d := range delays[:measuredSpreads] {
		attrs = append(attrs, overlay.Attr{Key: d.key + spreadKey, Str: spreadText(&d.Spread), IsStr: true})
	}
	if len(rec.Clock) > 0 {
		attrs = append(attrs, overlay.Attr{Key: clockAttr, Str: clock.Text(rec.Clock), IsStr: true})
	}
	return append(attrs, overlay.Attr{Key: idleAttr, Int: rec.Delays.Idle}, overlay.Attr{Key: callAttr, Int: rec.Delays.Call}, overlay.Attr{Key: ownAttr, Int: rec.Delays.Own})
}

const (
	callAttr  = "overlay.call_ns"
	ownAttr   = "overlay.own_ns"
	idleAttr  = "overlay.idle_ns"
	clockAttr = "overlay.clock" // only where a clock was corrected
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
	delays := measured(&r.Delays)
	for _, d := range delays {
		d.Min, d.Max, d.Samples = number(d.key+minKey, 0), number(d.key+maxKey, 0), int(number(d.key+samplesKey, 0))
	}
	r.Delays.Idle, r.Delays.Call, r.Delays.Own = number(idleAttr, 0), number(callAttr, 0), number(ownAttr, 0)
	if v, ok := tr.Attrs[clockAttr]; ok {
		if r.Clock, err = clock.ParseText(v.Text); err != nil && bad == nil {
			bad = fmt.Errorf("the record of this slim trace is broken: metadata %q: %w", clockAttr, err)
		}
	}
	for _, d := range delays[:measuredSpreads] {
		var ok bool
		if d.Spread, ok = readSpread(tr.Attrs[d.key+spreadKey].Text); !ok && bad == nil {
			bad = fmt.Errorf("the record of this slim trace is broken: metadata %q has no value that a run could have written", d.key+spreadKey)
		}
	}
	if bad != nil {
		return nil, bad
	}
	return r, nil
}
