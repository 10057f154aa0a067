package ranks

import "math"

// leap is a jump of the clock of a member: by shift, between two times of the job.
type leap struct {
	member   int32
	from, to int64
	shift    int64
}

// leap is a jump with which a piece begins. As times on each side of it may be off by the jump, it is taken to be anywhere within
// that.
func (c *Clock) leap(piece int) (from, to, shift int64) {
	p, q := &c.Pieces[piece-1], &c.Pieces[piece]
	shift = q.Offset - p.Offset
	return q.Unsure[0] - p.Offset - abs(shift), q.Unsure[1] - q.Offset + abs(shift), shift
}

// moved is by how much a clock jumped between two times of the job, or near them.
func (c *Clock) moved(from, to int64) int64 {
	sum := int64(0)
	for i := 1; i < len(c.Pieces); i++ {
		if a, b, shift := c.leap(i); a <= to && b >= from {
			sum += shift
		}
	}
	return sum
}

// witnesses are the members of a host by what they say of a jump: those that made it, those that took part in something on both
// sides of it and did not, and those that cannot tell.
type witnesses struct{ with, against, blind []int32 }

// eachLeap visits the jumps of the clocks of each host. The ranks of a host read one clock, so they jump together. seen gives of each member the
// first and the last end of what it took part in, on the job's clock.
func (j *Job) eachLeap(visit func(l *leap, w *witnesses, seen [][2]int64)) {
	jumped := false
	hosts := map[string][]int32{}
	var order []string
	for m := range j.Members {
		x := &j.Members[m]
		jumped = jumped || len(x.Clock.Pieces) > 1
		if x.Host == "" || x.Clock.Observations == 0 {
			continue
		}
		if hosts[x.Host] == nil {
			order = append(order, x.Host)
		}
		hosts[x.Host] = append(hosts[x.Host], int32(m))
	}
	if !jumped {
		return
	}
	seen := j.attended()
	for _, host := range order {
		members := hosts[host]
		for leaps := j.leaps(members); len(leaps) > 0; {
			l := leaps[0]
			visit(&l, j.witnesses(&l, members, seen), seen)
			rest := leaps[:0]
			for _, x := range leaps[1:] {
				if x.from > l.to || x.to < l.from || abs(x.shift-l.shift) >= abs(l.shift)/4 {
					rest = append(rest, x)
				}
			}
			leaps = rest
		}
	}
}

func (j *Job) attended() [][2]int64 {
	seen := make([][2]int64, len(j.Members))
	for m := range seen {
		seen[m] = [2]int64{math.MaxInt64, math.MinInt64}
	}
	for i := range j.Instances {
		if in := &j.Instances[i]; in.Coll.meets() || in.Coll == Other {
			for _, r := range j.refs(i) {
				m := &j.Members[r.Member]
				t := m.Clock.Global(m.Ops[r.Op].End)
				seen[r.Member] = [2]int64{min(seen[r.Member][0], t), max(seen[r.Member][1], t)}
			}
		}
	}
	return seen
}

func (j *Job) leaps(members []int32) (list []leap) {
	for _, m := range members {
		c := &j.Members[m].Clock
		for i := 1; i < len(c.Pieces); i++ {
			if from, to, shift := c.leap(i); abs(shift) > jumpLeast/2 {
				list = append(list, leap{m, from, to, shift})
			}
		}
	}
	return list
}

func (j *Job) witnesses(l *leap, members []int32, seen [][2]int64) *witnesses {
	w := &witnesses{}
	for _, m := range members {
		c := &j.Members[m].Clock
		switch {
		case c.Component != j.Members[l.member].Clock.Component:
		case abs(c.moved(l.from, l.to)-l.shift) < abs(l.shift)/4:
			w.with = append(w.with, m)
		case seen[m][0] <= l.from && seen[m][1] >= l.to:
			w.against = append(w.against, m)
		case len(c.Pieces) == 1:
			w.blind = append(w.blind, m)
		}
	}
	return w
}

// tellMates gives jumps to the ranks of a host that cannot see them, because they took part in nothing on one side.
func (j *Job) tellMates() {
	j.eachLeap(func(l *leap, w *witnesses, seen [][2]int64) {
		if len(w.with) > len(w.against) {
			for _, m := range w.blind {
				j.tell(m, l, seen[m])
			}
		}
	})
}

// tell gives a clock of one piece a jump that others saw, if it lies inside the window of its rank.
func (j *Job) tell(member int32, l *leap, seen [2]int64) {
	x := &j.Members[member]
	c, w := &x.Clock, x.Window
	first, second := c.Pieces[0], c.Pieces[0]
	if seen[1] > l.to { // what it took part in comes after the jump
		first.Offset -= l.shift
	} else {
		second.Offset += l.shift
	}
	second.Unsure = [2]int64{l.from + min(first.Offset, second.Offset), l.to + max(first.Offset, second.Offset)}
	if second.From = l.from + first.Offset + 1; second.From < w[0] || second.From > w[1] {
		return
	}
	c.Pieces = []Piece{first, second}
	c.Error += j.Members[l.member].Clock.Error
}

// doubtJumps adds to the errors of clocks what speaks against their jumps: a rank that moved otherwise than most of its host may be matched
// wrongly on one side, and so may one with a jump whose groups are known by nothing but ends.
func (j *Job) doubtJumps() {
	doubt := make([]int64, len(j.Members))
	j.eachLeap(func(l *leap, w *witnesses, _ [][2]int64) {
		if len(w.with) >= len(w.against) {
			for _, m := range w.against {
				doubt[m] = max(doubt[m], abs(j.Members[m].Clock.moved(l.from, l.to)-l.shift))
			}
		}
		if len(w.with) <= len(w.against) {
			for _, m := range w.with {
				doubt[m] = max(doubt[m], abs(l.shift))
			}
		}
	})
	for m := range j.Members {
		x := &j.Members[m]
		guessed := false
		for _, g := range x.group {
			guessed = guessed || j.Groups[g].By == "times"
		}
		for i := 1; i < len(x.Clock.Pieces) && guessed; i++ {
			doubt[m] = max(doubt[m], abs(x.Clock.Pieces[i].Offset-x.Clock.Pieces[i-1].Offset))
		}
		x.Clock.Error += doubt[m]
	}
}
