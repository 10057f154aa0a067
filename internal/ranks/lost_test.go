package ranks

import (
	"slices"
	"testing"
)

// TestLostWork: a rank whose kernels are not all recorded is taken to have done what its peers did, and one that did more of its own
// keeps that where no record is lost.
func TestLostWork(t *testing.T) {
	job := func(lost int) *Job {
		j := &Job{}
		for _, calls := range [][2]int32{{100, 10}, {100, 0}, {98, 10}} {
			s := &Summary{Names: []string{"", "a", "b"}, Steps: []Step{{Number: 7}}, Quality: map[string]int{lostKernels: lost}}
			for i, n := range calls {
				if n > 0 {
					s.Spent = append(s.Spent, Spent{Name: Name(i + 1), Calls: n, Busy: int64(n) * 50})
				}
			}
			s.Spent = append(s.Spent, Spent{Name: 1, Host: true, Calls: 900, Busy: 9})
			j.Members = append(j.Members, Member{Summary: s})
		}
		return j
	}
	all := []int32{0, 1, 2}
	peers := [][]int32{all, all, all}
	if got := job(2).lostWork(7, peers); !slices.Equal(got, []int64{0, 500, 100}) {
		t.Errorf("with lost records: %v", got)
	}
	if got := job(1).lostWork(7, peers); !slices.Equal(got, []int64{0, 0, 0}) {
		t.Errorf("with one lost of a hundred: %v", got)
	}
	if got := job(2).lostWork(8, peers); !slices.Equal(got, []int64{0, 0, 0}) {
		t.Errorf("in another step: %v", got)
	}
}
