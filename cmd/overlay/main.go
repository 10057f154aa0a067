// Command overlay turns a PyTorch profiler trace into a Perfetto or Chrome trace that shows what bounds the run.
package main

import (
	"os"
	"runtime/debug"

	"overlay/internal/container"
)

// gcPercent is by how much the heap may grow before garbage is collected, unless the user says it with GOGC. A trace is a few large
// arrays without pointers: a collection takes a millisecond, and what waits for one is memory.
const gcPercent = 25

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
		container.LayFloor()
	}
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
