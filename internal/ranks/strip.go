package ranks

import (
	"slices"
	"sort"

	"overlay/internal/critpath"
)

// StripPart is what a rank does in a piece of its strip.
type StripPart uint8

const (
	Works      StripPart = iota // work of its own
	InWait                      // in a collective, for the rank that comes last
	Transfers                   // in a collective, after the last one came
	Collective                  // in a collective that was not matched: what of it is waiting nobody can say
	Late                        // its trace has not begun
	Absent                      // in a collective, for a rank without a trace
)

// StripPiece is a stretch of a strip.
type StripPiece struct {
	Start, End int64
	Whom       int32 // member that is waited for
	Instance   int32 // of a collective, -1
	Part       StripPart
	Path       bool           // the path runs here
	Class      critpath.Class // of own work, the class with most time
	Most       int64          // and its time
}

// Strip is a rank from left to right: where the path runs on it what the path is in, else its own path, which shows of
// collectives only what no work of its own hides.
type Strip []StripPiece

// Strip makes the strip of a member.
func (j *Job) Strip(member int32) Strip {
	var alone []Segment
	j.Alone(member, func(s Segment) { alone = append(alone, s) })
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
	j      *Job
	member int32
	at     int64 // where it is
	open   StripPiece
	class  [critpath.NumClasses]int64 // of open
	out    Strip
}

// add appends a segment; a collective may be two pieces.
func (b *stripBuilder) add(s *Segment, path bool) {
	p := StripPiece{Start: s.Start, End: s.End, Whom: -1, Instance: s.Instance, Path: path}
	switch s.Kind {
	case critpath.Unrecorded:
		p.Part = Late
	case critpath.MissingRank:
		p.Part = Absent
	case critpath.Comm:
		p.Part = Collective
		if s.Instance < 0 || !b.j.Instances[s.Instance].Solved {
			break
		}
		in := &b.j.Instances[s.Instance]
		p.Part = Transfers
		if path || in.Last == b.member || in.Arrive <= s.Start { // the path goes to the rank that came last: what is on it is no wait
			break
		}
		wait := p
		wait.Part, wait.Whom, wait.End = InWait, in.Last, min(in.Arrive, s.End)
		b.put(wait, nil)
		p.Start = wait.End
	default:
		var class [critpath.NumClasses]int64
		class[s.Kind.Class()] = s.End - s.Start
		b.put(p, &class)
		return
	}
	b.put(p, nil)
}

func (b *stripBuilder) put(p StripPiece, class *[critpath.NumClasses]int64) {
	if p.Start >= p.End {
		return
	}
	b.at = p.End
	if o := &b.open; o.End != p.Start || o.Start == o.End || o.Part != p.Part || o.Path != p.Path || p.Part != Works && o.Instance != p.Instance {
		b.close()
		b.open, b.class = p, [critpath.NumClasses]int64{}
	}
	b.open.End = p.End
	if class != nil {
		for c, ns := range class {
			b.class[c] += ns
		}
	}
}

func (b *stripBuilder) close() {
	if b.open.Start < b.open.End {
		b.open.Class = critpath.BoundBy(&b.class)
		b.open.Most = b.class[b.open.Class]
		b.out = append(b.out, b.open)
	}
	b.open = StripPiece{}
}

// Thin joins pieces that are shorter than least to the one before them, where the path runs on neither.
func (s Strip) Thin(least int64) Strip {
	n := 0
	for _, x := range s {
		if n > 0 && s[n-1].End == x.Start && !s[n-1].Path && !x.Path && (x.End-x.Start < least || s[n-1].End-s[n-1].Start < least) {
			p := &s[n-1]
			if x.End-x.Start > p.End-p.Start {
				x.Start = p.Start
				*p = x
			} else {
				p.End = x.End
			}
			continue
		}
		s[n] = x
		n++
	}
	return slices.Clip(s[:n])
}

// Ending is the piece that ends at a moment, -1 without.
func (s Strip) Ending(t int64) int32 {
	i := sort.Search(len(s), func(i int) bool { return s[i].End >= t })
	if i == len(s) || s[i].End != t {
		return -1
	}
	return int32(i)
}

// Beginning is the piece that begins at a moment, -1 without.
func (s Strip) Beginning(t int64) int32 {
	i := sort.Search(len(s), func(i int) bool { return s[i].Start >= t })
	if i == len(s) || s[i].Start != t {
		return -1
	}
	return int32(i)
}
