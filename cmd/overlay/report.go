package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"overlay/internal/coarse"
	"overlay/internal/flame"
	"overlay/internal/flights"
	"overlay/internal/fromrecords"
	"overlay/internal/inputs"
	"overlay/internal/memory"
	"overlay/internal/outputs"
	"overlay/internal/report"
	"overlay/internal/report/page"
)

// checkReport completes and checks the options of `report`.
func checkReport(r *flagReader, o *options) {
	r.needInput(o)
	pageHasAll(o)
}

// printReport prints the analysis of one trace, or of the traces of a job.
func (j *job) printReport() error {
	dumps, rest, err := inputs.Dumps(j.opts.inputs)
	if err != nil {
		return err
	}
	if len(dumps) > 0 {
		return j.reportFlights(dumps, rest)
	}
	s, err := j.read(j.opts.inputs, j.pipeline(), false)
	if found := (*fromrecords.Records)(nil); errors.As(err, &found) {
		return j.reportRecords(found)
	}
	if err != nil {
		return err
	}
	if s.job != nil {
		return j.reportJob(s)
	}
	var graph *flame.Graph
	if j.flame != nil || j.html != nil {
		graph = s.run.Flame()
	}
	if err := writeFlame(j.flame, graph); err != nil {
		return err
	}
	source := j.opts.reportSource(s.name, j.opts.top)
	source.Gains = true
	var snapshot *memory.Snapshot
	if j.opts.snapshot != "" {
		if snapshot, err = inputs.Snapshot(j.opts.snapshot); err != nil {
			return err
		}
	}
	if source.Memory = s.run.Memory(snapshot); snapshot != nil && !slices.ContainsFunc(source.Memory, func(u memory.Use) bool { return u.Snapshot }) {
		return fmt.Errorf("%s: nothing of it lies in the window: is it a snapshot of the same run, with its history?", report.Plain(j.opts.snapshot))
	}
	r := s.run.Report(source)
	return j.present(r, func(w io.Writer) error { return page.WriteReport(w, r, graph) })
}

// reportJob prints the analysis of the ranks of a job.
func (j *job) reportJob(s *subject) error {
	switch {
	case len(s.job.beside) > 0:
		return fmt.Errorf("%s: summaries and traces do not go together here; 'overlay run' draws the events of traces beside summaries", report.Plain(s.found.Files[0].Path))
	case j.opts.snapshot != "":
		return j.opts.usage("--snapshot is of one trace, and these are the ranks of a job: name one of its files")
	case j.flame != nil:
		return j.opts.usage("--flame shows the path of one trace, and these are the ranks of a job: name one of its files")
	}
	r := report.NewJob(s.job.source)
	return j.present(r, func(w io.Writer) error { return page.WriteJob(w, r, s.job.source) })
}

// writeFlame writes the path by its stacks, if that was asked for.
func writeFlame(out *outputs.Output, g *flame.Graph) error {
	if out == nil {
		return nil
	}
	return flame.FormOf(out.Name).Write(g, out)
}

// reportRecords prints who slows a job of which there are coarse records.
func (j *job) reportRecords(f *fromrecords.Records) error {
	o := j.opts
	if err := o.needTrace(report.Plain(f.File) + " has coarse records of a job"); err != nil {
		return err
	}
	step, err := o.stepNumber(o.step)
	if err != nil {
		return err
	}
	if step >= 0 {
		f.Job.Records = slices.DeleteFunc(f.Job.Records, func(r coarse.Record) bool { return r.Step != int64(step) })
		if len(f.Job.Records) == 0 {
			return o.usage("%s: no record of step %d", report.Plain(f.File), step)
		}
	}
	source := o.reportSource(o.input, o.top)
	r := report.NewRecords(source.Name, source.Version, f.Job)
	return j.present(r, func(w io.Writer) error { return page.WriteRecords(w, r) })
}

// needTrace refuses what only the report of a trace has.
func (o *options) needTrace(instead string) error {
	for _, flag := range []struct {
		name string
		set  bool
	}{{"annotation", o.annotation != ""}, {"method", o.method != "exact"}, {"capture", o.graphs != ""}, {"process", o.process != ""}, {"segments", o.segments}, {"flame", o.flame != ""}, {"snapshot", o.snapshot != ""}, {"analysis", len(o.analyses) > 0 && !o.pageOnly}, {"no-advice", !o.advice}} {
		if flag.set {
			return o.usage("--%s needs a trace, and %s", flag.name, instead)
		}
	}
	if o.topSet && o.json {
		return o.usage("--top is for the text: JSON has all rows, since %s", instead)
	}
	return nil
}

// reportFlights prints who did not arrive and who was late, by the dumps of flight recorders, and what the traces of the same ranks say of them, if there are any.
func (j *job) reportFlights(dumps []*flights.Dump, traces []string) error {
	o := j.opts
	instead := "these are dumps of flight recorders"
	if err := o.needTrace(instead); err != nil {
		return err
	}
	if o.step != "" || o.html != "" {
		return o.usage("--step and --html need a trace, and %s", instead)
	}
	study, err := flights.Judge(dumps)
	if err != nil {
		return err
	}
	source := o.reportSource(o.input, o.top)
	r := report.NewFlights(source.Name, source.Version, study)
	if len(traces) > 0 {
		s, err := j.read(traces, j.pipeline(), false)
		if err != nil {
			return err
		}
		if s.job == nil {
			return fmt.Errorf("%s: one trace beside dumps of flight recorders: give the traces of several of their ranks, or leave it out", report.Plain(traces[0]))
		}
		r.Join(s.job.job, s.job.verdict)
	}
	j.show(r)
	return nil
}

// reportSource is what is wanted of the report of a run, with the top hotspots.
func (o *options) reportSource(name string, top int) report.Source {
	s := report.Source{Name: inputs.Name(name), Version: version, Top: top, Segments: o.segments, Advise: o.advice,
		Brief: !o.json && o.html == "" && o.report == ""}
	if o.anonymize {
		s.Name = "trace"
	}
	return s
}

// writeReport writes a report, or its page where the name of the file asks for one; no file, nothing written.
func writeReport(out *outputs.Output, d document, page func(w io.Writer) error) error {
	switch {
	case out == nil:
		return nil
	case filepath.Ext(out.Name) == ".html":
		return page(out)
	}
	return d.WriteJSON(out)
}

func (p *program) reportCommand() *cli.Command {
	takes := groups{inputFlags(), captureFlags(), jobFlags(), expectFlags(), methodFlags(), windowFlags(), deviceFlags(), htaFlags(), adviceFlags(), reportFlags(), jsonFlags(), pageFlags(), flameFlags(), snapshotFlags(), generalFlags()}
	return &cli.Command{Name: "report", Usage: "print the analysis as text, JSON or a page", ArgsUsage: "[-i] FILE [flags]", Flags: takes.flags(),
		Action: p.action(takes, inputFiles, checkReport, (*job).printReport)}
}
