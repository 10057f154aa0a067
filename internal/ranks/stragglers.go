package ranks

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// strike is a step in which a member had much more work than its peers.
type strike struct {
	step   *JobStep
	member int32
	share  float64
}

// stragglers finds who is slow: always the same, by turns, or once.
func (j *Job) stragglers(steps []*JobStep, peers [][]int32) []Straggler {
	var strikes []strike
	by := make([]int64, len(j.Members)) // excess in the steps that were hit
	for _, s := range steps {
		if m, share := s.hit(); m >= 0 {
			strikes = append(strikes, strike{s, m, share})
			for k, e := range s.Excess {
				if float64(e) >= hitShare/2*float64(s.length()) {
					by[k] += e
				}
			}
		}
	}
	if len(strikes) == 0 {
		return nil
	}
	often := func(n int) bool { return float64(n) >= oftenShare*float64(len(steps)) }
	if u := j.unit(by, strikes); u != nil && len(u.members) > 1 {
		var hits []strike
		for _, x := range strikes {
			if slices.Contains(u.members, x.member) {
				hits = append(hits, x)
			}
		}
		if often(len(hits)) {
			return []Straggler{j.straggler(Persistent, *u, hits, peers)}
		}
	}
	count := map[int32]int{}
	for _, x := range strikes {
		count[x.member]++
	}
	sum := int64(0)
	for _, e := range by {
		sum += e
	}
	for _, m := range slices.Sorted(keys(count)) {
		if float64(by[m]) < oftenShare*float64(sum) { // by turns with others it may be the first of them in most steps, too
			continue
		}
		busiest := 0
		for _, s := range steps {
			if s.busiest == m && float64(s.lead) >= hitShare*float64(s.length()) {
				busiest++
			}
		}
		if (often(count[m]) || often(busiest)) && steady(steps, of(strikes, m)) {
			return []Straggler{j.straggler(Persistent, unit{"rank", "", []int32{m}}, of(strikes, m), peers)}
		}
	}
	var strong []strike
	for _, x := range strikes {
		if x.share >= alternatingShare {
			strong = append(strong, x)
		}
	}
	if len(strong) >= 2 && 2*len(strong) >= len(steps) && len(steps) >= 3 {
		u := unit{kind: "rank"}
		for _, x := range strong {
			if !slices.Contains(u.members, x.member) {
				u.members = append(u.members, x.member)
			}
		}
		slices.Sort(u.members)
		if x := j.straggler(Alternating, u, strong, peers); !x.Cause.vague() {
			return []Straggler{x}
		}
		return nil // of a busy machine each rank is late in some step
	}
	var out []Straggler
	for _, x := range strikes {
		if x.share >= oneOffShare {
			out = append(out, j.straggler(OneOff, unit{"rank", "", []int32{x.member}}, []strike{x}, peers))
		}
	}
	return out
}

// steady reports whether a member has more work than its peers by more than that changes from step to step. Of two ranks on a busy machine one has more in most of
// a few steps as a matter of course.
func steady(steps []*JobStep, hits []strike) bool {
	gpu, host := int64(0), int64(0)
	for _, x := range hits {
		gpu += x.step.gpu[x.member]
		host += x.step.host[x.member]
	}
	var more []int64
	for _, s := range steps {
		more = append(more, s.more[b2i(host > gpu)][hits[0].member])
	}
	return steadily(more)
}

// steadily reports whether something is more by more than it changes.
func steadily(more []int64) bool {
	mid := median(slices.Clone(more))
	return 2*mid > 3*spread(more, mid) // about one standard deviation
}

func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// of are the strikes of a member.
func of(strikes []strike, m int32) []strike {
	return slices.DeleteFunc(slices.Clone(strikes), func(x strike) bool { return x.member != m })
}

// unit is ranks that belong together.
type unit struct {
	kind, name string
	members    []int32
}

// unit finds the one host or tensor-parallel group to which most of the excess belongs. Where groups say nothing of what they are for, it
// may be any: the ranks of a stage of a pipeline share their gradients. A rank that has most of it alone is no
// unit, nor are ranks that have it by turns: those of a unit have it in the same steps.
func (j *Job) unit(by []int64, strikes []strike) *unit {
	sum, most := int64(0), int64(0)
	for _, e := range by {
		sum += e
		most = max(most, e)
	}
	if sum == 0 || float64(most) >= oftenShare*float64(sum) {
		return nil
	}
	var units []unit
	hosts := map[string]int{}
	for m := range j.Members {
		h := j.hostOf(&j.Members[m])
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
		u := unit{kind: "group", name: x.Name}
		for m := range j.Members {
			if slices.Contains(x.Ranks, j.Members[m].Rank) {
				u.members = append(u.members, int32(m))
			}
		}
		units = append(units, u)
	}
	best, bestSum := -1, int64(0)
	for i, u := range units {
		part, together := int64(0), 0
		for _, m := range u.members {
			part += by[m]
		}
		for _, x := range strikes {
			if x.step.share(u.members) {
				together++
			}
		}
		if len(u.members) == len(j.Members) || float64(together) < oftenShare*float64(len(strikes)) || float64(part) < oftenShare*float64(sum) {
			continue
		}
		if best < 0 || part > bestSum || part == bestSum && len(u.members) < len(units[best].members) {
			best, bestSum = i, part
		}
	}
	if best < 0 {
		return nil
	}
	return &units[best]
}

// share reports whether most of some members have more work than their peers in a step, those that have least of it at
// least a third of what the one with most has.
func (s *JobStep) share(members []int32) bool {
	most, busy := int64(0), 0
	for _, m := range members {
		most = max(most, s.Excess[m])
	}
	for _, m := range members {
		if 3*s.Excess[m] >= most {
			busy++
		}
	}
	return most > 0 && 3*busy >= 2*len(members)
}

// hostOf names the host of a member: as recorded, else by the rank of its device 0, where the devices of the job differ.
func (j *Job) hostOf(x *Member) string {
	if x.Host != "" || x.Device < 0 || int32(x.Rank) < x.Device {
		return x.Host
	}
	if !slices.ContainsFunc(j.Members, func(y Member) bool { return y.Device != x.Device }) {
		return "" // each process sees one device only
	}
	return "of rank " + itoa(int(int32(x.Rank)-x.Device))
}

// isTensor tells a tensor-parallel group by its description.
func isTensor(desc string) bool {
	desc = strings.ToUpper(desc)
	return strings.Contains(desc, "TENSOR") || slices.Contains(strings.FieldsFunc(desc, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }), "TP")
}

// straggler puts together what is known of one.
func (j *Job) straggler(kind StragglerKind, u unit, hits []strike, peers [][]int32) Straggler {
	s := Straggler{Kind: kind, Unit: u.kind, Name: u.name, Members: u.members}
	whole := int64(0)
	for _, x := range hits {
		s.Steps, s.Who = append(s.Steps, x.step.Number), append(s.Who, x.member)
		s.Excess += x.step.Excess[x.member]
		whole += x.step.length()
	}
	if whole > 0 {
		s.Share = float64(s.Excess) / float64(whole)
	}
	slices.SortFunc(hits, func(a, b strike) int { return cmp.Compare(a.step.Number, b.step.Number) })
	s.Cause, s.Names = j.cause(kind, hits, peers)
	return s
}
