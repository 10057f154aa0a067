package cdg_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

const windowText = `
note 1 ProfilerStep#7 0 100
op 1 aten::a 10.5 20
call 1 cudaLaunchKernel 90 5 1
note 1 ProfilerStep#8 100 100
kernel 7 k 110 40 1
op 1 aten::b 120 10
note 1 ProfilerStep#70 200 50
note 1 train 20 10
note 1 train 40 10
op 9 watchdog 300 10
`

func TestFindWindow(t *testing.T) {
	tr := testtrace.Lines(t, windowText)
	us := func(n int64) int64 { return n * 1000 }
	for _, c := range []struct {
		name       string
		o          cdg.Options
		start, end int64
		fails      string
	}{
		{name: "whole trace: threads without launches, annotations, frames or autograd do not count", start: 0, end: us(250)},
		{name: "a step with its GPU tail", o: cdg.Options{Step: "7"}, start: 0, end: us(150)},
		{name: "a step is named exactly", o: cdg.Options{Step: "8"}, start: us(100), end: us(200)},
		{name: "a step by its name", o: cdg.Options{Step: "ProfilerStep#8"}, start: us(100), end: us(200)},
		{name: "the first instance", o: cdg.Options{Annotation: "train"}, start: us(20), end: us(30)},
		{name: "an instance by number", o: cdg.Options{Annotation: "train", Instance: "1"}, start: us(40), end: us(50)},
		{name: "a range of instances", o: cdg.Options{Annotation: "ProfilerStep", Instance: "1:2"}, start: us(100), end: us(250)},
		{name: "ops count", o: cdg.Options{Annotation: "aten::b"}, start: us(120), end: us(130)},
		{name: "no such annotation", o: cdg.Options{Annotation: "eval"}, fails: `no annotation "eval" in the trace; the most frequent are "train" (2), "ProfilerStep#7" (1)`},
		{name: "no such step", o: cdg.Options{Step: "9"}, fails: `no step 9 in the trace; it has the steps 7, 8, 70`},
		{name: "no such instance", o: cdg.Options{Annotation: "train", Instance: "2"}, fails: "there are 2 (0 to 1)"},
		{name: "a malformed instance", o: cdg.Options{Annotation: "train", Instance: "1:0"}, fails: "neither N nor A:B"},
		{name: "an instance of nothing", o: cdg.Options{Instance: "1"}, fails: "needs an annotation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := cdg.FindWindow(tr, c.o)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("error %v, want one with %q", err, c.fails)
				}
				return
			}
			if err != nil || w.Start != c.start || w.End != c.end {
				t.Fatalf("window [%d, %d], error %v, want [%d, %d]", w.Start, w.End, err, c.start, c.end)
			}
		})
	}
}

// The whole trace begins when JAX's profiler has started and ends when it begins to stop, or with what a device still does then. A window
// that would be empty without that time, and a frame of another file, change nothing.
func TestProfilerIsNoProgram(t *testing.T) {
	const start, stop = "frame 1 profiler.py(151):~start_trace 0 100\n", "frame 1 profiler.py(271):~stop_trace 200 300\n"
	for _, c := range []struct {
		name, text string
		start, end int64
	}{
		{"both ends", start + "op 1 a 110 20\n" + stop, 100, 200},
		{"a device goes on", start + "call 1 cudaLaunchKernel 150 5 1\nkernel 7 k 160 90 1\n" + stop, 100, 250},
		{"nothing but the profiler", "frame 1 profiler.py(271):~stop_trace 0 10\nframe 1 profiler.py(151):~start_trace 20 10\n", 0, 30},
		{"another file", strings.ReplaceAll(start+stop, "profiler.py", "myprofiler.py"), 0, 500},
	} {
		w, err := cdg.FindWindow(testtrace.Lines(t, c.text), cdg.Options{})
		if err != nil || w.Start != c.start*1000 || w.End != c.end*1000 {
			t.Errorf("%s: window [%d, %d], error %v, want [%d, %d] µs", c.name, w.Start, w.End, err, c.start, c.end)
		}
	}
}

func TestStepTailUnderNextStep(t *testing.T) {
	for step, want := range map[string]int{"7": 1, "8": 0} {
		g, err := cdg.Build(testtrace.Lines(t, windowText), cdg.Options{Step: step})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Quality["step_tail_under_next_step"]; got != want {
			t.Errorf("step %s: %d, want %d", step, got, want)
		}
	}
}

func TestFindSteps(t *testing.T) {
	steps := cdg.FindSteps(testtrace.Lines(t, windowText))
	if len(steps) != 3 {
		t.Fatalf("%d steps, want 3", len(steps))
	}
	for i, want := range []struct {
		name       string
		start, end int64
	}{{"ProfilerStep#7", 0, 100_000}, {"ProfilerStep#8", 100_000, 200_000}, {"ProfilerStep#70", 200_000, 250_000}} {
		if s := steps[i]; s.Name != want.name || s.Start != want.start || s.End != want.end {
			t.Errorf("step %d: %+v, want %+v", i, s, want)
		}
	}
}

func TestCarriedIn(t *testing.T) {
	g, err := cdg.Build(testtrace.Lines(t, windowText), cdg.Options{Step: "8"})
	if err != nil {
		t.Fatal(err)
	}
	if g.Window.CarriedIn != 1 {
		t.Errorf("%d operations carried in, want 1", g.Window.CarriedIn)
	}
}

// The error of a step that is not there says which are.
func TestStepsThere(t *testing.T) {
	for _, c := range []struct {
		steps int
		fails string
	}{{0, "no step 99 in the trace, which has none: "}, {1, "; it has step 1"}, {3, "; it has the steps 1, 2, 3"}, {11, "; it has 11, from 1 to 11"}} {
		text := "op 1 aten::a 0 1\n"
		for i := range c.steps {
			text += fmt.Sprintf("note 1 ProfilerStep#%d %d 5\n", i+1, 10*i+10)
		}
		if _, err := cdg.FindWindow(testtrace.Lines(t, text), cdg.Options{Step: "99"}); err == nil || !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%d steps: error %v, want one with %q", c.steps, err, c.fails)
		}
	}
}

// Iterations of a server are steps where the profiler has named none; the last lasts as long as what it launched. A profiler's step in which
// one iteration begins has its type.
func TestIterationsAreSteps(t *testing.T) {
	b := testtrace.New()
	main, stream := b.Thread(1, 1, "main"), b.Stream(0, 7)
	for i, name := range []string{"step[EXTEND bs=2 toks=107]", "step[DECODE bs=2]", "step[DECODE bs=2]"} {
		at := int64(i) * 100_000
		main.Annotation(name, at, 60_000)
		main.Launch("cudaLaunchKernel", at+10_000, 5_000, int64(i+1))
		stream.Kernel("k", at+20_000, 70_000, int64(i+1))
	}
	tr := b.Parse(t)
	var got []string
	for _, s := range cdg.FindSteps(tr) {
		got = append(got, fmt.Sprint(s.Name, " ", s.Number, " ", s.Start, " ", s.End, " ", s.Of.Batch, " ", s.Of.Tokens))
	}
	if want := []string{"prefill#0 0 0 100000 2 107", "decode#1 1 100000 200000 2 2", "decode#2 2 200000 290000 2 2"}; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
	for _, step := range []string{"1", "decode#1"} {
		w, err := cdg.FindWindow(tr, cdg.Options{Step: step})
		if err != nil || w.Start != 100_000 || w.End != 200_000 || w.Annotation != "decode#1" {
			t.Errorf("%s: %+v, %v", step, w, err)
		}
	}
	for step, want := range map[string]string{"prefill": "prefill#0", "decode": "decode#2"} {
		if w, err := cdg.FindWindow(tr, cdg.Options{Step: step}); err != nil || w.Annotation != want {
			t.Errorf("%s: %+v, %v", step, w, err)
		}
	}
	if _, err := cdg.FindWindow(tr, cdg.Options{Step: "prefill#1"}); err == nil || !strings.Contains(err.Error(), "the nearest is prefill#0") {
		t.Error("a decode was taken for a prefill by its number", err)
	}
	if _, err := cdg.FindWindow(tr, cdg.Options{Step: "3"}); err == nil || !strings.Contains(err.Error(), "it has the steps 0 (prefill), 1 (decode), 2 (decode)") {
		t.Error(err)
	}
	main.Annotation("ProfilerStep#8", 0, 90_000)
	main.Annotation("ProfilerStep#9", 90_000, 200_000)
	steps := cdg.FindSteps(b.Parse(t))
	if len(steps) != 2 || steps[0].Name != "ProfilerStep#8" || steps[0].Of.Type != trace.Prefill || steps[1].Of.Type != trace.NoIteration {
		t.Errorf("%+v", steps)
	}
}

// TestNoSuchStep: ten steps are listed, and of more the nearest.
func TestNoSuchStep(t *testing.T) {
	for n, want := range map[int]string{
		1: "no step 20 in the trace; it has step 0", 10: "no step 20 in the trace; it has the steps 0, 1, 2, 3, 4, 5, 6, 7, 8, 9",
		11: "no step 20 in the trace, the nearest is ProfilerStep#10; it has 11, from 0 to 10",
	} {
		var steps []cdg.Step
		for i := range n {
			steps = append(steps, cdg.Step{Name: fmt.Sprint(trace.StepPrefix, i), Number: int64(i)})
		}
		if _, err := cdg.ChooseStep(steps, "20"); err == nil || err.Error() != want {
			t.Errorf("%d steps: %v, want %s", n, err, want)
		}
	}
}

func TestInferred(t *testing.T) {
	var got []string
	for e := range cdg.NumEvidence {
		if e.Inferred() {
			got = append(got, e.String())
		}
	}
	if s := strings.Join(got, " "); s != "api aligned" {
		t.Error(s)
	}
}
