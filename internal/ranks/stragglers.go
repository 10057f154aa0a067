package ranks

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"overlay/internal/stat"
)

// spell is a stretch of steps in which a member has more work than its peers: steps[from:to].
type spell struct {
	member   int32
	at       where
	from, to int
	what     CauseKind
	sum      int64 // of what is much in it
}

// stragglers finds who is slow. Each rank is judged by itself on either side: from which step on, and until which, it has more to do than its peers. Those of a unit that are slow
// together are one straggler. What is left of the steps is had by turns, or once.
func (j *judge) stragglers() (out []Straggler) {
	if s := j.slowStage(); s != nil {
		out = append(out, *s)
	}
	j.measureNoise()
	spells := j.spells()
	taken := map[[2]int32]bool{} // step and member
	for _, x := range spells {
		for _, s := range j.steps[x.from:x.to] {
			taken[[2]int32{s.Number, x.member}] = true
		}
	}
	for i := range spells {
		c, _ := j.cause(Persistent, spells[i].at, j.during(spells[i:i+1]), j.peers)
		spells[i].what = c.What
	}
	for _, t := range j.together(spells, j.units()) {
		out = append(out, j.straggler(Persistent, t.unit, t.spells[0].at, j.during(t.spells)))
	}
	if len(out) > 0 && out[0].Unit == "stage" { // ranks of the others wait for it each at another place
		return out
	}
	return append(out, j.byTurns(taken)...)
}

// spells are those of all members on both sides. Where they hold less than most of what is much on a side, it is had by turns.
func (j *judge) spells() (out []spell) {
	for at := range numWheres {
		all, part := int64(0), int64(0)
		for _, s := range j.steps {
			for _, e := range s.over[at] {
				if e >= max(noisy*j.noise[at], int64(hitShare*float64(s.length()))) {
					all += e
				}
			}
		}
		var list []spell
		for m := range j.Members {
			if at == onBoth && slices.ContainsFunc(out, func(x spell) bool { return x.member == int32(m) }) {
				continue
			}
			if x := j.spell(int32(m), at); x.sum > 0 {
				list = append(list, x)
				part += x.sum
			}
		}
		if 2*part > all {
			out = append(out, list...)
		}
	}
	slices.SortStableFunc(out, func(a, b spell) int { return cmp.Compare(b.sum, a.sum) })
	return out[:min(len(out), mostSpells)]
}

// noisy is how many times the noise of a step a member has to have more in one step; in n steps the noise of their mean is smaller, by √n.
const noisy = 6

// measureNoise finds by how much what members have beyond their peers differs from one step to the next, on each side: about one standard deviation. Members that are slow in all steps, or
// become slow once, add nothing, however many they are.
func (j *judge) measureNoise() {
	for at := range numWheres {
		var list []int64
		for i := 1; i < len(j.steps); i++ {
			for m, e := range j.steps[i].over[at] {
				list = append(list, abs(e-j.steps[i-1].over[at][m]))
			}
		}
		j.noise[at] = stat.Median(list)
	}
}

// plenty is the share of a step that a member has more, if that is so in more than four of five of all steps, whatever the noise is: on a shared machine steps differ by as much as what one of the ranks has four times the data of.
const plenty = 0.1

// pastTimes is how many times what a member otherwise has more or less than its peers it has more in a spell.
const pastTimes = 4

// mostSpells are judged: to compare names with all peers takes long.
const mostSpells = 32

// spell finds the steps in which a member has more than its peers, and how much more, 0 where it has no spell: those with the largest sum beyond half of what is much. Most of them have to be
// much, what is more has to be steady, much more than in the other steps, and more than noise or plenty: of a few ranks on a busy machine one has more in most of a few steps as a matter of course.
func (j *judge) spell(m int32, at where) (x spell) {
	from, best, run := 0, 0.0, 0.0
	for i, s := range j.steps {
		if run <= 0 {
			from, run = i, 0
		}
		run += min(max(float64(s.over[at][m])/float64(s.length()), 0), 2*hitShare) - hitShare/2
		if run > best {
			best, x = run, spell{member: m, at: at, from: from, to: i + 1}
		}
	}
	var more []int64
	hits, length, sum := 0, int64(0), int64(0)
	for i := x.from; i < x.to; i++ {
		s := j.steps[i]
		e := s.over[at][m]
		if float64(e) >= hitShare*float64(s.length()) {
			hits++
			sum += e
		}
		more = append(more, e)
		length += s.length()
	}
	n := x.to - x.from
	mid := stat.Median(slices.Clone(more))
	var other []int64 // of its own past and future
	for i, s := range j.steps {
		if i < x.from || i >= x.to {
			other = append(other, abs(s.over[at][m]))
		}
	}
	least := hitShare
	if n < 3 && n < len(j.steps) {
		least *= 2
	}
	noise := float64(noisy*j.noise[at]) / math.Sqrt(float64(n))
	if n == len(j.steps) && 5*hits > 4*n {
		noise = min(noise, plenty*float64(length)/float64(n))
	}
	if n >= 2 && float64(hits) >= oftenShare*float64(n) && float64(mid)*float64(n) >= least*float64(length) && mid >= pastTimes*stat.Median(other) && float64(mid) >= noise && steadily(more) {
		x.sum = sum
	}
	return x
}

// steadily reports whether something is more by more than it changes.
func steadily(more []int64) bool {
	mid := stat.Median(slices.Clone(more))
	return 2*mid > 3*stat.Spread(more, mid) // about one standard deviation
}

// during are the steps of some spells in which somebody has more, each with the member that has most in it.
func (j *judge) during(list []spell) (out []strike) {
	at := list[0].at
	for i, s := range j.steps {
		best := int32(-1)
		for _, x := range list {
			if x.from <= i && i < x.to && float64(s.over[at][x.member]) >= hitShare/2*float64(s.length()) && (best < 0 || s.over[at][x.member] > s.over[at][best]) {
				best = x.member
			}
		}
		if best >= 0 {
			out = append(out, strike{s, best, 0})
		}
	}
	return out
}

// byTurns finds what is left of the steps: ranks that have much more by turns, or one of them in a few steps.
func (j *judge) byTurns(taken map[[2]int32]bool) (out []Straggler) {
	var strikes, strong []strike
	for _, s := range j.steps {
		best, rest := int32(-1), []int64(nil)
		for m, e := range s.Excess {
			if taken[[2]int32{s.Number, int32(m)}] {
				continue
			}
			rest = append(rest, e)
			if best < 0 || e > s.Excess[best] {
				best = int32(m)
			}
		}
		if best < 0 {
			continue
		}
		e := s.Excess[best]
		rest = slices.Delete(rest, slices.Index(rest, e), slices.Index(rest, e)+1)
		mid := stat.Median(slices.Clone(rest))
		x := strike{s, best, float64(e) / float64(s.length())}
		if x.share < hitShare || e < 6*stat.Spread(rest, mid) {
			continue
		}
		strikes = append(strikes, x)
		if x.share >= alternatingShare {
			strong = append(strong, x)
		}
	}
	if len(strong) >= 2 && 2*len(strong) >= len(j.steps) && len(j.steps) >= 3 {
		u := unit{kind: "rank"}
		for _, x := range strong {
			if !slices.Contains(u.members, x.member) {
				u.members = append(u.members, x.member)
			}
		}
		slices.Sort(u.members)
		if x := j.straggler(Alternating, u, onBoth, strong); !x.Cause.vague() {
			return []Straggler{x}
		}
		return nil // of a busy machine each rank is late in some step
	}
	strikes = slices.DeleteFunc(strikes, func(x strike) bool { return x.share < oneOffShare || x.step.Excess[x.member] < noisy*j.noise[onBoth] })
	slices.SortStableFunc(strikes, func(a, b strike) int { return cmp.Compare(a.member, b.member) })
	for len(strikes) > 0 {
		n := 1
		for n < len(strikes) && strikes[n].member == strikes[0].member {
			n++
		}
		out = append(out, j.straggler(OneOff, unit{"rank", "", []int32{strikes[0].member}}, onBoth, strikes[:n]))
		strikes = strikes[n:]
	}
	return out
}

// unit is ranks that belong together.
type unit struct {
	kind, name string
	members    []int32
}

// units are the hosts and the tensor-parallel groups of a job. Where groups say nothing of what they are for, it may be any: the ranks of a stage of a pipeline share their gradients.
func (j *judge) units() (units []unit) {
	hosts := map[string]int{}
	for m, h := range j.hosts() {
		if h == "" {
			continue
		}
		at, ok := hosts[h]
		if !ok {
			at = len(units)
			hosts[h] = at
			units = append(units, unit{kind: "host", name: h})
		}
		units[at].members = append(units[at].members, int32(m))
	}
	for g := range j.Groups {
		x := &j.Groups[g]
		if (!x.Known || !isTensor(x.Desc)) && x.By != "times" {
			continue
		}
		units = append(units, unit{"group", x.Name, j.membersOf(x.Ranks)})
	}
	return slices.DeleteFunc(units, func(u unit) bool { return len(u.members) < 2 || len(u.members) == len(j.Members) })
}

// together are spells that are one straggler.
type together struct {
	unit
	spells []spell
}

// together puts spells together: those of units of which nearly all members are slow for one reason at one time, the one with most of them first, and of these the smallest.
func (j *judge) together(spells []spell, units []unit) (out []together) {
	of := map[int32][]spell{}
	for _, x := range spells {
		of[x.member] = append(of[x.member], x)
	}
	var all []together
	for _, u := range units {
		t, count := together{unit: u}, map[spell]int{}
		var most spell
		for _, m := range u.members {
			for _, x := range of[m] {
				x.member, x.sum = 0, 0
				if count[x]++; count[x] > count[most] {
					most = x
				}
			}
		}
		for _, m := range u.members {
			if i := slices.IndexFunc(of[m], func(x spell) bool { return x.with(&most) }); i >= 0 {
				t.spells = append(t.spells, of[m][i])
			}
		}
		if n := len(t.spells); n > 1 && 8*n >= 7*len(u.members) {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b together) int {
		return cmp.Or(cmp.Compare(len(b.spells), len(a.spells)), cmp.Compare(len(a.members), len(b.members)))
	})
	for _, x := range spells {
		all = append(all, together{unit{"rank", "", []int32{x.member}}, []spell{x}})
	}
	taken := map[spell]bool{}
	for _, t := range all {
		if slices.ContainsFunc(t.spells, func(x spell) bool { return taken[x] }) {
			continue
		}
		for _, x := range t.spells {
			taken[x] = true
		}
		out = append(out, t)
	}
	return out
}

// with reports whether two spells have one reason, and are in the same steps but for one at either end.
func (x *spell) with(y *spell) bool {
	return x.at == y.at && x.what == y.what && max(x.from-y.from, y.from-x.from) <= 1 && max(x.to-y.to, y.to-x.to) <= 1
}

// membersOf are the members of some ranks, both ascending.
func (j *Gathered) membersOf(list []Rank) (members []int32) {
	at := 0
	for m := range j.Members {
		for at < len(list) && list[at] < j.Members[m].Rank {
			at++
		}
		if at < len(list) && list[at] == j.Members[m].Rank {
			members = append(members, int32(m))
		}
	}
	return members
}

// hosts names the host of each member: as recorded, else by the rank of its device 0, where the devices of the job differ: else each process sees one only. It is empty where
// nothing tells.
func (j *Gathered) hosts() []string {
	list := make([]string, len(j.Members))
	differ := slices.ContainsFunc(j.Members, func(y Member) bool { return y.Device != j.Members[0].Device })
	for m := range j.Members {
		x := &j.Members[m]
		if list[m] = x.Host; x.Host == "" && differ && x.Device >= 0 && int32(x.Rank) >= x.Device {
			list[m] = "of rank " + itoa(int(int32(x.Rank)-x.Device))
		}
	}
	return list
}

// isTensor tells a tensor-parallel group by its description.
func isTensor(desc string) bool {
	desc = strings.ToUpper(desc)
	return strings.Contains(desc, "TENSOR") || slices.Contains(strings.FieldsFunc(desc, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }), "TP")
}

// straggler puts together what is known of one.
func (j *judge) straggler(kind StragglerKind, u unit, at where, hits []strike) Straggler {
	s := Straggler{Kind: kind, Unit: u.kind, Name: u.name, Members: u.members, From: -1, Until: -1, With: -1}
	slices.SortFunc(hits, func(a, b strike) int { return cmp.Compare(a.step.Start, b.step.Start) })
	whole := int64(0)
	for _, x := range hits {
		s.Steps, s.Who = append(s.Steps, x.step.Number), append(s.Who, x.member)
		if kind == Persistent {
			s.Excess += x.step.over[at][x.member]
		} else {
			s.Excess += x.step.Excess[x.member]
		}
		whole += x.step.length()
	}
	if whole > 0 {
		s.Share = float64(s.Excess) / float64(whole)
	}
	if n := len(s.Steps); kind == Persistent {
		if s.Steps[0] != j.steps[0].Number {
			s.From = s.Steps[0]
		}
		if s.Steps[n-1] != j.steps[len(j.steps)-1].Number {
			s.Until = s.Steps[n-1]
		}
	}
	s.Cause, s.Names = j.cause(kind, at, hits, j.peers)
	return s
}

// Limits of weighing.
const (
	weighed    = 8     // stragglers of which it is asked what each costs: a question goes through the whole job
	idleShare  = 0.005 // of a step: who costs less is not waited for
	idleCaused = 0.25  // of all waits: who causes as much is waited for, whatever it costs
)

// Weigh asks what each straggler costs, alone, beside the others, and with another one where it alone costs little; it orders them by that, and tells apart those that nobody
// waits for. gains says of sets of them, by their places in the list, by how much the job ends earlier without all of a set.
func (v *Verdict) Weigh(j *Job, gains func(sets [][]int) []int64) {
	list := v.Stragglers
	ask := list[:min(len(list), weighed)]
	all := make([]int, len(ask))
	for i := range all {
		all[i] = i
	}
	sets := [][]int{all}
	for i := range ask {
		sets = append(sets, []int{i}, slices.Delete(slices.Clone(all), i, i+1))
	}
	if len(ask) == 0 {
		return
	}
	for i, saved := 0, gains(sets); i < len(ask); i++ {
		s := &ask[i]
		s.Gain, s.Stays = saved[1+2*i], max(0, saved[0]-saved[2+2*i])
	}
	inPairs(ask, gains)
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].Worth(), list[a].Worth()) })
	v.Stragglers = nil
	at := slices.Repeat([]int{-1}, len(list)) // per place in list: that among those who are named
	for _, i := range order {
		s := &list[i]
		caused := int64(0)
		for _, m := range s.Members {
			caused += j.Waits.ByMember[m].Caused
		}
		if _, share := s.PerStep(s.Worth()); share < idleShare && (j.Waits.Total == 0 || float64(caused) < idleCaused*float64(j.Waits.Total)) {
			v.Idle = append(v.Idle, *s)
		} else {
			at[i] = len(v.Stragglers)
			v.Stragglers = append(v.Stragglers, *s)
		}
	}
	for i := range v.Stragglers {
		if s := &v.Stragglers[i]; s.With >= 0 {
			s.With = at[s.With]
		}
	}
}

// inPairs handles stragglers that gain little alone because another rank is as slow: it finds for each the partner with the largest common gain.
func inPairs(list []Straggler, gains func(sets [][]int) []int64) {
	var pairs [][]int
	for i := range list {
		for k := range list {
			if i != k && 2*list[i].Gain < list[i].Stays {
				pairs = append(pairs, []int{i, k})
			}
		}
	}
	if len(pairs) == 0 {
		return
	}
	for n, both := range gains(pairs) {
		s, o := &list[pairs[n][0]], &list[pairs[n][1]]
		if _, share := s.PerStep(both); both > s.Both && both >= 2*(max(s.Gain, 0)+max(o.Gain, 0)) && share >= idleShare {
			s.Both, s.With = both, pairs[n][1]
		}
	}
}

// Hits reports whether a straggler is slow by a member in a step.
func (s *Straggler) Hits(member, step int32) bool {
	if s.Kind == Persistent {
		return (s.From < 0 || step >= s.From) && (s.Until < 0 || step <= s.Until) && slices.Contains(s.Members, member)
	}
	i := slices.Index(s.Steps, step)
	return i >= 0 && s.Who[i] == member
}

// span counts the steps in which a straggler hits, and those between them that are not whole.
func (s *Straggler) span(j *judge) {
	from, until := s.Steps[0], s.Steps[len(s.Steps)-1]
	if j.Step >= 0 {
		s.Count = 1
	} else if s.Kind != Persistent {
		s.Count = len(s.Steps)
	} else {
		seen := map[int32]bool{}
		for m := range j.Members {
			for i := range j.Members[m].Steps {
				if n := j.Members[m].Steps[i].Number; (s.From < 0 || n >= from) && (s.Until < 0 || n <= until) {
					seen[n] = true
				}
			}
		}
		s.Count = len(seen)
	}
	n := int64(0)
	for _, x := range j.steps {
		if slices.Contains(s.Steps, x.Number) {
			s.step += x.Duration
			n++
		}
	}
	s.step /= max(n, 1)
}
