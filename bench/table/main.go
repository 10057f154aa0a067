// Table times whole commands on one trace, side by side with what anybody has at hand, and prints a table in Markdown:
//
//	make build && go run ./bench/table TRACE.json.gz [RUNS]
//
// The commands take turns, so that a slow moment of the machine hits all of them; the first turn is not counted. The rows
// are medians of RUNS turns (5); the last column is the processor time beside that of gzip in the same turn. Programs that are not installed are left out, and named. OVERLAY is the program, by
// default bin/overlay.
package main

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"overlay/internal/tables"
)

// row is a command and how its runs went.
type row struct {
	name  string
	args  []string
	needs []string // a command that tells by its status whether the row can run
	runs  []cost
}

// cost is what one run took.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // bytes of resident memory, the pages of mapped files included
}

func main() {
	if err := table(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func table(args []string) error {
	runs := 5
	if len(args) == 2 {
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return fmt.Errorf("%s is no number of runs", args[1])
		}
		runs = n
	} else if len(args) != 1 {
		return fmt.Errorf("give a trace, as in: go run ./bench/table TRACE.json.gz [RUNS]")
	}
	dir, err := os.MkdirTemp("", "overlay-table-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain, err := unpack(args[0], dir)
	if err != nil {
		return err
	}
	rows, missing := installed(commands(args[0], plain, dir))
	for turn := range runs + 1 {
		for i := range rows {
			c, err := rows[i].run()
			if err != nil {
				return err
			}
			if turn > 0 {
				rows[i].runs = append(rows[i].runs, c)
			}
		}
	}
	return report(os.Stdout, rows, missing, plain, runs)
}

// unpack leaves the trace as plain JSON in dir.
func unpack(file, dir string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w: give a .json.gz", file, err)
	}
	plain := filepath.Join(dir, "trace.json")
	out, err := os.Create(plain)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(out, z); err != nil {
		return "", err
	}
	return plain, out.Close()
}

// commands are the rows: gzip first, because the others are compared with it.
func commands(packed, plain, dir string) []row {
	overlay, out := cmp.Or(os.Getenv("OVERLAY"), "bin/overlay"), filepath.Join(dir, "out.pftrace")
	hta := "import sys; from hta.trace_analysis import TraceAnalysis; TraceAnalysis(trace_files={0: sys.argv[1]}).critical_path_analysis(rank=0, annotation='', instance_id=None)"
	return []row{
		{name: "`gzip -dc`", args: []string{"gzip", "-dc", packed}, needs: []string{"gzip", "--version"}},
		{name: "`python3`, `json.load` of plain JSON", args: []string{"python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", plain}, needs: []string{"python3", "--version"}},
		{name: "HTA, `critical_path_analysis`", args: []string{"python3", "-c", hta, packed}, needs: []string{"python3", "-c", "import hta"}},
		{name: "`trace_processor_shell`, import of plain JSON", args: []string{"trace_processor_shell", "-Q", "select 1", plain}, needs: []string{"trace_processor_shell", "--version"}},
		{name: "`check`, .json.gz", args: []string{overlay, "check", packed}},
		{name: "`check`, plain", args: []string{overlay, "check", plain}},
		{name: "`report`, .json.gz", args: []string{overlay, "report", "-i", packed}},
		{name: "`report --no-advice`, .json.gz", args: []string{overlay, "report", "-i", packed, "--no-advice"}},
		{name: "`report`, plain", args: []string{overlay, "report", "-i", plain}},
		{name: "`run`, .json.gz", args: []string{overlay, "run", "-i", packed, "-o", out}},
		{name: "`run --no-advice`, .json.gz", args: []string{overlay, "run", "-i", packed, "-o", out, "--no-advice"}},
		{name: "`run`, plain", args: []string{overlay, "run", "-i", plain, "-o", out}},
		{name: "`run`, .json.gz, to .pftrace.gz", args: []string{overlay, "run", "-i", packed, "-o", out + ".gz"}},
		{name: "`run`, .json.gz, to .json", args: []string{overlay, "run", "-i", packed, "-o", filepath.Join(dir, "out.json")}},
		{name: "`run --only-critical`, .json.gz", args: []string{overlay, "run", "-i", packed, "-o", out, "--only-critical"}},
		{name: "`convert`, .json.gz", args: []string{overlay, "convert", "-i", packed, "-o", out}},
		{name: "`export`, .json.gz", args: []string{overlay, "export", "-i", packed, "-o", filepath.Join(dir, "tables")}},
		{name: "`query`, .json.gz", args: []string{overlay, "query", "select count(*) from events", packed}},
		{name: "`advise`, .json.gz", args: []string{overlay, "advise", packed}},
		{name: "`whatif`, .json.gz", args: []string{overlay, "whatif", "-i", packed, "--scale", "class:cpu=0.5"}},
		{name: "`diff` with itself, .json.gz", args: []string{overlay, "diff", packed, packed}},
	}
}

// installed are the rows that can run, and the names of the others.
func installed(rows []row) (can []row, missing []string) {
	for _, r := range rows {
		if len(r.needs) > 0 && exec.Command(r.needs[0], r.needs[1:]...).Run() != nil {
			missing = append(missing, r.name)
			continue
		}
		can = append(can, r)
	}
	return can, missing
}

func (r *row) run() (cost, error) {
	c := exec.Command(r.args[0], r.args[1:]...)
	began := time.Now()
	text, err := output(c)
	wall := time.Since(began)
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", strings.Join(r.args, " "), err, text)
	}
	return cost{wall, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), peak(c.ProcessState)}, nil
}

// output runs a command, throws away what it prints, and keeps what it says on standard error.
func output(c *exec.Cmd) (string, error) {
	var says strings.Builder
	c.Stderr = &says // standard output goes nowhere
	err := c.Run()
	return says.String(), err
}

// median of what the runs of a row took.
func median[T cmp.Ordered](runs []cost, of func(c *cost) T) T {
	var list []T
	for i := range runs {
		list = append(list, of(&runs[i]))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func report(w io.Writer, rows []row, missing []string, plain string, runs int) error {
	info, err := os.Stat(plain)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s of plain JSON, %d processors, medians of %d runs in turn\n\n", tables.FormatMegabytes(info.Size(), 0), runtime.NumCPU(), runs)
	fmt.Fprintln(w, "| command | seconds | processor seconds | peak MB | processor time beside gzip |\n| --- | --- | --- | --- | --- |")
	seconds := func(d time.Duration) string { return tables.Seconds(d.Nanoseconds()) }
	for i := range rows {
		r := &rows[i]
		var beside []float64
		for turn, c := range r.runs {
			beside = append(beside, float64(c.cpu)/float64(rows[0].runs[turn].cpu))
		}
		slices.Sort(beside)
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.name, seconds(median(r.runs, func(c *cost) time.Duration { return c.wall })),
			seconds(median(r.runs, func(c *cost) time.Duration { return c.cpu })),
			tables.Megabytes(median(r.runs, func(c *cost) int64 { return c.peak })), tables.Fixed(beside[len(beside)/2], 2))
	}
	if len(missing) > 0 {
		fmt.Fprintf(w, "\nNot installed here: %s\n", strings.Join(missing, ", "))
	}
	return nil
}
