//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/processor"
)

// mostGrowth is how much more a command may cost on twice the input: n log n and the noise of a shared machine stay
// below it, a loop inside a loop comes close to 4.
const mostGrowth = 2.3

// mostCounts is how often a cost is counted before it is believed to be too high: noise only adds.
const mostCounts = 8

// growing are the commands whose memory is measured; F is the trace, O a file to write. Together they go through every stage.
var growing = []string{
	"run -i F -o O.json --quiet --anonymize",
	"run -i F -o O.pftrace --quiet --only-critical",
	"run -i F -o O.pftrace --quiet --method ctda",
	"run -i F -o O.pftrace --quiet --method hta",
	"report -i F --html O.html --flame O.txt --analysis all",
	"check F",
}

// growingMore are commands of which only the processor time is measured, as of the others.
var growingMore = []string{
	"run -i F -o O.pftrace --quiet",
	"run -i F -o O.json --quiet",
	"report -i F --json --analysis all",
	"report -i F --analysis all --segments",
	"convert -i F -o O.pftrace --quiet",
	"diff F F",
}

// TestGrowth doubles each hostile trace and compares the memory that the commands ask for.
func TestGrowth(t *testing.T) {
	corpus.Heavy(t) // runs every command on every kind of hostile trace
	compareGrowth(t, 500, allocated, growing)
}

// TestGrowthTime does the same for the processor time of larger traces: it sees the time that TestLoops does not, which is spent
// in libraries. On a busy machine it may fail for no other reason, and it takes minutes.
func TestGrowthTime(t *testing.T) {
	corpus.Heavy(t)
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	compareGrowth(t, 5000, processorTime, slices.Concat(growing, growingMore))
}

// compareGrowth compares what commands cost at n and at 2n.
func compareGrowth(t *testing.T, n int, cost func(t *testing.T, command, trace string) float64, commands []string) {
	for _, kind := range testtrace.Hostiles {
		t.Run(kind.Name, func(t *testing.T) {
			dir := t.TempDir()
			small, large := filepath.Join(dir, "small.json"), filepath.Join(dir, "large.json")
			writeHostile(t, kind, small, n)
			writeHostile(t, kind, large, 2*n)
			for _, command := range commands {
				once, twice, growth := 0.0, 0.0, 0.0
				for range mostCounts {
					a, b := cost(t, command, small), cost(t, command, large)
					if once == 0 || a < once {
						once = a
					}
					if twice == 0 || b < twice {
						twice = b
					}
					if growth = twice / once; growth <= mostGrowth {
						break
					}
				}
				if growth > mostGrowth {
					t.Errorf("%s: cost %.4g at %d, %.4g at %d: grows by %.2f, at most %.1f is allowed", command, once, n, twice, 2*n, growth, mostGrowth)
				}
			}
		})
	}
}

func writeHostile(t *testing.T, kind testtrace.Hostile, name string, n int) {
	t.Helper()
	var b bytes.Buffer
	if err := kind.Write(&b, n); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// onTrace is what a command is called with, on a trace.
func onTrace(command, trace string) []string {
	var args []string
	for _, a := range strings.Fields(command) {
		switch {
		case a == "F":
			a = trace
		case strings.HasPrefix(a, "O."):
			a = filepath.Join(filepath.Dir(trace), "out"+a[1:])
		}
		args = append(args, a)
	}
	return args
}

// refused reports whether the peer's method refused a trace, as it does many of these: then it has done its work.
func refused(stderr string) bool { return strings.Contains(stderr, "hta: ") }

// execute runs a command in this process.
func execute(t *testing.T, command, trace string) {
	t.Helper()
	var stderr bytes.Buffer
	if status := run(append([]string{"overlay"}, onTrace(command, trace)...), strings.NewReader(""), io.Discard, &stderr); status != 0 && !refused(stderr.String()) {
		t.Fatalf("%s: status %d: %s", command, status, stderr.String())
	}
}

// allocated is the memory that a command asks for, in bytes.
func allocated(t *testing.T, command, trace string) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	execute(t, command, trace)
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// processorTime is the processor time that a command takes, in seconds. One that is soon done is repeated: a collection of garbage
// beside it would double what it takes.
func processorTime(t *testing.T, command, trace string) float64 {
	runtime.GC() // the last command's garbage is its own
	before := processor.Time()
	for runs := 1; ; runs++ {
		execute(t, command, trace)
		if took := (processor.Time() - before).Seconds(); took > 0.2 {
			return took / float64(runs)
		}
	}
}
