//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// largeInput writes a trace on which a command works for a while.
func largeInput(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	if err := testtrace.Large(&b, 30_000, false); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "in.json")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestAttackSignals ends commands at random times: either all outputs are there or none, and no temporary file.
func TestAttackSignals(t *testing.T) {
	program, err := exec.LookPath("overlay") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	count := 12
	if corpus.Long() {
		count = 60
	}
	in := largeInput(t, t.TempDir())
	whole := time.Now()
	if out, err := exec.Command(program, "run", "-i", in, "-o", filepath.Join(t.TempDir(), "x.pftrace")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	takes := time.Since(whole)
	r := rand.New(rand.NewPCG(1, uint64(count)))
	ended := 0
	for i := range count {
		dir := t.TempDir()
		sig, after := signals[i%len(signals)], time.Duration(r.Int64N(int64(takes)))
		args, whole := []string{"run", "-i", in, "-o", filepath.Join(dir, "out.json.gz"), "--report", filepath.Join(dir, "r.html")}, "out.json.gz r.html"
		if i%3 == 2 {
			args, whole = []string{"export", "-i", in, "-o", filepath.Join(dir, "tables")}, "tables"
		}
		cmd := exec.Command(program, args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		cmd.Process.Signal(sig)
		watch := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		err := cmd.Wait()
		watch.Stop()
		left := corpus.Listed(t, dir)
		var exit *exec.ExitError
		switch {
		case err == nil && left == whole:
		case errors.As(err, &exit) && left == "" && (exit.ExitCode() == exitSignal+int(sig) && strings.HasPrefix(stderr.String(), "overlay: interrupted") || !exit.Exited()):
			ended++ // a signal before the program watches for it ends it, too
		case errors.As(err, &exit) && left == "" && sig == syscall.SIGQUIT && strings.HasPrefix(stderr.String(), "SIGQUIT: quit"):
			ended++ // as does this one, in the way of Go's runtime
		default:
			t.Errorf("%v after %v: %v, left %q, says %q", sig, after, err, left, stderr.String())
		}
	}
	t.Logf("%d of %d were interrupted; one run takes %v", ended, count, takes)
	if ended == 0 {
		t.Error("no signal arrived in time")
	}
}

// TestAttackFullDisk fills disks of several sizes: an output is there whole or not at all.
func TestAttackFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err == nil {
		in := filepath.Join(t.TempDir(), "in.json")
		if err := os.WriteFile(in, []byte(everyLetter), 0o600); err != nil {
			t.Fatal(err)
		}
		var cases [][]string
		for _, format := range []string{"perfetto", "chrome"} {
			cases = append(cases, []string{"overlay", "run", "-i", in, "-o", "/dev/full", "--format", format}, []string{"overlay", "convert", "-i", in, "-o", "/dev/full", "--format", format})
		}
		cases = append(cases, []string{"overlay", "report", "-i", in, "--html", "/dev/full"})
		for _, args := range cases {
			var stderr bytes.Buffer
			if status := run(args, nil, io.Discard, &stderr); status != exitFailed || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "no space left") {
				t.Errorf("%v: status %d, %q", args, status, stderr.String())
			}
		}
	}
	if testing.Short() {
		t.Skip("only /dev/full was tried: disks of several sizes take seconds each under the race detector")
	}
	if exec.Command("unshare", "-rm", "true").Run() != nil {
		t.Skip("no right to mount a small disk")
	}
	dir := t.TempDir()
	in := largeInput(t, dir)
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	whole, cut := 0, 0
	sizes := []int{16, 60_000}
	if corpus.Long() {
		sizes = []int{4, 16, 100, 400, 1500, 60_000}
	}
	for _, size := range sizes {
		for _, out := range []string{"out.pftrace", "out.json.gz"} {
			script := fmt.Sprintf(`mount -t tmpfs -o size=%[1]dk none %[2]s || exit 77; overlay run -i %[3]s -o %[2]s/%[4]s --report %[2]s/r.json --segments --quiet; echo status $?; echo left $(ls -A %[2]s)`, size, disk, in, out)
			cmd := exec.Command("unshare", "-rm", "sh", "-c", script)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			said, err := cmd.Output()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 77 {
				t.Skip("no right to mount a small disk")
			}
			switch string(said) {
			case "status 0\nleft " + out + " r.json\n":
				whole++
			case "status 1\nleft\n":
				cut++
				if strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "no space left") {
					t.Errorf("%d kB, %s: %q", size, out, stderr.String())
				}
			default:
				t.Errorf("%d kB, %s: %q, %q", size, out, said, stderr.String())
			}
		}
	}
	if whole == 0 || cut == 0 {
		t.Errorf("%d runs were whole, %d had no space: the sizes tell nothing", whole, cut)
	}
}
