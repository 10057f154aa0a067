// Package replay answers how long a job of many ranks would have taken with something changed. It needs the summaries of the ranks, not their traces.
//
//	AddChains(s, g, nil)                    // once a rank, while its graph is there
//	m, err := replay.New(job)               // once a job
//	m.Ask([]replay.Question{…})             // many questions side by side
//
// # Model
//
// Seen from outside a rank is a function: an operation that communicates starts when the last of its chains is over, and each of these is the end of an earlier operation, and
// delays and own time since. Over ranks an operation ends a transfer after the last of its members came. So a job is a graph of maxima, and a question, which makes own
// time or transfers longer or shorter, takes one pass over it.
//
// What is computed is when each port starts, and by how much it ends later than recorded. A replay of nothing moves nothing, to the ns, and what a clock shows does not matter.
// Of several chains of a start those that came earlier have slack: by so much they may become longer before they move it.
//
// Times are int64 ns. The same job and questions give the same answers on any number of processors.
package replay

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"overlay/internal/par"
	"overlay/internal/ranks"
)

// Whole is the factor that changes nothing: factors count millionths.
const Whole = 1_000_000

// Model is a job made ready for replays.
type Model struct {
	Job *ranks.Job

	first  []int32 // per member: its first port; ports are its operations and last the end of its window
	member []int32 // per port

	of      []int32  // as Job.Of: the port that came next, within each instance
	early   []uint32 // as of: by how much the port came before the last of its stop, as recorded; tooEarly for so much or more
	stops   []stop   // by instance
	last    []int32  // per port: the stop at which it was free to end; -1 where nobody else is waited for
	order   []step
	Crossed int // instances that lead in a circle, since their operations were matched wrongly: nobody waits in them

	keys  [][]key           // per member: what parts may be of
	slots []map[int32]int32 // per member: the places of steps, from 1 on, by their numbers
	slot  []int32           // per port: that of its step, 0 for none; what comes behind the last operation is of the last step
	until []border          // of a job of which a step is looked at, per member: where that ends

	latency func() []int64 // per instance, see latencies
	joined  *joined        // nil: each collective is done by itself
	runs    *sync.Pool     // those that are over: a large job has no room for a new one with each question
}

// stop is a moment of an instance at which ports are free to end: so many of its members have come.
type stop struct {
	from, to int32 // those of them that had not come at the stop before it, places in of
	more     bool  // there is a stop before it
	came     int64 // when the last of them came, as recorded
}

// run is one replay.
type run struct {
	starts []int64 // per port: by how much it starts later than recorded
	later  []int64 // per port: by how much it ends later
	came   []int64 // per stop: by how much later all have come
}

// border is a moment between what happens to a member. It comes later by a mean of how much what is around it does.
type border struct {
	at       int64 // on the job's clock
	from, to int32 // ports: after the end of from, before the start of to; -1: nothing before it changes, the same: at the end of it
	share    float64
}

// key is what a part is of.
type key struct {
	Name string
	Work ranks.Work
}

// step is one thing to be computed: the start of a port, its end, or when the members of an instance up to a stop have come.
type step uint32

const (
	startOf = iota
	endOf
	cameOf
)

func stepOf(what uint32, at int32) step { return step(uint32(at)<<2 | what) }

func (s step) what() uint32 { return uint32(s & 3) }
func (s step) at() int32    { return int32(s >> 2) }

// New makes a job ready for replays. It is an error that a summary has no chains.
func New(j *ranks.Job) (*Model, error) {
	m, ports := &Model{Job: j}, 0
	for i := range j.Members {
		ports += len(j.Members[i].Ops) + 1
	}
	m.member, m.last, m.slot = make([]int32, 0, ports), slices.Repeat([]int32{-1}, ports), make([]int32, 0, ports) // a large job has no room for more
	for i := range j.Members {
		x := &j.Members[i]
		if !x.Chains.Known() {
			return nil, fmt.Errorf("nothing says what the collectives of rank %d followed from: its threads communicate themselves, or its summary is an older one: export that again", x.Rank)
		}
		m.first = append(m.first, int32(len(m.member)))
		for range len(x.Ops) + 1 {
			m.member = append(m.member, int32(i))
		}
		m.name(x)
	}
	m.first = append(m.first, int32(len(m.member)))
	m.latency = sync.OnceValue(m.latencies)
	m.instances()
	m.sort()
	m.runs = &sync.Pool{New: func() any {
		return &run{make([]int64, len(m.last)), make([]int64, len(m.last)), make([]int64, len(m.stops))}
	}}
	if j.Step >= 0 {
		for i := range j.Members {
			m.until = append(m.until, m.border(int32(i)))
		}
	}
	return m, nil
}

// border finds where the step that is looked at ends on a member. What leads over it is taken to be of that step.
func (m *Model) border(member int32) border {
	x, b := &m.Job.Members[member], border{at: m.Job.Window[0], from: -1, to: -1}
	for i := range x.Steps {
		if x.Steps[i].Number == m.Job.Step {
			b.at = max(b.at, min(x.Clock.Global(x.Steps[i].End), m.Job.Window[1]))
		}
	}
	for o := int32(len(x.Ops)); ; {
		p := m.first[member] + o
		from, ok := tight(x, o)
		if !ok {
			return b
		}
		at, start := x.Start, m.start(p)
		if o = from; o >= 0 {
			at = m.end(m.first[member] + o)
		}
		if b.at >= at {
			if b.to = p; o >= 0 {
				b.from = m.first[member] + o
			}
			if start > at {
				b.share = float64(b.at-at) / float64(start-at)
			}
			m.slot[p] = m.slots[member][m.Job.Step]
			return b
		}
		if o < 0 {
			return b
		}
		if p = m.first[member] + o; b.at >= m.start(p) { // in a transfer, or before it
			b.from, b.to = p, p
			return b
		}
	}
}

// tight is from what the start of an operation followed that nothing held up longer; false where it has no chain.
func tight(x *ranks.Member, op int32) (from int32, ok bool) {
	r, least := ranks.ChainReader{}, int64(0)
	for r.Read(x.Summary, op, 0); r.Next(); {
		if !ok || r.Slack < least {
			from, least, ok = r.From, r.Slack, true
		}
	}
	return from, ok
}

// later is by how much a step ends later on a member.
func (m *Model) later(b *border, x *run) int64 {
	switch {
	case b.to < 0:
		return 0
	case b.from == b.to:
		return x.later[b.to]
	}
	starts := x.starts[b.to]
	if b.from < 0 {
		return int64(b.share * float64(starts))
	}
	return x.later[b.from] + int64(b.share*float64(starts-x.later[b.from]))
}

// name finds of what parts and operations of a member are.
func (m *Model) name(x *ranks.Member) {
	keys, slots := make([]key, len(x.Chains.Of)), map[int32]int32{}
	for i, of := range x.Chains.Of {
		keys[i] = key{x.Names[of.Name], of.Work}
	}
	for i := range x.Steps {
		slots[x.Steps[i].Number] = int32(i) + 1
	}
	m.keys, m.slots = append(m.keys, keys), append(m.slots, slots)
	for i := range x.Ops {
		m.slot = append(m.slot, slots[x.Ops[i].Step])
	}
	m.slot = append(m.slot, int32(len(x.Steps)))
}

// instances says of each port whom it waited for: those of its instance that had come before it ended. Of a broadcast, which brings what its root has, that is
// so much before as the fastest of them took: who came later brought nothing that was waited for.
func (m *Model) instances() {
	j := m.Job
	m.of, m.early = make([]int32, len(j.Of)), make([]uint32, len(j.Of))
	type came struct {
		port       int32
		start, end int64
	}
	var list []came
	var until, ends []int32 // of each: the last that had come before it ended; and these, each once
	m.stops = make([]stop, 0, len(j.Instances))
	for i := range j.Instances {
		in := &j.Instances[i]
		list, until = list[:0], until[:0]
		for _, r := range j.Of[in.First : in.First+in.N] {
			p := m.first[r.Member] + r.Op
			list = append(list, came{p, m.start(p), m.end(p)})
		}
		if in.Solved {
			slices.SortFunc(list, func(a, b came) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.port, b.port)) })
		}
		for k := range list {
			m.of[int(in.First)+k] = list[k].port
		}
		if !in.Solved {
			continue
		}
		least := int64(0)
		if in.Coll == ranks.Broadcast || in.Coll == ranks.Scatter {
			least = list[0].end - list[0].start
			for _, x := range list {
				least = min(least, x.end-x.start)
			}
		}
		for k := range list {
			n, _ := slices.BinarySearchFunc(list, list[k].end-least+min(least, 1), func(x came, t int64) int { return cmp.Compare(x.start, t) })
			until = append(until, int32(max(n-1, k)))
		}
		ends = append(ends[:0], until...)
		slices.Sort(ends)
		ends = slices.Compact(ends)
		first, from := len(m.stops), in.First
		for _, n := range ends {
			m.stops = append(m.stops, stop{from, in.First + n + 1, from > in.First, list[n].start})
			for k := from; k <= in.First+n; k++ {
				m.early[k] = uint32(min(list[n].start-list[k-in.First].start, tooEarly))
			}
			from = in.First + n + 1
		}
		for k, n := range until {
			at, _ := slices.BinarySearch(ends, n)
			m.last[list[k].port] = int32(first + at)
		}
	}
}

// sort finds an order in which everything comes behind what it depends on: from each end back over what is not there yet. Clocks that are a little off do no harm to it.
func (m *Model) sort() {
	s := &sorter{Model: m, state: [3][]uint8{make([]uint8, len(m.last)), make([]uint8, len(m.last)), make([]uint8, len(m.stops))}}
	m.order = make([]step, 0, 2*len(m.last)+len(m.stops))
	for p := range m.last {
		s.visit(stepOf(endOf, int32(p)))
	}
}

// sorter brings a model into order.
type sorter struct {
	*Model
	state [3][]uint8 // per kind of step
	stack []waiting  // each waits for the next
	chain ranks.ChainReader
}

// waiting is a step with how far its sources are there, see source.
type waiting struct {
	step
	past int32
}

// What is known of a step.
const (
	fresh = iota
	open  // it is on the stack
	there
)

func (s *sorter) set(x step, state uint8) { s.state[x.what()][x.at()] = state }

func (s *sorter) push(x step) {
	s.set(x, open)
	s.stack = append(s.stack, waiting{step: x})
}

// visit brings a step into order, and all that it depends on before it.
func (s *sorter) visit(root step) {
	if s.state[root.what()][root.at()] == there {
		return
	}
	for s.push(root); len(s.stack) > 0; {
		top := &s.stack[len(s.stack)-1]
		source, past, ok := s.source(top.step, top.past)
		switch {
		case !ok:
			s.set(top.step, there)
			s.order, s.stack = append(s.order, top.step), s.stack[:len(s.stack)-1]
		case source == top.step || s.state[source.what()][source.at()] == there:
			top.past = past
		case s.state[source.what()][source.at()] == fresh:
			s.push(source)
		default:
			s.open(slices.IndexFunc(s.stack, func(w waiting) bool { return w.step == source }))
		}
	}
}

// source is one of the steps that a step depends on, itself for none, and how far one is then. The last result is false behind the last one.
func (s *sorter) source(x step, past int32) (source step, next int32, ok bool) {
	p := x.at()
	switch x.what() {
	case startOf:
		i := s.member[p]
		op := p - s.first[i]
		size := int32(s.Job.Members[i].Chains.Size(op))
		if past >= size {
			if past == size && s.joined != nil && s.joined.behind[p] >= 0 {
				return stepOf(startOf, s.joined.behind[p]), past + 1, true
			}
			return x, past, false
		}
		s.chain.Read(s.Job.Members[i].Summary, op, int(past))
		s.chain.Next()
		if next = size - int32(s.chain.Left()); s.chain.From < 0 || s.joined.drops(s.Model, p, &s.chain) {
			return x, next, true
		}
		return stepOf(endOf, s.first[i]+s.chain.From), next, true
	case cameOf:
		at := &s.stops[p]
		if past < at.to-at.from {
			return stepOf(startOf, s.of[at.to-1-past]), past + 1, true
		}
		return stepOf(cameOf, p-1), past + 1, past == at.to-at.from && at.more
	}
	switch {
	case s.joined != nil && s.joined.with[p] >= 0:
		return stepOf(endOf, s.joined.with[p]), 1, past == 0
	case s.last[p] >= 0:
		return stepOf(cameOf, s.last[p]), 1, past == 0
	}
	return stepOf(startOf, p), 1, past == 0
}

// open lets the members of an instance go that wait in a circle, which is what lies on the stack from a place on: each ends as long after its start as it did. It is the instance whose
// ends lie farthest apart.
func (s *sorter) open(from int) {
	at, in, apart := 0, int32(0), int64(-1)
	for k := from; k < len(s.stack); k++ {
		p := s.stack[k].at()
		if s.stack[k].what() != endOf || s.last[p] < 0 {
			continue
		}
		i := s.Job.Members[s.member[p]].In[p-s.first[s.member[p]]]
		lo, hi := int64(1)<<62, -int64(1)<<62
		for _, q := range s.members(i) {
			lo, hi = min(lo, s.end(q)), max(hi, s.end(q))
		}
		if hi-lo > apart {
			at, in, apart = k, i, hi-lo
		}
	}
	s.Crossed++
	for _, p := range s.members(in) {
		if s.state[endOf][p] != there { // else it had ended before the circle
			s.last[p] = -1
		}
	}
	for k := slices.IndexFunc(s.stack[:at+1], func(w waiting) bool { return w.what() == endOf && slices.Contains(s.members(in), w.at()) }); len(s.stack) > k+1; {
		s.set(s.stack[len(s.stack)-1].step, fresh)
		s.stack = s.stack[:len(s.stack)-1]
	}
	s.stack[len(s.stack)-1].past = 0
}

// members are the ports of an instance, by start.
func (m *Model) members(instance int32) []int32 {
	in := &m.Job.Instances[instance]
	return m.of[in.First : in.First+in.N]
}

// start is when a port started, on the job's clock.
func (m *Model) start(p int32) int64 {
	x := &m.Job.Members[m.member[p]]
	if o := int(p - m.first[m.member[p]]); o < len(x.Ops) {
		return x.Clock.Global(x.Ops[o].Start)
	}
	return x.End
}

// end is when it ended.
func (m *Model) end(p int32) int64 {
	x := &m.Job.Members[m.member[p]]
	if o := int(p - m.first[m.member[p]]); o < len(x.Ops) {
		return x.Clock.Global(max(x.Ops[o].Start, x.Ops[o].End))
	}
	return x.End
}

// came is when the last of those had come for whom a port waited, as recorded.
func (m *Model) came(p int32) int64 {
	if at := m.last[p]; at >= 0 {
		return m.stops[at].came
	}
	return m.start(p)
}

// transfer is what a port took from then on.
func (m *Model) transfer(p int32) int64 { return m.end(p) - m.came(p) }

// times multiplies ns with a factor in millionths.
func times(ns, factor int64) int64 {
	if factor == Whole {
		return ns
	}
	hi, lo := bits.Mul64(uint64(ns), uint64(factor))
	if hi >= Whole {
		return 1 << 60
	}
	q, _ := bits.Div64(hi, lo, Whole)
	return int64(min(q, 1<<60))
}

// Answer is what becomes of a job.
type Answer struct {
	Window int64 // how long it would have taken, ns
	Saved  int64 // less than zero where it takes longer
	Last   int32 // the member that would have ended it
}

// Recorded is how long the job took.
func (m *Model) Recorded() int64 { return m.Job.Window[1] - m.Job.Window[0] }

// Ask answers questions, side by side.
func (m *Model) Ask(list []Question) []Answer {
	out := make([]Answer, len(list))
	par.Each(len(list), func(i int) { out[i] = m.answer(list[i]) })
	return out
}

// Answers answers scenarios, side by side.
func (m *Model) Answers(list []Scenario) []Answer {
	out := make([]Answer, len(list))
	par.Each(len(list), func(i int) { out[i] = m.asked(&list[i]).answer(list[i].Ask) })
	return out
}

// asked is the model that a scenario is asked of.
func (m *Model) asked(x *Scenario) *Model { return cmp.Or(x.Of, m) }

// answer replays the job once.
func (m *Model) answer(q Question) Answer {
	x := m.replay(q)
	defer m.runs.Put(x)
	return m.answerOf(x)
}

// replay answers a question: who has looked at the run puts it back.
func (m *Model) replay(q Question) *run {
	x := m.runs.Get().(*run)
	chain, factors := ranks.ChainReader{}, make([]factors, len(m.Job.Members))
	for i := range factors {
		factors[i] = q(m, int32(i))
	}
	for _, s := range m.order {
		switch p := s.at(); s.what() {
		case startOf:
			x.starts[p] = m.startOf(p, &factors[m.member[p]], &chain, x)
			if m.joined != nil && m.joined.behind[p] >= 0 {
				x.starts[p] = max(x.starts[p], x.starts[m.joined.behind[p]]+m.start(m.joined.behind[p])-m.start(p))
			}
		case cameOf:
			at := &m.stops[p]
			t := int64(-none)
			for k, q := range m.of[at.from:at.to] {
				early := int64(m.early[int(at.from)+k])
				if early == tooEarly {
					early = at.came - m.start(q)
				}
				t = max(t, x.starts[q]-early)
			}
			if at.more {
				t = max(t, x.came[p-1]+m.stops[p-1].came-at.came)
			}
			x.came[p] = t
		case endOf:
			if m.joined != nil && m.joined.with[p] >= 0 {
				q := m.joined.with[p]
				x.later[p] = m.end(q) + x.later[q] - m.end(p)
				continue
			}
			t := x.starts[p]
			if at := m.last[p]; at >= 0 {
				t = x.came[at]
			}
			x.later[p] = t + m.moved(p, &factors[m.member[p]])
		}
	}
	return x
}

// answerOf is what a replay gave.
func (m *Model) answerOf(x *run) Answer {
	a := Answer{Window: -1 << 62}
	for i := range m.Job.Members {
		if p := m.first[i+1] - 1; m.until != nil {
			if t := m.until[i].at + m.later(&m.until[i], x) - m.Job.Window[0]; t > a.Window {
				a.Window, a.Last = t, int32(i)
			}
		} else if t := m.end(p) + x.later[p] - m.Job.Window[0]; t > a.Window {
			a.Window, a.Last = t, int32(i)
		}
	}
	a.Saved = m.Recorded() - a.Window
	return a
}

// moved is by how much longer the transfer of an operation takes.
func (m *Model) moved(p int32, f *factors) int64 {
	more := int64(0)
	if m.joined != nil {
		more = m.joined.more[p]
	}
	op := p - m.first[m.member[p]]
	if f.transfers == nil || int(op) >= len(f.x.Ops) {
		return more
	}
	took := m.transfer(p)
	bytes, latency := f.transfers[m.slot[p]][f.x.Ops[op].Kind], f.latencies[m.slot[p]][f.x.Ops[op].Kind]
	if bytes == latency {
		return times(took+more, bytes) - took
	}
	l := int64(0)
	if in := f.x.In[op]; in >= 0 {
		l = min(max(m.latency()[in], 0), took+more)
	}
	return times(l, latency) + times(took+more-l, bytes) - took
}

// tooEarly is what early cannot say.
const tooEarly = math.MaxUint32

// none is later than anything.
const none = 1 << 62

// startOf is by how much later an operation starts. What nothing explains is taken to stay.
func (m *Model) startOf(p int32, f *factors, chain *ranks.ChainReader, run *run) int64 {
	i := m.member[p]
	x, o := &m.Job.Members[i], p-m.first[i]
	var of []int64
	if f.work != nil {
		of = f.work[m.slot[p]]
	}
	later, least, begun := int64(-none), int64(none), int64(-none)
	for chain.Read(x.Summary, o, 0); chain.Next(); {
		t := int64(0)
		if least = min(least, chain.Slack); m.joined.drops(m, p, chain) {
			continue
		}
		if chain.From >= 0 {
			t = run.later[m.first[i]+chain.From]
		} else if early := x.Start - m.Job.Window[0]; early > 0 && f.before != Whole {
			t = times(early, f.before) - early
		}
		more := int64(0)
		if of != nil {
			for _, part := range chain.Parts() {
				more += times(part.NS, of[part.Of]) - part.NS
			}
		}
		if later = max(later, t+more-chain.Slack); chain.Early && chain.From >= 0 && chain.Len()+more < 0 { // it began before its source was over, but not before that began
			from := m.first[i] + chain.From
			begun = max(begun, run.starts[from]+m.start(from)-m.start(p))
		}
	}
	if least == none {
		return 0
	}
	return max(later+least, begun)
}
