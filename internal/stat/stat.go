// Package stat has the one definition of a median and of a quantile: of an even number of values the median is the mean
// of both in the middle, and a quantile between two values lies on the line through them. It has all that is said of noise, too: of two sides by
// a bootstrap (Interval), of a series in time by Student's test (Shift, Noise).
package stat

import (
	"math/bits"
	"slices"
)

type number interface {
	~int32 | ~int64 | ~float32 | ~float64
}

// Median is the median of values, rounded down to a whole number; 0 of none. It puts the values into another order.
func Median(values []int64) int64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	high := Nth(values, n/2)
	if n%2 == 1 {
		return high
	}
	low := Nth(values, n/2-1)
	return low + int64(uint64(high-low)>>1)
}

// MedianBut is the median of ascending values but for one that is equal to out; 0 of no others.
func MedianBut(sorted []int64, out int64) int64 {
	n := len(sorted) - 1
	if n < 1 {
		return 0
	}
	at := func(i int) int64 {
		if out <= sorted[i] {
			i++
		}
		return sorted[i]
	}
	low, high := at((n-1)/2), at(n/2)
	return low + (high-low)>>1
}

// Spread is the median distance from mid.
func Spread(values []int64, mid int64) int64 {
	d := make([]int64, len(values))
	for i, x := range values {
		d[i] = max(x-mid, mid-x)
	}
	return Median(d)
}

// Quantile is the value of ascending values below which the share q of them lies, from 0 for the least to 1 for the
// largest; 0 of none.
func Quantile[T number](sorted []T, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	v := float64(sorted[i])
	if i+1 < len(sorted) {
		v += (at - float64(i)) * (float64(sorted[i+1]) - v)
	}
	return v
}

// Nth is the value of rank k, counted from 0. It puts the values into another order. Each round keeps the values of that 256th of the
// range in which it lies, so that the time is linear whatever the values are; sorting all of them costs several times more.
func Nth(values []int64, k int) int64 {
	for len(values) > 64 {
		low, high := slices.Min(values), slices.Max(values)
		if low == high {
			return low
		}
		shift := max(0, bits.Len64(uint64(high-low))-8)
		var count [256]int
		for _, v := range values {
			count[uint64(v-low)>>shift]++
		}
		part := 0
		for ; k >= count[part]; part++ {
			k -= count[part]
		}
		n := 0
		for i, v := range values {
			if uint64(v-low)>>shift == uint64(part) {
				values[i], values[n] = values[n], v
				n++
			}
		}
		values = values[:n]
	}
	slices.Sort(values)
	return values[k]
}
