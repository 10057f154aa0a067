package capture_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"overlay/internal/capture"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// made is a capture of a graph for a batch, and a replay of it with a batch: the same names, the replay in an iteration. edit changes the names of
// the replay.
func made(t *testing.T, captured, replayed int, names, played []string) (tr, of *trace.Trace) {
	t.Helper()
	b := testtrace.New()
	main := b.Thread(1, 1, "main")
	n := int64(len(names)) * 100
	main.Annotation(fmt.Sprintf("capture_%d_DECODE", captured), 0, n+100)
	main.Call("hipStreamBeginCapture", 10, 5, 1)
	for i, name := range names {
		at := int64(i)*100 + 20
		main.Frame(fmt.Sprintf("nn.Module: Layer_%d", i), at, 90)
		main.Frame(fmt.Sprintf("/home/me/model.py(%d): forward", i), at+5, 80)
		main.Op("aten::op"+name, at+10, 60)
		main.Call("hipLaunchKernel", at+20, 10, int64(i+2)).Arg("kernel", name)
	}
	main.Call("hipStreamEndCapture", n+50, 5, 1000)
	of = b.Parse(t)
	b = testtrace.New()
	main, stream := b.Thread(1, 1, "main"), b.Stream(0, 7)
	main.Annotation(fmt.Sprintf("step[DECODE bs=%d]", replayed), 0, 1000)
	main.Launch("hipGraphLaunch", 10, 20, 7)
	for i, name := range played {
		stream.Kernel(name, int64(i)*100+50, 80, 7)
	}
	return b.Parse(t), of
}

func TestJoin(t *testing.T) {
	names := strings.Split(strings.Repeat("a b c d e f g h i j ", 4), " ")[:40]
	short, other := slices.Delete(slices.Clone(names), 17, 18), slices.Clone(names)
	for i := range 10 {
		other[3*i] = "x"
	}
	for what, c := range map[string]struct {
		captured, replayed int
		played             []string
		fails              string
	}{
		"the same":                          {32, 32, names, ""},
		"a smaller batch, padded":           {32, 20, names, ""},
		"one launch more than operations":   {32, 32, short, ""},
		"the capture of a smaller batch":    {16, 32, names, "it was captured for a batch of 16, and a batch of 32 is replayed"},
		"a tenth and more of other kernels": {32, 32, other, "the names of the operations differ"},
		"another graph":                     {32, 32, []string{"a"}, "the names of the operations differ"},
	} {
		tr, of := made(t, c.captured, c.replayed, names, c.played)
		graphs := capture.Find(of, "trace.json")
		if len(graphs) != 1 || len(graphs[0].Nodes) != len(names) || graphs[0].Batch != int64(c.captured) {
			t.Fatalf("%s: %d graphs", what, len(graphs))
		}
		if what == "another graph" {
			graphs[0].Nodes = graphs[0].Nodes[1:2]
		}
		j, err := capture.Join(tr, graphs)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) || tr.Origins != nil {
				t.Errorf("%s: %v, want one with %q", what, err, c.fails)
			}
			continue
		}
		if err != nil || j.OperationsJoined != len(c.played) {
			t.Errorf("%s: %+v, %v", what, j, err)
			continue
		}
		for id := range tr.Events {
			if tr.Events[id].Kind != trace.Kernel {
				continue
			}
			o := tr.Origin(trace.EventID(id))
			if o == nil || tr.Str(o.Operator) != "aten::op"+tr.Name(trace.EventID(id)) || !strings.HasPrefix(tr.Str(o.Module), "Layer_") || !strings.HasPrefix(tr.Str(o.Line), "/home/me/model.py(") {
				t.Errorf("%s: event %d has the origin %+v", what, id, o)
			}
		}
	}
}

// Layers that are alike take the captures in turn, in each iteration from the first on.
func TestJoinsLayersInTurn(t *testing.T) {
	var graphs []capture.Graph
	for i := range 3 {
		_, of := made(t, 8, 8, []string{"a", "b"}, nil)
		graphs = append(graphs, capture.Find(of, "")...)
		for k := range graphs[i].Nodes {
			graphs[i].Nodes[k].Module = fmt.Sprint("layer", i)
		}
	}
	b := testtrace.New()
	main, stream := b.Thread(1, 1, "main"), b.Stream(0, 7)
	for step := range int64(2) {
		main.Annotation("step[DECODE bs=8]", step*1000, 900)
		for i := range int64(3) {
			at := step*1000 + 100*i
			main.Launch("hipGraphLaunch", at+10, 20, 10*step+i+1)
			stream.Kernel("a", at+40, 10, 10*step+i+1)
			stream.Kernel("b", at+60, 10, 10*step+i+1)
		}
	}
	tr := b.Parse(t)
	if _, err := capture.Join(tr, graphs); err != nil {
		t.Fatal(err)
	}
	var got []string
	for id := range tr.Events {
		if tr.Name(trace.EventID(id)) == "a" {
			got = append(got, tr.Str(tr.Origin(trace.EventID(id)).Module))
		}
	}
	if want := []string{"layer0", "layer1", "layer2", "layer0", "layer1", "layer2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Any replay that lacks and has a few operations more is joined, each pair by its name and in order.
func TestAlign(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var names []string
		for range 40 + r.IntN(200) {
			names = append(names, string(rune('a'+r.IntN(6))))
		}
		played := slices.Clone(names)
		less := r.IntN(1 + len(names)/30)
		for range less {
			at := r.IntN(len(played))
			played = slices.Delete(played, at, at+1)
		}
		tr, of := made(t, 8, 8, names, played)
		j, err := capture.Join(tr, capture.Find(of, ""))
		if err != nil || j.OperationsJoined != len(played) {
			t.Fatalf("seed %d: %+v, %v, want %d", seed, j, err, len(played))
		}
		last := int32(0)
		for id := range tr.Events {
			if tr.Events[id].Kind != trace.Kernel {
				continue
			}
			at := tr.Origins.Of[id]
			if at <= last || tr.Str(tr.Origins.List[at-1].Operator) != "aten::op"+tr.Name(trace.EventID(id)) {
				t.Fatalf("seed %d: event %d at %d after %d", seed, id, at, last)
			}
			last = at
		}
	}
}

// recorded is the path of a real trace, in whichever folder it is.
func recorded(t *testing.T, name string) string {
	if found := corpus.Find(t, name); len(found) > 0 {
		return found[0]
	}
	return corpus.World(t, name)
}

// The recorded pairs: all time of their graphs has its operator, and what the captures have frames of, its line.
func TestRecordedPairs(t *testing.T) {
	for _, pair := range [][2]string{
		{"TraceLens__sglang_decode__replay.json.gz", "TraceLens__sglang_decode__capture_bs_32.json.gz"},
		{"TraceLens__inference__vllm_prefilldecode_piecewise__graph_execution.json.gz", "TraceLens__vllm_prefilldecode_piecewise__capture.json.gz"},
	} {
		var read [2]*trace.Trace
		for i, name := range pair {
			read[i] = testtrace.Read(t, recorded(t, name))
		}
		j, err := capture.Join(read[0], capture.Find(read[1], pair[1]))
		if err != nil || j.ReplaysJoined != j.Replays || 100*j.NSJoined < 99*j.NS {
			t.Fatalf("%s: %+v, %v", pair[0], j, err)
		}
		var all, op, line int64
		for id := range read[0].Events {
			if o := read[0].Origin(trace.EventID(id)); o != nil {
				ns := read[0].Dur(&read[0].Events[id])
				all += ns
				if o.Operator != 0 {
					op += ns
				}
				if o.Line != 0 {
					line += ns
				}
			}
		}
		t.Logf("%s: %+v; of %d ns %d with an operator, %d with a line", pair[0], j, all, op, line)
		if 100*op < 99*all || 100*line < 99*all {
			t.Errorf("%s: of %d ns %d with an operator, %d with a line", pair[0], all, op, line)
		}
	}
	tr := testtrace.Read(t, recorded(t, "TraceLens__sglang_decode__replay.json.gz"))
	of := testtrace.Read(t, recorded(t, "TraceLens__vllm_prefilldecode_piecewise__capture.json.gz"))
	if j, err := capture.Join(tr, capture.Find(of, "")); err == nil {
		t.Errorf("a capture of another server: %+v", j)
	}
	graphs := capture.Find(testtrace.Read(t, corpus.World(t, "TraceLens__sglang_decode__capture_bs_32.json.gz")), "")
	if graphs[0].Batch != 32 {
		t.Errorf("captured for a batch of %d", graphs[0].Batch)
	}
	graphs[0].Batch = 16
	if j, err := capture.Join(tr, graphs); err == nil {
		t.Errorf("a capture of batch 16 for a replay of 32: %+v", j)
	}
}

// What decides who is whose partner beside names: the unit of a batch, several streams, numbers of nodes, and where names are missing kinds and
// what compiled kernels are called.
func TestPartners(t *testing.T) {
	type kernel struct {
		name   string
		stream int64
		at     int64
	}
	for what, c := range map[string]struct {
		annotation, file string
		iteration        string
		launches         []string // "": a CUDA call, which tells no name; then of an operator of the same place
		operators        []string
		kernels          []kernel
		nodes            bool
		want             string // operators of the kernels by place in the list
		fails            string
	}{
		"tokens of prompts":  {"capture_64_PIECEWISE", "", "execute_context_9(8155)_generation_37(37)", []string{"a"}, []string{"x"}, []kernel{{"a", 7, 50}}, false, "", "captured for a batch of 64, and a batch of 8192 is replayed"},
		"as many tokens":     {"capture_8192_PIECEWISE", "", "execute_context_9(8155)_generation_37(37)", []string{"a"}, []string{"x"}, []kernel{{"a", 7, 50}}, false, "x", ""},
		"requests by file":   {"capture_16_DECODE", "bs_16.json", "step[TARGET_VERIFY bs=16 g_sq=64]", []string{"a"}, []string{"x"}, []kernel{{"a", 7, 50}}, false, "x", ""},
		"file and name":      {"capture_64_DECODE", "bs_16.json", "step[DECODE bs=32]", []string{"a"}, []string{"x"}, []kernel{{"a", 7, 50}}, false, "", "a batch of 16, and a batch of 32"},
		"name and file":      {"capture_16_DECODE", "bs_32.json", "step[DECODE bs=32]", []string{"a"}, []string{"x"}, []kernel{{"a", 7, 50}}, false, "", "a batch of 16, and a batch of 32"},
		"requests by name":   {"capture_graph_bs_16", "", "decode[bs=16 tok=64 d=16 spec=3]", []string{"a"}, []string{"x"}, []kernel{{"a", 7, 50}}, false, "x", ""},
		"too few requests":   {"capture_graph_bs_8", "", "decode[bs=16 tok=64 d=16 spec=3]", []string{"a"}, []string{"x"}, []kernel{{"a", 7, 50}}, false, "", "a batch of 8, and a batch of 16"},
		"another stream":     {"", "", "step[DECODE bs=4]", []string{"a", "b", "a", "c"}, []string{"x", "y", "z", "w"}, []kernel{{"b", 8, 40}, {"a", 7, 50}, {"a", 7, 60}, {"c", 7, 70}}, false, "y x z w", ""},
		"CUDA, one stream":   {"", "", "step[DECODE bs=4]", []string{"", ""}, []string{"x", "y"}, []kernel{{"p", 7, 50}, {"q", 7, 60}}, false, "x y", ""},
		"CUDA, two streams":  {"", "", "step[DECODE bs=4]", []string{"", ""}, []string{"x", "y"}, []kernel{{"p", 7, 50}, {"q", 8, 60}}, false, "", "those of the replay are of several streams"},
		"CUDA, nodes":        {"", "", "step[DECODE bs=4]", []string{"", ""}, []string{"x", "y"}, []kernel{{"q", 8, 50}, {"p", 7, 60}}, true, "y x", ""},
		"CUDA, one too many": {"", "", "step[DECODE bs=4]", []string{"", "", ""}, []string{"x", "y", "z"}, []kernel{{"p", 7, 50}, {"q", 7, 60}}, false, "", "the names of the operations differ"},
		"CUDA, compiled":     {"", "", "step[DECODE bs=4]", []string{"", ""}, []string{"x", "triton_poi_1"}, []kernel{{"p", 7, 50}, {"triton_poi_1", 7, 60}}, false, "x triton_poi_1", ""},
		"CUDA, not the same": {"", "", "step[DECODE bs=4]", []string{"", ""}, []string{"x", "triton_poi_1"}, []kernel{{"triton_poi_1", 7, 50}, {"p", 7, 60}}, false, "", "the names of the operations differ"},
		"before recording":   {"", "", "", []string{"a"}, []string{"x"}, []kernel{{"a", 7, 50}}, false, "x", ""},
	} {
		b := testtrace.New()
		main := b.Thread(1, 1, "main")
		if c.annotation != "" {
			main.Annotation(c.annotation, 0, 1000)
		}
		main.Call("StreamBeginCapture", 10, 5, 1)
		for i, name := range c.launches {
			at := int64(i)*100 + 20
			main.Op(c.operators[i], at, 60)
			if e := main.Call("cudaLaunchKernel", at+20, 10, int64(i+2)); name != "" {
				e.Arg("kernel", name)
			}
		}
		main.Call("StreamEndCapture", 950, 5, 1000)
		graphs := capture.Find(b.Parse(t), c.file)
		b = testtrace.New()
		b.NoFlows = true
		if main = b.Thread(1, 1, "main"); c.iteration != "" {
			main.Annotation(c.iteration, 0, 1000)
		}
		main.Launch("cudaGraphLaunch", 10, 20, 7)
		for i, k := range c.kernels {
			if e := b.Stream(0, k.stream).Kernel(k.name, k.at, 8, 7); c.nodes {
				e.Arg("graph node id", len(c.kernels)-i)
			}
		}
		tr := b.Parse(t)
		j, err := capture.Join(tr, graphs)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, want one with %q", what, err, c.fails)
			}
			continue
		}
		var got []string
		for id := range tr.Events {
			if o := tr.Origin(trace.EventID(id)); o != nil {
				got = append(got, tr.Str(o.Operator))
			}
		}
		if err != nil || strings.Join(got, " ") != c.want || (j.ByOrder > 0) != (c.launches[0] == "") {
			t.Errorf("%s: %v, %+v, %v, want %s", what, got, j, err, c.want)
		}
	}
}

// An iteration that began before the recording has the last of the layers.
func TestJoinsTheLastLayers(t *testing.T) {
	var graphs []capture.Graph
	for i := range 3 {
		_, of := made(t, 8, 8, []string{"a", "b"}, nil)
		graphs = append(graphs, capture.Find(of, "")...)
		for k := range graphs[i].Nodes {
			graphs[i].Nodes[k].Module = fmt.Sprint("layer", i)
		}
	}
	b := testtrace.New()
	main, stream := b.Thread(1, 1, "main"), b.Stream(0, 7)
	for i := range int64(5) { // two, and three in an iteration
		main.Launch("hipGraphLaunch", 100*i+10, 20, i+1)
		stream.Kernel("a", 100*i+40, 10, i+1)
		stream.Kernel("b", 100*i+60, 10, i+1)
	}
	main.Annotation("step[DECODE bs=8]", 200, 900)
	tr := b.Parse(t)
	if _, err := capture.Join(tr, graphs); err != nil {
		t.Fatal(err)
	}
	var got []string
	for id := range tr.Events {
		if tr.Name(trace.EventID(id)) == "a" {
			got = append(got, tr.Str(tr.Origin(trace.EventID(id)).Module))
		}
	}
	if want := []string{"layer1", "layer2", "layer0", "layer1", "layer2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
