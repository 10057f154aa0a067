package pipeline_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/overlay/manyranks"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/perfetto"
	"overlay/internal/pipeline"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/jobcheck"
	"overlay/internal/testtrace/viewer"
	"overlay/internal/trace"
)

// rankedTraces are the traces of a job, by rank.
type rankedTraces struct {
	numbers []int
	traces  []*trace.Trace
}

func simulated(t *testing.T, sim *testtrace.Job) rankedTraces {
	t.Helper()
	var r rankedTraces
	for k := range sim.Ranks {
		if text := sim.JSON(int32(k)); text != nil {
			tr := testtrace.Parse(t, text)
			r.numbers, r.traces = append(r.numbers, k), append(r.traces, tr)
		}
	}
	return r
}

// join makes a job of the traces.
func (r *rankedTraces) join(t *testing.T) (*ranks.Job, *ranks.Verdict) {
	t.Helper()
	var list []*ranks.Summary
	for k, tr := range r.traces {
		run, err := pipeline.Solve(tr, pipeline.Options{}, false)
		if err != nil {
			t.Fatal(err)
		}
		s := run.Summary("")
		s.Rank = ranks.Rank(r.numbers[k])
		list = append(list, s)
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := jobcheck.Check(j); err != nil {
		t.Fatal(err)
	}
	return j, replay.Judge(j, ranks.Expected{})
}

// TestJobPicture writes pictures of jobs and reads them back by the rules of Perfetto's importer: each slice of each rank is
// there, moved by the clock of its rank and not otherwise changed; no number is used twice; the path is whole; each step of the
// path from rank to rank has its arrow, in its direction.
func TestJobPicture(t *testing.T) {
	jumps := 0
	for i, o := range []testtrace.JobOptions{
		{Kind: "dp", Cause: "gpu", Trouble: []string{"windows", "bases"}}, {Kind: "3d", Cause: "data", Trouble: []string{"lost", "drift"}}, {Kind: "pp_dp", Cause: "stage"},
		{Kind: "moe", Cause: "pauses", Trouble: []string{"drift", "missing"}}, {Kind: "fsdp", Trouble: []string{"old"}}} {
		o.World, o.PerHost, o.Steps, o.Seed, o.Noise = 8, 4, 3, uint64(i), 1
		t.Run(fmt.Sprint(o.Kind, " ", o.Cause, " ", o.Trouble), func(t *testing.T) {
			jumps += checkPicture(t, simulated(t, testtrace.NewJob(o)), i == 2)
		})
	}
	if jumps < 20 {
		t.Errorf("only %d jumps in all", jumps)
	}
}

// TestRealJobPicture does so with a real job.
func TestRealJobPicture(t *testing.T) {
	var r rankedTraces
	for k, file := range corpus.Files(t, "param__dlrm8__worker*.json.gz") {
		tr := testtrace.Read(t, file)
		r.numbers, r.traces = append(r.numbers, k), append(r.traces, tr)
	}
	if jumps := checkPicture(t, r, false); jumps != 1 {
		t.Errorf("%d jumps", jumps)
	}
}

func checkPicture(t *testing.T, r rankedTraces, slim bool) (jumps int) {
	t.Helper()
	j, v := r.join(t)
	drawn := slices.Repeat([]bool{true}, len(j.Members))
	if len(drawn) == 8 {
		drawn[3] = false
	}
	p := manyranks.Draw(j, v, manyranks.Options{Slim: slim, Drawn: drawn})
	var buf bytes.Buffer
	pic, err := pipeline.DrawJob(&buf, j, p, [2]uint64{1, 2}, pipeline.Options{}, overlay.Options{Slim: slim})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	exact := int64(0)
	for m, tr := range r.traces {
		if !drawn[m] {
			continue
		}
		if err := pic.Rank(int32(m), tr); err != nil {
			t.Fatal(err)
		}
		if !slim {
			want = append(want, alone(t, tr, r.numbers[m], p.Clock(int32(m)))...)
		}
	}
	st, _, err := pic.Close()
	if err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	im.CheckArgs()
	if len(im.Problems) > 0 {
		t.Errorf("problems: %v", im.Problems)
	}
	if len(im.Slices) != st.Slices+st.Instants {
		t.Errorf("read %d slices and instants, written %d", len(im.Slices), st.Slices+st.Instants)
	}
	var got []string
	path, at := int64(0), j.Window[0]-p.Origin
	for i := range im.Slices {
		s := &im.Slices[i]
		if s.Category == overlay.CategoryPath {
			if s.TS != at {
				t.Fatalf("a hole in the path: a segment at %d after %d", s.TS, at)
			}
			at += s.Dur
			path += s.Dur
		}
		name, row := place(im, s)
		if !strings.HasPrefix(name, "rank ") {
			continue
		}
		rank, _, _ := strings.Cut(name, " · ")
		got = append(got, rank+" "+sliceText(im, int32(i), row, func(t int64) int64 { return t }))
		for _, a := range im.Args(int32(i)) {
			if a.Key == overlay.ArgCriticalNS {
				exact += a.Int
			}
		}
	}
	if path != j.Window[1]-j.Window[0] || at != j.Window[1]-p.Origin {
		t.Errorf("a path of %d in a window of %d", path, j.Window[1]-j.Window[0])
	}
	if most := path; exact > most || exact <= 0 && drawn[j.Stays[len(j.Stays)-1].Member] {
		t.Errorf("%d of %d of the path are on events", exact, path)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slim && !slices.Equal(got, want) {
		i := 0
		for i < len(got) && i < len(want) && got[i] == want[i] {
			i++
		}
		t.Fatalf("%d slices of ranks, not %d; first\n%s\nnot\n%s", len(got), len(want), got[min(i, len(got)-1)], want[min(i, len(want)-1)])
	}
	return checkArrows(t, j, p, im)
}

// checkArrows looks for an arrow for each step of the path from rank to rank: from the strip of the one to that of the other.
func checkArrows(t *testing.T, j *ranks.Job, p *manyranks.Picture, im *viewer.Imported) (jumps int) {
	t.Helper()
	type step struct {
		from, to string
		at       int64
	}
	there := map[step]bool{}
	isStrip := func(s int32) bool {
		up := im.Tracks[im.Slices[s].Track].Parent
		return up >= 0 && im.Tracks[up].Name == overlay.TrackRanks
	}
	for _, f := range im.Flows {
		a, b := &im.Slices[f.From], &im.Slices[f.To]
		if isStrip(f.From) && isStrip(f.To) {
			there[step{im.Tracks[a.Track].Name, im.Tracks[b.Track].Name, b.TS}] = a.TS+a.Dur == b.TS
		} else if isStrip(f.From) {
			t.Errorf("an arrow from a strip to %s", b.Name)
		}
	}
	name := func(m int32) string {
		for i := range p.Tracks {
			if n := fmt.Sprintf("rank %d", j.Members[m].Rank); p.Tracks[i].Name == n || strings.HasPrefix(p.Tracks[i].Name, n+" on ") {
				return p.Tracks[i].Name
			}
		}
		return ""
	}
	for i := 1; i < len(j.Stays); i++ {
		a, b := &j.Stays[i-1], &j.Stays[i]
		if a.Member == b.Member {
			continue
		}
		jumps++
		if !there[step{name(a.Member), name(b.Member), b.Start - p.Origin}] {
			t.Errorf("no arrow from %s to %s at %d", name(a.Member), name(b.Member), b.Start)
		}
	}
	return jumps
}

// alone are the slices of a rank as they are when it is converted by itself, on the clock of the job.
func alone(t *testing.T, tr *trace.Trace, rank int, clock func(int64) int64) (lines []string) {
	t.Helper()
	var buf bytes.Buffer
	unix := *tr // which may begin before the time from which its stamps count
	unix.Events, unix.Base = slices.Clone(tr.Events), 0
	for i := range unix.Events {
		unix.Events[i].Start += tr.Base
	}
	if _, err := pftrace.Write(&buf, &unix, nil); err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range im.Slices {
		_, row := place(im, &im.Slices[i])
		lines = append(lines, fmt.Sprintf("rank %d %s", rank, sliceText(im, int32(i), row, clock)))
	}
	return lines
}

// place is the name of the process of a slice, and what its row says of itself.
func place(im *viewer.Imported, s *viewer.ReadSlice) (process, row string) {
	for t := s.Track; t >= 0; t = int32(im.Tracks[t].Parent) {
		if x := &im.Tracks[t]; x.Kind == perfetto.Process {
			process = x.Name
		} else if x.Kind == perfetto.Thread {
			row = x.Description
		}
	}
	return process, row
}

func sliceText(im *viewer.Imported, i int32, row string, clock func(int64) int64) string {
	s := &im.Slices[i]
	var args []string
	for _, a := range im.Args(i) {
		if key, _, _ := strings.Cut(a.Key, "["); !overlay.IsMark(key) {
			args = append(args, a.Key+"="+a.Value())
		}
	}
	slices.Sort(args)
	start := clock(s.TS)
	dur := int64(0)
	if s.Dur > 0 {
		dur = max(clock(s.TS+s.Dur)-start, 0)
	}
	return fmt.Sprintf("%s %d %d %q %s %v {%s}", row, start, dur, s.Name, s.Category, s.Instant, strings.Join(args, " "))
}

// TestExactOnRank walks the path on each rank event by event: it tiles the stays, its collectives are those of the job's path,
// and where the summary kept every stretch it has the same time in each class.
func TestExactOnRank(t *testing.T) {
	whole := 0
	for seed := range uint64(4) {
		r := simulated(t, testtrace.NewJob(testtrace.JobOptions{Kind: testtrace.JobKinds[seed], World: 8, PerHost: 4, Steps: 3, Seed: seed, Noise: 1}))
		j, _ := r.join(t)
		for m, tr := range r.traces {
			g, err := pipeline.Solve(tr, pipeline.Options{}, false)
			if err != nil {
				t.Fatal(err)
			}
			x := g.Exact(j, int32(m))
			at, sums, n := int64(0), [critpath.NumClasses]int64{}, 0
			for _, st := range j.Stays {
				if st.Member != int32(m) {
					continue
				}
				for at = st.Start; at < st.End; n++ {
					s := &x.Segments[n]
					if s.Start != at || s.End > st.End {
						t.Fatalf("seed %d, rank %d: segment [%d, %d] at %d of a stay up to %d", seed, r.numbers[m], s.Start, s.End, at, st.End)
					}
					at = s.End
					sums[s.Kind.Class()] += s.End - s.Start
				}
			}
			if n != len(x.Segments) {
				t.Fatalf("seed %d, rank %d: %d segments outside of stays", seed, r.numbers[m], len(x.Segments)-n)
			}
			for i := range j.Path {
				if s := &j.Path[i]; s.Member == int32(m) {
					sums[s.Kind.Class()] -= s.End - s.Start
				}
			}
			if sums == [critpath.NumClasses]int64{} {
				whole++
			} else if d := max(sums[critpath.ClassComm], -sums[critpath.ClassComm]); d > 0 {
				t.Errorf("seed %d, rank %d: by class %v more than in the job", seed, r.numbers[m], sums)
			}
		}
	}
	if whole < 10 {
		t.Errorf("only %d ranks have the same time in each class", whole)
	}
}
