package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"overlay/internal/testtrace"
)

// member is a file of an archive.
type member struct{ name, text string }

// jobMembers are the traces of a small made job, as members of an archive with files that are no traces.
func jobMembers(t testing.TB) []member {
	t.Helper()
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", World: 4, Steps: 3, Seed: 3})
	list := []member{{"job/README.md", "x"}, {"job/._rank0_trace.json", "x"}, {"__MACOSX/job/rank0_trace.json", "x"}, {"job/rank0.overlaid.json", "x"}}
	for r := range sim.Ranks {
		list = append(list, member{"job/" + sim.Ranks[r].File, string(sim.JSON(int32(r)))})
	}
	return list
}

func tarOf(t testing.TB, list []member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range list {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t testing.TB, list []member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range list {
		f, err := w.Create(m.name)
		if err == nil {
			_, err = io.WriteString(f, m.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstdOf(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

// checked runs `check` on files in a folder of their own, and gives what it said and its status.
func checked(t testing.TB, files map[string][]byte, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	list := []string{"overlay", "check"}
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.ContainsAny(a, "0123456789") || files[a] != nil {
			a = filepath.Join(dir, a)
		}
		list = append(list, a)
	}
	var out, errs bytes.Buffer
	status = run(list, strings.NewReader(""), &out, &errs)
	return strings.ReplaceAll(out.String(), dir+"/", ""), strings.ReplaceAll(errs.String(), dir+"/", ""), status
}

// TestArchives: a job is the same in a folder and in every form of archive, with one job and with many.
func TestArchives(t *testing.T) {
	list := jobMembers(t)
	folder := map[string][]byte{}
	var packed []member // members that are compressed themselves
	for _, m := range list {
		folder[m.name] = []byte(m.text)
		packed = append(packed, member{m.name + ".gz", string(gzipped(t, []byte(m.text)))})
	}
	want, _, status := checked(t, folder, "job")
	if status != 0 || !strings.Contains(want, "4 of 4 ranks") {
		t.Fatalf("%d: %s", status, want)
	}
	table := func(text string) string { // what does not depend on where the files are
		var lines []string
		for line := range strings.Lines(text) {
			if f := strings.Fields(line); len(f) > 8 && f[1] == "recorded" {
				lines = append(lines, strings.Join(f[:len(f)-1], " "))
			}
		}
		return strings.Join(lines, "\n")
	}
	for name, b := range map[string][]byte{
		"plain.tar": tarOf(t, list), "job.tar.gz": gzipped(t, tarOf(t, list)), "job.tgz": gzipped(t, tarOf(t, list)), "job.tar.zst": zstdOf(t, tarOf(t, list)),
		"job.zip": zipOf(t, list), "nested.tar": tarOf(t, packed), "nested.zip": zipOf(t, packed), "by-content": tarOf(t, list),
	} {
		for _, jobs := range []string{"--jobs=1", "--jobs=8"} {
			got, stderr, status := checked(t, map[string][]byte{name: b}, name, jobs)
			if status != 0 || !strings.HasPrefix(got, name+": 4 of 4 ranks") || table(got) != table(want) {
				t.Errorf("%s %s: %d %s\n%s, want\n%s", name, jobs, status, stderr, got, want)
			}
		}
	}
}

// TestBrokenArchives: whatever is wrong with an archive, what can be read is used and the rest is named, or one line says
// what is wrong.
func TestBrokenArchives(t *testing.T) {
	list := jobMembers(t)[4:]
	whole := tarOf(t, list)
	bomb := tarOf(t, []member{{"rank0.json", strings.Repeat(" ", 1<<20)}, {"rank1.json", strings.Repeat(" ", 1<<20)}})
	crc := zipOf(t, list)
	crc[len(crc)/2] ^= 0x55
	for _, c := range []struct {
		name         string
		archive      []byte
		args         []string
		status       int
		stdout, errs string // parts
	}{
		{"in a member", whole[:len(whole)*5/8], nil, 0, "(cut)", ""},
		{"between members", whole[:512+(len(list[0].text)+511)/512*512+100], nil, 0, "the archive is cut: what follows is lost", ""},
		{"gzip that is cut", gzipped(t, whole)[:len(gzipped(t, whole))*5/8], nil, 0, "(cut)", ""},
		{"strict", whole[:len(whole)*5/8], []string{"--strict"}, 1, "", "--strict"},
		{"no traces", tarOf(t, []member{{"a.txt", "x"}}), nil, 1, "", "no traces in this archive"},
		{"empty zip", zipOf(t, nil), nil, 1, "", ""},
		{"zip that is cut", zipOf(t, list)[:2000], nil, 1, "", "the archive is broken or cut"},
		{"zip with a wrong byte", crc, nil, 0, "ignored", ""},
		{"bomb", gzipped(t, bomb), []string{"--max-expand=1MiB"}, 1, "", "the input expands to more than 1048576 bytes: raise --max-expand"},
		{"bomb of zip", zipOf(t, []member{{"rank0.json", strings.Repeat(" ", 1<<20)}}), []string{"--max-expand=100kB"}, 1, "", "--max-expand"},
		{"no trace in it", tarOf(t, []member{{"a.json", "nothing"}, {"b.json", "x"}}), nil, 1, "", "none of 2 files is a trace; the first: "},
	} {
		out, errs, status := checked(t, map[string][]byte{"archive": c.archive}, append([]string{"archive"}, c.args...)...)
		if status != c.status || !strings.Contains(out, c.stdout) || !strings.Contains(errs, c.errs) || strings.Count(errs, "\n") != c.status {
			t.Errorf("%s: status %d, %q, %q", c.name, status, out, errs)
		}
	}
}

// TestCutEverywhere cuts archives at many places: never a crash, and never more than one line of error.
func TestCutEverywhere(t *testing.T) {
	small := []member{}
	for r := range 3 {
		small = append(small, member{fmt.Sprintf("rank%d.json", r), fmt.Sprintf(`{"distributedInfo":{"rank":%d,"world_size":3},"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":5}]}`, r, r)})
	}
	for name, b := range map[string][]byte{"a.tar": tarOf(t, small), "a.tar.gz": gzipped(t, tarOf(t, small)), "a.zip": zipOf(t, small)} {
		for n := 1; n < len(b); n += 1 + len(b)/60 {
			_, errs, status := checked(t, map[string][]byte{name: b[:n]}, name)
			if status > 1 || strings.Count(errs, "\n") != status || strings.Contains(errs, "this is a bug") {
				t.Errorf("%s cut at %d: status %d, %q", name, n, status, errs)
			}
		}
	}
}

// TestOneOfArchive: an archive of one trace is that trace; of several, commands that take one say so.
func TestOneOfArchive(t *testing.T) {
	list := jobMembers(t)
	dir := t.TempDir()
	one, several, out := filepath.Join(dir, "one.zip"), filepath.Join(dir, "several.tar.gz"), filepath.Join(dir, "out.json")
	os.WriteFile(one, zipOf(t, list[:5]), 0o666)
	os.WriteFile(several, gzipped(t, tarOf(t, list)), 0o666)
	var stdout, stderr bytes.Buffer
	if status := run([]string{"overlay", "convert", "-i", one, "-o", out}, nil, &stdout, &stderr); status != 0 {
		t.Errorf("status %d: %s", status, stderr.String())
	}
	tarred, file := filepath.Join(dir, "one.tar"), filepath.Join(dir, "alone.json")
	os.WriteFile(tarred, tarOf(t, list[:5]), 0o666)
	os.WriteFile(file, []byte(list[4].text), 0o666)
	for _, flags := range [][]string{nil, {"--top", "2"}, {"--method", "ctda"}, {"--analysis", "idle"}, {"--annotation", "ProfilerStep"}} {
		var alone bytes.Buffer
		run(append([]string{"overlay", "report", "-i", file}, flags...), nil, &alone, &stderr)
		for _, archive := range []string{one, tarred} {
			stdout.Reset()
			run(append([]string{"overlay", "report", "-i", archive}, flags...), nil, &stdout, &stderr)
			_, got, _ := strings.Cut(stdout.String(), "\n") // behind the name
			if _, want, _ := strings.Cut(alone.String(), "\n"); got != want || stderr.Len() > 0 {
				t.Errorf("%v: in %s: %s%s, alone: %s", flags, archive, stderr.String(), got, want)
			}
		}
	}
	stdout.Reset()
	if status := run([]string{"overlay", "run", "-i", tarred, "-o", out, "--top", "2"}, nil, &stdout, &stderr); status != 0 {
		t.Errorf("to Chrome's format: status %d: %s", status, stderr.String())
	}
	stderr.Reset()
	if status := run([]string{"overlay", "convert", "-i", several, "-o", filepath.Join(dir, "x.pftrace")}, nil, &stdout, &stderr); status != 1 || !strings.Contains(stderr.String(), "holds several traces, and this command takes one") {
		t.Errorf("status %d: %s", status, stderr.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "x.pftrace")); err == nil {
		t.Error("an output was left")
	}
	if im := jobImport(t, several); len(im.Slices) == 0 { // run draws them all, each read twice as it stands in the archive
		t.Error("a picture without slices")
	}
}

// TestJobReportSame: the report of a job has the same bytes with any number of jobs and in any order of its files.
func TestJobReportSame(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var files []string
	for _, m := range jobMembers(t)[4:] {
		name := filepath.Base(m.name)
		if err := os.WriteFile(name, []byte(m.text), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	reported := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if status := run(append([]string{"overlay", "report"}, args...), nil, &out, &errs); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, errs.String())
		}
		return out.String()
	}
	for _, form := range []string{"--json", "--segments"} {
		want := reported("-i", "*.json", form)
		for _, jobs := range []string{"1", "2", "3", "8"} {
			if got := reported("-i", "*.json", form, "--jobs", jobs); got != want {
				t.Errorf("%s: other bytes with --jobs %s", form, jobs)
			}
		}
		head := func(s string) string { // the text names the inputs as they were given, behind who is slow
			if form == "--json" {
				return s
			}
			slow, rest, found := strings.Cut(s, "\n4 ranks of ")
			if !found {
				t.Fatalf("no line says how many ranks there are: %s", s)
			}
			return slow[:strings.LastIndex(slow, "\n")+1] + rest
		}
		for range 3 {
			files = append(files[1:], files[0])
			args := []string{form}
			for _, f := range files {
				args = append(args, "-i", f)
			}
			if got := reported(args...); head(got) != head(want) {
				t.Errorf("%s: other bytes in the order %v", form, files)
			}
		}
	}
}

// TestArchivesAsTables: the tables of a job are the same out of a folder and out of an archive, in whatever order its members
// stand, and a query over it reads them all.
func TestArchivesAsTables(t *testing.T) {
	list := jobMembers(t)
	dir := t.TempDir()
	for _, m := range list {
		name := filepath.Join(dir, m.name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(m.text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	turned := slices.Clone(list)
	slices.Reverse(turned)
	for name, b := range map[string][]byte{"job.tar.gz": gzipped(t, tarOf(t, turned)), "job.zip": zipOf(t, list)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	call := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if status := run(append([]string{"overlay"}, args...), nil, &out, &errs); status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, errs.String())
		}
		return out.String()
	}
	tables := func(in string) map[string]string {
		out := filepath.Join(t.TempDir(), "tables")
		call("export", "-i", filepath.Join(dir, in), "-o", out, "--quiet")
		files := map[string]string{}
		filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				rel, _ := filepath.Rel(out, path)
				files[rel] = string(b)
			}
			return err
		})
		return files
	}
	want := tables("job")
	if len(want) < 4*10 || want[filepath.Join("run=job", "rank=3", "events.parquet")] == "" {
		t.Fatalf("%d files", len(want))
	}
	const sql = "select run, rank, file, count(*) as n, sum(dur_ns) as ns from segments join runs using (run, rank) group by run, rank, file order by rank"
	asked := call("query", sql, filepath.Join(dir, "job"))
	for _, in := range []string{"job.tar.gz", "job.zip"} {
		if got := tables(in); !maps.Equal(got, want) {
			t.Errorf("%s: %d files, not the %d of the folder", in, len(got), len(want))
		}
		if got := call("query", sql, filepath.Join(dir, in)); got != asked {
			t.Errorf("%s: %s, want %s", in, got, asked)
		}
	}
}

func writeFile(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestOneNameTwice: an archive may hold two members of one name, whose ranks their content tells.
func TestOneNameTwice(t *testing.T) {
	var list []member
	for _, m := range jobMembers(t)[4:] {
		list = append(list, member{"rank.json", m.text})
	}
	for name, archive := range map[string][]byte{"a.zip": zipOf(t, list), "a.tar": tarOf(t, list)} {
		in, out := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "out.pftrace")
		writeFile(t, in, archive)
		for _, args := range [][]string{{"report", "-i", in}, {"run", "-i", in, "-o", out}, {"advise", in}, {"query", "select count(*) from runs", in}} {
			var stdout, stderr strings.Builder
			if status := run(append([]string{"overlay"}, args...), strings.NewReader(""), &stdout, &stderr); status != 0 {
				t.Errorf("%s: status %d: %s", strings.Join(args, " "), status, stderr.String())
			}
		}
	}
}
