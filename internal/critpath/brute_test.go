package critpath_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/trace"
)

// The oracle: a program of one thread and two streams is scheduled by the meaning of its steps alone, every path
// through the resulting constraint graph is enumerated, and the longest ones are compared with what Exact finds in
// the trace of the run. It shares no code with the engine.

// Delays of the machine that runs the programs, ns: those that the engine assumes when it cannot calibrate.
const (
	bruteLaunch = 5_000
	bruteKernel = 1_000
	bruteSync   = 3_000
)

type bruteStep struct {
	kind     int // 0 op, 1 launch, 2 stream sync, 3 event record on a and wait on b
	a, b     int
	dur, gpu int64
}

// constraint says that a point in time is at least w after another.
type constraint struct {
	from, to int
	w        int64
	owner    string // the activity that fills the time, "" for a delay
}

type bruteRun struct {
	tr     *trace.Trace
	cons   []constraint
	times  []int64
	sink   int
	events int
}

func (r *bruteRun) point(t int64) int {
	r.times = append(r.times, t)
	return len(r.times) - 1
}

func runBrute(steps []bruteStep) *bruteRun {
	r := &bruteRun{}
	m := newTraceMaker()
	here := r.point(0)     // end of the last slice of the thread
	last := [2]int{-1, -1} // end point of the last operation of each stream
	var waits [2][]int
	var waited []int    // all end points that some stream was told to wait for: the trace does not say which stream it was
	var blurred [2]bool // after the wait another stream got a launch, and the trace has no stream for the wait
	corr := int64(0)
	advance := func(name string, kind trace.Kind, w int64, corr int64) (start int) {
		start = here
		end := r.point(r.times[start] + w)
		r.cons = append(r.cons, constraint{start, end, w, name})
		here = end
		m.add(kind, 100, name, r.times[start], r.times[end], corr)
		r.events++
		return start
	}
	for i, s := range steps {
		switch s.kind {
		case 0:
			advance(fmt.Sprintf("aten::op%d", i), trace.CPUOp, s.dur, 0)
		case 1:
			corr++
			call := advance("cudaLaunchKernel"+strings.Repeat("_", i), trace.Runtime, s.dur, corr)
			t := r.times[call] + bruteLaunch
			from := []constraint{{call, 0, bruteLaunch, ""}}
			if last[s.a] >= 0 {
				from = append(from, constraint{last[s.a], 0, bruteKernel, ""})
			}
			for _, x := range waits[s.a] {
				from = append(from, constraint{x, 0, bruteKernel, ""})
			}
			waits[s.a] = nil
			for _, c := range from {
				t = max(t, r.times[c.from]+c.w)
			}
			start := r.point(t)
			for _, x := range waited {
				if r.times[x]+bruteKernel <= t { // it may as well have been this one
					from = append(from, constraint{x, 0, bruteKernel, ""})
				}
			}
			if blurred[s.a] { // nothing tells that this operation waited for more than its launch
				from = append(from, constraint{call, 0, t - r.times[call], ""})
			}
			blurred = [2]bool{s.a != 0 && len(waits[0]) > 0, s.a != 1 && len(waits[1]) > 0}
			for _, c := range from {
				c.to = start
				r.cons = append(r.cons, c)
			}
			end := r.point(t + s.gpu)
			name := fmt.Sprintf("kernel%d", i)
			r.cons = append(r.cons, constraint{start, end, s.gpu, name})
			m.add(trace.Kernel, int64(7+s.a), name, t, t+s.gpu, corr)
			r.events++
			last[s.a] = end
		case 2:
			start := here
			t := r.times[start] + bruteSync
			if last[s.a] >= 0 {
				t = max(t, r.times[last[s.a]]+bruteSync)
			}
			end := r.point(t)
			name := "cudaDeviceSynchronize" + strings.Repeat("_", i)
			r.cons = append(r.cons, constraint{start, end, bruteSync, name})
			for _, l := range last {
				if l >= 0 {
					r.times[end] = max(r.times[end], r.times[l]+bruteSync)
					r.cons = append(r.cons, constraint{l, end, bruteSync, name})
				}
			}
			m.add(trace.Runtime, 100, name, r.times[start], r.times[end], 0)
			r.events++
			here = end
		case 3:
			if last[s.a] < 0 || s.a == s.b {
				continue
			}
			advance("cudaEventRecord", trace.Runtime, 1_000, 0)
			advance("cudaStreamWaitEvent", trace.Runtime, 1_000, 0)
			waits[s.b] = append(waits[s.b], last[s.a])
			for _, x := range last {
				if x >= 0 {
					waited = append(waited, x)
				}
			}
		}
	}
	r.sink = here
	for _, l := range last {
		if l >= 0 && r.times[l] > r.times[r.sink] {
			r.sink = l
		}
	}
	r.tr = m.tr
	return r
}

// nearlyLongest enumerates every path from the start to the sink that is at most slack shorter than the longest, as
// the sequence of its owners.
func (r *bruteRun) nearlyLongest(slack int64) map[string]bool {
	into := make([][]constraint, len(r.times))
	for _, c := range r.cons {
		into[c.to] = append(into[c.to], c)
	}
	found := map[string]bool{}
	var walk func(p int, length int64, owners []string)
	walk = func(p int, length int64, owners []string) {
		if p == 0 {
			if length >= r.times[r.sink]-slack {
				var sb strings.Builder
				for i := len(owners) - 1; i >= 0; i-- {
					sb.WriteString(owners[i])
					sb.WriteByte(' ')
				}
				found[sb.String()] = true
			}
			return
		}
		for _, c := range into[p] {
			o := owners
			if c.owner != "" {
				o = append(owners[:len(owners):len(owners)], c.owner)
			}
			walk(c.from, length+c.w, o)
		}
	}
	walk(r.sink, 0, nil)
	return found
}

func drawStep(t *rapid.T) bruteStep {
	return bruteStep{
		kind: rapid.IntRange(0, 3).Draw(t, "kind"),
		a:    rapid.IntRange(0, 1).Draw(t, "a"), b: rapid.IntRange(0, 1).Draw(t, "b"),
		dur: rapid.Int64Range(4_000, 60_000).Draw(t, "dur"), gpu: rapid.Int64Range(2_000, 300_000).Draw(t, "gpu"),
	}
}

func TestExactIsALongestPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := runBrute(rapid.SliceOfN(rapid.Custom(drawStep), 1, 12).Draw(t, "program"))
		if r.events == 0 || r.events > 12 {
			t.Skip("too large to enumerate")
		}
		g, p := testtrace.Exact(t, r.tr)
		if err := pathcheck.Check(p, g); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, s := range p.Segments.List() {
			if s.Owned() {
				got.WriteString(r.tr.Name(s.Event))
				got.WriteByte(' ')
			}
		}
		// Releases closer than the delays' own spread cannot be told apart.
		if want := r.nearlyLongest(3_000); !want[got.String()] {
			var sb strings.Builder
			pathcheck.WriteGraph(&sb, g.Graph)
			pathcheck.WritePath(&sb, p, g)
			t.Fatalf("path %q is none of %v\n%s", got.String(), want, sb.String())
		}
	})
}
