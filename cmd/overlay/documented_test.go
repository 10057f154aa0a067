package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"overlay/internal/testtrace/corpus"
)

// TestDocumentedFlags: every command line in the documentation names a command, and flags that this command takes.
func TestDocumentedFlags(t *testing.T) {
	root := corpus.Root(t)
	files := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "skills/overlay/SKILL.md", "fleet/beam/README.md", "fleet/slurm.sh", "fleet/kubernetes.yaml", "ci/compare.sh", "ci/gate.sh"}
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = filepath.Join(root, files[i])
	}
	known := map[string]*cli.Command{}
	for _, c := range (&program{}).app().Commands {
		known[c.Name] = c
	}
	// A command stands behind "overlay" in code, and ends with the code or at a sign of the shell.
	call := regexp.MustCompile("(?m)(?:^    (?:\\$ )?|`|-n 1 |\\}\" )overlay ([a-z]+)((?: [^`|#\n]*)?)")
	flag := regexp.MustCompile(`(?:^| )(-[a-z]|--[a-z][a-z-]*)\b`)
	lines := 0
	for _, name := range append(files, docs...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			c := known[m[1]]
			if c == nil {
				t.Errorf("%s: there is no command %s", name, m[1])
				continue
			}
			lines++
			takes := map[string]bool{}
			for _, f := range c.Flags {
				for _, n := range f.Names() {
					takes[n] = true
				}
			}
			for _, f := range flag.FindAllStringSubmatch(m[2], -1) {
				if !takes[strings.TrimLeft(f[1], "-")] {
					t.Errorf("%s: overlay %s does not take %s", name, m[1], f[1])
				}
			}
		}
	}
	if lines < 60 {
		t.Errorf("only %d command lines were found", lines)
	}
}
