package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"overlay/internal/tables"
)

// A container's memory is shared out like this: the heap is told to stay below heapShare of it, and when the process
// holds stopShare of it the work is ended with a word, because the kernel would end it without one.
const (
	heapShare = 0.85
	stopShare = 0.95
)

// limitHeap makes the garbage collector work harder before the container's limit is reached. outside is memory that
// the collector does not know.
func limitHeap(container, outside int64) {
	if container > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(int64(heapShare*float64(container))-outside, 64<<20))
	}
}

// watchMemory sends a message when the process holds nearly all memory that its container may use. Pages of files do
// not count: the kernel takes them back when it needs them.
func watchMemory(container int64) <-chan error {
	full := make(chan error, 1)
	if container == 0 {
		return full
	}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			if held := privateMemory(); float64(held) > stopShare*float64(container) {
				full <- fmt.Errorf("out of memory: the container allows %s, and the work needs more; raise the limit, or analyse a trace of fewer steps ('run --no-advice' needs a quarter less)",
					megabytes(container))
				return
			}
		}
	}()
	return full
}

// privateMemory is what the process holds in memory besides the pages of files, in bytes; 0 where nobody says.
func privateMemory() int64 {
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

func megabytes(n int64) string { return tables.FormatMegabytes(n, 0) }

// machineMemory is what the machine has, or the container allows, in bytes; 0 where nobody says.
func machineMemory(container int64) int64 {
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
