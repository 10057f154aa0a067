package report

import (
	"cmp"
	"io"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/tables"
	"overlay/internal/whatif"
)

// WhatIfSchema names the form of the JSON; docs/reference/whatif.schema.json describes it.
const WhatIfSchema = "overlay-whatif/1"

// WhatIf is the answers to what-if questions about one window of one trace.
type WhatIf struct {
	Schema    string         `json:"schema"`
	Tool      Tool           `json:"tool"`
	Input     string         `json:"input" about:"file name without its folders"`
	Window    Window         `json:"window" table:"window" about:"the analysed interval"`
	BoundBy   string         `json:"bound_by" about:"the class with the most time, as recorded"`
	Earlier   int64          `json:"earlier_ns" unit:"ns" about:"of the window in work from before recording: no share counts it"`
	Scenarios []Answer       `json:"scenarios" table:"scenarios" about:"what becomes of the window"`
	Delays    []TypicalDelay `json:"delays" table:"delays" about:"what stands between activities where nothing was recorded: medians of the trace"`
}

// Answer is one scenario: the window as it would have been.
type Answer struct {
	Name       string           `json:"name" key:"yes"`
	Events     int              `json:"events" unit:"count" about:"activities that it changes"`
	Own        int64            `json:"own_ns" unit:"ns" about:"their own time in the window"`
	Critical   int64            `json:"critical_ns" unit:"ns" about:"of it on the critical path, as recorded"`
	Window     int64            `json:"window_ns" unit:"ns" about:"how long the window would have been"`
	Saved      int64            `json:"saved_ns" unit:"ns"`
	SavedShare float64          `json:"saved_share" unit:"share" about:"of the recorded window, without work from before recording"`
	Low        int64            `json:"low_ns" unit:"ns" about:"the window at least, with delays at their shortest"`
	High       int64            `json:"high_ns" unit:"ns" about:"the window at most, with delays at their longest"`
	ShareSays  int64            `json:"share_would_say_ns" unit:"ns" about:"what the share of the path would promise to save"`
	EndOfAll   int64            `json:"end_of_all_ns" unit:"ns" about:"until the last thread is done, those that run beside included"`
	BoundBy    string           `json:"bound_by" about:"the class with the most time then"`
	ByClass    map[string]int64 `json:"by_class" entry:"class" unit:"ns" about:"the new path by class"`
	Hotspots   []NewHotspot     `json:"hotspots" about:"the new path by name"`
	Steps      []NewStep        `json:"steps" about:"the steps before and after"`
	Limits     []Limit          `json:"limits" about:"what the replay does not know"`
	Confidence string           `json:"confidence" about:"good, low or do_not_know"`
}

// NewHotspot is a name on the path of a simulated run.
type NewHotspot struct {
	Name  string  `json:"hotspot"`
	Shown string  `json:"readable" about:"the name as reports show it"`
	Kind  string  `json:"kind"`
	NS    int64   `json:"critical_ns" unit:"ns"`
	Share float64 `json:"share" unit:"share" about:"of the new window"`
}

// NewStep is a step before and after.
type NewStep struct {
	Name   string `json:"step"`
	Before int64  `json:"before_ns" unit:"ns"`
	After  int64  `json:"after_ns" unit:"ns"`
}

// Limit is something that a replay does not know, on the new path.
type Limit struct {
	Reason string `json:"reason"`
	NS     int64  `json:"ns" unit:"ns"`
	Effect string `json:"effect"`
}

// TypicalDelay is a delay that a source gets which did not bind.
type TypicalDelay struct {
	Name    string `json:"delay"`
	NS      int64  `json:"ns" unit:"ns"`
	Samples int    `json:"samples" unit:"count"`
	Usual   bool   `json:"usual" unit:"flag" about:"too few cases in the trace: a usual value"`
}

// newHotspots is how many hotspots of a simulated run are listed.
const newHotspots = 10

// NewWhatIf makes the answers. The results are of one model of g, and path is the recorded path of it.
func NewWhatIf(s Source, results []*whatif.Result) (*WhatIf, error) {
	g, p := s.Graph, s.Path
	w, names := p.Window, NamesOf(g.Trace)
	total := critpath.Breakdown(p)
	out := &WhatIf{Schema: WhatIfSchema, Tool: Tool{"overlay", s.Version}, Input: s.Name,
		Window:  Window{w.Start, w.End, w.End - w.Start, w.Annotation, w.Instance, w.CarriedIn, 0, 0},
		BoundBy: critpath.BoundBy(&total.Class).String(), Earlier: critpath.Earlier(g, p, w.Start, w.End), Scenarios: []Answer{}, Delays: []TypicalDelay{}}
	for _, r := range results {
		a, err := out.answer(g, p, r, names)
		if err != nil {
			return nil, err
		}
		out.Scenarios = append(out.Scenarios, a)
	}
	out.addDelays(results)
	return out, nil
}

// AddBest adds the answers for hotspots, those that save most first, without the new path by name and by step.
func (w *WhatIf) AddBest(results []*whatif.Result, p *critpath.Path) {
	results = slices.Clone(results)
	slices.SortStableFunc(results, func(x, y *whatif.Result) int { return cmp.Compare(y.Saved(), x.Saved()) })
	for _, r := range results {
		var sum critpath.Totals
		sum.Class = r.Classes()
		w.Scenarios = append(w.Scenarios, w.brief(p, r, &sum))
	}
	w.addDelays(results)
}

func (w *WhatIf) addDelays(results []*whatif.Result) {
	if len(results) == 0 || len(w.Delays) > 0 {
		return
	}
	for _, d := range results[0].Model().TypicalDelays() {
		w.Delays = append(w.Delays, TypicalDelay{d.Name, d.NS, d.Samples, d.Usual})
	}
}

func (w *WhatIf) answer(g *graph.Graph, p *critpath.Path, r *whatif.Result, names Names) (Answer, error) {
	moved, then, err := r.Path()
	if err != nil {
		return Answer{}, err
	}
	sum := critpath.Breakdown(then)
	a := w.brief(p, r, &sum)
	for i, h := range critpath.Hotspots(moved, then) {
		if i == newHotspots {
			break
		}
		a.Hotspots = append(a.Hotspots, NewHotspot{h.Name, names.Hotspot(&h), h.Kind.String(), h.NS, tables.ShareOf(h.NS, r.Window)})
	}
	for i, before := range g.Steps {
		if before.End > p.Window.Start && before.Start < p.Window.End {
			after := moved.Steps[i]
			a.Steps = append(a.Steps, NewStep{before.Name, before.End - before.Start, after.End - after.Start})
		}
	}
	return a, nil
}

// Reply is what sliders show of a scenario, in the words of Answer.
type Reply struct {
	Name       string           `json:"name"`
	Window     int64            `json:"window_ns"`
	SavedShare float64          `json:"saved_share"`
	Low        int64            `json:"low_ns"`
	High       int64            `json:"high_ns"`
	BoundBy    string           `json:"bound_by"`
	ByClass    map[string]int64 `json:"by_class"`
	Strip      []Run            `json:"strip"` // the new window in order, smoothed to 1/400 of it
	Confidence string           `json:"confidence"`
}

// Replies makes replies about a run, one after the other.
type Replies struct {
	Model   *whatif.Again
	Earlier int64 // of the window in work from before recording, ns
	pieces  *critpath.ClassPieces
}

// Reply replays a scenario. The classes of the new path are all that it looks for.
func (x *Replies) Reply(s *whatif.Scenario) (*Reply, error) {
	r := x.Model.Replay(s)
	g := x.Model.Graph()
	pieces, err := critpath.ExactClasses(g, x.pieces)
	if err != nil {
		return nil, err
	}
	x.pieces = pieces
	low, high := r.Range()
	a := &Reply{Name: r.Scenario.Name, Window: r.Window, SavedShare: signedShare(r.Saved(), r.Recorded()-x.Earlier), Low: low, High: high, Confidence: r.Confidence().String()}
	var sum [critpath.NumClasses]int64
	for _, s := range pieces.Strip(g.Window.Start, g.Window.End) {
		a.Strip = append(a.Strip, Run{s.Start, s.End, s.Class.String()})
		for c, ns := range s.NS {
			sum[c] += ns
		}
	}
	a.BoundBy, a.ByClass = critpath.BoundBy(&sum).String(), classes(&sum)
	return a, nil
}

// brief is an answer without the new path by name and by step; sum is that path by class.
func (w *WhatIf) brief(p *critpath.Path, r *whatif.Result, sum *critpath.Totals) Answer {
	t := r.Touched(p)
	low, high := r.Range()
	a := Answer{Name: r.Scenario.Name, Events: t.Events, Own: t.Own, Critical: t.Critical, Window: r.Window, Saved: r.Saved(),
		SavedShare: signedShare(r.Saved(), r.Recorded()-w.Earlier), Low: low, High: high, ShareSays: t.Promise, EndOfAll: r.EndOfAll,
		BoundBy: critpath.BoundBy(&sum.Class).String(), ByClass: classes(&sum.Class), Hotspots: []NewHotspot{}, Steps: []NewStep{}, Limits: []Limit{},
		Confidence: r.Confidence().String()}
	for _, l := range r.Limits(sum) {
		a.Limits = append(a.Limits, Limit{l.Reason, l.NS, l.Effect})
	}
	return a
}

// signedShare is a share that may be below 0.
func signedShare(part, whole int64) float64 {
	if part < 0 {
		return -tables.ShareOf(-part, whole)
	}
	return tables.ShareOf(part, whole)
}

// WriteJSON writes the answers as an indented JSON document.
func (w *WhatIf) WriteJSON(to io.Writer) error {
	return writeJSON(to, w)
}

// Tables gives the answers as tables.
func (w *WhatIf) Tables() []tables.Table {
	return tables.From("what_if", "a run with something changed", w)
}
