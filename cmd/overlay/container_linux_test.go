package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// makeContainer makes a memory cgroup of so many bytes and returns its folder.
func makeContainer(t *testing.T, size int64) string {
	t.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip("no cgroups: ", err)
	}
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		top, file := "/sys/fs/cgroup", "memory.max"
		switch {
		case len(parts) < 3:
			continue
		case strings.Contains(","+parts[1]+",", ",memory,"):
			top, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case parts[0] != "0":
			continue
		}
		dir := filepath.Join(top, parts[2], fmt.Sprint("overlay-test-", os.Getpid(), "-", time.Now().UnixNano()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil { // the kernel makes it, unless the folder is no cgroup
			continue
		}
		if os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(size, 10)), 0o644) == nil {
			return dir
		}
	}
	t.Skip("no memory cgroup can be made here: that takes a machine of one's own and its root")
	return ""
}

// inside runs the program in a cgroup.
func inside(t *testing.T, cgroup, tmp string, args ...string) (string, error) {
	t.Helper()
	program, err := exec.LookPath("overlay") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	enter := append([]string{"-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, cgroup, program}, args...)
	cmd := exec.Command("sh", enter...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestContainer runs commands where the kernel ends processes that take too much: with enough memory they make what they
// make elsewhere, with the events in a file; with less they say so, and in no size they are killed.
func TestContainer(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes more memory than it is about")
	}
	events, sizes := 150_000, []int64{24, 64, 160}
	commands := []string{"run -i F -o O.pftrace --quiet"}
	if corpus.Long() {
		events, sizes = 400_000, []int64{24, 40, 48, 56, 64, 72, 96, 160, 400}
		commands = append(commands, "run -i F -o O.pftrace --quiet --only-critical", "report -i F --analysis all --html O.html",
			"check F", "convert -i F -o O.json --quiet")
	}
	dir := t.TempDir()
	var b bytes.Buffer
	if err := testtrace.Large(&b, events, false); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "in.json")
	if err := os.WriteFile(in, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b = bytes.Buffer{}
	for _, command := range commands {
		execute(t, command, in)
		_, want := made(t, dir)
		worked, refused := 0, 0
		for _, size := range sizes {
			text, err := inside(t, makeContainer(t, size<<20), dir, onTrace(command, in)...)
			name, got := made(t, dir)
			switch {
			case err == nil:
				if worked++; got != want {
					t.Errorf("%s in %d MiB: an output that differs from the one made outside", command, size)
				}
			case name != "":
				t.Errorf("%s in %d MiB: %v, and %s: %s", command, size, err, name, text)
			case !strings.HasPrefix(text, "overlay: out of memory: the container allows"):
				t.Errorf("%s in %d MiB: %v: %s", command, size, err, text)
			default:
				refused++
			}
			text, _, _ = strings.Cut(text, "\n")
			t.Logf("%s in %d MiB: %v %s", command, size, err, text)
		}
		if worked == 0 || refused == 0 {
			t.Errorf("%s: %d worked and %d were refused: there should be both", command, worked, refused)
		}
	}
}

// made takes the output of a command away: its name and content, neither if there is none.
func made(t *testing.T, dir string) (name, content string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if name := filepath.Join(dir, e.Name()); strings.HasPrefix(e.Name(), "out.") {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			os.Remove(name)
			return e.Name(), string(b)
		} else if e.Name() != "in.json" {
			t.Errorf("%s was left behind", name)
			os.Remove(name)
		}
	}
	return "", ""
}
