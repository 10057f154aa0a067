package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestPlaces: no name may lead from an output to an input or to another output.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.json")
	hard, soft, folder := filepath.Join(dir, "hard"), filepath.Join(dir, "soft"), filepath.Join(dir, "folder")
	os.WriteFile(in, []byte("{}"), 0o666)
	if err := errors.Join(os.Link(in, hard), os.Symlink(in, soft), os.Symlink(dir, folder)); err != nil {
		t.Fatal(err)
	}
	stdin, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	p := &program{stdin: stdin, stdout: io.Discard}
	refused := func(o *options, read, written []string) string {
		r := &flagReader{Context: &cli.Context{Command: &cli.Command{Name: "run"}}}
		r.checkPlaces(p.placesOf(o, read, written))
		if r.err == nil {
			return ""
		}
		return r.err.Error()
	}
	for _, name := range []string{in, filepath.Join(dir, ".", "x", "..", "in.json"), hard, soft, filepath.Join(folder, "in.json")} {
		for _, read := range [][]string{{in}, {"other", in}, {dir}} {
			if got := refused(&options{}, read, []string{"", name}); !strings.Contains(got, "is the input") {
				t.Errorf("%s, read %s: %q", name, read, got)
			}
		}
		if !strings.Contains(refused(&options{}, []string{"-"}, []string{name}), "is the input standard input") {
			t.Errorf("%s is accepted as output beside it as standard input", name)
		}
	}
	fresh := []string{filepath.Join(dir, "new"), filepath.Join(dir, ".", "new"), filepath.Join(folder, "new")}
	for _, a := range fresh {
		for _, b := range fresh {
			if got := refused(&options{}, []string{in}, []string{a, b}); got == "" {
				t.Errorf("%s and %s are accepted as two outputs", a, b)
			}
		}
	}
	for _, c := range []struct {
		command string
		written []string
	}{{"", []string{"-", "/dev/stdout"}}, {"", []string{"-"}}, {"convert", []string{"/dev/fd/1"}}} {
		if got := refused(&options{command: c.command}, nil, c.written); !strings.Contains(got, "standard output is to be written twice") {
			t.Errorf("%+v: %q", c, got)
		}
	}
	for _, c := range []struct {
		o       options
		written []string
	}{{options{}, []string{fresh[0], filepath.Join(dir, "new2")}}, {options{}, []string{"/dev/null", "/dev/null"}}, {options{command: "run", outputOptions: outputOptions{output: "-"}}, []string{"-"}},
		{options{outputOptions: outputOptions{sums: true}, generalOptions: generalOptions{quiet: true}}, []string{"-"}}} {
		if got := refused(&c.o, []string{in}, c.written); got != "" {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
