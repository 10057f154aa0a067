package cdg

import "overlay/internal/stat"

// quantile returns a quantile of samples, by the nearest rank below: a delay that was observed, not one between two. It puts the samples into another
// order.
func quantile(samples []int64, q float64) int64 {
	return stat.Nth(samples, min(int(q*float64(len(samples))), len(samples)-1))
}
