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
	NS    int64          // of a difference: of each stack in it the longer side
	Sides [2]int64       // of a difference: its time before and after
	Class critpath.Class // that holds most of it
}

// Compared reports whether the graph is a difference.
func (x *Graph) Compared() bool { return x.before != nil }

// Boxes lays out at most so many frames, those with the most time, a parent before its children and these by their time. Frames of one time
// are all there, or none of them. Of what is left out the place in its parent is empty. The second result is how wide all of them are: the length of
// the path, or more of a difference.
func (x *Graph) Boxes(most int) (boxes []Box, total int64) {
	sums := make([][critpath.NumClasses]int64, len(x.nodes))
	ns := make([]int64, len(x.nodes))
	sides := make([][2]int64, len(x.nodes))
	below := make([][]int32, len(x.nodes)+1) // of a node at one more than its number
	for i := len(x.nodes) - 1; i >= 0; i-- {
		n := &x.nodes[i]
		own := n.ns
		if x.before != nil {
			own = max(own, x.before[i])
			sides[i][0], sides[i][1] = sides[i][0]+x.before[i], sides[i][1]+n.ns
		}
		sums[i][n.class] += own
		if ns[i] += own; n.parent < 0 {
			total += ns[i]
		} else {
			ns[n.parent] += ns[i]
			sides[n.parent][0], sides[n.parent][1] = sides[n.parent][0]+sides[i][0], sides[n.parent][1]+sides[i][1]
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
			boxes = append(boxes, Box{x.frames[x.nodes[k].frame], int(x.nodes[k].depth) - 1, left, ns[k], sides[k], critpath.BoundBy(&sums[k])})
			place(k, left)
			left += ns[k]
		}
	}
	place(-1, 0)
	return boxes, total
}
