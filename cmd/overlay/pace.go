package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// What the heap may grow by before garbage is collected: gcSlack, but never more than gcPercent of what is in use, nor
// less than gcLeast. A trace is a few large arrays without pointers, so a collection takes a millisecond however large
// it is, and what waits for one would be a fifth of the memory of a large trace.
const (
	gcPercent = 25
	gcLeast   = 5
	gcSlack   = 8 << 20
)

// paceCollector fits the collector to how much is in use, unless the user has set it. It is asked again as the work goes
// on.
func paceCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := gcPercent
	if n := live[0].Value.Uint64(); n > 0 {
		percent = int(min(max(100*gcSlack/n, gcLeast), gcPercent))
	}
	debug.SetGCPercent(percent)
}
