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
// Below gcSmall that is not worth the time: the pages have to be filled with zeros again. Below gcBelow percent of what was in use before it
// may grow as it likes: that makes no peak, with what is taken while it is collected.
const (
	gcSpare = 5
	gcSmall = 256 << 20
	gcBelow = 90
)

// heapLimit is what the heap and what belongs to it may take in the container, in bytes, see limitHeap.
var heapLimit atomic.Int64

func init() { heapLimit.Store(math.MaxInt64) }

// pacer is what the runtime was told last, and why.
type pacer struct {
	percent int   // by how much the heap may grow
	limit   bool  // the process may be told what it holds at most
	most    int64 // bytes that were in use after a collection
}

// paceCollector fits the collector to how much is in use, now and after each collection, unless the user has set it.
func paceCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	p := pacer{percent: gcMost, limit: os.Getenv("GOMEMLIMIT") == ""}
	debug.SetGCPercent(gcMost)
	p.keep()
}

// keep sets the pace after each collection: what is told to the runtime here is garbage at the next one.
func (p *pacer) keep() {
	mark := new([16]byte)
	runtime.SetFinalizer(mark, func(*[16]byte) {
		p.set()
		p.keep()
	})
}

// set sets the pace where it is far from the one that is set, because setting it stops the work for a moment. It lets the process hold
// what is in use now and a little more, as far as that is possible: the runtime gives free memory back before it takes some that
// would be beyond it.
func (p *pacer) set() {
	m := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(m)
	live, scanned := m[0].Value.Uint64(), m[1].Value.Uint64()
	want := pace(live, scanned)
	if objects := int64(m[2].Value.Uint64()); p.limit && objects >= gcSmall {
		beside := int64(m[5].Value.Uint64()-m[3].Value.Uint64()-m[4].Value.Uint64()) - objects // stacks, tables of the runtime
		p.most = max(p.most, beside+int64(live))
		hold := max(beside+objects+spare(objects, int64(scanned)), p.most*gcBelow/100)
		debug.SetMemoryLimit(min(hold, heapLimit.Load()))
		want = min(max(want, int(100*(hold-beside-objects)/objects)), gcMost)
	}
	if want <= p.percent-p.percent/4 || want >= p.percent+p.percent/4 {
		debug.SetGCPercent(want)
		p.percent = want
	}
}

// pace is the percentage for so many bytes in use, of which the scanned ones may hold pointers.
func pace(live, scanned uint64) int {
	return int(min(max(100*max(gcSlack, scanned)/max(live, 1), gcLeast), gcMost))
}

// spare is how much more the process may hold than so many bytes in use, of which the scanned ones may hold pointers: no less than
// what waits for a collection.
func spare(objects, scanned int64) int64 {
	return max(gcSpare*objects/100, gcSlack, scanned)
}
