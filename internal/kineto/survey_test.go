package kineto

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	tr, err := Parse(wrap(
		`{"ph":"X","cat":"cpu_op","name":"ProfilerStep#3","pid":1,"tid":2,"ts":1,"dur":90}`,
		`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":10,"dur":5,"args":{"correlation":1}}`,
		`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":20,"dur":5,"args":{"correlation":2}}`,
		`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":8,"dur":5,"args":{"correlation":1,"device":0,"stream":7}}`,
		`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":9,"dur":9,"args":{"correlation":9,"device":0,"stream":7}}`,
		`{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":80,"dur":30}`), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := Inspect(tr)
	var b strings.Builder
	for _, o := range s.Oddities {
		fmt.Fprintf(&b, "%d %s\n", o.Count, o.What)
	}
	fmt.Fprintf(&b, "%s, %s, %d steps, %+v\n", s.Generation, s.Hints, s.Steps, s.Devices)
	for _, want := range []string{"1 operations without a recorded launch", "1 kernel launches without", "1 operations that start before", "1 slices that overlap", "1 operations that overlap on one stream", "no synchronisation events", "NVIDIA CUDA", "1 steps", "{ID:0 Name: Operations:2}", "K2"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestLinks(t *testing.T) {
	tr, err := Parse(wrap(
		`{"ph":"X","cat":"cpu_op","name":"fwd","pid":1,"tid":2,"ts":0,"dur":9,"args":{"External id":5,"Sequence number":40,"Fwd thread id":0}}`,
		`{"ph":"X","cat":"cpu_op","name":"fwd inner","pid":1,"tid":2,"ts":1,"dur":5,"args":{"External id":6,"Sequence number":40,"Fwd thread id":0}}`,
		`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":2,"dur":1,"args":{"External id":6,"correlation":77}}`,
		`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":8,"dur":5,"args":{"External id":6,"correlation":77}}`,
		`{"ph":"X","cat":"cpu_op","name":"bwd","pid":1,"tid":3,"ts":20,"dur":9,"args":{"External id":8,"Sequence number":40,"Fwd thread id":1}}`,
		`{"ph":"X","cat":"cuda_runtime","name":"cudaMalloc","pid":1,"tid":2,"ts":50,"dur":1,"args":{"External id":5,"correlation":5}}`,
		`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":9,"ts":22,"dur":1,"args":{"External id":8,"correlation":78}}`), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := Link(tr)
	if l.Op[2] != 1 || l.Op[3] != 1 {
		t.Errorf("operator of the launch %d, of the kernel %d", l.Op[2], l.Op[3])
	}
	if l.Forward[4] != 1 {
		t.Errorf("forward of bwd is %d", l.Forward[4])
	}
	if l.Op[5] != NoEvent {
		t.Errorf("an External id that is only the correlation links to %d", l.Op[5])
	}
	if l.Op[6] != 4 || l.Thread[6] != tr.Events[4].Track {
		t.Errorf("operator %d, thread %d", l.Op[6], l.Thread[6])
	}
}

// TestRealForwardLinks: where flows say which forward operator belongs to a backward one, the numbers say the same.
func TestRealForwardLinks(t *testing.T) {
	tr, err := readFile(t, filepath.Join(corpus(t), "HTA__nccl_parser_config__nccl_data.json.gz"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := Link(tr)
	starts := map[int64]int64{}
	same, all := 0, 0
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 's' && tr.Category(EventID(i)) == "fwdbwd" {
			starts[e.Corr] = e.Start
		}
	}
	backward := map[int64][]EventID{}
	for i := range tr.Events {
		if l.Forward[i] != NoEvent {
			backward[tr.Events[i].Start] = append(backward[tr.Events[i].Start], EventID(i))
		}
	}
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Ph != 'f' || tr.Category(EventID(i)) != "fwdbwd" {
			continue
		}
		all++
		for _, b := range backward[e.Start] {
			if tr.Events[l.Forward[b]].Start == starts[e.Corr] {
				same++
				break
			}
		}
	}
	if all == 0 || same != all {
		t.Errorf("%d of %d flows agree", same, all)
	}
}
