package testtrace

import (
	"bytes"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// TestLarge: the generated trace needs no repair, and every kernel has its launch.
func TestLarge(t *testing.T) {
	for _, stacks := range []bool{false, true} {
		var b bytes.Buffer
		if err := Large(&b, 5000, stacks); err != nil {
			t.Fatal(err)
		}
		tr, err := kineto.Parse(b.Bytes(), "large", kineto.Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(tr.Events); n < 5000 || n > 5020 {
			t.Errorf("stacks %v: %d events, want about 5000", stacks, n)
		}
		for i := range tr.Events {
			if tr.Events[i].Kind == trace.Kernel && tr.Launch(trace.EventID(i)) == trace.NoEvent {
				t.Fatalf("stacks %v: kernel %d has no launch", stacks, i)
			}
		}
	}
}
