package ranks

import (
	"slices"
	"testing"
)

// TestSpells: a rank is slow where it has more than its peers by more than that changes from step to step, be one rank slow or half of them. The µs are those that
// four ranks on an H100 had on their threads, in jobs in which nobody is slow, and in one in which ranks 1 and 2 stop for 30 ms in each step.
func TestSpells(t *testing.T) {
	const step = 11_000
	for what, c := range map[string]struct {
		over [][]int64
		want []int32
	}{
		"balanced, rank 1 ahead": {[][]int64{{423, 1039, -1461, -423}, {-204, 673, -1005, 204}, {166, 1044, -547, -166}, {-56, 56, -917, 158}, {-210, 210, -642, 283}}, nil},
		"balanced, rank 2 ahead": {[][]int64{{-13, -873, 359, 13}, {-128, -1050, 793, 128}, {49, -49, 370, -569}, {-588, -74, 605, 74}, {-721, 371, 708, -371}}, nil},
		"balanced, 1 and 2":      {[][]int64{{-115, 115, 167, -263}, {-69, 402, 69, -360}, {-308, 282, 382, -282}, {-585, 712, 585, -849}, {-1519, 1602, 770, -770}}, nil},
		"two of four": {[][]int64{{-28631, 29164, 28631, -29703}, {-29427, 29427, 31019, -30854}, {-28751, 28751, 29083, -30332}, {-29269, 29269, 29487, -30068},
			{-30773, 30743, 30651, -30651}}, []int32{1, 2}},
		"one has much more, but steps differ":  {[][]int64{{-2000, 2000, -2000, -2000}, {-6000, 6000, -6000, -6000}, {-3500, 3500, -3500, -3500}, {-5000, 5000, -5000, -5000}}, []int32{1}},
		"one, by little, in all of many steps": {slices.Repeat([][]int64{{100, 500, -100, 0}, {0, 600, 100, -100}, {-100, 400, 0, 100}}, 10), []int32{1}},
	} {
		j := &judge{Job: &Job{}}
		j.Members = make([]Member, 4)
		for i, over := range c.over {
			s := &JobStep{Number: int32(i), Duration: step, over: [numWheres][]int64{make([]int64, 4), over, make([]int64, 4)}}
			j.steps = append(j.steps, s)
		}
		j.measureNoise()
		var got []int32
		for _, x := range j.spells() {
			got = append(got, x.member)
			if x.from != 0 || x.to != len(j.steps) || x.at != onThreads {
				t.Errorf("%s: %+v", what, x)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// TestOneOffs: what is much in a few steps is of one rank each, however many steps these are, also beside a rank that is slow in all of them.
func TestOneOffs(t *testing.T) {
	for what, c := range map[string]struct {
		stops map[int32][]int // by member: the steps in which it has a third of a step more
		slow  bool            // member 3 has a tenth more in all steps
		want  []string
	}{
		"once":                    {map[int32][]int{1: {7}}, false, []string{"one_off rank 1 in step 7"}},
		"three times":             {map[int32][]int{2: {3, 7, 15}}, false, []string{"one_off rank 2 in 3 steps, first in step 3"}},
		"two ranks":               {map[int32][]int{1: {5}, 2: {3, 9}}, false, []string{"one_off rank 1 in step 5", "one_off rank 2 in 2 steps, first in step 3"}},
		"beside one that is slow": {map[int32][]int{1: {7}}, true, []string{"persistent rank 3", "one_off rank 1 in step 7"}},
		"nobody":                  {nil, false, nil},
	} {
		j := &judge{Job: &Job{}}
		for r := range 6 {
			j.Members, j.peers = append(j.Members, Member{Summary: &Summary{Rank: Rank(r), Device: -1}}), append(j.peers, []int32{0, 1, 2, 3, 4, 5})
			j.stages = append(j.stages, -1)
		}
		for i := range 20 {
			s := &JobStep{Number: int32(i), Start: int64(i) * 30_000, Duration: 30_000, gpu: make([]int64, 6)}
			for at := range numWheres {
				s.over[at] = make([]int64, 6)
			}
			for r := range int32(6) {
				more := int64((i*7+int(r)*3)%5) * 20
				if slices.Contains(c.stops[r], i) {
					more += 10_000
				}
				if r == 3 && c.slow {
					more += 3_000
				}
				s.over[onThreads][r], s.Excess = more, append(s.Excess, more)
			}
			s.host = s.Excess
			j.steps = append(j.steps, s)
		}
		var got []string
		for _, x := range j.stragglers() {
			got = append(got, string(x.Kind)+" "+j.Who(&x)+x.When())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, wanted %q", what, got, c.want)
		}
	}
}
