package hta

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// program writes a small trace: one host process 10, one device 0; times in µs.
type program struct{ events []string }

func (p *program) add(format string, args ...any) *program {
	p.events = append(p.events, fmt.Sprintf(format, args...))
	return p
}

func (p *program) cpu(cat, name string, tid, ts, dur int) *program {
	return p.add(`{"ph":"X","cat":%q,"name":%q,"pid":10,"tid":%d,"ts":%d,"dur":%d,"args":{}}`, cat, name, tid, ts, dur)
}

func (p *program) call(name string, tid, ts, dur, corr int) *program {
	return p.add(`{"ph":"X","cat":"cuda_runtime","name":%q,"pid":10,"tid":%d,"ts":%d,"dur":%d,"args":{"correlation":%d}}`, name, tid, ts, dur, corr)
}

func (p *program) kernel(stream, ts, dur, corr int) *program {
	return p.add(`{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"stream":%d,"device":0,"correlation":%d}}`, corr, stream, ts, dur, stream, corr)
}

func (p *program) waitRecord(stream, ts, corr, onStream, record int) *program {
	return p.add(`{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":%d,"ts":%d,"dur":1,"args":{"stream":%d,"correlation":%d,"wait_on_stream":%d,"wait_on_cuda_event_record_corr_id":%d}}`,
		stream, ts, stream, corr, onStream, record)
}

func (p *program) find(t *testing.T, o Options) (*Graph, error) {
	t.Helper()
	src := `{"schemaVersion":1,"traceEvents":[` + strings.Join(p.events, ",\n") + `]}`
	tr, err := kineto.Parse([]byte(src), "program", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o.First == 0 && o.Last == 0 {
		o.First = -1
	}
	return Find(tr, o)
}

// text lists the edges, µs.
func text(g *Graph) string {
	var out []string
	side := func(n Node) string {
		if n.End {
			return fmt.Sprintf("%d.end", n.Event)
		}
		return fmt.Sprintf("%d.start", n.Event)
	}
	for _, e := range g.Edges {
		out = append(out, fmt.Sprintf("%s -> %s %s %d", side(g.Nodes[e.From]), side(g.Nodes[e.To]), strings.TrimPrefix(e.Type.String(), "critical_path_"), e.Weight/1000))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func want(t *testing.T, g *Graph, err error, lines ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	got := text(g)
	for _, l := range lines {
		if no, ok := strings.CutPrefix(l, "no "); ok {
			if strings.Contains(got, no) {
				t.Errorf("there is an edge %q in\n%s", no, got)
			}
		} else if !strings.Contains(got, l) {
			t.Errorf("there is no edge %q in\n%s", l, got)
		}
	}
}

func wantError(t *testing.T, err error, word string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), word) {
		t.Fatalf("error %v, want one with %q", err, word)
	}
}

func TestLaunchEdgeNeedsAnEmptyQueue(t *testing.T) {
	// Event 0 never takes part: the peer mistakes position 0 for "no partner".
	p := new(program).cpu("cpu_op", "first", 1, 0, 1).call("cudaLaunchKernel", 1, 10, 5, 7).kernel(3, 20, 5, 7)
	g, err := p.find(t, Options{})
	want(t, g, err, "1.start -> 2.start kernel_launch_delay 10", "2.start -> 2.end operator 5")

	// Two launches before the first operation starts: the first operation gets none.
	p = new(program).cpu("cpu_op", "first", 1, 0, 1).call("cudaLaunchKernel", 1, 10, 2, 7).call("cudaLaunchKernel", 1, 13, 2, 8).
		kernel(3, 20, 5, 7).kernel(3, 30, 5, 8)
	g, err = p.find(t, Options{})
	want(t, g, err, "no 1.start -> 3.start", "3.end -> 4.start kernel_kernel_delay 5")
	g, err = p.find(t, Options{ZeroLaunch: true})
	want(t, g, err, "1.start -> 3.start kernel_launch_delay 0")
}

func TestLongGapOnStreamIsNoEdge(t *testing.T) {
	for _, gap := range []int{1499, 1500} {
		p := new(program).cpu("cpu_op", "first", 1, 0, 1).call("cudaLaunchKernel", 1, 10, 2, 7).call("cudaLaunchKernel", 1, 13, 2, 8).
			kernel(3, 20, 5, 7).kernel(3, 25+gap, 5, 8)
		g, err := p.find(t, Options{})
		edge := fmt.Sprintf("3.end -> 4.start kernel_kernel_delay %d", gap)
		if gap == 1500 {
			edge = "no 3.end -> 4.start"
		}
		want(t, g, err, edge)
	}
}

func TestOverlappingLockCallsLoseTime(t *testing.T) {
	p := new(program).cpu("cpu_op", "first", 3, 0, 1).call("cudaLaunchKernel", 1, 10, 10, 7).call("cudaLaunchKernel", 2, 15, 10, 8).
		kernel(3, 30, 5, 7).kernel(3, 40, 5, 8)
	g, err := p.find(t, Options{})
	want(t, g, err, "1.start -> 1.end operator 10", "2.start -> 1.end dependency 0", "1.end -> 2.end dependency 0", "no 2.start -> 2.end")
}

func TestAbuttingCallsInReverseFileOrderMakeACycle(t *testing.T) {
	p := new(program).cpu("cpu_op", "first", 3, 0, 1).call("cudaLaunchKernel", 1, 20, 5, 8).call("cudaLaunchKernel", 1, 10, 10, 7).
		kernel(3, 30, 5, 7).kernel(3, 40, 5, 8)
	_, err := p.find(t, Options{})
	wantError(t, err, "cycle")
}

func TestStreamWait(t *testing.T) {
	build := func(waitStream int) *program {
		return new(program).cpu("cpu_op", "first", 1, 0, 1).
			call("cudaLaunchKernel", 1, 10, 2, 7).call("cudaEventRecord", 1, 14, 1, 20).
			call("cudaStreamWaitEvent", 1, 16, 1, 21).call("cudaLaunchKernel", 1, 18, 2, 8).
			kernel(3, 30, 50, 7).kernel(waitStream, 90, 5, 8).waitRecord(waitStream, 16, 21, 3, 20)
	}
	g, err := build(4).find(t, Options{})
	want(t, g, err, "5.end -> 6.start sync_dependency 0")
	_, err = build(3).find(t, Options{})
	wantError(t, err, "own stream")
}

func TestWhatThePeerRefuses(t *testing.T) {
	_, err := new(program).cpu("cpu_op", "a", 1, 0, 10).find(t, Options{})
	wantError(t, err, "no launch")
	_, err = new(program).cpu("cpu_op", "a", 1, 0, 1).call("cudaLaunchKernel", 1, 10, 2, 7).call("cuLaunchKernel", 1, 10, 1, 7).kernel(3, 20, 5, 7).find(t, Options{})
	wantError(t, err, "two calls")
	_, err = new(program).cpu("cpu_op", "a", 1, 0, 1).call("cudaLaunchKernel", 1, 10, 2, 7).kernel(3, 20, 5, 7).find(t, Options{Annotation: "ProfilerStep", First: 3, Last: 3})
	wantError(t, err, "no such annotation instance")
	_, err = new(program).add(`{"ph":"X","cat":"mtia_runtime","name":"runFunction - job_prep_and_submit_for_execution","pid":10,"tid":1,"ts":10,"dur":2,"args":{"correlation":7}}`).
		cpu("cpu_op", "a", 1, 0, 1).call("cudaLaunchKernel", 1, 100, 2, 8).kernel(3, 20, 5, 7).find(t, Options{})
	if err == nil {
		t.Error("a launch without nodes passed")
	}
}

// TestUnstableOrderSorts: a permutation that sorts, whatever the ties; long runs of equal keys force every branch.
func TestUnstableOrderSorts(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for n := range 400 {
		keys := make([]int64, n)
		for i := range keys {
			keys[i] = int64(rnd.Intn(1 + n/4))
			if n%3 == 0 {
				keys[i] = int64(i ^ 1) // nearly sorted
			}
		}
		idx := unstableOrder(keys)
		seen := make([]bool, n)
		for i, x := range idx {
			if seen[x] {
				t.Fatalf("n=%d: %d occurs twice", n, x)
			}
			seen[x] = true
			if i > 0 && keys[idx[i-1]] > keys[x] {
				t.Fatalf("n=%d: not sorted at %d", n, i)
			}
		}
		idx = idx[:0]
		for i := range n {
			idx = append(idx, int32(i))
		}
		heap(keys, idx)
		if !slices.IsSortedFunc(idx, func(a, b int32) int { return cmp.Compare(keys[a], keys[b]) }) {
			t.Fatalf("n=%d: heap does not sort", n)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	p := new(program).cpu("cpu_op", "first", 1, 0, 1)
	for i := 1; len(p.events) < 500_000; i++ {
		ts := 40 * i
		p.cpu("cpu_op", "aten::add", 1, ts, 30).cpu("cpu_op", "aten::add_", 1, ts+2, 20).call("cudaLaunchKernel", 1, ts+5, 8, i).kernel(7, ts+20, 25, i)
	}
	src := `{"schemaVersion":1,"traceEvents":[` + strings.Join(p.events, ",\n") + `]}`
	tr, err := kineto.Parse([]byte(src), "bench", kineto.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(tr.Events)), "events")
	for b.Loop() {
		if _, err := Find(tr, Options{First: -1}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSegmentsHaveRows: what an event owns of the path lies on the row of that event, and gaps belong to none.
func TestSegmentsHaveRows(t *testing.T) {
	p := new(program).cpu("cpu_op", "first", 1, 0, 1).call("cudaLaunchKernel", 1, 10, 5, 7).kernel(3, 20, 5, 7).call("cudaLaunchKernel", 1, 16, 2, 8).kernel(3, 30, 90, 8)
	g, err := p.find(t, Options{})
	if err != nil {
		t.Fatal(err)
	}
	owned, gaps := 0, 0
	for _, s := range g.AsPath().Segments.List() {
		switch {
		case s.Track == trace.NoTrack:
			t.Errorf("%s without a row", s.Kind)
		case s.Event == trace.NoEvent:
			gaps++
		case s.Track != g.in.tr.Events[s.Event].Track:
			t.Errorf("%s on the row %d", s.Kind, s.Track)
		default:
			owned++
		}
	}
	if owned == 0 || gaps == 0 {
		t.Errorf("%d segments of events and %d gaps", owned, gaps)
	}
}

// TestBackwardThread: one thread with autograd in a name and another one with forward.
func TestBackwardThread(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     *program
		found string
	}{
		{"one of each", new(program).cpu("cpu_op", "autograd::x", 2, 0, 5).cpu("user_annotation", "forward", 1, 0, 5), "2 1 true"},
		{"two that run backwards", new(program).cpu("cpu_op", "autograd::x", 2, 0, 5).cpu("cpu_op", "autograd::x", 3, 0, 5).cpu("user_annotation", "forward", 1, 0, 5), "0 0 false"},
		{"two that run forwards", new(program).cpu("cpu_op", "autograd::x", 2, 0, 5).cpu("cpu_op", "forward", 3, 0, 5).cpu("user_annotation", "forward", 1, 0, 5), "0 0 false"},
		{"none that runs forwards", new(program).cpu("cpu_op", "autograd::x", 2, 0, 5).cpu("user_annotation", "step", 1, 0, 5), "0 0 false"},
		{"one for both", new(program).cpu("cpu_op", "autograd::x", 2, 0, 5).cpu("user_annotation", "forward", 2, 0, 5), "0 0 false"},
		{"the thread 0", new(program).cpu("cpu_op", "autograd::x", 0, 0, 5).cpu("user_annotation", "forward", 1, 0, 5), "0 0 false"},
	} {
		g, err := c.p.call("cudaLaunchKernel", 1, 10, 5, 7).kernel(3, 20, 5, 7).find(t, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		bwd, fwd, ok := (&builder{g: g, in: &g.in}).backwardThread()
		if got := fmt.Sprint(bwd, fwd, ok); got != c.found {
			t.Errorf("%s: %s, not %s", c.name, got, c.found)
		}
	}
}
