//go:build !quick

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// nights writes traces of a program, one a night, and gives their names. The steps of the last take as long as is said.
func nights(t *testing.T, dir string, last int) (list []string) {
	t.Helper()
	for night, step := range []int{1000, 1004, 998, 1002, 1001, 997, last} {
		name := fmt.Sprintf("night-%d.json", night)
		write(t, nightly(night, step), dir, name)
		list = append(list, filepath.Join(dir, name))
	}
	return list
}

// inCI runs a command of continuous integration, and gives its status and what the comment says.
func inCI(t *testing.T, dir, comment string, env []string, args ...string) (int, string) {
	t.Helper()
	if _, err := exec.LookPath(args[0]); err != nil {
		t.Skip("no ", args[0])
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "OVERLAY="+programFile(t), "PATH="+filepath.Dir(programFile(t))+":"+os.Getenv("PATH")), env...)
	out, _ := cmd.CombinedOutput()
	text, err := os.ReadFile(filepath.Join(dir, comment))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// TestGateScript: a history grows run by run, of which none is slower; then one is, several runs of which all are, and several of which one is not.
func TestGateScript(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(corpus.Root(t), "ci", "gate.sh")
	list := nights(t, dir, 1200)
	last := len(list) - 1
	gate := func(run, after string, more ...string) (int, string) {
		folder := "out-" + run
		return inCI(t, dir, filepath.Join(folder, "comment.md"), append([]string{"RUN=" + run}, more...), "sh", script, "history", after, "5", folder)
	}
	for i, name := range list[:last] {
		status, says := gate(fmt.Sprint("n", i), name, "ADD=true")
		want := "runs before this one"
		if i == 0 {
			want = "n0: the first of the history"
		} else if i == last-1 {
			want = "n5: a step 997.0 µs, -0.4 % ("
		}
		if status != 0 || !strings.Contains(says, want) {
			t.Fatalf("night %d: status %d, %s", i, status, says)
		}
	}
	if status, says := gate("slow", list[last]); status != 3 || !strings.Contains(says, "slow: a step 1.20 ms, +20.0 % (") {
		t.Errorf("status %d, %s", status, says)
	}
	if status, says := gate("twice", list[last]+"\n"+list[last], "ADD=true"); status != 3 || !strings.Contains(says, "twice-1: a step") || !strings.Contains(says, "twice-2: a step") {
		t.Errorf("status %d, %s", status, says)
	}
	if status, says := gate("once", list[last]+"\n"+list[0]); status != 0 || !strings.Contains(says, "+20.0 %") {
		t.Errorf("status %d, %s", status, says)
	}
	if status, _ := gate("missing", "none.json"); status != 1 {
		t.Errorf("status %d of a missing trace", status)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "history", "run=*")); len(kept) != last+2 {
		t.Errorf("the history holds %q", kept)
	}
}

// TestActionSteps runs what the action's step of comparison runs: traces with others, and with their past.
func TestActionSteps(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpus.Root(t), "ci", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, step, _ := strings.Cut(string(text), "- id: compare\n")
	_, step, _ = strings.Cut(step, "run: |\n")
	step, _, _ = strings.Cut(step, "\n    - ")
	dir := t.TempDir()
	list := nights(t, dir, 1200)
	run := func(before, after, history, add string) (int, string) {
		os.RemoveAll(filepath.Join(dir, "mine"))
		return inCI(t, dir, "mine/comment.md", []string{"BEFORE=" + before, "AFTER=" + after, "PERCENT=5", "NAME=mine", "UNSURE=false", "HISTORY=" + history, "ADD=" + add, "RUN=" + filepath.Base(after),
			"RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary"), "GITHUB_ACTION_PATH=" + filepath.Join(corpus.Root(t), "ci")}, "bash", "-e", "-c", step)
	}
	ends := func(want string) {
		t.Helper()
		if out, err := os.ReadFile(filepath.Join(dir, "output")); err != nil || !strings.HasSuffix(string(out), "\nstatus="+want+"\n") {
			t.Errorf("%v, output %s, want the status %s", err, out, want)
		}
	}
	for _, name := range list[:6] {
		run("", name, "history", "true")
		ends("0")
	}
	_, says := run("night-[0-2].json", list[6], "history", "false")
	if ends("3"); !strings.Contains(says, "3 runs against 1, ") || !strings.Contains(says, ", noise ± ") || !strings.Contains(says, "### Beside the runs before") || !strings.Contains(says, "+19.9 %") {
		t.Error(says)
	}
	if _, says = run(list[0], list[1], "", "false"); strings.Contains(says, "Beside") {
		t.Error(says)
	}
	ends("0")
}

// TestGitLabHistory runs the commands of the GitLab job with a history alone.
func TestGitLabHistory(t *testing.T) {
	dir := t.TempDir()
	list := nights(t, dir, 1200)
	run := func(i int, after string) (int, string) {
		os.RemoveAll(filepath.Join(dir, "overlay-diff"))
		return inCI(t, dir, "overlay-diff/comment.md", []string{"BEFORE=", "AFTER=" + after, "FAIL_IF_SLOWER=5", "HISTORY=history", "ADD=true", fmt.Sprint("CI_PIPELINE_ID=", i), "CI_MERGE_REQUEST_IID="}, "sh", "-c", gitLabScript(t))
	}
	last := len(list) - 1
	for i, name := range list {
		status, says := run(i, name)
		if want := map[bool]int{true: 3}[i == last]; status != want || !strings.Contains(says, fmt.Sprintf("The history now holds %d-1.", i)) {
			t.Errorf("night %d: status %d, %s", i, status, says)
		}
	}
	// Of several runs all have to be slower, and each is a run of its own.
	if status, says := run(7, list[last]+" "+list[last-1]); status != 0 || !strings.Contains(says, "7-1: a step 1.20 ms") || !strings.Contains(says, "7-2: a step 997.0 µs") {
		t.Errorf("status %d, %s", status, says)
	}
	if status, says := run(8, "night-[6].json "+list[last]); status != 3 {
		t.Errorf("status %d, %s", status, says)
	}
}
