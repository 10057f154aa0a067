package kineto_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// Ranges that a program marks as its steps are steps, where neither the profiler nor a server has marked any.
func TestNamedSteps(t *testing.T) {
	const launched = "call 1 cudaLaunchKernel 1 1 1\nkernel 7 k 5 300 1\n"
	names := func(names ...string) string {
		text := launched
		for i, name := range names {
			text += fmt.Sprintf("note 1 %s %d 90\n", strings.ReplaceAll(name, " ", "~"), 100*i)
		}
		return text
	}
	for _, c := range []struct {
		text string
		want string // numbers of the steps
	}{
		{names("step_3", "step_4", "step_6"), "3 4 6"},
		{names("Step 0", "Step 1"), "0 1"},
		{names("steps0", "steps1"), "0 1"},
		{names("step=7", "step=8"), "7 8"},
		{names("step: 7", "step: 8"), "7 8"},
		{names("iteration 9", "iteration 10"), "9 10"},
		{names("Iteration: 1", "Iteration: 2"), "1 2"},
		{names("iter#1", "iter#2"), "1 2"},
		{names("train_step 1", "train_step 2"), "1 2"},
		{names("training_step_1", "training_step_2"), "1 2"},
		{names("BATCH 1", "BATCH 2"), "1 2"},
		{names("train_step", "train_step", "train_step"), "0 1 2"},
		{names("[pl][profile]run_training_batch", "[pl][profile]run_training_batch"), "0 1"},
		{names("step_3"), ""},                                                   // one alone is no loop
		{names("step", "step"), ""},                                             // may be an optimizer's
		{names("step_0", "step_1", "step_0", "step_1"), ""},                     // parts of something larger
		{names("layer_0", "layer_1"), ""},                                       // no word for a step
		{names("step_99999999999", "step_99999999999999"), ""},                  // no number of a step
		{names("step_1", "step_2", "execute_context_1(5)_generation_0(0)"), ""}, // a server says more
		{names("step_1", "step_2", "ProfilerStep#5"), "5"},                      // and so does the profiler
		{launched + "note 1 step_1 0 90\nnote 1 step_2 50 90\n", ""},            // they overlap
		{launched + "note 2 batch_1 0 90\nnote 2 batch_2 100 90\n", ""},         // of a thread that loads data
		{launched + "note 1 iteration_1 0 190\nnote 1 iteration_2 200 190\nnote 1 step_1 0 90\nnote 1 step_2 100 90\n", "1 2"},
		{"op 1 aten::mm 0 5\nnote 1 step_1 0 90\nnote 1 step_2 100 90\n", "1 2"}, // nothing of a device
	} {
		tr := testtrace.Lines(t, c.text)
		var got []string
		for i := range tr.Events {
			e := &tr.Events[i]
			number, ok := strings.CutPrefix(tr.Str(e.Name), trace.StepPrefix)
			if !ok {
				continue
			}
			got = append(got, number)
			if written := tr.WrittenName(trace.EventID(i)); !strings.Contains(strings.ReplaceAll(c.text, "~", " "), " "+written+" ") {
				t.Errorf("%q: the name that was written is %q", c.text, written)
			}
			if tr.Dur(e) != 90_000 && tr.Dur(e) != 190_000 || strings.Contains(c.text, "iteration_1") && tr.Dur(e) != 190_000 {
				t.Errorf("%q: a step of %d ns", c.text, tr.Dur(e))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: steps %q, want %q", c.text, s, c.want)
		}
	}
}
