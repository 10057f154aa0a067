package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/report"
	"overlay/internal/testtrace"
)

// loop is a program that was recorded: a host that launches a kernel for each operator and waits for the device at the end of a step.
type loop struct {
	seed          uint64
	steps, warm   int        // of steps; how many of the first are three times as long
	slower        float64    // by which kernels take longer
	host          float64    // times that the host takes; 0 = 1
	frames        bool       // Python stacks were recorded
	ahead, noMark bool       // the host waits at the end only; no step is marked
	window        [2]float64 // part of the run that is recorded, where it is cut; zero = all
	program       string     // names of its operators
	shape         int        // of the inputs
	rank          int64      // of the process, and its device
}

const operators = 12

// record runs the loop: runs differ by 0.3 %, steps by 1 %, kernels by 2 %.
func (o loop) record(t *testing.T) (*report.Report, *report.Done) {
	t.Helper()
	rng := rand.New(rand.NewPCG(o.seed, 3))
	around := func(far float64) float64 { return math.Exp(far * rng.NormFloat64()) }
	b := testtrace.New()
	main, stream := b.Thread(100+o.rank, 100, "python"), b.Stream(o.rank, 7)
	run := around(0.003)
	length := float64(o.steps+2*o.warm) * 1_300_000
	in := func(at int64) bool {
		return o.window[1] == 0 || float64(at) >= o.window[0]*length && float64(at) < o.window[1]*length
	}
	at, free, corr := int64(0), int64(0), int64(0)
	host := max(o.host, 1)
	for step := range o.steps {
		begin, factor := at, run*around(0.01)
		if step < o.warm {
			factor *= 3
		}
		at += 5_000
		for k := range operators {
			if corr++; in(at) && (k == 0 || in(begin)) {
				op := main.Op(fmt.Sprintf("aten::%sop%d", o.program, k), at, int64(35_000*host))
				op.Arg("Input Dims", testtrace.Raw(fmt.Sprintf("[[%d,%d]]", o.shape, k)))
				main.Launch("cudaLaunchKernel", at+5_000, 5_000, corr)
			}
			start := max(free+1_000, at+12_000)
			dur := int64(float64(80_000+5_000*k) * factor * (1 + o.slower) * around(0.02))
			if in(at) {
				stream.Kernel(fmt.Sprintf("%skernel%d", o.program, k), start, dur, corr)
			}
			free, at = start+dur, at+int64(40_000*host*around(0.02))
		}
		if !o.ahead || step == o.steps-1 {
			if corr++; in(at) {
				main.Call("cudaStreamSynchronize", at, max(free+4_000-at, 5_000), corr)
			}
			at = max(free+5_000, at+6_000)
		}
		if o.frames && in(begin) {
			main.Frame("train.py(7): step", begin+1_000, at-begin-2_000)
		}
		if !o.noMark && in(begin) {
			main.Annotation(fmt.Sprintf("ProfilerStep#%d", step), begin, at-begin)
		}
		at += 10_000
	}
	tr := b.Parse(t)
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	return report.New(report.Source{Name: "loop", Graph: g, Path: p, Top: 100}), report.DoneIn(tr)
}

// compared is the difference of runs of two sides.
func compared(t *testing.T, before, after []loop) *report.Difference {
	t.Helper()
	var sides [2][]*report.Report
	var done [2]*report.Done
	for i, list := range [2][]loop{before, after} {
		for _, o := range list {
			r, d := o.record(t)
			sides[i] = append(sides[i], r)
			if done[i] == nil {
				done[i] = d
			}
		}
	}
	d := report.CompareRuns(sides[0], sides[1])
	d.Compared(done[0], done[1], report.CompareDone(done[0], done[1]))
	return d
}

// TestNoFalseAlarms: a program that is recorded twice, with other steps, other first steps, another window, on another rank, with stacks, or running ahead, is
// never told to be slower by more than 5 %.
func TestNoFalseAlarms(t *testing.T) {
	kinds := []struct {
		name string
		pair func(seed uint64) (a, b loop)
	}{
		{"number of steps", func(s uint64) (a, b loop) {
			return loop{seed: s, steps: 3 + int(s%4)}, loop{seed: s + 1000, steps: 9 - int(s%3)}
		}},
		{"first steps", func(s uint64) (a, b loop) {
			return loop{seed: s, steps: 6}, loop{seed: s + 1000, steps: 6, warm: 1 + int(s%2)}
		}},
		{"window", func(s uint64) (a, b loop) {
			return loop{seed: s, steps: 10, noMark: true, window: [2]float64{0.05, 0.95}}, loop{seed: s + 1000, steps: 10, noMark: true, window: [2]float64{0.1 + float64(s%5)/50, 0.75}}
		}},
		{"stacks", func(s uint64) (a, b loop) {
			return loop{seed: s, steps: 5, host: 2.5}, loop{seed: s + 1000, steps: 5, host: 3, frames: true}
		}},
		{"rank", func(s uint64) (a, b loop) {
			return loop{seed: s, steps: 5}, loop{seed: s + 1000, steps: 5, rank: 1 + int64(s%7)}
		}},
		{"marks", func(s uint64) (a, b loop) {
			return loop{seed: s, steps: 6, noMark: s%2 == 0}, loop{seed: s + 1000, steps: 5 + int(s%3), noMark: s%2 == 1}
		}},
		{"running ahead", func(s uint64) (a, b loop) {
			return loop{seed: s, steps: 4, ahead: true}, loop{seed: s + 1000, steps: 7, ahead: true}
		}},
	}
	for _, k := range kinds {
		unsure := 0
		for s := range uint64(20) {
			a, b := k.pair(s)
			d := compared(t, []loop{a}, []loop{b})
			switch gate, why := d.Gate(5); {
			case gate == report.Beyond:
				t.Errorf("%s, seed %d: %s is an alarm", k.name, s, d.Verdict())
			case gate == report.Unsure:
				if unsure++; why == "" {
					t.Errorf("%s, seed %d: nothing says what is unsure", k.name, s)
				}
			}
			if d.Same == nil || !d.Same.Same {
				t.Errorf("%s, seed %d: not comparable: %+v", k.name, s, d.Same)
			}
		}
		if unsure > 10 && k.name != "stacks" && k.name != "marks" {
			t.Errorf("%s: %d of 20 are unsure", k.name, unsure)
		}
	}
	if a, b := kinds[3].pair(1); compared(t, []loop{a}, []loop{b}).Slower < 5 {
		t.Error("stacks cost nothing: the pairs with them show nothing")
	}
}

// TestPlanted: 3 % in five runs a side are found, and 1 % lies within the noise that is told.
func TestPlanted(t *testing.T) {
	runs := func(seed uint64, slower float64) (list []loop) {
		for i := range uint64(5) {
			list = append(list, loop{seed: seed*100 + i, steps: 6, warm: int(i % 2), slower: slower})
		}
		return list
	}
	found, within := 0, 0
	for s := range uint64(10) {
		d := compared(t, runs(s, 0), runs(s+50, 0.03))
		if gate, _ := d.Gate(0); gate == report.Beyond && d.Noise.Low < 3 && d.Noise.High > 2.5 {
			found++
		} else {
			t.Logf("3 %%: %s, from %.2f to %.2f", d.Verdict(), d.Noise.Low, d.Noise.High)
		}
		if gate, _ := d.Gate(5); gate != report.Within {
			t.Errorf("3 %% is beyond 5 %%: %s", d.Verdict())
		}
		d = compared(t, runs(s, 0), runs(s+50, 0.01))
		if d.Noise.Low < 1 && d.Noise.High > 0.9 { // a step is a little more than its kernels
			within++
		} else {
			t.Logf("1 %%: %s, from %.2f to %.2f", d.Verdict(), d.Noise.Low, d.Noise.High)
		}
		if !strings.HasPrefix(d.Verdict(), "5 runs against 5, 30 steps against 30; a step takes ") {
			t.Error(d.Verdict())
		}
	}
	if found < 9 || within < 9 {
		t.Errorf("3 %% found in %d of 10, 1 %% within the noise in %d", found, within)
	}
}

// TestWorkPerTime: windows without steps that hold another amount of work are compared by the time that the same work takes.
func TestWorkPerTime(t *testing.T) {
	a := loop{seed: 1, steps: 20, noMark: true, window: [2]float64{0.1, 0.8}}
	b := loop{seed: 2, steps: 20, noMark: true, window: [2]float64{0.1, 0.5}}
	d := compared(t, []loop{a}, []loop{b})
	if d.Work == nil || d.Window.Effect >= 0 || math.Abs(d.Slower) > 4 || !strings.Contains(d.Verdict(), " of the time: the same work takes ") {
		t.Errorf("%s, %+v", d.Verdict(), d.Work)
	}
	b.slower = 0.3
	if d = compared(t, []loop{a}, []loop{b}); d.Slower < 25 || d.Slower > 35 {
		t.Errorf("30 %% slower: %s", d.Verdict())
	}
	if gate, _ := d.Gate(10); gate != report.Beyond {
		t.Errorf("%s, from %v to %v", d.Verdict(), d.Noise.Low, d.Noise.High)
	}
}

// TestRunsAhead: where the host runs ahead, device work after the last step counts.
func TestRunsAhead(t *testing.T) {
	a, b := loop{seed: 1, steps: 4, ahead: true}, loop{seed: 2, steps: 4, ahead: true, slower: 0.5}
	d := compared(t, []loop{a, a}, []loop{b, b})
	if d.Slower < 45 || d.Slower > 55 || !strings.Contains(d.Apart(), "the host runs ahead") {
		t.Errorf("%s; %s", d.Verdict(), d.Apart())
	}
	var sum int64
	for _, c := range d.Classes {
		sum += c.Effect
	}
	if off := sum - d.Window.Effect; off > 100 || off < -100 {
		t.Errorf("classes make %d ns of %d", sum, d.Window.Effect)
	}
}

// TestAlike: what differs beside the names takes from the score and is told; another program is refused.
func TestAlike(t *testing.T) {
	_, a := loop{seed: 1, steps: 2, shape: 8}.record(t)
	_, other := loop{seed: 1, steps: 2, program: "x"}.record(t)
	_, shapes := loop{seed: 1, steps: 2, shape: 9}.record(t)
	_, frames := loop{seed: 1, steps: 3, shape: 8, frames: true}.record(t)
	if c := report.CompareDone(a, other); c.Same || c.Score > 0.1 || c.Why == "" {
		t.Errorf("another program: %+v", c)
	}
	for _, x := range []struct {
		done *report.Done
		most float64
		says string
	}{{a, 1, ""}, {shapes, 0.94, "only 0 % of the operators have shapes in common"}, {frames, 0.99, "Python stacks in one of them only"}} {
		c := report.CompareDone(a, x.done)
		if says := strings.Join(c.Differs, "; "); !c.Same || c.Score > x.most || c.Score < x.most-0.02 || !strings.Contains(says, x.says) || (says == "") != (x.says == "") {
			t.Errorf("%+v, want a score of %v and %q", c, x.most, x.says)
		}
	}
}
