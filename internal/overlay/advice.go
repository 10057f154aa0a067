package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/advise"
	"overlay/internal/cdg"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// adviceTracks show what would make the run shorter: a row that sums it up, which is all that is seen while the group is
// closed, and below it a row for each finding, in the order of the advice, with slices where it applies. first is the index
// that the first track gets in Drawing.Tracks. Without findings there are no tracks. A slim trace has other positions than
// the trace that it was cut from, so its slices do not name any.
func adviceTracks(tr *trace.Trace, a *advise.Advice, w cdg.Window, first int, slim bool) []Track {
	if a == nil || len(a.Findings) == 0 {
		return nil
	}
	group := Track{Name: TrackAdvice, Parent: 0, Category: CategoryAnalysis, Description: strings.Join([]string{
		"What would make the run shorter. Gains are replays of the run without the cause; they do not add up.",
		"Below: a row for each finding, with slices where it applies. overlay advise prints the evidence."}, "\n")}
	if top := a.Top(len(a.Findings)); len(top) > 0 {
		var words []string
		for _, f := range top {
			words = append(words, f.ID+" "+gainText(f))
		}
		name := fmt.Sprintf("%s of %s would remain: %s", tables.ShortDuration(a.Together), tables.ShortDuration(a.Base), strings.Join(words, ", "))
		group.Slices = []Slice{{Start: w.Start, Dur: w.End - w.Start, Name: name, Color: top[0].Class().ViewerColor(),
			Args: []Arg{{Key: argTogetherNS, Int: a.Together}, {Key: argFloorNS, Int: a.Floor}}}}
	}
	out := []Track{group}
	for i := range a.Findings {
		f := &a.Findings[i]
		if places := f.Places(); len(places) > 0 {
			out = append(out, findingTrack(tr, f, places, first, slim))
		}
	}
	if len(out) == 1 && len(group.Slices) == 0 {
		return nil
	}
	return out
}

// findingTrack is the row of one finding.
func findingTrack(tr *trace.Trace, f *advise.Finding, places []trace.EventID, parent int, slim bool) Track {
	t := Track{Name: f.ID, Parent: parent, Category: CategoryAnalysis}
	if f.Kind != advise.None {
		t.Name += " " + gainText(f)
	}
	if len(places) < f.Total {
		t.Name += fmt.Sprintf(" (%s of %s places)", tables.Grouped(int64(len(places))), tables.Grouped(int64(f.Total)))
	}
	t.Description = strings.Join([]string{f.Title + ": " + f.Cause + ".", "Do: " + strings.Join(f.Action, "; or "), "Then: " + f.Verify + "."}, "\n")
	for _, id := range places {
		e := &tr.Events[id]
		s := Slice{Start: e.Start, Dur: max(tr.Dur(e), 1), Name: f.Do, Color: f.Class().ViewerColor(),
			Args: []Arg{{Key: argAdvice, Str: f.ID, IsStr: true}, {Key: argGainNS, Int: f.Gain}}}
		if !slim {
			s.Args = append(s.Args, Arg{Key: ArgEvent, Int: int64(id)})
		}
		t.Slices = append(t.Slices, s)
	}
	slices.SortStableFunc(t.Slices, func(a, b Slice) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur)) })
	return t
}

// gainText is the share that a finding gains, marked where it is a bound.
func gainText(f *advise.Finding) string {
	if f.Kind == advise.AtMost {
		return "≤ " + tables.FormatShare(f.Share)
	}
	return tables.FormatShare(f.Share)
}
