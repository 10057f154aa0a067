package report_test

import (
	"strings"
	"testing"

	"overlay/internal/advise"
	"overlay/internal/report"
)

// TestAdviceText: findings made by hand, each line of what is said of them, in full and on the first screen.
func TestAdviceText(t *testing.T) {
	a := &advise.Advice{Window: 200_000, Base: 100_000, BaseBy: "profiler", Together: 60_000, Floor: 10_000, Rules: 7, Findings: []advise.Finding{
		{ID: "one", Group: advise.Specific, Title: "first thing", Cause: "because", Kind: advise.Predicted, Gain: 30_000, Share: 0.3, Alone: 30_000, Confidence: advise.Low, Why: "guess", Do: "do it", Saw: "seen",
			Action: []string{"this", "that", "those", "these", "more"}, Scenario: "without it", Verify: "look",
			Numbers:  []advise.Number{{Name: "waits", Count: 1}, {Name: "in them", NS: 2000}, {Name: "copies", Count: 2}, {Name: "in them", Bytes: 3000}},
			Lines:    []advise.Line{{Line: "a.py(1): f", NS: 1500, Count: 3}},
			Examples: []advise.Example{{Event: 5, At: 1000, NS: 700, Expected: -1, Name: "aten::mm"}, {Event: 6, At: 2000, NS: 900, Expected: 0, Name: "aten::add"}}},
		{ID: "two", Group: advise.General, Title: "second thing", Cause: "so", Kind: advise.AtMost, Gain: 10_000, Share: 0.1, Alone: 20_000, Confidence: advise.High, Why: "sure", Do: "mend", Saw: "seen too", Action: []string{"mend"}, Scenario: "mended"},
		{ID: "part", Group: advise.Specific, Title: "a part", Kind: advise.Predicted, Gain: 5000, Share: 0.05, PartOf: "one"},
		{ID: "profiler", Group: advise.Measurement, Title: "recording", Kind: advise.None, Saw: "much", Do: "record less", Confidence: advise.High, Why: "counted"},
	}, Below: []advise.Below{{Title: "small", Share: 0.0005}, {Title: "smaller", Share: 0.0004}, {Title: "worse", Share: -0.002}}, Unknown: []advise.Unknown{{What: "memory", Record: "profile_memory=True"}}}
	var b strings.Builder
	full := &report.Advice{Input: "in.json", Window: report.Window{Duration: 200_000}, Says: "bound by it", Advice: a}
	if err := full.WriteText(&b, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	want := `in.json
window 200.0 µs (whole trace), bound by it
gains are of 100.0 µs, without what is no gain: much

30.0 %, 30.0 µs  first thing
  where      a.py(1): f: 1.5 µs in 3 slices
  why        because
  measured   1 wait, in it 2.0 µs, 2 copies, in them 3.0 kB
  do         this
  or         that
  or         those
  or         these
  or         more
  sure       low: guess
  replayed   without it
  after      look
  example    event 5 at +1.0 µs, 700 ns: aten::mm
  example    event 6 at +2.0 µs, 900 ns, expected 0 ns: aten::add
  rule       one

at most 10.0 %, 10.0 µs  second thing
  why        so
  do         mend
  sure       high: sure
  replayed   mended, after all that stands above; alone it gains 20.0 µs
  rule       two

no gain by itself  recording
  sure       high: counted
  rule       profiler

if both were done: 100.0 µs → 60.0 µs, 40 % faster; if the CPU alone took no time: 10.0 µs
found too, but mostly time of a larger finding: a part, 5.0 % (of: first thing)
too small to list: small, 0.1 %; worse, -0.2 %

what the trace cannot tell
  memory: profile_memory=True
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBound: what bounds a run is said of its class where nothing more is known.
func TestBound(t *testing.T) {
	for class, want := range map[string]string{"idle": "mostly waiting for work", "cpu": "bound by CPU", "gpu_compute": "bound by GPU compute"} {
		r := &report.Report{}
		if r.Path.BoundBy = class; r.Bound() != want {
			t.Errorf("%s: %s, want %s", class, r.Bound(), want)
		}
		if r.Path.Says = "said"; r.Bound() != "said" {
			t.Errorf("%s: %s", class, r.Bound())
		}
	}
}
