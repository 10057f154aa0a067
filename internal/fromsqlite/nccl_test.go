package fromsqlite_test

import (
	"strconv"
	"strings"
	"testing"

	"overlay/internal/fromsqlite"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/databases"
	"overlay/internal/trace"
)

// TestExchanges: a group of sends and receives with all other ranks is one exchange; one with a neighbour or two is not, nor is a group that is
// still open when another begins inside it.
func TestExchanges(t *testing.T) {
	for _, c := range []struct {
		calls string
		ranks int64 // of the exchange; 0 for none
	}{
		{"Start Send Recv Send Recv Send Recv End", 3},
		{"Start Start Send Recv Send Recv End Send Recv Send Recv End", 4},
		{"Start Send Recv Send Recv End", 0}, // two of an unknown number, as a stage of a pipeline has
		{"Start Send Send Send Recv End", 0},
		{"Send Send Recv Recv", 0},
	} {
		var b strings.Builder
		b.WriteString(`{"traceEvents":[`)
		ts := 10
		for _, call := range strings.Fields(c.calls) {
			name := "nccl" + call
			if call == "Start" || call == "End" {
				name = "ncclGroup" + call
			}
			b.WriteString(`{"ph":"X","cat":"user_annotation","name":"` + name + `","pid":1,"tid":1,"ts":` + strconv.Itoa(ts) + `,"dur":8},`)
			ts += 10
		}
		b.WriteString(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":` + strconv.Itoa(ts-8) + `,"dur":3,"args":{"correlation":5}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv(x)","pid":0,"tid":7,"ts":200,"dur":50,"args":{"correlation":5,"device":0,"stream":7}}]}`)
		src, err := databases.Nsys(testtrace.Parse(t, []byte(b.String())), databases.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tr, err := fromsqlite.Parse(src, "t.sqlite", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		got := int64(0)
		for i := range tr.Events {
			if tr.Events[i].Kind == trace.Kernel {
				got, _ = tr.ArgInt(trace.EventID(i), "Group size")
			}
		}
		if got != c.ranks {
			t.Errorf("%s: an exchange of %d, want %d", c.calls, got, c.ranks)
		}
	}
}
