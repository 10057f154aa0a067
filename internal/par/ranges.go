package par

// Ranges is into how many ranges of at least size things n things are cut: one when there are fewer. It does not depend on the
// number of processors, so what is joined in the order of the ranges is the same on any. Who keeps something for each
// range chooses a size no smaller than that: then all ranges together keep no more than n.
func Ranges(n, size int) int { return max(1, n/size) }

// EachRange calls do for ranges that follow one another from 0 to n, side by side like Each.
func EachRange(n, ranges int, do func(part, from, to int)) {
	Each(ranges, func(i int) { do(i, n/ranges*i+min(i, n%ranges), n/ranges*(i+1)+min(i+1, n%ranges)) })
}
