package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/perfetto"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// perfettoCheck is what `check` says of a .pftrace, as Perfetto's importer would see it. Field order is output order.
type perfettoCheck struct {
	Schema    string         `json:"schema"`
	File      string         `json:"file"`
	Format    string         `json:"format"`
	Bytes     int64          `json:"bytes"`
	Processes int            `json:"processes"`
	Threads   int            `json:"threads"`
	Rows      int            `json:"rows"` // neither process nor thread
	Slices    int            `json:"slices"`
	Instants  int            `json:"instants"`
	Values    int            `json:"counter_values"`
	Flows     int            `json:"flows"`
	StartNS   int64          `json:"start_ns"`
	EndNS     int64          `json:"end_ns"`
	Path      *perfettoPath  `json:"critical_path,omitempty"`
	Attrs     []perfettoAttr `json:"attributes"`
	Problems  map[string]int `json:"problems"`

	Profiler *kineto.Survey `json:"profiler,omitempty"`         // read to be analysed
	Refused  string         `json:"profiler_refused,omitempty"` // why it cannot be analysed
}

// perfettoPath is the track of segments, added up.
type perfettoPath struct {
	StartNS  int64 `json:"start_ns"`
	EndNS    int64 `json:"end_ns"`
	Segments int   `json:"segments"`
	TiledNS  int64 `json:"tiled_ns"`
	Holes    int   `json:"holes"`
	Overlaps int   `json:"overlaps"`
	Marked   int   `json:"marked_events"`
	MarkedNS int64 `json:"marked_ns"`
}

type perfettoAttr struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func checkPerfetto(name string, bytes int64, im *perfetto.Imported) *perfettoCheck {
	im.CheckArgs()
	c := &perfettoCheck{Schema: "overlay-check/1", File: name, Format: "perfetto", Bytes: bytes, Values: len(im.Points),
		Flows: len(im.Flows), Problems: im.Problems, Attrs: []perfettoAttr{}}
	for _, t := range im.Tracks {
		switch t.Kind {
		case perfetto.Process:
			c.Processes++
		case perfetto.Thread:
			c.Threads++
		default:
			c.Rows++
		}
	}
	for i := range im.Slices {
		s := &im.Slices[i]
		if s.Instant {
			c.Instants++
		} else {
			c.Slices++
		}
		if i == 0 {
			c.StartNS = s.TS // slices come in the order in which they begin
		}
		c.EndNS = max(c.EndNS, s.TS+max(s.Dur, 0))
	}
	for _, a := range im.Attrs {
		if a.IsStr {
			c.Attrs = append(c.Attrs, perfettoAttr{a.Key, a.Str})
		} else {
			c.Attrs = append(c.Attrs, perfettoAttr{a.Key, a.Int})
		}
	}
	c.Path = pathOf(im)
	return c
}

// pathOf adds up the segments and the marks; nil when there are no segments.
func pathOf(im *perfetto.Imported) *perfettoPath {
	var p perfettoPath
	end := int64(0)
	for i := range im.Slices {
		s := &im.Slices[i]
		if s.Category == overlay.CategoryPath {
			if p.Segments == 0 {
				p.StartNS, end = s.TS, s.TS
			}
			switch {
			case s.TS > end:
				p.Holes++
			case s.TS < end:
				p.Overlaps++
			}
			p.Segments++
			p.TiledNS += s.Dur
			end = max(end, s.TS+s.Dur)
			p.EndNS = end
			continue
		}
		critical, ns := false, int64(0)
		for _, a := range im.Args(int32(i)) {
			switch {
			case a.Key == "critical" && a.Int == 1:
				critical = true
			case a.Key == "critical_ns":
				ns = a.Int
			}
		}
		if critical {
			p.Marked++
			p.MarkedNS += ns
		}
	}
	if p.Segments == 0 {
		return nil
	}
	return &p
}

func (c *perfettoCheck) writeText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\tPerfetto trace, %s bytes\n", report.Plain(c.File), tables.Grouped(c.Bytes))
	fmt.Fprintf(t, "rows\t%s, %s, %s\n", tables.Counted(c.Processes, "process"), tables.Counted(c.Threads, "thread"), tables.Counted(c.Rows, "other row"))
	fmt.Fprintf(t, "slices\t%s\n", tables.Grouped(int64(c.Slices)))
	fmt.Fprintf(t, "instants\t%s\n", tables.Grouped(int64(c.Instants)))
	fmt.Fprintf(t, "counter values\t%s\n", tables.Grouped(int64(c.Values)))
	fmt.Fprintf(t, "flows\t%s\n", tables.Grouped(int64(c.Flows)))
	fmt.Fprintf(t, "time\t%s to %s\n", tables.Nanoseconds(c.StartNS), tables.Nanoseconds(c.EndNS))
	if p := c.Path; p != nil {
		fmt.Fprintf(t, "critical path\t%s in %s of %s, %s, %s\n", tables.Counted(p.Segments, "segment"), tables.Nanoseconds(p.TiledNS),
			tables.Nanoseconds(p.EndNS-p.StartNS), tables.Counted(p.Holes, "hole"), tables.Counted(p.Overlaps, "overlap"))
		fmt.Fprintf(t, "marked events\t%s with %s\n", tables.Grouped(int64(p.Marked)), tables.Nanoseconds(p.MarkedNS))
	}
	for _, a := range c.Attrs {
		fmt.Fprintf(t, "%s\t%s\n", report.Plain(a.Key), report.Plain(fmt.Sprint(a.Value)))
	}
	if len(c.Problems) == 0 {
		fmt.Fprintf(t, "problems\tnone\n")
	}
	for _, name := range sortedKeys(c.Problems) {
		fmt.Fprintf(t, "problem\t%s: %s\n", name, tables.Grouped(int64(c.Problems[name])))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	out := stickyWriter{w: w}
	switch {
	case c.Refused != "":
		fmt.Fprintf(&out, "\ncannot be analysed: %s\n", report.Plain(c.Refused))
		return out.err
	case c.Profiler == nil:
		return nil
	}
	fmt.Fprintln(&out, "\nread to be analysed")
	writeSurvey(&out, c.Profiler)
	return out.err
}
