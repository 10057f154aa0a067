package ranks

import (
	"cmp"
	"math"
	"slices"
)

// channel is a sequence of collectives that all its members make in one order: those of a group, or the transfers
// between two ranks of a group.
type channel struct {
	group     int32
	low, high Rank // of point-to-point operations, else NoRank
	parts     []part

	found []matched
}

// part is the operations of one member in a channel, in the order of their launches.
type part struct {
	member int32
	ops    []int32
}

// list is a part with what matching looks at. That takes eight times the room, so it is made for one channel at a time.
type list struct {
	member int32
	items  []item
}

// item is an operation with what matching looks at. Times count from the member's window, so nothing depends on what a
// clock shows.
type item struct {
	end   int64
	token uint64
	dur   uint32 // ns, at most 4 s
	steps steps
	seq   int32
	op    int32
}

func shortened(d int64) uint32 { return uint32(min(d, math.MaxUint32)) }

// steps is the number of a step, or a bound of it: what was launched before the first step that was recorded belongs to an
// earlier one. Numbers stand for themselves, -1 for any step, -2-2n for one up to n, -3-2n for one from n on.
type steps int32

const anyStep steps = -1

func upTo(n int32) steps   { return steps(-2 - 2*max(n, 0)) }
func fromOn(n int32) steps { return steps(-3 - 2*max(n, 0)) }

// bounds are the numbers between which the step lies.
func (s steps) bounds() (low, high int32) {
	switch {
	case s >= 0:
		return int32(s), int32(s)
	case s == anyStep:
		return 0, math.MaxInt32
	case s%2 == 0:
		return 0, int32(-2-s) / 2
	}
	return int32(-3-s) / 2, math.MaxInt32
}

// meet reports whether both may be one step.
func (s steps) meet(t steps) bool {
	if s == t || s == anyStep || t == anyStep {
		return true
	}
	a, b := s.bounds()
	c, d := t.bounds()
	return a <= d && c <= b
}

// number is the number of the step, -1 when it is not known.
func (s steps) number() int32 { return int32(max(s, -1)) }

// stepsOf is the step of an operation, as far as it is known.
func (s *Summary) stepsOf(o *Op) steps {
	switch n := len(s.Steps); {
	case o.Step >= 0:
		return steps(o.Step)
	case n == 0:
	case o.Launch < s.Steps[0].Start:
		return upTo(s.Steps[0].Number - 1)
	case o.Launch >= s.Steps[n-1].End:
		return fromOn(s.Steps[n-1].Number + 1)
	}
	return anyStep
}

// channels gives each operation its group and its channel. Operations that cannot be put into one stay alone.
func (j *Gathered) channels() []channel {
	j.unite()
	positions, pairs := j.peerForm()
	type key struct {
		group     int32
		low, high Rank
	}
	index := map[key]int32{}
	var list_ []channel
	var count []int32
	for m := range j.Members {
		s := j.Members[m].Summary
		of := make([]int32, len(s.Kinds))
		for k := range s.Kinds {
			of[k] = -1
			x := &s.Kinds[k]
			at := key{j.Members[m].group[x.Group], NoRank, NoRank}
			g := &j.Groups[at.group]
			if x.Coll == SendRecv && x.Peer != NoRank {
				peer := x.Peer
				if positions[at.group] {
					if int(peer) >= len(g.Ranks) {
						continue
					}
					peer = g.Ranks[peer]
				}
				if peer == s.Rank {
					continue
				}
				at.low, at.high = min(peer, s.Rank), max(peer, s.Rank)
			} else if x.Coll == SendRecv && (g.By == "stream" && (x.Token>>56 != 0 || uint32(x.Token) != 0) || g.By != "stream" && g.Size > 2 && (x.Token>>56 != 0 || pairs[at.group])) {
				continue // a transfer to nobody knows whom
			}
			i, ok := index[at]
			if !ok {
				i = int32(len(list_))
				index[at] = i
				list_, count = append(list_, channel{group: at.group, low: at.low, high: at.high}), append(count, 0)
			}
			of[k] = i
		}
		for i := range s.Ops {
			if c := of[s.Ops[i].Kind]; c >= 0 {
				count[c]++
			}
		}
		for c, n := range count {
			if n > 0 {
				list_[c].parts = append(list_[c].parts, part{int32(m), make([]int32, 0, n)})
				j.Groups[list_[c].group].Ops += int(n)
				count[c] = 0
			}
		}
		for i := range s.Ops {
			if c := of[s.Ops[i].Kind]; c >= 0 {
				p := &list_[c].parts[len(list_[c].parts)-1]
				p.ops = append(p.ops, int32(i))
			}
		}
	}
	for c := range list_ {
		for _, p := range list_[c].parts {
			s := j.Members[p.member].Summary
			slices.SortStableFunc(p.ops, func(a, b int32) int { return cmp.Compare(s.Ops[a].Launch, s.Ops[b].Launch) })
		}
	}
	slices.SortStableFunc(list_, func(a, b channel) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
	})
	return list_
}

// lists are the parts of a channel with what matching looks at, as far as they are in no instance yet.
func (c *channel) lists(j *Gathered) []list {
	out := make([]list, len(c.parts))
	for i, p := range c.parts {
		m := &j.Members[p.member]
		s, n := m.Summary, len(p.ops)
		if m.In != nil {
			n = 0
			for _, op := range p.ops {
				if m.In[op] < 0 {
					n++
				}
			}
		}
		items := make([]item, 0, n)
		for _, op := range p.ops {
			if m.In != nil && m.In[op] >= 0 {
				continue
			}
			o := &s.Ops[op]
			k := &s.Kinds[o.Kind]
			token := k.Token
			if c.low != NoRank && token>>56 != 0 && k.Peer != NoRank {
				token |= direction(k.Sends == (c.low+c.high-s.Rank > s.Rank))
			}
			items = append(items, item{o.End - s.Window[0], token, shortened(o.End - o.Start), s.stepsOf(o), o.Seq, op})
		}
		out[i] = list{p.member, items}
	}
	return out
}

// unite makes the groups of the job from what the ranks know.
func (j *Gathered) unite() {
	type key struct {
		name, desc string
		size       int32
		ranks      uint64 // a sum over them: of a large job each rank lists all
	}
	type found struct {
		key
		g JobGroup
	}
	var all []found
	index := map[key]int{}
	at := make([][]int, len(j.Members)) // of each group of each member: index into all
	one := j.oneStreamEach()
	for m := range j.Members {
		s := j.Members[m].Summary
		for i := range s.Groups {
			g := &s.Groups[i]
			k := key{name: g.Name}
			if g.Ranks == nil {
				if k.desc, k.size = g.Desc, g.Size; one != "" && g.onStream() {
					k.name = one
				}
			} else {
				k.ranks = sumOf(g.Ranks)
			}
			n, ok := index[k]
			if !ok {
				n = len(all)
				index[k] = n
				all = append(all, found{k, JobGroup{Name: k.name, Desc: g.Desc, Ranks: g.Ranks, Size: max(int(g.Size), len(g.Ranks)), Known: g.Ranks != nil, By: g.By}})
			}
			if x := &all[n].g; x.Known {
				g.Ranks = x.Ranks // once for all ranks: of a large job each of them lists all
			} else if last := len(x.Ranks) - 1; last < 0 || x.Ranks[last] != s.Rank {
				x.Ranks = append(x.Ranks, s.Rank) // members come by rank, so this is sorted
				x.Size = max(x.Size, len(x.Ranks))
			}
			at[m] = append(at[m], n)
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(p, q int) int {
		a, b := &all[p], &all[q]
		return cmp.Or(cmp.Compare(len(b.g.Ranks), len(a.g.Ranks)), slices.Compare(a.g.Ranks, b.g.Ranks), cmp.Compare(a.name+"|", b.name+"|"), cmp.Compare(a.desc+"|", b.desc+"|"), cmp.Compare(a.size, b.size))
	})
	place := make([]int32, len(all))
	for i, n := range order {
		place[n] = int32(i)
		j.Groups = append(j.Groups, all[n].g)
	}
	for m := range at {
		for _, n := range at[m] {
			j.Members[m].group = append(j.Members[m].group, place[n])
		}
	}
}

// onStream reports whether nothing is known of a group but the stream of a device.
func (g *Group) onStream() bool { return g.By == "stream" && g.Name != onCPU }

// oneStreamEach names the group of members that communicate on a single stream each, "" where one of them has more. Processes number their streams as
// they make them, so then these are one group whatever their numbers are.
func (j *Gathered) oneStreamEach() (name string) {
	for m := range j.Members {
		n := 0
		for i := range j.Members[m].Summary.Groups {
			if g := &j.Members[m].Summary.Groups[i]; g.onStream() {
				if n++; m == 0 {
					name = g.Name
				} else if name != g.Name {
					name = "one stream each"
				}
			}
		}
		if n != 1 {
			return ""
		}
	}
	return name
}

// sumOf tells lists of ranks apart.
func sumOf(list []Rank) uint64 {
	sum := uint64(len(list))
	for _, r := range list {
		sum = (sum ^ uint64(uint32(r))) * 0x9e3779b97f4a7c15
		sum ^= sum >> 29
	}
	return sum
}

// peerForm tells for each group whether point-to-point operations name the other side by its place in the group. They
// name it by its rank in the job unless that is nobody of the group, or the rank itself. The second result tells the groups that
// have such operations at all: libraries make collectives out of the same kernels.
func (j *Gathered) peerForm() (positions, pairs []bool) {
	positions, pairs = make([]bool, len(j.Groups)), make([]bool, len(j.Groups))
	for m := range j.Members {
		s := j.Members[m].Summary
		for k := range s.Kinds {
			x := &s.Kinds[k]
			if x.Peer == NoRank {
				continue
			}
			at := j.Members[m].group[x.Group]
			pairs[at] = true
			if g := &j.Groups[at]; g.Known && (x.Peer == s.Rank || !slices.Contains(g.Ranks, x.Peer)) {
				positions[at] = true
			}
		}
	}
	return positions, pairs
}

// matched is one instance while it is put together.
type matched struct {
	refs  []Ref
	token uint64
	end   int64 // for the order: on the job's clock as known then
	by    MatchBy
	mixed bool
}
