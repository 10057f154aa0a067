package cdg

import (
	"slices"
	"sort"

	"overlay/internal/par"
)

// SortRuns is a stable natural merge sort: what the profiler writes and what is made from it lane by lane are a few
// sorted runs. less is called from several goroutines where there are many.
func SortRuns[T any](a []T, less func(x, y *T) bool) {
	runs := findRuns(a, less)
	if len(runs) == 2 {
		return
	}
	from, to := a, make([]T, len(a))
	for len(runs) > 2 {
		merged := make([]int, 0, len(runs)/2+2)
		var merges []merge[T]
		for i := 0; i+1 < len(runs); i += 2 {
			low, mid, high := runs[i], runs[i+1], runs[min(i+2, len(runs)-1)]
			merges = merge[T]{to[low:high], from[low:mid], from[mid:high]}.cut(merges, less)
			merged = append(merged, low)
		}
		par.EachRange(len(merges), ranges(len(a), len(a)/len(merges)), func(_, from, to int) {
			for i := from; i < to; i++ {
				merges[i].run(less)
			}
		})
		runs, from, to = append(merged, len(a)), to, from
	}
	if &from[0] != &a[0] {
		copy(a, from)
	}
}

// findRuns returns where the sorted runs begin, and the end.
func findRuns[T any](a []T, less func(x, y *T) bool) []int {
	parts := make([][]int, ranges(len(a), 0))
	par.EachRange(len(a), len(parts), func(part, from, to int) {
		for i := max(from, 1); i < to; i++ {
			if less(&a[i], &a[i-1]) {
				parts[part] = append(parts[part], i)
			}
		}
	})
	return append(append([]int{0}, slices.Concat(parts...)...), len(a))
}

// merge is two sorted runs and where they come together; of equal ones those of x come first.
type merge[T any] struct{ to, x, y []T }

// cut appends the merge to a list, a long one in parts that follow one another.
func (m merge[T]) cut(list []merge[T], less func(x, y *T) bool) []merge[T] {
	for n := ranges(len(m.to), 0); n > 1; n-- {
		i := len(m.x) / n
		j := len(m.y)
		if i < len(m.x) {
			j = sort.Search(len(m.y), func(j int) bool { return !less(&m.y[j], &m.x[i]) })
		}
		list = append(list, merge[T]{m.to[:i+j], m.x[:i], m.y[:j]})
		m = merge[T]{m.to[i+j:], m.x[i:], m.y[j:]}
	}
	return append(list, m)
}

func (m merge[T]) run(less func(x, y *T) bool) {
	to, x, y := m.to, m.x, m.y
	for len(x) > 0 && len(y) > 0 {
		if less(&y[0], &x[0]) {
			to[0], y = y[0], y[1:]
		} else {
			to[0], x = x[0], x[1:]
		}
		to = to[1:]
	}
	copy(to, x)
	copy(to[len(x):], y)
}
