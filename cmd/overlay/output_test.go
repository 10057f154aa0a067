package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func mustCreate(t *testing.T, o *outputs, name string, inputs ...string) *output {
	t.Helper()
	out, err := o.create(name, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func folder(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// TestOutputAppearsWhole: nothing is at the target before commit, all of it after.
func TestOutputAppearsWhole(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	os.WriteFile(b, []byte("old"), 0o640)
	var o outputs
	for _, name := range []string{a, b} {
		if _, err := mustCreate(t, &o, name).Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(a); !errors.Is(err, os.ErrNotExist) {
		t.Error("a exists before commit")
	}
	if err := o.commit(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{a, b} {
		if got, _ := os.ReadFile(name); string(got) != "new" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if info, _ := os.Stat(b); info.Mode().Perm() != 0o640 {
		t.Errorf("mode of the replaced file: %v", info.Mode())
	}
	if got := folder(t, dir); got != "a b" {
		t.Errorf("left in the folder: %s", got)
	}
}

// TestAbandon: an interrupted work leaves nothing, whatever it does afterwards.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	os.WriteFile(a, []byte("old"), 0o666)
	var o outputs
	out := mustCreate(t, &o, a)
	o.abandon()
	out.Write([]byte("new"))
	if err := o.commit(); err == nil {
		t.Error("commit after abandon succeeds")
	}
	if _, err := o.create(filepath.Join(dir, "b")); err == nil {
		t.Error("create after abandon succeeds")
	}
	if got, _ := os.ReadFile(a); string(got) != "old" || folder(t, dir) != "a" {
		t.Errorf("a is %q, folder has %s", got, folder(t, dir))
	}
}

// TestOutputIsInput: no name may lead from the output to the input.
func TestOutputIsInput(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.json")
	hard, soft := filepath.Join(dir, "hard"), filepath.Join(dir, "soft")
	os.WriteFile(in, []byte("{}"), 0o666)
	if err := errors.Join(os.Link(in, hard), os.Symlink(in, soft)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{in, filepath.Join(dir, ".", "x", "..", "in.json"), hard, soft} {
		var o outputs
		if _, err := o.create(name, in); err == nil {
			t.Errorf("%s is accepted as output", name)
		}
	}
}

// TestOutputThroughLink: the file behind a symbolic link is replaced, the link stays.
func TestOutputThroughLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	os.WriteFile(file, []byte("old"), 0o666)
	os.Symlink("file", link)
	var o outputs
	mustCreate(t, &o, link).Write([]byte("new"))
	if err := o.commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); string(got) != "new" {
		t.Errorf("file: %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

func TestOutputTwice(t *testing.T) {
	var o outputs
	defer o.abandon()
	name := filepath.Join(t.TempDir(), "a")
	mustCreate(t, &o, name)
	if _, err := o.create(name); err == nil || !strings.Contains(err.Error(), "written twice") {
		t.Errorf("got %v", err)
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
		out := stream(&failAt{limit}, "x.pftrace")
		for range 3 {
			out.Write(make([]byte, 1<<20))
		}
		err := out.close()
		if err == nil || err.Error() != "cannot write x.pftrace: no space left; free some or choose another folder with -o" {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	out := stream(&failAt{3 << 20}, "x")
	out.Write(make([]byte, 3<<20))
	if err := out.close(); err != nil {
		t.Errorf("all fits: %v", err)
	}
}
