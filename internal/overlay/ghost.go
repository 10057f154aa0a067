package overlay

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/tables"
)

// Ghost is a simulated run that is drawn beside the recorded one, on the same axis from the start of the window.
type Ghost struct {
	Name     string           // the scenario
	Layout   *graph.Layout    // with the times of the simulated run
	Path     *critpath.Path   // of it
	Recorded cdg.Window       // of the recorded run
	Ahead    []analyses.Point // how much earlier the main thread is than recorded, ns, at its new times
}

// ghostTracks shows a simulated run: the verdict of its path with steps and classes, its segments, how far it is ahead,
// and every thread and stream as it would have been. first is the index of the first track in Drawing.Tracks.
func ghostTracks(y *cdg.Layout, x *Ghost, first int) []Track {
	tr := y.Trace
	root := verdictTrack(x.Layout, x.Path, nil)
	root.Name, root.Category = TrackGhost+x.Name, CategoryGhost
	root.Description = strings.Join([]string{
		"The run as it would have been, drawn from the start of the window: " + x.Name + ".",
		"Below: its critical path, how far it is ahead of the recorded run, and its threads and streams.", Legend}, "\n")
	if w := x.Path.Window; len(root.Slices) > 0 {
		was := x.Recorded.End - x.Recorded.Start
		verdict := tables.ShortDuration(w.End-w.Start) + " instead of " + tables.ShortDuration(was) + " · "
		root.Slices[0].Name = verdict + root.Slices[0].Name
	}
	segments := segmentsTrack(tr, x.Path, nil, true)
	segments.Name, segments.Category, segments.Parent = TrackGhostSegments, CategoryGhost, first
	segments.Description = "Every segment of the critical path of the simulated run, in time order."
	out := []Track{root, segments}
	if len(x.Ahead) > 0 {
		out = append(out, Track{Name: "ahead", Parent: first, Category: CategoryGhost, Counter: true, Unit: "ns", Points: x.Ahead,
			Description: "How much earlier the main thread is than in the recording. It rises where time is gained and falls where the gain is lost again."})
	}
	group := first + len(out)
	out = append(out, Track{Name: "Simulated run", Parent: first, Category: CategoryGhost, Description: "Threads and streams at the times of the simulated run."})
	names := resources(tr)
	for l := range y.Lanes {
		row := newGhostRow(y, x.Layout.Layout, cdg.LaneID(l))
		if len(row.acts) > 0 {
			out = append(out, Track{Name: names[y.Lanes[l].Track], Parent: group, Category: CategoryGhost, Maker: row})
		}
	}
	return out
}

// ghostRow draws the activities of a lane at the times of a simulated run.
type ghostRow struct {
	was, then *cdg.Layout
	acts      []cdg.ActID // those that begin in the window, by their new start, longer ones first
}

func newGhostRow(was, then *cdg.Layout, l cdg.LaneID) *ghostRow {
	r := &ghostRow{was: was, then: then}
	lane := &was.Lanes[l]
	for a := lane.First; a < lane.Limit; a++ {
		if act := &was.Acts[a]; act.Start >= was.Window.Start && act.Start < was.Window.End {
			r.acts = append(r.acts, a)
		}
	}
	slices.SortStableFunc(r.acts, func(x, y cdg.ActID) int {
		a, b := &then.Acts[x], &then.Acts[y]
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End-b.Start, a.End-a.Start))
	})
	return r
}

func (r *ghostRow) ForOne() SliceMaker { return r }

func (r *ghostRow) Len() int { return len(r.acts) }

func (r *ghostRow) Span(i int) (start, dur int64) {
	act := &r.then.Acts[r.acts[i]]
	return act.Start, act.End - act.Start
}

func (r *ghostRow) Look(i int) (name, color string) {
	return r.was.Trace.Name(r.was.Acts[r.acts[i]].Event), ""
}

// Args say which event it is, and how far it has moved.
func (r *ghostRow) Args(i int, to *[MaxArgs]Arg) int {
	was, then := &r.was.Acts[r.acts[i]], &r.then.Acts[r.acts[i]]
	to[0] = Arg{Key: ArgEvent, Int: int64(was.Event)}
	to[1] = Arg{Key: argShift, Int: then.Start - was.Start}
	to[2] = Arg{Key: argRecordedNS, Int: was.End - was.Start}
	return 3
}
