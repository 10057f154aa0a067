package report_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"overlay/internal/coarse"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/testtrace/reported"
)

// coarseJob is a job of two stages and two replicas in three steps of four micro-batches, in which the work of a rank takes so many times as long.
func coarseJob(times func(rank int32) int64) *coarse.Job {
	const ms = 1_000_000
	j := &coarse.Job{Kinds: []string{"forward-compute", "forward-send", "forward-recv", "grads-reduce-scatter"}}
	for step := range int64(3) {
		var at [4]int64 // how far each rank is
		add := func(rank, kind int32, end int64) {
			j.Records = append(j.Records, coarse.Record{Start: at[rank], Duration: end - at[rank], Step: step, Rank: rank, Stage: rank / 2, Replica: -1, Kind: kind})
			at[rank] = end
		}
		for range 4 {
			for from := range int32(2) {
				to := from + 2
				add(from, 0, at[from]+20*ms*times(from))
				sent := max(at[from], at[to]) + ms
				add(from, 1, sent)
				add(to, 2, sent)
				add(to, 0, sent+20*ms*times(to))
			}
		}
		for rank, end := range [4]int64{max(at[0], at[1]), max(at[0], at[1]), max(at[2], at[3]), max(at[2], at[3])} {
			add(int32(rank), 3, end+ms)
		}
	}
	return j
}

func recordsText(t *testing.T, r *report.RecordsReport) string {
	var b bytes.Buffer
	if err := r.WriteText(&b, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRecordsHeadline: who is slow is named with what it costs, and nobody of an even job.
func TestRecordsHeadline(t *testing.T) {
	for _, c := range []struct {
		times func(rank int32) int64
		want  string
	}{
		{func(int32) int64 { return 1 }, ""},
		{func(rank int32) int64 { return 1 + int64(rank)/3 }, "rank 3: slow ×2.00, most in forward-compute; without it 60.00 ms a step less (-32.4 %)"},
		{func(rank int32) int64 { return 1 + int64(rank)/2 }, "stage 1: slow ×2.00; without it"},
	} {
		r := report.NewRecords("job.csv", "test", coarseJob(c.times))
		if r.Job.Residual != 0 || r.Job.Unmatched != 0 {
			t.Errorf("off by %d, %d unmatched", r.Job.Residual, r.Job.Unmatched)
		}
		if !strings.HasPrefix(r.Headline, c.want) || c.want == "" && r.Headline != "" {
			t.Errorf("%q, not %q\n%s", r.Headline, c.want, recordsText(t, r))
		}
	}
}

// TestRecordsReport: text, page and JSON of one job, which follows the schema in docs.
func TestRecordsReport(t *testing.T) {
	s := schemaOf(reflect.TypeFor[report.RecordsReport]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = report.RecordsSchema
	s["description"] = "The JSON report of overlay on a job of which there are coarse records. Times are integers in ns and means over the steps, shares are ratios."
	s["properties"].(map[string]any)["schema"] = map[string]any{"const": report.RecordsSchema}
	raw, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	reported.Golden(t, "../../docs/reference/report-records.schema.json", append(raw, '\n'), *update)

	r := report.NewRecords("job.csv", "test", coarseJob(func(rank int32) int64 { return 1 + int64(rank)/3 }))
	reported.Golden(t, "testdata/records.txt", []byte(recordsText(t, r)), *update)
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	var v any
	d := json.NewDecoder(&b)
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	for _, e := range follow(schema, v, "") {
		t.Error(e)
	}
	b.Reset()
	if err := page.WriteRecords(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>Rank 3: slow", `<section id="kinds">`, "forward-compute"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
