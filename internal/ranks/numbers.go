package ranks

import "slices"

func abs(x int64) int64 { return max(x, -x) }

// median sorts the values and returns the middle one, of two the mean; 0 without any.
func median(v []int64) int64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return floorDiv(v[n/2-1]+v[n/2], 2)
}

// quantile is a quantile of values, by the nearest rank below; 0 without any.
func quantile[T int32 | int64](v []T, q float64) T {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(int(q*float64(len(v))), len(v)-1)]
}

// spread is the median distance from the median.
func spread(v []int64, mid int64) int64 {
	d := make([]int64, len(v))
	for i, x := range v {
		d[i] = abs(x - mid)
	}
	return median(d)
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}
