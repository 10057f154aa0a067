package kineto

import (
	"bytes"
	"testing"
	"unsafe"

	"overlay/internal/trace"
)

// TestLend: a trace whose events lie in memory that was lent is the same, also where its pieces are joined elsewhere than they were
// scanned, and where nothing was lent.
func TestLend(t *testing.T) {
	whole := generated(500)
	fewer := bytes.Replace(whole, []byte(`"dur"`), []byte(`"ph"`), 3) // events than room was made for, so they are joined elsewhere
	for name, src := range map[string][]byte{"as expected": whole, "fewer": fewer} {
		dump := func(o Options) (string, *trace.Trace) {
			o.chunk = 10_000
			tr, err := Parse(src, "x", o)
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := dump(&text, tr); err != nil {
				t.Fatal(err)
			}
			return text.String(), tr
		}
		want, _ := dump(Options{})
		var lent [][]byte
		got, tr := dump(Options{Lend: func(n int) []byte {
			lent = append(lent, make([]byte, n))
			return lent[len(lent)-1]
		}})
		if got != want {
			t.Errorf("%s: another trace", name)
		}
		if len(lent) != 3 { // events, external ids, and where they stand
			t.Errorf("%s: lent %d times, want 3", name, len(lent))
		}
		if in := lent[len(lent)-3]; unsafe.Pointer(&tr.Events[0]) != unsafe.Pointer(&in[0]) {
			t.Errorf("%s: the events lie elsewhere", name)
		}
		if got, _ := dump(Options{Lend: func(int) []byte { return nil }}); got != want {
			t.Errorf("%s: another trace where nothing is lent", name)
		}
	}
}
