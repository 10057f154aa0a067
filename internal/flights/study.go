// Package flights says who did not arrive and who was late, by what the flight recorder of each rank has kept of its collectives. It knows no format.
//
// # Who is missing
//
// Of each group, the first collective that some member has called and that has not ended: who has not called it is missing. The ring of a rank holds its last calls,
// so what lies before the first one that it still holds is not known, and taken as done. A rank that is missing in one group often waits in
// another for somebody else: those that wait for nobody are named first.
//
// # Who is late
//
// The kernels of a collective end together, and each begins when its rank arrives: the one that ran for the shortest time came last, by the difference.
// No clock is compared. The calls themselves say little, because the host runs ahead of its device.
package flights

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Dump is what a rank has recorded.
type Dump struct {
	Rank    int32
	Version string
	Groups  []Group
	Calls   []Call // in the order of the calls
}

// Group is a process group of which the rank is a member.
type Group struct {
	Name, Desc string
	Ranks      []int32 // ascending
}

// Call is a call of a collective, or of a send or receive.
type Call struct {
	Group    int32 // of Dump.Groups, -1 where the dump has none of its name
	Seq      int64 // number of the collective in its group; of sends and receives that of the collective before
	Single   bool  // it is a send or a receive
	Name     string
	Sizes    string // input → output
	Types    string
	Done     bool
	Duration int64 // of its kernel, ns; -1 where it was not measured
	Frame    string
}

// Study is what the dumps of a job say.
type Study struct {
	Dumps      int        `json:"dumps" unit:"count" about:"ranks of which there is one"`
	Ranks      int        `json:"ranks" unit:"count" about:"of all groups together"`
	Calls      int        `json:"calls" unit:"count" about:"of collectives, sends and receives, of all ranks"`
	Measured   int        `json:"measured" unit:"count" about:"collectives that ended on all members, with the time of each kernel"`
	Ran        int64      `json:"ran_ns" unit:"ns" about:"their kernels, of all ranks together"`
	Waited     int64      `json:"waited_ns" unit:"ns" about:"of that, before the last rank had come"`
	NoDump     []int      `json:"no_dump" table:"flights_no_dump" entry:"rank" unit:"id" about:"members of groups of which there is no dump"`
	Suspects   []int      `json:"suspects" table:"flights_suspects" entry:"rank" unit:"id" about:"ranks that others wait for and that wait for nobody; where all wait, all that are waited for"`
	Mismatches []Mismatch `json:"mismatches" table:"flights_mismatches" about:"the first collective of a group that members have called differently"`
	Waits      []Wait     `json:"waits" table:"flights_waits" about:"the first collective of a group that has not ended, and sends and receives that have not"`
	Last       []Last     `json:"last" table:"flights_last" about:"the last call of each rank that is waited for"`
	Late       []Late     `json:"late" table:"flights_late" about:"ranks that came last, those that cost the most first"`
}

// Mismatch is a collective that members have called differently.
type Mismatch struct {
	Group  string `json:"group"`
	Seq    int64  `json:"sequence" unit:"id"`
	What   string `json:"what" about:"collective, type or size"`
	Most   string `json:"most" about:"as most have called it"`
	Others []int  `json:"others" table:"flights_mismatch_ranks" entry:"rank" unit:"id" about:"ranks that have called it otherwise"`
	Call   string `json:"call" about:"as the first of these has called it"`
	Frame  string `json:"frame" about:"and where; empty when not recorded"`
}

// Wait is a call that has not ended.
type Wait struct {
	Group   string `json:"group"`
	Seq     int64  `json:"sequence" unit:"id"`
	Call    string `json:"call"`
	Waiting []int  `json:"waiting" table:"flights_waiting" entry:"rank" unit:"id" about:"ranks that have called it"`
	Missing []int  `json:"missing" table:"flights_missing" entry:"rank" unit:"id" about:"ranks with a dump that have not; where nobody is missing, it was called by all and does not end"`
	Unknown []int  `json:"unknown" table:"flights_unknown" entry:"rank" unit:"id" about:"members without a dump"`
	Frame   string `json:"frame" about:"of the first that waits; empty when not recorded"`
}

// Last is the last call of a rank.
type Last struct {
	Rank  int    `json:"rank" unit:"id"`
	Group string `json:"group"`
	Seq   int64  `json:"sequence" unit:"id"`
	Call  string `json:"call"`
	Done  bool   `json:"done"`
	Frame string `json:"frame"`
}

// Late is a rank that came last.
type Late struct {
	Rank  int    `json:"rank" unit:"id"`
	Count int    `json:"collectives" unit:"count" about:"in which it came last"`
	Of    int    `json:"of" unit:"count" about:"measured ones of its groups"`
	Waits int64  `json:"waits_ns" unit:"ns" about:"that the others ran longer than it, of all of them together"`
	Most  int64  `json:"most_ns" unit:"ns" about:"of these, in the call below"`
	Call  string `json:"call" about:"where it cost the most"`
	Frame string `json:"frame"`
}

// place is a collective: its group, its number, and which of the calls with that number, of which coalesced ones have several.
type place struct {
	group, nth int32
	seq        int64
}

type called struct {
	rank int32
	call *Call
}

// judge is a study on its way.
type judge struct {
	Study
	groups []Group // of all dumps, each once
	dumps  map[int32]*Dump
	at     map[place][]called // by rank
	places []place            // by group and number
	last   map[[2]int32]int64 // of a group and a rank: the number of its last collective
}

// Judge makes the study of a job. Each rank has one dump.
func Judge(dumps []*Dump) (*Study, error) {
	x := &judge{dumps: map[int32]*Dump{}, at: map[place][]called{}, last: map[[2]int32]int64{}}
	x.NoDump, x.Suspects, x.Mismatches, x.Waits, x.Last, x.Late = []int{}, []int{}, []Mismatch{}, []Wait{}, []Last{}, []Late{}
	dumps = slices.Clone(dumps)
	slices.SortStableFunc(dumps, func(a, b *Dump) int { return cmp.Compare(a.Rank, b.Rank) })
	index := map[string]int32{}
	for _, d := range dumps {
		if x.dumps[d.Rank] != nil {
			return nil, fmt.Errorf("two dumps are of rank %d", d.Rank)
		}
		x.dumps[d.Rank] = d
		x.add(d, index)
	}
	x.Dumps = len(dumps)
	members := map[int32]bool{}
	for _, g := range x.groups {
		for _, r := range g.Ranks {
			members[r] = true
		}
	}
	for r := range members {
		if x.dumps[r] == nil {
			x.NoDump = append(x.NoDump, int(r))
		}
	}
	slices.Sort(x.NoDump)
	x.Ranks = x.Dumps + len(x.NoDump)
	for p := range x.at {
		x.places = append(x.places, p)
	}
	slices.SortFunc(x.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.seq, b.seq), cmp.Compare(a.nth, b.nth))
	})
	x.mismatches()
	x.waits()
	x.late()
	return &x.Study, nil
}

// add puts the calls of a dump beside those of the others. Groups are told apart by name and members: groups that a split has made share a name.
func (x *judge) add(d *Dump, index map[string]int32) {
	of := make([]int32, len(d.Groups))
	for i, g := range d.Groups {
		key := fmt.Sprint(g.Name, g.Ranks)
		n, ok := index[key]
		if !ok {
			n = int32(len(x.groups))
			index[key], x.groups = n, append(x.groups, g)
		}
		of[i] = n
	}
	nth := map[place]int32{}
	for i := range d.Calls {
		c := &d.Calls[i]
		x.Calls++
		if c.Group < 0 || c.Single {
			continue
		}
		p := place{group: of[c.Group], seq: c.Seq}
		nth[p]++
		p.nth = nth[p] - 1
		x.at[p] = append(x.at[p], called{d.Rank, c})
		of := [2]int32{p.group, d.Rank}
		x.last[of] = max(x.last[of], c.Seq)
	}
}

func (x *judge) group(n int32) string {
	g := &x.groups[n]
	if g.Desc == "" || g.Desc == g.Name {
		return g.Name
	}
	return g.Desc + " (" + g.Name + ")"
}

func (c *Call) text() string {
	s := c.Name
	if c.Sizes != "" {
		s += " of " + c.Sizes
	}
	if c.Types != "" {
		s += " " + c.Types
	}
	return s
}

// uneven are collectives whose members may give or take different sizes.
func uneven(name string) bool {
	for _, word := range [...]string{"all_to_all", "alltoall", "scatter", "gather", "coalesced", "broadcast", "reduce"} {
		if strings.Contains(name, word) && name != "all_reduce" && name != "allreduce" {
			return true
		}
	}
	return false
}

// mismatches finds the first collective of each group that members have called differently.
func (x *judge) mismatches() {
	found := int32(-1)
	for _, p := range x.places {
		if p.group == found {
			continue
		}
		list := x.at[p]
		for _, view := range []struct {
			what string
			of   func(c *Call) string
		}{{"collective", func(c *Call) string { return c.Name }}, {"type", func(c *Call) string { return c.Types }}, {"size", func(c *Call) string {
			if uneven(c.Name) {
				return ""
			}
			return c.Sizes
		}}} {
			count := map[string]int{}
			most := view.of(list[0].call)
			for _, m := range list {
				s := view.of(m.call)
				if count[s]++; count[s] > count[most] {
					most = s
				}
			}
			if len(count) == 1 {
				continue
			}
			m := Mismatch{Group: x.group(p.group), Seq: p.seq, What: view.what}
			for _, c := range list {
				switch {
				case view.of(c.call) == most && m.Most == "":
					m.Most = c.call.text()
				case view.of(c.call) != most:
					if m.Others = append(m.Others, int(c.rank)); m.Call == "" {
						m.Call, m.Frame = c.call.text(), c.call.Frame
					}
				}
			}
			x.Mismatches, found = append(x.Mismatches, m), p.group
			break
		}
	}
}

// waits finds the calls that have not ended, and who is missing in them.
func (x *judge) waits() {
	waits, wanted := map[int]bool{}, map[int]bool{}
	found := int32(-1)
	for _, p := range x.places {
		if p.group == found {
			continue
		}
		w := Wait{Group: x.group(p.group), Seq: p.seq, Waiting: []int{}, Missing: []int{}, Unknown: []int{}}
		here := map[int32]bool{}
		for _, c := range x.at[p] {
			if here[c.rank] = true; c.call.Done {
				continue
			}
			if w.Waiting = append(w.Waiting, int(c.rank)); w.Call == "" {
				w.Call, w.Frame = c.call.text(), c.call.Frame
			}
		}
		if w.Call == "" {
			continue
		}
		for _, r := range x.groups[p.group].Ranks {
			of := [2]int32{p.group, r}
			switch {
			case here[r]:
			case x.dumps[r] == nil:
				w.Unknown = append(w.Unknown, int(r))
			case x.last[of] < p.seq: // else it has ended there, and left its ring
				w.Missing = append(w.Missing, int(r))
			}
		}
		x.Waits, found = append(x.Waits, w), p.group
	}
	for r, d := range x.dumps {
		for i := range d.Calls {
			if c := &d.Calls[i]; c.Single && !c.Done {
				if w := x.single(r, c); w != nil {
					x.Waits = append(x.Waits, *w)
				}
				break
			}
		}
	}
	slices.SortStableFunc(x.Waits, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Seq, b.Seq), slices.Compare(a.Waiting, b.Waiting))
	})
	for _, w := range x.Waits {
		for _, r := range w.Waiting {
			waits[r] = true
		}
		for _, r := range w.Missing {
			wanted[r] = true
		}
	}
	var free []int
	for r := range wanted {
		if x.Suspects = append(x.Suspects, r); !waits[r] {
			free = append(free, r)
		}
		l := Last{Rank: r}
		if calls := x.dumps[int32(r)].Calls; len(calls) > 0 {
			c := &calls[len(calls)-1]
			l.Seq, l.Call, l.Done, l.Frame = c.Seq, c.text(), c.Done, c.Frame
			if c.Group >= 0 {
				g := &x.dumps[int32(r)].Groups[c.Group]
				l.Group = cmp.Or(g.Desc, g.Name)
			}
		}
		x.Last = append(x.Last, l)
	}
	if len(free) > 0 {
		x.Suspects = free
	}
	slices.Sort(x.Suspects)
	slices.SortFunc(x.Last, func(a, b Last) int { return cmp.Compare(a.Rank, b.Rank) })
}

// single is what a send or receive waits for: its other side has not called the same, or has and it does not end. The name has both, as places in the group.
func (x *judge) single(rank int32, c *Call) *Wait {
	if c.Group < 0 {
		return nil
	}
	g := &x.dumps[rank].Groups[c.Group]
	var a, b int
	form, other := "recv %d<-%d", "send %d->%d"
	if strings.HasPrefix(c.Name, "send") {
		form, other = other, form
	}
	if n, _ := fmt.Sscanf(c.Name, form, &a, &b); n != 2 || b < 0 || b >= len(g.Ranks) {
		return nil
	}
	peer := g.Ranks[b]
	w := &Wait{Group: cmp.Or(g.Desc, g.Name), Seq: c.Seq, Call: c.text(), Waiting: []int{int(rank)}, Missing: []int{}, Unknown: []int{}, Frame: c.Frame}
	d := x.dumps[peer]
	if d == nil {
		w.Unknown = append(w.Unknown, int(peer))
		return w
	}
	name := fmt.Sprintf(other, b, a)
	for i := range d.Calls {
		if p := &d.Calls[i]; !p.Done && p.Name == name {
			return w
		}
	}
	w.Missing = append(w.Missing, int(peer))
	return w
}

// late adds up who came last in collectives that ended and in which everybody waits for everybody.
func (x *judge) late() {
	of := map[int32]*Late{}
	for _, p := range x.places {
		list := x.at[p]
		name := list[0].call.Name
		if len(list) < 2 || len(list) != len(x.groups[p.group].Ranks) || !strings.Contains(name, "all") && !strings.Contains(name, "reduce_scatter") && name != "barrier" ||
			slices.ContainsFunc(list, func(c called) bool { return !c.call.Done || c.call.Duration < 0 || c.call.Name != name }) {
			continue
		}
		x.Measured++
		last := slices.MinFunc(list, func(a, b called) int { return cmp.Compare(a.call.Duration, b.call.Duration) })
		waits := int64(0)
		for _, c := range list {
			x.Ran += c.call.Duration
			waits += c.call.Duration - last.call.Duration
			if of[c.rank] == nil {
				of[c.rank] = &Late{Rank: int(c.rank)}
			}
			of[c.rank].Of++
		}
		x.Waited += waits
		l := of[last.rank]
		l.Count++
		if l.Waits += waits; waits > l.Most {
			l.Most, l.Call, l.Frame = waits, fmt.Sprintf("%s, %d of group %s", last.call.text(), p.seq, x.group(p.group)), last.call.Frame
		}
	}
	for _, l := range of {
		if l.Waits > 0 {
			x.Late = append(x.Late, *l)
		}
	}
	slices.SortFunc(x.Late, func(a, b Late) int { return cmp.Or(cmp.Compare(b.Waits, a.Waits), cmp.Compare(a.Rank, b.Rank)) })
}
