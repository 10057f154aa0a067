package report

import (
	"io"

	"overlay/internal/ranks"
	"overlay/internal/tables"
)

// JobSchema names the form of the JSON of a job of several ranks; docs/reference/report-job.schema.json describes it.
const JobSchema = "overlay-report/2"

// JobReport is the analysis of a job that left a trace for each rank. Times are on the job's clock in unix ns, which is
// that of the lowest rank. Lists by rank are in the order of Ranks.
type JobReport struct {
	Schema string `json:"schema"`
	Tool   Tool   `json:"tool"`
	Method string `json:"method" about:"how the path was found"`

	Headline string `json:"headline" about:"who the job waits for most, and what it costs; empty where nobody is slow"`

	Job Job `json:"job" table:"job" about:"the job"`

	name, threads string // what was read, and how hand-offs were: for the text
	judged        int
	done          *Done // what the ranks do, for comparing
}

// Job is what is known of all ranks together.
type Job struct {
	World       int             `json:"world" unit:"count" about:"ranks of the job, with or without a trace"`
	Ranks       []Rank          `json:"ranks" table:"ranks" about:"ranks with a trace"`
	Missing     []int           `json:"missing" entry:"rank" unit:"id" about:"ranks without a trace"`
	Ignored     []Ignored       `json:"ignored" table:"ignored" about:"inputs that are no rank of the job"`
	Notes       []string        `json:"notes" table:"-"`
	Captures    int             `json:"captures" unit:"count" about:"captures that each rank has"`
	Window      JobWindow       `json:"window" table:"job_window" about:"the analysed interval"`
	Groups      []JobGroup      `json:"groups" table:"groups" about:"process groups"`
	Matching    Matching        `json:"matching" table:"matching" about:"which operations of the ranks are one collective"`
	Clock       JobClock        `json:"clock" table:"clock" about:"what the clocks are worth"`
	Path        JobPath         `json:"critical_path" table:"job_path" about:"the path over all ranks"`
	Totals      []GroupTotal    `json:"collectives_by_group" table:"collectives_by_group" about:"collectives, summed by group and name"`
	Collectives []JobCollective `json:"collectives,omitempty" table:"collectives" about:"each collective"`
	Waits       JobWaits        `json:"waits" table:"waits" about:"what ranks waited for in collectives, in rank-time"`
	Steps       []JobStep       `json:"steps" table:"job_steps" about:"steps over all ranks"`
	Stragglers  []Straggler     `json:"stragglers" table:"stragglers" about:"ranks with more work than their peers that shows on their own path"`
	Links       []Link          `json:"links" table:"links" about:"groups whose transfers take longer than those of their sisters"`
	Bandwidth   []Bandwidth     `json:"bandwidth" table:"bandwidth" about:"bus bandwidth by size"`
}

// JobWindow is the analysed interval of a job.
type JobWindow struct {
	Start    int64 `json:"start_ns" unit:"time"`
	End      int64 `json:"end_ns" unit:"time"`
	Duration int64 `json:"duration_ns" unit:"ns"`
	Step     *int  `json:"step" unit:"id" about:"number of the profiler step; null for the whole job"`
}

// Rank is a rank with a trace.
type Rank struct {
	Rank    int              `json:"rank" unit:"id" key:"yes"`
	RankBy  string           `json:"rank_by" about:"how the rank is known"`
	Source  string           `json:"source"`
	Host    string           `json:"host"`
	Device  int              `json:"device" unit:"id" about:"-1 when not said"`
	Events  int              `json:"events" unit:"count"`
	Window  Span             `json:"window" about:"recorded interval"`
	Clock   RankClock        `json:"clock"`
	Path    int64            `json:"path_ns" unit:"ns" about:"time of the path over ranks"`
	Ceiling int64            `json:"gain_ceiling_ns" unit:"ns" about:"what the job can gain at most by this rank alone at the jumps of the path"`
	Wait    int64            `json:"wait_ns" unit:"ns" about:"waited in collectives"`
	Caused  int64            `json:"caused_wait_ns" unit:"ns" about:"rank-time that others waited for its work"`
	ByClass map[string]int64 `json:"by_class" entry:"class" unit:"ns" about:"time of the path over ranks by class"`
	// OwnByClass is there when no collective was matched: then there is no path over ranks.
	OwnByClass map[string]int64 `json:"own_by_class,omitempty" entry:"class" unit:"ns" about:"time of the path of the rank alone by class"`
}

// Span is an interval.
type Span struct {
	Start int64 `json:"start_ns" unit:"time"`
	End   int64 `json:"end_ns" unit:"time"`
}

// RankClock turns local times into times of the job: t - offset - drift (t - mid).
type RankClock struct {
	Mid          int64 `json:"mid_ns" unit:"time" about:"local"`
	Offset       int64 `json:"offset_ns" unit:"ns" about:"of the clock against that of the job"`
	Drift        int64 `json:"drift_ppb" unit:"count" about:"ns a second"`
	Error        int64 `json:"error_ns" unit:"ns" about:"by which the solution may be off"`
	Observations int   `json:"observations" unit:"count" about:"collectives that it rests on"`
	Component    int   `json:"component" unit:"id" about:"ranks of one component share collectives"`
}

// Ignored is an input that is no rank of the job.
type Ignored struct {
	Source string `json:"source"`
	Why    string `json:"why"`
}

// JobGroup is a process group.
type JobGroup struct {
	ID    int    `json:"id" unit:"id" key:"yes"`
	Name  string `json:"name"`
	Desc  string `json:"desc"`
	Ranks []int  `json:"ranks" table:"group_ranks" entry:"rank" unit:"id" about:"members of groups"`
	By    string `json:"by" about:"how the members are known: args, config, stride, or times, which is guessed"`
	Count int    `json:"collectives" unit:"count" about:"operations of its members"`
}

// Matching counts which operations of the ranks are one collective.
type Matching struct {
	Instances int            `json:"instances" unit:"count" about:"collectives of two or more ranks"`
	Complete  int            `json:"complete" unit:"count" about:"of those, all members have an operation"`
	Partial   int            `json:"partial" unit:"count" about:"of those, some have none"`
	Unmatched int            `json:"unmatched" unit:"count" about:"operations that are in none"`
	By        map[string]int `json:"by" table:"matched_by" entry:"by" unit:"count" about:"collectives by how they were matched"`
	Tokens    int            `json:"token_mismatches" unit:"count" about:"collectives whose members disagree about what they did"`
}

// JobClock is what the clocks are worth.
type JobClock struct {
	P50        int64 `json:"residual_p50_ns" unit:"ns" about:"distance of ends of one collective from the middle one"`
	P90        int64 `json:"residual_p90_ns" unit:"ns"`
	Violations int   `json:"violations" unit:"count" about:"collectives that somebody left before the last one came"`
	Components int   `json:"components" unit:"count" about:"sets of ranks that share no collectives"`
	Largest    int64 `json:"largest_correction_ns" unit:"ns"`
	Error      int64 `json:"largest_error_ns" unit:"ns"`
	Trusted    bool  `json:"trusted" unit:"flag" about:"stamps were taken as they are"`
}

// JobPath is the path over all ranks.
type JobPath struct {
	Duration   int64            `json:"duration_ns" unit:"ns"`
	BoundBy    string           `json:"bound_by" about:"the class with the most time"`
	ByClass    map[string]int64 `json:"by_class" table:"job_by_class" entry:"class" unit:"ns" about:"time of the path by class"`
	ByRank     []RankTime       `json:"by_rank" table:"path_by_rank" about:"time of the path by rank, most first"`
	JumpCount  int              `json:"jumps" unit:"count" about:"from rank to rank"`
	Unrecorded int64            `json:"unrecorded_ns" unit:"ns" about:"before the trace of the rank begins"`
	Missing    int64            `json:"missing_rank_ns" unit:"ns" about:"waits for ranks without a trace"`
	Edges      []JobEdge        `json:"edges" table:"jumps" about:"jumps of the path, in order of time"`
	Segments   []JobSegment     `json:"segments,omitempty" table:"job_segments" about:"the path, in order of time"`

	Stays []Stay `json:"-" table:"-"` // the path by rank, for text and page
}

// Stay is a stretch of the path on one rank.
type Stay struct {
	Rank       int
	Start, End int64
	Unknown    bool // not recorded, or a wait for a rank without a trace
}

// RankTime is time of one rank.
type RankTime struct {
	Rank int   `json:"rank" unit:"id"`
	NS   int64 `json:"ns" unit:"ns"`
}

// JobEdge is a jump of the path from the rank that came last into a collective to one that waited for it.
type JobEdge struct {
	Instance  int   `json:"instance" unit:"id"`
	From      int   `json:"from" unit:"id" about:"rank that came last"`
	To        int   `json:"to" unit:"id" about:"rank that waited"`
	Arrive    int64 `json:"arrive_ns" unit:"time"`
	Exclusive int64 `json:"exclusive_ns" unit:"ns" about:"by which it came later than the second to last: the most that it alone can gain here"`
}

// JobSegment is a piece of the path.
type JobSegment struct {
	Rank     int    `json:"rank" unit:"id"`
	Start    int64  `json:"start_ns" unit:"time"`
	End      int64  `json:"end_ns" unit:"time"`
	Kind     string `json:"kind"`
	Event    *int32 `json:"event" unit:"ref" about:"in the trace of the rank"`
	Name     string `json:"name"`
	Instance *int32 `json:"instance" unit:"id"`
}

// GroupTotal sums the collectives of a group.
type GroupTotal struct {
	Group     int     `json:"group" unit:"id"`
	Name      string  `json:"name"`
	Count     int     `json:"count" unit:"count"`
	Transfer  int64   `json:"transfer_ns" unit:"ns" about:"sum, from the last arrival to the first end"`
	Shortest  int64   `json:"transfer_min_ns" unit:"ns"`
	Longest   int64   `json:"transfer_max_ns" unit:"ns"`
	Wait      int64   `json:"wait_ns" unit:"ns" about:"sum over the members"`
	WaitRatio float64 `json:"wait_ratio" unit:"share" about:"waits over durations"`
	RWaitMin  float64 `json:"r_wait_min" unit:"share" about:"of r_wait, the least"`
	RWaitMax  float64 `json:"r_wait_max" unit:"share" about:"of r_wait, the most"`
	Artefacts int     `json:"skew_artefacts" unit:"count" about:"collectives that show how recording began, left out of the ratios"`
}

// JobCollective is one collective.
type JobCollective struct {
	ID       int              `json:"id" unit:"id" key:"yes"`
	Group    int              `json:"group" unit:"id"`
	Name     string           `json:"name"`
	Bytes    int64            `json:"bytes" unit:"bytes" about:"0 when not recorded"`
	Step     int              `json:"step" unit:"id" about:"-1 outside of steps"`
	Last     int              `json:"last" unit:"id" about:"rank that came last"`
	Arrive   int64            `json:"arrive_ns" unit:"time" about:"when it came"`
	Second   int64            `json:"second_ns" unit:"time" about:"when the one before it came"`
	Transfer int64            `json:"transfer_ns" unit:"ns" about:"from the last arrival to the first end"`
	Wait     int64            `json:"wait_ns" unit:"ns" about:"sum over the members"`
	RWait    float64          `json:"r_wait" unit:"share" about:"of the time since the group's last collective, what its members waited on average"`
	Artefact bool             `json:"skew_artefact" unit:"flag" about:"a quarter or more of what was waited for was not recorded"`
	By       string           `json:"by" about:"clock or duration: how waits were told from transfers"`
	Ranks    []CollectiveRank `json:"ranks" table:"collective_ranks" about:"members of collectives"`
}

// CollectiveRank is a member of a collective.
type CollectiveRank struct {
	Rank  int   `json:"rank" unit:"id"`
	Event int32 `json:"event" unit:"ref" about:"in the trace of the rank"`
	Start int64 `json:"start_ns" unit:"time"`
	End   int64 `json:"end_ns" unit:"time"`
	Wait  int64 `json:"wait_ns" unit:"ns"`
}

// JobWaits is what ranks waited for, in rank-time. Total is the sum of charged, transfer, unrecorded and missing, where clocks are known.
type JobWaits struct {
	Total      int64    `json:"total_ns" unit:"ns"`
	Once       int64    `json:"once_ns" unit:"ns" about:"where a rank that waits in several collectives at once counts once"`
	Ratio      float64  `json:"ratio" unit:"share" about:"of once_ns in the time of all ranks"`
	Charged    []Charge `json:"charged" table:"charged" about:"what was waited for, most first"`
	Transfer   int64    `json:"transfer_ns" unit:"ns" about:"for transfers of other collectives"`
	Unrecorded int64    `json:"unrecorded_ns" unit:"ns" about:"for time before a trace begins"`
	Missing    int64    `json:"missing_rank_ns" unit:"ns" about:"for ranks without a trace"`
	Artefacts  int64    `json:"skew_artefact_ns" unit:"ns" about:"of the total, in collectives that show how recording began"`
}

// Charge is rank-time that was waited for one name on one rank.
type Charge struct {
	Rank  int    `json:"rank" unit:"id"`
	Class string `json:"class"`
	Name  string `json:"name"`
	NS    int64  `json:"ns" unit:"ns"`
}

// JobStep is a step over all ranks.
type JobStep struct {
	Number   int       `json:"number" unit:"id" key:"yes"`
	Type     string    `json:"type,omitempty" about:"of iterations of a server: prefill, decode and so on"`
	Start    int64     `json:"start_ns" unit:"time"`
	Duration int64     `json:"duration_ns" unit:"ns"`
	Whole    bool      `json:"whole" unit:"flag" about:"every rank recorded all of it"`
	Bad      bool      `json:"bad" unit:"flag" about:"much longer than the others"`
	ByRank   StepRanks `json:"by_rank" table:"-"`
}

// StepRanks are lists with one entry a rank.
type StepRanks struct {
	Own    []int64 `json:"own_ns"`
	Wait   []int64 `json:"wait_ns"`
	Excess []int64 `json:"excess_ns"`
	Caused []int64 `json:"caused_wait_ns"`
}

// Straggler is who is slow, when, and why.
type Straggler struct {
	Kind   string `json:"kind" about:"persistent, alternating or one_off"`
	Unit   string `json:"unit" about:"rank, host, group or stage"`
	Name   string `json:"name" about:"of the unit"`
	Ranks  []int  `json:"ranks" table:"straggler_ranks" entry:"rank" unit:"id" about:"ranks of stragglers"`
	Steps  []int  `json:"steps" table:"straggler_steps" entry:"step" unit:"id" about:"steps in which stragglers were slow"`
	From   *int   `json:"from_step" unit:"id" about:"the step from which on, where it is slow not before; else null"`
	Until  *int   `json:"until_step" unit:"id" about:"the step until which, where it is slow not after it; else null"`
	Excess int64  `json:"excess_ns" unit:"ns" about:"work beyond that of the peers"`
	Gain   int64  `json:"gain_ns" unit:"ns" about:"by how much the job ends earlier without it alone, by a replay"`
	Bound  bool   `json:"gain_is_bound" about:"nothing could be replayed: it gains no more than this, its work beyond that of the peers as far as it is on the path"`
	Stays  int64  `json:"stays_ns" unit:"ns" about:"what it costs if it alone stays and all other stragglers are mended"`

	Both      int64   `json:"both_ns" unit:"ns" about:"by how much the job ends earlier without it and another one, where it alone gains little and both together much"`
	With      string  `json:"with" about:"that other one"`
	Gains     string  `json:"gain" about:"what the job gains, in words"`
	StepGain  int64   `json:"step_gain_ns" unit:"ns" about:"the larger of gain_ns and stays_ns, for each step in which it is slow"`
	StepShare float64 `json:"step_share" unit:"share" about:"that, of such a step"`

	Share  float64      `json:"share" unit:"share" about:"of those steps"`
	Cause  string       `json:"cause"`
	Factor float64      `json:"factor" unit:"count" about:"by which work takes longer than that of the peers; 0 when not known"`
	Load   float64      `json:"load" unit:"count" about:"what its operators were given to do, in times of what those of the peer in the middle were; 0 when not known"`
	LoadBy string       `json:"load_by" about:"what tells: shapes (of inputs), grids (of kernels), or nothing"`
	Names  []NameExcess `json:"names" table:"straggler_names" about:"what took longer"`
}

// NameExcess is what one name took beyond what it takes the peers.
type NameExcess struct {
	Name   string `json:"name"`
	Excess int64  `json:"excess_ns" unit:"ns"`
}

// Link is a group whose transfers take longer than those of its sisters.
type Link struct {
	Class    string  `json:"class" about:"collective and its size"`
	Group    int     `json:"group" unit:"id"`
	Topology string  `json:"topology" about:"intra (one host), inter (several) or unknown"`
	Median   int64   `json:"median_ns" unit:"ns"`
	Best     int64   `json:"best_ns" unit:"ns" about:"median of the fastest group"`
	Ratio    float64 `json:"ratio" unit:"count"`
}

// Bandwidth is what collectives of about one size reach.
type Bandwidth struct {
	Name     string  `json:"name"`
	Topology string  `json:"topology"`
	Size     int     `json:"group_size" unit:"count"`
	Bucket   int64   `json:"bytes_bucket" unit:"bytes" about:"the power of two up to which"`
	Count    int     `json:"count" unit:"count"`
	Median   float64 `json:"busbw_median" unit:"gb_per_s"`
	Best     float64 `json:"busbw_best" unit:"gb_per_s"`
	Expected float64 `json:"expected" unit:"gb_per_s" about:"as given, else the best median of the topology in this job"`
}

// WriteJSON writes the report as an indented JSON document.
func (r *JobReport) WriteJSON(w io.Writer) error {
	return writeJSON(w, r)
}

// Tables gives the report as tables.
func (r *JobReport) Tables() []tables.Table {
	return tables.From("job_report", "how the report was made", r)
}

type jobBuilder struct {
	JobSource
	j *ranks.Job
}

func (b *jobBuilder) rank(member int32) int { return int(b.j.Members[member].Rank) }
