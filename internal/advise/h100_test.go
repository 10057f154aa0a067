package advise_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/advise"
	"overlay/internal/testtrace/corpus"
)

// measured is what the clock said of a recorded loop, ms a step.
type measured struct {
	trace, rule                              string
	with, without, recorded, recordedWithout float64
}

func measuredLoops(t *testing.T) (dir string, list []measured) {
	t.Helper()
	dir = filepath.Join("..", "..", "testdata", "h100")
	f, err := os.Open(filepath.Join(dir, "truth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		m := measured{trace: row[0], rule: row[5]}
		for i, to := range []*float64{&m.with, &m.without, &m.recorded, &m.recordedWithout} {
			if *to, err = strconv.ParseFloat(row[1+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, m)
	}
	return dir, list
}

func finding(a *advise.Advice, id string) *advise.Finding {
	for i := range a.Findings {
		if a.Findings[i].ID == id {
			return &a.Findings[i]
		}
	}
	return nil
}

// recording is the share of the window that recording costs, by the advice.
func recording(a *advise.Advice) float64 {
	if f := finding(a, "profiler-cost"); f != nil {
		return float64(f.Numbers[0].NS) / float64(f.Numbers[0].NS+f.Numbers[1].NS)
	}
	return 0
}

// Gains that are far from what was measured, and why.
var farOff = map[string]string{
	"anomaly":                 "what the forward pass pays for stacks of its operators is recorded nowhere",
	"attention":               "the CPU that records is nearly as slow as the device, so that little can be gained while recorded",
	"channels":                "kernels of another layout are faster too, by as much as no trace tells",
	"offloads":                "copies of the forward and of the backward pass are two findings",
	"pointwise":               "the generated kernel also takes the products' output without reading it again",
	"compiled":                "a compiled step launches other kernels",
	"two_streams":             "recorded with and without the cause it takes as long: the CPU is the bound",
	"loads_late.stacks":       "of three loads one was late while it was recorded",
	"clip_contrastive.stacks": "operators of a loop cost more while they are recorded than its whole saves",
	"detector.stacks":         "torchvision's operator does on the device what the loop did on the host",
	"rl_rollout.stacks":       "one call over all environments also has fewer of everything around it",
	"resnet_monitor.stacks":   "hooks are half of what the CPU does",
	"vq_vae":                  "a product takes the place of a difference of gigabytes",
	"wide_and_deep":           "the packed copy has a cost of its own on the host",
	"thread_loader.stacks":    "beside the other thread the loop itself is slower: both run in Python, and one of them at a time",
	"serves.stacks":           "the thread works as long without the cause, and is waited for later",
}

// gpuTable is where the documentation has the table of these loops.
const gpuTable, gpuTableEnd = "-run MeasuredGains -update -->\n", "<!-- end of the table of the GPU -->"

// holdTable compares the table of the documentation with what it should be, or writes it with -update.
func holdTable(t *testing.T, rows string) {
	t.Helper()
	file := filepath.Join(corpus.Root(t), "docs", "accuracy.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), gpuTable)
	_, after, closed := strings.Cut(rest, gpuTableEnd)
	if !ok || !closed {
		t.Fatalf("%s has no table of loops on a GPU", file)
	}
	want := before + gpuTable + rows + gpuTableEnd + after
	switch {
	case flag.Lookup("update").Value.String() == "true":
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(text):
		t.Errorf("the table of loops on a GPU in %s is another one now: run OVERLAY_LONG=1 go test ./internal/advise -run MeasuredGains -update", file)
	}
}

// The advice on loops recorded on a GPU names their cause, and its gain is that of the repair, measured by the clock.
func TestMeasuredGains(t *testing.T) {
	dir, list := measuredLoops(t)
	near, left := 0, 0
	table := "| loop | finding | gains | gained | recording costs | cost |\n| --- | --- | --- | --- | --- | --- |\n"
	for _, m := range list {
		path := filepath.Join(dir, m.trace+".json.zst")
		if m.rule == "" {
			continue
		}
		if !corpus.Small(path) {
			left++
			continue
		}
		a := adviseOf(t, realTrace(t, "h100/"+m.trace+".json.zst"))
		f := finding(a, m.rule)
		if f == nil {
			t.Errorf("%s: %s is not found: %v", m.trace, m.rule, a.Findings)
			continue
		}
		for i := range a.Findings {
			if g := &a.Findings[i]; g.Gain > g.Alone {
				t.Errorf("%s: %s gains %d, and alone %d", m.trace, g.ID, g.Gain, g.Alone)
			}
		}
		gained := 1 - m.without/m.with
		t.Logf("%-16s %-18s %5.1f %% predicted, %5.1f %% measured", m.trace, m.rule, 100*f.Share, 100*gained)
		bound := ""
		if f.Kind == advise.AtMost {
			bound = "≤ "
		}
		table += fmt.Sprintf("| %s | `%s` | %s%.0f %% | %.0f %% | %.0f %% | %.0f %% |\n", m.trace, m.rule, bound, 100*f.Share, 100*gained, 100*recording(a), 100*(1-m.with/m.recorded))
		if farOff[m.trace] != "" {
			continue
		}
		if near++; f.Share < gained-0.15 || f.Share > gained+0.15 {
			t.Errorf("%s: %s gains %.1f %%, measured %.1f %%", m.trace, m.rule, 100*f.Share, 100*gained)
		}
	}
	if near < 6 {
		t.Errorf("%d gains were held against the clock", near)
	}
	if left == 0 {
		holdTable(t, table)
	}
}

// What recording costs is known to 10 points of the window, or to a third of it; and a device that is busy hides it.
func TestMeasuredRecording(t *testing.T) {
	dir, list := measuredLoops(t)
	held, far := 0, 0
	for _, m := range list {
		path := filepath.Join(dir, m.trace+".json.zst")
		if !corpus.Small(path) {
			continue
		}
		a := adviseOf(t, realTrace(t, "h100/"+m.trace+".json.zst"))
		said := recording(a)
		truth := 1 - m.with/m.recorded
		t.Logf("%-20s recording costs %5.1f %%, said %5.1f %%", m.trace, 100*truth, 100*said)
		if said > truth+0.15 && m.trace != "loads_late.stacks" { // which waited for its loader while it was recorded, too
			t.Errorf("%s: recording costs %.1f %%, said %.1f %%", m.trace, 100*truth, 100*said)
		}
		if truth < -0.1 { // the machine had other guests while the clock ran: nothing tells what recording cost
			continue
		}
		held++
		if d := said - truth; d > max(0.1, truth/3) || -d > max(0.1, truth/3) {
			far++
		}
	}
	if held == 0 || 4*far > held {
		t.Errorf("%d of %d are far off", far, held)
	}
}
