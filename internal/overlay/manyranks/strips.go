package manyranks

import (
	"slices"
	"sort"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
)

// part is what a rank does in a piece of its strip.
type part uint8

const (
	own        part = iota // work of its own
	waits                  // in a collective, for the rank that comes last
	transfers              // in a collective, after the last one came
	collective             // in a collective that was not matched: what of it is waiting nobody can say
	late                   // its trace has not begun
	absentee               // in a collective, for a rank without a trace
)

// piece is a stretch of a strip.
type piece struct {
	start, end int64
	whom       int32 // member that is waited for
	instance   int32 // of a collective, -1
	part       part
	path       bool           // the path runs here
	class      critpath.Class // of own work, the class with most time
	most       int64          // and its time
}

// strip is a rank from left to right: where the path runs on it what the path is in, else its own path, which shows of
// collectives only what no work of its own hides.
type strip []piece

// stripOf makes the strip of a member. stays are those of the path on it.
func stripOf(j *ranks.Job, member int32) strip {
	var alone []ranks.Segment
	j.Alone(member, func(s ranks.Segment) { alone = append(alone, s) })
	slices.Reverse(alone)
	b := stripBuilder{j: j, member: member}
	k := 0
	beside := func(to int64) { // its own path up to a moment
		for ; k < len(alone) && alone[k].Start < to; k++ {
			s := alone[k]
			if s.Start, s.End = max(s.Start, b.at), min(s.End, to); s.Start < s.End {
				b.add(&s, false)
			}
			if alone[k].End > to {
				break
			}
		}
	}
	b.at = j.Window[0]
	for i := range j.Stays {
		st := &j.Stays[i]
		if st.Member != member {
			continue
		}
		beside(st.Start)
		b.close()
		b.at = st.Start
		first := sort.Search(len(j.Path), func(k int) bool { return j.Path[k].End > st.Start })
		for n := first; n < len(j.Path) && j.Path[n].Start < st.End; n++ {
			s := j.Path[n]
			if s.Start, s.End = max(s.Start, st.Start), min(s.End, st.End); s.Start < s.End {
				b.add(&s, true)
			}
		}
		b.close()
		b.at = st.End
	}
	beside(j.Window[1])
	b.close()
	return b.out
}

// stripBuilder joins segments of one part.
type stripBuilder struct {
	j      *ranks.Job
	member int32
	at     int64 // where it is
	open   piece
	class  byClass // of open
	out    strip
}

// add appends a segment; a collective may be two pieces.
func (b *stripBuilder) add(s *ranks.Segment, path bool) {
	p := piece{start: s.Start, end: s.End, whom: -1, instance: s.Instance, path: path}
	switch s.Kind {
	case critpath.Unrecorded:
		p.part = late
	case critpath.MissingRank:
		p.part = absentee
	case critpath.Comm:
		p.part = collective
		if s.Instance < 0 || !b.j.Instances[s.Instance].Solved {
			break
		}
		in := &b.j.Instances[s.Instance]
		p.part = transfers
		if path || in.Last == b.member || in.Arrive <= s.Start { // the path goes to the rank that came last: what is on it is no wait
			break
		}
		wait := p
		wait.part, wait.whom, wait.end = waits, in.Last, min(in.Arrive, s.End)
		b.put(wait, nil)
		p.start = wait.end
	default:
		var class byClass
		class[s.Kind.Class()] = s.End - s.Start
		b.put(p, &class)
		return
	}
	b.put(p, nil)
}

func (b *stripBuilder) put(p piece, class *byClass) {
	if p.start >= p.end {
		return
	}
	b.at = p.end
	if o := &b.open; o.end != p.start || o.start == o.end || o.part != p.part || o.path != p.path || p.part != own && o.instance != p.instance {
		b.close()
		b.open, b.class = p, byClass{}
	}
	b.open.end = p.end
	if class != nil {
		for c, ns := range class {
			b.class[c] += ns
		}
	}
}

func (b *stripBuilder) close() {
	if b.open.start < b.open.end {
		b.open.class = critpath.BoundBy(&b.class)
		b.open.most = b.class[b.open.class]
		b.out = append(b.out, b.open)
	}
	b.open = piece{}
}

// thin joins pieces that are shorter than least to the one before them, where both are of one stay of the path or of none.
func (s strip) thin(least int64) strip {
	n := 0
	for _, x := range s {
		if n > 0 && s[n-1].end == x.start && s[n-1].path == x.path && !x.path && (x.end-x.start < least || s[n-1].end-s[n-1].start < least) {
			p := &s[n-1]
			if x.end-x.start > p.end-p.start {
				x.start = p.start
				*p = x
			} else {
				p.end = x.end
			}
			continue
		}
		s[n] = x
		n++
	}
	return slices.Clip(s[:n])
}

// jumps gives each step of the path from rank to rank an arrow: from the last piece of the path on the one to the first on the
// other, and, if the rank that came last is drawn, over its operation.
func (p *Picture) jumps(place map[int32]int) {
	j := p.j
	for i := 1; i < len(j.Stays); i++ {
		from, to := &j.Stays[i-1], &j.Stays[i]
		a, okA := place[from.Member]
		b, okB := place[to.Member]
		if from.Member == to.Member || !okA || !okB {
			continue
		}
		id := uint32(i)
		x, y := p.strips[from.Member].ending(from.End), p.strips[to.Member].beginning(to.Start)
		if x < 0 || y < 0 {
			continue
		}
		p.end(a, x, id)
		p.end(b, y, id)
		m := &j.Members[from.Member]
		if p.o.Drawn != nil && p.o.Drawn[from.Member] && int(from.Op) < len(m.Ops) && m.Clock.Global(m.Ops[from.Op].Start) <= from.End {
			p.kernels = append(p.kernels, kernel{from.Member, m.Ops[from.Op].Event, id})
		}
	}
}

// ending is the piece that ends at a moment, -1 without.
func (s strip) ending(t int64) int32 {
	i := sort.Search(len(s), func(i int) bool { return s[i].end >= t })
	if i == len(s) || s[i].end != t {
		return -1
	}
	return int32(i)
}

// beginning is the piece that begins at a moment, -1 without.
func (s strip) beginning(t int64) int32 {
	i := sort.Search(len(s), func(i int) bool { return s[i].start >= t })
	if i == len(s) || s[i].start != t {
		return -1
	}
	return int32(i)
}
