package kineto

import (
	"testing"

	"overlay/internal/trace"
)

// An operation says nothing of its launch by a key that belongs to flow events.
func TestBindingOfOperation(t *testing.T) {
	tr, err := Parse(wrap(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":2,"args":{"correlation":7}}`,
		`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1,"bp":"e","args":{"device":0,"stream":7,"correlation":1}}`,
		`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":7,"dur":1,"bp":"e","args":{"device":0,"stream":7,"correlation":7}}`), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[trace.EventID]struct {
		launch trace.EventID
		corr   int64
	}{1: {trace.NoEvent, 1}, 2: {0, 7}} {
		if launch, corr := tr.Launch(id), tr.Corr(&tr.Events[id]); launch != want.launch || corr != want.corr {
			t.Errorf("event %d: launched by %d with correlation %d, want %v", id, launch, corr, want)
		}
	}
}
