package kineto

import (
	"strings"
	"testing"
)

// TestOtherFiles: the one line of error says what a file is that is often taken for a trace, and what to do.
func TestOtherFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.json", "version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"},
		{"a.json", "\n<!doctype html>", "HTML"},
		{"a.json.bz2", "BZh91AY&SY", "bzip2"},
		{"a.json", "\xff\xfe{\x00", "UTF-16"},
		{"a.nsys-rep", "anything", "nsys export --type sqlite"},
		{"a.json", "hello", "this is no JSON trace"},
	} {
		_, err := Parse([]byte(c.text), c.name, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "expected '{' or '['") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
