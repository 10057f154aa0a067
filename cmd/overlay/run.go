package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/flame"
	"overlay/internal/inputs"
	"overlay/internal/outputs"
	"overlay/internal/overlay"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/tables"
)

// checkRun completes and checks the options of `run`.
func checkRun(r *flagReader, o *options) {
	r.needInput(o)
	if f, err := inputs.FindRanks(o.inputs); err == nil && len(o.inputs) > 0 { // what is not there is said by who reads it
		if o.many = len(f.Sets) > 0 || len(f.Files) > 1; !o.many { // as far as names tell
			o.input = f.Files[0].Path
		}
	}
	o.sums = true
	pageHasAll(o)
	if o.output == "" {
		if o.many {
			r.problem("no output: name the picture of the job with -o, as in -o job.pftrace")
			return
		}
		if o.input == "-" {
			r.problem("-i - needs -o")
			return
		}
		o.output = overlaidName(o.input)
	}
	r.readFormat(o, true)
	if (o.gpuCompute || o.stackSamples) && o.chrome {
		r.problem("--gpu-compute and --stack-samples are of Perfetto's format: give -o FILE.pftrace")
	}
}

// overlaidName is the output of `run` when none is given.
func overlaidName(input string) string {
	name := input
	for _, suffix := range []string{".gz", ".zst", ".json", ".pftrace", ".sqlite", ".db"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name + ".overlaid.pftrace"
}

// run analyses a trace, or those of a job, and writes it with the analysis drawn in.
func (j *job) run() error {
	out, err := j.createOutput()
	if err != nil {
		return err
	}
	rep, err := j.outs.CreateBeside(j.opts.report)
	if err != nil {
		return err
	}
	s, err := j.read(j.opts.inputs, j.pipeline(), true)
	if err != nil {
		return err
	}
	if s.job != nil {
		return j.runJob(s.found, s.job, out, rep)
	}
	if j.opts.tar || j.opts.zip {
		return j.opts.usage("-o %s: an archive takes the ranks of a job, and this is one trace; name the output .pftrace or .json", quote(j.opts.output))
	}
	solved := s.run
	o := overlay.Options{Flows: flowNames[j.opts.flows], Plain: j.opts.plain, GPUCompute: j.opts.gpuCompute, Version: version, Slim: j.opts.onlyCritical}
	if j.opts.stackSamples {
		o.Stacks = solved.Stacks()
	}
	var r *report.Report
	var stacks *flame.Graph
	if rep != nil && filepath.Ext(rep.Name) == ".html" {
		stacks = solved.Flame()
	}
	if rep != nil || !j.opts.quiet {
		source := j.opts.reportSource(s.name, j.opts.top)
		if rep != nil {
			source.Memory = solved.Memory(nil)
		}
		r = solved.Report(source)
	}
	recorded := solved.Recorded
	if j.opts.advice {
		if r == nil {
			j.stages.start("advice")
		}
		o.Advice = solved.Findings()
	}
	d := solved.Draw(o)
	st, err := j.write(out, d)
	if err != nil {
		return err
	}
	if err := writeReport(rep, r, func(w io.Writer) error { return page.WriteReport(w, r, stacks) }); err != nil {
		return err
	}
	if !j.opts.quiet {
		if recorded {
			st.notes = append(st.notes, "the input is a slim trace: window, method and delays are those of the run that wrote it")
		}
		j.result = func(w io.Writer) error {
			return summary(w, r, j.opts.textOptions(j.resultTo), out, st.drawn, st.notes, repairLines(d.Trace))
		}
	}
	return nil
}

// summary says what bounds the run, what was written, what was mended, and what to do next.
func summary(w io.Writer, d document, o report.TextOptions, out *outputs.Output, drawn string, lists ...[]string) error {
	if err := d.WriteText(w, o); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if err := writeLines(w, fmt.Sprintf("wrote %s, %s bytes: %s", out.Name, tables.Grouped(out.Bytes), drawn), lists...); err != nil {
		return err
	}
	return writeLines(w, nextStep(out.Name, out.Bytes, out.Direct()))
}

func (p *program) runCommand() *cli.Command {
	takes := groups{inputFlags(), outputFlags("default: the name of the input with .overlaid.pftrace instead of .json.gz"), besideFlags(), captureFlags(), jobFlags(), expectFlags(),
		methodFlags(), windowFlags(), htaFlags(), adviceFlags(), pictureFlags(), ranksFlags(), reportFlags(), generalFlags()}
	return &cli.Command{Name: "run", Usage: "analyse, and write the trace with the analysis drawn in", ArgsUsage: "[-i] FILE [-o FILE] [flags]", Flags: takes.flags(),
		Action: p.action(takes, inputFiles, checkRun, (*job).run)}
}
