package flame

import (
	"cmp"
	"slices"

	"overlay/internal/critpath"
)

// Box is a frame where a flame graph draws it, in ns of the path from the left.
type Box struct {
	Name  string
	Depth int // 0 at the top
	Left  int64
	NS    int64
	Class critpath.Class // that holds most of it
}

// Boxes lays out at most so many frames, those with the most time, a parent before its children and these by their time. Frames of one time
// are all there, or none of them. Of what is left out the place in its parent is empty. The length of the path is the second result.
func (x *Graph) Boxes(most int) (boxes []Box, total int64) {
	sums := make([][critpath.NumClasses]int64, len(x.nodes))
	ns := make([]int64, len(x.nodes))
	below := make([][]int32, len(x.nodes)+1) // of a node at one more than its number
	for i := len(x.nodes) - 1; i >= 0; i-- {
		n := &x.nodes[i]
		sums[i][n.class] += n.ns
		if ns[i] += n.ns; n.parent < 0 {
			total += ns[i]
		} else {
			ns[n.parent] += ns[i]
			for c, t := range sums[i] {
				sums[n.parent][c] += t
			}
		}
		below[n.parent+1] = append(below[n.parent+1], int32(i))
	}
	least := int64(1)
	if sorted := slices.Sorted(slices.Values(ns)); len(sorted) > most {
		least = sorted[len(sorted)-most-1] + 1
	}
	var place func(i int32, left int64)
	place = func(i int32, left int64) {
		list := below[i+1]
		slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(ns[b], ns[a]), cmp.Compare(a, b)) })
		for _, k := range list {
			if ns[k] < least {
				break
			}
			boxes = append(boxes, Box{x.frames[x.nodes[k].frame], int(x.nodes[k].depth) - 1, left, ns[k], critpath.BoundBy(&sums[k])})
			place(k, left)
			left += ns[k]
		}
	}
	place(-1, 0)
	return boxes, total
}
