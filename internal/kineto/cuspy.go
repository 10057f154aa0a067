package kineto

import (
	"cmp"
	"slices"

	"overlay/internal/trace"
)

// PyTorch's Cuspy backend (torch/profiler/_cuspy) writes Kineto's schema with differences that matter to whoever reads
// it: every copy is named "Memcpy" and every memset "Memset", with what Kineto puts into the name in args; operations
// of CUDA graphs may be drawn on a lane of the viewer instead of their stream, which is then in original_stream; and
// flows between operations of a graph are its recorded edges.

// firstGraphFlow is the least id of a flow that is an edge between nodes of a graph; flows below are launches.
const firstGraphFlow = 1 << 40

// CUPTI's names of copies and of kinds of memory, as Kineto writes them. Cuspy writes a number where it knows no name.
var (
	copyDirections = [...]string{1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD", 9: "HtoH", 10: "PtoP"}
	memoryKinds    = [...]string{"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"}
	memoryWords    = map[string]string{"unknown": "Unknown", "pageable": "Pageable", "pinned": "Pinned", "device": "Device", "array": "Array",
		"managed": "Managed", "device_static": "Device Static", "managed_static": "Managed Static", "host": "Host"} // "Host" is ROCm's
)

// composed is the name that Kineto would have given a copy or memset with these args; "" when they do not say enough.
func composed(kind trace.Kind, args []byte) string {
	if kind == trace.Memset {
		if k := memoryKind(args, "memory kind"); k != "" {
			return "Memset (" + k + ")"
		}
		return ""
	}
	direction, ok := argString(args, "copy kind")
	if !ok {
		return ""
	}
	if n, isNumber := argInt(args, "copy kind"); isNumber && n > 0 && n < int64(len(copyDirections)) {
		direction = copyDirections[n]
	} else if !slices.Contains(copyDirections[1:], direction) {
		direction = "<unknown>"
	}
	name := "Memcpy " + direction
	if src, dst := memoryKind(args, "src kind"), memoryKind(args, "dst kind"); src != "" && dst != "" {
		name += " (" + src + " -> " + dst + ")"
	}
	return name
}

// memoryKind is the kind of memory that an argument names, in Kineto's words; "" without.
func memoryKind(args []byte, key string) string {
	if n, ok := argInt(args, key); ok {
		if n >= 0 && n < int64(len(memoryKinds)) {
			return memoryKinds[n]
		}
		return "Unrecognized"
	}
	word, ok := argString(args, key)
	if !ok {
		return ""
	}
	return cmp.Or(memoryWords[word], "Unrecognized")
}

// readGraphEdges joins the flows between operations of graphs: they begin where one ends on its row and end where the
// other starts. Edges never leave a launch, which tells apart operations that start or end together.
func (t *draft) readGraphEdges() {
	var flows []trace.EventID
	nodes := false
	for i := range t.Events {
		e := &t.Events[i]
		nodes = nodes || e.Flags&trace.GraphOp != 0
		if (e.Ph == 's' || e.Ph == 'f') && e.Flags&trace.HasCorr != 0 && t.Corr(e) >= firstGraphFlow && t.Syms[e.Cat] == "ac2g" {
			flows = append(flows, trace.EventID(i))
		}
	}
	if !nodes || len(flows) == 0 {
		return
	}
	starting, ending := map[place][]trace.EventID{}, map[place][]trace.EventID{}
	for i := range t.Events {
		if e := &t.Events[i]; e.Flags&trace.GraphOp != 0 && e.Ph == 'X' && e.Kind.Device() {
			starting[place{e.Track, e.Start}] = append(starting[place{e.Track, e.Start}], trace.EventID(i))
			ending[place{e.Track, t.End(e)}] = append(ending[place{e.Track, t.End(e)}], trace.EventID(i))
		}
	}
	rows := map[trace.TrackID]trace.TrackID{}
	at := func(id trace.EventID) place {
		e := &t.Events[id]
		row, ok := rows[e.Track]
		if !ok {
			row = t.sameRow(e.Track, trace.DeviceStream)
			rows[e.Track] = row
		}
		return place{row, e.Start}
	}
	open := map[int64]trace.EventID{}
	for _, id := range flows {
		f := &t.Events[id]
		if f.Ph == 's' {
			open[t.Corr(f)] = id
			continue
		}
		s, ok := open[t.Corr(f)]
		if !ok {
			continue
		}
		if from, to := t.graphEdge(ending[at(s)], starting[at(id)]); from != trace.NoEvent {
			t.GraphEdges = append(t.GraphEdges, trace.GraphEdge{From: from, To: to, Start: s, End: id})
		}
	}
}

// graphEdge picks the first pair of one launch.
func (t *draft) graphEdge(from, to []trace.EventID) (trace.EventID, trace.EventID) {
	for _, x := range from {
		for _, y := range to {
			if a, b := &t.Events[x], &t.Events[y]; x != y && a.Flags&b.Flags&trace.HasCorr != 0 && t.Corr(a) == t.Corr(b) {
				return x, y
			}
		}
	}
	return trace.NoEvent, trace.NoEvent
}
