package testtrace

import (
	"fmt"
	"io"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Recorded compares, on a real trace with cuda_sync records, what they say with what is inferred without them.
type Recorded struct {
	Waits, Same       int   // recorded dependencies; those that were inferred too
	Inferred, Right   int   // dependencies inferred for activities that have a recorded one; those that agree
	Extra             int   // inferred waits of activities without a recorded one
	Window, SameOwner int64 // ns: of the window, and of it with the same owner on both paths
}

// CompareRecorded analyses the trace with its cuda_sync records and without. ok is false when there are none to use.
func CompareRecorded(tr *trace.Trace) (c Recorded, ok bool, err error) {
	bare := *tr
	bare.Events = slices.Clone(tr.Events)
	found := false
	for i := range bare.Events {
		if e := &bare.Events[i]; e.Kind == trace.SyncRecord || e.Kind == trace.EventRecord {
			e.Kind, found = trace.Overhead, true
		}
	}
	if !found {
		return c, false, nil
	}
	with, pathWith, err := analyse(tr)
	if err != nil {
		return c, false, err
	}
	without, pathWithout, err := analyse(&bare)
	if err != nil {
		return c, false, err
	}
	recorded, inferred := waitsOf(with), waitsOf(without)
	for to, w := range recorded {
		var said []trace.EventID
		for _, x := range w {
			if x.by == cdg.BySyncEvent {
				said = append(said, x.from)
			}
		}
		if len(said) == 0 {
			continue
		}
		c.Waits += len(said)
		for _, x := range inferred[to] {
			c.Inferred++
			if slices.Contains(said, x.from) {
				c.Right++
				c.Same++
			}
		}
	}
	for to, w := range inferred {
		if len(recorded[to]) == 0 {
			c.Extra += len(w)
		}
	}
	c.Window = pathWith.Window.End - pathWith.Window.Start
	c.SameOwner = sameOwner(pathWith, pathWithout)
	return c, c.Waits > 0, nil
}

func analyse(tr *trace.Trace) (*graph.Graph, *critpath.Path, error) {
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		return nil, nil, err
	}
	p, err := critpath.Exact(g)
	return g, p, err
}

type waited struct {
	from trace.EventID
	by   cdg.Evidence
}

// waitsOf lists event waits and synchronisations by the event that waited.
func waitsOf(g *graph.Graph) map[trace.EventID][]waited {
	waits := map[trace.EventID][]waited{}
	d := g
	for a := range d.Acts {
		for _, s := range d.Sources(cdg.ActID(a)) {
			if s.Rule == cdg.EventWait || s.Rule == cdg.Sync {
				to := d.Acts[a].Event
				waits[to] = append(waits[to], waited{d.Acts[s.From].Event, s.Evidence})
			}
		}
	}
	return waits
}

// sameOwner is the time in which two paths of one window have the same owner.
func sameOwner(a, b *critpath.Path) int64 {
	same, i, j := int64(0), 0, 0
	xs, ys := a.Segments.List(), b.Segments.List()
	for i < len(xs) && j < len(ys) {
		x, y := &xs[i], &ys[j]
		if x.Event == y.Event {
			same += max(0, min(x.End, y.End)-max(x.Start, y.Start))
		}
		if x.End <= y.End {
			i++
		} else {
			j++
		}
	}
	return same
}

// WriteText prints the comparison as one line.
func (c *Recorded) WriteText(w io.Writer, name string) {
	fmt.Fprintf(w, "%s: %d recorded waits, %d inferred alike; %d inferred for the same, %d right; %d more inferred; path alike %.2f%%\n", name,
		c.Waits, c.Same, c.Inferred, c.Right, c.Extra, 100*float64(c.SameOwner)/float64(max(1, c.Window)))
}
