package roster

import (
	"slices"
	"strconv"
	"strings"

	"overlay/internal/trace"
)

// Describe makes the entry of a trace. It keeps nothing of it.
func Describe(name, member string, tr *trace.Trace) Entry {
	d := &tr.Distributed
	e := Entry{Name: name, Member: member, Recorded: max(tr.Rank, -1), Said: -1, World: d.World, Host: strings.Clone(d.Host), Device: -1,
		Events: len(tr.Events), FirstStep: -1, LastStep: -1, Truncated: tr.Truncated}
	var job []string
	for _, part := range []string{d.Job, d.Version, d.Attempt} {
		if part != "" {
			job = append(job, part)
		}
	}
	e.Job = strings.Join(job, " ")
	sums := tr.Source.Digest()
	e.Digest = [4]int64{int64(sums[0]), int64(sums[1]), tr.Source.Size(), int64(len(tr.Events)) + 1}
	for i := range d.Groups {
		e.know(&d.Groups[i])
	}
	e.look(tr)
	return e
}

// saidGroup is a group as some records say it. Lists of ranks are held once by trace.Collectives.
type saidGroup struct {
	name  string
	first *int64
	n     int
	size  int64
}

// know keeps a group of which all members are said.
func (e *Entry) know(g *trace.ProcessGroup) {
	if g.Name == "" || len(g.Ranks) == 0 || g.Size > 0 && g.Size != int64(len(g.Ranks)) {
		return
	}
	ranks := slices.Compact(slices.Sorted(slices.Values(g.Ranks)))
	for _, k := range e.Groups {
		if k.Name == g.Name && slices.Equal(k.Ranks, ranks) {
			return
		}
	}
	e.Groups = append(e.Groups, Group{strings.Clone(g.Name), ranks})
}

// look goes through the events: window, steps, device, ranks and groups of collectives.
func (e *Entry) look(tr *trace.Trace) {
	record := make([]bool, len(tr.Syms))
	steps := make([]int64, len(tr.Syms)) // 1 + number
	for s, name := range tr.Syms {
		record[s] = name == trace.RecordedCollective
		if number, ok := strings.CutPrefix(name, trace.StepPrefix); ok {
			if n, err := strconv.ParseInt(number, 10, 32); err == nil && n >= 0 {
				steps[s] = n + 1
			}
		}
	}
	collectives, groups := tr.Collectives(), map[saidGroup]bool{}
	start, end, said, seen := int64(1<<63-1), int64(-1<<63), int64(-2), map[int64]bool{}
	for i := range tr.Events {
		ev := &tr.Events[i]
		if ev.Ph != 'X' {
			continue
		}
		if ev.Flags&trace.ClampedTS == 0 {
			start, end = min(start, ev.Start), max(end, tr.End(ev))
		}
		switch {
		case ev.Kind.Device():
			e.Working = true
			if ev.Track != trace.NoTrack && e.Device < 0 {
				e.Device = tr.Procs[tr.Tracks[ev.Track].Proc].Device
			}
		case steps[ev.Name] > 0 && ev.Kind.Host():
			seen[steps[ev.Name]-1] = true
		case record[ev.Name]:
			e.Working = true
			c, ok := collectives.Of(trace.EventID(i))
			if !ok {
				continue
			}
			g := &c.Group
			key := saidGroup{name: g.Name, n: len(g.Ranks), size: g.Size}
			if key.n > 0 {
				key.first = &g.Ranks[0]
			}
			if !groups[key] {
				groups[key] = true
				e.know(g)
			}
			switch {
			case c.Rank < 0:
			case said == -2:
				said = c.Rank
			case said != c.Rank:
				said = -1 // they do not agree
			}
		}
	}
	e.Said = max(said, -1)
	if start <= end {
		e.Window = [2]int64{start + tr.Base, end + tr.Base}
	}
	e.Steps = len(seen)
	for n := range seen {
		if e.FirstStep < 0 || n < e.FirstStep {
			e.FirstStep = n
		}
		e.LastStep = max(e.LastStep, n)
	}
}
