package report_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/report"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobcheck"
	"overlay/internal/testtrace/jobjudge"
	"overlay/internal/testtrace/reported"
)

const jobSchemaFile = "../../docs/reference/report-job.schema.json"

// madeJob is the report of a simulated job.
func madeJob(t *testing.T, o testtrace.JobOptions, step int32, segments bool) *report.JobReport {
	t.Helper()
	list, err := jobjudge.Summaries(testtrace.NewJob(o))
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: step})
	if err != nil {
		t.Fatal(err)
	}
	if err := jobcheck.Check(j); err != nil {
		t.Fatal(err)
	}
	return report.NewJob(report.JobSource{Name: "traces", Version: "test", Job: j, Verdict: replay.Judge(j, ranks.Expected{Intra: 300}), Segments: segments,
		Ignored: []report.Ignored{{"notes.json", "no trace"}}, Notes: []string{"a note"}})
}

var madeJobs = []testtrace.JobOptions{
	{Kind: "tp_dp", Seed: 5, World: 8, PerHost: 4, Cause: "gpu", Trouble: []string{"drift"}},
	{Kind: "3d", Seed: 6, World: 8, Cause: "link", Trouble: []string{"missing"}},
	{Kind: "dp", Seed: 7, World: 4, PerHost: 2, Trouble: []string{"old", "windows"}},
}

// TestJobSchemaFile: the schema in docs says what the types say.
func TestJobSchemaFile(t *testing.T) {
	s := schemaOf(reflect.TypeFor[report.JobReport]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = report.JobSchema
	s["description"] = "The JSON report of overlay on a job of several ranks. Times are integers in unix ns on the job's clock, shares are ratios 0 to 1, events are zero-based positions in traceEvents of the trace of their rank."
	props := s["properties"].(map[string]any)
	props["schema"] = map[string]any{"const": report.JobSchema}
	props["method"] = map[string]any{"enum": []string{"exact"}}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	reported.Golden(t, jobSchemaFile, append(b, '\n'), *update)
}

// TestJobReports: reports of jobs follow the schema, their numbers add up, and each number has a unit.
func TestJobReports(t *testing.T) {
	s := schemaOf(reflect.TypeFor[report.JobReport]())
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	for _, o := range madeJobs {
		for _, step := range []int32{-1, 11} {
			r := madeJob(t, o, step, true)
			var b bytes.Buffer
			if err := r.WriteJSON(&b); err != nil {
				t.Fatal(err)
			}
			var v any
			d := json.NewDecoder(&b)
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			for _, e := range follow(schema, v, "") {
				t.Errorf("%s: %s", o.Kind, e)
			}
			addsUpJob(t, &r.Job)
			if n := len(r.Tables()); n < 20 {
				t.Errorf("only %d tables", n)
			}
		}
	}
}

func addsUpJob(t *testing.T, j *report.Job) {
	t.Helper()
	p, sums := &j.Path, [4]int64{}
	for _, ns := range p.ByClass {
		sums[0] += ns
	}
	for _, x := range p.ByRank {
		sums[1] += x.NS
	}
	of := map[int32]bool{}
	for _, s := range p.Segments {
		sums[2] += s.End - s.Start
		if s.Instance != nil {
			of[*s.Instance] = true
		}
	}
	for i, e := range p.Edges {
		if n := int32(e.Instance); len(p.Segments) > 0 && !of[n] {
			t.Errorf("jump %d is at collective %d, of which no segment of the path is", i, n)
		}
	}
	for i := range j.Ranks {
		sums[3] += j.Ranks[i].Path
	}
	for i, sum := range sums {
		if sum != p.Duration || p.Duration != j.Window.Duration {
			t.Errorf("the path is %d long, its parts by way %d are %d", p.Duration, i, sum)
		}
	}
	charged := j.Waits.Transfer + j.Waits.Unrecorded + j.Waits.Missing
	for _, c := range j.Waits.Charged {
		charged += c.NS
	}
	waited := int64(0)
	for i := range j.Ranks {
		waited += j.Ranks[i].Wait
	}
	if j.Clock.Components == 1 && charged != j.Waits.Total || waited != j.Waits.Total {
		t.Errorf("waited %d, by rank %d, charged %d", j.Waits.Total, waited, charged)
	}
}

// TestJobText: the text says what there is to say, and no line is wider than asked.
func TestJobText(t *testing.T) {
	for i, want := range [][]string{
		{"8 ranks of 8", "2 hosts", "drift on 2 ranks", "GPU slow ×"},
		{"ranks of 8", "without a trace", "A slow link: group", "Left out: notes.json", "A note"},
		{"Groups are by when they end"},
	} {
		r := madeJob(t, madeJobs[i], -1, true)
		for _, width := range []int{60, 100, 160} {
			var b strings.Builder
			if err := r.WriteText(&b, report.TextOptions{Width: width, Walk: width == 160}); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			for _, w := range want {
				if width == 160 && !strings.Contains(strings.Join(strings.Fields(text), " "), w) {
					t.Errorf("%v: no %q in\n%.3000s", madeJobs[i], w, text)
				}
			}
			for line := range strings.Lines(text) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > width && width > 60 {
					t.Errorf("%d columns instead of %d: %s", n, width, line)
				}
			}
		}
	}
}

// TestJobTextTop: lists have as many rows as were asked for.
func TestJobTextTop(t *testing.T) {
	r := madeJob(t, madeJobs[0], -1, false)
	waited := func(top int) int {
		var b strings.Builder
		if err := r.WriteText(&b, report.TextOptions{Top: top}); err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(b.String(), "\nWhat was waited for")
		list, _, _ = strings.Cut(list, "\n\n")
		return strings.Count(list, "  rank ") - 1 // the head
	}
	if few, usual, all := waited(1), waited(0), waited(100); few != 1 || usual <= few || all <= usual {
		t.Errorf("waits of %d ranks with one row, %d as usual, %d with a hundred", few, usual, all)
	}
}

// TestCauseText: what a straggler is given to do is said where it decides about the cause, and where nobody knows it, how to know.
func TestCauseText(t *testing.T) {
	for _, c := range []struct {
		s             report.Straggler
		cause, advice string
	}{
		{report.Straggler{Cause: "gpu_slow", Factor: 1.2}, "GPU slow ×1.20", "record_shapes=True would rule out more work"},
		{report.Straggler{Cause: "gpu_slow", Factor: 1.2, Load: 1, LoadBy: "shapes"}, "GPU slow ×1.20", "given ×1.00 the work by shapes: on its host: nvidia-smi"},
		{report.Straggler{Cause: "cpu_slow", Factor: 1.5, Load: 1, LoadBy: "shapes"}, "CPU slow ×1.50", "given ×1.00 the work by shapes: on its host: look for other load"},
		{report.Straggler{Cause: "cpu_slow", Factor: 1.5}, "CPU slow ×1.50", "look for other load"},
		{report.Straggler{Cause: "more_data", Factor: 1.3, Load: 1.4, LoadBy: "grids"}, "given more ×1.40", "given ×1.40 the work by grids: give each rank as many rows"},
		{report.Straggler{Cause: "input_sizes", Load: 1.4, LoadBy: "shapes"}, "unequal inputs", "given ×1.40 the work by shapes"},
		{report.Straggler{Cause: "pause", Kind: "persistent", Names: []report.NameExcess{{Name: "sleep", Excess: 9}}}, "pause in sleep", "in each step"},
		{report.Straggler{Cause: "pause", Kind: "alternating", Names: []report.NameExcess{{Name: "gc", Excess: 9}}}, "pause in gc", "gc.disable()"},
		{report.Straggler{Cause: "input_sizes"}, "unequal inputs", "batches of about one length"},
		{report.Straggler{Cause: "more_work", Names: []report.NameExcess{{Name: "ProfilerStep", Excess: 9}}}, "time outside operators", "with_stack=True"},
		{report.Straggler{Cause: "more_work", Names: []report.NameExcess{{Name: "aten::mm", Excess: 9}}}, "more work than its peers", ""},
	} {
		cause, advice := report.CauseText(&c.s)
		if cause != c.cause || !strings.Contains(advice, c.advice) {
			t.Errorf("%+v: %q, %q", c.s, cause, advice)
		}
	}
}
