package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"

	"overlay/internal/overlay"
	"overlay/internal/overlay/manyranks"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/pgzip"
	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/report/page"
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
	if len(f.sets) > 0 {
		if err := j.tracesBeside(f, r); err != nil {
			return "", err
		}
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
	switch {
	case rep == nil:
	case filepath.Ext(rep.shown) == ".html":
		err = page.WriteJob(rep, made, r.source)
	default:
		err = made.WriteJSON(rep)
	}
	if err != nil {
		return "", err
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

// jobPicture is what becomes of a job on its way into a file.
type jobPicture struct {
	*job
	f       *found
	r       *rankedJob
	drawn   []bool
	picture *manyranks.Picture
	notes   written
	stats   pftrace.Stats
}

// writeJob writes the picture: the events of the ranks that are drawn, each read once more, and then the rows of the job.
func (j *job) writeJob(w io.Writer, f *found, r *rankedJob) (*pftrace.Stats, []string, error) {
	j.stages.start("drawing")
	p := &jobPicture{job: j, f: f, r: r}
	if err := p.choose(); err != nil {
		return nil, nil, err
	}
	o := manyranks.Options{Version: version, Flows: flowNames[j.opts.flows], Slim: j.opts.onlyCritical, Drawn: p.drawn}
	write := p.one
	if j.opts.tar {
		write, o.Drawn = p.archive, nil // no arrow leads from file to file
	}
	p.picture = manyranks.Draw(r.job, r.verdict, o)
	j.stages.start("writing")
	err := write(w)
	return &p.stats, p.notes.notes, err
}

// one writes the picture as one trace.
func (p *jobPicture) one(w io.Writer) error {
	pic, err := p.begin(w)
	if err != nil {
		return err
	}
	if err := p.eachRank(pic.Rank); err != nil {
		return err
	}
	return p.finish(pic)
}

// archive writes a file for each rank, one with the rows of the job, and what the viewer has to know of them.
func (p *jobPicture) archive(w io.Writer) error {
	t := tar.NewWriter(w)
	add := func(name string, b []byte) error {
		err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(b)), Format: tar.FormatUSTAR})
		if err == nil {
			_, err = t.Write(b)
		}
		return err
	}
	if err := add("perfetto_manifest.json", p.manifest()); err != nil {
		return err
	}
	err := p.eachRank(func(m int32, tr *trace.Trace) error {
		var b bytes.Buffer
		pic, err := p.begin(&b)
		if err != nil {
			return err
		}
		if err := pic.Rank(m, tr); err != nil {
			return err
		}
		if err := p.end(pic, false); err != nil {
			return err
		}
		return add(p.memberName(m), b.Bytes())
	})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	pic, err := p.begin(&b)
	if err != nil {
		return err
	}
	if err := p.finish(pic); err != nil {
		return err
	}
	if err := add("job.pftrace", b.Bytes()); err != nil {
		return err
	}
	return t.Close()
}

func (p *jobPicture) memberName(m int32) string {
	return fmt.Sprintf("rank-%d.pftrace", p.r.job.Members[m].Rank)
}

// manifest tells the viewer which file is which rank. All times are on the clock of the job already.
func (p *jobPicture) manifest() []byte {
	type machine struct {
		Name string `json:"name"`
	}
	type file struct {
		Path    string  `json:"path"`
		Machine machine `json:"machine"`
	}
	files := []file{{"job.pftrace", machine{"job"}}}
	for m, d := range p.drawn {
		if d {
			files = append(files, file{p.memberName(int32(m)), machine{fmt.Sprintf("rank %d", p.r.job.Members[m].Rank)}})
		}
	}
	var out struct {
		Manifest struct {
			Version int    `json:"version"`
			Files   []file `json:"files"`
		} `json:"perfetto_manifest"`
	}
	out.Manifest.Version, out.Manifest.Files = 1, files
	b, err := json.Marshal(&out)
	if err != nil {
		panic("overlay: internal error: manifest: " + err.Error())
	}
	return b
}

func (p *jobPicture) begin(w io.Writer) (*pipeline.JobPicture, error) {
	o := overlay.Options{Flows: flowNames[p.opts.flows], Plain: p.opts.plain, Slim: p.opts.onlyCritical}
	return pipeline.DrawJob(w, p.r.job, p.picture, p.jobUUID(p.r), p.rankPipeline(), o)
}

// eachRank reads the ranks that are drawn.
func (p *jobPicture) eachRank(use func(m int32, tr *trace.Trace) error) error {
	want := map[string]int32{}
	for m, d := range p.drawn {
		if d {
			want[p.r.sourceOf(int32(m))] = int32(m)
		}
	}
	return p.again(p.f, want, func(m int32, tr *trace.Trace) error {
		if s := p.r.job.Members[m].Summary; tr.Source.Size() != s.Bytes || len(tr.Events) != s.Events {
			return fmt.Errorf("%s changed while it was read: wait until it is written, and try again", report.Plain(s.Source))
		}
		return use(m, tr)
	})
}

// sourceOf is the trace of a member, "" without one.
func (r *rankedJob) sourceOf(m int32) string {
	if r.beside != nil {
		return r.beside[m]
	}
	return r.job.Members[m].Source
}

func (p *jobPicture) finish(pic *pipeline.JobPicture) error { return p.end(pic, true) }

// end ends a file, with the rows of the job or without them.
func (p *jobPicture) end(pic *pipeline.JobPicture, rows bool) error {
	st, leftOut, err := pic.Close(rows)
	if err != nil {
		return err
	}
	p.stats.Add(st)
	if flowNames[p.opts.flows] == overlay.FlowsCritical {
		p.notes.note(leftOut, "edge", "of the path without an arrow, so that a click stays quick in the viewer (--flows all draws them)")
	}
	return nil
}

// jobUUID tells pictures apart in the viewer's cache: by what was recorded, and by what is drawn of it.
func (j *job) jobUUID(r *rankedJob) [2]uint64 {
	h := fnv.New128a()
	fmt.Fprint(h, r.job.Window, len(r.job.Path), len(r.job.Instances), j.opts.flows, j.opts.plain, j.opts.onlyCritical, j.opts.anonymize, j.opts.ranks)
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
