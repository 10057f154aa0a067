package fromrecords_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"overlay/internal/coarse"
	"overlay/internal/fromrecords"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/corpus"
)

// TestCells: what a table may look like, and what is said of one that is broken.
func TestCells(t *testing.T) {
	const head = "rank,stage,step,optype,start_ts,duration\n"
	one := coarse.Record{Start: 1_500_000_000, Duration: 2, Step: 7, Rank: 3, Stage: 1, Replica: -1}
	for _, c := range []struct {
		text string
		want any
	}{
		{head + "3,1,7,gc,1.5,0.000000002\n", one},
		{head + "3,1,7,gc,1.5000000004,1.9999999995e-9\n", one},
		{"\ufeff\"rank\", stage,kind,step,start_ns,duration_ns,other\r\n3,1,gc,7,1500000000,2,x\r\n", one},
		{"dp_rank," + head + "2,3,1,7,gc,1.5,2e-9\n", coarse.Record{Start: 1_500_000_000, Duration: 2, Step: 7, Rank: 3, Stage: 1, Replica: 2}},
		{head + "0,0,0,gc,1732310000.123456789,1\n", coarse.Record{Start: 1_732_310_000_123_456_789, Duration: 1_000_000_000, Replica: -1}}, // a float64 of it is off by 100 ns
		{head + "0,0,0,gc,-.5,1\n", coarse.Record{Start: -500_000_000, Duration: 1_000_000_000, Replica: -1}},
		{head, "x.csv: a table without a row"},
		{"rank,step\n", "x.csv: a table without the column stage"},
		{head + "3,1,7,gc,1.5\n", "wrong number of fields"},
		{head + "3,1,7,gc,1.5,2\n-1,1,7,gc,1.5,2\n", `x.csv: row 2: rank "-1" is no whole number from 0 to 2147483647`},
		{head + "3,1,7.5,gc,1.5,2\n", `row 1: step "7.5" is no whole number`},
		{head + "3,1,7,,1.5,2\n", `row 1: optype "" is empty`},
		{head + "3,1,7,gc,now,2\n", `row 1: start_ts "now" is no time`},
		{head + "3,1,7,gc,.,2\n", `row 1: start_ts "." is no time`},
		{head + "3,1,7,gc,1e300,2\n", `is no time`},
		{head + "3,1,7,gc,NaN,2\n", `is no time`},
		{head + "3,1,7,gc,1,-2\n", `row 1: duration "-2" is no duration`},
		{head + "3,1,7,gc,1,2000000000\n4,1,7,gc,1,2000000000\n", `row 2: duration "2000000000" is too long`},
		{"PAR1 and nothing else", "x.csv: broken Parquet"},
	} {
		if !fromrecords.Is([]byte(c.text)) {
			t.Errorf("%q is no table of records", c.text)
		}
		_, err := fromrecords.Parse([]byte(c.text), "x.csv", kineto.Options{}, nil)
		var found *fromrecords.Records
		switch want := c.want.(type) {
		case coarse.Record:
			if !errors.As(err, &found) || len(found.Job.Records) != 1 || found.Job.Records[0] != want {
				t.Errorf("%q gives %+v, %v", c.text, found, err)
			}
		case string:
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, not %s", c.text, err, want)
			}
		}
	}
	for _, text := range []string{"", "{\"a\":[\"rank\",\"step\"]}", "a,b\n", "rank;step\n"} {
		if fromrecords.Is([]byte(text)) {
			t.Errorf("%q is a table of records", text)
		}
	}
}

// TestBrokenParquet: a real file that is cut or changed anywhere gives records or an error.
func TestBrokenParquet(t *testing.T) {
	src, err := os.ReadFile(corpus.World(t, "straggler-study/trace-ST.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	whole := records(t, src, "whole")
	failed := 0
	for at := 4; at < len(src); at += 997 {
		for _, broken := range [][]byte{src[:at], append(append(append([]byte{}, src[:at]...), ^src[at]), src[at+1:]...)} {
			_, err := fromrecords.Parse(broken, "broken", kineto.Options{}, nil)
			var found *fromrecords.Records
			if !errors.As(err, &found) {
				failed++
			} else if len(found.Job.Records) > len(whole.Records) {
				t.Errorf("byte %d: %d records", at, len(found.Job.Records))
			}
		}
	}
	if failed < 77 {
		t.Errorf("only %d broken files were noticed", failed)
	}
	if again := records(t, src, "again"); !reflect.DeepEqual(again, whole) {
		t.Error("the records differ when they are read again")
	}
}
