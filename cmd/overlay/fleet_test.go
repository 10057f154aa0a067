//go:build unix && !quick

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"overlay/internal/inputs"
)

// fleetJob is a folder of traces of a job, three of which say their rank in their names only, and a list of them.
func fleetJob(t *testing.T) (dir, list string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "traces"), 0o777); err != nil {
		t.Fatal(err)
	}
	demo, err := os.ReadFile("../../testdata/demo.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"rank-0.json.gz": demo}
	for rank := 1; rank < 6; rank++ {
		files[fmt.Sprintf("rank-%d of 6.json", rank)] = fmt.Appendf(nil, `{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": %d},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 30, "dur": 5}]}`, 5+rank)
	}
	var names []string
	for name, b := range files {
		file := filepath.Join(dir, "traces", name)
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		names = append(names, file)
	}
	list = filepath.Join(dir, "traces.txt")
	if err := os.WriteFile(list, []byte(strings.Join(names, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir, list
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

// shell runs a script with the program on PATH.
func shell(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
}

// TestFleet runs what fleet/ and docs/sql.md hand out for many machines, on a job of six ranks, each piece twice in a
// row as after a retry, and wants the bytes that one call for the whole folder writes.
func TestFleet(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	dir, list := fleetJob(t)
	one := filepath.Join(dir, "one")
	overlayOutput(t, "export", "-i", filepath.Join(dir, "traces"), "-o", one, "--run", "job", "--quiet")
	want := tree(t, one)
	if strings.Count(want, "\n") != 66 {
		t.Fatalf("%d files of 6 ranks", strings.Count(want, "\n"))
	}
	check := func(name, out string) {
		t.Helper()
		if tree(t, out) != want {
			t.Errorf("%s writes something else than one call for all", name)
		}
	}

	slurm := filepath.Join(dir, "slurm")
	for _, task := range []string{"0", "1", "1"} {
		shell(t, []string{"SLURM_ARRAY_TASK_ID=" + task, "CHUNK=4"}, "bash", "../../fleet/slurm.sh", list, slurm, "job")
	}
	check("slurm.sh", slurm)

	yaml, err := os.ReadFile("../../fleet/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, script, ok := strings.Cut(string(yaml), "            - |\n")
	if !ok {
		t.Fatal("no script in kubernetes.yaml")
	}
	for _, pod := range []string{"2", "0", "1", "0"} {
		shell(t, []string{"JOB_COMPLETION_INDEX=" + pod, "PODS=3", "RUN=job", "DATA=" + dir}, "/bin/sh", "-eu", "-c", script)
	}
	check("kubernetes.yaml", filepath.Join(dir, "tables"))

	parts := filepath.Join(dir, "parts")
	overlayOutput(t, "export", "-i", filepath.Join(dir, "traces"), "-o", parts, "--run", "job", "--tables", "summary", "--quiet")
	for _, task := range []string{"0", "1"} {
		shell(t, []string{"SLURM_ARRAY_TASK_ID=" + task, "CHUNK=4", "TABLES=summary"}, "bash", "../../fleet/slurm.sh", list, slurm+"-parts", "job")
	}
	if tree(t, slurm+"-parts") != tree(t, parts) {
		t.Error("slurm.sh writes other summaries than one call for all")
	}

	docs, err := os.ReadFile("../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^    (find .* xargs .*)$`).FindSubmatch(docs)
	if line == nil {
		t.Fatal("no xargs line in docs/sql.md")
	}
	words := strings.NewReplacer("/data/traces", filepath.Join(dir, "traces"), "/data/tables", filepath.Join(dir, "xargs"), "job-4711", "job").Replace(string(line[1]))
	shell(t, nil, "bash", "-c", words)
	shell(t, nil, "bash", "-c", words)
	check("the xargs line", filepath.Join(dir, "xargs"))
}

// TestFleetFailure: a broken trace fails its task and nothing else.
func TestFleetFailure(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	dir, list := fleetJob(t)
	if err := os.WriteFile(filepath.Join(dir, "traces", "rank-2 of 6.json"), []byte(`{"traceEvents": 7}`), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "../../fleet/slurm.sh", list, filepath.Join(dir, "out"), "job")
	cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=0")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "rank-2 of 6.json") {
		t.Errorf("%v: %s", err, out)
	}
	if sets := inputs.SetsIn(filepath.Join(dir, "out")); len(sets) != 5 {
		t.Errorf("%d ranks of 5 written", len(sets))
	}
}
