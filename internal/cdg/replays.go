package cdg

import (
	"cmp"
	"fmt"
	"slices"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Replay is one launch of a graph of operations.
type Replay struct {
	Call   trace.EventID
	Ops    []trace.EventID // in the order of the nodes where all of them say which they are, else by start
	ByNode bool            // they are in the order of the nodes
	Graph  int             // number among those of the trace: equal names in equal order are one graph
}

// Replays lists the launches of graphs by start.
func Replays(tr *trace.Trace) []Replay {
	calls := matchSyms(tr, func(s string) bool { return vendors.VerbOf(s) == vendors.GraphLaunch })
	if !slices.Contains(calls, true) {
		return nil
	}
	at := map[trace.EventID]int{}
	var list []Replay
	for op, call := range tr.Launches() {
		if calls[tr.Events[call].Name] {
			i, ok := at[call]
			if !ok {
				i = len(list)
				at[call], list = i, append(list, Replay{Call: call})
			}
			list[i].Ops = append(list[i].Ops, op)
		}
	}
	slices.SortFunc(list, func(a, b Replay) int {
		return cmp.Or(cmp.Compare(tr.Events[a.Call].Start, tr.Events[b.Call].Start), cmp.Compare(a.Call, b.Call))
	})
	seen := map[string]int{}
	for i := range list {
		r := &list[i]
		node := map[trace.EventID]int64{}
		for _, op := range r.Ops {
			if n, ok := tr.ArgInt(op, "graph node id"); ok {
				node[op] = n
			}
		}
		r.ByNode = len(node) == len(r.Ops)
		slices.SortStableFunc(r.Ops, func(a, b trace.EventID) int {
			if r.ByNode {
				return cmp.Compare(node[a], node[b])
			}
			return cmp.Compare(tr.Events[a].Start, tr.Events[b].Start)
		})
		var key []byte
		for _, op := range r.Ops {
			n := tr.Events[op].Name
			key = append(key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
		}
		n, ok := seen[string(key)]
		if !ok {
			n = len(seen)
			seen[string(key)] = n
		}
		r.Graph = n
	}
	return list
}

// Places are the places of operations in the graphs that are replayed. The zero value has none.
type Places struct {
	tr   *trace.Trace
	list []Replay
	of   []int32 // per event: 1 + which replay, 0 for none; nil without any
	at   []int32 // per event: its place there, from 1
}

// PlacesIn finds the places of all operations of a trace.
func PlacesIn(tr *trace.Trace) Places {
	p := Places{tr: tr, list: Replays(tr)}
	if len(p.list) == 0 {
		return p
	}
	p.of, p.at = make([]int32, len(tr.Events)), make([]int32, len(tr.Events))
	for i := range p.list {
		for k, op := range p.list[i].Ops {
			p.of[op], p.at[op] = int32(i)+1, int32(k)+1
		}
	}
	return p
}

// Name names the graph of an operation and its position there: by the number that was recorded, else by that among the graphs of the trace. It is
// "" for what no graph launched.
func (p *Places) Name(op trace.EventID) string {
	if p.of == nil || p.of[op] == 0 {
		return ""
	}
	x := &p.list[p.of[op]-1]
	number := int64(x.Graph + 1)
	if n, ok := p.tr.ArgInt(op, "graph id"); ok {
		number = n
	}
	return fmt.Sprintf("graph %d, operation %d of %d", number, p.at[op], len(x.Ops))
}
