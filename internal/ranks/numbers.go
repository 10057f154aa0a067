package ranks

import (
	"strconv"
)

func abs(x int64) int64 { return max(x, -x) }

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

func itoa(n int) string { return strconv.Itoa(n) }

// sets are disjoint sets of small numbers; the root of a set is its lowest member.
type sets struct{ up []int32 }

func newSets(n int) *sets {
	s := &sets{make([]int32, n)}
	for i := range s.up {
		s.up[i] = int32(i)
	}
	return s
}

func (s *sets) find(a int32) int32 {
	for s.up[a] != a {
		s.up[a] = s.up[s.up[a]]
		a = s.up[a]
	}
	return a
}

func (s *sets) join(a, b int32) bool {
	a, b = s.find(a), s.find(b)
	if a == b {
		return false
	}
	s.up[max(a, b)] = min(a, b)
	return true
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
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
