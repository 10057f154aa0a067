package cdg

// SortRuns is a stable natural merge sort: what the profiler writes and what is made from it lane by lane are a few
// sorted runs.
func SortRuns[T any](a []T, less func(x, y *T) bool) {
	runs := []int{0}
	for i := 1; i < len(a); i++ {
		if less(&a[i], &a[i-1]) {
			runs = append(runs, i)
		}
	}
	if len(runs) == 1 {
		return
	}
	runs = append(runs, len(a))
	from, to := a, make([]T, len(a))
	for len(runs) > 2 {
		merged := runs[:1]
		for i := 0; i+1 < len(runs); i += 2 {
			low, mid, high := runs[i], runs[i+1], runs[min(i+2, len(runs)-1)]
			mergeRuns(to[low:high], from[low:mid], from[mid:high], less)
			merged = append(merged, high)
		}
		runs, from, to = merged, to, from
	}
	if &from[0] != &a[0] {
		copy(a, from)
	}
}

func mergeRuns[T any](to, x, y []T, less func(x, y *T) bool) {
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
