package report

import (
	"cmp"
	"io"
	"maps"
	"slices"

	"overlay/internal/coarse"
	"overlay/internal/stat"
	"overlay/internal/tables"
)

// RecordsSchema names the form of the JSON of coarse records; docs/reference/report-records.schema.json describes it.
const RecordsSchema = "overlay-records/1"

// RecordsReport is who slows a job of which there are coarse records.
type RecordsReport struct {
	Schema   string       `json:"schema"`
	Tool     Tool         `json:"tool"`
	Headline string       `json:"headline" about:"who slows the job most, and what it costs; empty where nobody does"`
	Job      coarse.Study `json:"job" table:"records_job" about:"the job"`

	name string
}

// NewRecords makes the report of a job of coarse records.
func NewRecords(name, version string, job *coarse.Job) *RecordsReport {
	r := &RecordsReport{Schema: RecordsSchema, Tool: Tool{"overlay", version}, Job: *job.Judge(), name: name}
	r.Headline = r.headline(&r.Job)
	return r
}

// worthSlowdown is what is worth a headline where nobody is slow, as of a straggler among traces.
const worthSlowdown = 1.02

// headline names who is slow, or the kind of operations that takes now more and now less.
func (r *RecordsReport) headline(j *coarse.Study) string {
	if j.Headline != "" || j.Slowdown < worthSlowdown {
		return j.Headline
	}
	who := "no rank and no stage alone: most in " + j.ByKind[0].Name + ", which takes now more, now less"
	if j.Steps < 2 {
		who = "one step, which is too few to name a rank: most in " + j.ByKind[0].Name
	}
	return who + "; even, " +
		tables.Duration(j.Replayed-j.WithoutKind) + " a step less (" + tables.SignedPercent(100*tables.ShareOf(j.WithoutKind-j.Replayed, j.Replayed)) + ")"
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
	return say(l, "{ranks#rank} with {records#record} in {stages#stage} and {replicas#replica}; {steps#step} of {recorded_ns}, of which {replayed_ns} are work, transfers and waiting. With even operations {even_ns}: ") +
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
	slow := tables.Find(list, "records_slow")
	ranks, steps := tables.Find(list, "records_ranks"), tables.Find(list, "records_steps").Sorted("slowdown")
	return []Section{
		{"slow", "Slower than their peers", "Judged as traces of a job are; the gain is that of even operations on it alone, or beside the others.", filled([]Grid{gridOf(slow, maxRows, "slow",
			label("", func(l tables.Line) Cell { return Cell{Text: say(l, "{who}: {words}{when}")} }), figure(slow, "gain a step", "gain_ns"), figure(slow, "share", "gain_share"))})},
		{"ranks", "Ranks", "The smaller slowdown of its stage and its replica, and its own work in a step beside the median of the other ranks of its stage.", filled([]Grid{gridOf(ranks, maxRows, "ranks",
			textual("", "rank {rank}, stage {stage}, replica {replica}"), times, bar(ranks, "work_ns", "pale", ""), figure(ranks, "work", "work_ns"), figure(ranks, "peers", "peers_ns"))})},
		{"map", "Work by stage and replica", "Own work of each rank in a step over that of the rank in the middle of all.", r.workMap()},
		part("stages", "Stages", "A step in which only the stage takes what was recorded, over one with even operations."),
		part("replicas", "Replicas", "The same of the ranks that hold one copy of the model."),
		part("kinds", "Kinds of operations", "The same of operations of one kind."),
		{"steps", "Steps", "The slowest first.", filled([]Grid{gridOf(steps, maxRows, "steps", textual("", "step {step}"), times, bar(steps, "recorded_ns", "pale", ""), figure(steps, "recorded", "recorded_ns"),
			figure(steps, "replayed", "replayed_ns"))})},
	}
}

// mostReplicas are as many as a line of text has room for.
const mostReplicas = 12

// workMap has a row for each stage and a column for each replica; of many replicas those are left out in which no rank works longest.
func (r *RecordsReport) workMap() []Grid {
	j := &r.Job
	if j.Stages < 2 || j.Replicas < 2 || j.Stages > coarse.Most {
		return nil
	}
	var all []int64
	most, work := map[int32]int64{}, map[[2]int32]int64{}
	for i := range j.ByRank {
		x := &j.ByRank[i]
		all, most[x.Replica] = append(all, x.Work), max(most[x.Replica], x.Work)
		work[[2]int32{x.Stage, x.Replica}] = x.Work
	}
	mid := max(stat.Median(all), 1)
	replicas := slices.Sorted(maps.Keys(most))
	slices.SortStableFunc(replicas, func(a, b int32) int { return cmp.Compare(most[b], most[a]) })
	replicas = replicas[:min(len(replicas), mostReplicas)]
	slices.Sort(replicas)
	g := Grid{What: "stages", Columns: []Column{{Head: "stage", Label: true}}}
	for _, replica := range replicas {
		g.Columns = append(g.Columns, Column{Head: "replica " + tables.Plain(int64(replica)), Number: true})
	}
	stages := map[int32]bool{}
	for i := range j.ByRank {
		stages[j.ByRank[i].Stage] = true
	}
	for _, stage := range slices.Sorted(maps.Keys(stages)) {
		row := []Cell{{Text: "stage " + tables.Plain(int64(stage))}}
		for _, replica := range replicas {
			c := Cell{Text: NoValue}
			if ns, ok := work[[2]int32{stage, replica}]; ok {
				times := float64(ns) / float64(mid)
				c = Cell{Text: "×" + tables.Fixed(times, 2), Exact: tables.Fixed(times, 4)}
			}
			row = append(row, c)
		}
		g.Rows = append(g.Rows, row)
	}
	return []Grid{g}
}

// WriteJSON writes the report as JSON.
func (r *RecordsReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteText writes the report on about one screen.
func (r *RecordsReport) WriteText(w io.Writer, o TextOptions) error {
	t := newText(w, o, nil)
	t.heading(r.Headline, r.name)
	t.para(r.Lead())
	t.para(r.Trust())
	t.sections(r.Sections(), func(s Section) int {
		if s.Name == "map" { // it is read as a whole
			return maxRows
		}
		return t.most(5)
	})
	return t.w.Flush()
}
