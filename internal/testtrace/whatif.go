package testtrace

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// Question is a prediction beside what becomes of the program when its durations are really changed.
type Question struct {
	Kind      string // what is scaled
	Name      string // of what is scaled, where it has one
	Num, Den  int64
	Recorded  int64 // ns: the window
	Truth     int64 // the window of the changed program
	Predicted int64 // the window that the replay gives
	Share     int64 // the window that the share of the path would promise
	Sure      bool  // the replay says so of itself
}

// Off is the error of a prediction, as a share of the true window.
func (q *Question) Off(predicted int64) float64 {
	return float64(max(predicted-q.Truth, q.Truth-predicted)) / float64(max(1, q.Truth))
}

// AskAll asks what-if questions of a program: the top hotspot, another, all of a class, a name off the path. Each is
// answered by a replay of the trace and by a simulation of the changed program.
func (j *Judge) AskAll(p *Program, seed uint64) ([]Question, error) {
	j.p = p
	j.run.Simulate(p)
	b, pos := j.run.Build()
	j.pos = pos
	tr, err := kineto.Parse(b.JSON(), "simulated.json", kineto.Options{})
	if err != nil {
		return nil, err
	}
	o := j.Options
	if p.Explicit {
		o.Threads = cdg.ThreadsExplicit
	}
	g, err := graph.Build(tr, o)
	if err != nil {
		return nil, err
	}
	path, err := critpath.Exact(g)
	if err != nil {
		return nil, err
	}
	m := whatif.New(g)
	var out []Question
	critical := map[string]int64{} // per name, time on the path
	for _, x := range path.Marks.All() {
		critical[tr.Name(x.Event)] += x.NS
	}
	ask := func(kind, name string, num, den int64, match func(e *trace.Event, name string) bool) {
		q := Question{Kind: kind, Name: name, Num: num, Den: den, Recorded: g.Window.End - g.Window.Start}
		on, share := m.NewSet(), int64(0)
		keys := map[int32]bool{}
		for key, at := range pos {
			if at < 0 {
				continue
			}
			id := trace.EventID(at)
			if a := g.ActOf[id]; a != cdg.NoAct && match(&tr.Events[id], tr.Name(id)) {
				on.Add(a)
				keys[int32(key)] = true
			}
		}
		for _, x := range path.Marks.All() {
			if on.Has(g.ActOf[x.Event]) {
				share += x.NS
			}
		}
		if len(keys) == 0 {
			return
		}
		changed := j.scaled(keys, num, den)
		j.scratch.Simulate(changed)
		q.Truth = q.Recorded + j.scratch.End - j.run.End
		r := m.Replay(&whatif.Scenario{Changes: []whatif.Change{{Verb: whatif.Scale, On: on, Num: num, Den: den}}})
		q.Predicted, q.Sure = r.Window, r.Confidence() == whatif.Good
		q.Share = q.Recorded - share + share*num/den
		out = append(out, q)
	}
	named := func(name string) func(*trace.Event, string) bool {
		return func(_ *trace.Event, n string) bool { return n == name }
	}
	names := make([]string, 0, len(critical))
	for name := range critical {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(critical[y], critical[x]), strings.Compare(x, y)) })
	ask("top hotspot x 0.5", names[0], 1, 2, named(names[0]))
	ask("top hotspot x 0.02", names[0], 1, 50, named(names[0]))
	if n := min(len(names), 10); n > 1 {
		name := names[1+int(seed)%(n-1)]
		ask("another hotspot x 0.5", name, 1, 2, named(name))
	}
	isComm := func(name string) bool { return strings.HasPrefix(name, "nccl") }
	ask("kernels x 0.5", "", 1, 2, func(e *trace.Event, name string) bool { return e.Kind == trace.Kernel && !isComm(name) })
	ask("communication x 0.5", "", 1, 2, func(e *trace.Event, name string) bool { return e.Kind == trace.Kernel && isComm(name) })
	ask("CPU x 0.5", "", 1, 2, func(e *trace.Event, _ string) bool { return e.Kind.Host() })
	ask("launches x 0.5", "", 1, 2, func(e *trace.Event, name string) bool { return strings.HasSuffix(name, "LaunchKernel") })
	off := ""
	for i := range tr.Events {
		e := &tr.Events[i]
		if name := tr.Str(e.Name); (e.Kind.Host() || e.Kind.Device()) && tr.Dur(e) > 0 && critical[name] == 0 && (off == "" || name < off) {
			off = name
		}
	}
	if off != "" {
		ask("off the path x 0.5", off, 1, 2, named(off))
	}
	ask("kernels x 2", "", 2, 1, func(e *trace.Event, name string) bool { return e.Kind == trace.Kernel && !isComm(name) })
	return out, nil
}

// scaled is the program with the own time of some activities scaled, as far as it was recorded. Collectives last as
// long as they did: when peers arrive is no part of the process.
func (j *Judge) scaled(keys map[int32]bool, num, den int64) *Program {
	p := *j.p
	p.instrs, p.ops = slices.Clone(p.instrs), slices.Clone(p.ops)
	n := int32(len(p.instrs))
	for th := range p.Threads {
		var open []int32
		for _, id := range p.Threads[th].code {
			in := &p.instrs[id]
			owner := id
			switch in.code {
			case opOpen:
				open = append(open, id)
				continue
			case opClose:
				open = open[:len(open)-1]
				continue
			case opWork:
				owner = -1
				if len(open) > 0 {
					owner = open[len(open)-1]
				}
			}
			if j.run.slice[id].start >= 0 && j.run.slice[id].start < p.RecordFrom {
				continue
			}
			if keys[j.shown(owner)] && owner >= 0 {
				in.dur, in.before = in.dur*num/den, in.before*num/den
			}
		}
	}
	for o := range p.ops {
		op, s := &p.ops[o], j.run.slice[n+int32(o)]
		if op.peer != 0 {
			op.dur, op.peer, op.extra = s.end-s.start, 0, 0
		}
		if keys[n+int32(o)] {
			op.dur = op.dur * num / den
		}
	}
	return &p
}
