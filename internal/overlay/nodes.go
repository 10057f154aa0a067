package overlay

import (
	"cmp"
	"fmt"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/cdg/phases"
	"overlay/internal/critpath"
	"overlay/internal/graph"
)

// phaseColors are the colours of a phase: on the path dark, off it pale.
var phaseColors = [phases.NumPhases][2]string{
	phases.Other:         {"other#13", "other_off#84"},
	phases.DataLoad:      {"dataload#62247", "dataload_off#99293"},
	phases.Forward:       {"forward#5736", "forward_off#6255"},
	phases.Loss:          {"loss#25", "loss_off#14087"},
	phases.Backward:      {"backward#4102", "backward_off#5986"},
	phases.Communication: {"phasecomm#22455", "phasecomm_off#1237"},
	phases.Update:        {"update#2576", "update_off#2002"},
}

const nodesLegend = "A node is a run of events with only sequential dependencies among them; its name is the training phase.\n" +
	"Dark: more than 2 % of its time is on the critical path. Pale: off the path.\n" +
	"Events of the input carry the number of their node as arg cdg_node."

// nodeTracks shows the aggregated graph: a group below parent with one row for the CPU and one for each stream, in
// order of their numbers. first is the index that the group gets in Drawing.Tracks.
func nodeTracks(y *graph.Layout, p *critpath.Path, first, parent int) []Track {
	if len(y.Nodes) == 0 {
		return nil
	}
	critical := nodeTime(y, p)
	onPath := make([]bool, len(y.Nodes))
	for _, id := range p.Nodes {
		onPath[id] = true
	}
	rows := map[cdg.LaneID]int{} // lane of a stream -> index in out
	drawn := []*nodeRow{nil}     // of the tracks in out
	out := []Track{{Name: TrackNodes, Parent: parent, Category: CategoryNodes,
		Description: fmt.Sprintf("The computation dependency graph: %d nodes, %d edges.\n%s", len(y.Nodes), len(y.Edges), nodesLegend)}}
	add := func(name, what string) int {
		r := &nodeRow{nodes: y.Nodes, critical: critical, onPath: onPath}
		drawn = append(drawn, r)
		out = append(out, Track{Name: name, Parent: first, Category: CategoryNodes, Maker: r, Description: what + "\n" + nodesLegend})
		return len(out) - 1
	}
	host := -1
	if slices.ContainsFunc(y.Nodes, func(n nodes.Node) bool { return !n.GPU }) {
		host = add(TrackHost, "Aggregated nodes of the CPU threads.")
	}
	for _, s := range nodeStreams(y) {
		rows[s.lane] = add(trackStream+s.name, "Aggregated nodes of GPU "+s.name+": what one CPU node launched on it.")
	}
	for id := range y.Nodes {
		n := &y.Nodes[id]
		row := host
		if n.GPU {
			row = rows[n.Lane]
		}
		drawn[row].ids = append(drawn[row].ids, nodes.ID(id))
	}
	for _, r := range drawn[1:] {
		r.sort()
	}
	return out
}

// nodeRow draws the nodes of one row.
type nodeRow struct {
	nodes    []nodes.Node
	critical []int64    // per node, ns
	onPath   []bool     // per node
	ids      []nodes.ID // in the order of the row
}

func (r *nodeRow) sort() {
	slices.SortStableFunc(r.ids, func(a, b nodes.ID) int {
		return cmp.Or(cmp.Compare(r.nodes[a].Start, r.nodes[b].Start), cmp.Compare(drawnLength(&r.nodes[b]), drawnLength(&r.nodes[a])))
	})
}

// drawnLength is at least 1 ns: viewers draw less as a mark that pushes later slices down.
func drawnLength(n *nodes.Node) int64 { return max(n.End-n.Start, 1) }

func (r *nodeRow) ForOne() SliceMaker { return r }

func (r *nodeRow) Len() int { return len(r.ids) }

func (r *nodeRow) Span(i int) (start, dur int64) {
	n := &r.nodes[r.ids[i]]
	return n.Start, drawnLength(n)
}

func (r *nodeRow) Look(i int) (name, color string) {
	id := r.ids[i]
	n := &r.nodes[id]
	shade := 1
	if r.critical[id]*50 > drawnLength(n) || r.onPath[id] {
		shade = 0
	}
	return n.Phase.String(), phaseColors[n.Phase][shade]
}

func (r *nodeRow) Args(i int, to *[MaxArgs]Arg) int {
	id := r.ids[i]
	n := &r.nodes[id]
	to[0] = Arg{Key: ArgNode, Int: int64(id)}
	to[1] = Arg{Key: argPhase, Str: n.Phase.String(), IsStr: true}
	to[2] = Arg{Key: argEvents, Int: int64(n.Events)}
	to[3] = Arg{Key: argBusyNS, Int: n.Busy}
	to[4] = Arg{Key: argNodeCriticalNS, Int: r.critical[id]}
	return 5
}

// nodeTime is the critical time of the events of each node.
func nodeTime(y *graph.Layout, p *critpath.Path) []int64 {
	ns := make([]int64, len(y.Nodes))
	for _, m := range p.Marks.All() {
		if n := y.NodeOf[m.Event]; n != nodes.None {
			ns[n] += m.NS
		}
	}
	return ns
}

type nodeStream struct {
	lane           cdg.LaneID
	device, stream int64
	name           string
}

// nodeStreams lists the streams that have nodes, by device and number.
func nodeStreams(y *graph.Layout) []nodeStream {
	var out []nodeStream
	seen := make([]bool, len(y.Lanes))
	devices := map[int64]bool{}
	for i := range y.Nodes {
		if n := &y.Nodes[i]; n.GPU && !seen[n.Lane] {
			seen[n.Lane] = true
			lane := &y.Lanes[n.Lane]
			s := nodeStream{lane: n.Lane, device: y.Trace.Procs[lane.Proc].Device, stream: lane.Number}
			s.name = fmt.Sprintf("stream %d", s.stream)
			if s.stream < 0 {
				s.name = y.Trace.StreamName(&y.Trace.Tracks[lane.Track])
			}
			devices[s.device] = true
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b nodeStream) int {
		return cmp.Or(cmp.Compare(a.device, b.device), cmp.Compare(a.stream, b.stream), cmp.Compare(a.lane, b.lane))
	})
	if len(devices) > 1 {
		for i := range out {
			out[i].name = fmt.Sprintf("GPU %d %s", out[i].device, out[i].name)
		}
	}
	return out
}
