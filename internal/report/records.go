package report

import (
	"io"
	"strings"
	"unicode/utf8"

	"overlay/internal/coarse"
	"overlay/internal/tables"
)

// RecordsSchema names the form of the JSON of coarse records; docs/reference/report-records.schema.json describes it.
const RecordsSchema = "overlay-records/1"

// RecordsReport is who slows a job of which there are coarse records.
type RecordsReport struct {
	Schema   string     `json:"schema"`
	Tool     Tool       `json:"tool"`
	Headline string     `json:"headline" about:"who slows the job most, and what it costs; empty where nobody does"`
	Job      RecordsJob `json:"job" table:"records_job" about:"the job"`

	name string
}

// RecordsJob is what replays say. Times are means over the steps.
type RecordsJob struct {
	Steps     int          `json:"steps" unit:"count"`
	Ranks     int          `json:"ranks" unit:"count" about:"with records"`
	Stages    int          `json:"stages" unit:"count" about:"of the pipeline"`
	Replicas  int          `json:"replicas" unit:"count" about:"ranks of a stage"`
	Records   int          `json:"records" unit:"count"`
	Unmatched int          `json:"unmatched" unit:"count" about:"transfers whose other side has no record"`
	Recorded  int64        `json:"recorded_ns" unit:"ns" about:"a step as it was recorded"`
	Residual  int64        `json:"residual_ns" unit:"ns" about:"by which a replay of the records is off at most"`
	Replayed  int64        `json:"replayed_ns" unit:"ns" about:"a step without the time between the records of a rank"`
	Even      int64        `json:"even_ns" unit:"ns" about:"the same with even operations: work takes the mean of its kind, a transfer the median"`
	Slowdown  float64      `json:"slowdown" unit:"count" about:"S: replayed_ns over even_ns"`
	Slowest   []int        `json:"slowest" table:"records_slowest" entry:"rank" unit:"id" about:"the slowest 3 % of the ranks"`
	Without   int64        `json:"without_slowest_ns" unit:"ns" about:"a step with even operations on these ranks"`
	MW        float64      `json:"m_w" unit:"share" about:"of the slowdown, what is gone then"`
	Balanced  int64        `json:"without_last_stage_ns" unit:"ns" about:"a step with even operations on the last stage"`
	MS        float64      `json:"m_s" unit:"share" about:"of the slowdown, what is gone then"`
	ByRank    []SlowRank   `json:"by_rank" table:"records_ranks" about:"ranks, the slowest first"`
	ByStage   []SlowPart   `json:"by_stage" table:"records_stages" about:"stages, the slowest first"`
	ByReplica []SlowPart   `json:"by_replica" table:"records_replicas" about:"replicas, the slowest first"`
	ByKind    []SlowPart   `json:"by_kind" table:"records_kinds" about:"kinds of operations, the slowest first"`
	ByStep    []RecordStep `json:"by_step" table:"records_steps" about:"steps in order"`
}

// SlowRank is a rank.
type SlowRank struct {
	Rank     int     `json:"rank" unit:"id"`
	Stage    int     `json:"stage" unit:"id"`
	Replica  int     `json:"replica" unit:"id"`
	Slowdown float64 `json:"slowdown" unit:"count" about:"S_w: that of its stage or of its replica, the smaller one"`
	Work     int64   `json:"work_ns" unit:"ns" about:"own work in a step"`
	Peers    int64   `json:"peers_ns" unit:"ns" about:"the median of the other ranks of its stage; 0 without others"`
	Kind     string  `json:"kind" about:"in which it takes the most time beyond even"`
}

// SlowPart is a stage, a replica or a kind of operations.
type SlowPart struct {
	Name     string  `json:"name"`
	Count    int     `json:"operations" unit:"count"`
	Time     int64   `json:"time_ns" unit:"ns" about:"of its operations in a step, without waits"`
	Even     int64   `json:"even_ns" unit:"ns" about:"of even ones"`
	Slowdown float64 `json:"slowdown" unit:"count" about:"S_t: of a step in which only these take what was recorded and all others are even"`
}

// RecordStep is a step.
type RecordStep struct {
	Step     int64   `json:"step" unit:"id"`
	Recorded int64   `json:"recorded_ns" unit:"ns"`
	Replayed int64   `json:"replayed_ns" unit:"ns" about:"without the time between the records of a rank"`
	Slowdown float64 `json:"slowdown" unit:"count"`
}

// NewRecords makes the report of a job of coarse records.
func NewRecords(name, version string, job *coarse.Job) *RecordsReport {
	s := job.Judge()
	r := &RecordsReport{Schema: RecordsSchema, Tool: Tool{"overlay", version}, name: name}
	r.Job = RecordsJob{Steps: len(s.Steps), Ranks: s.NumRanks, Stages: s.NumStages, Replicas: s.NumReplicas, Records: s.Records, Unmatched: s.Unmatched,
		Recorded: s.Recorded, Residual: s.Residual, Replayed: s.Replayed, Even: s.Even, Slowdown: s.Slowdown(), Slowest: []int{},
		Without: s.WithoutSlowest, MW: s.Explains(s.WithoutSlowest), Balanced: s.WithoutLast, MS: s.Explains(s.WithoutLast), ByRank: []SlowRank{}}
	for _, rank := range s.Slowest {
		r.Job.Slowest = append(r.Job.Slowest, int(rank))
	}
	for _, x := range s.Ranks {
		r.Job.ByRank = append(r.Job.ByRank, SlowRank{int(x.ID), int(x.Stage), int(x.Replica), x.Slowdown, x.Work, x.PeersWork, job.Kinds[x.Kind]})
	}
	numbered := func(word string) func(id int32) string {
		return func(id int32) string { return word + " " + tables.Plain(int64(id)) }
	}
	r.Job.ByStage, r.Job.ByReplica = partsOf(s.Stages, numbered("stage")), partsOf(s.Replicas, numbered("replica"))
	r.Job.ByKind = partsOf(s.Kinds, func(id int32) string { return job.Kinds[id] })
	for _, x := range s.Steps {
		step := RecordStep{x.Step, x.Recorded, x.Replayed, 1}
		if x.Even > 0 {
			step.Slowdown = float64(x.Replayed) / float64(x.Even)
		}
		r.Job.ByStep = append(r.Job.ByStep, step)
	}
	r.Headline = r.headline(s)
	return r
}

func partsOf(list []coarse.Part, name func(id int32) string) []SlowPart {
	out := []SlowPart{}
	for _, p := range list {
		out = append(out, SlowPart{name(p.ID), p.Count, p.Time, p.EvenTime, p.Slowdown})
	}
	return out
}

// What is worth a headline: a slowdown of 2 %, as of a straggler among traces, and half of it explained, as in the literature.
const (
	worthSlowdown = 1.02
	worthCause    = 0.5
)

// headline names the ranks, the stage or the kind that explains the slowdown.
func (r *RecordsReport) headline(s *coarse.Study) string {
	less := func(ns int64) string {
		return tables.Duration(s.Replayed-ns) + " a step less (" + tables.SignedPercent(100*tables.ShareOf(ns-s.Replayed, s.Replayed)) + ")"
	}
	j := &r.Job
	switch {
	case j.Slowdown < worthSlowdown:
		return ""
	case j.MW >= worthCause:
		x := &j.ByRank[0]
		who := "rank " + tables.Plain(int64(x.Rank)) + " (stage " + tables.Plain(int64(x.Stage)) + ", replica " + tables.Plain(int64(x.Replica)) + ")"
		if len(j.Slowest) > 1 {
			who = "ranks " + RankRanges(j.Slowest)
		}
		if x.Peers > 0 && float64(x.Work) >= worthSlowdown*float64(x.Peers) {
			who += ": slow ×" + tables.Fixed(float64(x.Work)/float64(x.Peers), 2)
		} else {
			who += ": slow"
		}
		return who + ", most in " + x.Kind + "; without it " + less(s.WithoutSlowest)
	case s.Explains(s.WithoutStage) >= worthCause && j.Stages > 1:
		x := &j.ByStage[0]
		return x.Name + ": ×" + tables.Fixed(float64(x.Time)/float64(max(x.Even, 1)), 2) + " as long as an even stage; with the same work on all " + less(s.Even)
	}
	return "no rank and no stage alone: most in " + j.ByKind[0].Name + ", which takes now more, now less; even, " + less(s.WithoutKind)
}

// Title is the headline of the page.
func (r *RecordsReport) Title() string {
	if r.Headline == "" {
		return "Nobody slows the job"
	}
	return Sentence(Plain(r.Headline))
}

// Name is what was read.
func (r *RecordsReport) Name() string { return r.name }

// Lead says what there is, and what a step would take.
func (r *RecordsReport) Lead() string {
	l, last := tables.Find(r.Tables(), "records_job").Line(0), ""
	if r.Job.Stages > 1 {
		last = ", on the last stage {m_s} (M_S)"
	}
	return say(l, "{ranks#rank} with {records} records in {stages#stage} and {replicas#replica}; {steps#step} of {recorded_ns}, of which {replayed_ns} are work, transfers and waiting. With even operations {even_ns}: ") +
		"slowed down ×" + tables.Fixed(r.Job.Slowdown, 2) + say(l, ". Even operations on the slowest 3 % of the ranks would undo {m_w} of that (M_W)"+last+".")
}

// Trust says what the report rests on.
func (r *RecordsReport) Trust() string {
	l := tables.Find(r.Tables(), "records_job").Line(0)
	s := say(l, "A replay of the records as they are is off by {residual_ns} at most.")
	if r.Job.Unmatched > 0 {
		s += say(l, " {unmatched#transfer} met nobody: the other side has no record, and what was waited for counts as transfer.")
	}
	return s
}

// Tables gives the report as tables.
func (r *RecordsReport) Tables() []tables.Table {
	return tables.From("records", "who slows a job of coarse records", r)
}

// Sections are the tables of text and page.
func (r *RecordsReport) Sections() []Section {
	list := r.Tables()
	times := Column{Head: "slowdown", Number: true, cell: func(l tables.Line) Cell {
		return Cell{Text: "×" + tables.Fixed(l.Value("slowdown").Float(), 2), Exact: l.Exact("slowdown")}
	}}
	part := func(name, title, says string) Section {
		t := tables.Find(list, "records_"+name)
		return Section{name, title, says, filled([]Grid{gridOf(t, maxRows, name, textual("", "{name}"), times, bar(t, "time_ns", "pale", ""), figure(t, "time", "time_ns"), figure(t, "even", "even_ns"))})}
	}
	ranks, steps := tables.Find(list, "records_ranks"), tables.Find(list, "records_steps").Sorted("slowdown")
	return []Section{
		{"ranks", "Ranks", "The smaller slowdown of its stage and its replica, and its own work in a step beside the median of the other ranks of its stage.", filled([]Grid{gridOf(ranks, maxRows, "ranks",
			textual("", "rank {rank}, stage {stage}, replica {replica}"), times, bar(ranks, "work_ns", "pale", ""), figure(ranks, "work", "work_ns"), figure(ranks, "peers", "peers_ns"))})},
		part("stages", "Stages", "A step in which only the stage takes what was recorded, over one with even operations."),
		part("replicas", "Replicas", "The same of the ranks that hold one copy of the model."),
		part("kinds", "Kinds of operations", "The same of operations of one kind."),
		{"steps", "Steps", "The slowest first.", filled([]Grid{gridOf(steps, maxRows, "steps", textual("", "step {step}"), times, bar(steps, "recorded_ns", "pale", ""), figure(steps, "recorded", "recorded_ns"),
			figure(steps, "replayed", "replayed_ns"))})},
	}
}

// WriteJSON writes the report as JSON.
func (r *RecordsReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteText writes the report on about one screen.
func (r *RecordsReport) WriteText(w io.Writer, o TextOptions) error {
	t := newText(w, o, nil)
	t.heading(r.Headline, r.name)
	t.para(r.Lead())
	t.para(r.Trust())
	for _, s := range r.Sections() {
		for _, g := range s.Grids {
			t.head(s.Title)
			t.grid(&g, t.most(5))
		}
	}
	return t.w.Flush()
}

// grid prints the first rows of a table: its numbers, then what they are about.
func (t *text) grid(g *Grid, most int) {
	rows := g.Rows[:min(most, len(g.Rows))]
	line := func(cell func(c int) string) {
		var numbers strings.Builder
		label := ""
		for c := range g.Columns {
			switch {
			case g.Columns[c].Bar:
			case !g.Columns[c].Number:
				label = cell(c)
			default:
				wide := utf8.RuneCountInString(g.Columns[c].Head)
				for _, row := range rows {
					wide = max(wide, utf8.RuneCountInString(row[c].Text))
				}
				numbers.WriteString("  " + strings.Repeat(" ", wide-utf8.RuneCountInString(cell(c))) + cell(c))
			}
		}
		t.line("%s", Shorten(numbers.String()+"  "+Plain(label), t.width))
	}
	line(func(c int) string { return g.Columns[c].Head })
	for _, row := range rows {
		line(func(c int) string { return row[c].Text })
	}
	if left := len(g.Rows) - len(rows) + g.Left; left > 0 {
		t.line("  … %s more", tables.Plain(int64(left)))
	}
}
