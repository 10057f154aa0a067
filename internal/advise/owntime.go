package advise

import (
	"math"

	"overlay/internal/cdg"
)

// ownTimes is time of their own of as many activities as threads of the trace have, ns. Each lies in 32 bits; what does not fit stands in
// a table beside the others. Tests lower what fits.
type ownTimes struct {
	short []uint32
	long  map[cdg.ActID]int64 // where short says inTable
}

const inTable = math.MaxUint32

var ownLimit int64 = inTable

func newOwnTimes(n int) ownTimes { return ownTimes{make([]uint32, n), map[cdg.ActID]int64{}} }

func (o *ownTimes) of(a cdg.ActID) int64 {
	if ns := o.short[a]; ns != inTable {
		return int64(ns)
	}
	return o.long[a]
}

func (o *ownTimes) add(a cdg.ActID, ns int64) {
	if ns += o.of(a); ns < ownLimit {
		o.short[a] = uint32(ns)
		return
	}
	o.short[a], o.long[a] = inTable, ns
}

// own is what an activity has of its own in the window, ns: a slice without what it encloses, an operation that starts in it up to
// the window's end.
func (r *run) own(a cdg.ActID) int64 {
	switch {
	case a < r.firstOp:
		return r.slices.of(a)
	case !r.inside(a):
		return 0
	}
	act := &r.g.Acts[a]
	return min(act.End, r.g.Window.End) - act.Start
}
