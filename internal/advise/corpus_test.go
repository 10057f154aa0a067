package advise

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// verdicts reads testdata/cases.tsv: the start of a trace's name, a verdict, and rules that find something in it. T is
// judged true by reading the trace; U could not be decided from it, and may be found or not. A trace with no line has not
// been looked at.
func verdicts(t *testing.T) map[string]map[string]string {
	text, err := os.ReadFile("testdata/cases.tsv")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for l := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimRight(l, "\n"), "\t")
		verdict, ids, _ := strings.Cut(rest, "\t")
		if out[name] == nil {
			out[name] = map[string]string{}
		}
		for _, id := range strings.Fields(ids) {
			out[name][id] = verdict
		}
	}
	return out
}

// TestVerdicts: on real traces, nine of ten causes that were judged true are found, and nothing is found that nobody has
// judged. No general bound exceeds what an infinitely fast CPU or an empty GPU would give.
func TestVerdicts(t *testing.T) {
	known := verdicts(t)
	found, wanted, traces := 0, 0, 0
	for _, file := range corpus.Files(t, "*.json.gz") {
		var want map[string]string
		for prefix, w := range known {
			if strings.HasPrefix(filepath.Base(file), prefix) {
				want = w
			}
		}
		if want == nil {
			continue
		}
		traces++
		tr := testtrace.Read(t, file)
		a := adviseOn(t, tr)
		for i := range a.Findings {
			x := &a.Findings[i]
			if want[x.ID] == "" {
				t.Errorf("%s: nobody has judged %s, %.1f %%: %s", filepath.Base(file), x.ID, 100*x.Share, x.Saw)
			}
			if x.Gain < 0 || x.Gain > a.Window || x.Alone > a.Window {
				t.Errorf("%s: %s gains %d of %d", filepath.Base(file), x.ID, x.Gain, a.Window)
			}
		}
		if a.Together > a.Base {
			t.Errorf("%s: everything together makes the window longer: %d, %d", filepath.Base(file), a.Together, a.Base)
		}
		var missed []string
		for id, verdict := range want {
			if verdict == "T" {
				wanted++
				if a.find(id) != nil {
					found++
				} else {
					missed = append(missed, id)
				}
			}
		}
		if slices.Sort(missed); len(missed) > 0 {
			t.Logf("%s: missed %v; below %v", filepath.Base(file), missed, a.Below)
		}
	}
	t.Logf("%d of %d in %d traces", found, wanted, traces)
	if 10*found < 9*wanted {
		t.Errorf("%d of %d causes that were judged true are found", found, wanted)
	}
}
