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

// TestSameAsOneMachine exports the eight ranks of a job by the pipeline and by calls of the program: same tables, same summaries, same sums, and the same said of the job.
func TestSameAsOneMachine(t *testing.T) {
	dir := t.TempDir()
	tool, maker := filepath.Join(dir, "overlay"), filepath.Join(dir, "job")
	for name, from := range map[string]string{tool: "./cmd/overlay", maker: "./internal/testtrace/cmd/job"} {
		compile := exec.Command("go", "build", "-o", name, from)
		compile.Dir = "../.."
		if out, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	traces, one, many := filepath.Join(dir, "traces"), filepath.Join(dir, "one"), filepath.Join(dir, "many")
	say(t, dir, maker, "-o", traces, "-kind", "dp", "-cause", "gpu", "-ranks", "8")
	say(t, dir, tool, "export", "-i", traces, "-o", one, "--run", "job", "--quiet")
	want := tree(t, one)
	say(t, dir, tool, "export", "-i", traces, "-o", filepath.Join(one, summaries), "--tables", "summary", "--run", "job", "--quiet")

	p, s := beam.NewPipelineWithRoot()
	if err := build(s, filepath.Join(traces, "*.json.gz"), many, "job", tool); err != nil {
		t.Fatal(err)
	}
	ptest.RunAndValidate(t, p)

	answers := map[string]string{"classes.csv": say(t, dir, tool, "query", "select class, sum(dur_ns) as ns from segments group by class order by class", one, "--format", "csv")}
	for name, args := range reductions {
		answers[name] = say(t, one, tool, args...)
	}
	if !strings.Contains(answers["report.txt"], "GPU slow") {
		t.Errorf("nobody is slow:\n%s", answers["report.txt"])
	}
	for name, want := range answers {
		got, err := os.ReadFile(filepath.Join(many, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s\n%s\nwant\n%s", name, got, want)
		}
		if err := os.Remove(filepath.Join(many, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := tree(t, filepath.Join(many, summaries)), tree(t, filepath.Join(one, summaries)); got != want {
		t.Errorf("%d summaries with other bytes or names than the %d of one machine", strings.Count(got, "\n"), strings.Count(want, "\n"))
	}
	if err := os.RemoveAll(filepath.Join(many, summaries)); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, many); got != want {
		t.Errorf("%d files with other bytes or names than the %d of one machine", strings.Count(got, "\n"), strings.Count(want, "\n"))
	}
}

// say runs a program in a folder.
func say(t *testing.T, dir, tool string, args ...string) string {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
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
