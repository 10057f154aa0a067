package whatif_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// TestShrinkFetch: a fetch that takes a given time does not wait for the thread that pins its batches. That thread waits for the workers, at
// whose rate the batches came.
func TestShrinkFetch(t *testing.T) {
	var text strings.Builder
	for step := range 4 {
		at := step * 10_000 // µs
		fmt.Fprintf(&text, "note 1 ProfilerStep#%d %d 10000\n", step, at)
		fmt.Fprintf(&text, "note 1 enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ %d 8000\n", at)
		fmt.Fprintf(&text, "op 2 aten::_pin_memory %d 100\n", at+7_860)
		fmt.Fprintf(&text, "op 1 aten::mm %d 1900\n", at+8_050)
	}
	g := testtrace.Graph(t, testtrace.Lines(t, text.String()))
	m := whatif.New(g)
	s, err := whatif.NewSelector(m, nil).Scenario("shrink enumerate(DataLoader)*=0.2ms")
	if err != nil {
		t.Fatal(err)
	}
	if r, want := m.Replay(&s), int64(4*2_200_000); r.Window != want {
		t.Errorf("the run takes %d then, want %d", r.Window, want)
	}
}
