package page_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
)

// pageOfJob is the page of a job of these ranks.
func pageOfJob(t *testing.T, list []*ranks.Summary) string {
	t.Helper()
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	s := report.JobSource{Name: "traces", Version: "test", Job: j, Verdict: replay.Judge(j, ranks.Expected{})}
	if err := page.WriteJob(&buf, report.NewJob(s), s); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// TestJobPage: the page of a job says who is slow and why, has its rows and maps, and asks for nothing from outside.
func TestJobPage(t *testing.T) {
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "3d", Cause: "gpu", World: 16, PerHost: 4, Steps: 4, Seed: 3, Noise: 1})
	list, err := jobjudge.Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	html := pageOfJob(t, list)
	slow := fmt.Sprintf("<h1>Rank %d (node4, GPU 1): GPU slow", sim.Culprits.Ranks[0])
	for _, want := range []string{slow, "on its host: nvidia-smi -q -d CLOCK", "Who waits for whom in step", "waits for rank ", "Waiting in collectives", "Waited for by the others", "Waited for, by stage of the pipeline", "What takes some ranks longer",
		`class="marked"`, "Bandwidth", "intra", "inter", "How far to trust it"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for _, bad := range []string{"http://", "https://", "<nil>", "%!", "NaN", "ZgotmplZ"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(html, `class="stair"`); n != 16 {
		t.Errorf("%d rows of the staircase for 16 ranks", n)
	}
}

// TestJobPageSizes: two ranks and many make a page that can be read: of many ranks those with most have a row each, and one row is
// for the others.
func TestJobPageSizes(t *testing.T) {
	if html := pageOfJob(t, jobjudge.Large(8, 1)[:2]); strings.Count(html, `class="stair"`) != 2 || strings.Contains(html, "ZgotmplZ") {
		t.Error("the page of two ranks has no two rows")
	}
	if testing.Short() {
		t.Skip("not with -short")
	}
	html := pageOfJob(t, jobjudge.Large(256, 1))
	if !strings.Contains(html, "224 others") || strings.Count(html, `class="stair"`) != 40 || len(html) > 3<<20 {
		t.Errorf("of 256 ranks %d rows of the staircase, %d bytes", strings.Count(html, `class="stair"`), len(html))
	}
}

// TestCompareJobs: between a job with a slow card and one with late batches, the one straggler is gone and the other is new.
func TestCompareJobs(t *testing.T) {
	prefix := ""
	made := func(cause string, seed uint64) *report.JobReport {
		list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "3d", Cause: cause, World: 8, PerHost: 4, Steps: 4, Seed: seed, Noise: 1}))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			for i := range s.Names {
				s.Names[i] = prefix + s.Names[i]
			}
		}
		j, err := ranks.Join(list, ranks.Options{Step: -1})
		if err != nil {
			t.Fatal(err)
		}
		return report.NewJob(report.JobSource{Name: cause, Job: j, Verdict: replay.Judge(j, ranks.Expected{})})
	}
	a, b := made("gpu", 3), made("data", 4)
	d := report.CompareJobs(a, b)
	if len(d.Stragglers) != 2 || d.Stragglers[0].Change != "new" || d.Stragglers[0].Cause != "data loading" || d.Stragglers[1].Change != "gone" || !strings.HasPrefix(d.Stragglers[1].Cause, "GPU slow") {
		t.Errorf("stragglers: %+v", d.Stragglers)
	}
	if prefix = "other_"; !d.Same.Same || d.Same.Score < 0.7 || report.CompareJobs(a, made("data", 4)).Same.Same {
		t.Errorf("jobs of one program: %+v; or those of two do the same", d.Same)
	}
	if !d.PerStep || len(d.Steps) == 0 || d.Length.Effect != d.Length.After-d.Length.Before {
		t.Errorf("%+v", d)
	}
	sum := int64(0)
	for _, c := range d.Classes {
		sum += c.After
	}
	if off := sum - d.Length.After; off > 10 || off < -10 {
		t.Errorf("classes sum to %d of %d", sum, d.Length.After)
	}
	if same := report.CompareJobs(a, a); same.Length.Effect != 0 || len(same.Stragglers) != 1 || same.Stragglers[0].Change != "still" {
		t.Errorf("with itself: %+v", same)
	}
	// Windows that were cut by the clock are compared by their collectives.
	cut, less := *a, *a
	cut.Job.Steps, less.Job.Steps = nil, nil
	cut.Job.Totals, less.Job.Totals = nil, nil
	for _, t := range a.Job.Totals[:2] {
		t.Count = 40
		cut.Job.Totals = append(cut.Job.Totals, t)
		t.Count = 30
		less.Job.Totals = append(less.Job.Totals, t)
	}
	if d := report.CompareJobs(&cut, &less); d.Verdict() != "75.0 % of the work in 100.0 % of the time: the same work takes 33.3 % longer (noise ± 5.0)" {
		t.Error(d.Verdict())
	} else if g, _ := d.Gate(35); g != report.Unsure {
		t.Error("the gate is sure of 35 %")
	} else if g, _ = d.Gate(5); g != report.Beyond {
		t.Error("the gate is not sure of 5 %")
	}
	if d := report.CompareJobs(&cut, &cut); d.Work != nil || d.Slower != 0 {
		t.Errorf("a window with itself: %+v", d)
	}
	written := func(write func(w io.Writer) error, want ...string) {
		t.Helper()
		var buf bytes.Buffer
		err := write(&buf)
		for _, s := range want {
			if err != nil || !strings.Contains(buf.String(), s) {
				t.Errorf("%v, no %q in\n%s", err, s, buf.String())
			}
		}
	}
	written(func(w io.Writer) error { return page.CommentDifference(w, d.Shown(), 10) }, "`data`: the median step", "\n| `new rank ", ": data loading` |", "\n| `gone rank ", "**Steps that both jobs recorded**")
	written(func(w io.Writer) error { return page.DrawDifference(w, d.Shown()) }, "<svg ", d.Verdict(), ">GPU compute</text>")
	written(func(w io.Writer) error { return page.WriteDifference(w, d.Shown(), nil) }, "<h1>"+strings.ToUpper(d.Verdict()[:1])+d.Verdict()[1:], "Ranks with more work than their peers", "data loading", "Times are of the median step, on the path")
	var buf bytes.Buffer
	if err := d.WriteText(&buf, report.TextOptions{}, 10); err != nil || !strings.Contains(buf.String(), "  new rank ") {
		t.Errorf("%v\n%s", err, buf.String())
	}
}

// TestNoMapOfOneStep: a map needs two steps.
func TestNoMapOfOneStep(t *testing.T) {
	for steps, want := range map[int]bool{1: false, 2: true} {
		list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Seed: 7, World: 4, PerHost: 2, Steps: steps}))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(pageOfJob(t, list), `<section id="heat">`); got != want {
			t.Errorf("of %d steps there is a map: %v", steps, got)
		}
	}
}
