package testtrace

import (
	"math/rand/v2"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/clock"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/trace"
)

// Verdict is how well the exact path of one program agrees with the truth.
type Verdict struct {
	Program *Program
	Seed    uint64
	Events  int
	Window  int64 // ns
	Agreed  int64 // ns of the window whose owner is the true one, or one that a near tie allows
	Strict  int64 // ns of the window whose owner is the true one
	Err     error // the trace was refused, or the path breaks its own invariants

	Hit, Tried       int              // counterfactuals of the engine's path
	Ceiling, Ceiled  int              // the same on the truth
	Right, Claimed   int              // inferred dependencies on the engine's path that exist
	Found, Needed    int              // true dependencies on the true path that the engine's path has
	Lost             map[string]int64 // ns that do not agree, by what the engine put there and what is true
	Worst            string
	WorstLen         int64
	MissedA, MissedB string
}

// Judge holds the buffers of one worker.
type Judge struct {
	Options cdg.Options // of the graphs that it has made

	run, scratch Run
	buf          []byte
	key          []int32 // activity of each event
	pos          []int32
	rng          *rand.Rand
	p            *Program
	tr           *trace.Trace
	clock        []clock.Correction // of the last trace
}

// Check simulates a program, has it analysed and compares.
func (j *Judge) Check(p *Program, seed uint64) Verdict {
	v, path := j.solve(p, seed)
	if v.Err == nil {
		j.agree(&v, path)
		j.counterfactuals(&v, path)
		j.dependencies(&v, path)
	}
	return v
}

// solve simulates a program and has it analysed.
func (j *Judge) solve(p *Program, seed uint64) (Verdict, *critpath.Path) {
	v := Verdict{Program: p, Seed: seed}
	j.p, j.rng = p, rand.New(rand.NewPCG(seed, 5))
	j.run.Simulate(p)
	b, pos := j.run.Build()
	j.pos = pos
	j.buf = b.AppendJSON(make([]byte, 0, len(j.buf)+1024))
	tr, err := kineto.Parse(j.buf, "simulated.json", kineto.Options{})
	if err != nil {
		v.Err = err
		return v, nil
	}
	j.tr = tr
	o := j.Options
	if p.Explicit {
		o.Threads = cdg.ThreadsExplicit
	}
	g, err := graph.Build(tr, o)
	if err != nil {
		v.Err = err
		return v, nil
	}
	j.clock = g.Clock
	path, err := critpath.Exact(g)
	if err == nil {
		err = pathcheck.Check(path, g)
	}
	if err != nil {
		v.Err = err
		return v, nil
	}
	v.Events = len(tr.Events)
	v.Window = path.Window.End - path.Window.Start
	j.key = resize(j.key, len(tr.Events))
	for i := range j.key {
		j.key[i] = -1
	}
	for k, e := range pos {
		if e >= 0 {
			j.key[e] = int32(k)
		}
	}
	return v, path
}

// stamp is a time as the trace has it.
func (j *Judge) stamp(ns int64) int64 {
	if j.p.IntegerMicros {
		return micros(ns) * 1000
	}
	return ns
}

// seen returns pieces of the truth as the analysed trace has them.
func (j *Judge) seen(pieces []Piece) []Piece {
	begins := make(map[int32]int32, len(j.p.ops)) // operations by the point of their start
	for o, b := range j.run.opBeg {
		begins[b] = int32(o)
	}
	for i := range pieces {
		x := &pieces[i]
		x.Start, x.End, x.Owner = j.seenAt(x.Start, x.from, begins), j.seenAt(x.End, x.to, begins), j.shown(x.Owner)
		x.End = max(x.Start, x.End)
	}
	return pieces
}

// seenAt is the time of a point as the analysed trace has it. Nothing in a trace says by less than L + R where the clock of a device is, and
// a path that is right but for a shift of all operations is right. A shift of more is an error of the analysis.
func (j *Judge) seenAt(t int64, point int32, begins map[int32]int32) int64 {
	o, device := begins[point]
	if !device {
		o = j.run.owner[point] - int32(len(j.p.instrs))
	}
	if o < 0 {
		return j.stamp(t)
	}
	at := j.stamp(t) + j.p.World.GPU
	for i := range j.clock {
		if c := &j.clock[i]; c.Device == j.p.Devices[j.p.ops[o].stream] && c.From <= at && at < c.To {
			at += c.At(at)
			break
		}
	}
	if off := at - j.stamp(t); max(off, -off) > clockError {
		return j.stamp(t)
	}
	return at
}

// clockError is by how much the clock of a device may be off after its correction, ns: half of what L + R are in recorded traces.
const clockError = 8000

// shown is the owner as the trace shows it: what is not recorded owns nothing, and the time of a call that was lost
// is that of the slice around it.
func (j *Judge) shown(key int32) int32 {
	if key < 0 || j.pos[key] >= 0 {
		return key
	}
	for int(key) < len(j.p.instrs) && j.p.instrs[key].hidden && j.run.outer[key] >= 0 {
		key = j.run.outer[key]
		if j.pos[key] >= 0 {
			return key
		}
	}
	return -1
}

func (j *Judge) owner(s *critpath.Segment) int32 {
	if s.Event == trace.NoEvent {
		return -1
	}
	return j.key[s.Event]
}

// agree sums the time for which the path's owner is one that the truth allows.
func (j *Judge) agree(v *Verdict, path *critpath.Path) {
	v.Strict = j.covered(j.run.Path(), path, nil)
	v.Agreed = j.covered(j.run.Allowed(), path, v)
}

// covered is the time for which the path's owner is among the allowed ones; the worst segment is noted in v.
func (j *Judge) covered(allowed []Piece, path *critpath.Path, v *Verdict) (sum int64) {
	j.seen(allowed)
	slices.SortFunc(allowed, func(x, y Piece) int {
		if x.Owner != y.Owner {
			return int(x.Owner) - int(y.Owner)
		}
		return int(x.Start - y.Start)
	})
	for _, s := range path.Segments.All() {
		key := j.owner(s)
		n, _ := slices.BinarySearchFunc(allowed, key, func(x Piece, k int32) int { return int(x.Owner) - int(k) })
		t, good := s.Start, int64(0)
		for ; n < len(allowed) && allowed[n].Owner == key && allowed[n].Start < s.End; n++ {
			from, to := max(t, allowed[n].Start), min(s.End, allowed[n].End)
			if to > from {
				if v != nil && from > t {
					v.lose(j, s, t, from)
				}
				good += to - from
				t = to
			}
		}
		if v != nil && s.End > t {
			v.lose(j, s, t, s.End)
		}
		sum += good
		if bad := s.End - s.Start - good; v != nil && bad > v.WorstLen {
			v.WorstLen = bad
			v.Worst = j.describe(s)
		}
	}
	return sum
}

func (j *Judge) name(key int32) string {
	if key < 0 {
		return "-"
	}
	if int(key) >= len(j.p.instrs) {
		return j.p.ops[int(key)-len(j.p.instrs)].name
	}
	return j.p.instrs[key].name
}

// lose notes a stretch in which a segment has the wrong owner, by what is true in the middle of it.
func (v *Verdict) lose(j *Judge, s *critpath.Segment, from, to int64) {
	if v.Lost == nil {
		v.Lost = map[string]int64{}
	}
	mid, truth := (from+to)/2, "nothing"
	for _, x := range j.run.Path() {
		if x.Start <= mid && mid < x.End {
			truth = j.sort(x.Owner) + " " + ruleWords[x.why]
		}
	}
	v.Lost[s.Kind.String()+" / "+truth] += to - from
}

// sort is what an activity is: an operation, a call, another slice; a delay belongs to none.
func (j *Judge) sort(key int32) string {
	switch {
	case key < 0:
		return "delay"
	case int(key) >= len(j.p.instrs):
		return "operation"
	case j.p.instrs[key].code == opOpen:
		return [...]string{"op", "annotation", "frame"}[j.p.instrs[key].kind]
	}
	return "call"
}

// describe says what the engine put where, and what is true in the middle of it.
func (j *Judge) describe(s *critpath.Segment) string {
	mid := (s.Start + s.End) / 2
	for _, x := range j.run.Path() {
		if x.Start <= mid && mid < x.End {
			return span2(s.Start, s.End) + " " + s.Kind.String() + " " + j.name(j.owner(s)) + "; true: " + span2(x.Start, x.End) + " " + j.name(x.Owner) + " " + ruleWords[x.why]
		}
	}
	return span2(s.Start, s.End) + " " + s.Kind.String() + " " + j.name(j.owner(s)) + "; true: nothing"
}

var ruleWords = [...]string{"", "(stream order)", "(launch)", "(event wait)", "(graph)", "(sync)", "(queue full)", "(hand-off)", "(device)"}

func span2(a, b int64) string { return "[" + itoa(a) + ", " + itoa(b) + "]" }

const samples = 20

// counterfactuals shortens activities with and without critical time, by the engine's word and by the truth.
func (j *Judge) counterfactuals(v *Verdict, path *critpath.Path) {
	parts := make([]Piece, 0, path.Segments.Len())
	for _, s := range path.Segments.All() {
		parts = append(parts, Piece{Start: s.Start, End: s.End, Owner: j.owner(s)})
	}
	v.Hit, v.Tried = j.shortenAll(parts, path.Window.Start)
	truth := j.run.Path()
	for i := range truth {
		truth[i].Owner = j.shown(truth[i].Owner)
	}
	v.Ceiling, v.Ceiled = j.shortenAll(truth, path.Window.Start)
}

func (j *Judge) shortenAll(path []Piece, from int64) (hit, tried int) {
	critical := map[int32]int64{}
	for i := range path {
		if x := &path[i]; x.Owner >= 0 && x.End > from {
			critical[x.Owner] += x.End - max(x.Start, from)
		}
	}
	var with, without []int32
	for k := range j.pos {
		key := int32(k)
		switch {
		case j.pos[k] < 0 || j.run.background(key):
		case critical[key] > 0:
			with = append(with, key)
		case j.longest(key, nil) >= 0:
			without = append(without, key)
		}
	}
	pick := func(list []int32) []int32 {
		r := rand.New(rand.NewPCG(uint64(len(list)), 9))
		r.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		return list[:min(len(list), samples)]
	}
	for _, key := range pick(with) {
		tried++
		var own []Piece
		for i := range path {
			if path[i].Owner == key {
				own = append(own, path[i])
			}
		}
		pt := j.longest(key, own)
		d := max(100, critical[key]/100)
		if pt < 0 || *j.p.knob(j.run.knob[pt]) <= d {
			continue
		}
		if j.run.Effect(&j.scratch, j.run.knob[pt], d) == d {
			hit++
		}
	}
	for _, key := range pick(without) {
		pt := j.longest(key, nil)
		k := j.run.knob[pt]
		d := max(100, *j.p.knob(k)/100)
		if *j.p.knob(k) <= d {
			continue
		}
		tried++
		if j.run.Effect(&j.scratch, k, d) == 0 {
			hit++
		}
	}
	return hit, tried
}

// longest is the point whose step belongs to an activity, can be shortened, and overlaps most with the given parts.
func (j *Judge) longest(key int32, parts []Piece) int32 {
	best, most := int32(-1), int64(0)
	for i := range j.run.at {
		if j.run.owner[i] != key || j.run.knob[i] < 0 {
			continue
		}
		from, to := j.run.at[j.run.pred[i]], j.run.at[i]
		n := to - from
		if parts != nil {
			n = 0
			for _, x := range parts {
				n += max(0, min(x.End, j.stamp(to))-max(x.Start, j.stamp(from)))
			}
		}
		if n > most {
			best, most = int32(i), n
		}
	}
	return best
}

// dependencies compares what was inferred on the path with what is true.
func (j *Judge) dependencies(v *Verdict, path *critpath.Path) {
	type pair = struct{ from, to int32 }
	isTrue := map[pair]bool{}
	hands := map[pair][]int64{}
	for _, d := range j.run.deps {
		if d.why == byHand {
			hands[pair{d.from, d.to}] = append(hands[pair{d.from, d.to}], j.stamp(d.at))
			continue
		}
		isTrue[pair{d.from, j.shown(d.to)}] = true
	}
	for o := range j.p.ops {
		isTrue[pair{j.shown(j.p.ops[o].instr), j.p.opKey(int32(o))}] = true // launched there
	}
	claimed := map[pair]bool{}
	claimedHand := map[pair][]int64{}
	for _, e := range path.Edges.All() {
		if !e.Evidence.Inferred() && e.Evidence != cdg.ByGraph && e.Evidence != cdg.BySyncEvent {
			continue
		}
		x := pair{j.key[e.From], j.key[e.To]}
		if e.Type == critpath.HandoffEdge {
			continue // by segments below
		}
		claimed[x] = true
		if !e.Evidence.Inferred() {
			continue
		}
		v.Claimed++
		if isTrue[x] {
			v.Right++
		} else if v.MissedA == "" {
			v.MissedA = e.Evidence.String() + " " + e.Type.String() + " " + j.name(x.from) + " -> " + j.name(x.to)
		}
	}
	segments := path.Segments.List()
	for i := range segments {
		s := &segments[i]
		if s.Kind != critpath.HandoffDelay || i == 0 || i+1 == len(segments) {
			continue
		}
		// The segment is drawn on the waiting thread; the one before on the thread that ended the wait.
		x := pair{j.threadOf(segments[i-1].Track), j.threadOf(s.Track)}
		claimedHand[x] = append(claimedHand[x], s.End)
		v.Claimed++
		if near(hands[x], s.End) {
			v.Right++
		} else if v.MissedA == "" {
			v.MissedA = "hand-off at " + itoa(s.End)
		}
	}
	for _, x := range j.run.Path() {
		if x.Start < path.Window.Start {
			continue
		}
		switch x.why {
		case byHand:
			v.Needed++
			if j.hasHand(claimedHand, x) {
				v.Found++
			} else if v.MissedB == "" {
				v.MissedB = "hand-off at " + itoa(x.End)
			}
		case byEvent, byGraph, bySync, byQueue:
			to := x.Owner
			if x.why == byEvent || x.why == byGraph {
				to = j.opAt(x.to)
			}
			from := j.run.owner[x.from]
			if j.shown(from) < 0 || j.shown(to) < 0 {
				continue
			}
			v.Needed++
			if claimed[pair{from, to}] {
				v.Found++
			} else if v.MissedB == "" {
				v.MissedB = ruleWords[x.why] + " " + j.name(from) + " -> " + j.name(to) + " at " + itoa(x.End)
			}
		}
	}
}

// opAt is the operation that starts at a point.
func (j *Judge) opAt(point int32) int32 {
	for o, b := range j.run.opBeg {
		if b == point {
			return j.p.opKey(int32(o))
		}
	}
	return -1
}

func (j *Judge) threadOf(t trace.TrackID) int32 {
	if t == trace.NoTrack {
		return -1
	}
	for i := range j.p.Threads {
		if tid := j.tr.Tracks[t].TID; tid.IsNum && tid.Num == j.p.Threads[i].tid && j.tr.Tracks[t].Class == trace.HostThread {
			return int32(i)
		}
	}
	return -1
}

func (j *Judge) hasHand(claimed map[struct{ from, to int32 }][]int64, x Piece) bool {
	for _, d := range j.run.deps {
		if d.why == byHand && d.at == x.End && near(claimed[struct{ from, to int32 }{d.from, d.to}], j.stamp(x.End)) {
			return true
		}
	}
	return false
}

// near tells whether a time is in the list, give or take what lies between a wake-up and the next slice.
func near(times []int64, t int64) bool {
	for _, x := range times {
		if x-t <= 10_000 && t-x <= 10_000 {
			return true
		}
	}
	return false
}
