package report

import (
	"strings"
	"testing"

	"overlay/internal/advise"
)

// TestWrapText: code that is longer than a line is broken behind a sign, and nothing of it is lost.
func TestWrapText(t *testing.T) {
	const code = "profile(experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True))"
	for _, width := range []int{30, 60, 90, 200} {
		lines := wrapText("record "+code, width)
		if got := strings.Join(lines, ""); strings.ReplaceAll(got, " ", "") != "record"+code {
			t.Errorf("%d columns: %q", width, lines)
		}
		for i, l := range lines {
			if len(l) > width || width == 60 && i == 1 && !strings.HasSuffix(l, ".") {
				t.Errorf("%d columns: line %q", width, l)
			}
		}
	}
}

// TestRemains: without devices it is not said what an infinitely fast CPU leaves, which is nothing.
func TestRemains(t *testing.T) {
	for _, c := range []struct {
		floor int64
		want  string
	}{{0, "if this were done: 90 ns → 50 ns, 44 % faster"}, {30, "if this were done: 90 ns → 50 ns, 44 % faster; if the CPU alone took no time: 30 ns"}} {
		if got := remains(&advise.Advice{Window: 100, Base: 90, Together: 50, Floor: c.floor}); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
