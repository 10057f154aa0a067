package advise

import (
	"strings"
	"testing"
)

// Where no stacks were recorded nobody sees which loop launches: that comes first, and what makes launches fewer after it.
func TestHostBoundWithoutStacks(t *testing.T) {
	for _, stacks := range []bool{false, true} {
		s := newScene()
		s.small(200, 2_000)
		if stacks {
			s.slice("python_function", "train.py(12): step", 1000, nothing)
		}
		f := adviseOn(t, s.b.Parse(t)).find("host-bound")
		if f == nil || strings.Contains(f.Do, "with_stack=True") == stacks || strings.Contains(f.Action[0], "with_stack=True") == stacks || len(f.Action) < 2 {
			t.Errorf("stacks %v: %+v", stacks, f)
		}
	}
}
