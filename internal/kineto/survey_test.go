package kineto

import (
	"fmt"
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
		`{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":80,"dur":30}`,
		`{"ph":"B","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":120}`,
		`{"ph":"E","pid":1,"tid":2,"ts":125}`), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := Inspect(tr)
	var b strings.Builder
	for _, o := range s.Oddities {
		fmt.Fprintf(&b, "%d %s\n", o.Count, o.What)
	}
	fmt.Fprintf(&b, "%s, %s, %d steps, %+v\n", s.Generation, s.Hints, s.Steps, s.Devices)
	for _, want := range []string{"1 operations without a recorded launch", "1 kernel launches without", "1 slices written as a begin and an end", "1 operations that start before", "1 slices that overlap", "1 operations that overlap on one stream", "no synchronisation events", "NVIDIA CUDA", "1 steps", "{ID:0 Name: Operations:2}", "K2"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
