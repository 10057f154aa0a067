package ranks_test

import (
	"flag"
	"slices"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
	"overlay/internal/testtrace/jobjudge"
)

var update = flag.Bool("update", false, "rewrite testdata")

// said is what is said of a job beside the job and the verdict themselves.
type said struct {
	Strips       []ranks.Strip
	Own          [][critpath.NumClasses]int64
	Alone        []ranks.Segment
	Over         [][]ranks.Excess // the median of peers, the mean of them, and other stages
	Stages       []int
	Words, Notes []string
	Plain        *ranks.Verdict
	Links        []ranks.Link // with an expected bandwidth
}

func saidOf(j *ranks.Job, v *ranks.Verdict, list []*ranks.Summary) *said {
	x := &said{Stages: j.StageOf(), Over: [][]ranks.Excess{j.Excesses(), j.OverMean(false), j.OverMean(true), j.OverStages()}, Words: []string{j.Headline(v)}}
	for m := range int32(len(j.Members)) {
		x.Strips, x.Own = append(x.Strips, j.Strip(m)), append(x.Own, j.Own(m))
		j.Alone(m, func(s ranks.Segment) { x.Alone = append(x.Alone, s) })
	}
	for i := range v.Stragglers {
		x.Words, x.Notes = append(x.Words, j.GainWords(v, i)), append(x.Notes, j.Note(&v.Stragglers[i]))
	}
	_, x.Plain = ranks.Plain(list, x.Stages, func(list []ranks.Straggler) (sum int64) {
		for i := range list {
			sum += list[i].Excess / int64(1+i)
		}
		return sum
	})
	x.Links = ranks.Judge(j, ranks.Expected{Intra: 1000, Inter: 100}).Links
	return x
}

// TestSame holds jobs and what is said of them to what they were: drawn ones of each cause, and small ones of each kind with each trouble in their
// records, in numbered steps and in a window of one.
func TestSame(t *testing.T) {
	var lines []string
	add := func(name string, sim *testtrace.Job, step int32) {
		list, err := jobjudge.Summaries(sim)
		if err != nil {
			t.Fatal(err)
		}
		j, err := ranks.Join(list, ranks.Options{Step: step})
		if err != nil {
			t.Fatal(err)
		}
		v := replay.Judge(j, ranks.Expected{})
		lines = append(lines, name+" "+digest.Of(j), name+"_verdict "+digest.Of(v), name+"_said "+digest.Of(saidOf(j, v, list)))
	}
	for i, cause := range testtrace.JobCauses {
		add("job_"+cause+"_0", testtrace.RandomJobWith(cause, 10*uint64(i)), -1)
	}
	for i, trouble := range testtrace.JobTroubles {
		o := testtrace.JobOptions{Kind: testtrace.JobKinds[i%len(testtrace.JobKinds)], Cause: testtrace.JobCauses[(3*i)%len(testtrace.JobCauses)], Seed: uint64(i), World: 8, PerHost: 4, Steps: 4, Trouble: []string{trouble}}
		step := int32(-1)
		if i%4 == 3 {
			step = 11
		}
		add(trouble+"_"+o.Kind+"_"+o.Cause, testtrace.NewJob(o), step)
	}
	digest.Check(t, "jobs", lines, *update)
}

// TestBandwidthAgain: what bandwidth is expected does not depend on which size of few collectives is looked at first.
func TestBandwidthAgain(t *testing.T) {
	list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "pp_dp", Cause: "late", Seed: 3, World: 8, PerHost: 4, Steps: 4, Trouble: []string{"windows"}}))
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: 11})
	if err != nil {
		t.Fatal(err)
	}
	want := ranks.Judge(j, ranks.Expected{}).Bandwidth
	for range 30 {
		if got := ranks.Judge(j, ranks.Expected{}).Bandwidth; !slices.Equal(got, want) {
			t.Fatalf("%+v, before %+v", got, want)
		}
	}
}
