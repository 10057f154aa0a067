//go:build unix

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// How often a block of the program may run on a trace that grows by timesLarger: n log n stays below mostTimes and a loop
// inside a loop comes close to timesLarger². What runs less often than fewRuns for each unit of size is no matter: searches in
// trees and heaps of what has become deep enough grow faster than n, but not by much.
const (
	loopSize    = 200
	timesLarger = 4
	mostTimes   = 7
	fewRuns     = 140
)

// looping are commands that together go through every stage.
var looping = []string{
	"report -i F --json --analysis all",
	"run -i F -o O.pftrace --quiet --only-critical",
	"run -i F -o O.json --quiet --anonymize",
	"run -i F -o O.pftrace --quiet --method ctda",
	"run -i F -o O.pftrace --quiet --method hta",
}

// TestLoops counts how often each block of the program runs on hostile traces and on traces that are four times as large. It
// finds a loop inside a loop where it is still cheap, on any machine, however busy.
func TestLoops(t *testing.T) {
	corpus.Heavy(t) // compiles the program and runs it some hundred times
	dir := t.TempDir()
	program := filepath.Join(dir, "overlay")
	if out, err := exec.Command("go", "build", "-cover", "-covermode=count", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The name of the tool itself: the go command takes longer to find it than it takes to run.
	tool, err := exec.Command("go", "tool", "-n", "covdata").Output()
	if err != nil {
		t.Fatal(err)
	}
	covdata := strings.TrimSpace(string(tool))
	for _, kind := range testtrace.Hostiles {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			small, large := blockRuns(t, program, covdata, kind, loopSize), blockRuns(t, program, covdata, kind, timesLarger*loopSize)
			type loop struct {
				block        string
				small, large int
			}
			var loops []loop
			for block, n := range large {
				if n > mostTimes*small[block] && n > fewRuns*timesLarger*loopSize {
					loops = append(loops, loop{block, small[block], n})
				}
			}
			slices.SortFunc(loops, func(a, b loop) int { return cmp.Or(b.large-a.large, strings.Compare(a.block, b.block)) })
			for _, l := range loops[:min(3, len(loops))] {
				t.Errorf("%s ran %d times at %d and %d times at %d", l.block, l.small, loopSize, l.large, timesLarger*loopSize)
			}
		})
	}
}

// blockRuns runs all commands on a trace and says how often each block of the program ran, by file, first and last line and
// column.
func blockRuns(t *testing.T, program, covdata string, kind testtrace.Hostile, n int) map[string]int {
	t.Helper()
	dir := t.TempDir()
	trace, counters, text := filepath.Join(dir, "in.json"), filepath.Join(dir, "counters"), filepath.Join(dir, "text")
	writeHostile(t, kind, trace, n)
	if err := os.Mkdir(counters, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, command := range looping {
		cmd := exec.Command(program, onTrace(command, trace)...)
		cmd.Env = append(os.Environ(), "GOCOVERDIR="+counters)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil && !refused(stderr.String()) {
			t.Fatalf("%s: %v: %s", command, err, stderr.String())
		}
	}
	if out, err := exec.Command(covdata, "textfmt", "-i="+counters, "-o="+text).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	runs := map[string]int{}
	lines := bufio.NewScanner(f)
	for lines.Scan() { // as in FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS RUNS
		if w := strings.Fields(lines.Text()); len(w) == 3 && w[2] != "0" {
			n, err := strconv.Atoi(w[2])
			if err != nil {
				t.Fatal(err)
			}
			runs[w[0]] += n
		}
	}
	if err := lines.Err(); err != nil || len(runs) == 0 {
		t.Fatal(fmt.Errorf("no counters: %w", err))
	}
	return runs
}
