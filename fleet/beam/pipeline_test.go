package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
)

// TestMain runs pipelines of the tests on the prism runner, inside this process.
func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

// TestSameAsOneMachine exports eight traces by the pipeline and by one call of the program: same tables, same sums.
func TestSameAsOneMachine(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "overlay")
	compile := exec.Command("go", "build", "-o", tool, "./cmd/overlay")
	compile.Dir = "../.."
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	traces := filepath.Join(dir, "traces")
	if err := os.Mkdir(traces, 0o777); err != nil {
		t.Fatal(err)
	}
	demo, err := os.ReadFile("../../testdata/demo.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(traces, "rank-0.json.gz"), demo)
	for rank := 1; rank < 8; rank++ {
		save(t, filepath.Join(traces, fmt.Sprintf("rank-%d.json.gz", rank)), fmt.Appendf(nil, `{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": %d},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 40, "dur": 5}]}`, 5+rank))
	}
	one, many := filepath.Join(dir, "one"), filepath.Join(dir, "many")
	overlay(t, tool, "export", "-i", traces, "-o", one, "--run", "job", "--quiet")
	want := tree(t, one)

	p, s := beam.NewPipelineWithRoot()
	if err := build(s, filepath.Join(traces, "*.json.gz"), many, "job", tool); err != nil {
		t.Fatal(err)
	}
	ptest.RunAndValidate(t, p)

	sums, err := os.ReadFile(filepath.Join(many, "classes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if direct := overlay(t, tool, "query", "select class, sum(dur_ns) as ns from segments group by class order by class", one, "--format", "csv"); string(sums) != direct {
		t.Errorf("sums\n%s\nwant\n%s", sums, direct)
	}
	if err := os.Remove(filepath.Join(many, "classes.csv")); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, many); got != want {
		t.Errorf("%d files with other bytes or names than the %d of one machine", strings.Count(got, "\n"), strings.Count(want, "\n"))
	}
}

func save(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

func overlay(t *testing.T, tool string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	return string(out)
}

// tree is every file below a folder with its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		fmt.Fprintf(&b, "%s %x\n", strings.TrimPrefix(name, dir), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
