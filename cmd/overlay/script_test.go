//go:build !quick

package main

import (
	"flag"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"

	"overlay/internal/kineto"
	"overlay/internal/testtrace/databases"
	"overlay/internal/testtrace/traceread"
)

var update = flag.Bool("update", false, "rewrite the expected texts of testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"overlay": main})
}

// TestScript runs testdata/script/*.txtar: the program from outside, one behaviour a file.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: false,
		Setup: func(env *testscript.Env) error {
			demo, err := os.ReadFile("../../testdata/demo.json.gz")
			if err != nil {
				return err
			}
			if err := os.WriteFile(env.WorkDir+"/demo.json.gz", demo, 0o666); err != nil {
				return err
			}
			if strings.HasSuffix(env.WorkDir, "script-history") {
				return writeHistory(env.WorkDir+"/history", 24, 14)
			}
			return writeDatabases(env)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"status": wantStatus, "oneline": wantOneLine, "viewer": wantSound},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Getuid() == 0, nil
			case "userns": // may a script mount a small disk?
				return exec.Command("unshare", "-rm", "true").Run() == nil, nil
			}
			return false, nil
		},
	})
}

// writeDatabases writes what other profilers would have recorded of the demo, for the scripts about them.
func writeDatabases(env *testscript.Env) error {
	if !strings.HasSuffix(env.WorkDir, "script-databases") {
		return nil
	}
	f, err := os.Open(env.WorkDir + "/demo.json.gz")
	if err != nil {
		return err
	}
	defer f.Close()
	tr, err := traceread.Read(f, "demo.json.gz", kineto.Options{})
	if err != nil {
		return err
	}
	nsys, err := databases.Nsys(tr, databases.Options{})
	if err != nil {
		return err
	}
	rocpd, err := databases.Rocpd(tr)
	if err != nil {
		return err
	}
	ascend, err := databases.Ascend(tr, 2)
	if err != nil {
		return err
	}
	for name, src := range map[string][]byte{"demo.sqlite": nsys, "demo.db": rocpd, "ascend_pytorch_profiler_2.db": ascend} {
		if err := os.WriteFile(env.WorkDir+"/"+name, src, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// wantStatus runs a command and wants an exit status: status 2 overlay run.
func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [args]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("status %d, want %s", got, args[0])
	}
}

// wantOneLine wants the last command to have said just one line on standard error, with the program's name in front,
// and nothing on standard output.
func wantOneLine(ts *testscript.TestScript, neg bool, args []string) {
	stderr, stdout := ts.ReadFile("stderr"), ts.ReadFile("stdout")
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "overlay: ") {
		ts.Fatalf("standard error is not one line: %q", stderr)
	}
	if stdout != "" {
		ts.Fatalf("standard output is not empty: %q", stdout)
	}
}

// TestEveryFlagIsScripted: a flag that no script uses is a flag nobody tried.
func TestEveryFlagIsScripted(t *testing.T) {
	files, err := os.ReadDir("../../testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{} // "run --plain"
	for _, f := range files {
		text, err := os.ReadFile("../../testdata/script/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			i := slices.Index(words, "overlay")
			if i < 0 || i+1 >= len(words) || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "status 2") {
				continue
			}
			for _, w := range words[i+2:] {
				name, _, _ := strings.Cut(w, "=")
				used[words[i+1]+" "+name] = true
			}
		}
	}
	general := map[string]bool{}
	for _, f := range generalFlags().flags {
		general[f.Names()[0]] = true
	}
	for _, c := range (&program{}).app().Commands {
		for _, f := range c.Flags {
			if !flagUsed(used, c.Name, f.Names(), general[f.Names()[0]]) {
				t.Errorf("no script uses %s --%s", c.Name, f.Names()[0])
				if general[f.Names()[0]] {
					used["any --"+f.Names()[0]] = true // once is enough
				}
			}
		}
	}
}

// flagUsed looks for one of a flag's names; a general flag may be used with any command.
func flagUsed(used map[string]bool, command string, names []string, anyCommand bool) bool {
	for use := range used {
		cmd, flag, _ := strings.Cut(use, " ")
		if (anyCommand || cmd == command) && slices.Contains(names, strings.TrimLeft(flag, "-")) && flag[0] == '-' {
			return true
		}
	}
	return false
}

// TestHelpNamesEveryFlag: --help says what each flag does and gives examples.
func TestHelpNamesEveryFlag(t *testing.T) {
	for _, c := range (&program{}).app().Commands {
		var page strings.Builder
		run([]string{"overlay", c.Name, "--help"}, nil, &page, &page)
		help := page.String()
		if len(c.Flags) > len(generalFlags().flags) && !strings.Contains(help, "Examples:\n  overlay "+c.Name) {
			t.Errorf("%s: no example", c.Name)
		}
		for _, f := range c.Flags {
			if len(f.(cli.DocGenerationFlag).GetUsage()) < 10 || !strings.Contains(help, "--"+f.Names()[0]) {
				t.Errorf("%s --%s is not explained", c.Name, f.Names()[0])
			}
		}
		for line := range strings.Lines(help) {
			if n := len([]rune(line)); n > 122 {
				t.Errorf("%s: line of %d characters: %s", c.Name, n, line)
			}
		}
	}
}
