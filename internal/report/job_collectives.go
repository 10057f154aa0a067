package report

import (
	"cmp"
	"slices"

	"overlay/internal/ranks"
	"overlay/internal/tables"
)

// collectives sums the collectives of the window by group and name, and lists them where the walk is wanted.
func (b *jobBuilder) collectives(out *Job) {
	j := b.j
	type key struct {
		group int32
		coll  ranks.Coll
	}
	at := map[key]int{}
	out.Totals = []GroupTotal{}
	durations := []int64{}
	ended := slices.Repeat([]int64{j.Window[0]}, len(j.Groups)) // last end of the group
	for _, i := range b.byArrival() {
		in := &j.Instances[i]
		refs := j.Of[in.First : in.First+in.N]
		late, end, dur := int64(0), int64(0), int64(0)
		var members []CollectiveRank
		for _, r := range refs {
			m := &j.Members[r.Member]
			op := &m.Ops[r.Op]
			s, e := m.Clock.Global(op.Start), m.Clock.Global(op.End)
			late += in.Arrive - s
			end = max(end, e)
			dur += e - s
			if b.Segments {
				members = append(members, CollectiveRank{int(m.Rank), int32(op.Event), s, e, j.Wait(in, r)})
			}
		}
		rWait := min(max(tables.ShareOf(late, int64(in.N)*(in.Arrive-ended[in.Group])), 0), 1)
		ended[in.Group] = max(ended[in.Group], end)
		if in.Arrive < j.Window[0] || in.Arrive >= j.Window[1] {
			continue
		}
		k := key{in.Group, in.Coll}
		n, ok := at[k]
		if !ok {
			n = len(out.Totals)
			at[k] = n
			out.Totals = append(out.Totals, GroupTotal{Group: int(in.Group), Name: in.Coll.String(), Shortest: in.Transfer, RWaitMin: rWait})
			durations = append(durations, 0)
		}
		t := &out.Totals[n]
		t.Count++
		t.Wait += in.Wait
		t.Transfer += in.Transfer
		t.Shortest, t.Longest = min(t.Shortest, in.Transfer), max(t.Longest, in.Transfer)
		t.RWaitMin, t.RWaitMax = min(t.RWaitMin, rWait), max(t.RWaitMax, rWait)
		if in.Skewed {
			t.Artefacts++
		} else {
			durations[n] += dur
			t.WaitRatio += float64(in.Wait) // a share in the end
		}
		if b.Segments {
			first := refs[0]
			by := "clock"
			if !in.Solved {
				by = "duration"
			}
			out.Collectives = append(out.Collectives, JobCollective{ID: i, Group: int(in.Group), Name: in.Coll.String(), Bytes: j.Members[first.Member].Kinds[in.Kind].Bytes(),
				Step: int(in.Step), Last: b.rank(in.Last), Arrive: in.Arrive, Second: in.Second, Transfer: in.Transfer, Wait: in.Wait, RWait: rWait, Artefact: in.Skewed, By: by, Ranks: members})
		}
	}
	for n := range out.Totals {
		t := &out.Totals[n]
		t.WaitRatio = tables.ShareOf(int64(t.WaitRatio), durations[n])
	}
	slices.SortStableFunc(out.Totals, func(x, y GroupTotal) int { return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Name, y.Name)) })
}

// byArrival are the instances in the order in which their last members came.
func (b *jobBuilder) byArrival() []int {
	order := make([]int, len(b.j.Instances))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(b.j.Instances[x].Arrive, b.j.Instances[y].Arrive) })
	return order
}
