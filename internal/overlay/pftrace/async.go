package pftrace

import (
	"cmp"
	"slices"
	"strconv"

	"overlay/internal/perfetto"
	"overlay/internal/trace"
)

// asyncRow is the row of one asynchronous operation: all events of one category, id and scope.
type asyncRow struct {
	proc  trace.ProcID // of its first event
	name  trace.Sym
	items []perfetto.Item
}

// matchAsync makes a row for each (category, id, scope), in order of first appearance.
func (w *writer) matchAsync(ids []int32) {
	type key struct {
		cat        uint16
		legacy     bool // S, T, p, F have ids of their own
		id         int64
		id2, scope string
	}
	events := w.tr.Events
	groups := make(map[key][]int32)
	var order []key
	for _, id := range ids {
		e := &events[id]
		k := key{cat: e.Cat, id: w.tr.Corr(e), legacy: e.Ph == 'S' || e.Ph == 'T' || e.Ph == 'p' || e.Ph == 'F'}
		scope, _ := w.tr.Source.Member(trace.EventID(id), "scope")
		k.scope = scope.Text
		if id2, ok := w.tr.Source.Member(trace.EventID(id), "id2"); ok && id2.Kind == trace.Object {
			k.id2 = id2.Text
			if _, local := w.tr.Source.Member(trace.EventID(id), "id2", "local"); local {
				k.id2 += "\x00" + strconv.Itoa(int(w.tr.Tracks[e.Track].Proc))
			}
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], id)
	}
	for _, k := range order {
		g := groups[k]
		first := &events[g[0]]
		slices.SortStableFunc(g, func(a, b int32) int { return cmp.Compare(events[a].Start, events[b].Start) })
		w.async = append(w.async, asyncRow{
			proc:  w.tr.Tracks[first.Track].Proc,
			name:  first.Name,
			items: w.match(g, 0),
		})
	}
}

// counterRow is a counter: one key of the args of C events of one name and id.
type counterRow struct {
	proc   trace.ProcID
	name   string
	points []perfetto.Point
}

// addCounter adds the values of a C event.
func (w *writer) addCounter(id int32) {
	e := &w.tr.Events[id]
	name := w.tr.Syms[e.Name]
	if v, ok := w.tr.Source.Member(trace.EventID(id), "id"); ok {
		name += "[" + v.Text + "]"
	}
	proc := w.tr.Tracks[e.Track].Proc
	drawn := false
	w.tr.TopArgs(trace.EventID(id), func(key string, v trace.Value) bool {
		switch v.Kind {
		case trace.Int, trace.Uint, trace.Float, trace.String: // not null, true, N/A
			if pt, ok := point(e.Start, v.Text); ok {
				row := w.counter(proc, name+" "+key)
				row.points = append(row.points, pt)
				drawn = true
			}
		}
		return true
	})
	if drawn {
		w.stats.Events++
	} else {
		w.stats.NotDrawn['C']++
	}
}

func point(ts int64, text string) (perfetto.Point, bool) {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return perfetto.Point{TS: ts, Int: v, IsInt: true}, true
	}
	v, err := strconv.ParseFloat(text, 64)
	return perfetto.Point{TS: ts, Float: v}, err == nil
}

// counterKey tells counters apart.
type counterKey struct {
	proc trace.ProcID
	name string
}

func (w *writer) counter(proc trace.ProcID, name string) *counterRow {
	// The last one is the likely one.
	if n := len(w.counts); n > 0 && w.counts[n-1].proc == proc && w.counts[n-1].name == name {
		return &w.counts[n-1]
	}
	key := counterKey{proc, name}
	i, ok := w.countAt[key]
	if !ok {
		i = len(w.counts)
		w.countAt[key] = i
		w.counts = append(w.counts, counterRow{proc: proc, name: name})
	}
	return &w.counts[i]
}
