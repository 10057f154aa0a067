package relations

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/columns"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// The kinds of spans and the stages, as their columns have them.
const (
	moduleSpan uint32 = iota
	annotationSpan
	phaseSpan
)

const (
	forwardStage uint32 = iota
	backwardStage
	updateStage
)

var (
	spanKinds  = []string{"module", "annotation", "phase"}
	stageNames = []string{"forward", "backward", "update"}
)

// stageOf is the stage of a training phase.
var stageOf = [phases.NumPhases]uint32{phases.Other: noText, phases.DataLoad: noText, phases.Communication: noText,
	phases.Forward: forwardStage, phases.Loss: forwardStage, phases.Backward: backwardStage, phases.Update: updateStage}

// modulePrefix begins the names of frames that are calls of modules.
const modulePrefix = "nn.Module: "

// span is one row.
type span struct {
	start, end, gpu, critical int64
	act                       cdg.ActID // the slice; of a backward pass that of its forward; NoAct of a phase
	backward                  bool      // it is the backward pass of act
	track                     trace.TrackID
	kind, stage               uint32
	phase                     phases.Phase
	parent                    int32 // row
}

// weight is what an activity encloses and launched.
type weight struct{ gpu, critical int64 }

func (m *maker) spans() (int, []column) {
	rows := m.findSpans()
	var names dict
	name := make([]uint32, len(rows))
	for i := range rows {
		switch r := &rows[i]; r.kind {
		case phaseSpan:
			name[i] = names.add(r.phase.String())
		default:
			name[i] = names.add(strings.TrimPrefix(m.tr.Name(m.g.Acts[r.act].Event), modulePrefix))
		}
	}
	return len(rows), []column{
		int32s("span", tables.ID, "number of the row", func(i int) int64 { return int64(i) }),
		text("kind", "module: a call of an nn.Module, or the backward pass of one; annotation: a record_function; phase: a stretch of one training phase. Modules and annotations nest, so add up one level only; phases do not", columns.Data{Syms: spanKinds, Sym: func(i int) (uint32, bool) { return rows[i].kind, true }}),
		text("module", "name of the module or annotation; of a phase its name", names.data(func(i int) uint32 { return name[i] })),
		null(text("stage", "forward, backward or update; null for loading, communication and what is none of these", columns.Data{Syms: stageNames, Sym: func(i int) (uint32, bool) { return rows[i].stage, rows[i].stage != noText }})),
		maybe32("step", tables.ID, "number of the ProfilerStep in which it starts", func(i int) (int64, bool) { return m.stepAt(rows[i].start) }),
		rising(int64s("ts_ns", tables.Time, "start on the CPU", func(i int) int64 { return rows[i].start })),
		int64s("duration_ns", tables.NS, "length on the CPU, from the first to the last of what it is made of", func(i int) int64 { return rows[i].end - rows[i].start }),
		int64s("gpu_ns", tables.NS, "length of the operations that it launched, added up", func(i int) int64 { return rows[i].gpu }),
		int64s("critical_ns", tables.NS, "time on the path of what it encloses and of what that launched", func(i int) int64 { return rows[i].critical }),
		ids32("event", tables.Ref, "the slice that it is; null for backward passes and phases", func(i int) trace.EventID {
			if rows[i].backward {
				return trace.NoEvent
			}
			return m.actEvent(rows[i].act)
		}),
		ids32("parent_span", tables.ID, "the module or annotation around it on its thread", func(i int) int32 { return rows[i].parent }),
		int32s("track", tables.ID, "thread on which it begins", func(i int) int64 { return int64(rows[i].track) }),
		text("phase", "training phase", words(phases.NumPhases, func(i int) phases.Phase { return rows[i].phase })),
	}
}

// findSpans lists all spans by start, the longer first, of equals in the order in which they are found.
func (m *maker) findSpans() []span {
	weights := m.weigh()
	rows := m.slicesThatAreSpans(weights)
	rows = append(rows, m.backwardOfModules(rows, weights)...)
	rows = append(rows, m.stretches()...)
	slices.SortStableFunc(rows, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	place := map[cdg.ActID]int32{} // of slices: the rows that others may have as parents
	for i := range rows {
		if r := &rows[i]; r.act != cdg.NoAct && !r.backward {
			place[r.act] = int32(i)
		}
	}
	for i := range rows {
		r := &rows[i]
		r.parent = -1
		if r.act == cdg.NoAct || r.backward {
			continue
		}
		for a := m.g.Parent[r.act]; a != cdg.NoAct; a = m.g.Parent[a] {
			if p, ok := place[a]; ok {
				r.parent = p
				break
			}
		}
	}
	return rows
}

// weigh sums for each slice what it encloses on its thread and what that launched.
func (m *maker) weigh() []weight {
	g := m.g
	w := make([]weight, len(g.Acts))
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; a < lane.Limit; a++ {
			id := g.Acts[a].Event
			to := a
			if lane.Stream {
				call := m.tr.Launch(id)
				if call == trace.NoEvent || g.ActOf[call] == cdg.NoAct {
					continue
				}
				to = g.ActOf[call]
				w[to].gpu += m.tr.Dur(m.event(id))
			}
			w[to].critical += m.criticalNS(id)
		}
	}
	for a := len(g.Acts) - 1; a >= 0; a-- { // a parent stands before its children
		if up := g.Parent[a]; up != cdg.NoAct {
			w[up].gpu += w[a].gpu
			w[up].critical += w[a].critical
		}
	}
	return w
}

// slicesThatAreSpans lists calls of modules and annotations.
func (m *maker) slicesThatAreSpans(weights []weight) []span {
	var rows []span
	module := m.tr.ByName(func(name string) bool { return strings.HasPrefix(name, modulePrefix) })
	for l := range m.g.Lanes {
		lane := &m.g.Lanes[l]
		if lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			act := &m.g.Acts[a]
			if !m.inWindow(act.Start) {
				continue
			}
			e := m.event(act.Event)
			r := span{start: act.Start, end: act.End, gpu: weights[a].gpu, critical: weights[a].critical, act: a, track: lane.Track, phase: m.g.Phases[act.Event]}
			switch {
			case e.Kind == trace.Python:
				if !module(e.Name) {
					continue
				}
				r.kind, r.stage = moduleSpan, forwardStage
				if r.phase == phases.Backward { // a forward that is run again, as activation checkpoints do
					r.stage = backwardStage
				}
			case e.Kind == trace.Annotation && !strings.HasPrefix(m.tr.Str(e.Name), trace.StepPrefix):
				r.kind, r.stage = annotationSpan, stageOf[r.phase]
			default:
				continue
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// backwardOfModules finds the backward pass of each call of a module: the ops of the autograd engine that have the sequence
// number of an op of the call. The op that made a node of the autograd graph is the last that carries its number.
func (m *maker) backwardOfModules(rows []span, weights []weight) []span {
	g := m.g
	calls := map[cdg.ActID]bool{}
	for i := range rows {
		if rows[i].kind == moduleSpan {
			calls[rows[i].act] = true
		}
	}
	if len(calls) == 0 {
		return nil
	}
	type key struct {
		proc trace.ProcID
		seq  int32
	}
	maker := map[key]cdg.ActID{}
	var ran []cdg.ActID // ops of the engine
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			e := m.event(g.Acts[a].Event)
			if e.Kind != trace.CPUOp || e.Flags&trace.HasSeq == 0 {
				continue
			}
			if e.Flags&trace.HasFwd != 0 {
				ran = append(ran, a)
				continue
			}
			seq, _ := m.tr.Sequence(g.Acts[a].Event)
			k := key{lane.Proc, seq}
			if b, ok := maker[k]; !ok || g.Acts[b].Start <= g.Acts[a].Start {
				maker[k] = a
			}
		}
	}
	type nested struct{ call, op cdg.ActID }
	at := map[cdg.ActID]int{} // of calls: index into out
	counted := map[nested]bool{}
	var out []span
	for _, a := range ran {
		seq, _ := m.tr.Sequence(g.Acts[a].Event)
		f, ok := maker[key{g.Lanes[g.Acts[a].Lane].Proc, seq}]
		if !ok {
			continue
		}
		for call := g.Parent[f]; call != cdg.NoAct; call = g.Parent[call] {
			if !calls[call] {
				continue
			}
			i, ok := at[call]
			if !ok {
				i = len(out)
				at[call] = i
				out = append(out, span{start: g.Acts[a].Start, end: g.Acts[a].End, act: call, backward: true,
					track: g.Lanes[g.Acts[a].Lane].Track, kind: moduleSpan, stage: backwardStage, phase: phases.Backward})
			}
			r := &out[i]
			r.start, r.end = min(r.start, g.Acts[a].Start), max(r.end, g.Acts[a].End)
			within := false // an op inside of one that is counted already
			for up := g.Parent[a]; up != cdg.NoAct && !within; up = g.Parent[up] {
				within = counted[nested{call, up}]
			}
			if counted[nested{call, a}] = true; !within {
				r.gpu += weights[a].gpu
				r.critical += weights[a].critical
			}
		}
	}
	return out
}

// stretches joins CPU nodes of one phase that follow each other within a step, with the GPU nodes that they launched.
func (m *maker) stretches() []span {
	g := m.g
	critical := make([]int64, len(g.Nodes))
	for _, x := range m.p.Marks.All() {
		if id := g.NodeOf[x.Event]; id >= 0 {
			critical[id] += x.NS
		}
	}
	type open struct {
		row  int
		step int64
	}
	var out []span
	last := map[int]open{} // per logical thread
	of := make([]int, len(g.Nodes))
	for i := range g.Nodes {
		of[i] = -1
	}
	thread := m.logicalThreads()
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.GPU {
			continue
		}
		step, ok := m.stepAt(n.Start)
		if !ok {
			step = -1
		}
		t := thread[n.Lane]
		if o, ok := last[t]; ok && out[o.row].phase == n.Phase && o.step == step {
			of[i] = o.row
		} else {
			of[i] = len(out)
			last[t] = open{len(out), step}
			out = append(out, span{start: n.Start, end: n.End, act: cdg.NoAct, track: g.Lanes[n.Lane].Track, kind: phaseSpan, stage: stageOf[n.Phase], phase: n.Phase})
		}
		out[of[i]].end = max(out[of[i]].end, n.End)
		out[of[i]].critical += critical[i]
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if !n.GPU {
			continue
		}
		row := -1
		if call := m.tr.Launch(n.First); call != trace.NoEvent && g.NodeOf[call] >= 0 {
			row = of[g.NodeOf[call]]
		}
		if row < 0 { // launched outside the window, or without a record: a stretch of its own
			row = len(out)
			out = append(out, span{start: n.Start, end: n.End, act: cdg.NoAct, track: g.Lanes[n.Lane].Track, kind: phaseSpan, stage: stageOf[n.Phase], phase: n.Phase})
		}
		out[row].gpu += n.Busy
		out[row].critical += critical[i]
	}
	return out
}

// logicalThreads numbers the threads; those that take turns share the number of the first of them.
func (m *maker) logicalThreads() map[cdg.LaneID]int {
	of := map[cdg.LaneID]int{}
	for l := range m.g.Lanes {
		id := cdg.LaneID(l)
		if _, ok := of[id]; ok {
			continue
		}
		of[id] = l
		for _, p := range m.g.Partners[l] {
			if _, ok := of[p]; !ok {
				of[p] = l
			}
		}
	}
	return of
}
