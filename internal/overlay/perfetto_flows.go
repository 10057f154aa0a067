package overlay

import (
	"cmp"
	"slices"

	"overlay/internal/kineto"
	"overlay/internal/perfetto"
)

// bindFlows finds the arrows of the input and those of the overlay, and gives each an id of its own on both slices.
func (p *picture) bindFlows() {
	var ends [][2]int32 // slice, arrow
	arrow := func(from, to int32) bool {
		if from < 0 || to < 0 || from == to {
			return false
		}
		id := int32(len(ends) / 2)
		ends = append(ends, [2]int32{from, id}, [2]int32{to, id})
		return true
	}
	p.inputFlows(arrow)
	if p.ov != nil {
		for _, a := range p.ov.Arrows {
			if p.slice[a.From] && p.slice[a.To] && arrow(int32(a.From), int32(a.To)) {
				p.stats.Arrows++
			}
		}
	}
	if len(ends) == 0 {
		return
	}
	p.flowAt = make([]int32, len(p.tr.Events)+1)
	for _, e := range ends {
		p.flowAt[e[0]+1]++
	}
	for i := range p.tr.Events {
		p.flowAt[i+1] += p.flowAt[i]
	}
	p.flows = make([]uint64, len(ends))
	at := slices.Clone(p.flowAt)
	for _, e := range ends {
		p.flows[at[e[0]]] = uint64(e[1]) + 1
		at[e[0]]++
	}
}

// inputFlows joins s, t and f events that have one id, category and name, in order of time: a start opens the flow,
// a step passes it on, an end takes it without closing it. So one start may have many ends.
func (p *picture) inputFlows(arrow func(from, to int32) bool) {
	events := p.tr.Events
	var ids []int32
	for i := range events {
		if ph := events[i].Ph; (ph == 's' || ph == 't' || ph == 'f') && p.kept(i) {
			ids = append(ids, int32(i))
		}
	}
	if len(ids) == 0 {
		return
	}
	order := make([]int32, len(ids)) // by time, then by place in the file
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(events[ids[a]].Start, events[ids[b]].Start), cmp.Compare(a, b))
	})
	bound := p.bind(ids, order)

	type key struct {
		id   int64
		name kineto.Sym
		cat  uint16
	}
	type source struct{ slice, event int32 }
	live := make(map[key]source, len(ids)/2)
	drawn := make([]bool, len(ids))
	for _, i := range order {
		e := &events[ids[i]]
		k := key{e.Corr, e.Name, e.Cat}
		if e.Ph == 's' {
			live[k] = source{bound[i], i}
			continue
		}
		from, ok := live[k]
		if ok && arrow(from.slice, bound[i]) {
			p.stats.Flows++
			drawn[i], drawn[from.event] = true, true
		}
		if ok && e.Ph == 't' {
			live[k] = source{bound[i], i}
		}
	}
	for _, d := range drawn {
		if d {
			p.stats.Events++
		} else {
			p.stats.Unbound++
		}
	}
}

// bind returns for each flow event the slice that it belongs to, -1 without. A start, a step and an end with
// "bp":"e" belong to the innermost slice around them (the last one to begin), or, as in the viewer, to the last
// slice of the row that began before them; an end without bp belongs to the next slice that begins.
// order lists the flow events by time.
func (p *picture) bind(ids, order []int32) []int32 {
	events := p.tr.Events
	rows, rowOf := p.flowRows()
	ofRow := make([][]int32, len(rows))
	for _, i := range order {
		if t := events[ids[i]].Track; t >= 0 {
			ofRow[rowOf[t]] = append(ofRow[rowOf[t]], i)
		}
	}
	bound := fill32(len(ids))
	for r, flows := range ofRow {
		if len(flows) > 0 {
			p.bindRow(p.flowItems(rows[r]), ids, flows, bound)
		}
	}
	return bound
}

// flowRows groups tracks that share a pid and a tid as written: a flow event says no more than these about where
// it belongs. Rows of pseudo events take no flows.
func (p *picture) flowRows() (rows [][]kineto.TrackID, rowOf []int32) {
	type key struct {
		pid, tid       int64
		pidRaw, tidRaw kineto.Sym
	}
	tr := p.tr
	rowOf = make([]int32, len(tr.Tracks))
	index := make(map[key]int32)
	for t := range tr.Tracks {
		kt := &tr.Tracks[t]
		pid := tr.Procs[kt.Proc].PID
		k := key{pid: pid.Num, tid: kt.TID.Num}
		if !pid.IsNum {
			k.pidRaw = pid.Raw
		}
		if !kt.TID.IsNum {
			k.tidRaw = kt.TID.Raw
		}
		r, ok := index[k]
		if !ok {
			r = int32(len(rows))
			index[k] = r
			rows = append(rows, nil)
		}
		rowOf[t] = r
		switch kt.Class {
		case kineto.HostThread, kineto.DeviceStream, kineto.DeviceTrack, kineto.OtherTrack:
			if p.rowOf[t] >= 0 {
				rows[r] = append(rows[r], kineto.TrackID(t))
			}
		}
	}
	return rows, rowOf
}

// flowItems returns the items of a few tracks in the order in which they begin.
func (p *picture) flowItems(tracks []kineto.TrackID) []perfetto.Item {
	if len(tracks) == 1 {
		return p.out.Tracks[p.rowOf[tracks[0]]].Sorted()
	}
	var all perfetto.Track
	for _, t := range tracks {
		all.Items = append(all.Items, p.items[t]...)
	}
	return all.Sorted()
}

func (p *picture) bindRow(items []perfetto.Item, ids, order, bound []int32) {
	events := p.tr.Events
	var open []perfetto.Item // begun, in order; finished ones stay until the next begins
	next := 0
	for _, i := range order {
		e := &events[ids[i]]
		for ; next < len(items) && items[next].Start <= e.Start; next++ {
			if items[next].Instant {
				continue
			}
			for len(open) > 0 && open[len(open)-1].Start+open[len(open)-1].Dur <= items[next].Start {
				open = open[:len(open)-1]
			}
			open = append(open, items[next])
		}
		if e.Ph == 'f' && e.Flags&kineto.BindEnd == 0 {
			bound[i] = nextSlice(items[next:], open, e.Start)
			continue
		}
		for k := len(open) - 1; k >= 0; k-- {
			if open[k].Start+open[k].Dur >= e.Start {
				bound[i] = open[k].Ref
				break
			}
		}
		if bound[i] < 0 && len(open) > 0 {
			bound[i] = open[len(open)-1].Ref
		}
	}
}

// nextSlice returns the first slice that begins at ts or later: the outermost of those that begin together.
func nextSlice(later, open []perfetto.Item, ts int64) int32 {
	for k := range open {
		if open[k].Start == ts {
			return open[k].Ref
		}
	}
	for _, it := range later {
		if !it.Instant {
			return it.Ref
		}
	}
	return -1
}
