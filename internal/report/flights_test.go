package report_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"overlay/internal/flights"
	"overlay/internal/report"
	"overlay/internal/testtrace/reported"
)

// dumpsOf are dumps of a job of four ranks: five all-reduces that took a rank so long, and a sixth one of the ranks that have called it.
func dumpsOf(took func(rank int32) int64, sixth ...int32) *flights.Study {
	var dumps []*flights.Dump
	for rank := range int32(4) {
		d := &flights.Dump{Rank: rank, Groups: []flights.Group{{Name: "0", Desc: "default_pg", Ranks: []int32{0, 1, 2, 3}}}}
		for seq := int64(1); seq < 6; seq++ {
			d.Calls = append(d.Calls, flights.Call{Seq: seq, Name: "all_reduce", Sizes: "1024×4", Types: "Float", Done: true, Duration: took(rank), Frame: "step train.py:10"})
		}
		for _, r := range sixth {
			if r == rank {
				d.Calls = append(d.Calls, flights.Call{Seq: 6, Name: "all_reduce", Sizes: "8", Types: "Float", Duration: -1, Frame: "step train.py:20"})
			}
		}
		dumps = append(dumps, d)
	}
	s, err := flights.Judge(dumps)
	if err != nil {
		panic(err)
	}
	return s
}

func flightsText(t *testing.T, r *report.FlightsReport) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFlights: the headline of a job that is stuck, of one that is slow, and of one that is neither; the JSON follows the schema in docs.
func TestFlights(t *testing.T) {
	even := func(int32) int64 { return 1e6 }
	late := func(rank int32) int64 { return 1e6 + int64(rank%3)*2e6 }
	s := schemaOf(reflect.TypeFor[report.FlightsReport]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = report.FlightsSchema
	s["description"] = "The JSON report of overlay on dumps of flight recorders. Times are integers in ns."
	s["properties"].(map[string]any)["schema"] = map[string]any{"const": report.FlightsSchema}
	raw, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	reported.Golden(t, "../../docs/reference/report-flights.schema.json", append(raw, '\n'), *update)
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		study *flights.Study
		want  string
	}{
		{dumpsOf(even), ""},
		{dumpsOf(late), "rank 0 comes last in 5 of 5 collectives: the others wait 30.00 ms for it in all (step train.py:10)"},
		{dumpsOf(even, 0, 1, 3), "rank 2 has not called all_reduce of 8 Float, collective 6 of group default_pg (0); 3 ranks wait in it, and the last call before is that of step train.py:10"},
		{dumpsOf(even, 0, 1, 2, 3), "all_reduce of 8 Float, collective 6 of group default_pg (0), does not end: all of its ranks have called it"},
	} {
		r := report.NewFlights("dumps", "test", c.study)
		if r.Headline != c.want {
			t.Errorf("%q, not %q", r.Headline, c.want)
		}
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
			t.Error(e)
		}
	}
	reported.Golden(t, "testdata/flights.txt", []byte(flightsText(t, report.NewFlights("dumps", "test", dumpsOf(late, 0, 1, 3)))), *update)
}
