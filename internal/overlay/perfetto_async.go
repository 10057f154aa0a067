package overlay

import (
	"cmp"
	"slices"
	"strconv"

	jsoniter "github.com/json-iterator/go"

	"overlay/internal/kineto"
	"overlay/internal/perfetto"
)

// asyncRow is the row of one asynchronous operation: all events of one category, id and scope.
type asyncRow struct {
	proc  kineto.ProcID // of its first event
	name  kineto.Sym
	items []perfetto.Item
}

// matchAsync makes a row for each (category, id, scope), in order of first appearance.
func (p *picture) matchAsync(ids []int32) {
	type key struct {
		cat        uint16
		legacy     bool // S, T, p, F have ids of their own
		id         int64
		id2, scope string
	}
	events := p.tr.Events
	groups := make(map[key][]int32)
	var order []key
	for _, id := range ids {
		e := &events[id]
		k := key{cat: e.Cat, id: e.Corr, legacy: e.Ph == 'S' || e.Ph == 'T' || e.Ph == 'p' || e.Ph == 'F'}
		raw := p.tr.Raw(kineto.EventID(id))
		k.scope = jsoniter.Get(raw, "scope").ToString()
		if id2 := jsoniter.Get(raw, "id2"); id2.ValueType() == jsoniter.ObjectValue {
			k.id2 = id2.ToString()
			if id2.Get("local").ValueType() != jsoniter.InvalidValue {
				k.id2 += "\x00" + strconv.Itoa(int(p.tr.Tracks[e.Track].Proc))
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
		p.async = append(p.async, asyncRow{
			proc:  p.tr.Tracks[first.Track].Proc,
			name:  first.Name,
			items: p.match(g, nil),
		})
	}
}

// counterRow is a counter: one key of the args of C events of one name and id.
type counterRow struct {
	proc   kineto.ProcID
	name   string
	points []perfetto.Point
}

// addCounter adds the values of a C event.
func (p *picture) addCounter(id int32) {
	e := &p.tr.Events[id]
	name := p.tr.Syms[e.Name]
	if any := jsoniter.Get(p.tr.Raw(kineto.EventID(id)), "id"); any.ValueType() != jsoniter.InvalidValue {
		name += "[" + any.ToString() + "]"
	}
	proc := p.tr.Tracks[e.Track].Proc
	drawn := false
	it := jsoniter.ParseBytes(jsoniter.ConfigDefault, p.args(kineto.EventID(id)))
	if it.WhatIsNext() == jsoniter.ObjectValue {
		it.ReadObjectCB(func(it *jsoniter.Iterator, key string) bool {
			var text string
			switch it.WhatIsNext() {
			case jsoniter.NumberValue:
				text = string(it.ReadNumber())
			case jsoniter.StringValue:
				text = it.ReadString()
			default:
				it.Skip()
			}
			pt, ok := point(e.Start, text)
			if ok {
				row := p.counter(proc, name+" "+key)
				row.points = append(row.points, pt)
				drawn = true
			}
			return true
		})
	}
	if drawn {
		p.stats.Events++
	} else {
		p.stats.NotDrawn['C']++
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
	proc kineto.ProcID
	name string
}

func (p *picture) counter(proc kineto.ProcID, name string) *counterRow {
	// The last one is the likely one.
	if n := len(p.counts); n > 0 && p.counts[n-1].proc == proc && p.counts[n-1].name == name {
		return &p.counts[n-1]
	}
	key := counterKey{proc, name}
	i, ok := p.countAt[key]
	if !ok {
		i = len(p.counts)
		p.countAt[key] = i
		p.counts = append(p.counts, counterRow{proc: proc, name: name})
	}
	return &p.counts[i]
}
