package overlay

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"overlay/internal/advise"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/verdict"
)

const (
	worthWord = 2  // per cent of the time from which a class is named
	wideBar   = 50 // a bar has a name where so many of its width fit into the window: on a screen that is 30 pixels
)

// NoName is the name of what has none: the viewer writes "[null]" for the empty one.
const NoName = " "

// Legend says which class has which colour.
const Legend = "Colours: CPU blue, GPU compute green, communication purple, copy lime, launch latency orange, sync light blue, hand-off azure, unexplained pink, untraced brown, idle teal."

// IterationColors are strings whose hash the viewer takes as the colour of an iteration of a server, by type: those of the page. The others have
// none of their own.
var IterationColors = [trace.NumIterationTypes]string{trace.Prefill: "prefill#282", trace.Decode: "decode#9232", trace.Mixed: "mixed#766", trace.Verify: "verify#7557", trace.Draft: "draft#27325", trace.Image: "image#2311"}

type byClass = [critpath.NumClasses]int64

// verdictTrack is the root row, readable while everything is collapsed: the verdict of the window, below it one bar
// for each step, below that the classes, smoothed.
func verdictTrack(y *graph.Layout, p *critpath.Path, a *advise.Advice) Track {
	t := Track{Name: TrackRoot, Parent: -1, Category: CategorySummary, Description: strings.Join([]string{
		"What bounds the run: the critical path of the window, method " + p.Method + ".",
		"Top: in words. Middle: share of each class of at least 2 % in the same path cut at the training steps.",
		"Bottom: the class of each stretch, smoothed to 1/400 of the window; row \"Path segments\" has it exact.",
		Legend}, "\n")}
	w := p.Window
	if w.End <= w.Start {
		return t
	}
	total := critpath.Breakdown(p)
	t.Slices = append(t.Slices, summarySlice(w.Start, w.End, sentence(verdict.BoundsOf(y.Layout, p), a, w.End-w.Start), &total.Class))
	lines := critpath.StepTable(y.Steps, p)
	runs := critpath.NewClassPieces(p)
	if len(lines) == 0 {
		for _, s := range runs.Strip(w.Start, w.End) {
			t.Slices = append(t.Slices, stretchSlice(&s, w.End-w.Start))
		}
		return t
	}
	for i := range lines {
		l := &lines[i]
		bar := summarySlice(l.Start, l.End, "outside steps", &l.Class)
		if l.Step >= 0 {
			bar.Name, bar.Color = stepWords(l), cmp.Or(IterationColors[y.Steps[l.Step].Of.Type], bar.Color)
		}
		t.Slices = append(t.Slices, bar)
		for _, s := range runs.Strip(l.Start, l.End) {
			t.Slices = append(t.Slices, stretchSlice(&s, w.End-w.Start))
		}
	}
	return t
}

// sentence is that of the window, as reports have it. d is its length, ns.
func sentence(b *verdict.Bounds, a *advise.Advice, d int64) string {
	words := b.Verdict(a.Replayed()).Words
	_, n := utf8.DecodeRuneInString(words)
	words = strings.ToUpper(words[:n]) + words[n:]
	if busy := b.Busy(); busy != "" && !strings.Contains(words, " is busy ") { // said already
		words += " · " + busy
	}
	return words + " · " + tables.ShortDuration(d)
}

// stepWords puts the number first: the bar is narrow, and the viewer cuts the text on the right.
func stepWords(l *critpath.StepLine) string {
	name := l.Name
	if n, ok := strings.CutPrefix(name, trace.StepPrefix); ok {
		name = "Step " + n
	}
	return name + ": " + shares(&l.Class, l.End-l.Start) + " · " + tables.ShortDuration(l.End-l.Start)
}

// shares lists the classes with at least 2 % of d, most first.
func shares(class *byClass, d int64) string {
	var order []critpath.Class
	for c := critpath.Class(0); c < critpath.NumClasses; c++ {
		if class[c]*100 >= worthWord*d && class[c] > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b critpath.Class) int { return cmp.Compare(class[b], class[a]) })
	words := make([]string, len(order))
	for i, c := range order {
		words[i] = c.Words() + " " + tables.WholePercent(class[c], d)
	}
	return strings.Join(words, ", ")
}

// summarySlice covers [start, end]; its args sum to its duration where the path has no holes.
func summarySlice(start, end int64, name string, class *byClass) Slice {
	best := critpath.BoundBy(class)
	s := Slice{Start: start, Dur: end - start, Name: name, Color: best.ViewerColor(),
		Args: []Arg{{Key: ArgClass, Str: best.String(), IsStr: true}}}
	for c := critpath.Class(0); c < critpath.NumClasses; c++ {
		if class[c] > 0 {
			s.Args = append(s.Args, Arg{Key: c.String() + "_ns", Int: class[c]})
		}
	}
	return s
}

// stretchSlice shows a stretch of a window of d ns: its class, and the share of that class where it is not all. A
// narrow bar has its colour only: the first letter of a class says nothing.
func stretchSlice(r *critpath.Piece, d int64) Slice {
	name := r.Class.Words()
	if r.Dur() < d/wideBar {
		name = NoName
	} else if share := float64(r.NS[r.Class]) / float64(r.Dur()); share < 0.995 {
		name += " " + tables.WholePercent(r.NS[r.Class], r.Dur())
	}
	s := summarySlice(r.Start, r.End, name, &r.NS)
	s.Color = r.Class.ViewerColor()
	s.Args[0].Str = r.Class.String()
	return s
}
