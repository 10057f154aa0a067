package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"overlay/internal/inputs"
	"overlay/internal/outputs"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/pgzip"
	"overlay/internal/pipeline"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// createOutput prepares the output of -o; when that is standard output, results go to standard error.
func (j *job) createOutput() (*outputs.Output, error) {
	if outputs.IsStdout(j.opts.output) {
		j.resultTo = j.stderr
	}
	return j.outs.Create(j.opts.output)
}

// write writes a picture in the format of -o.
func (j *job) write(out *outputs.Output, p pipeline.Picture) (written, error) {
	j.stages.start("writing")
	var st written
	err := compressed(out, j.opts, func(w io.Writer) (err error) {
		st, err = writeFormat(w, j.opts, p)
		return err
	})
	return st, err
}

// compressed has an output written, compressed where its name says so.
func compressed(out *outputs.Output, o *options, write func(w io.Writer) error) error {
	var err error
	if o.compress {
		var z *pgzip.Writer
		if z, err = pgzip.NewWriter(out, o.gzipLevel()); err == nil {
			err = write(z)
		}
		if err == nil {
			err = z.Close()
		}
	} else {
		err = write(out)
	}
	if out.Err != nil {
		err = out.Err // the writers wrap it, which says nothing more
	}
	return err
}

// gzipLevel trades size for time: 8 takes three times as long as 6 for 3 to 8 % less. A slim trace is made to be sent: it takes the best.
func (o *options) gzipLevel() int {
	if o.onlyCritical {
		return 9
	}
	return 6
}

func writeFormat(w io.Writer, o *options, p pipeline.Picture) (written, error) {
	format := pipeline.Perfetto
	if o.chrome {
		format = pipeline.Chrome
	}
	st, err := p.Write(w, format)
	var out written
	if st.Chrome != nil {
		out = writtenChrome(st.Chrome)
	} else {
		out = writtenPerfetto(st.Perfetto)
	}
	if p.Drawing != nil {
		out.repair(p.Drawing.EarlierRemoved, "earlier_overlay_removed")
		if flowNames[o.flows] == overlay.FlowsCritical {
			out.note(p.Drawing.LeftOut, "edge", "of the path without an arrow, so that a click stays quick in the viewer (--flows all draws them)")
		}
	}
	return out, err
}

// written is what the summary says of an output.
type written struct {
	drawn string // as in "1,234 slices, 56 arrows"
	notes []string
}

func (w *written) note(n int, noun, what string) {
	if n > 0 {
		w.notes = append(w.notes, tables.Counted(n, noun)+" "+what)
	}
}

// repair is something that was mended while drawing, in the words of repairs while reading.
func (w *written) repair(n int, reason string) {
	if n > 0 {
		w.notes = append(w.notes, fmt.Sprintf("repaired %s: %s", reason, tables.Grouped(int64(n))))
	}
}

func writtenPerfetto(st *pftrace.Stats) written {
	w := written{drawn: tables.Counted(st.Slices, "slice") + ", " + tables.Counted(st.Flows, "arrow") + " of the input, " + tables.Counted(st.Arrows, "arrow") + " of the path"}
	w.note(st.Lanes, "row", "added for slices that overlap without nesting")
	w.note(st.Unclosed, "event", "without an end, drawn to the end of the row")
	w.note(st.Unopened, "event", "without a begin, drawn as instants")
	w.note(st.Unbound, "flow event", "without a slice to bind to, not drawn")
	w.note(st.Negative, "event", "before time 0, not drawn")
	for _, ph := range slices.Sorted(maps.Keys(st.NotDrawn)) {
		if ph != 0 {
			w.note(st.NotDrawn[ph], "event", "of phase "+string(rune(ph))+", not drawn")
		} else {
			w.note(st.NotDrawn[ph], "element", "that is no event, not drawn")
		}
	}
	return w
}

func writtenChrome(st *chromejson.Stats) written {
	w := written{drawn: tables.Counted(st.Events, "event") + " copied, " + tables.Counted(st.Slices, "slice") + " and " + tables.Counted(st.Arrows, "arrow") + " added"}
	w.note(st.Reencoded, "event", "that were no valid JSON, mended")
	w.repair(st.Renumbered, "id_renumbered")
	w.note(st.MarksLost, "event", "whose args are no object, not marked")
	w.note(st.StandIns, "arrow", "drawn at the row Path segments: in JSON no time binds them to their slices")
	w.note(st.Unbindable, "arrow", "that the viewer would bind to other slices, left out")
	return w
}

// repairLines says what was mended while reading.
func repairLines(tr *trace.Trace) []string {
	var lines []string
	for _, r := range tr.Repairs {
		line := fmt.Sprintf("repaired %s: %s", r.Reason, tables.Grouped(int64(r.Count)))
		if len(r.First) > 0 {
			line += fmt.Sprintf(", the first at byte %d", r.First[0])
		}
		lines = append(lines, line)
	}
	return lines
}

// muchForBrowser is from how many bytes on a viewer in a browser may run out of memory: it needs two to four times as much as
// the file has, and some browsers give a page 2 to 4 GB (Perfetto's page on large traces).
const muchForBrowser = 1 << 30

// nextStep is what to do with an output. A direct one is no file that could be opened.
func nextStep(name string, bytes int64, direct bool) string {
	if word, ok := inputs.ShellWord(name); ok && !direct {
		if bytes >= muchForBrowser {
			return "next  trace_processor --httpd " + word + " and " + viewerOrigin + ", which takes it from there; much for a browser alone (--only-critical writes less)"
		}
		return "next  overlay open " + word
	}
	return "next  open it in " + viewerOrigin
}
