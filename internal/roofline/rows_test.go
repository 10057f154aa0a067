package roofline

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// process is a process that launches on GPUs, for cases of TestRows. Its times are µs.
type process struct {
	t       *testtrace.Thread
	streams map[int64]*testtrace.Stream
	b       *testtrace.Builder
	launch  int64
}

// op adds an operator on tensors of floats, with further arguments as JSON members.
func (p *process) op(name string, start, dur int64, dims string, more ...string) {
	types := strings.Repeat(`"float",`, strings.Count(dims, "["))
	e := p.t.Op(name, start*1000, dur*1000).Arg("Input Dims", testtrace.Raw(dims)).Arg("Input type", testtrace.Raw("["+strings.TrimSuffix(types, ",")+"]"))
	for _, m := range more {
		key, value, _ := strings.Cut(m, "=")
		e.Arg(key, testtrace.Raw(value))
	}
}

// kernel adds a launch and what it launches.
func (p *process) kernel(device int64, name string, call, start, dur int64) {
	p.launch++
	p.t.Launch("cudaLaunchKernel", call*1000, 1000, p.launch)
	if strings.HasPrefix(name, "Memcpy") {
		p.streams[device].Memcpy(name, start*1000, dur*1000, p.launch)
		return
	}
	p.streams[device].Kernel(name, start*1000, dur*1000, p.launch)
}

// TestRows: which operators have figures, of which kernels, and where the window and the records end.
func TestRows(t *testing.T) {
	const mm, add = `[[64,64],[64,64]]`, `[[100],[100]]`
	for _, c := range []struct {
		name, window string
		make         func(p *process)
		want         string // an operator a line
	}{
		{"kernels that overlap count once, the first of the longest is the main one", "", func(p *process) {
			p.op("aten::mm", 0, 50, mm)
			p.kernel(0, "b", 10, 120, 30)
			p.kernel(0, "a", 20, 150, 30)
			p.kernel(0, "c", 30, 180, 10)
			p.kernel(1, "d", 40, 125, 20)
		}, "aten::mm: b d a c, main b, 70000 ns on 0"},
		{"a copy to the host is no work of the device, one on the device is", "", func(p *process) {
			p.op("aten::copy_", 0, 20, add)
			p.kernel(0, testtrace.DtoHPageable, 10, 30, 10)
			p.op("aten::copy_", 100, 20, add)
			p.kernel(0, testtrace.DtoD, 110, 130, 10)
		}, "aten::copy_: Memcpy DtoD (Device -> Device), main Memcpy DtoD (Device -> Device), 10000 ns on 0"},
		{"an empty tensor, and an operator without a kernel", "", func(p *process) {
			p.op("aten::zero_", 0, 20, `[[0]]`)
			p.kernel(0, "a", 10, 30, 10)
			p.op("aten::mm", 100, 20, mm)
		}, ""},
		{"a wrapper has no figures, a product that copies first does, another that calls an operator does not", "", func(p *process) {
			p.op("aten::linear", 0, 90, mm)
			p.op("aten::mm", 0, 80, mm)
			p.op("aten::copy_", 10, 20, add)
			p.kernel(0, "copy", 15, 100, 10)
			p.kernel(0, "gemm", 50, 120, 10)
			p.op("aten::add", 200, 90, add)
			p.op("aten::copy_", 210, 20, add)
			p.kernel(0, "copy", 215, 300, 10)
			p.kernel(0, "add", 250, 320, 10)
			p.op("aten::addmm", 400, 90, `[[64],[64,64],[64,64]]`)
			p.op("aten::mm", 410, 20, mm)
			p.kernel(0, "gemm", 415, 500, 10)
			p.kernel(0, "bias", 450, 520, 10)
		}, "aten::mm: gemm, main gemm, 10000 ns on 0\naten::copy_: copy, main copy, 10000 ns on 0\naten::copy_: copy, main copy, 10000 ns on 0\naten::mm: gemm, main gemm, 10000 ns on 0"},
		{"an operator two levels below", "", func(p *process) {
			p.op("aten::add", 0, 90, add)
			p.op("aten::mul", 10, 70, add)
			p.op("aten::sub", 20, 30, add)
			p.kernel(0, "sub", 25, 100, 10)
			p.kernel(0, "mul", 60, 120, 10)
			p.kernel(0, "add", 85, 140, 10)
		}, "aten::sub: sub, main sub, 10000 ns on 0"},
		{"what a graph launches is not the operator's", "", func(p *process) {
			p.op("aten::mm", 0, 50, mm)
			p.t.Launch("cudaGraphLaunch", 10_000, 1000, 77)
			p.streams[0].Kernel("gemm", 100_000, 1000, 77)
		}, ""},
		{"launches without a record, by External id, where one operator has it", "", func(p *process) {
			p.op("aten::mm", 0, 20, mm, "External id=7")
			p.streams[0].Kernel("gemm", 30_000, 1000, 501).Arg("External id", 7)
			p.op("aten::mm", 100, 20, mm, "External id=8")
			p.op("aten::mm", 200, 20, mm, "External id=8")
			p.streams[0].Kernel("two", 230_000, 1000, 502).Arg("External id", 8)
			p.streams[0].Kernel("nobody", 330_000, 1000, 503).Arg("External id", 9)
			p.streams[0].Kernel("none", 340_000, 1000, 504)
			p.op("aten::mm", 400, 20, mm, "External id=10")
			p.t.Annotation("note", 430_000, 1000).Arg("External id", 7)
			p.op("aten::add", 440, 20, add, "External id=0")
			p.kernel(0, "launched", 410, 450, 10)
			p.streams[0].Kernel("gemm", 470_000, 1000, 505).Arg("External id", 10)
		}, "aten::mm: gemm, main gemm, 1000 ns on 0\naten::mm: launched gemm, main launched, 11000 ns on 0"},
		{"the window has what starts in it", "window", func(p *process) {
			p.op("aten::mm", 0, 20, mm)
			p.kernel(0, "before", 5, 99, 1)
			p.kernel(0, "first", 10, 100, 10)
			p.t.Annotation("window", 100_000, 100_000)
			p.op("aten::mm", 100, 20, mm)
			p.kernel(0, "last", 110, 199, 1)
			p.op("aten::mm", 250, 20, mm)
			p.kernel(0, "after", 251, 252, 10)
		}, "aten::mm: first, main first, 10000 ns on 0\naten::mm: last, main last, 1000 ns on 0"},
		{"the result of a convolution without arguments is what its backward was given", "", func(p *process) {
			const grad, x, w = "[2,6,4,4]", "[2,4,8,8]", "[6,4,3,3]"
			for i := range int64(3) {
				p.op("aten::conv2d", 200*i, 90, fmt.Sprintf("[%s,%s]", x, w), []string{"Sequence number=5", "Sequence number=6", "External id=100"}[i])
				p.op("aten::cudnn_convolution", 200*i, 50, fmt.Sprintf("[%s,%s]", x, w))
				p.kernel(0, "conv", 200*i+10, 200*i+100, 10)
			}
			p.t.Annotation("aten::convolution_backward", 650_000, 1000).Arg("Input Dims", testtrace.Raw("[[2,6,5,5]]")).Arg("Input type", testtrace.Raw(`["float"]`)).Arg("Sequence number", 5)
			p.op("aten::convolution_backward", 700, 50, fmt.Sprintf("[%s,%s,%s]", grad, x, w), "Sequence number=5")
			p.op("aten::cudnn_convolution_backward", 800, 50, fmt.Sprintf("[%s]", x), "Sequence number=6")
			p.op("aten::convolution_backward", 900, 50, fmt.Sprintf("[%s,%s,%s]", grad, x, w))
		}, "aten::cudnn_convolution: conv, main conv, 10000 ns on 0"},
		{"a convolution says itself how large its result is", "", func(p *process) {
			p.op("aten::conv2d", 0, 90, "[[2,4,8,8],[6,4,3,3]]", "Sequence number=5")
			p.op("aten::cudnn_convolution", 0, 50, "[[2,4,8,8],[6,4,3,3]]", `Concrete Inputs=["","","[0, 0]"]`)
			p.kernel(0, "conv", 10, 100, 10)
			p.op("aten::convolution_backward", 700, 50, "[[2,6,4,4],[2,4,8,8],[6,4,3,3]]", "Sequence number=5")
		}, ""},
	} {
		p := &process{b: testtrace.New()}
		p.b.Device, p.b.NoFlows = "NVIDIA A100-SXM4-40GB", true
		p.t, p.streams = p.b.Thread(1, 1, "python"), map[int64]*testtrace.Stream{0: p.b.Stream(0, 7), 1: p.b.Stream(1, 7)}
		c.make(p)
		g, err := graph.Build(p.b.Parse(t), cdg.Options{Annotation: c.window})
		if err != nil {
			t.Fatal(err)
		}
		m := NewMeter(g)
		rows := m.Rows()
		var got, own []string
		for i := range rows {
			got = append(got, rowText(g, &rows[i]))
			for _, r := range m.RowsOf(rows[i].Kernels) {
				own = append(own, rowText(g, &r))
			}
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, text, c.want)
		}
		if strings.Join(own, "\n") != c.want {
			t.Errorf("%s: by their kernels\n%s", c.name, strings.Join(own, "\n"))
		}
	}
}

func rowText(g *graph.Graph, r *Row) string {
	var names []string
	for _, k := range r.Kernels {
		names = append(names, g.Trace.Name(g.Acts[k].Event))
	}
	return fmt.Sprintf("%s: %s, main %s, %d ns on %d", g.Trace.Name(g.Acts[r.Op].Event), strings.Join(names, " "), g.Trace.Name(g.Acts[r.Main].Event), r.NS, r.Device)
}

// TestOf: a device without a name is like the others where these are alike.
func TestOf(t *testing.T) {
	const a, h = "NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3"
	for _, c := range []struct {
		names map[int64]string
		want  string // of device 5
	}{
		{nil, ""}, {map[int64]string{0: a}, "A100 40GB SXM"}, {map[int64]string{0: a, 1: a}, "A100 40GB SXM"}, {map[int64]string{0: a, 1: h}, ""}, {map[int64]string{0: a, 1: "my device"}, ""},
		{map[int64]string{0: "my device"}, ""}, {map[int64]string{0: a, 5: h}, "H100 SXM"}, {map[int64]string{0: a, 5: "my device"}, ""},
	} {
		tr := &trace.Trace{DeviceNames: c.names, Procs: []trace.Process{{Device: 3}, {Device: 5}}}
		for _, d := range []*Device{Of(tr, 5), Devices(tr)(5)} {
			if got := d; got == nil && c.want != "" || got != nil && got.Name != c.want {
				t.Errorf("%v: %+v", c.names, got)
			}
		}
	}
	if d := Devices(&trace.Trace{DeviceNames: map[int64]string{0: a}})(5); d != nil {
		t.Errorf("a device of no process: %+v", d)
	}
}

// TestIteration: the iteration of a server that a time lies in, which has its start and not its end.
func TestIteration(t *testing.T) {
	of := func(typ trace.IterationType) trace.Iteration { return trace.Iteration{Type: typ} }
	m := &Meter{g: &graph.Graph{Graph: &cdg.Graph{Layout: &cdg.Layout{Steps: []cdg.Step{{Start: 10, End: 20, Of: of(trace.Decode)}, {Start: 20, End: 30}, {Start: 40, End: 50, Of: of(trace.Prefill)}}}}}}
	for at, want := range map[int64]trace.IterationType{9: 0, 10: trace.Decode, 19: trace.Decode, 20: 0, 29: 0, 35: 0, 40: trace.Prefill, 49: trace.Prefill, 50: 0} {
		if got := m.iteration(at); got == nil && want != 0 || got != nil && got.Type != want {
			t.Errorf("at %d: %+v", at, got)
		}
	}
}

// TestMemoryLimited: a device that is not known limits nothing, and what does not compute is limited by memory.
func TestMemoryLimited(t *testing.T) {
	for _, c := range []struct {
		peak, compute, memory float64
		want                  bool
	}{{1, 0.2, 0.3, true}, {1, 0.3, 0.3, false}, {1, -1, 0.1, true}, {1, -1, 0, false}, {0, 0.2, 0.3, false}, {1, 0.3, -1, false}} {
		if r := (Row{Peak: c.peak, Compute: c.compute, Memory: c.memory}); r.MemoryLimited() != c.want {
			t.Errorf("%+v", c)
		}
	}
}
