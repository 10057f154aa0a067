package inputs

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"overlay/internal/kineto"
)

// twoProcesses is a file in which two processes launched GPU work, as SGLang merges the traces of its ranks.
func twoProcesses() []byte {
	var b strings.Builder
	b.WriteString(`{"traceEvents":[`)
	for p := range 2 {
		fmt.Fprintf(&b, `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":"[TP0%d] 7","tid":7,"ts":1,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm%d","pid":"[TP0%d] 0","tid":7,"ts":3,"dur":2,"args":{"correlation":1,"device":0,"stream":7}},`, p, p, p)
	}
	return append([]byte(strings.TrimSuffix(b.String(), ",")), "]}"...)
}

// TestLoad: what a file is, its content says; what it cannot be read as is one error.
func TestLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	whole := packed(madeTrace("a"))
	for _, c := range []struct {
		name    string
		content []byte
		process string
		want    string
	}{
		{"a.json", madeTrace("a"), "", "1 events, a"},
		{"b.pftrace", madeTrace("by content"), "", "1 events, by content"},
		{"cut.json.gz", whole[:len(whole)-9], "", "1 events, a, cut"},
		{"empty.json", nil, "", "error empty.json: byte 0: the input is empty: expected a JSON trace"},
		{"one.json", madeTrace("a"), "rank0", "error one.json: --process rank0: only one process launched GPU work in this file, and it is read without the flag"},
		{"two.json", twoProcesses(), "", "error two.json: 2 processes launched GPU work in this file"},
		{"two.json", twoProcesses(), "TP01", "2 events, cudaLaunchKernel gemm1"},
		{"two.json.gz", packed(twoProcesses()), "TP00", "2 events, cudaLaunchKernel gemm0"},
		{"two.json", twoProcesses(), "TP02", "error two.json: no process TP02 launched GPU work in this file: choose one of TP00 (7), TP01 (7)"},
		{"p.bin", []byte("\n\x02\x50\x01"), "", "error p.bin: this Perfetto trace holds no slices and no GPU render stages"},
		{"s.txt", []byte("rank,step,op,start,end\n0,0,forward,0,x\n"), "", "error s.txt"},
		{"d.json", []byte("SQLite format 3\x00"), "", "error d.json: "},
		{"r.json", []byte(`{"rocprofiler-sdk-tool":[]}`), "", "error r.json: "},
	} {
		if err := os.WriteFile(c.name, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		tr, err := NewReader(nil, 1, kineto.Options{Process: c.process}).LoadAny(c.name)
		got := ""
		if err != nil {
			got = "error " + err.Error()
		} else {
			var names []string
			for _, e := range tr.Events {
				names = append(names, tr.Syms[e.Name])
			}
			got = fmt.Sprintf("%d events, %s", len(tr.Events), strings.Join(names, " "))
			if tr.Truncated {
				got += ", cut"
			}
		}
		if !strings.HasPrefix(got, c.want) || err == nil && got != c.want {
			t.Errorf("%s %s: %s, want %s", c.name, c.process, got, c.want)
		}
	}
	if err := os.WriteFile("d.json-wal", []byte("frames"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := testReader().LoadAny("d.json"); err == nil || !strings.HasSuffix(err.Error(), "sqlite3 d.json 'pragma wal_checkpoint(truncate)'") {
		t.Errorf("a database whose log is not part of it yet: %v", err)
	}
}

// TestStandardInput: what comes from a pipe is read like a file, and cannot be several traces.
func TestStandardInput(t *testing.T) {
	for content, want := range map[string]string{string(madeTrace("a")): "standard input", string(packed(madeTrace("a"))): "standard input", "": "error standard input: byte 0: the input is empty"} {
		tr, err := NewReader(strings.NewReader(content), 1, kineto.Options{}).Load("-")
		if err == nil && want != tr.File || err != nil && !strings.HasPrefix("error "+err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", content, err, want)
		}
	}
	f, err := Find([]string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewReader(bytes.NewReader(twoProcesses()), 1, kineto.Options{}).Load("-")
	if err == nil || f.Split(0, err) {
		t.Errorf("standard input of two processes: %v, taken for an archive", err)
	}
}

// TestSplit: a file of several processes is an archive of as many from then on, and is read as one.
func TestSplit(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("two.json", twoProcesses(), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(f *Found) (names []string) {
		all := Each(testReader(), f, How{}, func(x *Item) (string, error) { return strings.Clone(x.Trace.Name(1)), nil })
		for i, e := range all.Entries {
			names = append(names, e.Name+"="+all.Of[i])
		}
		return names
	}
	f, err := Find([]string{"two.json"})
	if err != nil || f.Many(0) {
		t.Fatal("several by its name alone", err)
	}
	want := "[two.json/TP00=gemm0 two.json/TP01=gemm1]"
	if got := fmt.Sprint(read(f)); got != want || !f.Many(0) {
		t.Errorf("%s, many %v; want %s", got, f.Many(0), want)
	}
	if got := fmt.Sprint(read(f)); got != want {
		t.Errorf("as an archive: %s, want %s", got, want)
	}
	if f.Split(0, &kineto.Several{}) || f.Split(0, fs.ErrNotExist) {
		t.Error("split twice")
	}
}

// TestWalk: files below a folder by their paths, and folders of tables, without what is hidden, up to so many names.
func TestWalk(t *testing.T) {
	inFolder(t)
	for most, want := range map[int]string{1000: "in/a.json in/b.json", 5: "in/a.json in/b.json", 4: "in/a.json", 1: ""} { // of these the folder, .git and in are three
		var got []string
		err := Walk(Disk, "outer", most, func(path string, _ fs.DirEntry) error { got = append(got, path); return nil })
		if s := strings.Join(got, " "); err != nil || s != want {
			t.Errorf("%d names: %s, %v; want %s", most, s, err, want)
		}
	}
	var got []string
	err := Walk(Disk, ".", 1000, func(path string, e fs.DirEntry) error {
		if e.IsDir() {
			got = append(got, path)
		}
		return nil
	})
	if s := strings.Join(got, ", "); err != nil || s != "sums/run=a%2Fb, tables/run=a b" {
		t.Errorf("tables: %s, %v", s, err)
	}
	if err := Walk(Disk, "missing", 9, nil); err == nil || err.Error() != "no file missing; check the name" {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestErrors: what stands in the way of a file, with what to do.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, "no file x; check the name"},
		{syscall.ENOTDIR, "no file x; check the name"},
		{fs.ErrPermission, "cannot read x: no permission"},
		{syscall.EISDIR, "x is a folder: give a trace file"},
		{syscall.EIO, "cannot read x: input/output error"},
		{&outsideError{"x is outside"}, "x is outside"},
	} {
		if got := Error("x", c.err).Error(); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
	for _, err := range []error{syscall.ENOSPC, &fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}} {
		if got := spoolError(err).Error(); !strings.HasPrefix(got, "no space left in ") {
			t.Errorf("%v: %s", err, got)
		}
	}
	if got := spoolError(syscall.EIO).Error(); !strings.HasSuffix(got, ": input/output error") || spoolError(nil) != nil {
		t.Errorf("of a broken disk: %s", got)
	}
	for name, want := range map[string]string{"a.json": "a.json", "-a": "./-a", "a b": "'a b'", "it's": `'it'\''s'`, "a\x1b": "hidden"} {
		if word, ok := ShellWord(name); ok && word != want || !ok && want != "hidden" {
			t.Errorf("%q: %s, want %s", name, word, want)
		}
	}
}
