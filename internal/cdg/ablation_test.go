package cdg_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// amendments is the table of what each rule is worth.
const amendments = "lab/amendments.tsv"

// gone begins the rows of rules that are no more, and which keep what their going cost when it was measured.
const gone = "gone: "

var update = flag.Bool("update", false, "make lab/amendments.tsv anew")

// TestAmendments: each rule has a row in the table, and no row is without a rule. A rule that changes no real trace at hand says
// what documented behaviour it stands on. With -update the table is made anew, but for that,
// from the real traces that are at hand and from simulated programs.
func TestAmendments(t *testing.T) {
	file := filepath.Join(corpus.Root(t), amendments)
	text, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var rows []string
	on := map[string]string{} // by rule: the documented behaviour
	var removed strings.Builder
	for _, line := range strings.Split(string(text), "\n") {
		switch cells := strings.Split(line, "\t"); {
		case strings.HasPrefix(line, gone):
			removed.WriteString(line + "\n")
		case len(cells) == 6 && cells[0] != "rule":
			rows = append(rows, cells[0])
			if on[cells[0]] = cells[5]; cells[1] == "0" && cells[5] == "" {
				t.Errorf("rule %q changes no real trace, and stands on nothing that is documented", cells[0])
			}
		}
	}
	if !*update {
		if names := cdg.RuleNames(); !slices.Equal(rows, names) {
			t.Errorf("rows %q, rules %q: run this test with -update", rows, names)
		}
		return
	}
	t.Setenv("OVERLAY_LONG", "1") // the large traces, too
	files := corpus.Files(t)
	var b strings.Builder
	b.WriteString("rule\treal traces changed\tof them most, %\tagreement lost, points\treplays: mean error added, points\tstands on\n")
	for _, name := range cdg.RuleNames() {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", name, realWithout(t, files, name), simulatedWithout(name), on[name])
		t.Log(b.String())
	}
	if err := os.WriteFile(file, []byte(b.String()+removed.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// realWithout is how many real traces have another path without a rule, and how much of the path differs at most.
func realWithout(t *testing.T, files []string, rule string) string {
	changed, most := 0, 0.0
	for _, file := range files {
		tr, err := kineto.Parse(corpus.Text(t, file), file, kineto.Options{})
		if err != nil {
			continue // odd
		}
		with, err := owners(tr, "")
		if err != nil {
			continue
		}
		without, err := owners(tr, rule)
		if err != nil {
			t.Fatal(err)
		}
		same, i, k := int64(0), 0, 0
		for i < len(with) && k < len(without) {
			x, y := &with[i], &without[k]
			if x.Event == y.Event && x.Kind == y.Kind {
				same += max(0, min(x.End, y.End)-max(x.Start, y.Start))
			}
			if x.End <= y.End {
				i++
			} else {
				k++
			}
		}
		if window := with[len(with)-1].End - with[0].Start; same < window {
			changed++
			most = max(most, 100*(1-float64(same)/float64(window)))
		}
	}
	return fmt.Sprintf("%d\t%.2f", changed, most)
}

func owners(tr *trace.Trace, without string) ([]critpath.Segment, error) {
	var o cdg.Options
	o.LeaveOut(without)
	g, err := graph.Build(tr, o)
	if err != nil {
		return nil, err
	}
	p, err := critpath.Exact(g)
	if err != nil {
		return nil, err
	}
	return p.Segments.List(), nil
}

// simulatedWithout is what agreement and replays lose over simulated programs of all classes without a rule.
func simulatedWithout(rule string) string {
	var lost, off float64
	programs, questions := 0, 0
	var j [2]testtrace.Judge
	j[1].Options.LeaveOut(rule)
	classes := slices.Concat(testtrace.Classes, testtrace.Production)
	for i, class := range classes {
		for seed := range uint64(4) {
			s := 40_000 + 100*uint64(i) + seed
			with, without := j[0].Check(testtrace.Random(class, s), s), j[1].Check(testtrace.Random(class, s), s)
			lost += with.Share() - without.Share()
			programs++
		}
		s := 40_000 + 100*uint64(i)
		with, err := j[0].AskAll(testtrace.Random(class, s), s)
		without, err2 := j[1].AskAll(testtrace.Random(class, s), s)
		for k := range min(len(with), len(without)) {
			if err == nil && err2 == nil {
				off += without[k].Off(without[k].Predicted) - with[k].Off(with[k].Predicted)
				questions++
			}
		}
	}
	return fmt.Sprintf("%.3f\t%.3f", 100*lost/float64(programs), 100*off/float64(max(1, questions)))
}
