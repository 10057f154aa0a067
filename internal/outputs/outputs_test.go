package outputs

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"overlay/internal/testtrace/corpus"
)

func mustCreate(t *testing.T, o *Outputs, name string) *Output {
	t.Helper()
	out, err := o.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOutputAppearsWhole: nothing is at the target before commit, all of it after.
func TestOutputAppearsWhole(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	os.WriteFile(b, []byte("old"), 0o640)
	var o Outputs
	for _, name := range []string{a, b} {
		if _, err := mustCreate(t, &o, name).Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(a); !errors.Is(err, os.ErrNotExist) {
		t.Error("a exists before commit")
	}
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{a, b} {
		if got, _ := os.ReadFile(name); string(got) != "new" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if !o.Abandon() {
		t.Error("abandon after commit does not say that it came too late")
	}
	if info, _ := os.Stat(b); info.Mode().Perm() != 0o640 {
		t.Errorf("mode of the replaced file: %v", info.Mode())
	}
	if got := corpus.Listed(t, dir); got != "a b" {
		t.Errorf("left in the folder: %s", got)
	}
}

// TestAbandon: an interrupted work leaves nothing, whatever it does afterwards.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	os.WriteFile(a, []byte("old"), 0o666)
	var o Outputs
	out := mustCreate(t, &o, a)
	if o.Abandon() {
		t.Error("abandon says that the output is in its place")
	}
	out.Write([]byte("new"))
	if err := o.Commit(); err == nil {
		t.Error("commit after abandon succeeds")
	}
	if _, err := o.Create(filepath.Join(dir, "b")); err == nil {
		t.Error("create after abandon succeeds")
	}
	if got, _ := os.ReadFile(a); string(got) != "old" || corpus.Listed(t, dir) != "a" {
		t.Errorf("a is %q, folder has %s", got, corpus.Listed(t, dir))
	}
}

// TestLongName: a name of the greatest length works, although a temporary file beside it cannot have a longer one.
func TestLongName(t *testing.T) {
	dir := t.TempDir()
	var o Outputs
	for _, n := range []int{253, 255} {
		mustCreate(t, &o, filepath.Join(dir, strings.Repeat("x", n))).Write([]byte("new"))
	}
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := corpus.Listed(t, dir); len(got) != 253+1+255 {
		t.Errorf("left in the folder: %s", got)
	}
	if _, err := o.Create(filepath.Join(dir, strings.Repeat("x", 256))); err == nil {
		t.Error("a name that is too long is refused after the work only")
	}
}

// TestOutputThroughLink: the file behind a symbolic link is replaced, the link stays.
func TestOutputThroughLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	os.WriteFile(file, []byte("old"), 0o666)
	os.Symlink("file", link)
	var o Outputs
	mustCreate(t, &o, link).Write([]byte("new"))
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); string(got) != "new" {
		t.Errorf("file: %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

// failAt accepts n bytes, then reports a full disk.
type failAt struct{ n int }

func (f *failAt) Write(b []byte) (int, error) {
	if len(b) > f.n {
		n := f.n
		f.n = 0
		return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	f.n -= len(b)
	return len(b), nil
}

// TestFullDisk: the first error sticks and close reports it, wherever it struck.
func TestFullDisk(t *testing.T) {
	for _, limit := range []int{0, 1, 1 << 20, 3<<20 - 1} {
		out := Stream(&failAt{limit}, "x.pftrace")
		for range 3 {
			out.Write(make([]byte, 1<<20))
		}
		err := out.Close()
		if err == nil || err.Error() != "cannot write x.pftrace: no space left; free some or choose another folder" {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	out := Stream(&failAt{3 << 20}, "x")
	out.Write(make([]byte, 3<<20))
	if err := out.Close(); err != nil {
		t.Errorf("all fits: %v", err)
	}
}

// TestAbandonFolder: work that goes on after an interruption cannot bring a folder back.
func TestAbandonFolder(t *testing.T) {
	dir := t.TempDir()
	var o Outputs
	out, err := o.CreateFolder(filepath.Join(dir, "tables"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Draft(); err != nil {
		t.Fatal(err)
	}
	o.Abandon()
	if _, err := out.Draft(); !errors.Is(err, errInterrupted) {
		t.Errorf("a draft after abandon: %v", err)
	}
	if got := corpus.Listed(t, dir); got != "" {
		t.Errorf("left in the folder: %s", got)
	}
}

// TestFolderForMany: commands that run side by side, one for each trace, begin with the same folder at the same time.
func TestFolderForMany(t *testing.T) {
	for round := range 100 {
		target := filepath.Join(t.TempDir(), strconv.Itoa(round))
		done := make(chan error)
		for range 8 {
			go func() {
				_, err := new(Outputs).CreateFolder(target, nil)
				done <- err
			}()
		}
		for range 8 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
}
