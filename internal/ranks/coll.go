package ranks

import (
	"strings"
)

// Coll is what a communication operation does.
type Coll uint8

// The operations.
const (
	Other Coll = iota
	AllReduce
	AllGather
	ReduceScatter
	AllToAll
	Broadcast
	Reduce
	Gather
	Scatter
	SendRecv
	Barrier
	numColls
)

var collNames = [numColls]string{"other", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter", "send_recv", "barrier"}

func (c Coll) String() string { return collNames[c] }

// collWords are how PyTorch and libraries of collectives call the operations, without underscores and in lower case. The
// first that occurs in a name holds, so longer words come before those that they contain.
var collWords = []struct {
	word string
	coll Coll
}{
	{"allreduce", AllReduce}, {"reducescatter", ReduceScatter}, {"allgather", AllGather}, {"alltoall", AllToAll}, {"sendrecv", SendRecv},
	{"broadcast", Broadcast}, {"barrier", Barrier}, {"reduce", Reduce}, {"gather", Gather}, {"scatter", Scatter}, {"coalesced", SendRecv},
	{"isend", SendRecv}, {"irecv", SendRecv}, {"send", SendRecv}, {"recv", SendRecv},
}

// collOf tells an operation by its name.
func collOf(name string) Coll {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "")
	for _, w := range collWords {
		if strings.Contains(name, w.word) {
			return w.coll
		}
	}
	return Other
}

// meets reports whether nobody leaves an operation before the last one came. The root of a broadcast may.
func (c Coll) meets() bool {
	switch c {
	case AllReduce, AllGather, ReduceScatter, AllToAll, Barrier, SendRecv:
		return true
	}
	return false
}

// equalSizes reports whether all members of a group give the number of elements that they record; in others each has
// its own.
func equalSizes(name string, c Coll) bool {
	switch c {
	case AllReduce, Broadcast, Barrier:
		return true
	}
	return strings.HasPrefix(name, "_") // _allgather_base, _reduce_scatter_base: the forms for equal parts
}

// ends is how far apart the ends of one operation on several ranks may lie, as a share of its shortest duration: data of
// all-to-all and of point-to-point operations reaches each rank in its own time.
func (c Coll) ends() float64 {
	if c == AllToAll || c == SendRecv {
		return 0.03
	}
	return 0.01
}
