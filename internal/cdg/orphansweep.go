package cdg

import (
	"cmp"
	"slices"

	"overlay/internal/trace"
)

// sweep finds the same as oneByOne for very many threads: it goes through all their pieces in order of time, and knows
// at each instant which thread is in what.
func (f *launchFinder) sweep(asks []launchAsk) []ActID {
	d := f.d
	byHost := slices.Clone(f.launchers) // the threads of a process stand together
	slices.SortStableFunc(byHost, func(x, y LaneID) int { return cmp.Compare(d.Lanes[x].Host, d.Lanes[y].Host) })
	at := make([]int32, len(d.Lanes)) // per thread that launches: its place there
	for i, l := range byHost {
		at[l] = int32(i)
	}
	ofHost := func(h trace.ProcID) (lo, hi int) {
		order := func(l LaneID, h trace.ProcID) int { return cmp.Compare(d.Lanes[l].Host, h) }
		lo, _ = slices.BinarySearchFunc(byHost, h, order)
		hi, _ = slices.BinarySearchFunc(byHost, h+1, order)
		return lo, hi
	}
	pieces := f.piecesByTime()
	ops := newBest(len(byHost), func(x, y ActID) bool { return d.Acts[x].Lane < d.Acts[y].Lane })
	calls := newBest(len(byHost), f.laterCall)
	unused := make([]int32, len(byHost)) // the piece behind what calls has of a thread

	order := make([]int32, len(asks))
	for i := range order {
		order[i] = int32(i)
	}
	SortRuns(order, func(x, y *int32) bool { return d.Acts[asks[*x].op].Start < d.Acts[asks[*y].op].Start })
	out := make([]ActID, len(asks))
	begun, over := 0, 0
	for _, i := range order {
		ask := &asks[i]
		from, before := f.span(ask.op)
		for ; begun < len(pieces) && d.Pieces[pieces[begun].id].Start < before; begun++ {
			p := &pieces[begun]
			owner, place := d.Pieces[p.id].Owner, int(at[p.lane])
			if p.unused {
				calls.set(place, owner)
				unused[place] = p.id
			}
			if !f.working(owner) {
				owner = NoAct
			}
			ops.set(place, owner)
		}
		for ; over < begun && d.Pieces[pieces[over].id].Start < from; over++ {
			if p := &pieces[over]; p.unused && unused[at[p.lane]] == p.id {
				calls.set(int(at[p.lane]), NoAct)
			}
		}
		stream := d.Acts[ask.op].Lane
		call, op := NoAct, NoAct
		if h := d.Lanes[stream].Host; h == trace.NoProc {
			call, op = calls.in(0, len(byHost)), ops.in(0, len(byHost))
		} else {
			lo, hi := ofHost(h)
			any, end := ofHost(trace.NoProc)
			call, op = calls.of(calls.in(lo, hi), calls.in(any, end)), ops.of(ops.in(lo, hi), ops.in(any, end))
		}
		if ask.last != NoLane && f.sameProcess(ask.last, stream) {
			if x := ops.at(int(at[ask.last])); x != NoAct {
				op = x
			}
		}
		out[i] = f.choose(ask.op, call, op)
	}
	return out
}

// threadPiece is a piece of a thread that launches.
type threadPiece struct {
	id     int32 // in Pieces
	lane   LaneID
	unused bool // of a launch call without a recorded operation
}

// piecesByTime lists the pieces of all threads that launch, by their start.
func (f *launchFinder) piecesByTime() []threadPiece {
	d := f.d
	n := 0
	for _, l := range f.launchers {
		n += int(d.PieceFirst[l+1] - d.PieceFirst[l])
	}
	all := make([]threadPiece, 0, n)
	for i, l := range f.launchers {
		unused := f.unused[i]
		for p := d.PieceFirst[l]; p < d.PieceFirst[l+1]; p++ {
			is := len(unused) > 0 && unused[0] == p
			if is {
				unused = unused[1:]
			}
			all = append(all, threadPiece{p, l, is})
		}
	}
	SortRuns(all, func(x, y *threadPiece) bool { return d.Pieces[x.id].Start < d.Pieces[y.id].Start })
	return all
}

// best holds an activity for each of several places, and tells which is the best of neighbouring ones.
type best struct {
	places int
	better func(x, y ActID) bool
	node   []ActID // node i has the better one of the nodes 2i and 2i+1; those of the places come last
}

func newBest(places int, better func(x, y ActID) bool) *best {
	b := &best{places, better, make([]ActID, 2*places)}
	for i := range b.node {
		b.node[i] = NoAct
	}
	return b
}

func (b *best) at(place int) ActID { return b.node[b.places+place] }

func (b *best) set(place int, a ActID) {
	i := b.places + place
	if b.node[i] == a {
		return
	}
	b.node[i] = a
	for i /= 2; i > 0; i /= 2 {
		b.node[i] = b.of(b.node[2*i], b.node[2*i+1])
	}
}

// in returns the best of the places lo to hi-1.
func (b *best) in(lo, hi int) ActID {
	found := NoAct
	for lo, hi = lo+b.places, hi+b.places; lo < hi; lo, hi = lo/2, hi/2 {
		if lo&1 == 1 {
			found = b.of(found, b.node[lo])
			lo++
		}
		if hi&1 == 1 {
			hi--
			found = b.of(found, b.node[hi])
		}
	}
	return found
}

func (b *best) of(x, y ActID) ActID {
	if x == NoAct || y != NoAct && b.better(y, x) {
		return y
	}
	return x
}
