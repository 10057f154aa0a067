package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// What the heap may grow by before garbage is collected: gcSlack, but never more than gcMost of what is in use, nor
// less than gcLeast, in percent. A trace is a few large arrays without pointers, so a collection takes a millisecond however large
// it is, and what waits for one would be a fifth of the memory of a large trace. With little in use, as between two of many
// small traces, a share of that would be collected hundreds of times a second. Where there are many pointers, as in a report
// of thousands of streams, a collection takes as long as there are: it waits until as much has come together as they lie in.
const (
	gcMost  = 400
	gcLeast = 5
	gcSlack = 8 << 20
)

// What was collected goes back to the system as soon as the process would hold more than what is in use and gcSpare percent of
// that, at least gcSlack: left alone the runtime keeps a tenth of the heap, and finds the place for the next large array elsewhere.
// Below gcSmall that is not worth the pages that have to be filled with zeros again.
const (
	gcSpare = 5
	gcSmall = 64 << 20
)

// heapLimit is what the heap and what belongs to it may take in the container, in bytes, see limitHeap.
var heapLimit atomic.Int64

func init() { heapLimit.Store(math.MaxInt64) }

// paceCollector fits the collector to how much is in use, now and after each collection, unless the user has set it.
func paceCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	setPace(gcMost)
	keepPace(gcMost, os.Getenv("GOMEMLIMIT") == "")
}

// keepPace sets the pace after each collection, and where it may what the process holds at most: what is told to the runtime here
// is garbage at the next one.
func keepPace(percent int, limit bool) {
	mark := new([16]byte)
	runtime.SetFinalizer(mark, func(*[16]byte) {
		if limit {
			setSpare()
		}
		keepPace(setPace(percent), limit)
	})
}

// setPace sets the pace where it is far from the one that is set, because setting it stops the work for a moment. It tells
// what is set then.
func setPace(set int) int {
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	metrics.Read(heap)
	want := pace(heap[0].Value.Uint64(), heap[1].Value.Uint64())
	if want > set-set/4 && want < set+set/4 {
		return set
	}
	debug.SetGCPercent(want)
	return want
}

// pace is the percentage for so many bytes in use, of which the scanned ones may hold pointers.
func pace(live, scanned uint64) int {
	return int(min(max(100*max(gcSlack, scanned)/max(live, 1), gcLeast), gcMost))
}

// setSpare lets the process hold what is in use now and a little more, as far as that is possible: the runtime gives free memory back
// before it takes some that would be beyond it.
func setSpare() {
	m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	metrics.Read(m)
	objects := int64(m[0].Value.Uint64())
	if objects < gcSmall {
		return
	}
	beside := int64(m[3].Value.Uint64()-m[1].Value.Uint64()-m[2].Value.Uint64()) - objects // stacks, tables of the runtime
	debug.SetMemoryLimit(min(beside+objects+spare(objects, int64(m[4].Value.Uint64())), heapLimit.Load()))
}

// spare is how much more the process may hold than so many bytes in use, of which the scanned ones may hold pointers: no less than
// what waits for a collection.
func spare(objects, scanned int64) int64 {
	return max(gcSpare*objects/100, gcSlack, scanned)
}
