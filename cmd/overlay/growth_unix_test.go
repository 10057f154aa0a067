//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/processor"
)

// mostGrowth is how much more a command may cost on twice the input: n log n and the noise of a shared machine stay
// below it, a loop inside a loop comes close to 4.
const mostGrowth = 2.3

// mostCounts is how often a cost is counted before it is believed to be too high: noise only adds.
const mostCounts = 8

// growing are the commands that are measured; F is the trace, O a file to write. The first few go through every stage.
var growing = []string{
	"run -i F -o O.json --quiet --anonymize",
	"run -i F -o O.pftrace --quiet --only-critical",
	"run -i F -o O.pftrace --quiet --method ctda",
	"run -i F -o O.pftrace --quiet --method hta",
	"report -i F --html O.html --analysis all",
	"check F",
	// Only in the large form:
	"run -i F -o O.pftrace --quiet",
	"run -i F -o O.json --quiet",
	"report -i F --json --analysis all",
	"report -i F --analysis all --segments",
	"convert -i F -o O.pftrace --quiet",
	"diff F F",
}

// TestGrowth doubles each hostile trace and compares what the commands cost: memory in a small form, processor time in
// a large one, which OVERLAY_LONG switches on.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command on every kind of hostile trace")
	}
	n, cost, commands := 500, allocated, growing[:6]
	if os.Getenv("OVERLAY_LONG") != "" {
		n, cost, commands = 5000, processorTime, growing
		defer debug.SetGCPercent(debug.SetGCPercent(25))
	}
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

// execute runs a command in this process. The peer's method refuses many of these traces, and then has done its work.
func execute(t *testing.T, command, trace string) {
	t.Helper()
	args := []string{"overlay"}
	for _, a := range strings.Fields(command) {
		switch {
		case a == "F":
			a = trace
		case strings.HasPrefix(a, "O."):
			a = filepath.Join(filepath.Dir(trace), "out"+a[1:])
		}
		args = append(args, a)
	}
	var stderr bytes.Buffer
	if status := run(args, strings.NewReader(""), io.Discard, &stderr); status != 0 && !strings.Contains(stderr.String(), "hta: ") {
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

// processorTime is the processor time that a command takes, in seconds.
func processorTime(t *testing.T, command, trace string) float64 {
	runtime.GC() // the last command's garbage is its own
	before := processor.Time()
	execute(t, command, trace)
	return (processor.Time() - before).Seconds()
}
