package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/transforms/stats"
)

func init() { // workers have to know the functions by name
	register.DoFn3x1[context.Context, string, func(string, int64), error](&exportFn{})
	register.Emitter2[string, int64]()
	register.DoFn3x1[context.Context, []byte, func(*string, *int64) bool, error](&writeFn{})
	register.Iter2[string, int64]()
}

// build makes the pipeline: a trace goes to `overlay export`, whose tables go to the output, and its summary to the folder summaries there. When all are done, the
// time of each class is summed over all traces into classes.csv, in the words of
//
//	overlay query 'select class, sum(dur_ns) as ns from segments group by class order by class' OUTPUT --format csv
//
// and what the commands of reductions say of the summaries goes to files beside it.
func build(s beam.Scope, input, output, run, tool string) error {
	ctx := context.Background()
	fs, err := filesystem.New(ctx, input)
	if err != nil {
		return err
	}
	defer fs.Close()
	files, err := fs.List(ctx, input)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no traces at %s", input)
	}
	slices.Sort(files)
	traces := beam.Reshuffle(s, beam.CreateList(s, files)) // else the files would be one piece of work
	sums := stats.SumPerKey(s, beam.ParDo(s, &exportFn{output, run, tool}, traces))
	beam.ParDo0(s, &writeFn{output, tool}, beam.Impulse(s), beam.SideInput{Input: sums})
	return nil
}

// summaries is the folder of those, below the output.
const summaries = "summaries"

// reductions are what is asked of a job, by the name of the file with the answer.
var reductions = map[string][]string{
	"report.txt":  {"report", summaries},
	"report.json": {"report", summaries, "--json"},
	"advise.txt":  {"advise", summaries},
	"whatif.txt":  {"whatif", summaries, "--each", "rank"},
}

// exportFn exports one trace: idempotent, so that a runner may try it again.
type exportFn struct{ Output, Run, Tool string }

// ProcessElement copies a trace to the worker, exports it there, copies its tables to the output, and tells the time of each
// class on its path.
func (f *exportFn) ProcessElement(ctx context.Context, file string, emit func(class string, ns int64)) error {
	dir, err := os.MkdirTemp("", "overlay-beam-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	local, tables := filepath.Join(dir, path.Base(filepath.ToSlash(file))), filepath.Join(dir, "tables") // the name may say the rank
	if err := fetch(ctx, file, local); err != nil {
		return err
	}
	for _, args := range [][]string{{"-o", tables}, {"-o", filepath.Join(dir, summaries), "--tables", "summary"}} {
		if _, err := overlay(ctx, f.Tool, dir, append([]string{"export", "-i", local, "--run", f.Run, "--quiet"}, args...)...); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	out, err := overlay(ctx, f.Tool, dir, "query", "select class, sum(dur_ns) from segments group by 1", tables, "--format", "csv")
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	lines, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		return err
	}
	if err := store(ctx, tables, f.Output); err != nil {
		return err
	}
	if err := store(ctx, filepath.Join(dir, summaries), strings.TrimSuffix(f.Output, "/")+"/"+summaries); err != nil {
		return err
	}
	for _, line := range lines[1:] {
		ns, err := strconv.ParseInt(line[1], 10, 64)
		if err != nil {
			return err
		}
		emit(line[0], ns)
	}
	return nil
}

// overlay runs the program in a folder and returns what it prints.
func overlay(ctx context.Context, tool, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if msg := strings.TrimSpace(stderr.String()); msg != "" {
			return nil, fmt.Errorf("%s", msg)
		}
		return nil, err
	}
	return stdout.Bytes(), nil
}

// fetch copies a file of any file system that Beam knows to this machine.
func fetch(ctx context.Context, from, to string) error {
	fs, err := filesystem.New(ctx, from)
	if err != nil {
		return err
	}
	defer fs.Close()
	r, err := fs.OpenRead(ctx, from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}

// store copies the tables of one trace to the output.
func store(ctx context.Context, tables, output string) error {
	fs, err := filesystem.New(ctx, output)
	if err != nil {
		return err
	}
	defer fs.Close()
	return filepath.WalkDir(tables, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(tables, name)
		if err != nil {
			return err
		}
		return write(ctx, fs, strings.TrimSuffix(output, "/")+"/"+filepath.ToSlash(below), b)
	})
}

func write(ctx context.Context, fs filesystem.Interface, name string, b []byte) error {
	w, err := fs.OpenWrite(ctx, name)
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}

// writeFn writes the sums of all traces, and what the job of all is.
type writeFn struct{ Output, Tool string }

// ProcessElement is called once; the sums come beside it.
func (f *writeFn) ProcessElement(ctx context.Context, _ []byte, sums func(*string, *int64) bool) error {
	total := map[string]int64{}
	var class string
	var ns int64
	for sums(&class, &ns) {
		total[class] = ns
	}
	var b bytes.Buffer
	b.WriteString("class,ns\n")
	for _, class := range slices.Sorted(maps.Keys(total)) {
		fmt.Fprintf(&b, "%s,%d\n", class, total[class])
	}
	fs, err := filesystem.New(ctx, f.Output)
	if err != nil {
		return err
	}
	defer fs.Close()
	output := strings.TrimSuffix(f.Output, "/")
	if err := write(ctx, fs, output+"/classes.csv", b.Bytes()); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "overlay-beam-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	parts, err := fs.List(ctx, output+"/"+summaries+"/*/*/*.parquet")
	if err != nil {
		return err
	}
	for _, part := range parts {
		below := strings.Split(filepath.ToSlash(part), "/")
		local := filepath.Join(dir, summaries, filepath.Join(below[len(below)-3:]...))
		if err := os.MkdirAll(filepath.Dir(local), 0o777); err != nil {
			return err
		}
		if err := fetch(ctx, part, local); err != nil {
			return err
		}
	}
	for name, args := range reductions {
		said, err := overlay(ctx, f.Tool, dir, args...)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := write(ctx, fs, output+"/"+name, said); err != nil {
			return err
		}
	}
	return nil
}
