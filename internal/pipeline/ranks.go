package pipeline

import (
	"io"
	"runtime"

	"overlay/internal/clock"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/overlay"
	"overlay/internal/overlay/manyranks"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/ranks"
	"overlay/internal/slim"
	"overlay/internal/trace"
)

// JobPicture writes the picture of a job, rank by rank: one trace is held at a time.
type JobPicture struct {
	job     *ranks.Job
	picture *manyranks.Picture
	out     *pftrace.Ranks
	options Options
	draw    overlay.Options
	leftOut int
}

// DrawJob begins the picture of a job. o says how the traces of the ranks are linked, as for their summaries.
func DrawJob(w io.Writer, j *ranks.Job, p *manyranks.Picture, uuid [2]uint64, o Options, draw overlay.Options) (*JobPicture, error) {
	out, err := pftrace.NewRanks(w, pftrace.Job{UUID: uuid, Attrs: p.Attrs, Unix: p.Unix, Origin: p.Origin})
	return &JobPicture{job: j, picture: p, out: out, options: o, draw: draw}, err
}

// Rank draws the events of a rank.
func (p *JobPicture) Rank(member int32, tr *trace.Trace) error {
	tr, drawing, err := p.drawing(member, tr)
	if err != nil {
		return err
	}
	arrows := map[trace.EventID]uint32{}
	p.picture.Kernels(member, func(event trace.EventID, arrow uint32) { arrows[event] = arrow })
	p.leftOut += drawing.LeftOut
	return p.out.Rank(tr, drawing, pftrace.Rank{Number: int(p.job.Members[member].Rank), Clock: p.picture.Clock(member), Arrows: arrows})
}

// drawing decides what to draw on a rank, and gives the trace to draw it on. Where the path does not run on it, nothing has to be
// known of its dependencies.
func (p *JobPicture) drawing(member int32, tr *trace.Trace) (*trace.Trace, *overlay.Drawing, error) {
	if !p.picture.OnPath(member) && !p.draw.Slim && p.options.Anonymize == nil {
		return tr, overlay.AnnotateEvents(tr, nil, nil, p.draw), nil
	}
	g, err := graph.Build(tr, p.options.Link)
	if err != nil {
		return nil, nil, err
	}
	x := p.job.Exact(member, g, tr.Base)
	path := &critpath.Path{Method: "exact", Window: g.Window, Segments: critpath.SegmentsOf(x.Segments), Edges: critpath.EdgesOf(x.Edges), Marks: critpath.MarksOf(x.Marks)}
	if p.options.Anonymize != nil {
		if g, path, err = p.options.Anonymize(g, path); err != nil {
			return nil, nil, err
		}
	}
	p.picture.Add(member, x, g.Trace)
	drawing := overlay.AnnotateEvents(g.Trace, g.Layout(), path, p.draw)
	if p.draw.Slim {
		slim.Context(g, path, drawing)
	}
	if len(g.Clock) > 0 {
		tr = clock.Recorded(g.Trace, tr)
	} else {
		tr = g.Trace
	}
	if len(tr.Events) >= largeTrace {
		g, path, x = nil, nil, nil
		runtime.GC() // of linking; writing needs room
	}
	return tr, drawing, nil
}

// Follow takes what the rows of the job show of the events of a rank, and draws none of them.
func (p *JobPicture) Follow(member int32, tr *trace.Trace) error {
	if !p.picture.OnPath(member) {
		return nil
	}
	g, err := graph.Build(tr, p.options.Link)
	if err != nil {
		return err
	}
	p.picture.Add(member, p.job.Exact(member, g, tr.Base), g.Trace)
	return nil
}

// Close draws the rows of the job and ends the picture. It tells what was written, and how many edges of the
// path have no arrow.
func (p *JobPicture) Close() (*pftrace.Stats, int, error) {
	p.picture.Complete()
	if err := p.out.Tracks(p.picture.Tracks); err != nil {
		return nil, 0, err
	}
	err := p.out.Close()
	return &p.out.Stats, p.leftOut, err
}
