package relations_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/graph"
	"overlay/internal/parquetfile"
	"overlay/internal/relations"
	"overlay/internal/sqlquery"
	"overlay/internal/tables"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

var update = flag.Bool("update", false, "rewrite docs/reference/tables-sql.md and the golden list of columns")

// solved makes all tables of a trace, with arguments.
func solved(t testing.TB, tr *trace.Trace, method critpath.Method) (*graph.Graph, *critpath.Path, []columns.Table) {
	t.Helper()
	g := testtrace.Graph(t, tr)
	if g.Window.End <= g.Window.Start {
		t.Skip("nothing to analyse")
	}
	p, err := method(g)
	if err != nil {
		t.Fatal(err)
	}
	return g, p, relations.Tables(relations.Source{Graph: g, Path: p, File: "x.json", Format: "kineto", Version: "test", Args: true})
}

// eachTrace runs a test on made traces and on the real ones that are at hand.
func eachTrace(t *testing.T, test func(t *testing.T, tr *trace.Trace)) {
	for _, m := range testtrace.Made(t) {
		t.Run(m.Name, func(t *testing.T) { test(t, m.Trace) })
	}
	t.Run("modules", func(t *testing.T) { test(t, modules(t)) })
	for _, file := range corpus.Find(t) {
		t.Run(filepath.Base(file), func(t *testing.T) { test(t, testtrace.Read(t, file)) })
	}
}

// modules is a step with calls of modules, their backward pass, collectives of which one is hidden, and counters.
func modules(t testing.TB) *trace.Trace {
	b := testtrace.New()
	b.NoFlows = true // args go to the event added last
	main, engine, gpu, comm := b.Thread(100, 100, "python"), b.Thread(100, 200, "pt_autograd_0"), b.Stream(0, 7), b.Stream(0, 20)
	main.Annotation("ProfilerStep#4", 0, 1000_000)
	main.Frame("nn.Module: Net_0", 10_000, 300_000)
	main.Frame("nn.Module: Linear_0", 20_000, 100_000)
	main.Op("aten::mm", 30_000, 50_000).Arg("Sequence number", 7).Arg("Fwd thread id", 0)
	main.Launch("cudaLaunchKernel", 40_000, 5_000, 1)
	gpu.Kernel("gemm", 50_000, 60_000, 1)
	main.Frame("nn.Module: Linear_1", 150_000, 100_000)
	main.Op("aten::mm", 160_000, 50_000).Arg("Sequence number", 8).Arg("Fwd thread id", 0)
	main.Launch("cudaLaunchKernel", 170_000, 5_000, 2)
	gpu.Kernel("gemm", 180_000, 40_000, 2)
	engine.Op("autograd::engine::evaluate_function: MmBackward0", 400_000, 100_000).Arg("Sequence number", 8).Arg("Fwd thread id", 1)
	engine.Op("MmBackward0", 410_000, 80_000).Arg("Sequence number", 8).Arg("Fwd thread id", 1)
	engine.Launch("cudaLaunchKernel", 420_000, 5_000, 3)
	gpu.Kernel("gemm", 430_000, 30_000, 3)
	engine.Op("autograd::engine::evaluate_function: MmBackward0", 520_000, 100_000).Arg("Sequence number", 7).Arg("Fwd thread id", 1)
	engine.Launch("cudaLaunchKernel", 530_000, 5_000, 4)
	gpu.Kernel("gemm", 540_000, 90_000, 4)
	engine.Launch("cudaLaunchKernel", 600_000, 5_000, 5)
	comm.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 610_000, 60_000, 5).Arg("Collective name", "allreduce").
		Arg("In msg nelems", 1000).Arg("Out msg nelems", 1000).Arg("Group size", 4).Arg("dtype", "Float").Arg("Process Group Name", "dp").Arg("Process Group Ranks", "[0, 1, 2, 3]")
	main.Op("record_param_comms", 700_000, 20_000).Arg("Collective name", "_allgather_base").Arg("In msg nelems", 10).Arg("Out msg nelems", 40).Arg("Group size", 4).Arg("dtype", "Half")
	main.Launch("cudaLaunchKernel", 705_000, 5_000, 6)
	comm.Kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 730_000, 10_000, 6)
	b.Counter(100, "GPU memory", 5_000, "allocated", 12)
	b.Counter(100, "GPU memory", 6_000, "allocated", 13)
	return b.Parse(t)
}

func find(t testing.TB, list []columns.Table, name string) *columns.Table {
	t.Helper()
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	t.Fatalf("no table %s", name)
	return nil
}

func data(t testing.TB, table *columns.Table, column string) *columns.Data {
	t.Helper()
	for i := range table.Cols {
		if table.Cols[i].Name == column {
			return &table.Data[i]
		}
	}
	t.Fatalf("%s has no column %s", table.Name, column)
	return nil
}

func sum(t testing.TB, table *columns.Table, column string, where func(row int) bool) (total int64) {
	d := data(t, table, column)
	for i := range table.Rows {
		if where == nil || where(i) {
			v, _ := d.Int(i)
			total += v
		}
	}
	return total
}

// TestTables checks each table against trace, graph and path: rows, sums, references, and what its columns promise.
func TestTables(t *testing.T) {
	eachTrace(t, func(t *testing.T, tr *trace.Trace) {
		g, p, list := solved(t, tr, critpath.Exact)
		for i := range list {
			checkColumns(t, &list[i], len(tr.Events))
		}
		events, segments, nodes, steps, spans := find(t, list, "events"), find(t, list, "segments"), find(t, list, "nodes"), find(t, list, "steps"), find(t, list, "spans")
		complete, begins := 0, 0
		for i := range tr.Events {
			switch tr.Events[i].Ph {
			case 'X':
				complete++
			case 'B':
				begins++
			}
		}
		if events.Rows < complete || events.Rows > complete+begins || segments.Rows != p.Segments.Len() || nodes.Rows != len(g.Nodes) || find(t, list, "tracks").Rows != len(tr.Tracks) {
			t.Errorf("%d events, %d segments, %d nodes", events.Rows, segments.Rows, nodes.Rows)
		}
		if got := sum(t, events, "critical_ns", nil); got != p.Covered {
			t.Errorf("events: critical_ns sums to %d, the path covers %d", got, p.Covered)
		}
		if got, want := sum(t, segments, "dur_ns", nil), g.Window.End-g.Window.Start; got != want {
			t.Errorf("segments: dur_ns sums to %d of %d", got, want)
		}
		inNodes := int64(0)
		for _, m := range p.Marks.All() {
			if g.NodeOf[m.Event] >= 0 {
				inNodes += m.NS
			}
		}
		kind := data(t, spans, "kind")
		phases := sum(t, spans, "critical_ns", func(i int) bool { s, _ := kind.Text(i); return s == "phase" })
		if got := sum(t, nodes, "critical_ns", nil); got != inNodes || phases != inNodes {
			t.Errorf("critical_ns of nodes sums to %d, that of phases to %d of %d", got, phases, inNodes)
		}
		if steps.Rows > 0 {
			total := int64(0)
			for c := range critpath.NumClasses {
				total += sum(t, steps, c.String()+"_ns", nil)
			}
			if want := sum(t, steps, "dur_ns", nil); total != want {
				t.Errorf("steps: classes sum to %d of %d", total, want)
			}
		}
		stored := 0
		for i := range g.Waits {
			if g.Waits[i].From != cdg.NoAct {
				stored++
			}
		}
		if edges := find(t, list, "edges"); edges.Rows > stored || edges.Rows == 0 && stored > 0 {
			t.Errorf("%d edges of %d waits", edges.Rows, stored)
		}
		selfTimes(t, g, events)
	})
}

// checkColumns reads every value: nulls only where they are allowed, rising columns rise, 32 bits are enough, references
// lead to events.
func checkColumns(t *testing.T, table *columns.Table, events int) {
	t.Helper()
	if len(table.Cols) != len(table.Data) {
		t.Fatalf("%s: %d columns, %d of data", table.Name, len(table.Cols), len(table.Data))
	}
	for c := range table.Cols {
		col, d := &table.Cols[c], &table.Data[c]
		last := int64(-1 << 63)
		for i := range table.Rows {
			var v int64
			var ok bool
			switch col.Type {
			case columns.Text:
				_, ok = d.Text(i)
			case columns.Float64:
				_, ok = d.Float(i)
			default:
				v, ok = d.Int(i)
			}
			switch {
			case !ok && !col.Null:
				t.Fatalf("%s.%s: no value in row %d", table.Name, col.Name, i)
			case col.Rising && v < last:
				t.Fatalf("%s.%s: %d after %d", table.Name, col.Name, v, last)
			case ok && col.Type == columns.Int32 && int64(int32(v)) != v:
				t.Fatalf("%s.%s: %d in 32 bits", table.Name, col.Name, v)
			case ok && col.Unit == tables.Ref && (v < 0 || v >= int64(events)):
				t.Fatalf("%s.%s: event %d of %d", table.Name, col.Name, v, events)
			}
			last = v
		}
	}
}

// selfTimes wants the self times of a thread to be what of the window its slices cover.
func selfTimes(t *testing.T, g *graph.Graph, events *columns.Table) {
	self, event := data(t, events, "self_ns"), data(t, events, "event")
	got := map[cdg.LaneID]int64{}
	for i := range events.Rows {
		v, ok := self.Int(i)
		id, _ := event.Int(i)
		if a := g.ActOf[id]; ok != (a != cdg.NoAct) {
			t.Fatalf("event %d: self_ns is there: %v", id, ok)
		} else if ok {
			got[g.Acts[a].Lane] += v
		}
	}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if lane.Stream {
			continue
		}
		covered, end := int64(0), g.Window.Start
		for _, a := range g.Acts[lane.First:lane.Limit] { // by start
			from, to := max(a.Start, end), min(a.End, g.Window.End)
			covered += max(0, to-from)
			end = max(end, to)
		}
		if got[cdg.LaneID(l)] != covered {
			t.Errorf("thread %d: self times sum to %d of %d", l, got[cdg.LaneID(l)], covered)
		}
	}
}

// TestMethods makes tables of the paths of the other methods, which have holes.
func TestMethods(t *testing.T) {
	tr := testtrace.Read(t, corpus.Demo(t))
	for name, method := range map[string]critpath.Method{"ctda": critpath.CTDA, "hta": hta.Method(hta.Options{First: -1, Last: -1})} {
		_, _, list := solved(t, tr, method)
		for i := range list {
			checkColumns(t, &list[i], len(tr.Events))
		}
		if got, _ := data(t, find(t, list, "runs"), "method").Text(0); got != name {
			t.Errorf("method %s", got)
		}
	}
}

// TestWhatThingsAre asks the made trace what it was made of.
func TestWhatThingsAre(t *testing.T) {
	_, _, list := solved(t, modules(t), critpath.Exact)
	db := database(t, list)
	for _, c := range []struct{ sql, want string }{
		{"select module, stage, duration_ns, gpu_ns, step from spans where kind = 'module' order by ts_ns, duration_ns desc",
			"Net_0,forward,300000,100000,4 Linear_0,forward,100000,60000,4 Linear_1,forward,100000,40000,4 Net_0,backward,220000,180000,4 Linear_1,backward,100000,30000,4 Linear_0,backward,100000,150000,4"},
		{"select p.module from spans s join spans p on p.span = s.parent_span where s.module = 'Linear_1' and s.stage = 'forward'", "Net_0"},
		{"select op, process_group, ranks, bytes, dtype, exposed_ns, dur_ns, gb_per_s, bus_gb_per_s, peers from collectives order by event",
			`allreduce,dp,4,4000,Float,40000,60000,0.0666666666666667,0.1,"[0, 1, 2, 3]" _allgather_base,,4,80,Half,10000,10000,0.008,0.006,`},
		{"select ts_ns, counter, series, value from counters", "5000,GPU memory,allocated,12.0 6000,GPU memory,allocated,13.0"},
		{"select l.name, k.name from events k join events l on l.event = k.launch_event where k.correlation = 3 and k.kind = 'kernel'", "cudaLaunchKernel,gemm"},
		{"select p.name from events e join events p on p.event = e.parent_event where e.name = 'MmBackward0'", "autograd::engine::evaluate_function: MmBackward0"},
		{"select self_ns from events where name = 'nn.Module: Net_0'", "100000"},
		{"select device, stream, thread, process from events where name = 'gemm' limit 1", "0,7,stream 7,GPU 0"},
		{"select rule, evidence, count(*) from edges where rule = 'launch' group by 1, 2", "launch,correlation,6"},
		{"select process_group, peer, place from group_ranks", "dp,0,0 dp,1,1 dp,2,2 dp,3,3"},
		{"select host, device from runs", ",0"},
		{"select op, topology from collective_topology order by event", "allreduce, _allgather_base,"},
		{"select args from events where name = 'MmBackward0'", `"{""Sequence number"":8,""Fwd thread id"":1}"`},
	} {
		if got := ask(t, db, c.sql); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestTopology makes four ranks of the made trace and tells them apart in the ways in which traces do.
func TestTopology(t *testing.T) {
	sets := func(host func(rank int) string) (list []columns.Set) {
		for rank := range 4 {
			tr := modules(t)
			tr.Distributed.Host = host(rank)
			_, _, tables := solved(t, tr, critpath.Exact)
			list = append(list, columns.Set{Run: "r", Rank: int64(rank), Tables: tables})
		}
		return list
	}
	same := sets(func(int) string { return "" })
	for _, c := range []struct {
		what string
		sets []columns.Set
		want string
	}{
		{"one host", sets(func(int) string { return "a" }), "intra"},
		{"two hosts", sets(func(r int) string { return string(rune('a' + r/2)) }), "inter"},
		{"each says device 0, and no host", same, ""},
		{"a member is missing", sets(func(int) string { return "a" })[1:], ""},
	} {
		db, err := sqlquery.Open(relations.Empty(), c.sets, relations.Views, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := ask(t, db, "select distinct topology from collective_topology where op = 'allreduce'"); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		db.Close()
	}
}

func database(t testing.TB, list []columns.Table) *sqlquery.DB {
	t.Helper()
	db, err := sqlquery.Open(relations.Empty(), []columns.Set{{Run: "r", Rank: 0, Tables: list}}, relations.Views, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func ask(t testing.TB, db *sqlquery.DB, sql string) string {
	t.Helper()
	var b strings.Builder
	if err := db.Query(context.Background(), sql, sqlquery.NewEncoder("csv", &b, nil)); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	_, rows, _ := strings.Cut(b.String(), "\n")
	return strings.ReplaceAll(strings.TrimSuffix(rows, "\n"), "\n", " ")
}

// questions are queries that go through each table, index and view.
var questions = []string{
	"select count(*), sum(dur_ns), sum(critical_ns) from events",
	"select name, count(*), sum(critical_ns) as ns from events group by 1 order by 3 desc, 1 limit 10",
	"select class, evidence, count(*), sum(dur_ns) from segments group by 1, 2 order by 1, 2",
	"select count(*), sum(k.ts_ns - l.ts_ns) from events k join events l on l.event = k.launch_event",
	"select e.kind, count(*), sum(s.dur_ns) from segments s join events e on e.event = s.event group by 1 order by 1",
	"select rule, evidence, on_path, bound, count(*), sum(gap_ns), sum(from_event), sum(to_event) from edges group by 1, 2, 3, 4 order by 1, 2, 3, 4",
	"select * from steps", "select * from nodes", "select * from tracks", "select * from collectives", "select * from counters limit 500", "select * from spans", "select * from runs", "select * from group_ranks", "select * from collective_topology",
	"select name, count(*), sum(critical_ns), sum(critical_next) from overlay_critical group by 1 order by 1",
	"select kind, evidence, count(*), sum(dur) from overlay_segment group by 1, 2 order by 1, 2",
	"select args, self_ns from events where event % 97 = 0",
}

// TestSameThroughParquet asks the arrays in memory and what comes back from Parquet the same questions.
func TestSameThroughParquet(t *testing.T) {
	eachTrace(t, func(t *testing.T, tr *trace.Trace) {
		if len(tr.Events) > 50_000 && !corpus.Long() {
			t.Skip("part of make check: a large trace")
		}
		_, _, list := solved(t, tr, critpath.Exact)
		var back []columns.Table
		for i := range list {
			var b bytes.Buffer
			if err := parquetfile.Write(&b, &list[i], parquetfile.Options{Schema: relations.Schema}); err != nil {
				t.Fatal(err)
			}
			got, err := parquetfile.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), list[i], relations.Schema)
			if err != nil {
				t.Fatal(err)
			}
			back = append(back, got)
		}
		memory, files := database(t, list), database(t, back)
		for _, sql := range questions {
			if diff := cmp.Diff(ask(t, memory, sql), ask(t, files, sql)); diff != "" {
				t.Errorf("%s:\n%s", sql, diff)
			}
		}
	})
}

// TestSchemaStays compares tables and columns with a list: what is there is never renamed, retyped, moved or taken away,
// since files of earlier versions and queries of others rely on it. New columns go to the end of a table.
func TestSchemaStays(t *testing.T) {
	var b strings.Builder
	for _, table := range relations.Empty() {
		for _, c := range table.Cols {
			null := ""
			if c.Null {
				null = " null"
			}
			fmt.Fprintf(&b, "%s.%s %s%s\n", table.Name, c.Name, c.Type.SQL(), null)
			if c.About == "" {
				t.Errorf("%s.%s is not explained", table.Name, c.Name)
			}
		}
	}
	golden(t, "testdata/columns.txt", b.String())
}

// TestDocumented compares docs/reference/tables-sql.md with the definitions.
func TestDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The tables of `overlay query` and `overlay export`\n\nMade by a test from the definitions (`make update`); schema `" + relations.Schema + "`. ")
	b.WriteString("Every table begins with the columns `run` and `rank`; in exported\nfiles they are the names of the folders. Times are ns, a `time` is a moment on the trace's own clock, a `ref` the position of an event in\ntraceEvents of the same run and rank. Columns marked ° may be null.\n")
	for _, table := range relations.Empty() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n", table.Name, table.About)
		for _, c := range table.Cols {
			null := ""
			if c.Null {
				null = " °"
			}
			fmt.Fprintf(&b, "| %s%s | %s | %s | %s |\n", c.Name, null, strings.ToLower(c.Type.SQL()), c.Unit, c.About)
		}
	}
	golden(t, filepath.Join(corpus.Root(t), "docs", "reference", "tables-sql.md"), b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// TestPairs: a begin with its end is a row, those that lack the other are none.
func TestPairs(t *testing.T) {
	const events = `[
{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
{"ph": "B", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 10},
{"ph": "B", "cat": "cpu_op", "name": "c", "pid": 1, "tid": 1, "ts": 20},
{"ph": "B", "cat": "cpu_op", "name": "c", "pid": 1, "tid": 2, "ts": 21},
{"ph": "E", "pid": 1, "tid": 1, "ts": 30},
{"ph": "E", "name": "b", "pid": 1, "tid": 1, "ts": 40},
{"ph": "E", "name": "b", "pid": 1, "tid": 1, "ts": 50},
{"ph": "i", "s": "t", "name": "d", "pid": 1, "tid": 1, "ts": 60}]`
	tr := testtrace.Parse(t, []byte(events))
	_, _, list := solved(t, tr, critpath.Exact)
	table := find(t, list, "events")
	event, name, dur := data(t, table, "event"), data(t, table, "name"), data(t, table, "dur_ns")
	got := ""
	for i := range table.Rows {
		e, _ := event.Int(i)
		n, _ := name.Text(i)
		d, _ := dur.Int(i)
		got += fmt.Sprintf("%d %s %d; ", e, n, d)
	}
	if want := "0 a 100000; 1 b 30000; 2 c 10000; "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
