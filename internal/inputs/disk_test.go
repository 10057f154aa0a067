package inputs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBelow opens names below two roots.
func TestBelow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"a/in", "b", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, "f"), []byte(d), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"a/up": "../out/f", "a/far": dir + "/out/f", "a/same": dir + "/a/in/f", "a/other": dir + "/b", "a/folder": "../out", "a/in/back": "../in/f"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	files, err := OpenBelow([]string{filepath.Join(dir, "a"), filepath.Join(dir, "b")})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"in/f": "a/in", dir + "/b/f": "b", "same": "a/in", "other/f": "b", "in/back": "a/in", "in/../in/f": "a/in", dir + "/out/../a/in/f": "a/in",
		"up": "outside", "far": "outside", "folder/f": "outside", "../out/f": "outside", dir + "/out/f": "outside", "../nothing": "outside", "folder/nothing": "outside", "nothing": "no file", "in/f/x": "no file"} {
		got := ""
		f, err := files.Open(name)
		if err == nil {
			b := make([]byte, 10)
			n, _ := f.Read(b)
			got = string(b[:n])
			f.Close()
		} else if got = Error(name, err).Error(); strings.Contains(got, want) {
			got = want
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if list, err := files.ReadDir("folder"); err == nil {
		t.Errorf("a folder outside is listed: %v", list)
	}
	if _, err := files.Tree("folder"); err == nil {
		t.Error("a folder outside is walked")
	}
}
