package ranks

import "testing"

// hostJob is a job of ranks on one host, each with a collective at the times of the job that are given, on clocks that jump by 700 µs at 5 ms
// where that is said. The first is alone on another host, and stands still.
func hostJob(ends [][]int64, jumps []bool) *Job {
	const epoch, by = 1_760_000_000_000_000_000, 700_000
	j := &Job{}
	at := map[int64][]Ref{}
	for m := range ends {
		s := &Summary{Rank: Rank(m), Host: "b", Window: [2]int64{epoch, epoch + 10_000_000}, Kinds: []Kind{{Coll: AllReduce}}}
		if m == 0 {
			s.Host = "a"
		}
		x := Member{Summary: s, Clock: Clock{Error: 1000, Observations: len(ends[m]), Pieces: []Piece{{From: -1 << 63, Mid: epoch}}}}
		if jumps[m] {
			x.Clock.Pieces = append(x.Clock.Pieces, Piece{From: epoch + 5_000_000, Unsure: [2]int64{epoch + 4_900_000, epoch + 5_800_000}, Mid: epoch, Offset: by})
		}
		for i, t := range ends[m] {
			local := epoch + t
			if jumps[m] && t >= 5_000_000 {
				local += by
			}
			s.Ops = append(s.Ops, Op{Start: local - 1000, End: local})
			at[t] = append(at[t], Ref{int32(m), int32(i)})
		}
		j.Members = append(j.Members, x)
	}
	for t := int64(0); t < 10_000_000; t += 500_000 {
		if refs := at[t]; refs != nil {
			j.Instances = append(j.Instances, Instance{First: int32(len(j.Of)), N: int32(len(refs)), Coll: AllReduce})
			j.Of = append(j.Of, refs...)
		}
	}
	return j
}

var (
	always = []int64{1_000_000, 2_000_000, 8_000_000, 9_000_000}
	early  = always[:2]
	late   = always[2:]
)

// TestTellMates: what some ranks of a host saw of a jump holds for those that took part in nothing before it, or after it.
func TestTellMates(t *testing.T) {
	j := hostJob([][]int64{always, always, always, early, late}, []bool{false, true, true, false, false})
	j.Members[4].Clock.Pieces[0].Offset = 700_000
	for i := range j.Members[4].Ops {
		j.Members[4].Ops[i].Start += 700_000
		j.Members[4].Ops[i].End += 700_000
	}
	j.tellMates()
	for m := range 5 {
		c := &j.Members[m].Clock
		if want := m > 0; (len(c.Pieces) == 2) != want {
			t.Fatalf("rank %d: %+v", m, c.Pieces)
		}
		if m < 3 {
			continue
		}
		if p := c.Pieces; p[0].Offset != 0 || p[1].Offset != 700_000 || p[1].Unsure[0] > p[1].From || p[1].From > p[1].Unsure[1] || c.Error != 2000 {
			t.Errorf("rank %d: error %d, %+v", m, c.Error, p)
		}
	}
	j = hostJob([][]int64{always, always, always, early}, []bool{false, true, false, false}) // who stood still speaks against it
	j.tellMates()
	if len(j.Members[3].Clock.Pieces) != 1 {
		t.Error("a jump that half of the host did not make is told")
	}
}

// TestDoubtJumps: who moved otherwise than most of the host may be off by the difference, and if none are most, all may.
func TestDoubtJumps(t *testing.T) {
	for _, c := range []struct {
		jumps []bool
		by    string
		off   []int64
	}{
		{[]bool{false, true, true, true}, "args", []int64{0, 0, 0, 0}},
		{[]bool{false, true, true, false}, "args", []int64{0, 0, 0, 700_000}},
		{[]bool{false, true, false, false}, "args", []int64{0, 700_000, 0, 0}},
		{[]bool{false, true, false, true}, "times", []int64{0, 700_000, 700_000, 700_000}},
	} {
		j := hostJob([][]int64{always, always, always, always}, c.jumps)
		j.Groups = []JobGroup{{By: c.by}}
		for m := range j.Members {
			j.Members[m].group = []int32{0}
		}
		j.doubtJumps()
		for m := range j.Members {
			if got := j.Members[m].Clock.Error - 1000; got != c.off[m] {
				t.Errorf("%v, groups by %s: rank %d doubts %d", c.jumps, c.by, m, got)
			}
		}
	}
	j := hostJob([][]int64{always, always, always}, []bool{false, true, false})
	j.doubtJumps()
	if j.Members[1].Clock.Error != 701_000 || j.Members[2].Clock.Error != 701_000 {
		t.Errorf("one against one: %d and %d", j.Members[1].Clock.Error, j.Members[2].Clock.Error)
	}
}

// TestMoment: a jump is between the differences of which the one is near the level before it and the other near the one after.
func TestMoment(t *testing.T) {
	for at := 1; at < 8; at++ {
		o, s := &observations{}, &series{}
		for k := range int32(8) {
			by := 0.0
			if int(k) >= at {
				by = 700_000
			}
			o.end = append(o.end, float64(k)*1e6, float64(k)*1e6+by)
			s.obs = append(s.obs, [2]int32{2 * k, 2*k + 1})
		}
		if got := s.moment(o, 4, 0, 700_000); got != at {
			t.Errorf("a jump before difference %d is found at %d", at, got)
		}
	}
}
