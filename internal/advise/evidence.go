package advise

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// events are the slices that a finding is about.
type events struct {
	list     []cdg.ActID
	expected int64 // ns that each should take; 0 for unknown, -1 for none at all
}

// How many slices, examples and lines a finding lists.
const (
	maxPlaces   = 1000 // in the picture
	maxEvents   = 100
	maxExamples = 3
	maxLines    = 5
)

// show fills in what a finding shows as evidence.
func (r *run) show(f *Finding, ev *events) {
	list := r.longest(ev.list, maxPlaces)
	f.Total = len(ev.list)
	f.Events, f.Examples = []int{}, []Example{}
	for _, a := range list[:min(len(list), maxPlaces)] {
		f.places = append(f.places, r.g.Acts[a].Event)
	}
	for i, a := range list[:min(len(list), maxEvents)] {
		f.Events = append(f.Events, int(r.g.Acts[a].Event))
		if i < maxExamples {
			expected := ev.expected
			switch expected {
			case 0:
				expected = -1
			case -1:
				expected = 0
			}
			f.Examples = append(f.Examples, Example{int32(r.g.Acts[a].Event), r.name(a), r.g.Acts[a].Start - r.g.Window.Start, r.dur(a), expected})
		}
	}
	f.Lines = r.lines(ev.list)
}

// longest lists n slices of a list and more, the longest first.
func (r *run) longest(list []cdg.ActID, n int) []cdg.ActID {
	least := int64(0)
	if len(list) > 2*n {
		durs := make([]int64, len(list))
		for i, a := range list {
			durs[i] = r.dur(a)
		}
		least = cdg.Nth(durs, len(durs)-n)
	}
	out := make([]cdg.ActID, 0, min(len(list), 2*n))
	for _, a := range list {
		if r.dur(a) >= least {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b cdg.ActID) int {
		return cmp.Or(cmp.Compare(r.dur(b), r.dur(a)), cmp.Compare(r.g.Acts[a].Event, r.g.Acts[b].Event))
	})
	return out
}

// lines sums up which lines of the user's code lead to slices, most time first.
func (r *run) lines(list []cdg.ActID) []Line {
	out := []Line{}
	if len(r.names[trace.Python]) == 0 {
		return out
	}
	at := map[string]int{}
	for _, a := range list {
		e := r.g.Acts[a].Event
		if l := r.launch(a); l != cdg.NoAct {
			e = r.g.Acts[l].Event
		}
		s := r.callers(e)
		if s == 0 {
			continue
		}
		name := critpath.NormalName(r.tr.Str(s))
		if strings.HasPrefix(name, "<built-in") {
			continue
		}
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Line{Line: name})
		}
		out[i].Count++
		out[i].NS += r.dur(a)
	}
	slices.SortStableFunc(out, func(a, b Line) int { return cmp.Or(cmp.Compare(b.NS, a.NS), strings.Compare(a.Line, b.Line)) })
	return out[:min(len(out), maxLines)]
}

// about is what most rules say of what they found: how many of something there are, and how long these take. The count goes by a
// name of its own among the numbers.
func (r *run) about(list []cdg.ActID, noun, counted, do string) *found {
	busy := sum(list, r.dur)
	return &found{events: events{list: list}, change: r.scenario(), do: do, saw: tables.Counted(len(list), noun) + ", " + tables.Duration(busy),
		numbers: []Number{countOf(counted, len(list)), timeOf("in them", busy)}}
}

// Numbers of a finding: a time, a count, bytes.
func timeOf(name string, ns int64) Number { return Number{Name: name, NS: ns} }
func countOf(name string, n int) Number   { return Number{Name: name, Count: int64(n)} }
func bytesOf(name string, n int64) Number { return Number{Name: name, Bytes: n} }
