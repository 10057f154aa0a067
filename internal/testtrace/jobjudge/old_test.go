package jobjudge

import (
	"testing"

	"overlay/internal/testtrace"
)

// TestNoGroups: of traces that say nothing of groups the ranks that belong together are found, and who is slow. Which transfers of a pipeline belong together is not guessed: its
// stages stay apart where nothing else connects them, and nobody is named for that.
func TestNoGroups(t *testing.T) {
	for _, o := range []testtrace.JobOptions{
		{Kind: "dp", Cause: "gpu", Seed: 4, World: 16, Steps: 4},
		{Kind: "tp_dp", Cause: "gpu", Seed: 5, World: 16, Steps: 4, Noise: 5},
		{Kind: "moe", Cause: "data", Seed: 9, World: 16, Steps: 4},
		{Kind: "tp_dp", Seed: 6, World: 8, Steps: 5, Trouble: []string{"lost"}},
		{Kind: "pp_dp", Cause: "stage", Seed: 4, World: 16, Steps: 4},
		{Kind: "3d", Seed: 6, World: 8, Steps: 5, Trouble: []string{"lost"}},
	} {
		o.Trouble = append(o.Trouble, "old")
		s := Judge(testtrace.NewJob(o))
		if s.Err != nil {
			t.Fatal(o.Kind, s.Err)
		}
		if o.Kind == "pp_dp" || o.Kind == "3d" {
			if share(s.Precision) != 1 || s.Found == False {
				t.Errorf("%s %s: precision %v, %v %v", o.Kind, o.Cause, s.Precision, s.Found, s.short())
			}
			continue
		}
		want := Named
		if o.Cause == "" {
			want = Quiet
		}
		if share(s.Precision) != 1 || share(s.Recall) < 0.99 || s.Components != 1 || s.Found != want {
			t.Errorf("%s %s: precision %v, recall %v, %d components, %v %v", o.Kind, o.Cause, s.Precision, s.Recall, s.Components, s.Found, s.short())
		}
	}
}
