package advise

import (
	"testing"

	"overlay/internal/testtrace"
)

// TestProductsNearASoftmax: the products of an attention may be the first and the last operation of their stream, and so many others may
// lie between; an operation of another stream is none of them.
func TestProductsNearASoftmax(t *testing.T) {
	attention := func(s *scene, between int) {
		s.kernel("aten::bmm", "gemm", 50_000)
		for range between {
			s.kernel("aten::mul", "mul", 40_000)
		}
		s.kernel("aten::softmax", "softmax_warp_forward", 40_000)
		for range between {
			s.kernel("aten::mul", "mul", 40_000)
		}
		s.kernel("aten::bmm", "gemm", 50_000)
	}
	for _, c := range []struct {
		name string
		plan func(s *scene)
		want int64
	}{
		{"at the borders", func(s *scene) { attention(s, 1); attention(s, 1) }, 2},
		{"as far as may be", func(s *scene) { attention(s, nearProduct); attention(s, nearProduct) }, 2},
		{"too far", func(s *scene) { attention(s, nearProduct+1); attention(s, nearProduct+1) }, 0},
		{"in another stream", func(s *scene) {
			for range 3 {
				s.kernel("aten::bmm", "gemm", 50_000)
				s.kernel("aten::softmax", "softmax_warp_forward", 40_000)
				s.kernel("aten::copy_", "copy", 40_000)
			}
			for range nearProduct + 1 {
				s.kernel("aten::mul", "mul", 40_000)
			}
			s.kernel("aten::softmax", "softmax_warp_forward", 40_000)
			s.stream = s.b.Stream(0, 8)
			s.kernel("aten::bmm", "gemm", 50_000)
		}, 2},
	} {
		s := newScene()
		c.plan(s)
		g, p := testtrace.Exact(t, s.b.Parse(t))
		got := int64(0)
		if f := attentionUnfused.find(newRun(g, p)); f != nil {
			got = f.numbers[0].Count
		}
		if got != c.want {
			t.Errorf("%s: %d attentions, want %d", c.name, got, c.want)
		}
	}
}
