// Package container keeps the work within what a container may hold: it says how much that is, lends memory whose pages the kernel can write out,
// and ends the work with a word, where the kernel would end it without one.
package container

import (
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"overlay/internal/tables"
)

// A container's memory is shared out like this: when the process holds all but restShare of it, or all but leastRest, the work
// is ended with a word, because the kernel would end it without one; the heap is told to stay below heapShare of that. The rest is
// for the kernel: pages of files that are being read or written cannot be taken back, and a disk reads 8 MiB at a time.
const (
	restShare = 0.05
	leastRest = 12 << 20
	heapShare = 0.9
	leastHeap = 32 << 20 // with less it would collect all the time
)

// stopAt is how much the process may hold in a container.
func stopAt(container int64) int64 {
	return container - max(int64(restShare*float64(container)), leastRest)
}

// containerFor is the container in which the process may hold so much.
func containerFor(held int64) int64 {
	return max(int64(float64(held)/(1-restShare)), held+leastRest)
}

// LimitHeap makes the garbage collector work harder before the container's limit is reached. outside is memory that
// the collector does not know.
func LimitHeap(container, outside int64) {
	if container > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(int64(heapShare*float64(stopAt(container)))-outside, leastHeap) + int64(len(heapFloor)))
	}
}

// heapFloor is memory that is never touched, so it takes up none. The collector counts it, and does not collect a heap of a few
// Megabytes a dozen times while a trace is read.
var heapFloor []byte

// LayFloor makes the floor, but in a container that is not much larger: there garbage would fill it between two looks of the watch.
func LayFloor() {
	const floor = 32 << 20
	if c := Memory(os.DirFS("/")); c == 0 || c >= 16*floor {
		heapFloor = make([]byte, floor)
	}
}

// Work is how large the work is, as far as that is known. It is told while a watch looks at it.
type Work struct {
	perEvent atomic.Int64 // bytes that an event of the trace takes; 0 where nobody knows
	perLent  atomic.Int64 // the same with lent
	text     atomic.Int64 // bytes of the trace
	held     atomic.Int64 // of these, those that lie in memory
	events   atomic.Int64 // 0 before they are counted
	Written  atomic.Int64 // bytes of outputs that lie in memory, as in a tmpfs
	lent     atomic.Bool  // the events, and what the analysis has of each, lie in a file: see lend
}

// What work takes beside the events of a trace, and for each of them, bytes: measured in containers on traces of 1 and 3.6 million
// events. Where the events are not counted yet, one is taken for textEvent bytes of text.
const (
	needsAnyway = 64 << 20
	needsEvent  = 135 // run and report; nobody measured others, which take less
	needsSlim   = 170 // the slim form
	needsAll    = 250 // all analyses
	lentEvent   = 83  // of run, report and the slim form when much of it lies in a file, as it does where the container is small
	lentAll     = 215 // … of all analyses
	textEvent   = 250
	smallEvent  = 180 // to be on the safe side
)

// Kind is what is done with a trace, as far as memory differs.
type Kind uint8

// The kinds.
const (
	Other Kind = iota // nobody measured what it takes
	Usual             // run and report
	Slim              // the slim form
	All               // all analyses
)

// expect says what an event of the trace takes.
func (w *Work) expect(k Kind) {
	of := [...][2]int64{Usual: {needsEvent, lentEvent}, Slim: {needsSlim, lentEvent}, All: {needsAll, lentAll}}[k]
	w.perEvent.Store(of[0])
	w.perLent.Store(of[1])
}

// Told notes how large the trace is. Where its container may be too small it gives what lends memory for the events.
func (w *Work) Told(container int64, k Kind, text, held int64) (lend func(n int) []byte) {
	w.expect(k)
	w.text.Store(text)
	w.held.Store(held)
	if !w.tight(container) {
		return nil
	}
	return func(n int) []byte {
		b := lendFile(n)
		if b != nil {
			w.lent.Store(true)
		}
		return b
	}
}

// Parsed notes how many events the trace has, and how much of it lies in memory.
func (w *Work) Parsed(events int, held int64) {
	w.held.Store(held)
	w.events.Store(int64(events))
}

// tight reports whether the work may need more than the container has.
func (w *Work) tight(container int64) bool {
	need := needsAnyway + cmp.Or(w.perEvent.Load(), needsEvent)*(w.text.Load()/smallEvent) + w.held.Load()
	return container > 0 && need > stopAt(container)
}

// needs says how much memory the work is likely to need in all; "" when nobody knows.
func (w *Work) needs() string {
	each, events := w.perEvent.Load(), w.events.Load()
	if each == 0 {
		return ""
	}
	what := ""
	if events > 0 {
		what = tables.Grouped(events) + " events"
	} else if text := w.text.Load(); text > 0 {
		events, what = text/textEvent, "a trace of "+Megabytes(text)
	}
	if events == 0 {
		return ""
	}
	if w.lent.Load() {
		each = w.perLent.Load()
	}
	verb := "need"
	if w.events.Load() == 0 {
		verb = "needs"
	}
	return fmt.Sprintf("%s %s about %s", what, verb, Megabytes(containerFor(needsAnyway+each*events+w.held.Load())))
}

// Watch sends a message when the process holds nearly all memory that its container may use. Pages of files do
// not count, since the kernel takes them back when it needs them, but for those of outputs that lie in memory. Before the message
// it calls slow: the work should take no more while it is told.
func Watch(container int64, w *Work, slow func()) <-chan error {
	full := make(chan error, 1)
	if container == 0 {
		return full
	}
	go func() {
		for range time.Tick(2 * time.Millisecond) {
			written := w.Written.Load()
			if held := max(Private(), takenMemory()) + written; held > stopAt(container) {
				slow()
				needs := cmp.Or(w.needs(), "the work needs more")
				if written > 0 {
					needs += ", besides the output, which lies in memory: choose a folder on a disk with -o"
				}
				full <- fmt.Errorf("out of memory: the container allows %s, and %s; raise the limit, or analyse a trace of fewer steps",
					Megabytes(container), needs)
				return
			}
		}
	}()
	return full
}

// Private is what the process holds in memory besides the pages of files, in bytes; 0 where nobody says.
func Private() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text))
	if len(f) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(f[1], 10, 64)
	shared, _ := strconv.ParseInt(f[2], 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}

// takenMemory is what Go took from the system and did not give back, in bytes. Of what was taken just now the process holds
// nothing yet: it holds more with every page that is written, and all of it before anybody looks again.
func takenMemory() int64 {
	classes := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(classes)
	return int64(classes[0].Value.Uint64()) - int64(classes[1].Value.Uint64()) - int64(len(heapFloor))
}

// Megabytes is a number of bytes in MB.
func Megabytes(n int64) string { return tables.FormatMegabytes(n, 0) }

// Machine is what the machine has, or the container allows, in bytes; 0 where nobody says.
func Machine(container int64) int64 {
	if container > 0 {
		return container
	}
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}
