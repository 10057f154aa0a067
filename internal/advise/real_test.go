package advise_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overlay/internal/advise"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/validation"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// judged is one line of testdata/cases.tsv: what a person who read the trace says of a finding in it. A finding that is true and was
// not found is a line, too. "undecidable" may be found or not.
type judged struct{ trace, rule, verdict, why string }

func judgedCases(t *testing.T) (list []judged) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimRight(l, "\n"), "\t")
		if len(f) != 4 || slices.Contains(f, "") {
			t.Fatalf("testdata/cases.tsv: %q has not trace, rule, verdict and reason", l)
		}
		if f[0] != "trace" {
			list = append(list, judged{f[0], f[1], f[2], f[3]})
		}
	}
	return list
}

// realDir is the folder of the recorded pairs.
func realDir(t *testing.T) string { return filepath.Join(corpus.Root(t), "testdata", "real") }

// realTrace is a trace of the table, nil where the file is not at hand or of a format that is read elsewhere.
func realTrace(t *testing.T, name string) *trace.Trace {
	t.Helper()
	if strings.HasPrefix(name, "real/") || strings.HasPrefix(name, "planted/") || strings.HasPrefix(name, "h100/") {
		tr, err := validation.Load(filepath.Dir(realDir(t)), name)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	world := os.Getenv("OVERLAY_WORLD")
	if world == "" {
		world = filepath.Join(corpus.Root(t), "..", "shared", "world")
	}
	for _, dir := range []string{corpus.Dir(t), world} {
		if file := filepath.Join(dir, name+".json.gz"); corpus.Small(file) {
			return testtrace.Read(t, file)
		}
	}
	return nil
}

func adviseOf(t *testing.T, tr *trace.Trace) *advise.Advice {
	t.Helper()
	g, p := testtrace.Exact(t, tr)
	return advise.Find(g, p, func() *whatif.Model { return whatif.New(g) })
}

// tally is how often a rule was right.
type tally struct{ right, wrong, missed, undecided int }

// few is how many decided cases are too few for a rule to be sure of itself.
const few = 5

// TestJudged prints precision and recall by rule over the table of judged cases. Nothing is found that nobody has judged; more than 92 of 100
// decided findings are true, and 90 of 100 true ones are found. A rule with a gain is of high confidence only where few or more of its cases
// are decided and nine of ten of them are true.
func TestJudged(t *testing.T) {
	byTrace := map[string]map[string]string{}
	var names []string
	for _, c := range judgedCases(t) {
		if byTrace[c.trace] == nil {
			byTrace[c.trace] = map[string]string{}
			names = append(names, c.trace)
		}
		byTrace[c.trace][c.rule] = c.verdict
	}
	tallies, high, skipped := map[string]*tally{}, map[string]bool{}, 0
	of := func(rule string) *tally {
		if tallies[rule] == nil {
			tallies[rule] = &tally{}
		}
		return tallies[rule]
	}
	for _, name := range names {
		tr := realTrace(t, name)
		if tr == nil {
			skipped++
			continue
		}
		a, found := adviseOf(t, tr), map[string]bool{}
		for i := range a.Findings {
			f := &a.Findings[i]
			found[f.ID] = true
			high[f.ID] = high[f.ID] || f.Confidence == advise.High && f.Kind != advise.None
			switch byTrace[name][f.ID] {
			case "true":
				of(f.ID).right++
			case "false":
				of(f.ID).wrong++
			case "undecidable":
				of(f.ID).undecided++
			default:
				t.Errorf("%s: nobody has judged %s, %.1f %%: %s", name, f.ID, 100*f.Share, f.Saw)
			}
			if f.Gain < 0 || f.Gain > a.Window || f.Alone > a.Window {
				t.Errorf("%s: %s gains %d of %d", name, f.ID, f.Gain, a.Window)
			}
		}
		for rule, verdict := range byTrace[name] {
			if verdict == "true" && !found[rule] {
				of(rule).missed++
				t.Logf("%s: missed %s; below %v", name, rule, a.Below)
			}
		}
		if a.Together > a.Base {
			t.Errorf("%s: everything together makes the window longer: %d, %d", name, a.Together, a.Base)
		}
	}
	var all tally
	for _, rule := range advise.IDs() {
		x := of(rule)
		all.right, all.wrong, all.missed, all.undecided = all.right+x.right, all.wrong+x.wrong, all.missed+x.missed, all.undecided+x.undecided
		t.Logf("%-22s %3d true %3d false %3d missed %3d undecidable", rule, x.right, x.wrong, x.missed, x.undecided)
		if n := x.right + x.wrong; high[rule] && skipped == 0 && (n < few || 10*x.right < 9*n) {
			t.Errorf("%s is of high confidence: %d of %d decided cases are true", rule, x.right, n)
		}
	}
	t.Logf("all: %d of %d decided findings are true, %d of %d true ones are found; %d traces are not at hand", all.right, all.right+all.wrong, all.right, all.right+all.missed, skipped)
	// Few traces are left where the corpus is not at hand, and with them no share of what is found.
	if 100*all.right < 92*(all.right+all.wrong) || skipped == 0 && 100*all.right < 90*(all.right+all.missed) {
		t.Errorf("%d true, %d false, %d missed", all.right, all.wrong, all.missed)
	}
	if skipped > 0 {
		t.Skipf("%d of %d traces are not at hand: set OVERLAY_CORPUS and OVERLAY_WORLD to judge them all", skipped, len(names))
	}
}

// TestCostOfRecording: of loops that were recorded and also timed without a profiler, the cost that the advice tells is that by the clock, to
// 30 % for two of three and to 15 % in the middle. The others were recorded while the machine had other work.
func TestCostOfRecording(t *testing.T) {
	m, err := validation.Read(realDir(t))
	if err != nil {
		t.Fatal(err)
	}
	var off []float64
	for i := range m.Pairs {
		p := &m.Pairs[i]
		if p.Ranks > 0 {
			continue
		}
		for _, loop := range []*validation.Loop{&p.Before, &p.After} {
			steps := slices.Sorted(slices.Values(loop.StepSeconds))
			if steps[len(steps)/2] > 0.01 {
				continue // what else the machine did is more than recording cost
			}
			for _, f := range loop.Traces {
				tr, err := validation.Load(realDir(t), f.Name)
				if err != nil {
					t.Fatal(err)
				}
				a := adviseOf(t, tr)
				n := slices.IndexFunc(a.Findings, func(f advise.Finding) bool { return f.ID == "profiler-cost" })
				if n < 0 {
					continue
				}
				truth := float64(a.Window)/3e9 - steps[len(steps)/2] // three steps each
				told := float64(a.Findings[n].Numbers[0].NS) / 3e9
				off = append(off, math.Abs(told/truth-1))
				t.Logf("%s: %.2f ms a step, by the clock %.2f ms", f.Name, 1e3*told, 1e3*truth)
			}
		}
	}
	slices.Sort(off)
	if n := len(off); n < 9 || off[2*n/3-1] > 0.3 || off[n/2] > 0.15 {
		t.Errorf("off by %.2f", off)
	}
}

// TestEarlierWork: what is worth a word is measured by the window without work from before recording began, of which SGLang's trace of one
// decode iteration is 463 of 474 ms.
func TestEarlierWork(t *testing.T) {
	tr := realTrace(t, "TraceLens__sglang_decode__replay")
	if tr == nil {
		t.Skip("the trace is not at hand: set OVERLAY_WORLD")
	}
	a := adviseOf(t, tr)
	n := slices.IndexFunc(a.Findings, func(f advise.Finding) bool { return f.ID == "profiler-cost" })
	if n < 0 || a.Window < 40*a.Base {
		t.Fatalf("window %d, base %d: %+v", a.Window, a.Base, a.Findings)
	}
	if x := a.Findings[n].Numbers; x[1].NS != a.Base || x[0].NS <= 0 || x[0].NS > a.Base {
		t.Errorf("%+v of %d", x, a.Base)
	}
}
