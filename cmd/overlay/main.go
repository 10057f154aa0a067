// Command overlay turns a PyTorch profiler trace into a Perfetto or Chrome trace that shows what bounds the run.
package main

import (
	"os"
	"runtime/debug"
)

// gcPercent keeps the heap close to what is in use. A trace is a few large arrays without pointers, so a collection
// takes a millisecond.
const gcPercent = 25

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
