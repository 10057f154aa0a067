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
// What is computed is by how much each start and each end is later than recorded. A replay of nothing moves nothing, to the ns, and what a clock shows does not matter. Of
// several chains of a start those that came earlier have slack: by so much they may become longer before they move it.
//
// Times are int64 ns. The same job and questions give the same answers on any number of processors.
package replay

import (
	"cmp"
	"fmt"
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
	slack  []int64 // per chain of all members, in order: how much later it may end and move nothing
	chains []int32 // per member: its first chain in slack
	start  []int64 // per port: recorded, on the job's clock

	of       []int32 // as Job.Of: the port that came next, within each instance
	last     []int32 // per port: place in of of the last that had come before it ended; -1 where nobody else is waited for
	transfer []int64 // per port: from then to its end
	before   []bool  // per place in of: there is one before it in its instance
	order    []step
	Crossed  int // instances that lead in a circle, since their operations were matched wrongly: nobody waits in them

	keys  [][]key           // per member: what parts may be of
	keyOf [][]uint8         // per member and part
	slots []map[int32]int32 // per member: the places of steps, from 1 on, by their numbers
	slot  []int32           // per port: that of its step, 0 for none; what comes behind the last operation is of the last step
	until []border          // of a job of which a step is looked at, per member: where that ends

	latency func() []int64 // per instance, see latencies
	joined  *joined        // nil: each collective is done by itself
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

// step is one thing to be computed: the start of a port, its end, or when the members of an instance up to a place have come.
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
	m, ports, chains := &Model{Job: j}, 0, 0
	for i := range j.Members {
		ports, chains = ports+len(j.Members[i].Ops)+1, chains+len(j.Members[i].Chains)
	}
	m.member, m.last, m.slot = make([]int32, 0, ports), make([]int32, 0, ports), make([]int32, 0, ports) // a large job has no room for more
	m.start, m.transfer = make([]int64, 0, ports), make([]int64, 0, ports)
	m.slack = make([]int64, 0, chains)
	for i := range j.Members {
		x := &j.Members[i]
		if x.ChainFirst == nil {
			return nil, fmt.Errorf("nothing says what the collectives of rank %d followed from: its threads communicate themselves, or its summary is an older one: export that again", x.Rank)
		}
		m.first, m.chains = append(m.first, int32(len(m.start))), append(m.chains, int32(len(m.slack)))
		for k := range x.Ops {
			s, e := x.Clock.Global(x.Ops[k].Start), x.Clock.Global(x.Ops[k].End)
			m.port(int32(i), s, max(s, e))
		}
		m.port(int32(i), x.End, x.End)
		m.slacks(x)
		m.name(x)
	}
	m.first = append(m.first, int32(len(m.start)))
	m.latency = sync.OnceValue(m.latencies)
	m.instances()
	m.sort()
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
		k := x.ChainFirst[o]
		for ; k+1 < x.ChainFirst[o+1] && m.slack[m.chains[member]+k] > 0; k++ {
		}
		if k == x.ChainFirst[o+1] {
			return b
		}
		at := x.Start
		if o = x.Chains[k].From; o >= 0 {
			at = m.end(m.first[member] + o)
		}
		if b.at >= at {
			if b.to = p; o >= 0 {
				b.from = m.first[member] + o
			}
			if m.start[p] > at {
				b.share = float64(b.at-at) / float64(m.start[p]-at)
			}
			m.slot[p] = m.slots[member][m.Job.Step]
			return b
		}
		if o < 0 {
			return b
		}
		if p = m.first[member] + o; b.at >= m.start[p] { // in a transfer, or before it
			b.from, b.to = p, p
			return b
		}
	}
}

// later is by how much a step ends later on a member.
func (m *Model) later(b *border, starts, ends []int64) int64 {
	switch {
	case b.to < 0:
		return 0
	case b.from == b.to:
		return ends[b.to]
	case b.from < 0:
		return int64(b.share * float64(starts[b.to]))
	}
	return ends[b.from] + int64(b.share*float64(starts[b.to]-ends[b.from]))
}

func (m *Model) port(member int32, start, end int64) {
	m.member, m.start = append(m.member, member), append(m.start, start)
	m.last, m.transfer = append(m.last, -1), append(m.transfer, end-start)
}

// slacks says of each chain of a member how much earlier it was over than the last one of the same start.
func (m *Model) slacks(x *ranks.Member) {
	for i := range x.Stubs {
		at, least := x.Window[1], int64(1)<<62
		if i < len(x.Ops) {
			at = x.Ops[i].Start
		}
		from := len(m.slack)
		for k := x.ChainFirst[i]; k < x.ChainFirst[i+1]; k++ {
			s := at - x.ChainFrom(&x.Chains[k]) - x.ChainLen(k)
			m.slack = append(m.slack, s)
			least = min(least, s)
		}
		for k := range m.slack[from:] { // what nothing explains is taken to stay
			m.slack[from+k] -= least
		}
	}
}

// name numbers what the parts of a member are of, and its steps.
func (m *Model) name(x *ranks.Member) {
	index, of := map[ranks.Part]uint8{}, make([]uint8, len(x.Parts))
	var keys []key
	for i, p := range x.Parts {
		p.NS = 0
		k, ok := index[p]
		if !ok && len(keys) < 255 {
			k = uint8(len(keys))
			index[p], keys = k, append(keys, key{x.Names[p.Name], p.Work})
		} else if !ok {
			k = index[ranks.Part{Work: p.Work}]
		}
		of[i] = k
	}
	slots := map[int32]int32{}
	for i := range x.Steps {
		slots[x.Steps[i].Number] = int32(i) + 1
	}
	m.keys, m.keyOf, m.slots = append(m.keys, keys), append(m.keyOf, of), append(m.slots, slots)
	for i := range x.Ops {
		m.slot = append(m.slot, slots[x.Ops[i].Step])
	}
	m.slot = append(m.slot, int32(len(x.Steps)))
}

// instances says of each port whom it waited for: those of its instance that had come before it ended. Of a broadcast, which brings what its root has, that is
// so much before as the fastest of them took: who came later brought nothing that was waited for.
func (m *Model) instances() {
	j := m.Job
	m.of, m.before = make([]int32, len(j.Of)), make([]bool, len(j.Of))
	for i := range j.Instances {
		in := &j.Instances[i]
		list := m.of[in.First : in.First+in.N]
		for k, r := range j.Of[in.First : in.First+in.N] {
			list[k] = m.first[r.Member] + r.Op
		}
		if !in.Solved {
			continue
		}
		slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(m.start[a], m.start[b]), cmp.Compare(a, b)) })
		least := int64(0)
		if in.Coll == ranks.Broadcast || in.Coll == ranks.Scatter {
			least = m.transfer[list[0]]
			for _, p := range list {
				least = min(least, m.transfer[p])
			}
		}
		for k, p := range list {
			end := m.start[p] + m.transfer[p]
			n, _ := slices.BinarySearchFunc(list, end-least+min(least, 1), func(q int32, t int64) int { return cmp.Compare(m.start[q], t) })
			n = max(n-1, k)
			m.before[int(in.First)+k] = k > 0
			m.last[p], m.transfer[p] = in.First+int32(n), end-m.start[list[n]]
		}
	}
}

// sort finds an order in which everything comes behind what it depends on: from each end back over what is not there yet. Clocks that are a little off do no harm to it.
func (m *Model) sort() {
	s := &sorter{Model: m, state: [3][]uint8{make([]uint8, len(m.start)), make([]uint8, len(m.start)), make([]uint8, len(m.of))}}
	m.order = make([]step, 0, 2*len(m.start)+len(m.of))
	for p := range m.start {
		s.visit(stepOf(endOf, int32(p)))
	}
}

// sorter brings a model into order.
type sorter struct {
	*Model
	state [3][]uint8 // per kind of step
	stack []waiting  // each waits for the next
}

// waiting is a step with how many of its sources are there.
type waiting struct {
	step
	there int32
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
		source, ok := s.source(top.step, top.there)
		switch {
		case !ok:
			s.set(top.step, there)
			s.order, s.stack = append(s.order, top.step), s.stack[:len(s.stack)-1]
		case source == top.step || s.state[source.what()][source.at()] == there:
			top.there++
		case s.state[source.what()][source.at()] == fresh:
			s.push(source)
		default:
			s.open(slices.IndexFunc(s.stack, func(w waiting) bool { return w.step == source }))
		}
	}
}

// source is one of the steps that a step depends on; itself for none. The last result is false behind the last one.
func (s *sorter) source(x step, n int32) (step, bool) {
	p := x.at()
	switch x.what() {
	case startOf:
		i := s.member[p]
		y := &s.Job.Members[i]
		k := y.ChainFirst[p-s.first[i]] + n
		if last := y.ChainFirst[p-s.first[i]+1]; k == last && s.joined != nil && s.joined.behind[p] >= 0 {
			return stepOf(startOf, s.joined.behind[p]), true
		} else if k >= last {
			return x, false
		}
		if s.slack[s.chains[i]+k] == dropped {
			return x, true
		}
		if from := y.Chains[k].From; from >= 0 {
			return stepOf(endOf, s.first[i]+from), true
		}
		return x, true
	case cameOf:
		if n == 0 {
			return stepOf(startOf, s.of[p]), true
		}
		return stepOf(cameOf, p-1), n == 1 && s.before[p]
	}
	switch {
	case s.joined != nil && s.joined.with[p] >= 0:
		return stepOf(endOf, s.joined.with[p]), n == 0
	case s.last[p] >= 0:
		return stepOf(cameOf, s.last[p]), n == 0
	}
	return stepOf(startOf, p), n == 0
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
			s.transfer[p], s.last[p] = s.end(p)-s.start[p], -1
		}
	}
	for k := slices.IndexFunc(s.stack[:at+1], func(w waiting) bool { return w.what() == endOf && slices.Contains(s.members(in), w.at()) }); len(s.stack) > k+1; {
		s.set(s.stack[len(s.stack)-1].step, fresh)
		s.stack = s.stack[:len(s.stack)-1]
	}
	s.stack[len(s.stack)-1].there = 0
}

// members are the ports of an instance, by start.
func (m *Model) members(instance int32) []int32 {
	in := &m.Job.Instances[instance]
	return m.of[in.First : in.First+in.N]
}

// end is when a port ended, on the job's clock.
func (m *Model) end(p int32) int64 { return m.came(p) + m.transfer[p] }

// came is when the last of those had come for whom a port waited, as recorded.
func (m *Model) came(p int32) int64 {
	if at := m.last[p]; at >= 0 {
		p = m.of[at]
	}
	return m.start[p]
}

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
	starts, ends, _ := m.replay(q)
	return m.answerOf(starts, ends)
}

// replay is by how much each port starts and ends later, and when those had come up to a place.
func (m *Model) replay(q Question) (starts, ends, came []int64) {
	starts, ends, came = make([]int64, len(m.start)), make([]int64, len(m.start)), make([]int64, len(m.of))
	factors := make([]factors, len(m.Job.Members))
	for i := range factors {
		factors[i] = q(m, int32(i))
	}
	for _, x := range m.order {
		switch p := x.at(); x.what() {
		case startOf:
			starts[p] = m.startLater(p, &factors[m.member[p]], starts, ends)
			if m.joined != nil && m.joined.behind[p] >= 0 {
				q := m.joined.behind[p]
				starts[p] = max(starts[p], m.start[q]+starts[q]-m.start[p])
			}
		case cameOf:
			t := m.start[m.of[p]] + starts[m.of[p]]
			if m.before[p] {
				t = max(t, came[p-1])
			}
			came[p] = t
		case endOf:
			if m.joined != nil && m.joined.with[p] >= 0 {
				q := m.joined.with[p]
				ends[p] = m.end(q) + ends[q] - m.end(p)
				continue
			}
			t := m.start[p] + starts[p]
			if at := m.last[p]; at >= 0 {
				t = came[at]
			}
			ends[p] = t - m.came(p) + m.moved(p, &factors[m.member[p]]) - m.transfer[p]
		}
	}
	return starts, ends, came
}

// answerOf is what a replay gave.
func (m *Model) answerOf(starts, ends []int64) Answer {
	a := Answer{Window: -1 << 62}
	for i := range m.Job.Members {
		if p := m.first[i+1] - 1; m.until != nil {
			if t := m.until[i].at + m.later(&m.until[i], starts, ends) - m.Job.Window[0]; t > a.Window {
				a.Window, a.Last = t, int32(i)
			}
		} else if t := m.end(p) + ends[p] - m.Job.Window[0]; t > a.Window {
			a.Window, a.Last = t, int32(i)
		}
	}
	a.Saved = m.Recorded() - a.Window
	return a
}

// moved is what the transfer of an operation takes.
func (m *Model) moved(p int32, f *factors) int64 {
	took, i := m.transfer[p], m.member[p]
	if m.joined != nil {
		took += m.joined.more[p]
	}
	op := p - m.first[i]
	if f.transfers == nil || int(op) >= len(f.x.Ops) {
		return took
	}
	bytes, latency := f.transfers[m.slot[p]][f.x.Ops[op].Kind], f.latencies[m.slot[p]][f.x.Ops[op].Kind]
	if bytes == latency {
		return times(took, bytes)
	}
	l := int64(0)
	if in := f.x.In[op]; in >= 0 {
		l = min(max(m.latency()[in], 0), took)
	}
	return times(l, latency) + times(took-l, bytes)
}

// startLater is by how much an operation starts later than it did.
func (m *Model) startLater(p int32, f *factors, starts, ends []int64) int64 {
	i := m.member[p]
	x, o := &m.Job.Members[i], p-m.first[i]
	from, to := x.ChainFirst[o], x.ChainFirst[o+1]
	if from == to {
		return 0
	}
	var of []int64
	if f.work != nil {
		of = f.work[m.slot[p]]
	}
	best := -int64(1) << 62
	for k := from; k < to; k++ {
		c := &x.Chains[k]
		t := -m.slack[m.chains[i]+k]
		if c.From >= 0 {
			t += ends[m.first[i]+c.From]
		} else if early := x.Start - m.Job.Window[0]; early > 0 && f.before != Whole {
			t += times(early, f.before) - early
		}
		long := c.Fixed
		if of != nil || long < 0 {
			parts := x.PartsOf(k)
			for n := range parts {
				ns := parts[n].NS
				if long += ns; of != nil {
					then := times(ns, of[m.keyOf[i][int(c.First)+n]])
					t, long = t+then-ns, long+then-ns
				}
			}
		}
		if best = max(best, t); long < 0 && c.From >= 0 { // it began before its source was over, but not before that began
			from := m.first[i] + c.From
			best = max(best, m.start[from]+starts[from]-m.start[p])
		}
	}
	return best
}
