package ranks

import (
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// walk goes back over the ranks: inside a rank along its stubs, at a collective to the rank that came last.
type walk struct {
	j     *Clocked
	best  map[alikeKey]int64
	floor int64 // where it ends
	alone bool  // it does not leave the rank
	emit  func(Segment)
	jump  func(Jump)

	t     int64
	still int
}

// missing is how much longer than the best of its kind a collective with missing members has to take before they count
// as waited for.
func overdue(dur, best int64) bool { return dur*10 > best*11+50_000 }

// back emits what was on the way from a stub of a member at time t down to the floor, the latest first, without holes.
func (w *walk) back(member, stub int32, t int64) {
	w.t, w.still = t, 0
	for w.t > w.floor {
		before := w.t
		m := &w.j.Members[member]
		w.runs(member, stub)
		if w.t <= w.floor {
			return
		}
		end, ref := m.Stubs[stub].End()
		switch end {
		case critpath.AtStub:
			stub = ref
		case critpath.AtStart:
			w.put(w.floor, Segment{Member: member, Instance: -1, Event: trace.NoEvent, Kind: critpath.Unrecorded})
			return
		default:
			member, stub = w.through(member, ref)
		}
		if w.t < before {
			w.still = 0
		} else if w.still++; w.still > 4*len(w.j.Members)+64 {
			w.put(w.floor, Segment{Member: member, Instance: -1, Event: trace.NoEvent, Kind: critpath.Untraced})
			return
		}
	}
}

// runs emits those of a stub below t.
func (w *walk) runs(member, stub int32) {
	m := &w.j.Members[member]
	local := m.from(stub)
	for _, r := range m.runs(stub) {
		local -= r.Dur
		at := m.Clock.Global(local)
		if at >= w.t {
			continue
		}
		w.put(at, Segment{Member: member, Instance: -1, Event: r.Event, Name: r.Name, Kind: r.Kind})
		if w.t <= w.floor {
			return
		}
	}
	if at := m.Clock.Global(local); at < w.t && len(m.runs(stub)) > 0 {
		w.put(at, Segment{Member: member, Instance: -1, Event: trace.NoEvent, Kind: critpath.Untraced}) // rounding of a clock
	}
}

// through emits a collective from the side of a member, and goes to the rank that it waited for.
func (w *walk) through(member, op int32) (int32, int32) {
	j := w.j
	m := &j.Members[member]
	start, end := j.times(Ref{member, op})
	seg := Segment{Member: member, Instance: m.In[op], Event: m.Ops[op].Event, Name: m.Kinds[m.Ops[op].Kind].Name, Kind: critpath.Comm}
	if w.alone {
		w.put(start, seg)
		return member, op
	}
	if seg.Instance < 0 || !j.Instances[seg.Instance].Solved {
		g := &j.Groups[m.group[m.Kinds[m.Ops[op].Kind].Group]]
		if seg.Instance < 0 && g.Known && g.Size > 1 && m.Kinds[m.Ops[op].Kind].Peer == NoRank {
			w.absent(member, op, int32(g.Size), start, end-start, seg)
		}
		w.put(start, seg)
		return member, op
	}
	in := &j.Instances[seg.Instance]
	last, arrive := in.Last, in.Arrive
	if arrive >= end {
		last, arrive = member, start
		for _, r := range j.refs(int(seg.Instance)) {
			if s, _ := j.times(r); s < end && (s > arrive || s == arrive && r.Member < last) {
				last, arrive = r.Member, s
			}
		}
	}
	if in.Missing > 0 && j.Groups[in.Group].Known {
		w.absent(member, op, in.N+in.Missing, arrive, in.Transfer, seg)
	}
	w.put(arrive, seg)
	ref := j.refOf(in, last)
	if last != member && w.jump != nil {
		w.jump(Jump{seg.Instance, last, member, w.t, max(in.Arrive-in.Second, 0)})
	}
	return last, ref.Op
}

// absent emits a collective that took too long for its kind, though all were there who have a trace: the rest was a wait
// for one that has none.
func (w *walk) absent(member, op, size int32, arrive, dur int64, seg Segment) {
	best, ok := w.best[w.j.keyOf(member, &w.j.Members[member].Ops[op], size)]
	if !ok || !overdue(dur, best) {
		return
	}
	w.put(max(w.t-best, arrive), seg)
	seg.Event, seg.Name, seg.Kind = trace.NoEvent, 0, critpath.MissingRank
	w.put(arrive, seg)
}

// put emits [from, t] and goes back to from.
func (w *walk) put(from int64, s Segment) {
	if from = max(from, w.floor); from >= w.t {
		return
	}
	s.Start, s.End = from, w.t
	w.t = from
	w.emit(s)
}

// Own is the path of one rank alone, by class: from the end of its window back, without a step to another rank where nothing is matched.
func (j *Job) Own(member int32) (sums [critpath.NumClasses]int64) {
	m := &j.Members[member]
	w := &walk{j: &j.Clocked, floor: m.Start, emit: func(s Segment) { sums[s.Kind.Class()] += s.End - s.Start }}
	w.back(member, int32(len(m.Ops)), m.End)
	return sums
}

// Alone walks back over the path of one rank by itself, without a step to another one, from the end of its window or of the job's:
// the time that no other work of its own hides. emit gets the segments, the latest first; they tile the window of the rank as
// far as it lies in that of the job. Collectives are whole in it, with what was waited in them.
func (j *Job) Alone(member int32, emit func(Segment)) {
	m := &j.Members[member]
	w := &walk{j: &j.Clocked, floor: max(m.Start, j.Window[0]), alone: true}
	w.emit = func(s Segment) {
		if s.End = min(s.End, j.Window[1]); s.Start < s.End {
			emit(s)
		}
	}
	w.back(member, int32(len(m.Ops)), m.End)
}

// findPath walks back from the end of the window.
func (j *Job) findPath() {
	end := int32(0)
	for m := range j.Members {
		if j.Members[m].End > j.Members[end].End {
			end = int32(m)
		}
	}
	w := &walk{j: &j.Clocked, best: j.bestTransfers(), floor: j.Window[0]}
	w.emit = func(s Segment) {
		s.End = min(s.End, j.Window[1])
		if s.Start >= s.End {
			return
		}
		if n := len(j.Path); n > 0 {
			if p := &j.Path[n-1]; p.Member == s.Member && p.Instance == s.Instance && p.Event == s.Event && p.Name == s.Name && p.Kind == s.Kind {
				p.Start = s.Start
				return
			}
		}
		j.Path = append(j.Path, s)
	}
	stay := Stay{End: j.Window[1], Member: end, Op: int32(len(j.Members[end].Ops))}
	leave := func(at int64) {
		if stay.Start = at; stay.Start < stay.End {
			j.Stays = append(j.Stays, stay)
		}
	}
	w.jump = func(x Jump) {
		leave(x.At)
		stay = Stay{End: min(x.At, j.Window[1]), Member: x.From, Op: j.refOf(&j.Instances[x.Instance], x.From).Op}
		if x.At < j.Window[1] {
			j.Jumps = append(j.Jumps, x)
		}
	}
	m := &j.Members[end]
	w.back(end, int32(len(m.Ops)), m.End)
	leave(j.Window[0])
	slices.Reverse(j.Path)
	slices.Reverse(j.Jumps)
	slices.Reverse(j.Stays)
}
