package flame_test

import (
	"testing"

	"overlay/internal/flame"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// TestBoxes: frames lie in what stands above them and beside each other, those at the top have the whole path, and no more are laid out
// than asked for.
func TestBoxes(t *testing.T) {
	for _, name := range append(corpus.Find(t, "*.json.gz"), corpus.Demo(t)) {
		g, p := testtrace.Exact(t, testtrace.Read(t, name))
		x := flame.Of(g, p)
		all, total := x.Boxes(1 << 30)
		some, same := x.Boxes(50)
		if total != p.Duration || same != total || len(some) > 50 || len(all) > 50 && len(some) == 0 {
			t.Errorf("%s: %d ns of %d; %d boxes", name, total, p.Duration, len(some))
		}
		for _, list := range [][]flame.Box{all, some} {
			sum, ends := int64(0), []int64{} // per depth: up to where the last box reaches
			for _, b := range list {
				if b.Depth > len(ends) || b.NS <= 0 {
					t.Fatalf("%s: %+v at depth %d", name, b, len(ends))
				}
				if b.Depth == 0 {
					sum += b.NS
				} else if b.Left+b.NS > ends[b.Depth-1] {
					t.Fatalf("%s: %+v reaches beyond %d", name, b, ends[b.Depth-1])
				}
				if b.Depth < len(ends) && b.Left < ends[b.Depth] {
					t.Fatalf("%s: %+v begins before %d", name, b, ends[b.Depth])
				}
				ends = append(ends[:b.Depth], b.Left+b.NS)
			}
			if len(list) == len(all) && sum != total {
				t.Errorf("%s: the top has %d ns of %d", name, sum, total)
			}
		}
	}
}
