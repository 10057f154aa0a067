package testtrace

import (
	"bytes"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// TestJobs makes a job of each kind, cause and trouble, and holds it to what a run must obey.
func TestJobs(t *testing.T) {
	var all []JobOptions
	for i, kind := range JobKinds {
		all = append(all, JobOptions{Kind: kind, Seed: uint64(i)})
	}
	for i, cause := range JobCauses {
		all = append(all, JobOptions{Cause: cause, Seed: 100 + uint64(i)})
	}
	for i, trouble := range JobTroubles {
		all = append(all, JobOptions{Trouble: []string{trouble}, Cause: "gpu", Seed: 200 + uint64(i)})
	}
	for _, o := range all {
		j := NewJob(o)
		t.Logf("%s %q %v: %d ranks, %d instances, %d activities, %.1f ms, gain %.3f", j.Kind, j.Cause, j.Trouble, j.World, len(j.Instances), len(j.acts), float64(j.End-j.Start)/1e6, j.Culprits.Gain)
		checkJob(t, j)
	}
}

func checkJob(t *testing.T, j *Job) {
	t.Helper()
	at := j.Start
	for _, p := range j.Path {
		if p.Start != at || p.End <= p.Start {
			t.Fatalf("%+v: the path has a hole or a step back at %d: %+v", j.JobOptions, at, p)
		}
		at = p.End
	}
	if at != j.End {
		t.Fatalf("%+v: the path ends at %d, the job at %d", j.JobOptions, at, j.End)
	}
	for i := range j.Instances {
		in := &j.Instances[i]
		if in.Transfer <= 0 && in.Coll != "broadcast" {
			t.Errorf("instance %d %s: transfer %d", i, in.Coll, in.Transfer)
		}
		for _, m := range in.Members {
			if m.Event != trace.NoEvent && j.ActOf(m.Rank, m.Event) != m.act {
				t.Errorf("instance %d: event %d of rank %d is another activity", i, m.Event, m.Rank)
			}
		}
	}
	for _, r := range []int32{0, int32(j.World) - 1} {
		text := j.JSON(r)
		if text == nil {
			continue
		}
		if !bytes.Equal(text, j.JSON(r)) {
			t.Error("written twice, other bytes")
		}
		tr, err := kineto.Parse(text, "rank", kineto.Options{Strict: true})
		if err != nil {
			t.Fatalf("%+v rank %d: %v", j.JobOptions, r, err)
		}
		if err := tracecheck.Check(tr); err != nil || tr.Rank != int64(r) {
			t.Errorf("rank %d: %v", tr.Rank, err)
		}
		checkJobTimes(t, j, r, tr)
	}
}

// checkJobTimes compares the stamps of a trace with the true times, by the clock of the rank.
func checkJobTimes(t *testing.T, j *Job, r int32, tr *trace.Trace) {
	t.Helper()
	clock := &j.Ranks[r].Clock
	for id := range tr.Events {
		act := j.ActOf(r, trace.EventID(id))
		if act < 0 {
			continue
		}
		start, end := j.bounds(act)
		slack := int64(0)
		if j.has("old") {
			slack = 1000
		}
		e := &tr.Events[id]
		from, to := e.Start+tr.Base, tr.End(e)+tr.Base
		if d := clock.Local(start) - from; d < 0 || d > slack {
			t.Fatalf("event %d %s starts at %d, its clock said %d", id, tr.Name(trace.EventID(id)), from, clock.Local(start))
		}
		if d := clock.Local(end) - to; d < 0 || d > slack {
			t.Fatalf("event %d %s ends at %d, its clock said %d", id, tr.Name(trace.EventID(id)), to, clock.Local(end))
		}
		if d := clock.True(clock.Local(start)) - start; d < -1 || d > 1 {
			t.Fatalf("the clock of rank %d leads back to %d, not %d", r, start+d, start)
		}
	}
}

// TestJobSame: the same options make the same bytes, other seeds others.
func TestJobSame(t *testing.T) {
	o := JobOptions{Kind: "3d", Cause: "gpu", Seed: 3, World: 8}
	a, b := NewJob(o), NewJob(o)
	o.Seed = 4
	c := NewJob(o)
	if !bytes.Equal(a.JSON(5), b.JSON(5)) || bytes.Equal(a.JSON(5), c.JSON(5)) {
		t.Error("seeds do not decide")
	}
}

// TestJobEffect: what is on the true path makes the job shorter when it is shorter, and slack bounds what else does.
func TestJobEffect(t *testing.T) {
	on, off := 0, 0
	for seed := range uint64(5) {
		j := RandomJob(seed)
		for _, p := range j.Path {
			if p.Act < 0 || p.End-p.Start < 3000 {
				continue
			}
			for _, w := range j.Work(p.Act) {
				if w.Start < p.End && w.End > p.Start && w.Slack == 0 {
					if j.Shorten(w, 1000) > 0 {
						on++
					} else {
						off++
					}
				}
			}
			if on+off > 20*int(seed+1) {
				break
			}
		}
	}
	if on < 9*off || on == 0 {
		t.Errorf("shortening an activity of the path helped in %d cases, not in %d", on, off)
	}
}
