package advise

import (
	"fmt"
	"math"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

const (
	smallMessage   = 1 << 20 // bytes below which what a collective takes is mostly latency
	fewMessages    = 20      // in a step
	commonLatency  = 25_000  // ns that a collective takes at most before its first byte arrives
	latencyOfTotal = 0.8     // of the shortest one, what is latency at most
)

var _ = add(rule{
	id: "comm-small", group: Specific, class: critpath.ClassComm, kind: AtMost, level: Medium,
	why:      "what waits for the first of several may wait for all of them then",
	title:    "many small collectives follow each other",
	cause:    "each costs a latency that does not depend on its bytes",
	scenario: "collectives that follow each other on a stream, with nothing waiting between them, are one as long as that does not end later; it has one latency",
	action:   []string{"DDP: a larger bucket_cap_mb", "flatten several tensors into one: torch._utils._flatten_dense_tensors, dist._coalescing_manager"},
	verify:   "fewer collectives, of more bytes each",
	find: func(r *run) *found {
		list, shortest := []cdg.ActID{}, int64(math.MaxInt64)
		for _, a := range r.collectives() {
			if m, ok := r.messageOf(a); ok && m.bytes < smallMessage {
				list = append(list, a)
				shortest = min(shortest, r.dur(a))
			}
		}
		if len(list) < fewMessages*max(1, len(r.g.Steps)) {
			return nil
		}
		latency := min(commonLatency, int64(latencyOfTotal*float64(shortest)))
		f := &found{change: r.scenario(), do: "a larger bucket_cap_mb, or flatten several into one"}
		groups := 0
		for _, group := range r.coalesce(list, latency) {
			groups++
			f.events.list = append(f.events.list, group...)
			f.change.replace(group, sum(group, r.dur)-latency*int64(len(group)-1))
		}
		if groups == 0 {
			return nil
		}
		n := len(f.events.list)
		f.saw = fmt.Sprintf("%s could be %s", tables.Counted(n, "collective"), tables.Plain(int64(groups)))
		f.numbers = []Number{countOf("small collectives", len(list)), countOf("that could be fewer", n), countOf("then", groups), timeOf("latency of each", latency)}
		return f
	},
})

// coalesce puts collectives that follow each other on a stream into groups of two and more, as far as doing them together ends no later than
// one after the other, and nothing waits for one of them before the next one is ready.
func (r *run) coalesce(list []cdg.ActID, latency int64) (groups [][]cdg.ActID) {
	used := r.waitedFor(list)
	var group []cdg.ActID
	end := int64(0) // of the group, done at once
	done := func() {
		if len(group) > 1 {
			groups = append(groups, group)
		}
		group = nil
	}
	for _, a := range list {
		ready, d := r.ready(a), r.dur(a)
		if n := len(group); n > 0 && a == group[n-1]+1 && r.event(a).Name == r.event(group[n-1]).Name && r.g.Acts[a].Lane == r.g.Acts[group[n-1]].Lane {
			together := ready + sum(group, r.dur) - latency*int64(n) + d
			if until, waits := used[group[n-1]]; together <= max(end, ready)+d && (!waits || until > ready) {
				group, end = append(group, a), together
				continue
			}
		}
		done()
		group, end = []cdg.ActID{a}, ready+d
	}
	done()
	return groups
}

// ready is when an operation could have started but for what was before it on its stream.
func (r *run) ready(op cdg.ActID) (at int64) {
	for _, w := range r.g.Sources(op) {
		switch {
		case w.From == cdg.NoAct:
		case w.Rule == cdg.Launch:
			at = max(at, r.g.Acts[w.From].Start)
		case w.Rule == cdg.EventWait:
			at = max(at, r.g.Acts[w.From].End)
		}
	}
	return at
}

// waitedFor says of operations that somebody waits for when the first one does: an operation of another stream by when it was launched, a call by
// its end.
func (r *run) waitedFor(list []cdg.ActID) map[cdg.ActID]int64 {
	of := r.m.SetOf(list...)
	out := map[cdg.ActID]int64{}
	for a := range r.g.Acts {
		for _, w := range r.g.Sources(cdg.ActID(a)) {
			if w.From == cdg.NoAct || w.Rule == cdg.StreamOrder || !of.Has(w.From) {
				continue
			}
			at := r.g.Acts[a].Start
			if w.Rule == cdg.Sync {
				at = r.g.Acts[a].End
			}
			if first, ok := out[w.From]; !ok || at < first {
				out[w.From] = at
			}
		}
	}
	return out
}
