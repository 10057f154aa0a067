package main

import (
	"fmt"
	"hash/fnv"
	"io"

	"overlay/internal/overlay"
	"overlay/internal/overlay/manyranks"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/pgzip"
	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// runJob writes the ranks of a job into one picture. It returns the name of the trace where there is one rank only.
func (j *job) runJob(f *found, out, rep *output) (only string, err error) {
	if j.opts.chrome {
		return "", j.usage("the ranks of a job become one .pftrace: name it so with -o; Chrome's format takes one trace")
	}
	r, only, err := j.joinRanks(f)
	if r == nil {
		return only, err
	}
	var w io.Writer = out
	var z *pgzip.Writer
	if j.opts.compress {
		if z, err = pgzip.NewWriter(out, j.gzipLevel()); err != nil {
			return "", err
		}
		w = z
	}
	st, notes, err := j.writeJob(w, f, r)
	if err == nil && z != nil {
		err = z.Close()
	}
	if err == nil {
		err = out.close()
	}
	if err != nil {
		return "", err
	}
	made := report.NewJob(r.source)
	if rep != nil {
		if err := made.WriteJSON(rep); err != nil {
			return "", err
		}
	}
	if !j.opts.quiet {
		j.result = func(w io.Writer) error {
			if err := made.WriteText(w, j.textOptions(j.resultTo)); err != nil {
				return err
			}
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
			drawn := writtenPerfetto(st)
			if err := writeLines(w, fmt.Sprintf("wrote %s, %s bytes: %s", out.shown, tables.Grouped(out.n), drawn.drawn), append(notes, drawn.notes...)); err != nil {
				return err
			}
			return writeLines(w, j.nextStep(out))
		}
	}
	return "", nil
}

// writeJob writes the picture: the events of the ranks that are drawn, each read once more, and then the rows of the job.
func (j *job) writeJob(w io.Writer, f *found, r *rankedJob) (*pftrace.Stats, []string, error) {
	drawn := make([]bool, len(r.job.Members))
	want := map[string]int32{}
	for m := range r.job.Members {
		drawn[m] = true
		want[r.job.Members[m].Source] = int32(m)
	}
	j.stages.start("drawing")
	p := manyranks.Draw(r.job, r.verdict, manyranks.Options{Version: version, Flows: flowNames[j.opts.flows], Plain: j.opts.plain, Slim: j.opts.onlyCritical, Drawn: drawn})
	pic, err := pipeline.DrawJob(w, r.job, p, j.jobUUID(r), j.rankPipeline(), overlay.Options{Flows: flowNames[j.opts.flows], Plain: j.opts.plain, Slim: j.opts.onlyCritical})
	if err != nil {
		return nil, nil, err
	}
	j.stages.start("writing")
	err = j.again(f, want, func(m int32, tr *trace.Trace) error {
		if s := r.job.Members[m].Summary; tr.Source.Size() != s.Bytes || len(tr.Events) != s.Events {
			return fmt.Errorf("%s changed while it was read: wait until it is written, and try again", report.Plain(s.Source))
		}
		return pic.Rank(m, tr)
	})
	if err != nil {
		return nil, nil, err
	}
	st, leftOut, err := pic.Close()
	if err != nil {
		return nil, nil, err
	}
	var notes written
	if flowNames[j.opts.flows] == overlay.FlowsCritical {
		notes.note(leftOut, "edge", "of the path without an arrow, so that a click stays quick in the viewer (--flows all draws them)")
	}
	return st, notes.notes, nil
}

// jobUUID tells pictures apart in the viewer's cache: by what was recorded, and by what is drawn of it.
func (j *job) jobUUID(r *rankedJob) [2]uint64 {
	h := fnv.New128a()
	fmt.Fprint(h, r.job.Window, len(r.job.Path), len(r.job.Instances), j.opts.flows, j.opts.plain, j.opts.onlyCritical, j.opts.anonymize)
	for m := range r.job.Members {
		x := &r.job.Members[m]
		fmt.Fprint(h, x.Rank, x.Bytes, x.Events, x.Start, x.End, x.Window)
		for i := range x.Ops {
			fmt.Fprint(h, x.Ops[i].Start, x.Ops[i].End)
		}
	}
	sum := h.Sum(nil)
	var id [2]uint64
	for i, b := range sum {
		id[i/8] = id[i/8]<<8 | uint64(b)
	}
	return id
}
