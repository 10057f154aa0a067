package relations_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/relations"
	"overlay/internal/sqlquery"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// threeSteps is three steps of the same work, so that a window of the second one has something of each kind before it, in it, at its
// borders and behind it; and what columns treat otherwise than most: halves of slices, broken groups, two devices, odd arguments.
func threeSteps(t testing.TB) *trace.Trace {
	b := testtrace.New()
	b.NoFlows = true
	main, engine, loader, gpu, comm, other := b.Thread(100, 100, "python"), b.Thread(100, 200, "pt_autograd_0"), b.Thread(100, 300, ""), b.Stream(0, 7), b.Stream(0, 20), b.Stream(1, 9)
	for k := range int64(3) {
		at, c := k*1_000_000, 10*k
		main.Annotation(fmt.Sprintf("ProfilerStep#%d", 4+k), at, 1_000_000)
		loader.Op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at+1_000, 7_000)
		main.Frame("nn.Module: Net_0", at+10_000, 300_000)
		main.Frame("nn.Module: Linear_0", at+20_000, 100_000)
		main.Frame("train.py(7): step", at+25_000, 80_000)
		main.Op("aten::mm", at+30_000, 50_000).Arg("Sequence number", 7+c).Arg("Fwd thread id", 0).Arg("External id", 70+c)
		main.Launch("cudaLaunchKernel", at+40_000, 5_000, c+1).Arg("External id", 70+c)
		gpu.Kernel("gemm", at+50_000, 60_000, c+1).Arg("External id", 70+c)
		main.Annotation("loss", at+200_000, 30_000)
		main.Op("aten::nll_loss", at+205_000, 20_000).Arg("Sequence number", 8+c).Arg("Fwd thread id", 0)
		main.Launch("cudaMemcpyAsync", at+210_000, 5_000, c+2)
		gpu.Memcpy("Memcpy DtoH (Device -> Pageable)", at+212_000, 3_000, c+2)
		engine.Op("autograd::engine::evaluate_function: MmBackward0", at+400_000, 100_000).Arg("Sequence number", 7+c).Arg("Fwd thread id", 1)
		engine.Op("MmBackward0", at+410_000, 80_000).Arg("Sequence number", 7+c).Arg("Fwd thread id", 1)
		engine.Op("aten::mm", at+415_000, 40_000)
		engine.Launch("cudaLaunchKernel", at+420_000, 5_000, c+3)
		gpu.Kernel("gemm", at+430_000, 200_000, c+3)
		engine.Launch("cudaLaunchKernel", at+510_000, 5_000, c+4)
		comm.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", at+520_000, 160_000, c+4).Arg("Collective name", "allreduce").Arg("In msg nelems", 1000).Arg("Out msg nelems", 1000).
			Arg("Group size", 4).Arg("dtype", "Float").Arg("Process Group Name", "dp").Arg("Process Group Ranks", "[0, 1, 2, 3]").Arg("Seq", 40+k).Arg("Process Group Description", "default_pg")
		comm.Kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", at+690_000, 10_000, 0).Arg("Group size", 9).Arg("Process Group Name", "cut").Arg("Process Group Ranks", "[0, 1, ...]")
		other.Kernel("ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", at+700_000, 0, 0).Arg("Group size", 2).Arg("Process Group Name", "two").Arg("Process Group Ranks", "[1, -2]")
		main.Op("Optimizer.step#SGD.step", at+710_000, 60_000)
		main.Launch("cudaLaunchKernel", at+720_000, 5_000, c+5)
		other.Kernel("adam", at+725_000, 20_000, c+5)
		main.Call("cudaDeviceSynchronize", at+780_000, 50_000, c+6)
		gpu.Kernel("late", at+1_000_000, 10_000, 0) // starts with the next step, as the next one does
		comm.Kernel("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", at+1_000_000, 5_000, 0)
		b.Counter(100, "GPU memory", at+5_000, "allocated", 12+k)
		b.Element(fmt.Sprintf(`{"ph":"C","name":"odd","pid":100,"tid":1,"ts":%d,"args":{"a":1.5,"deep":{"b":2},"list":[3],"text":"x","c":-1}}`, at/1000+6))
		b.Element(fmt.Sprintf(`{"ph":"B","cat":"cpu_op","name":"half","pid":100,"tid":400,"ts":%d}`, at/1000+900))
		b.Element(fmt.Sprintf(`{"ph":"E","pid":100,"tid":400,"ts":%d}`, at/1000+950))
	}
	b.Element(`{"ph":"E","pid":100,"tid":400,"ts":2960}`)
	b.Element(`{"ph":"B","cat":"cpu_op","name":"open","pid":100,"tid":400,"ts":2970}`)
	b.Element(`{"ph":"X","cat":"cpu_op","name":"args","pid":100,"tid":"worker","ts":1300,"dur":1,"args":{"n":-1.50,"big":123456789012345678901,"t":true,"f":false,"nothing":null,"nan":NaN,"text":"a\"b\\c\u0001\u007f","list":[1,[2,{"x":"y"}],[]],"object":{}}}`)
	b.Element(`{"ph":"X","cat":"cpu_op","name":"none","pid":100,"tid":"worker","ts":1310,"dur":1,"args":{}}`)
	return b.Parse(t)
}

// TestValues prints every value of every table, of a window.
func TestValues(t *testing.T) {
	var b strings.Builder
	for _, o := range []cdg.Options{{}, {Step: "5"}} {
		g, err := graph.Build(threeSteps(t), o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := critpath.Exact(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range relations.Tables(relations.Source{Graph: g, Path: p, File: "x.json", Format: "kineto", Version: "test", Args: true}) {
			if table.Name == "runs" || o.Step != "" && table.Name != "segments" { // the path says itself what it is made of
				fmt.Fprintf(&b, "\n%s %q\n", table.Name, o.Step)
				print(&b, &table)
			}
		}
	}
	const file = "testdata/values.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("other values than in %s (go test -update writes it):\n%s", file, d)
	}
}

// print writes a table as CSV.
func print(b *strings.Builder, t *columns.Table) {
	out := sqlquery.NewEncoder("csv", b, nil)
	names := make([]string, len(t.Cols))
	for i := range t.Cols {
		names[i] = t.Cols[i].Name
	}
	out.Begin(names)
	row := make([]sqlquery.Value, len(names))
	for i := range t.Rows {
		for c := range t.Data {
			row[c] = nil
			switch d := &t.Data[c]; t.Cols[c].Type {
			case columns.Text:
				if s, ok := d.Text(i); ok {
					row[c] = s
				}
			case columns.Float64:
				if f, ok := d.Float(i); ok {
					row[c] = f
				}
			default:
				if n, ok := d.Int(i); ok {
					row[c] = n
				}
			}
		}
		out.Row(row)
	}
	out.End()
}
