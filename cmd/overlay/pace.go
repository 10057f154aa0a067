package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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

// paceCollector fits the collector to how much is in use, now and after each collection, unless the user has set it.
func paceCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	setPace(gcMost)
	keepPace(gcMost)
}

// keepPace sets the pace after each collection: what is told to the runtime here is garbage at the next one.
func keepPace(percent int) {
	mark := new([16]byte)
	runtime.SetFinalizer(mark, func(*[16]byte) { keepPace(setPace(percent)) })
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
