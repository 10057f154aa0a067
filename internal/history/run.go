package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/stat"
	"overlay/internal/tables"
)

// Scope is what a number is of.
type Scope uint8

// The scopes, in the order in which they are shown.
const (
	Job Scope = iota
	Host
	Rank
	Link
	Work
	NumScopes
)

var scopeNames = [NumScopes]string{"job", "host", "rank", "link", "work"}

func (s Scope) String() string { return scopeNames[s] }

// MarshalText is how JSON has it.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Series is what is measured in every run.
type Series struct {
	Scope Scope  `json:"scope"`
	Name  string `json:"name"` // of the host, the rank, the collective or the work; empty for the job
	What  string `json:"what"` // step, device, threads, communication, transfer or busy; of a type of steps: decode step, decode device
}

// The quantities, each for a step but transfer, which is of one collective.
const (
	Step          = "step"
	Device        = "device"
	Threads       = "threads"
	Communication = "communication"
	Transfer      = "transfer"
	Busy          = "busy"
)

var whats = map[string]string{Step: "a step", Device: "work of the device a step", Threads: "work of threads a step", Communication: "communication on the path a step",
	Transfer: "a transfer", Busy: "its time a step"}

// whatWords says what is measured, "" of what is unknown.
func whatWords(what string) string {
	if kind, of, typed := strings.Cut(what, " "); typed {
		return strings.Replace(whats[of], "a step", "a "+kind+" step", 1)
	}
	return whats[what]
}

// IsStep reports whether it is how long steps take.
func (s Series) IsStep() bool { return s.What == Step || strings.HasSuffix(s.What, " "+Step) }

// Words names a series for people.
func (s Series) Words() string {
	name := ""
	switch s.Scope {
	case Host:
		name = "host " + s.Name + ": "
	case Rank:
		name = "rank " + s.Name + ": "
	case Link, Work:
		name = s.Name + ": "
	}
	return name + whatWords(s.What)
}

func compareSeries(a, b Series) int {
	return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(len(a.Name)*numeric(a.Scope), len(b.Name)*numeric(b.Scope)), strings.Compare(a.Name, b.Name), strings.Compare(a.What, b.What))
}

func numeric(s Scope) int { // numbers in text are in order when shorter ones come first
	if s == Rank {
		return 1
	}
	return 0
}

// Point is what a series was in one run: a median of steps and, of hosts and the job, of ranks.
type Point struct {
	Series
	NS int64
}

// Run is what a history keeps of a run.
type Run struct {
	Name   string  `json:"name"`
	Start  int64   `json:"start_ns"` // since 1970; what was recorded on no wall clock begins soon after 1970
	Ranks  int     `json:"ranks_count"`
	Hosts  int     `json:"-"`
	Steps  int     `json:"steps_count"` // of all ranks
	Points []Point `json:"-"`           // in the order of their series
}

// Dated reports whether it is known when the run was recorded.
func (r *Run) Dated() bool { return r.Start > 1e18 } // 2001

// worth is the part of a step below which a name or collective is not followed: its noise would hide anything that matters.
const worth = 0.005

// Of boils a run down. Ranks without steps say nothing.
func Of(name string, list []*ranks.Summary) Run {
	r := Run{Name: name, Ranks: len(list)}
	values := map[Series][]int64{}
	works := map[Series][]int64{}
	hosts := map[string]bool{}
	for _, s := range list {
		if r.Start == 0 || s.Window[0] < r.Start {
			r.Start = s.Window[0]
		}
		r.Steps += len(s.Steps)
		if s.Host != "" {
			hosts[s.Host] = true
		}
		of := map[string]func(x *ranks.Step) int64{
			Step:          func(x *ranks.Step) int64 { return x.End - x.Start },
			Device:        func(x *ranks.Step) int64 { return x.BusyGPU },
			Threads:       func(x *ranks.Step) int64 { return x.BusyHost },
			Communication: func(x *ranks.Step) int64 { return x.Path[critpath.ClassComm] },
		}
		all := map[string][]int64{}
		for i := range s.Steps {
			kind := s.Steps[i].Type.String()
			for what, get := range of {
				what = strings.TrimSpace(kind + " " + what)
				all[what] = append(all[what], get(&s.Steps[i]))
			}
		}
		for what, list := range all {
			mid := stat.Median(list)
			if mid <= 0 {
				continue
			}
			values[Series{Job, "", what}] = append(values[Series{Job, "", what}], mid)
			if strings.HasSuffix(what, Communication) { // which rank waits for which says nothing of the rank
				continue
			}
			values[Series{Rank, fmt.Sprint(s.Rank), what}] = []int64{mid}
			if s.Host != "" {
				values[Series{Host, s.Host, what}] = append(values[Series{Host, s.Host, what}], mid)
			}
		}
		for of, ns := range busyOf(s) {
			works[of] = append(works[of], ns)
		}
	}
	var steps []int64 // of all ranks and types
	for s, mids := range values {
		if s.Scope == Job && s.IsStep() {
			steps = append(steps, mids...)
		}
	}
	step := stat.Median(steps)
	for of, all := range works {
		whole := stat.Median(slices.Clone(values[Series{Job, "", strings.TrimSuffix(of.What, Busy) + Step}]))
		if mid := stat.Median(all); 2*len(all) > len(list) && whole > 0 && float64(mid) >= worth*float64(whole) {
			values[of] = []int64{mid}
		}
	}
	if step > 0 {
		for name, x := range transfers(list) {
			if float64(x.sum) >= worth*float64(step)*float64(x.steps) {
				values[Series{Link, name, Transfer}] = x.each
			}
		}
	}
	for s, all := range values {
		r.Points = append(r.Points, Point{s, stat.Median(all)})
	}
	slices.SortFunc(r.Points, func(a, b Point) int { return compareSeries(a.Series, b.Series) })
	r.Hosts = len(hosts)
	return r
}

// busyOf is how long each name of a rank takes in a step of each type, in the middle.
func busyOf(s *ranks.Summary) map[Series]int64 {
	steps := map[string]int{} // of each type
	what := func(step int32) string { return strings.TrimSpace(s.Steps[step].Type.String() + " " + Busy) }
	for i := range s.Steps {
		steps[what(int32(i))]++
	}
	all := map[Series][]int64{}
	for i := range s.Spent {
		if x := &s.Spent[i]; x.Name != 0 && x.Busy > 0 {
			of := Series{Work, s.Names[x.Name], what(x.Step)}
			if x.Host {
				of.Name += " (threads)"
			}
			all[of] = append(all[of], x.Busy)
		}
	}
	mids := map[Series]int64{}
	for of, list := range all {
		if 2*len(list) > steps[of.What] { // in most of them
			mids[of] = stat.Median(list)
		}
	}
	return mids
}

// transfer is one kind of collectives of one group, or of sends from one rank to another.
type transfer struct {
	each  []int64 // from the last arrival on
	sum   int64
	steps int
}

// transfers are how long collectives and sends take once their last member is there: as long as its own operation. Members are matched by their order in
// a step, so that clocks do not matter; where not all members of a group left a trace, the last one may be missing, and nothing is said.
func transfers(list []*ranks.Summary) map[string]*transfer {
	type key struct {
		name string
		step int32
	}
	ops := map[key]map[ranks.Rank][]int64{}
	sizes := map[string]int{}
	for _, s := range list {
		for i := range s.Ops {
			o := &s.Ops[i]
			k := &s.Kinds[o.Kind]
			g := &s.Groups[k.Group]
			if o.Step < 0 || len(g.Ranks) < 2 {
				continue
			}
			name, who, members := k.Coll.String(), "ranks "+listed(g.Ranks), len(g.Ranks)
			if k.Peer >= 0 {
				from, to := s.Rank, peerOf(k.Peer, s.Rank, g.Ranks)
				if !k.Sends {
					from, to = to, from
				}
				name, who, members = "send", fmt.Sprintf("rank %d → %d", from, to), 2
			}
			if bytes := k.Bytes(); bytes > 0 {
				name += " of " + tables.FormatBytes(bytes)
			}
			name += ", " + who
			sizes[name] = members
			at := key{name, o.Step}
			if ops[at] == nil {
				ops[at] = map[ranks.Rank][]int64{}
			}
			ops[at][s.Rank] = append(ops[at][s.Rank], o.End-o.Start)
		}
	}
	out := map[string]*transfer{}
	for at, members := range ops {
		first := slices.Min(slices.Collect(maps.Keys(members)))
		n := len(members[first])
		whole := len(members) == sizes[at.name]
		for _, m := range members {
			whole = whole && len(m) == n
		}
		if !whole {
			continue
		}
		x := out[at.name]
		if x == nil {
			x = &transfer{}
			out[at.name] = x
		}
		x.steps++
		for i := range n {
			shortest := members[first][i]
			for _, m := range members {
				shortest = min(shortest, m[i])
			}
			x.each, x.sum = append(x.each, shortest), x.sum+shortest
		}
	}
	return out
}

// peerOf is the rank of the other side of a point-to-point operation. Some name it by its place in the group: surely where it is nobody of the group, or
// the rank itself. What is read in the wrong form has no second side, and is left out.
func peerOf(peer, own ranks.Rank, group []ranks.Rank) ranks.Rank {
	if (peer == own || !slices.Contains(group, peer)) && int(peer) < len(group) {
		return group[peer]
	}
	return peer
}

// listed is a list of ranks, ascending, made short.
func listed(list []ranks.Rank) string {
	switch n := len(list); {
	case int(list[n-1]-list[0]) == n-1:
		return fmt.Sprintf("%d-%d", list[0], list[n-1])
	case n <= 4:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
	}
	return fmt.Sprintf("%d,%d,…,%d (%d)", list[0], list[1], list[len(list)-1], len(list))
}
