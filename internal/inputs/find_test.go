package inputs

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// madeTrace is a trace of one slice, whose name says which trace it is.
func madeTrace(name string) []byte {
	return fmt.Appendf(nil, `{"traceEvents":[{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":1,"dur":1}]}`, name)
}

func tarOf(names ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		text := madeTrace(name)
		w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))})
		w.Write(text)
	}
	w.Close()
	return b.Bytes()
}

func zipOf(names ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, _ := w.Create(name)
		f.Write(madeTrace(name))
	}
	w.Close()
	return b.Bytes()
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

var (
	made3    = madeTrace("a")
	dumpText = []byte(`{"version":"2.4","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}},"entries":[{"collective_seq_id":1,"pg_id":0,"process_group":["0","default_pg"],"profiling_name":"nccl:all_reduce","state":"completed","input_sizes":[[4]],"time_created_ns":1}]}`)
)

// inFolder puts the process into a folder with files of all kinds.
func inFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range map[string][]byte{
		"job/rank10.json": madeTrace("rank10"), "job/rank2.json": madeTrace("rank2"), "job/rank1.json.gz": packed(madeTrace("rank1")),
		"job/notes.txt": nil, "job/.hidden.json": nil, "job/x.overlaid.pftrace": nil, "job/below/rank5.json": madeTrace("rank5"),
		"one/a.json": madeTrace("a"), "outer/in/a.json": madeTrace("a"), "outer/in/b.json": madeTrace("b"), "outer/.git/c.json": nil, "none/notes.txt": nil,
		"outer3/in/a.json": made3, "outer3/in/b.json": made3, "outer3/in/c.json": made3, "outer3/other/a.json": made3,
		"dumps/nccl_trace_rank_0": dumpText, "dumps/nccl_trace_rank_1": dumpText, "dumps/notes.txt": nil, "nccl_trace_rank_x": dumpText,
		"records/steps.csv": nil, "alone.txt": madeTrace("alone"), "empty.tar": tarOf("notes.txt"),
		"pair.tar": tarOf("rank1.json", "notes.txt", "rank0.json"), "pair.tgz": packed(tarOf("rank1.json", "rank0.json")), "pair.zip": zipOf("rank1.json", "__MACOSX/rank1.json", "rank0.json"),
		"same.zip": zipOf("rank0.json", "rank0.json"), "single.zip": zipOf("a.json"), "cut.tar": tarOf("rank0.json", "rank1.json")[:1580], "broken.zip": []byte("PK\x03\x04 and nothing more"),
		"tables/run=a b/rank=1/events.parquet": nil, "tables/run=a b/rank=0/events.parquet": nil, "tables/run=a b/rank=x/events.parquet": nil,
		"sums/run=a%2Fb/rank=0/summary.parquet":       nil,
		"jax/plugins/profile/2026_01_02/h0.xplane.pb": nil, "jax/plugins/profile/2026_01_02/h0.trace.json.gz": nil, "jax/plugins/profile/2026_01_02/perfetto_trace.json.gz": nil,
		"jax/plugins/profile/2026_01_02/h1.xplane.pb": nil, "jax/plugins/profile/2026_01_02/h2.trace.json.gz": nil, "jax2/plugins/profile/1/h.xplane.pb": nil, "jax2/plugins/profile/2/h.xplane.pb": nil,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFind: what inputs name, in order, or what is wrong with them.
func TestFind(t *testing.T) {
	inFolder(t)
	for _, c := range []struct{ inputs, want string }{
		{"job", "job/rank1.json.gz job/rank10.json job/rank2.json; 2 other; many"},
		{"one", "one/a.json"},
		{"one/a.json ./one/a.json", "one/a.json"},
		{"one/a.json job/rank2.json one", "one/a.json job/rank2.json; many"},
		{"job/rank*", "job/rank1.json.gz job/rank10.json job/rank2.json; many"},
		{"job/*", "job/rank1.json.gz job/rank10.json job/rank2.json; 4 other; many"},
		{"alone*", "alone.txt"},
		{"alone.txt", "alone.txt"},
		{"*.tgz", "pair.tgz (archive); many"},
		{"pair.tar", "pair.tar (archive); many"},
		{"pair.zip", "pair.zip (archive); many"},
		{"single.zip", "single.zip (archive)"},
		{"empty.tar", "empty.tar (archive)"},
		{"cut.tar", "cut.tar (archive); many"},
		{"-", "-"},
		{"- one", "error standard input is one trace: it cannot be read together with other inputs"},
		{"nothing*", "error nothing*: no file matches"},
		{"none/[", "error none/[: a broken pattern: in it, [ needs its ]"},
		{"missing.json", "error no file missing.json; check the name"},
		{"none", "error none/: no traces (looked for *.json and *.pftrace, also .gz and .zst): give a folder that holds some"},
		{"outer", "error outer/: no traces here, but in its folders in (2): give one of them"},
		{"outer3", "error outer3/: no traces here, but in its folders in (3), other (1): give one of them"},
		{"jax", "jax/plugins/profile/2026_01_02/h0.xplane.pb jax/plugins/profile/2026_01_02/h1.xplane.pb jax/plugins/profile/2026_01_02/h2.trace.json.gz; many"},
		{"jax2", "error jax2/: no traces here, but in its folders plugins/profile/1 (1), plugins/profile/2 (1): give one of them"},
		{"jax/plugins/profile/2026_01_02/perfetto_trace.json.gz", "jax/plugins/profile/2026_01_02/perfetto_trace.json.gz"},
		{"sums", "; many"},
		{"records/", "error records/: no traces here; coarse records of a job are one file: give it by name, as records/steps.csv"},
		{"tables", "error tables/: tables that 'overlay export' wrote, no traces: ask them with 'overlay query'; 'overlay report' reads those of --tables summary"},
	} {
		f, err := FindRanks(strings.Fields(c.inputs))
		if got := found(f, err); got != c.want {
			t.Errorf("%s: %s, want %s", c.inputs, got, c.want)
		}
	}
	sets, others := SummarySets([]string{"sums", "sums/run=a%2Fb", "tables", "one"})
	if got := fmt.Sprint(sets, others); got != "[{a/b 0 sums/run=a%2Fb/rank=0} {a/b 0 sums/run=a%2Fb/rank=0}] [tables one]" {
		t.Errorf("summaries %s", got)
	}
	if got := fmt.Sprint(SetsIn("tables")); got != "[{a b 0 tables/run=a b/rank=0} {a b 1 tables/run=a b/rank=1}]" {
		t.Errorf("sets %s", got)
	}
	if f, err := FindRanks([]string{"sums", "one"}); err != nil || len(f.Sets) != 1 || len(f.Files) != 1 || !f.Many(0) || f.Shown != "sums one" {
		t.Errorf("summaries beside a trace: %+v, %v", f, err)
	}
	if got := Partition("a/b c", 7); got != filepath.Join("run=a%2Fb%20c", "rank=7") {
		t.Errorf("partition %s", got)
	}
}

// found is what was found in a line.
func found(f *Found, err error) string {
	if err != nil {
		return "error " + err.Error()
	}
	var names []string
	for i := range f.Files {
		name := f.Files[i].Path
		if f.Files[i].archive != noArchive {
			name += " (archive)"
		}
		names = append(names, name)
	}
	s := strings.Join(names, " ")
	if f.Other > 0 {
		s += fmt.Sprintf("; %d other", f.Other)
	}
	if f.Many(0) {
		s += "; many"
	}
	return s
}

func testReader() *Reader { return NewReader(nil, 2, kineto.Options{}) }

// TestOnlyTrace: commands that take one trace find it in a folder, a pattern or an archive, and refuse several.
func TestOnlyTrace(t *testing.T) {
	inFolder(t)
	for _, c := range []struct{ input, want string }{
		{"one", "a"}, {"one/*.json", "a"}, {"single.zip", "a.json"}, {"alone.txt", "alone"}, {"job/rank1.json.gz", "rank1"},
		{"job", "error job holds 3 traces, and this command takes one: give it by name, as in job/rank1.json.gz; 'overlay check' lists them, 'overlay report' and 'overlay run' take them all"},
		{"pair.tar", "error pair.tar holds several traces, and this command takes one: unpack it and give one; 'overlay check' lists them"},
		{"empty.tar", "error empty.tar: no traces in this archive (looked for *.json and *.pftrace, also .gz and .zst; a table of coarse records has to be unpacked)"},
		{"broken.zip", "error broken.zip: the archive is broken or cut: zip: not a valid zip file"},
		{"missing.json", "error no file missing.json; check the name"},
		{"one/a.json/x", "error no file one/a.json/x; check the name"},
	} {
		tr, err := testReader().Load(c.input)
		got := ""
		if err != nil {
			got = "error " + err.Error()
		} else {
			got = tr.Name(0)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.input, got, c.want)
		}
	}
}

// TestTarOfStream: an archive that comes over standard input is called one, packed or not.
func TestTarOfStream(t *testing.T) {
	inFolder(t)
	for _, name := range []string{"pair.tar", "pair.tgz"} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, stdin := range []io.Reader{f, bufio.NewReader(f)} { // a file as a shell gives it, and a pipe
			f.Seek(0, io.SeekStart)
			if _, err := NewReader(stdin, 1, kineto.Options{}).Load("-"); fmt.Sprint(err) != "standard input is a tar archive: give it by name, or unpack it" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestEach: every trace of files and archives is used once, in the order of the inputs, and can be read again; ranks come from names.
func TestEach(t *testing.T) {
	inFolder(t)
	for _, c := range []struct{ inputs, want, named string }{
		{"job", "job/rank1.json.gz=rank1 job/rank10.json=rank10 job/rank2.json=rank2", "job/1 job/10 job/2"},
		{"pair.tar", "pair.tar/rank1.json=rank1.json pair.tar/rank0.json=rank0.json", "pair/1 pair/0"},
		{"pair.tgz one", "pair.tgz/rank1.json=rank1.json pair.tgz/rank0.json=rank0.json one/a.json=a", "pair/1 pair/0 one/0"},
		{"pair.zip", "pair.zip/rank1.json=rank1.json pair.zip/rank0.json=rank0.json", "pair/1 pair/0"},
		{"same.zip", "same.zip/rank0.json=rank0.json same.zip/rank0.json (number 2)=rank0.json", "error same.zip/rank0.json and same.zip/rank0.json (number 2) are both rank 0 of run same: give one of them by itself with --rank N, or another --run"},
		{"cut.tar", "cut.tar/rank0.json=rank0.json cut.tar/rank1.json! cut.tar!", ""},
		{"one job/notes.txt", "one/a.json=a job/notes.txt!", ""},
		{"empty.tar", "empty.tar!", ""},
	} {
		for _, how := range []How{{}, {InTurn: true}, {Keep: true}} {
			f, err := Find(strings.Fields(c.inputs))
			if err != nil {
				t.Fatal(err)
			}
			all := Each(testReader(), f, how, func(x *Item) (string, error) { return strings.Clone(x.Trace.Name(0)), nil })
			var got []string
			want := map[string]int32{}
			for i, e := range all.Entries {
				if e.Fault != "" {
					got = append(got, e.Name+"!")
				} else {
					got = append(got, e.Name+"="+all.Of[i])
					want[e.Name] = int32(i)
				}
			}
			fails := strings.Contains(c.want, "!")
			if s := strings.Join(got, " "); s != c.want && (how.InTurn && !fails || !how.InTurn) || how.InTurn && fails != (all.Err != nil) {
				t.Errorf("%s, %+v: %s, %v; want %s", c.inputs, how, s, all.Err, c.want)
			}
			if how.InTurn && fails {
				continue
			}
			list, err := f.Name(all.Entries, all.File, "", -1)
			var named []string
			for _, s := range list {
				named = append(named, fmt.Sprintf("%s/%d", s.Run, s.Rank))
			}
			if s := strings.Join(named, " "); !fails && (err != nil && "error "+err.Error() != c.named || err == nil && s != c.named) {
				t.Errorf("%s: named %s, %v; want %s", c.inputs, s, err, c.named)
			}
			again := map[int32]string{}
			err = testReader().Again(f, want, func(i int32, tr *trace.Trace) error {
				again[i] = tr.Name(0)
				return nil
			})
			if err != nil && !fails || len(again) != len(want) {
				t.Errorf("%s: read again: %v, %v; want %v", c.inputs, again, err, want)
			}
			for i, name := range again {
				if name != all.Of[i] {
					t.Errorf("%s: entry %d read again is %s, was %s", c.inputs, i, name, all.Of[i])
				}
			}
		}
	}
	f, _ := Find([]string{"job"})
	f.Sort()
	if got := found(f, nil); got != "job/rank1.json.gz job/rank2.json job/rank10.json; 2 other; many" {
		t.Errorf("sorted: %s", got)
	}
	stop := errors.New("stop")
	used := 0
	if all := Each(testReader(), f, How{InTurn: true}, func(*Item) (int, error) { used++; return 0, stop }); !errors.Is(all.Err, stop) || used != 1 {
		t.Errorf("after an error in turn: %d used, %v", used, all.Err)
	}
	for _, c := range []struct {
		rank int64
		want string
	}{{7, "[{r 7 job/rank1.json.gz}] <nil>"}, {0, "[{r 0 job/rank1.json.gz}] <nil>"}, {-1, "[{r 1 job/rank1.json.gz}] <nil>"}} {
		one, _ := Find([]string{"job/rank1.json.gz"})
		all := Each(testReader(), one, How{}, func(*Item) (int, error) { return 0, nil })
		list, err := one.Name(all.Entries, all.File, "r", c.rank)
		if got := fmt.Sprint(list, " ", err); got != c.want {
			t.Errorf("rank %d: %s, want %s", c.rank, got, c.want)
		}
	}
}

// TestDumps: dumps of flight recorders are told from traces, alone or in a folder, and what else is named is given back.
func TestDumps(t *testing.T) {
	inFolder(t)
	for _, c := range []struct{ inputs, want string }{
		{"dumps", "0 1|"}, {"dumps/nccl_trace_rank_1", "1|"}, {"one", "|one"}, {"one/a.json", "|one/a.json"}, {"-", "|-"}, {"missing", "|missing"}, {"none", "|none"},
		{"nccl_trace_rank_x", "error nccl_trace_rank_x: a dump of a flight recorder, and its name does not end with its rank, as in trace_rank_7"},
		{"dumps/nccl_trace_rank_1 one/a.json", "1|one/a.json"},
	} {
		list, rest, err := Dumps(strings.Fields(c.inputs))
		var ranks []string
		for _, d := range list {
			ranks = append(ranks, fmt.Sprint(d.Rank))
		}
		got := strings.Join(ranks, " ") + "|" + strings.Join(rest, " ")
		if err != nil {
			got = "error " + err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.inputs, got, c.want)
		}
	}
}
