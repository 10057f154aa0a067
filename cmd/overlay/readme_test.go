//go:build !quick

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// TestReadme runs the commands of the README's transcript and wants the output that stands there; -update rewrites it.
// `overlay open` is left alone: it waits for a browser.
func TestReadme(t *testing.T) {
	if !corpus.Long() && !*update {
		t.Skip("part of make check: the output changes with every stage")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	demo, err := os.ReadFile("../../testdata/demo.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, folder := range []string{"testdata", "bin/traces"} { // as they stand in a clone, after make demo-ranks
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "testdata", "demo.json.gz"), demo, 0o666); err != nil {
		t.Fatal(err)
	}
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "moe", Cause: "data", World: 8, PerHost: 4, Steps: 4, Seed: 3}) // as of make demo-ranks
	for r := range sim.Ranks {
		if err := os.WriteFile(filepath.Join(dir, "bin", "traces", sim.Ranks[r].File+".gz"), gzipped(t, sim.JSON(int32(r))), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	home, err := filepath.Abs("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)

	var got strings.Builder
	commands := 0
	lines := strings.SplitAfter(string(readme), "\n")
	for i := 0; i < len(lines); i++ {
		got.WriteString(lines[i])
		command, ok := strings.CutPrefix(strings.TrimSpace(lines[i]), "$ bin/overlay ")
		if !ok || strings.HasPrefix(command, "open") {
			continue
		}
		commands++
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    ") && !strings.HasPrefix(lines[i+1], "    $") { // the old output
			i++
		}
		command, head, cut := strings.Cut(command, " | head -")
		var out, errs bytes.Buffer
		if status := run(append([]string{"overlay"}, strings.Fields(command)...), nil, &out, &errs); status != 0 || errs.Len() > 0 {
			t.Fatalf("overlay %s: status %d: %s", command, status, errs.String())
		}
		shown := slices.Collect(strings.Lines(out.String()))
		if n, err := strconv.Atoi(head); cut && err == nil {
			shown = shown[:min(n, len(shown))]
		}
		for _, line := range shown {
			got.WriteString("    " + line)
		}
	}
	if commands < 2 {
		t.Error("the README shows no commands")
	}
	if got.String() == string(readme) {
		return
	}
	if *update {
		if err := os.WriteFile(home, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("the README shows other output than the program prints: go test ./cmd/overlay -run TestReadme -update")
}
