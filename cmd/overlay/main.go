// Command overlay turns a PyTorch profiler trace into a Perfetto or Chrome trace that shows what bounds the run.
package main

import "os"

func main() {
	paceCollector()
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
