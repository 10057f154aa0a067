package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
)

// TestJobParts: the table of what each rank costs has at most 20 lines, of which the last sums what the others have more than their peers; the JSON has all that was asked.
func TestJobParts(t *testing.T) {
	list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Seed: 4, World: 96, Steps: 3, Cause: "gpu"}))
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := report.NewJobWhatIf(report.JobSource{Name: "traces", Version: "test", Job: j, Verdict: ranks.Judge(j, ranks.Expected{})}, report.JobQuestions{Each: "rank"})
	if err != nil {
		t.Fatal(err)
	}
	var text, doc bytes.Buffer
	if err := w.WriteText(&text, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteJSON(&doc); err != nil {
		t.Fatal(err)
	}
	lines, last, rest, all := 0, "", w.LeftOver, map[string]any{}
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, "rank-") {
			lines, last = lines+1, strings.TrimSpace(line)
		}
	}
	for _, p := range w.Parts[19:] {
		rest += p.Excess
	}
	want := fmt.Sprintf("–        –   %s  %d more together", tables.RankTime(rest), len(w.Parts)-19+w.LeftOut)
	if lines != 20 || last != want || w.LeftOut == 0 || w.LeftOver <= 0 {
		t.Errorf("%d lines, the last %q, want %q; %d with %d ns left out\n%s", lines, last, want, w.LeftOut, w.LeftOver, text.String())
	}
	if err := json.Unmarshal(doc.Bytes(), &all); err != nil || len(all["parts"].([]any)) != len(w.Parts) {
		t.Errorf("%d parts in the JSON of %d: %v", len(all["parts"].([]any)), len(w.Parts), err)
	}
}
