package outputs

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// TestFolder: parts appear with the commit, in the place of those that were written in the same way; what is another's stays and is named.
func TestFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	own := func(name string, f io.ReaderAt, size int64) bool { return name == "own.parquet" && size == 3 }
	write := func(target, part, text string) error {
		var o Outputs
		defer o.Abandon()
		out, err := o.CreateFolder(target, own)
		if err != nil {
			return err
		}
		dir, err := out.Draft()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "own.parquet"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := out.Part(part, dir); err != nil {
			return err
		}
		if text == "fails" {
			return nil // and is abandoned
		}
		return o.Commit()
	}
	os.WriteFile("file", nil, 0o600)
	os.MkdirAll("there/other", 0o700)
	os.WriteFile("there/other/notes.txt", nil, 0o600)
	os.MkdirAll("there/dir/own.parquet", 0o700)
	for _, c := range []struct{ target, part, text, want, holds string }{
		{"new", "run=a/rank=0", "one", "", "one"},
		{"new", "run=a/rank=0", "two", "", "two"},
		{"new", "run=a/rank=0", "fails", "", "two"},
		{"new", "run=a/rank=1", "long", "", "long"},
		{"new", "run=a/rank=1", "one", "new/run=a/rank=1 holds own.parquet, which is no table that 'overlay export' wrote: move it away or choose another folder with -o", "long"},
		{"there", "other", "one", "there/other holds notes.txt, which is no table that 'overlay export' wrote: move it away or choose another folder with -o", ""},
		{"there", "dir", "one", "there/dir holds own.parquet, which is no table that 'overlay export' wrote: move it away or choose another folder with -o", ""},
		{"file", "x", "one", "file is a file: give the name of a folder with -o", ""},
		{"file/below", "x", "one", "cannot write file/below: file is a file, no folder; choose another name", ""},
		{"missing/below", "x", "one", "cannot write missing/below: no folder missing; create it or choose another one", ""},
		{"gone", "x", "fails", "", ""},
	} {
		got := ""
		if err := write(c.target, c.part, c.text); err != nil {
			got = err.Error()
		}
		holds, _ := os.ReadFile(filepath.Join(c.target, c.part, "own.parquet"))
		if got != c.want || string(holds) != c.holds {
			t.Errorf("%s/%s, %s: %q, holds %q; want %q, %q", c.target, c.part, c.text, got, holds, c.want, c.holds)
		}
	}
	if got := corpus.Listed(t, "."); got != "file new there" {
		t.Errorf("left: %s", got)
	}
	if got := corpus.Listed(t, "new"); got != "run=a" {
		t.Errorf("left in the folder: %s", got)
	}
}

// TestErrors: what stands in the way of an output, and what to do.
func TestErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("file", nil, 0o600)
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"x", &fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, "cannot write x: no space left; free some or choose another folder"},
		{"a/x", fs.ErrNotExist, "cannot write a/x: no folder a; create it or choose another one"},
		{"./x", fs.ErrNotExist, "cannot write ./x: the folder takes no files; choose another one"},
		{"file/a/x", syscall.ENOTDIR, "cannot write file/a/x: file is a file, no folder; choose another name"},
		{"x", syscall.EROFS, "cannot write x: no permission; choose another folder"},
		{"x", syscall.EPIPE, "cannot write x: nobody reads it any more"},
		{StdoutName, syscall.EPIPE, ErrPipe.Error()},
		{"x", syscall.EIO, "cannot write x: input/output error"},
	} {
		if got := Error(c.name, c.err).Error(); got != c.want {
			t.Errorf("%s, %v: %s, want %s", c.name, c.err, got, c.want)
		}
	}
	for name, want := range map[string]string{".": ". is a folder: give the name of a file in it", "a/x": "cannot write a/x: no folder a; create it or choose another one"} {
		if _, err := new(Outputs).Create(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	os.Symlink("nowhere", "link")
	if _, err := new(Outputs).Create("link"); err == nil || !strings.HasPrefix(err.Error(), "link is a symbolic link to nothing") {
		t.Errorf("a link to nothing: %v", err)
	}
	os.Symlink("/dev/stdout", "out")
	for name, want := range map[string]bool{"-": true, "/dev/stdout": true, "/dev/fd/1": true, "/dev//fd/1": true, "out": true, "link": false, "file": false, "stdout": false} {
		if IsStdout(name) != want {
			t.Errorf("%s means standard output: %v", name, !want)
		}
	}
	var o Outputs
	null, err := o.Create(os.DevNull)
	if err != nil || !null.Direct() {
		t.Fatalf("a device: %v", err)
	}
	if n, err := null.Write([]byte("gone")); n != 4 || err != nil || o.Commit() != nil || null.Bytes != 4 {
		t.Errorf("%d bytes into a device: %v", n, err)
	}
}
