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

// build makes the pipeline: a trace goes to `overlay export`, whose tables go to the output; the time of each class is summed
// over all traces into classes.csv, in the words of
//
//	overlay query 'select class, sum(dur_ns) as ns from segments group by class order by class' OUTPUT --format csv
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
	beam.ParDo0(s, &writeFn{output}, beam.Impulse(s), beam.SideInput{Input: sums})
	return nil
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
	if _, err := f.overlay(ctx, "export", "-i", local, "-o", tables, "--run", f.Run, "--quiet"); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	out, err := f.overlay(ctx, "query", "select class, sum(dur_ns) from segments group by 1", tables, "--format", "csv")
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
	for _, line := range lines[1:] {
		ns, err := strconv.ParseInt(line[1], 10, 64)
		if err != nil {
			return err
		}
		emit(line[0], ns)
	}
	return nil
}

// overlay runs the program and returns what it prints.
func (f *exportFn) overlay(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, f.Tool, args...)
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

// writeFn writes the sums of all traces.
type writeFn struct{ Output string }

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
	return write(ctx, fs, strings.TrimSuffix(f.Output, "/")+"/classes.csv", b.Bytes())
}
