package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"overlay/internal/testtrace/corpus"
)

// attackInputs is how many inputs the attack makes, and the seed of the first: OVERLAY_ATTACK=COUNT or COUNT@SEED.
func attackInputs(t *testing.T) (count int, seed uint64) {
	count = 120
	if testing.Short() {
		count = 50
	}
	if corpus.Long() {
		count = 2000
	}
	if v := os.Getenv("OVERLAY_ATTACK"); v != "" {
		n, from, _ := strings.Cut(v, "@")
		var err error
		if count, err = strconv.Atoi(n); err != nil {
			t.Fatalf("OVERLAY_ATTACK=%s is no COUNT or COUNT@SEED", v)
		}
		if from != "" {
			if seed, err = strconv.ParseUint(from, 10, 64); err != nil {
				t.Fatalf("OVERLAY_ATTACK=%s is no COUNT or COUNT@SEED", v)
			}
		}
	}
	return count, seed
}

// TestAttack runs commands on mutated traces: whatever the input, a command does its work or says in one line why not,
// and leaves nothing behind. The folder of a failing input stays; a crash of the whole process leaves it, too.
func TestAttack(t *testing.T) {
	count, first := attackInputs(t)
	dir, err := os.MkdirTemp("", "overlay-attack-")
	if err != nil {
		t.Fatal(err)
	}
	done, failed := 0, 0
	of := map[string]int{} // those that succeeded, by command
	for seed := first; seed < first+uint64(count); seed++ {
		a := &attacker{rand.New(rand.NewPCG(seed, 0))}
		input := a.input()
		for range 2 {
			args := a.command()
			c := &attackCase{dir: dir, args: args, other: everyLetter}
			problem, status := c.try(input)
			if status == exitDone {
				done++
				of[args[0]]++
			}
			if problem == "" {
				continue
			}
			failed++
			small := c.minimise(input, problem)
			kept := filepath.Join(os.TempDir(), fmt.Sprintf("overlay-attack-%d.json", seed))
			os.WriteFile(kept, small, 0o600)
			t.Errorf("seed %d: overlay %s: %s\n  input of %d bytes in %s", seed, strings.Join(args, " "), problem, len(small), kept)
			if len(small) < 600 {
				t.Logf("%q", small)
			}
		}
		if failed >= 10 {
			t.Fatal("enough is known")
		}
	}
	os.RemoveAll(dir)
	t.Logf("%d of %d commands succeeded", done, 2*count)
	if done < count/4 {
		t.Errorf("only %d of %d commands succeeded: the mutations tell nothing", done, 2*count)
	}
	for _, command := range []string{"run", "convert", "report", "check", "diff", "export", "query"} {
		if of[command] == 0 && count >= 50 {
			t.Errorf("no input let %s succeed", command)
		}
	}
}

// command is a command line; IN stands for the input, OTHER for another trace, - for standard input.
func (a *attacker) command() []string {
	maybe := func(args []string, in int, more ...string) []string {
		if a.IntN(in) == 0 {
			args = append(args, more...)
		}
		return args
	}
	out := "out" + pick(a, []string{".pftrace", ".pftrace", ".pftrace.gz", ".json", ".json.gz"})
	var args []string
	kind := a.IntN(12)
	switch {
	case kind < 5:
		args = []string{"run", "-i", pick(a, []string{"IN", "IN", "IN", "-"}), "-o", out}
		args = maybe(args, 4, "--flows", pick(a, []string{"all", "none"}))
		args = maybe(args, 6, "--plain")
		args = maybe(args, 3, "--report", pick(a, []string{"r.json", "r.html"}))
		args = maybe(args, 3, "--only-critical")
		args = maybe(args, 3, "--anonymize")
	case kind < 6:
		return append(maybe([]string{"convert", "-i", "IN", "-o", out}, 5, "--strict"), "--jobs", pick(a, []string{"1", "3"}))
	case kind < 8:
		args = []string{"report", "-i", "IN"}
		args = append(args, pick(a, [][]string{nil, {"--json"}, {"--html", "r.html"}})...)
	case kind < 9:
		return maybe([]string{"check", "IN"}, 2, "--json")
	case kind < 10:
		args = maybe([]string{"export", "-i", "IN", "-o", "tables"}, 3, "--args")
		args = maybe(args, 3, "--compat")
	case kind < 11:
		args = []string{"query", pick(a, attackQueries), "IN", "--format", pick(a, []string{"table", "jsonl"})}
		args = maybe(args, 3, "--args")
	default:
		// Most mutated traces are too unlike another one to be compared: half of them are held against themselves.
		args = append(pick(a, [][]string{{"diff", "IN", "OTHER"}, {"diff", "OTHER", "IN"}, {"diff", "IN", "IN"}, {"diff", "IN", "IN"}}), pick(a, [][]string{nil, {"--json"}, {"--html", "r.html"}})...)
	}
	method := pick(a, []string{"exact", "exact", "ctda", "hta"})
	args = append(args, "--method", method)
	args = maybe(args, 6, "--annotation", pick(a, []string{"ProfilerStep#", "step", "x"}))
	args = maybe(args, 8, "--threads", pick(a, []string{"gil", "explicit"}))
	args = maybe(args, 10, "--strict")
	if args[0] == "run" || args[0] == "report" {
		args = maybe(args, 3, "--analysis", "all")
		args = maybe(args, 4, "--segments")
	}
	return append(args, "--jobs", pick(a, []string{"1", "2", "5"}))
}

// attackQueries go through every column of every table.
var attackQueries = []string{"select * from events", "select * from segments join events using (run, rank, event)", "select * from edges", "select * from nodes", "select * from spans",
	"select * from collectives", "select * from counters", "select * from steps join tracks", "select * from runs", "select l.name, count(*) from events k join events l on l.event = k.launch_event group by 1",
	"select * from overlay_critical", "select * from overlay_segment"}

// attackCase is a command line in a folder.
type attackCase struct {
	dir   string
	args  []string
	other string
}

// try runs the command on an input, and says what is wrong with what it did.
func (c *attackCase) try(input []byte) (problem string, status int) {
	for _, name := range []string{"in.json", "other.json"} {
		if err := os.WriteFile(filepath.Join(c.dir, name), map[string][]byte{"in.json": input, "other.json": []byte(c.other)}[name], 0o600); err != nil {
			return err.Error(), -1
		}
	}
	args := []string{"overlay"}
	var outs []string
	var stdin io.Reader = strings.NewReader("")
	for i, arg := range c.args {
		switch {
		case arg == "IN":
			arg = filepath.Join(c.dir, "in.json")
		case arg == "OTHER":
			arg = filepath.Join(c.dir, "other.json")
		case arg == "-":
			stdin = bytes.NewReader(input)
		case i > 0 && (c.args[i-1] == "-o" || c.args[i-1] == "--html" || c.args[i-1] == "--report"):
			outs = append(outs, arg)
			arg = filepath.Join(c.dir, arg)
		}
		args = append(args, arg)
	}
	defer func() {
		for _, name := range outs {
			os.RemoveAll(filepath.Join(c.dir, name))
		}
	}()
	var stdout, stderr bytes.Buffer
	watch := time.AfterFunc(time.Minute, func() { panic("the command stands still: " + strings.Join(args, " ")) })
	status = run(args, stdin, &stdout, &stderr)
	watch.Stop()
	if problem := wrongAnswer(c.args, status, stdout.String(), stderr.String()); problem != "" {
		return problem, status
	}
	if status == exitUsage {
		return "", status
	}
	if problem := c.folder(status == exitDone, outs); problem != "" {
		return problem, status
	}
	if status == exitDone {
		for _, name := range outs {
			if problem := c.output(name); problem != "" {
				return problem, status
			}
		}
	}
	return "", status
}

// wrongAnswer says what no answer of a command may be, whatever its input: a crash, several lines of error, control characters.
func wrongAnswer(args []string, status int, stdout, said string) string {
	switch {
	case status == exitUsage && strings.Contains(said, "rank"):
		return "" // a process of a broken event counts as another rank, and the flag is for one trace
	case status == exitUsage && args[0] == "diff" && strings.HasPrefix(said, "overlay: "+errUnlike.Error()):
		return "" // what is left of the names of a broken trace is not what the other one has
	case status != exitDone && status != exitFailed:
		return fmt.Sprintf("status %d: %s", status, said)
	case crashed.MatchString(said):
		return said
	case status == exitFailed && (strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "overlay: ") || len(said) > 2000):
		return fmt.Sprintf("not one line of error: %.3000q", said)
	case status == exitFailed && stdout != "":
		return fmt.Sprintf("failed, but prints %.200q", stdout)
	case controls.MatchString(said + stdout):
		return fmt.Sprintf("control characters on the terminal: %q", controls.FindString(said+stdout))
	case status == exitDone && slices.Contains(args, "--json") && !json.Valid([]byte(stdout)):
		return "what is printed is no JSON"
	}
	return ""
}

var crashed = regexp.MustCompile(`goroutine|panic|internal error|this is a bug`)

var controls = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]")

// folder compares what lies in the folder with what should.
func (c *attackCase) folder(done bool, outs []string) string {
	want := map[string]bool{"in.json": true, "other.json": true}
	if done {
		for _, name := range outs {
			want[name] = true
		}
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err.Error()
	}
	for _, e := range entries {
		if !want[e.Name()] {
			os.Remove(filepath.Join(c.dir, e.Name()))
			return "left behind: " + e.Name()
		}
		delete(want, e.Name())
	}
	for name := range want {
		return "no output " + name
	}
	return ""
}

// output looks at a file that was written: JSON is JSON, and the viewer's rules of import have nothing to say of a .pftrace.
func (c *attackCase) output(name string) string {
	path := filepath.Join(c.dir, name)
	if strings.Contains(name, ".pftrace") {
		data, err := os.ReadFile(path)
		if err == nil {
			_, err = viewed(data)
		}
		if err != nil {
			return "the viewer complains: " + err.Error()
		}
		return ""
	}
	if name == "tables" {
		for _, sql := range attackQueries {
			if status := run([]string{"overlay", "query", sql, path}, nil, io.Discard, io.Discard); status != exitDone {
				return "what was exported cannot be asked: " + sql
			}
		}
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(z)
		}
		if err != nil {
			return name + ": " + err.Error()
		}
		name = strings.TrimSuffix(name, ".gz")
	}
	switch {
	case strings.HasSuffix(name, ".json") && !json.Valid(data):
		return name + " is no JSON"
	case !utf8.Valid(data):
		return name + " is no UTF-8"
	case len(data) == 0:
		return name + " is empty"
	}
	return ""
}

// minimise takes pieces out of an input as long as the same kind of thing goes wrong.
func (c *attackCase) minimise(input []byte, problem string) []byte {
	kind := func(p string) string { return regexp.MustCompile(`[\d"].*`).ReplaceAllString(p[:min(len(p), 60)], "") }
	want := kind(problem)
	tries := 0
	for size := len(input) / 2; size > 0 && tries < 400; size /= 2 {
		for at := 0; at+size <= len(input) && tries < 400; {
			smaller := slicesConcat(input[:at], input[at+size:])
			tries++
			if p, _ := c.try(smaller); p != "" && kind(p) == want {
				input = smaller
			} else {
				at += size
			}
		}
	}
	return input
}
