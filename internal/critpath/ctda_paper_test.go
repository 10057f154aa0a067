package critpath_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/nodecheck"
)

const us = 1000 // ns

// launchOver adds a launch call of the main thread over [start, end], and its kernel.
func (p *paperTrace) launchOver(start, end int64, on *testtrace.Stream, kernel string, from, to int64) {
	p.corr++
	p.main.Launch("cudaLaunchKernel", start*us, (end-start)*us, p.corr)
	on.Kernel(kernel, from*us, (to-from)*us, p.corr)
}

// record and wait make one stream wait for what was put on another before the record call, as CUPTI records it.
func (p *paperTrace) record(at int64) int64 {
	p.corr++
	p.main.Call("cudaEventRecord", at*us, us, p.corr)
	return p.corr
}

func (p *paperTrace) wait(at int64, on, of *testtrace.Stream, record int64) {
	p.corr++
	p.main.Call("cudaStreamWaitEvent", at*us, us, p.corr)
	on.SyncRecord(testtrace.StreamWaitEvent, at*us, us, p.corr, of.Number, record)
}

func (p *paperTrace) deviceSync(start, end int64) {
	p.corr++
	p.main.Call("cudaDeviceSynchronize", start*us, (end-start)*us, p.corr)
}

// nodeNames lists the nodes of a path by the event that starts them.
func nodeNames(g *graph.Graph, p *critpath.Path) string {
	var names []string
	for _, n := range p.Nodes {
		names = append(names, g.Trace.Name(g.Nodes[n].First))
	}
	return strings.Join(names, ", ")
}

// The decisions of Algorithm 1, and the figures, on traces. A node is named by its first event.
var paperPaths = []struct {
	name  string
	build func(*paperTrace)
	want  string
}{
	{"line 9: the GPU ends with the CPU, so the CPU decides", func(p *paperTrace) {
		p.op(p.main, "aten::mm", 0, 300)
		p.launchOver(50, 60, p.compute, "k", 65, 300)
	}, "aten::mm"},
	{"line 9: the GPU ends 1 µs later", func(p *paperTrace) {
		p.op(p.main, "aten::mm", 0, 300)
		p.launchOver(50, 60, p.compute, "k", 65, 301)
	}, "aten::mm, k"},
	{"line 20: a synchronisation leads to the GPU", func(p *paperTrace) {
		p.op(p.main, "aten::mm", 0, 100)
		p.launchOver(50, 60, p.compute, "k", 65, 300)
		p.deviceSync(100, 305)
		p.op(p.main, "aten::add", 306, 400)
	}, "aten::mm, k, cudaDeviceSynchronize"},
	{"line 21: a device synchronisation leads to the stream that ends last", func(p *paperTrace) {
		p.op(p.main, "aten::mm", 0, 100)
		p.launchOver(50, 60, p.compute, "k", 65, 200)
		p.launchOver(70, 80, p.net, "m", 85, 300)
		p.deviceSync(100, 305)
		p.op(p.main, "aten::add", 306, 400)
	}, "aten::mm, cudaLaunchKernel, m, cudaDeviceSynchronize"},
	{"line 20: a synchronisation that waited for nothing leads along the CPU", func(p *paperTrace) {
		p.op(p.main, "aten::mm", 0, 100)
		p.launchOver(10, 15, p.compute, "k", 20, 60)
		p.op(p.main, "record_param_comms", 100, 200)
		p.deviceSync(200, 204)
		p.op(p.main, "aten::add", 204, 400)
	}, "aten::mm, record_param_comms, cudaDeviceSynchronize"},
	{"line 23: without a synchronisation the GPU is no predecessor", func(p *paperTrace) {
		p.op(p.main, "aten::mm", 0, 100)
		p.launchOver(10, 15, p.compute, "k", 20, 199)
		p.op(p.main, "record_param_comms", 100, 200)
		p.op(p.main, "aten::add", 200, 400)
	}, "aten::mm, record_param_comms, aten::add"},
	{"line 33: the stream bound the kernel; the node that launched it went on", func(p *paperTrace) {
		p.op(p.main, "aten::mm", 0, 100)
		p.launchOver(10, 20, p.compute, "k", 25, 300)
		p.op(p.main, "aten::cross_entropy_loss", 100, 350)
		p.launchOver(110, 120, p.compute, "m", 302, 500)
	}, "aten::mm, k, m"},
	{"line 38: the launch ended after the kernel before", func(p *paperTrace) {
		p.op(p.main, "aten::mm", 0, 100)
		p.launchOver(10, 20, p.compute, "k", 25, 300)
		p.op(p.main, "aten::cross_entropy_loss", 100, 350)
		p.launchOver(310, 320, p.compute, "m", 325, 500)
	}, "aten::mm, aten::cross_entropy_loss, m"},
	{"Figure 3: the longest event lies under CPU work", func(p *paperTrace) {
		p.op(p.main, "aten::a", 0, 100)
		p.launchOver(10, 20, p.compute, "A", 25, 60)
		p.op(p.main, "aten::b", 100, 200)
		p.launchOver(110, 120, p.compute, "B", 125, 460)
		p.op(p.main, "aten::c", 200, 300)
		p.op(p.main, "aten::d", 300, 400)
		p.op(p.main, "aten::e", 400, 500)
	}, "aten::a"},
	{"Figure 6: the longest path is A B D, but D waited for C", func(p *paperTrace) {
		p.op(p.main, "aten::mm", 0, 20)
		p.launchOver(2, 6, p.compute, "A", 10, 100)
		afterA := p.record(8)
		p.op(p.main, "aten::cross_entropy_loss", 20, 40)
		p.launchOver(22, 26, p.compute, "B", 101, 500)
		p.wait(41, p.net, p.compute, afterA)
		p.launchOver(43, 46, p.net, "C", 350, 600)
		afterC := p.record(48)
		p.wait(50, p.compute, p.net, afterC)
		p.launchOver(52, 56, p.compute, "D", 602, 800)
	}, "aten::mm, A, C, D"},
}

func TestPaperPaths(t *testing.T) {
	for _, c := range paperPaths {
		t.Run(c.name, func(t *testing.T) {
			trace := newPaperTrace()
			c.build(trace)
			g, p := ctdaOf(t, trace.b.Parse(t))
			if got := nodeNames(g, p); got != c.want {
				var text strings.Builder
				nodecheck.Write(&text, g)
				t.Errorf("the path is %s, want %s\n%s", got, c.want, text.String())
			}
		})
	}
}

// Section 3.4 counts up to the first call that launches, whatever its name: here a copy. An op that spans the cut counts up to it.
func TestFirstLaunchIsAnyCall(t *testing.T) {
	p := newPaperTrace()
	p.op(p.main, "aten::op_a", 0, 100)
	p.op(p.main, "aten::copy_", 100, 140)
	p.main.Launch("cudaMemcpyAsync", 110*us, 10*us, 90)
	p.compute.Memcpy(testtrace.HtoDPinned, 122*us, 200*us, 90)
	p.op(p.main, "aten::op_c", 140, 200)
	p.corr = 90
	p.launchOver(200, 210, p.compute, "k", 323, 500)
	g, path := ctdaOf(t, p.b.Parse(t))
	want := map[string]float64{"aten::op_a": 100, "aten::copy_": 10, "cudaMemcpyAsync": 10, testtrace.HtoDPinned: 200, "k": 177}
	if diff := cmp.Diff(want, marked(g, path)); diff != "" {
		t.Errorf("critical µs by name (-want +got):\n%s", diff)
	}
}

// The paper groups by name: a call that blocks at one place and only takes time at another is one line of its table.
func TestPaperTableGroupsByName(t *testing.T) {
	p := newPaperTrace()
	p.op(p.main, "aten::mm", 0, 100)
	p.deviceSync(100, 110) // nothing to wait for
	p.launchOver(110, 120, p.compute, "k", 125, 400)
	p.deviceSync(130, 405)
	p.op(p.main, "aten::add", 405, 500)
	g, path := ctdaOf(t, p.b.Parse(t))
	cpu, gpu := critpath.PaperHotspots(g, path)
	got, sum := map[string]int{}, int64(0)
	for _, h := range append(cpu, gpu...) {
		if _, twice := got[h.Name]; twice {
			t.Errorf("%s has two lines", h.Name)
		}
		got[h.Name] = h.Calls
		sum += h.NS
	}
	if want := map[string]int{"aten::mm": 1, "cudaDeviceSynchronize": 2, "cudaLaunchKernel": 1, "k": 1, "aten::add": 1}; cmp.Diff(want, got) != "" || sum != path.Covered {
		t.Errorf("calls %v, %d of %d ns", got, sum, path.Covered)
	}
}
