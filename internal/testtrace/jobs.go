package testtrace

import (
	"math/rand/v2"
	"slices"

	"overlay/internal/trace"
)

// JobKinds are the ways in which a made job shares its work among its ranks.
var JobKinds = []string{"dp", "fsdp", "tp_dp", "pp_dp", "3d", "moe", "mixed"}

// JobCauses are the reasons for which some ranks of a made job are slow; "" is a balanced job.
//
//	gpu    all compute kernels of one rank are slower by one factor
//	cpu    all host work of one rank is slower by one factor
//	data   the data loader of one rank is late in every step
//	pauses another rank stops for a while in every step, as garbage collection does
//	input  the kernels of each rank are slower by a factor that changes from step to step
//	stage  the kernels of one pipeline stage are slower
//	host   the kernels of all ranks of one host are slower
//	link   the transfers of one group are slower than those of its sisters: no rank is to blame
//	late   the profiler of one rank starts late, so that the others wait in the first collective: no rank is to blame
//	rows   one rank is given more rows than the others in every step, so that its kernels have more to do
var JobCauses = []string{"", "gpu", "cpu", "data", "pauses", "input", "stage", "host", "link", "late", "rows"}

// JobTroubles are what makes the traces of a job hard to put together.
//
//	drift       clocks run fast or slow by up to 60 ppm
//	bad_clock   clocks of hosts are wrong by up to 3 s
//	windows     ranks record from and to other moments, in the middle of steps
//	lost        4 % of the records of device operations are lost
//	missing     ranks have no trace, never the one to blame
//	absent      the rank to blame has no trace
//	extra       some groups do collectives that others do not
//	bare        a third of the kernels of collectives say nothing about themselves
//	old         2023: kernels and record_param_comms say nothing, and stamps are whole µs
//	seq         collectives carry their number
//	interleaved ranks are dealt to hosts one by one, so that groups of neighbours span hosts
//	bases       some files have another baseTimeNanoseconds
var JobTroubles = []string{"drift", "bad_clock", "drift", "windows", "lost", "missing", "absent", "extra", "bare", "old", "seq", "interleaved", "bases"}

// outlived is a trouble that no job is drawn with by JobTroubles: windows are cut, and the annotations of steps that were cut are whole all the same.
const outlived = "outlived"

// JobPlant is one of several things that are wrong with a job at one time: a rank that is slow from a step on, and before another.
type JobPlant struct {
	Cause    string // gpu, cpu, data or rows
	Rank     int32
	Factor   float64 // by which work takes longer; of data the ms by which it is late in each step
	From, To int32   // of the steps that are recorded, from 0 on
}

// JobPlanted is what one of several costs, as shares of the window: by how much the job ends earlier without it alone, and by how much later than without all of
// them when it alone stays.
type JobPlanted struct {
	JobPlant
	Alone, Stays float64
}

// JobOptions say what job is made. What is zero is drawn from the seed, Noise apart, which is 1 then.
type JobOptions struct {
	Kind     string
	Cause    string
	Trouble  []string
	Seed     uint64
	World    int        // ranks: a power of two, 4 to 64
	PerHost  int        // ranks on one host, a power of two
	Steps    int        // 3 or more
	Noise    float64    // factor of the noise of durations and of the ends of collectives
	Bucket   int        // layers that reduce their gradients together
	CPU      bool       // there is no device: threads do the collectives, of jobs of kind dp
	NoShapes bool       // shapes of inputs are not recorded
	Set      []JobPlant // in place of Cause, of ranks that differ
}

// Job is a simulated run of a training job on many ranks. All times but those of Event and JSON are true: ns since the
// job began, on a clock that no rank has. Groups, instances and ranks are in a fixed order; the same options make the
// same job.
type Job struct {
	JobOptions
	Groups    []JobGroup
	Instances []JobInstance
	Ranks     []JobRank
	Path      []JobPiece // the true critical path from Start to End, in order of time, without holes
	Start     int64      // first start of a recorded activity
	End       int64      // last end of one
	Culprits  JobCulprits

	graph   jobGraph
	acts    []jobAct
	workers []*jobWorker
	rng     *rand.Rand
	shape   jobShape
	cause   jobCause
	late    []int64            // per point: how late it may be
	fills   [][]int32          // per activity: edges, once they are asked for
	byOrder map[jobOrder]int32 // instance by group and number
}

// JobGroup is a process group: a communicator. Several may have the same ranks.
type JobGroup struct {
	Name, Desc string
	Ranks      []int32
	slow       float64 // factor of its transfers
}

// JobInstance is one collective, or one send with its receive.
type JobInstance struct {
	Group    int32
	Coll     string // as in args: allreduce, _allgather_base, …, send for a pair
	Elems    int64  // that each member puts in
	Step     int32  // number of the step, -1 outside of steps
	Members  []JobMember
	Arrive   int64 // when the last member started
	Last     int32 // that member's rank; the lowest of several
	Transfer int64 // from Arrive to the first end

	node   int32 // of Arrive
	knob   int32 // duration of the transfer
	number int32 // in its group
	sender int32 // of a pair
}

// JobMember is the part of one rank in an instance.
type JobMember struct {
	Rank       int32
	Start, End int64
	Event      trace.EventID // of its kernel in the rank's trace; NoEvent when it is not recorded

	act int32
}

// JobRank is one process.
type JobRank struct {
	Rank     int32
	Host     string
	Device   int64
	Stage    int32 // of the pipeline
	Recorded bool  // there is a trace
	File     string
	Clock    JobClock
	Window   [2]int64 // what the profiler recorded
	Events   []int32  // per event of the trace: the activity, -1 for none
	build    *Builder
}

// JobClock is the clock of a rank.
type JobClock struct {
	Base  int64 // local time of true time 0, unix ns
	Drift float64
	Mid   int64 // true time at which Drift begins to count
}

// Local is the time that the clock shows at a true time.
func (c *JobClock) Local(t int64) int64 { return c.Base + t + int64(c.Drift*float64(t-c.Mid)) }

// True is the true time at which the clock shows l.
func (c *JobClock) True(l int64) int64 {
	t := l - c.Base
	for range 4 { // the drift is below 1e-4: each round gains four digits
		t = l - c.Base - int64(c.Drift*float64(t-c.Mid))
	}
	return t
}

// JobPiece is a part of the true path: time of one rank, or of none, in which an activity runs or a delay passes.
type JobPiece struct {
	Rank       int32 // -1 before the first recorded moment of the job
	Start, End int64
	Instance   int32 // the collective whose transfer it is, -1
	Act        int32 // the activity that owns it, -1 for a delay
}

// JobCulprits are what was planted.
type JobCulprits struct {
	Kind  string  // persistent, alternating, link, start or ""
	Unit  string  // rank, stage, host, group
	Ranks []int32 // those that are slow; of alternating causes the one of each step
	Group int32   // of a slow link, else -1
	Gain  float64 // share of the window by which the job ends earlier without the cause
	Set   []JobPlanted
}

// NewJob simulates a job.
func NewJob(o JobOptions) *Job {
	j := &Job{JobOptions: o, rng: rand.New(rand.NewPCG(o.Seed, 0x6a6f6273)), byOrder: map[jobOrder]int32{}}
	j.Culprits.Group = -1
	j.draw()
	j.layOut()
	j.plant()
	for r := range j.Ranks {
		j.workers = append(j.workers, j.newWorker(int32(r)))
	}
	for _, w := range j.workers {
		if j.CPU {
			w.trainOnCPU()
		} else {
			w.train()
		}
	}
	j.graph.sort()
	j.graph.run(j.graph.knobs)
	j.windows()
	j.loseRecords()
	j.clocks()
	j.settle()
	for r := range j.Ranks {
		j.write(int32(r))
	}
	return j
}

// RandomJob draws everything from a seed: the kind, what is wrong, how large it is.
func RandomJob(seed uint64) *Job { return NewJob(randomJob(seed)) }

// RandomJobWith is the same with a cause that is given.
func RandomJobWith(cause string, seed uint64) *Job {
	o := randomJob(seed)
	o.Cause = cause
	return NewJob(o)
}

// RandomJobBalanced draws a job in which nobody is to blame, of half of which the windows are cut.
func RandomJobBalanced(seed uint64) *Job {
	o := randomJob(seed)
	o.Cause = ""
	rng := rand.New(rand.NewPCG(seed, 0x62616c))
	if more := []string{"windows", outlived, "lost", ""}[rng.IntN(4)]; more != "" && !o.has(more) {
		o.Trouble = append(o.Trouble, more)
	}
	return NewJob(o)
}

// RandomJobSet draws a job with one to three slow ranks. Some of them are slow from a step in the middle on, or until one; some jobs lack records.
func RandomJobSet(seed uint64) *Job {
	o := randomJob(seed)
	rng := rand.New(rand.NewPCG(seed, 0x736574))
	o.Cause, o.Trouble, o.Noise = "", nil, []float64{1, 1, 2, 3}[rng.IntN(4)]
	o.Steps = 6 + rng.IntN(5)
	if t := []string{"", "", "", "windows", outlived, "lost"}[rng.IntN(6)]; t != "" {
		o.Trouble = []string{t}
	}
	taken := map[int32]bool{}
	n := 1 + rng.IntN(3)
	for i := range n {
		p := JobPlant{Cause: []string{"gpu", "gpu", "cpu", "data", "rows"}[rng.IntN(5)], Rank: int32(rng.IntN(o.World)), To: int32(o.Steps)}
		for taken[p.Rank] {
			p.Rank = (p.Rank + 1) % int32(o.World)
		}
		switch p.Cause {
		case "gpu":
			p.Factor = 1.15 + 0.2*rng.Float64()
		case "cpu":
			p.Factor = 1.4 + 0.6*rng.Float64()
		case "data":
			p.Factor = 1.5 + 3*rng.Float64()
		case "rows":
			p.Factor = 1.2 + 0.5*rng.Float64()
		}
		if i > 0 && rng.IntN(2) == 0 { // as much as the one before
			p.Cause, p.Factor = o.Set[i-1].Cause, o.Set[i-1].Factor
		}
		switch half := int32(o.Steps / 2); rng.IntN(4) {
		case 0:
			p.From = half - 1 + rng.Int32N(2)
		case 1:
			p.To = half + rng.Int32N(2)
		}
		taken[p.Rank] = true
		o.Set = append(o.Set, p)
	}
	return NewJob(o)
}

func randomJob(seed uint64) JobOptions {
	rng := rand.New(rand.NewPCG(seed, 0x72616e646f6d))
	o := JobOptions{Seed: seed, Kind: JobKinds[rng.IntN(len(JobKinds))], Noise: []float64{1, 1, 2, 5}[rng.IntN(4)],
		World: []int{8, 16, 16, 32}[rng.IntN(4)]}
	if rng.IntN(3) > 0 {
		o.Cause = JobCauses[1+rng.IntN(len(JobCauses)-2)]
	}
	for range rng.IntN(3) {
		if t := JobTroubles[rng.IntN(len(JobTroubles))]; !slices.Contains(o.Trouble, t) {
			o.Trouble = append(o.Trouble, t)
		}
	}
	more := rand.New(rand.NewPCG(seed, 0x726f7773)) // so that the other seeds make the jobs that they made before there was this
	if more.IntN(8) == 0 {
		o.Cause = "rows"
	}
	o.NoShapes = more.IntN(4) == 0
	return o
}

func (o *JobOptions) has(trouble string) bool { return slices.Contains(o.Trouble, trouble) }

// chance is true in so many of 100 cases.
func (j *Job) chance(percent int) bool { return j.rng.IntN(100) < percent }

// between draws from [lo, hi].
func (j *Job) between(lo, hi int64) int64 { return lo + j.rng.Int64N(hi-lo+1) }
