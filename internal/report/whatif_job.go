package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/tables"
)

// JobWhatIfSchema names the form of the JSON; docs/reference/whatif-job.schema.json describes it.
const JobWhatIfSchema = "overlay-whatif/2"

// JobWhatIf is the answers to what-if questions about a job of many ranks.
type JobWhatIf struct {
	Schema string `json:"schema"`
	Tool   Tool   `json:"tool"`
	Input  string `json:"input"`

	World     int         `json:"world" unit:"count" about:"ranks of the job, with or without a trace"`
	Traced    int         `json:"traced" unit:"count" about:"ranks with a trace"`
	Window    JobWindow   `json:"window" about:"the analysed interval"`
	Bound     string      `json:"bound_by" about:"the class with the most time on the path over the ranks"`
	Scenarios []JobAnswer `json:"scenarios" about:"what becomes of the job"`
	Parts     []JobPart   `json:"parts" about:"what ranks, hosts or steps cost that have more work than the median of their peers, or stages than the others"`
	LeftOut   int         `json:"parts_left_out" unit:"count" about:"of those, the ones with less excess, which were not asked"`
	LeftOver  int64       `json:"parts_left_out_excess_ns" unit:"ns" about:"the excess of those together, in rank-time"`
	Limits    []string    `json:"limits" about:"what the replay does not know"`

	Then []replay.Run `json:"-"` // what is drawn of the scenarios
}

// JobAnswer is one scenario: the job as it would have been.
type JobAnswer struct {
	Name       string  `json:"name" key:"yes"`
	Window     int64   `json:"window_ns" unit:"ns" about:"how long the job would have taken"`
	Saved      int64   `json:"saved_ns" unit:"ns"`
	SavedShare float64 `json:"saved_share" unit:"share" about:"of the recorded window"`
	Slowdown   float64 `json:"slowdown" unit:"count" about:"the recorded window in windows of this scenario"`
	EndsWith   int     `json:"ends_with_rank" unit:"id" about:"the rank that would have ended last"`
	Confidence string  `json:"confidence" about:"good or low"`
}

// JobPart is what a rank, a host or a step costs by itself.
type JobPart struct {
	Of     string `json:"of" about:"rank, host, stage or step"`
	Name   string `json:"name" key:"yes"`
	Excess int64  `json:"excess_ns" unit:"ns" about:"work beyond the median of peers, in rank-time"`
	Saved  int64  `json:"saved_ns" unit:"ns" about:"by how much the job ends earlier when this alone is at the median"`
	Costs  int64  `json:"costs_ns" unit:"ns" about:"by how much the job ends later than with all at the median when this alone stays as it is"`

	Steps []JobPartStep `json:"by_step" table:"-"`
}

// JobPartStep is what of the costs of a part arises in a step.
type JobPartStep struct {
	Step  int64 `json:"step" unit:"id"`
	Costs int64 `json:"costs_ns" unit:"ns"`
}

// JobQuestions are what-if questions about a job.
type JobQuestions struct {
	Scenarios []string // in the words of replay.Parser.Scenario
	Median    bool     // what the job takes with all ranks at the median of their peers
	Each      string   // what each rank, host or step costs; "" for none
	Draw      bool     // the first three scenarios are drawn
}

// mostDrawn is how many scenarios are drawn.
const mostDrawn = 3

// NewJobWhatIf asks questions about a job.
func NewJobWhatIf(s JobSource, q JobQuestions) (*JobWhatIf, error) {
	m, err := replay.New(s.Job)
	if err != nil {
		return nil, err
	}
	b := &jobBuilder{JobSource: s, j: s.Job}
	w := &JobWhatIf{Schema: JobWhatIfSchema, Tool: Tool{"overlay", s.Version}, Input: s.Name, World: s.Job.World, Traced: len(s.Job.Members), Window: windowOf(s.Job), Bound: b.path().BoundBy,
		Scenarios: []JobAnswer{}, Parts: []JobPart{}, Limits: jobLimits(m)}
	var list []replay.Scenario
	parse := replay.Parser{Model: m, Shown: Readable}
	for _, text := range q.Scenarios {
		x, err := parse.Scenario(text)
		if err != nil {
			return nil, fmt.Errorf("what if: %w", err)
		}
		list = append(list, x)
	}
	if q.Median {
		more, err := m.Median()
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	for i, a := range m.Answers(list) {
		w.Scenarios = append(w.Scenarios, AnswerOf(m, &list[i], a))
	}
	if q.Draw {
		for _, x := range list[:min(len(list), mostDrawn)] {
			w.Then = append(w.Then, m.Replayed(x))
		}
	}
	if slices.ContainsFunc(list, func(x replay.Scenario) bool { return x.Longer }) {
		w.Limits = append(w.Limits, "what takes longer may hold up what never waited for it in the recording: it costs that much or more")
	}
	if q.Each != "" {
		parts, left, err := m.Each(q.Each)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			x := JobPart{q.Each, p.Name, p.Excess, p.Saved, p.Costs, []JobPartStep{}}
			for _, s := range p.Steps {
				x.Steps = append(x.Steps, JobPartStep{int64(s.Step), s.NS})
			}
			w.Parts = append(w.Parts, x)
		}
		w.LeftOut = len(left)
		for _, p := range left {
			w.LeftOver += p.Excess
		}
	}
	return w, nil
}

// mostParts is how many lines a table of parts has, the sum of the rest among them.
const mostParts = 20

// AnswerOf is what a replay says of a scenario.
func AnswerOf(m *replay.Model, s *replay.Scenario, a replay.Answer) JobAnswer {
	x := JobAnswer{Name: s.Name, Window: a.Window, Saved: a.Saved, SavedShare: signedShare(a.Saved, m.Recorded()), EndsWith: int(m.Job.Members[a.Last].Rank), Confidence: "good"}
	if s.Longer || len(jobLimits(m)) > 0 {
		x.Confidence = "low"
	}
	if a.Window > 0 {
		x.Slowdown = float64(m.Recorded()) / float64(a.Window)
	}
	return x
}

// unsurePart is the part of the operations that has to be unmatched for answers to be doubtful: one in so many.
const unsurePart = 20

// jobLimits is what makes all answers doubtful.
func jobLimits(m *replay.Model) []string {
	j, list, ops := m.Job, []string{}, 0
	for i := range j.Members {
		ops += len(j.Members[i].Ops)
	}
	if n := len(j.Missing); n > 0 {
		list = append(list, tables.Counted(n, "rank")+" without a trace: when they come stays as it was")
	}
	if n := j.Matching.Unmatched; n*unsurePart > ops {
		list = append(list, fmt.Sprintf("%s of %s not matched: they take as long as they did", tables.Counted(n, "collective operation"), tables.Grouped(int64(ops))))
	}
	if m.Crossed > 0 {
		list = append(list, tables.Counted(m.Crossed, "collective")+" matched crosswise: nobody waits in them")
	}
	if slices.ContainsFunc(j.Members, func(x ranks.Member) bool { return x.Clock.Component != j.Members[0].Clock.Component }) {
		list = append(list, "some ranks share no collective: each set ends by itself")
	}
	return list
}

// WriteJSON writes the answers as an indented JSON document.
func (w *JobWhatIf) WriteJSON(to io.Writer) error { return writeJSON(to, w) }

// Title says what costs or saves most.
func (w *JobWhatIf) Title() string {
	if len(w.Parts) > 0 {
		p := &w.Parts[0]
		return Sentence(Plain(p.Name)) + " alone costs " + tables.Duration(p.Costs)
	}
	a := slices.MaxFunc(w.Scenarios, func(a, b JobAnswer) int { return cmp.Compare(a.Saved, b.Saved) })
	return "What if: " + Plain(a.Name) + ", " + tables.Duration(a.Saved) + " saved"
}

// Lead says what the questions are about.
func (w *JobWhatIf) Lead() string {
	return fmt.Sprintf("%s of %s, window %s (whole job), %s", tables.Counted(w.Traced, "rank"), tables.Grouped(int64(w.World)), tables.Duration(w.Window.Duration), boundBy(w.Bound))
}

// Sections are what becomes of the job, and what its parts cost.
func (w *JobWhatIf) Sections() (list []Section) {
	if len(w.Scenarios) > 0 {
		all := &tables.From("scenarios", "what becomes of the job", w.Scenarios)[0]
		list = append(list, Section{Name: "scenarios", Title: "What becomes of the job", Grids: []Grid{gridOf(all, all.Rows, "scenarios", asked(), figure(all, "window", "window_ns"),
			figure(all, "saved", "saved_ns"), figure(all, "of it", "saved_share"), wordsOf("ends with", "rank {ends_with_rank}"), trust())}})
	}
	if len(w.Parts) == 0 {
		return list
	}
	shown, more, excess := len(w.Parts), w.LeftOut, w.LeftOver
	if shown+min(more, 1) > mostParts {
		shown = mostParts - 1
	}
	parts := &tables.From("parts", "what ranks, hosts or steps cost", w.Parts)[0]
	g := gridOf(parts, shown, "parts", label(w.Parts[0].Of, func(l tables.Line) Cell { return cellOf(l.Str("name"), l.Str("name")) }), figure(parts, "saved", "saved_ns"), figure(parts, "costs", "costs_ns"), bar(parts, "costs_ns", "handoff", ""),
		Column{Head: "excess", Number: true, cell: func(l tables.Line) Cell { return Cell{Text: tables.RankTime(l.Value("excess_ns").Int())} }})
	for _, p := range w.Parts[shown:] {
		more, excess = more+1, excess+p.Excess
	}
	if g.Left = 0; more > 0 {
		g.add(Cell{Text: tables.Plain(int64(more)) + " more together"}, Cell{Text: NoValue}, Cell{Text: NoValue}, Cell{}, Cell{Text: tables.RankTime(excess)})
	}
	return append(list, Section{Name: "each", Title: "What each " + w.Parts[0].Of + " costs", Grids: []Grid{g},
		Says: "Saved where it alone is at the median of its peers; costs where all others are there and it is not."})
}

// WriteText writes the answers as tables.
func (w *JobWhatIf) WriteText(to io.Writer, o TextOptions) error {
	t := newText(to, o, nil)
	t.line("%s", t.bold(Shorten(Plain(w.Input), t.width)))
	t.line("%s", w.Lead())
	t.sections(w.Sections(), func(s Section) int { return len(s.Grids[0].Rows) })
	if len(w.Limits) > 0 {
		t.line("")
	}
	for _, l := range w.Limits {
		t.wrapped("assumes: " + l)
	}
	return t.w.Flush()
}
