package cdg

import (
	"cmp"
	"slices"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Replay is one launch of a graph of operations.
type Replay struct {
	Call  trace.EventID
	Ops   []trace.EventID // in the order of the nodes where all of them say which they are, else by start
	Graph int             // number among those of the trace: equal names in equal order are one graph
}

// Replays lists the launches of graphs by start.
func Replays(tr *trace.Trace) []Replay {
	calls := matchSyms(tr, func(s string) bool { return vendors.VerbOf(s) == vendors.GraphLaunch })
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
		slices.SortStableFunc(r.Ops, func(a, b trace.EventID) int {
			if len(node) == len(r.Ops) {
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
