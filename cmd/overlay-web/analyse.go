package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"overlay/internal/analyses"
	"overlay/internal/buildinfo"
	"overlay/internal/cdg"
	"overlay/internal/flame"
	"overlay/internal/frompftrace"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/trace"
)

// maxInput is how many bytes of JSON a page can hold: a WebAssembly program has 4 GB of memory, and analysing and
// drawing take up to three times the input beside it.
const maxInput = 1 << 30

// request is what the page asks for. The zero value, but for the name, is what `overlay run -i NAME` does.
type request struct {
	Name string `json:"name"` // of the file, for messages and the report
	Size int64  `json:"size"` // bytes of the file
	Step string `json:"step"` // to analyse: its number, name or type; "" is the whole trace
	Rows bool   `json:"rows"` // draw the analyses of the page into the trace, too
	Slim bool   `json:"slim"`
	Desk bool   `json:"desk"` // questions will be asked: what answers them is kept
}

// answer is what the page shows. The overlaid trace goes another way, piece by piece.
type answer struct {
	Page   string          `json:"page"` // HTML
	Report json.RawMessage `json:"report"`
	Output string          `json:"output"`
	Start  int64           `json:"start"` // of the window, ns on the trace's clock
	End    int64           `json:"end"`
}

// options turns a request into the pipeline's options. A page has all analyses, as that of the program.
func (q *request) options(stage func(string)) (pipeline.Options, error) {
	o := pipeline.Options{Analyses: analyses.Names, Unasked: !q.Rows, Stage: stage}
	if q.Step != "" {
		if _, _, ok := trace.ReadStep(q.Step); !ok {
			return o, fmt.Errorf("step %q is neither the number of a step nor a name such as decode#7 or decode", q.Step)
		}
		o.Link = cdg.Options{Step: q.Step}
	}
	return o, nil
}

// hotspots is how many the report lists, as the program does.
const hotspots = 10

// analyse reads a trace from in, writes the overlaid trace to out, and says what was found, and what answers questions, if that is wanted.
func analyse(q request, in io.ReaderAt, out io.Writer, stage func(string)) (*answer, *pipeline.Desk, error) {
	o, err := q.options(stage)
	if err != nil {
		return nil, nil, err
	}
	if q.Size > maxInput {
		return nil, nil, fmt.Errorf("%s has %d bytes, and a page can hold %d: the program itself needs a quarter of the time and memory", q.Name, q.Size, int64(maxInput))
	}
	stage("reading")
	read := kineto.Options{MaxExpand: maxInput}
	text, err := kineto.Decompress(io.NewSectionReader(in, 0, q.Size), q.Name, read, &spool{})
	if err != nil {
		return nil, nil, err
	}
	debug.SetGCPercent(gcPercent(int(text.Size)))
	stage("parsing")
	read.Cut, read.Ahead = text.Cut, text.Ahead
	tr, err := parse(text.Bytes, q.Name, read)
	if err != nil {
		return nil, nil, err
	}
	run, err := pipeline.Solve(tr, o, true)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", q.Name, err)
	}
	from := report.Source{Name: q.Name, Version: buildinfo.Version, Top: hotspots, Advise: true, Memory: run.Memory(nil)}
	stacks := run.Flame()
	var desk *pipeline.Desk
	if q.Desk && !run.Recorded {
		desk = run.Desk()
		from.Gains = true
	}
	a := &answer{Output: outputName(q.Name)}
	if err := a.describe(run.Report(from), stacks, desk); err != nil {
		return nil, nil, err
	}
	picture := run.Draw(overlay.Options{Version: buildinfo.Version, Slim: q.Slim, Advice: run.Findings()})
	stage("writing")
	_, err = pftrace.Write(out, picture.Trace, picture.Drawing)
	return a, desk, err
}

// gcPercent says how much the memory may grow before garbage is collected again. It never shrinks, so a large trace gets
// little; a small one gets as much as fills the same room, and is hardly collected. What is analysed takes three times
// the bytes of JSON.
func gcPercent(bytes int) int {
	const room, least, most = 1 << 30, 25, 800
	return min(max(100*room/(3*bytes+1)-100, least), most)
}

// parse reads a trace of any format but databases, whose library is larger than this program.
func parse(src []byte, name string, o kineto.Options) (*trace.Trace, error) {
	switch {
	case !kineto.IsPerfetto(src):
		return kineto.Parse(src, name, o)
	}
	tr, err := frompftrace.Parse(src, name, o, kineto.NewSink(&spool{hint: 2 * int64(len(src))}, o))
	if err == nil && frompftrace.Unjoined(tr) {
		return nil, fmt.Errorf("%s: %s", name, frompftrace.UnjoinedText)
	}
	return tr, err
}

// describe puts a report into the answer, as the page that the program writes and as JSON.
func (a *answer) describe(r *report.Report, stacks *flame.Graph, desk *pipeline.Desk) error {
	var html, js strings.Builder
	var sliders *page.Desk
	if desk != nil {
		desk.Advised(r.Advice)
		sliders = page.NewDesk(r, r.Input.Name, desk.Knows)
	}
	if err := page.WriteDesk(&html, r, stacks, sliders); err != nil {
		return err
	}
	if err := r.WriteJSON(&js); err != nil {
		return err
	}
	a.Page, a.Report = html.String(), json.RawMessage(js.String())
	a.Start, a.End = r.Window.Start, r.Window.End
	return nil
}

// outputName is what the overlaid trace is called when it is saved.
func outputName(name string) string {
	for _, suffix := range []string{".gz", ".zst", ".json", ".pftrace"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name + ".overlaid.pftrace"
}

// spool keeps the decompressed input. Memory that a WebAssembly program once had is never given back, and growing a
// slice needs the old one and the new one: so it starts with what the size of the file promises.
type spool struct {
	hint int64
	b    []byte
}

// Write is that of an io.Writer; it never fails.
func (s *spool) Write(p []byte) (int, error) {
	if s.b == nil {
		s.b = make([]byte, 0, max(int64(len(p)), min(s.hint, maxInput)))
	}
	s.b = append(s.b, p...)
	return len(p), nil
}

// Bytes is all that was written.
func (s *spool) Bytes() ([]byte, error) { return s.b, nil }
