package advise

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// steps are steps with so many operators each; those that are marked are planted.
func steps(marked int, ops ...int) func(*scene) {
	return func(s *scene) {
		for i, n := range ops {
			e := s.annotate(fmt.Sprintf("ProfilerStep#%d", i), 10_000, func() {
				for range n {
					s.kernel("aten::relu", "relu", 40_000)
				}
				s.sync("cudaDeviceSynchronize")
			})
			if i == marked {
				s.mark(e)
			}
		}
	}
}

func init() {
	cases["step-outlier"] = ruleCase{planted: []func(*scene){steps(3, 50, 50, 50, 90, 50, 50)},
		alike: []func(*scene){steps(-1, 50, 50, 52, 55, 50, 51), steps(-1, 90, 50, 50, 50, 50, 50), steps(-1, 50, 90, 50), steps(-1, 50, 90, 50, 90, 50, 90)}}
	cases["first-step-slow"] = ruleCase{planted: []func(*scene){steps(0, 100, 50, 50, 50)},
		alike: []func(*scene){steps(-1, 55, 50, 50, 50), steps(-1, 50, 50, 100, 50), steps(-1, 100, 50)}}
}

// TestUsualOf compares with the median of what is left when one is taken out.
func TestUsualOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int64Range(0, 9), 2, 12).Draw(t, "list")
		i := rapid.IntRange(0, len(list)-1).Draw(t, "i")
		want := median(slices.Delete(slices.Clone(list), i, i+1))
		if got := usualOf(slices.Sorted(slices.Values(list)), list[i]); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	})
}

// TestOutlierIsComparedWithAUsualStep: what is to be run names the long step and one of usual length.
func TestOutlierIsComparedWithAUsualStep(t *testing.T) {
	s := newScene()
	steps(3, 50, 52, 50, 90, 50, 51)(s)
	f := adviseOn(t, s.b.Parse(t)).find("step-outlier")
	if f == nil || f.Do != "compare the reports of --step 3 and --step 4" || !strings.HasSuffix(f.Action[0], " --step 3, then --step 4") {
		t.Errorf("%+v", f)
	}
}
