package history

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"overlay/internal/par"
	"overlay/internal/stat"
)

// risk is how probable it is that a history in which nothing changed is said to have changed.
const risk = 0.001

// Report is what a history shows.
type Report struct {
	Runs   []*Run // in the order of time
	Dated  bool   // else the order is that of their names
	Series int    // that were searched
	Bytes  int64  // of the summaries
	Events []Event
}

// Event is what changed with one run.
type Event struct {
	Run     int // the first run after it
	Changes []Found
	Alike   int // further changes that those say: of hosts and ranks of a job that changed, of ranks of a host
}

// Found is a change of a series, at a place in it that stands for the run of the event.
type Found struct {
	Series
	Change
	Before, After int64   // typically, between the changes before and after this one
	Runs          []int   // that have the series
	Beside        bool    // the size is beside the other hosts or ranks
	Values        []int64 // in them
}

// line is a series over the runs.
type line struct {
	Series
	runs   []int
	values []int64
	logs   []float64
	beside bool // logs are beside those of the others of their kind
}

// Sort puts runs into the order of time, or of their names where one of them is not dated.
func Sort(runs []*Run, byName func(a, b string) int) (dated bool) {
	dated = !slices.ContainsFunc(runs, func(r *Run) bool { return !r.Dated() })
	slices.SortFunc(runs, func(a, b *Run) int {
		if dated {
			return cmp.Or(cmp.Compare(a.Start, b.Start), byName(a.Name, b.Name))
		}
		return byName(a.Name, b.Name)
	})
	return dated
}

// lines are the series of runs.
func lines(runs []*Run) []*line {
	by := map[Series]*line{}
	var list []*line
	for i, r := range runs {
		for _, p := range r.Points {
			l := by[p.Series]
			if l == nil {
				l = &line{Series: p.Series}
				by[p.Series], list = l, append(list, l)
			}
			l.runs, l.values, l.logs = append(l.runs, i), append(l.values, p.NS), append(l.logs, math.Log(float64(p.NS)))
		}
	}
	slices.SortFunc(list, func(a, b *line) int { return compareSeries(a.Series, b.Series) })
	return list
}

// peers is how many hosts or ranks there have to be that each is compared with the others of its run: what all have in common is of the job.
const peers = 4

// apart takes from series of hosts, or of ranks, what is common to the others of them in a run.
func apart(list []*line) {
	type kind struct {
		scope Scope
		what  string
		run   int
	}
	of, lineOf := map[kind][]*float64{}, map[*float64]*line{}
	for _, l := range list {
		if l.Scope == Host || l.Scope == Rank {
			usual := stat.Middle(l.logs) // hosts differ for good
			for i := range l.logs {
				l.logs[i] -= usual
			}
			for i, run := range l.runs {
				k := kind{l.Scope, l.What, run}
				of[k] = append(of[k], &l.logs[i])
				lineOf[&l.logs[i]] = l
			}
		}
	}
	for _, logs := range of {
		n := len(logs)
		if n < peers {
			continue
		}
		slices.SortFunc(logs, func(a, b *float64) int { return cmp.Compare(*a, *b) })
		sorted := make([]float64, n)
		for i, p := range logs {
			sorted[i] = *p
		}
		for i, p := range logs {
			low, high := (n-2)/2, (n-1)/2 // in the middle of the n-1 others
			if low >= i {
				low++
			}
			if high >= i {
				high++
			}
			*p -= (sorted[low] + sorted[high]) / 2
			lineOf[p].beside = true
		}
	}
}

// Analyse looks for changes in runs that are in order. The risk of a false one is shared out among the scopes, and in each among its series: the
// job has few of them, and is not to be drowned by its ranks.
func Analyse(runs []*Run, dated bool) *Report {
	r := &Report{Runs: runs, Dated: dated}
	list := slices.DeleteFunc(lines(runs), func(l *line) bool { return len(l.values) < 2*least })
	apart(list)
	var of [NumScopes]int
	for _, l := range list {
		of[l.Scope]++
	}
	scopes := 0
	for _, n := range of {
		if n > 0 {
			scopes++
		}
	}
	r.Series = len(list)
	found := make([][]Change, len(list))
	par.Each(len(list), func(i int) {
		found[i] = Changes(list[i].logs, risk/float64(scopes*of[list[i].Scope]))
	})
	var all []Found
	for i, l := range list {
		for k, c := range found[i] {
			from, to := 0, len(l.values)
			if k > 0 {
				from = found[i][k-1].At
			}
			if k+1 < len(found[i]) {
				to = found[i][k+1].At
			}
			all = append(all, Found{l.Series, c, typical(l.values[from:c.At]), typical(l.values[c.At:to]), l.runs, l.beside, l.values})
		}
	}
	r.events(all)
	return r
}

func typical(values []int64) int64 {
	x := slices.Clone(values)
	slices.Sort(x)
	return x[(len(x)-1)/2]
}

// together is how many runs changes of one cause may be found apart: noise moves them.
const together = 4

// events puts changes together that are of one moment. The surest says of which.
func (r *Report) events(all []Found) {
	for len(all) > 0 {
		surest := slices.MinFunc(all, func(a, b Found) int { return cmp.Or(cmp.Compare(a.Tail, b.Tail), compareSeries(a.Series, b.Series)) })
		e := Event{Run: surest.Runs[surest.At]}
		all = slices.DeleteFunc(all, func(f Found) bool {
			at := f.Runs[f.At]
			if at < e.Run-together || at > e.Run+together {
				return false
			}
			e.Changes = append(e.Changes, f)
			return true
		})
		r.fold(&e)
		r.Events = append(r.Events, e)
	}
	slices.SortFunc(r.Events, func(a, b Event) int { return cmp.Compare(a.Run, b.Run) })
}

// fold leaves out what another change says: of ranks and hosts when more than half of their kind changed as the job did, of ranks when
// they are those of the hosts that did.
func (r *Report) fold(e *Event) {
	slices.SortFunc(e.Changes, func(a, b Found) int { return compareSeries(a.Series, b.Series) })
	type kind struct {
		scope Scope
		what  string
		up    bool
	}
	n, most := map[kind]int{}, map[kind]float64{}
	for i := range e.Changes {
		c := &e.Changes[i]
		k := kind{c.Scope, c.What, c.Size > 0}
		n[k]++
		most[k] = max(most[k], math.Abs(c.Size))
	}
	run := r.Runs[e.Run]
	e.Changes = slices.DeleteFunc(e.Changes, func(c Found) bool {
		k := kind{c.Scope, c.What, c.Size > 0}
		of := func(s Scope) int { return n[kind{s, c.What, k.up}] }
		said := false
		switch c.Scope {
		case Host:
			said = of(Job) > 0 && (2*of(Host) > run.Hosts || c.IsStep())
		case Rank: // ranks of one job wait for each other, so that a step is as long on all of them
			said = of(Job) > 0 && (2*of(Rank) > run.Ranks || c.IsStep()) || of(Host) > 0 && of(Rank)*run.Hosts <= (run.Ranks+run.Hosts)*of(Host)
		}
		// What the others of a kind have in common follows those that changed a little, and where half of them changed wholly.
		itself := float64(c.After)/float64(c.Before) - 1
		if said = said || c.Beside && 2*math.Abs(itself) < math.Abs(c.Size) || (c.Scope == Host || c.Scope == Rank) && 2*math.Abs(c.Size) < most[kind{c.Scope, c.What, !k.up}]; said {
			e.Alike++
		}
		return said
	})
	// Changes of steps come first and their explanations after them; within a scope the largest change is first.
	slices.SortStableFunc(e.Changes, func(a, b Found) int {
		step := func(f Found) int {
			if f.Scope == Job && f.IsStep() {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(step(a), step(b)), cmp.Compare(a.Scope, b.Scope), cmp.Compare(moved(b), moved(a)), strings.Compare(a.Name, b.Name))
	})
}

func moved(f Found) int64 { return max(f.After-f.Before, f.Before-f.After) }
