package cdg

import (
	"math/bits"
	"slices"
)

// quantile returns a quantile of samples, by the nearest rank below. It puts the samples into another order.
func quantile(samples []int64, q float64) int64 {
	return Nth(samples, min(int(q*float64(len(samples))), len(samples)-1))
}

// Nth returns the sample of rank k, counted from 0. It puts the samples into another order. Each round keeps the samples of that 256th of the range in which
// it lies, so that the time is linear whatever the samples are; sorting all of them costs several times more.
func Nth(samples []int64, k int) int64 {
	for len(samples) > 64 {
		low, high := slices.Min(samples), slices.Max(samples)
		if low == high {
			return low
		}
		shift := max(0, bits.Len64(uint64(high-low))-8)
		var count [256]int
		for _, v := range samples {
			count[uint64(v-low)>>shift]++
		}
		part := 0
		for ; k >= count[part]; part++ {
			k -= count[part]
		}
		n := 0
		for i, v := range samples {
			if uint64(v-low)>>shift == uint64(part) {
				samples[i], samples[n] = samples[n], v
				n++
			}
		}
		samples = samples[:n]
	}
	slices.Sort(samples)
	return samples[k]
}
