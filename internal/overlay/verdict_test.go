package overlay

import (
	"testing"

	"overlay/internal/critpath"
)

// TestNarrowBars: a bar too narrow for a word has its colour and its args, and no letter.
func TestNarrowBars(t *testing.T) {
	for _, c := range []struct {
		dur  int64
		want string
	}{{19, NoName}, {20, "GPU compute"}, {500, "GPU compute"}} {
		p := critpath.Piece{Start: 100, End: 100 + c.dur, Class: critpath.ClassCompute}
		p.NS[critpath.ClassCompute] = c.dur
		s := stretchSlice(&p, 1000)
		if s.Name != c.want || s.Color != critpath.ClassCompute.ViewerColor() || s.Args[0].Str != "gpu_compute" {
			t.Errorf("a bar of %d in 1000: %+v", c.dur, s)
		}
	}
}
