package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
)

// TestJobDesk: the page of a job has a slider for each rank and host, an answer is that of the command, and its rows end where the job would.
func TestJobDesk(t *testing.T) {
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "gpu", World: 6, PerHost: 3, Steps: 4, Seed: 3, Noise: 1})
	list, err := jobjudge.Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	s := report.JobSource{Name: "traces", Version: "test", Job: j, Verdict: replay.Judge(j, ranks.Expected{})}
	r := report.NewJob(s)
	d, err := page.NewJobDesk(r, s, "it's/traces")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := page.WriteJobDesk(&b, r, s, d); err != nil {
		t.Fatal(err)
	}
	var sliders []string
	for _, m := range regexp.MustCompile(`data-change="([^"]*)"`).FindAllStringSubmatch(b.String(), -1) {
		sliders = append(sliders, m[1])
	}
	if got := strings.Join(sliders, " "); got != "class:compute class:comm class:cpu host:node1 host:node2 rank:0 rank:1 rank:2 rank:3 rank:4 rank:5" {
		t.Errorf("sliders %s", got)
	}
	if !strings.Contains(b.String(), `"command":"overlay whatif 'it'\\''s/traces'"`) || strings.Contains(b.String(), `class="bar then"`) {
		t.Error("the page has another command, or the bar of one trace")
	}
	slow := fmt.Sprintf("rank:%d=0.5;class:comm=0.9", sim.Culprits.Ranks[0])
	for _, text := range []string{"rank:0-5=1", slow} {
		want, err := report.NewJobWhatIf(s, report.JobQuestions{Scenarios: []string{text}})
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		if err := d.Ask(text, &b); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Scenarios []struct {
				report.JobAnswer
				Ranks []struct{ Strip []report.Run }
			}
		}
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got.Scenarios) != 1 || len(got.Scenarios[0].Ranks) != 6 {
			t.Fatalf("%v: %s", err, b.Bytes())
		}
		x, last := got.Scenarios[0], int64(0)
		if x.JobAnswer != want.Scenarios[0] {
			t.Errorf("%+v, the command says %+v", x.JobAnswer, want.Scenarios[0])
		}
		for _, row := range x.Ranks {
			last = max(last, row.Strip[len(row.Strip)-1].End)
		}
		if last-j.Window[0] != x.Window || (x.Saved == 0) != (text != slow) {
			t.Errorf("%s: rows end at %d of %d, %d saved", text, last-j.Window[0], x.Window, x.Saved)
		}
	}
	if err := d.Ask("rank:77=0.5", &b); err == nil || !strings.Contains(err.Error(), "77") {
		t.Errorf("a rank that is not there: %v", err)
	}
}
