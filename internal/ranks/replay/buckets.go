package replay

import (
	"fmt"
	"maps"
	"slices"

	"overlay/internal/ranks"
)

// joined are collectives that are done as one: each ends with the last of them, which starts when all could, and takes the bytes of all.
type joined struct {
	with   []int32 // per port: the one of the last of them, -1
	behind []int32 // per port: the one before it of them, -1
	more   []int64 // per port: what the bytes of the others add to its transfer
}

// drops reports whether a chain of a port says only that it came behind another one that is done with it.
func (j *joined) drops(m *Model, p int32, c *ranks.ChainReader) bool {
	if j == nil || j.behind[p] < 0 || c.From < 0 {
		return false
	}
	x, first := &m.Job.Members[m.member[p]], m.first[m.member[p]]
	return j.endOf(first+c.From) == j.endOf(p) && inOrder(x, p-first, c)
}

// endOf is the last of those with which a port is done.
func (j *joined) endOf(p int32) int32 {
	if j.with[p] >= 0 {
		return j.with[p]
	}
	return p
}

// Joined is the job with the all-reduces of groups put together until they have so many bytes, by step. It is an error where that cannot be said of one of the groups.
func (m *Model) Joined(of func(*ranks.JobGroup) bool, size int64) (*Model, error) {
	n := *m
	n.last = slices.Clone(m.last)
	n.joined = &joined{with: slices.Repeat([]int32{-1}, len(m.last)), behind: slices.Repeat([]int32{-1}, len(m.last)), more: make([]int64, len(m.last))}
	some := false
	for g, rows := range m.rows() {
		if !of(&m.Job.Groups[g]) {
			continue
		}
		var sets [][]int32
		shown, wanted := map[int]bool{}, map[int]bool{} // by how many of the step came before
		for _, list := range rows {
			for at := 0; at < len(list); {
				from, bytes := at, m.bytes(&m.Job.Instances[list[at]])
				for at++; at < len(list) && bytes < size; at++ {
					can, shows := m.joins(list[from:at], list[at])
					if !can {
						return nil, m.apart(g, "one of them needs what another brings, or other operations lie between them")
					} else if m.latency()[list[at]] < 0 {
						return nil, m.apart(g, "they have one size only, which does not tell latency from bytes")
					}
					wanted[at], shown[at] = true, shown[at] || shows
					bytes += m.bytes(&m.Job.Instances[list[at]])
				}
				if at > from+1 {
					sets = append(sets, list[from:at])
				}
			}
		}
		if len(shown) < len(wanted) || slices.Contains(slices.Collect(maps.Values(shown)), false) {
			return nil, m.apart(g, "nothing shows that one does not need what the one before it brings")
		}
		for _, set := range sets {
			n.join(set)
			some = true
		}
	}
	if !some {
		return nil, fmt.Errorf("no all-reduces of a step that are smaller follow each other in these groups")
	}
	n.Crossed = 0
	if n.sort(); n.Crossed > m.Crossed {
		return nil, fmt.Errorf("all-reduces of these groups cannot be put together: by way of other ranks one needs what another brings")
	}
	return &n, nil
}

func (m *Model) apart(group int, why string) error {
	return fmt.Errorf("all-reduces of group %s cannot be put together: %s", m.Job.Groups[group].Name, why)
}

// rows are the all-reduces by group and step, in order.
func (m *Model) rows() [][][]int32 {
	groups, at := make([][][]int32, len(m.Job.Groups)), map[[2]int32]int{}
	for i := range m.Job.Members {
		x := &m.Job.Members[i]
		for o, k := range x.In {
			if k < 0 {
				continue
			}
			in := &m.Job.Instances[k]
			if m.Job.Of[in.First].Member != int32(i) || in.Coll != ranks.AllReduce || !in.Solved || in.Missing > 0 || x.Ops[o].Step < 0 || m.bytes(in) <= 0 {
				continue
			}
			row := [2]int32{in.Group, x.Ops[o].Step}
			if _, ok := at[row]; !ok {
				at[row], groups[in.Group] = len(groups[in.Group]), append(groups[in.Group], nil)
			}
			groups[in.Group][at[row]] = append(groups[in.Group][at[row]], k)
		}
	}
	return groups
}

// joins reports whether a collective can be done as one with others before it: on each rank it is the next on their stream, and follows from none of them in another way.
// It shows that it needs none of them where on a rank what it last followed from led there from before the last of them was over.
func (m *Model) joins(list []int32, next int32) (can, shows bool) {
	in := &m.Job.Instances[next]
	for i, r := range m.Job.Of[in.First : in.First+in.N] {
		x := &m.Job.Members[r.Member]
		first, last := m.opOf(list[0], i, r.Member), m.opOf(list[len(list)-1], i, r.Member)
		if first < 0 || last < 0 || last >= r.Op || x.Kinds[x.Ops[last].Kind].Dtype != x.Kinds[x.Ops[r.Op].Kind].Dtype || x.Kinds[x.Ops[last].Kind].Stream != x.Kinds[x.Ops[r.Op].Kind].Stream {
			return false, false
		}
		needs, least, some, c := make([]bool, r.Op+1-first), int64(0), false, ranks.ChainReader{}
		for o := first; o <= r.Op; o++ {
			if o > last && o < r.Op && x.Kinds[x.Ops[o].Kind].Stream == x.Kinds[x.Ops[r.Op].Kind].Stream {
				return false, false
			}
			needs[o-first] = o < r.Op && slices.Contains(list, x.In[o])
			for c.Read(x.Summary, o, 0); c.Next(); {
				switch {
				case inOrder(x, o, &c):
				case c.From >= first && needs[c.From-first]:
					needs[o-first] = true
				case o == r.Op:
					if s := c.Slack; !some || s < least {
						least, some = s, true
						shows = shows || c.From < 0 || m.end(m.first[r.Member]+c.From) <= m.end(m.first[r.Member]+last)
					}
				}
			}
		}
		if needs[r.Op-first] || !some {
			return false, false
		}
	}
	return true, shows
}

// inOrder reports whether a chain of an operation says nothing but that it came behind another on its stream.
func inOrder(x *ranks.Member, op int32, c *ranks.ChainReader) bool {
	return c.From >= 0 && !c.Parted() && x.Kinds[x.Ops[c.From].Kind].Stream == x.Kinds[x.Ops[op].Kind].Stream
}

// opOf is the operation of a member in an instance, of which it is the one at a place; -1 where it is not.
func (m *Model) opOf(instance int32, place int, member int32) int32 {
	in := &m.Job.Instances[instance]
	if place >= int(in.N) || m.Job.Of[int(in.First)+place].Member != member {
		return -1
	}
	return m.Job.Of[int(in.First)+place].Op
}

// join lets collectives be done as one.
func (m *Model) join(list []int32) {
	end := &m.Job.Instances[list[len(list)-1]]
	for i, r := range m.Job.Of[end.First : end.First+end.N] {
		first, before := m.first[r.Member], int32(-1)
		for _, k := range list {
			o := m.opOf(k, i, r.Member)
			p := first + o
			m.joined.behind[p] = before
			if before = p; o < r.Op {
				m.joined.with[p] = first + r.Op
				m.joined.more[first+r.Op] += max(m.transfer(p)-max(m.latency()[k], 0), 0)
			}
		}
	}
}
