package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

// skewShare is the share of what was waited for that must not be recorded for an instance to say nothing of the job.
const skewShare = 4 // a quarter

type chargeKey struct {
	member int32
	name   Name
	class  critpath.Class
}

// charge says for each instance what its members waited for: it walks back from the last to arrive, and each piece of
// that walk is charged with the rank-time that waited during it. So the charges of an instance sum to its waits.
func (j *Job) charge() {
	w := &j.Waits
	w.ByMember, w.ByStep = make([]MemberWait, len(j.Members)), map[int32][]int64{}
	sums := map[chargeKey]int64{}
	back := &walk{j: &j.Clocked, best: j.bestTransfers()}
	var in *Instance
	var starts, waits []int64
	unrec := int64(0)
	waited := func(t int64) int64 { // rank-time that was waited until t
		sum := int64(0)
		for i, s := range starts {
			sum += min(max(t-s, 0), waits[i])
		}
		return sum
	}
	spans := make([][]cdg.Span, len(j.Members)) // in which each waited
	above := int64(0)                           // waited at the end of the piece that comes next
	back.emit = func(s Segment) {
		below := waited(s.Start)
		ns := above - below
		above = below
		switch {
		case s.Kind == critpath.Unrecorded:
			w.Unrec += ns
			unrec += ns
		case s.Kind == critpath.MissingRank:
			w.Missing += ns
		case s.Kind == critpath.Comm:
			w.Transfer += ns
		case ns > 0:
			sums[chargeKey{s.Member, s.Name, s.Kind.Class()}] += ns
			w.ByMember[s.Member].Caused += ns
			w.ByStep[in.Step][s.Member] += ns
		}
	}
	for i := range j.Instances {
		in = &j.Instances[i]
		if in.Arrive < j.Window[0] || in.Arrive >= j.Window[1] {
			continue
		}
		starts, waits, unrec = starts[:0], waits[:0], 0
		first := in.Arrive
		for _, r := range j.refs(i) {
			ns := j.Wait(in, r)
			w.ByMember[r.Member].Waited += ns
			s, _ := j.times(r)
			starts, waits = append(starts, s), append(waits, ns)
			spans[r.Member] = append(spans[r.Member], cdg.Span{Start: s, End: s + ns})
			first = min(first, s)
		}
		w.Total += in.Wait
		if !in.Solved || in.Wait == 0 {
			continue
		}
		if w.ByStep[in.Step] == nil {
			w.ByStep[in.Step] = make([]int64, len(j.Members))
		}
		back.floor, above = first, in.Wait
		back.back(in.Last, j.refOf(in, in.Last).Op, in.Arrive)
		if in.Skewed = unrec > 0 && unrec*skewShare >= in.Wait; in.Skewed {
			w.Skewed += in.Wait
		}
	}
	for key, ns := range sums {
		w.Charged = append(w.Charged, Charge{key.member, key.name, key.class, ns})
	}
	slices.SortFunc(w.Charged, func(a, b Charge) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Member, b.Member), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Name, b.Name))
	})
	for m := range j.Members {
		x := &j.Members[m]
		for _, s := range critpath.Joined(spans[m]) {
			w.Once += max(min(s.End, x.End, j.Window[1])-max(s.Start, x.Start, j.Window[0]), 0)
		}
		w.Time += max(min(x.End, j.Window[1])-max(x.Start, j.Window[0]), 0)
	}
}
