package hta

import "math/bits"

// runLimit is the partition size below which the sort inserts.
const runLimit = 15

// unstableOrder returns the permutation that sorts keys, with equal keys in the order in which numpy 1.24's argsort
// leaves them: median-of-three quicksort down to short runs, then insertion, heap sort when partitions degenerate.
// A stable sort would be better and gives the same path; it does not give the same graph as the peer.
func unstableOrder(keys []int64) []int32 {
	idx := identity(len(keys))
	if len(keys) > 1 {
		quick(keys, idx, 2*(bits.Len(uint(len(keys)))-1))
	}
	return idx
}

// identity is the numbers from 0 up, so many.
func identity(n int) []int32 {
	idx := make([]int32, n)
	for i := range idx {
		idx[i] = int32(i)
	}
	return idx
}

type part struct {
	lo, hi, depth int // hi is included
}

func quick(keys []int64, idx []int32, depth int) {
	work := []part{{0, len(idx) - 1, depth}}
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if p.depth < 0 {
			heap(keys, idx[p.lo:p.hi+1])
			continue
		}
		for p.hi-p.lo > runLimit {
			m := split(keys, idx, p.lo, p.hi)
			p.depth--
			// the larger part waits
			if m-p.lo < p.hi-m {
				work = append(work, part{m + 1, p.hi, p.depth})
				p.hi = m - 1
			} else {
				work = append(work, part{p.lo, m - 1, p.depth})
				p.lo = m + 1
			}
		}
		insert(keys, idx, p.lo, p.hi)
	}
}

// split partitions idx[lo:hi+1] around the median of its first, middle and last key.
func split(keys []int64, idx []int32, lo, hi int) int {
	mid := lo + (hi-lo)/2
	order := func(a, b int) {
		if keys[idx[b]] < keys[idx[a]] {
			idx[a], idx[b] = idx[b], idx[a]
		}
	}
	order(lo, mid)
	order(mid, hi)
	order(lo, mid)
	pivot := keys[idx[mid]]
	idx[mid], idx[hi-1] = idx[hi-1], idx[mid]
	i, j := lo, hi-1
	for {
		for i++; keys[idx[i]] < pivot; i++ {
		}
		for j--; pivot < keys[idx[j]]; j-- {
		}
		if i >= j {
			break
		}
		idx[i], idx[j] = idx[j], idx[i]
	}
	idx[i], idx[hi-1] = idx[hi-1], idx[i]
	return i
}

func insert(keys []int64, idx []int32, lo, hi int) {
	for i := lo + 1; i <= hi; i++ {
		x := idx[i]
		j := i
		for ; j > lo && keys[x] < keys[idx[j-1]]; j-- {
			idx[j] = idx[j-1]
		}
		idx[j] = x
	}
}

func heap(keys []int64, idx []int32) {
	down := func(i, n int) {
		x := idx[i]
		for {
			c := 2*i + 1
			if c >= n {
				break
			}
			if c+1 < n && keys[idx[c]] < keys[idx[c+1]] {
				c++
			}
			if keys[x] >= keys[idx[c]] {
				break
			}
			idx[i] = idx[c]
			i = c
		}
		idx[i] = x
	}
	n := len(idx)
	for i := n/2 - 1; i >= 0; i-- {
		down(i, n)
	}
	for i := n - 1; i > 0; i-- {
		idx[0], idx[i] = idx[i], idx[0]
		down(0, i)
	}
}
