package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"overlay/internal/inputs"
	"overlay/internal/kineto"
	"overlay/internal/outputs"
	"overlay/internal/overlay"
	"overlay/internal/overlay/manyranks"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/pipeline"
	"overlay/internal/ranks/replay"
	"overlay/internal/ranks/roster"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// runJob writes the ranks of a job into one picture.
func (j *job) runJob(f *inputs.Found, r *rankedJob, out, rep *outputs.Output) (err error) {
	p := &jobPicture{job: j, f: f, r: r}
	err = compressed(out, j.opts, p.write)
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return err
	}
	made := report.NewJob(r.source)
	if err := writeReport(rep, made, func(w io.Writer) error { return page.WriteJob(w, made, r.source) }); err != nil {
		return err
	}
	if !j.opts.quiet {
		drawn := writtenPerfetto(&p.stats)
		j.result = func(w io.Writer) error {
			return summary(w, made, j.opts.textOptions(j.resultTo), out, drawn.drawn, append(p.notes.notes, drawn.notes...))
		}
	}
	return nil
}

// jobPicture is what becomes of a job on its way into a file.
type jobPicture struct {
	*job
	f       *inputs.Found
	r       *rankedJob
	drawn   []bool
	then    []replay.Run // of what if: strips alone are drawn
	picture *manyranks.Picture
	notes   written
	stats   pftrace.Stats
}

// write writes the picture: the events of the ranks that are drawn, each read once more, and then the rows of the job.
func (p *jobPicture) write(w io.Writer) error {
	p.stages.start("drawing")
	if p.then == nil {
		if err := p.choose(); err != nil {
			return err
		}
	}
	o := manyranks.Options{Version: version, Flows: flowNames[p.opts.flows], Slim: p.opts.onlyCritical, Drawn: p.drawn, Then: p.then}
	write := p.one
	if p.opts.tar || p.opts.zip {
		write, o.Drawn = p.archive, nil // no arrow leads from file to file
	}
	p.picture = manyranks.Draw(p.r.job, p.r.verdict, o)
	p.stages.start("writing")
	return write(w)
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

// archive writes the traces of the ranks as they are, a picture of the rows of the job, and a manifest by which the viewer puts each rank on
// the clock of the job.
func (p *jobPicture) archive(w io.Writer) error {
	a := newArchive(w, p.opts.zip)
	var b bytes.Buffer
	pic, err := p.begin(&b)
	if err != nil {
		return err
	}
	files, bent := []manifestFile{{Path: "job.pftrace", Machine: machine{"job"}}}, 0
	err = p.eachRank(func(m int32, tr *trace.Trace) error {
		if err := pic.Follow(m, tr); err != nil {
			return err
		}
		rank, clock := &p.r.job.Members[m], p.picture.Clock(m)
		name := fmt.Sprintf("rank-%d.json", rank.Rank)
		middle := rank.Start + (rank.End-rank.Start)/2
		offset := clock(middle) - (middle - tr.Base) // the viewer knows stamps as they are written
		if off := func(t int64) int64 { return clock(t) - (t - tr.Base) - offset }; max(off(rank.Start), -off(rank.Start), off(rank.End), -off(rank.End)) > 1000 {
			bent++
		}
		files = append(files, manifestFile{name, machine{fmt.Sprintf("rank %d", rank.Rank)}, &manifestClocks{manifestClock{"job.pftrace", "BOOTTIME"}, offset}})
		text, source := kineto.TextOf(tr), p.r.sourceOf(m)
		if text.From > 0 { // the text was made of a file in another format
			source = ""
		}
		return a.add(name, text.Length(), text, source)
	})
	if err != nil {
		return err
	}
	p.notes.note(bent, "rank", "whose clock ran at another rate or jumped: an archive moves each trace as a whole, which is right in its middle (a .pftrace has each event in its place)")
	if err := p.finish(pic); err != nil {
		return err
	}
	if err := a.add("job.pftrace", int64(b.Len()), &b, ""); err != nil {
		return err
	}
	m := manifest(files)
	if err := a.add("perfetto_manifest.json", int64(len(m)), bytes.NewReader(m), ""); err != nil {
		return err
	}
	return a.Close()
}

// The manifest of an archive of traces, as Perfetto documents it (perfetto.dev/docs/reference/perfetto-manifest).
type (
	machine struct {
		Name string `json:"name"`
	}
	manifestFile struct {
		Path    string          `json:"path"`
		Machine machine         `json:"machine"`
		Clocks  *manifestClocks `json:"clocks,omitempty"`
	}
	manifestClocks struct {
		To     manifestClock `json:"sync_to"`
		Offset int64         `json:"offset_ns"` // from a stamp of the file to the time of the clock
	}
	manifestClock struct {
		File  string `json:"file"`
		Clock string `json:"clock"`
	}
)

func manifest(files []manifestFile) []byte {
	var out struct {
		Manifest struct {
			Version int            `json:"version"`
			Time    manifestClock  `json:"trace_time"`
			Files   []manifestFile `json:"files"`
		} `json:"perfetto_manifest"` // the viewer knows a manifest by its first key
	}
	out.Manifest.Version, out.Manifest.Time, out.Manifest.Files = 1, manifestClock{"job.pftrace", "BOOTTIME"}, files
	b, err := json.Marshal(&out)
	if err != nil {
		panic("overlay: internal error: manifest: " + err.Error())
	}
	return b
}

func (p *jobPicture) begin(w io.Writer) (*pipeline.JobPicture, error) {
	o := overlay.Options{Flows: flowNames[p.opts.flows], Plain: p.opts.plain, Slim: p.opts.onlyCritical}
	return pipeline.DrawJob(w, p.r.job, p.picture, p.r.uuid(p.opts), ofRank(p.pipeline()), o)
}

// eachRank reads the ranks that are drawn.
func (p *jobPicture) eachRank(use func(m int32, tr *trace.Trace) error) error {
	want := map[string]int32{}
	for m, d := range p.drawn {
		if d {
			want[p.r.sourceOf(int32(m))] = int32(m)
		}
	}
	return p.in.Again(p.f, want, func(m int32, tr *trace.Trace) error {
		if s := p.r.job.Members[m].Summary; tr.Source.Size() != s.Bytes || len(tr.Events) != s.Events {
			return fmt.Errorf("%s changed while it was read: wait until it is written, and try again", report.Plain(s.Source))
		}
		return use(m, tr)
	})
}

// finish ends a picture with the rows of the job.
func (p *jobPicture) finish(pic *pipeline.JobPicture) error {
	st, leftOut, err := pic.Close()
	if err != nil {
		return err
	}
	p.stats.Add(st)
	if flowNames[p.opts.flows] == overlay.FlowsCritical {
		p.notes.note(leftOut, "edge", "of the path without an arrow, so that a click stays quick in the viewer (--flows all draws them)")
	}
	return nil
}

// uuid tells pictures apart in the viewer's cache: by what was recorded, and by what is drawn of it.
func (r *rankedJob) uuid(o *options) [2]uint64 {
	h := fnv.New128a()
	fmt.Fprint(h, r.job.Window, len(r.job.Path), len(r.job.Instances), o.flows, o.plain, o.onlyCritical, o.anonymize, o.ranks)
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

// choose decides which ranks are drawn event by event, and notes what is left out.
func (p *jobPicture) choose() error {
	members := p.r.job.Members
	all := slices.Repeat([]bool{true}, len(members))
	switch p.opts.ranks {
	case "all":
		p.drawn = all
	case "":
		p.drawn = manyranks.Choose(p.r.job, p.r.verdict, false)
	case "representative":
		p.drawn = manyranks.Choose(p.r.job, p.r.verdict, true)
	default:
		p.drawn = make([]bool, len(members))
		err := eachRankOf(p.opts.ranks, func(rank int) error {
			for m := range members {
				if int(members[m].Rank) == rank {
					p.drawn[m] = true
					return nil
				}
			}
			return p.opts.usage("--ranks %s: there is no trace of rank %d; those of %s are there", p.opts.ranks, rank, p.ranksThere())
		})
		if err != nil {
			return err
		}
	}
	if p.r.beside != nil { // what has no trace beside its summary has no events to draw
		for m := range p.drawn {
			p.drawn[m] = p.drawn[m] && p.r.beside[int32(m)] != ""
		}
		if p.opts.ranks == "" || p.opts.ranks == "all" {
			for m := range p.r.beside {
				p.drawn[m] = true
			}
		}
	}
	var list []int64
	events, whole := 0, 0
	for m := range members {
		whole += members[m].Events
		if p.drawn[m] {
			list = append(list, int64(members[m].Rank))
			events += members[m].Events
		}
	}
	if len(list) < len(members) {
		how := "--ranks all draws all"
		if p.r.beside != nil {
			how = "add the traces of others with -i to draw them"
		}
		p.notes.notes = append(p.notes.notes, fmt.Sprintf("drawn with their events: %s, %s of %s events; of every rank there is a strip (%s)",
			tables.Counted(len(list), "rank")+" of "+tables.Plain(int64(len(members)))+" ("+rankNumbers(list)+")", tables.Grouped(int64(events)), tables.Grouped(int64(whole)), how))
	}
	return nil
}

func (p *jobPicture) ranksThere() string {
	var list []int64
	for m := range p.r.job.Members {
		list = append(list, int64(p.r.job.Members[m].Rank))
	}
	return "rank " + rankNumbers(list)
}

// rankNumbers writes ascending ranks as 0-2, 5.
func rankNumbers(list []int64) string {
	if len(list) == 0 {
		return "none"
	}
	return roster.List(list)
}
