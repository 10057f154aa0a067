package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestFlagsThatNameFiles: a flag that names a file says so by its type, because places knows files by that alone.
func TestFlagsThatNameFiles(t *testing.T) {
	path := regexp.MustCompile("`[^`]*(FILE|DIR|FOLDER|PATH)[^`]*`")
	seen := 0
	for _, c := range (&program{}).app().Commands {
		for _, f := range c.Flags {
			if _, ok := f.(*pathFlag); ok {
				seen++
				continue
			}
			usage := f.(cli.DocGenerationFlag).GetUsage()
			var takesFile bool
			switch f := f.(type) {
			case *cli.StringFlag:
				takesFile = f.TakesFile
			case *cli.StringSliceFlag:
				takesFile = f.TakesFile
			case *cli.GenericFlag, *cli.PathFlag:
				takesFile = true
			}
			if takesFile || path.MatchString(usage) {
				t.Errorf("overlay %s: --%s names a file and is no pathFlag: %s", c.Name, f.Names()[0], usage)
			}
		}
	}
	if seen < 40 {
		t.Errorf("%d flags that name files", seen)
	}
}

// TestNoOutputIsAnInput gives each command one file by each pair of a flag or an argument that is read and a flag that is written.
func TestNoOutputIsAnInput(t *testing.T) {
	dir := t.TempDir()
	trace, err := os.ReadFile("../../testdata/demo.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, b []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	in := file("in.json", trace)
	base := map[string][]string{"run": {"-o", filepath.Join(dir, "o.pftrace")}, "convert": {"-o", filepath.Join(dir, "o.pftrace")}, "export": {"-o", filepath.Join(dir, "tables")},
		"whatif": {"--best", "1"}, "mcp": {"--root", dir}}
	argument := map[string][]string{"query": {"select 1"}, "open": {}, "diff": {}, "report": {}, "advise": {}, "check": {}, "run": {}, "convert": {}, "whatif": {}, "export": {}}
	pairs := 0
	for _, c := range (&program{}).app().Commands {
		var reading [][]string
		both := file("both.json", trace)
		if first, ok := argument[c.Name]; ok {
			reading = append(reading, append(first, both))
		}
		var writing []string
		for _, f := range c.Flags {
			f, ok := f.(*pathFlag)
			name := "--" + f2name(f)
			switch {
			case !ok || name == "--root":
			case f.role == writes:
				writing = append(writing, name)
			case name == "--input":
				reading = append(reading, []string{name, both})
			case name == "--file":
				reading = append(reading, []string{name, both, in})
			default:
				reading = append(reading, []string{name, both, "-i", in})
			}
		}
		for _, r := range reading {
			for _, w := range writing {
				args := append([]string{"overlay", c.Name}, base[c.Name]...)
				if w == "--output" && len(base[c.Name]) > 0 && base[c.Name][0] == "-o" {
					args = args[:2]
				}
				args = append(append(args, w, both), r...)
				var stderr bytes.Buffer
				status := run(args, strings.NewReader(""), io.Discard, &stderr)
				left, _ := os.ReadFile(both)
				if status != exitUsage || !bytes.Equal(left, trace) {
					t.Errorf("%s: status %d, %s", strings.Join(args, " "), status, stderr.String())
				}
				pairs++
			}
		}
	}
	if pairs < 50 {
		t.Errorf("%d pairs", pairs)
	}
}

func f2name(f *pathFlag) string {
	if f == nil {
		return ""
	}
	return f.Names()[0]
}
