package testtrace_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/analyses"
	"overlay/internal/anonymize"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/slim"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/nodecheck"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/testtrace/viewer"
	"overlay/internal/trace"
)

// record is a complete event in no format.
type record struct {
	kind                 trace.Kind
	category, name       string
	pid, tid, start, dur int64
	args                 []testtrace.Arg
}

func integer(key string, n int64) testtrace.Arg {
	return testtrace.Arg{Key: key, Value: trace.NumberValue(fmt.Sprint(n))}
}

func text(key, s string) testtrace.Arg {
	return testtrace.Arg{Key: key, Value: trace.Value{Kind: trace.String, Text: s}}
}

// records are three steps of a process with two threads and two streams, one of which waits for the other.
func records() (list []record) {
	host := func(kind trace.Kind, category, name string, tid, start, dur int64, args ...testtrace.Arg) {
		list = append(list, record{kind, category, name, 100, tid, start, dur, args})
	}
	gpu := func(kind trace.Kind, category, name string, stream, start, dur, corr int64, args ...testtrace.Arg) {
		list = append(list, record{kind, category, name, 0, stream, start, dur,
			append([]testtrace.Arg{integer("device", 0), integer("context", 1), integer("stream", stream), integer("correlation", corr)}, args...)})
	}
	call := func(name string, tid, start, dur, corr int64) {
		host(trace.Runtime, "cuda_runtime", name, tid, start, dur, integer("correlation", corr))
	}
	nested := testtrace.Arg{Key: "config", Value: trace.Value{Kind: trace.Object}, Members: []testtrace.Arg{
		text("name", `a "quoted" one`), {Key: "none", Value: trace.NumberValue("null")}, {Key: "share", Value: trace.NumberValue("0.25")},
		{Key: "deep", Value: trace.Value{Kind: trace.Object}, Members: []testtrace.Arg{{Key: "on", Value: trace.NumberValue("true")}, {Key: "empty", Value: trace.Value{Kind: trace.Object}}}}}}
	dims := testtrace.Arg{Key: "Input Dims", Value: trace.Value{Kind: trace.Array}, Members: []testtrace.Arg{
		{Value: trace.Value{Kind: trace.Array}, Members: []testtrace.Arg{{Value: trace.NumberValue("64")}, {Value: trace.NumberValue("32")}}},
		{Value: trace.Value{Kind: trace.Array}}, {Value: trace.NumberValue("null")}, {Value: trace.NumberValue("18446744073709551615")}}}
	for i := range int64(3) {
		at, corr := 1_000_000*i, 20*i
		host(trace.Annotation, "user_annotation", fmt.Sprint("ProfilerStep#", i), 1, at, 990_000)
		host(trace.Python, "python_function", "train.py(3): step", 1, at+1_000, 980_000)
		host(trace.CPUOp, "cpu_op", "aten::linear", 1, at+2_000, 60_000, integer("External id", corr+1), dims, nested)
		call("cudaLaunchKernel", 1, at+5_000, 6_000, corr+1)
		gpu(trace.Kernel, "kernel", "gemm", 7, at+12_000, 200_000, corr+1)
		call("cudaEventRecord", 1, at+13_000, 1_000, corr+2)
		call("cudaStreamWaitEvent", 1, at+15_000, 1_000, corr+3)
		call("cudaLaunchKernel", 1, at+20_000, 6_000, corr+4)
		gpu(trace.Kernel, "kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", 20, at+213_000, 90_000, corr+4)
		call("cudaMemcpyAsync", 1, at+70_000, 5_000, corr+5)
		gpu(trace.Memcpy, "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 7, at+305_000, 20_000, corr+5, integer("bytes", 4096),
			testtrace.Arg{Key: "memory bandwidth (GB/s)", Value: trace.NumberValue("2.5")})
		call("cudaStreamSynchronize", 1, at+80_000, 250_000, corr+6)
		host(trace.CPUOp, "cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 2, at+340_000, 300_000, integer("Sequence number", i))
		call("cudaLaunchKernel", 2, at+350_000, 6_000, corr+7)
		gpu(trace.Kernel, "kernel", "gemm_backward", 7, at+362_000, 400_000, corr+7)
		host(trace.CPUOp, "cpu_op", "Optimizer.step#SGD.step", 1, at+660_000, 200_000)
		call("cudaDeviceSynchronize", 1, at+700_000, 66_000, corr+8)
	}
	return list
}

// asJSON writes the records as a profiler does, and reads them.
func asJSON(t *testing.T, list []record) *trace.Trace {
	b := testtrace.New()
	for _, r := range list {
		e := b.Slice(r.category, r.name, r.pid, r.tid, r.start, r.dur)
		for i := range r.args {
			v, _ := testtrace.Args{0: r.args}.Arg(0, r.args[i].Key)
			switch {
			case v.Kind == trace.String:
				e.Arg(r.args[i].Key, v.Text)
			default:
				e.Arg(r.args[i].Key, testtrace.Raw(v.Text))
			}
		}
	}
	return b.Parse(t)
}

// byHand makes a trace of the records without any text, as a package for another format would.
func byHand(list []record) *trace.Trace {
	args := testtrace.Args{}
	tr := &trace.Trace{File: "built.json", Syms: []string{""}, Rank: -1, DeviceNames: map[int64]string{}, Source: args}
	syms := map[string]trace.Sym{"": 0}
	sym := func(s string) trace.Sym {
		if _, ok := syms[s]; !ok {
			syms[s] = trace.Sym(len(tr.Syms))
			tr.Syms = append(tr.Syms, s)
		}
		return syms[s]
	}
	for _, r := range list { // symbols of categories come first
		sym(r.category)
	}
	number := func(n int64) trace.Token { return trace.Token{Raw: sym(fmt.Sprint(n)), Num: n, IsNum: true} }
	procs, rows := map[int64]trace.ProcID{}, map[[3]int64]trace.TrackID{}
	for i, r := range list {
		class := trace.ClassOf(r.kind)
		p, ok := procs[r.pid]
		if !ok {
			p = trace.ProcID(len(tr.Procs))
			procs[r.pid] = p
			tr.Procs = append(tr.Procs, trace.Process{PID: number(r.pid), Device: -1})
			if class.OnDevice() {
				tr.Procs[p].Device, tr.Procs[p].IsDevice = r.pid, true
			}
		}
		key := [3]int64{r.pid, r.tid, int64(class)}
		k, ok := rows[key]
		if !ok {
			k = trace.TrackID(len(tr.Tracks))
			rows[key] = k
			tr.Tracks = append(tr.Tracks, trace.Track{Proc: p, Class: class, TID: number(r.tid), Stream: -1})
			if class == trace.DeviceStream {
				tr.Tracks[k].Stream = r.tid
			}
		}
		e := trace.Event{Start: r.start, Name: sym(r.name), Cat: uint16(sym(r.category)), Track: k, Kind: r.kind, Ph: 'X', Flags: trace.HasDur}
		tr.SetDur(&e, r.dur)
		ext := int32(0)
		for _, a := range r.args {
			switch n, _ := a.Value.AsInt(); a.Key {
			case "correlation":
				e.Flags |= trace.HasCorr
				tr.SetCorr(&e, n)
			case "External id":
				ext = tr.SetExt(&e, n)
			case "Sequence number":
				e.Flags |= trace.HasSeq
			case "Input Dims":
				tr.Shapes = true
			}
			e.Flags |= trace.HasArgs
			args[trace.EventID(i)] = r.args
		}
		tr.Events, tr.Ext = append(tr.Events, e), append(tr.Ext, ext)
	}
	tr.LinkLaunches()
	return tr
}

// TestModelByHand: a trace that another package than the reader of JSON made gives the same graph, paths, report and
// picture as its JSON. Only what works on the text refuses it.
func TestModelByHand(t *testing.T) {
	list := records()
	read, hand := asJSON(t, list), byHand(list)
	if err := tracecheck.Check(hand); err != nil {
		t.Fatal(err)
	}
	want, got := everything(t, read), everything(t, hand)
	for what := range want {
		if diff := cmp.Diff(want[what], got[what]); diff != "" {
			t.Errorf("%s of the trace by hand (+) and of its JSON (-):\n%.4000s", what, diff)
		}
		if len(want[what]) < 200 {
			t.Errorf("%s is only %q: the test has looked at nothing", what, want[what])
		}
	}

	g, p, _ := testtrace.Analyse(t, hand)
	for _, ov := range []*overlay.Drawing{nil, overlay.Annotate(g.Layout(), p, overlay.Options{})} {
		var b bytes.Buffer
		_, err := chromejson.Write(&b, hand, ov)
		if err == nil || b.Len() > 0 || err.Error() != "the trace cannot be written as Chrome JSON: it was not read from JSON" {
			t.Errorf("error %v, %d bytes", err, b.Len())
		}
	}
	if _, _, err := anonymize.Graph(g, p); err == nil || err.Error() != "the trace cannot be anonymised: it was not read from JSON" {
		t.Errorf("error %v", err)
	}
}

// everything is what is made of a trace, as text.
func everything(t *testing.T, tr *trace.Trace) map[string]string {
	t.Helper()
	out := map[string]string{}
	g, exact, _ := testtrace.Analyse(t, tr)
	if err := pathcheck.Check(exact, g); err != nil {
		t.Error(err)
	}
	if err := nodecheck.Check(g); err != nil {
		t.Error(err)
	}
	var deps strings.Builder
	pathcheck.WriteGraph(&deps, g.Graph)
	out["dependencies"] = deps.String()
	ctda, err := critpath.CTDA(g)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := hta.Find(tr, hta.Options{First: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*critpath.Path{exact, ctda, peer.AsPath()} {
		var path, js, html, plain strings.Builder
		pathcheck.WritePath(&path, p, g)
		for _, m := range p.Marks.All() {
			fmt.Fprintln(&path, m)
		}
		out[p.Method+" path"] = path.String()
		results := analyses.Run(g, p, analyses.Names, analyses.Options{})
		r := report.New(report.Source{Name: "trace", Version: "1", Graph: g, Path: p, Segments: true, Analyses: results})
		r.Input.Bytes = 0 // a trace by hand has no input
		for _, err := range []error{r.WriteJSON(&js), page.WriteReport(&html, r, nil), r.WriteText(&plain, report.TextOptions{Walk: true})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		out[p.Method+" report"], out[p.Method+" page"], out[p.Method+" text"] = js.String(), html.String(), plain.String()
		for _, only := range []bool{false, true} {
			ov := overlay.Annotate(g.Layout(), p, overlay.Options{Version: "1", Rows: results.Rows, Slim: only})
			if only {
				slim.Cut(g, p, ov)
			}
			out[fmt.Sprintf("%s picture, slim %t", p.Method, only)] = pictureText(t, tr, ov)
		}
	}
	out["plain picture"] = pictureText(t, tr, nil)
	return out
}

// pictureText is the text of what the viewer makes of a trace, without the number that tells inputs apart.
func pictureText(t *testing.T, tr *trace.Trace, ov *overlay.Drawing) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := pftrace.Write(&b, tr, ov); err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	im.CheckArgs()
	if len(im.Problems) > 0 || len(im.Slices) == 0 {
		t.Errorf("%d slices, problems %v", len(im.Slices), im.Problems)
	}
	var text strings.Builder
	if err := viewer.Write(&text, im); err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(text.String(), "\nuuid ")
	if !ok {
		t.Error("no uuid")
	}
	return before
}
