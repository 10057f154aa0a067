// Package pipeline runs the stages on one trace or on several: link, solve, analyse, report, draw, write. It knows no
// files, flags or terminals.
//
// # Memory
//
// The trace stays until its output is written. The graph is as large as the trace: it is let go when what is to be
// drawn has been decided (Draw), or with the run. Advice and the gains of a report take it: when causes are known and replays begin, the run has an
// outline of it, with which it can be drawn. Garbage is collected at borders, where much of it is left and the
// next stage needs room: after linking, when the path is found, before drawing or making tables, before writing.
package pipeline

import (
	"errors"
	"runtime"

	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/clock"
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/flame"
	"overlay/internal/graph"
	"overlay/internal/memory"
	"overlay/internal/overlay"
	"overlay/internal/par"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/relations"
	"overlay/internal/report"
	"overlay/internal/slim"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// Options say what is done with a trace. The zero value finds the exact path of the whole.
type Options struct {
	Link     cdg.Options
	Method   critpath.Method            // how the path is found; nil: that of the run that wrote a slim trace, else exact
	Methods  map[string]critpath.Method // by the name that a slim trace records
	Analyses []string                   // names of analyses to make
	Analysis analyses.Options
	Advise   bool                     // advice will be asked for: what it replays is made beside the path
	Events   bool                     // only a summary is made: the exact path needs the graph of events alone
	Unasked  bool                     // nobody asked for the analyses: they are for a page, not drawn, and not made of a slim trace, which lacks most
	Join     func(*trace.Trace) error // gives a trace what captures of its graphs tell, before anything is made of it; nil: there are none

	// Anonymize replaces names for the report and the drawing (anonymize.Graph); nil: they stay.
	Anonymize func(*graph.Graph, *critpath.Path) (*graph.Graph, *critpath.Path, error)

	Stage func(name string) // told when a stage begins; nil: nobody wants to know
}

// ErrNothing says that a trace holds nothing to analyse.
var ErrNothing = errors.New("no activity of CPU threads or GPU streams in the window: is it a trace of the PyTorch profiler? See what it holds with 'overlay check'")

// Run is a trace on its way through the stages.
type Run struct {
	Trace    *trace.Trace // with Options.Anonymize: the anonymous form
	Recorded bool         // window, method and delays are those of the run that wrote the trace

	o        Options
	graph    *graph.Graph   // of Trace; nil when it was drawn
	path     *critpath.Path // in graph
	analyses *analyses.Result
	ghosts   []overlay.Ghost      // simulated runs to draw
	advice   *advise.Advice       // nil before it is asked for
	model    func() *whatif.Model // of graph, for the advice; nil before it is begun
	original *Run                 // with Options.Anonymize: the run on the input
	scanned  func()               // waits for what drawing wants to know of the input
}

// largeTrace is from how many events on the garbage of a stage is collected before the next one.
const largeTrace = 1 << 16

func (o *Options) stage(name string) {
	if o.Stage != nil {
		o.Stage(name)
	}
}

// Solve links a trace, finds its path and makes the analyses. A run that is going to be drawn says so with draw: then
// the input is looked through on the way, which leaves a core idle.
func Solve(tr *trace.Trace, o Options, draw bool) (*Run, error) {
	r := &Run{Trace: tr, o: o, scanned: func() {}}
	if draw && o.Anonymize == nil {
		r.scanned = overlay.Prescan(tr)
	}
	if err := r.solve(); err != nil {
		r.scanned()
		return nil, err
	}
	if o.Anonymize != nil {
		original := *r
		r.original = &original
		var err error
		if r.graph, r.path, err = o.Anonymize(r.graph, r.path); err != nil {
			return nil, err
		}
		if r.Trace = r.graph.Trace; len(r.graph.Clock) > 0 {
			r.Trace = clock.Recorded(r.Trace, tr)
		}
	}
	if len(o.Analyses) > 0 && !(o.Unasked && r.Recorded) {
		o.stage("analyses")
		r.analyses = analyses.Run(r.graph, r.path, o.Analyses, o.Analysis)
	}
	return r, nil
}

func (r *Run) solve() error {
	r.o.stage("linking")
	if r.o.Join != nil {
		if err := r.o.Join(r.Trace); err != nil {
			return err
		}
	}
	r.Trace.NoteCompiled()
	link, method := r.o.Link, r.o.Method
	rec, err := slim.ReadRecord(r.Trace)
	if err != nil {
		return err
	}
	if rec != nil {
		r.Recorded, link.Recorded = true, &rec.Recorded
		if method == nil {
			method = r.o.Methods[rec.Method]
		}
	}
	exact := method == nil
	if exact {
		method = critpath.Exact
	}
	aggregate := func() {}
	if r.o.Events && rec == nil && r.o.Anonymize == nil && len(r.o.Analyses) == 0 {
		r.graph, err = graph.BuildEvents(r.Trace, link)
	} else {
		r.graph, aggregate, err = graph.Begin(r.Trace, link)
	}
	if err != nil {
		return err
	}
	if w := r.graph.Window; w.End <= w.Start {
		return ErrNothing
	}
	nodes := par.Beside(aggregate)
	aggregated := func() {
		nodes()
		r.graph.CountLeftOut(r.graph.Quality)
	}
	if !exact { // that one needs no aggregated nodes
		aggregated()
	}
	if len(r.Trace.Events) >= largeTrace {
		runtime.GC() // of what linking left
	}
	if r.o.Advise && !r.Recorded && r.o.Anonymize == nil && len(r.Trace.Events) < manyEvents {
		r.beginModel(nodes) // one after the other: each takes room of its own
	}
	r.o.stage("path")
	r.path, err = method(r.graph)
	if err != nil && r.model != nil {
		r.model()
	}
	if aggregated(); exact && err == nil {
		r.graph.CountLeftOut(r.path.Quality)
	}
	if len(r.Trace.Events) >= largeTrace {
		runtime.GC() // of what the path and the nodes left
	}
	return err
}

// Flame adds up the path by stacks. It is asked for before the report, whose replays may take the graph.
func (r *Run) Flame() *flame.Graph { return flame.Of(r.graph, r.path) }

// Stacks is the path as samples of stacks, asked for as early as Flame.
func (r *Run) Stacks() *overlay.Stacks {
	g, list := flame.Samples(r.graph, r.path)
	return &overlay.Stacks{Graph: g, List: list}
}

// Memory is what the allocators held in the window, by the trace and by a snapshot, if there is one. It is asked for before the report, too.
func (r *Run) Memory(s *memory.Snapshot) []memory.Use {
	return memory.Held(r.graph, r.path.Window.Start, r.path.Window.End, s)
}

// Report makes the report of a run. s says what is wanted; what the report is made of is filled in. What needs replays is
// found beside the rest.
func (r *Run) Report(s report.Source) *report.Report {
	r.o.stage("reporting")
	s.Graph, s.Path, s.Analyses, s.Slim = r.graph, r.path, r.analyses, r.Recorded
	found := par.Beside(func() {
		if s.Advise {
			r.Findings()
		}
	})
	rep := report.New(s)
	r.o.stage("advice")
	found()
	if s.Advice = r.advice; s.Gains && !r.Recorded {
		s.Model = r.replayed()
	}
	r.model = nil
	rep.AddReplays(s)
	return rep
}

// Summary makes of a run on one rank what the other ranks of its job need to know, with what its collectives followed from. It keeps nothing of the run. An anonymous one
// has other names of events, but for hosts and groups, by which ranks are matched.
func (r *Run) Summary(name string) *ranks.Summary {
	id := ranks.Identity{Source: name, Rank: ranks.NoRank}
	g, p := r.graph, r.path
	if r.original != nil {
		g, p, id.Names = r.original.graph, r.original.path, r.Trace
	}
	s := ranks.Summarize(g, p, id)
	replay.AddChains(s, g, id.Names)
	return s
}

// Tables makes tables for data tools of a run, which they hold on to. s says what is wanted; what they are made of is
// filled in.
func (r *Run) Tables(s relations.Source) []columns.Table {
	r.o.stage("tables")
	runtime.GC() // of what solving left: what reads the tables needs room
	s.Graph, s.Path = r.graph, r.path
	return relations.Tables(s)
}

// Picture is what is to be written: a trace and what is drawn on it.
type Picture struct {
	Trace   *trace.Trace
	Drawing *overlay.Drawing
}

// Draw decides what to draw; with o.Slim on the path and its context only. It uses the run up: the graph is let go on
// the way, since it is as large as the trace and writing does not need it.
func (r *Run) Draw(o overlay.Options) Picture {
	r.scanned()
	r.o.stage("drawing")
	if rec, _ := slim.ReadRecord(r.Trace); rec != nil { // what is drawn on a slim trace is one too
		o.Attrs = slim.Attrs(&rec.Recorded)
	}
	if r.analyses != nil && !r.o.Unasked {
		o.Rows = r.analyses.Rows
	}
	o.Ghosts = r.ghosts
	whole := r
	if r.original != nil {
		whole = r.original
	}
	tr, layout, p := r.Trace, r.graph.Layout(), r.path
	cut := func(*overlay.Drawing) {}
	if o.Slim {
		g, path := whole.graph, whole.path
		cut = func(drawing *overlay.Drawing) { slim.Cut(g, path, drawing) }
	}
	*whole, *r = Run{}, Run{}
	runtime.GC() // a millisecond; drawing needs room, and of the graph only the layout
	drawing := overlay.Annotate(layout, p, o)
	o.Ghosts, o.Advice = nil, nil
	cut(drawing)
	layout, p, cut = nil, nil, nil
	runtime.GC()
	return Picture{tr, drawing}
}
