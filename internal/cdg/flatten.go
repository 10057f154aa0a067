package cdg

import (
	"slices"

	"overlay/internal/trace"
)

// PieceAt returns the index, into Graph.Pieces, of the piece of a thread with start < t <= end;
// -1 when t lies at or before the thread's first piece.
func (d *Graph) PieceAt(lane LaneID, t int64) int {
	lo, hi := int(d.PieceFirst[lane]), int(d.PieceFirst[lane+1])
	n, _ := slices.BinarySearchFunc(d.Pieces[lo:hi], t, func(p Piece, t int64) int {
		if p.Start < t {
			return -1
		}
		return 1
	})
	if n == 0 {
		return -1
	}
	return lo + n - 1
}

// flatten gives every instant of a thread to the slice that started last, so slices that do not nest are no special
// case. Slices without length own nothing. Parent is the slice that owned the instant at which another started.
func (b *builder) flatten() {
	d := b.d
	d.PieceFirst = make([]int32, len(d.Lanes)+1)
	d.Parent = trace.Room[ActID](d.Trace.Lend, len(d.Acts))
	activities := 0 // of threads
	for l := range d.Lanes {
		if lane := &d.Lanes[l]; !lane.Stream {
			activities += int(lane.Limit - lane.First)
		}
	}
	d.Pieces = make([]Piece, 0, 2*activities)
	for i := range d.Parent {
		d.Parent[i] = NoAct
	}
	var stack []ActID
	for l := range d.Lanes {
		d.PieceFirst[l] = int32(len(d.Pieces))
		if !d.Lanes[l].Stream {
			stack = b.flattenThread(&d.Lanes[l], stack[:0])
		}
	}
	d.PieceFirst[len(d.Lanes)] = int32(len(d.Pieces))
}

func (b *builder) flattenThread(lane *Lane, stack []ActID) []ActID {
	d := b.d
	first := len(d.Pieces)
	own := func(t int64, owner ActID) {
		n := len(d.Pieces)
		if n > first && d.Pieces[n-1].Start == t {
			d.Pieces[n-1].Owner = owner
			if n-1 > first && d.Pieces[n-2].Owner == owner {
				d.Pieces = d.Pieces[:n-1]
			}
			return
		}
		if n > first && d.Pieces[n-1].Owner == owner {
			return
		}
		d.Pieces = append(d.Pieces, Piece{t, owner, NoWait})
	}
	// closeUntil ends every slice that ends at or before t.
	closeUntil := func(t int64) {
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			end := d.Acts[top].End
			if end > t {
				return
			}
			stack = stack[:len(stack)-1]
			for len(stack) > 0 && d.Acts[stack[len(stack)-1]].End <= end {
				stack = stack[:len(stack)-1]
			}
			if len(stack) > 0 {
				own(end, stack[len(stack)-1])
			} else {
				own(end, NoAct)
			}
		}
	}
	for a := lane.First; a < lane.Limit; a++ {
		act := &d.Acts[a]
		closeUntil(act.Start)
		if len(stack) > 0 {
			d.Parent[a] = stack[len(stack)-1]
		}
		if act.End > act.Start {
			own(act.Start, a)
			stack = append(stack, a)
		}
	}
	closeUntil(1<<63 - 1)
	return stack
}
