package report

import (
	"io"
	"slices"

	"overlay/internal/flights"
	"overlay/internal/ranks"
	"overlay/internal/ranks/roster"
	"overlay/internal/tables"
)

// FlightsSchema names the form of the JSON of dumps of flight recorders; docs/reference/report-flights.schema.json describes it.
const FlightsSchema = "overlay-flights/1"

// FlightsReport is who did not arrive and who was late, of a job of which there are dumps of flight recorders.
type FlightsReport struct {
	Schema   string        `json:"schema"`
	Tool     Tool          `json:"tool"`
	Headline string        `json:"headline" about:"who is missing, who has called another collective, or who is late; empty where nobody is"`
	Job      flights.Study `json:"job" table:"flights_job" about:"the job"`
	Traced   []Traced      `json:"traced" table:"flights_traced" about:"ranks that are waited for or late, as the traces of the job show them; empty without traces"`

	name string
}

// Traced is what the traces of a job say of a rank.
type Traced struct {
	Rank   int    `json:"rank" unit:"id"`
	Where  string `json:"where" about:"host and device; empty where the traces do not say"`
	Slow   string `json:"slow" about:"how it is slower than its peers, from when on, and what that costs; empty where it is not"`
	Caused int64  `json:"caused_ns" unit:"ns" about:"that others waited for it in the collectives of the traces, of all of them together"`
}

// NewFlights makes the report of the dumps of a job.
func NewFlights(name, version string, job *flights.Study) *FlightsReport {
	r := &FlightsReport{Schema: FlightsSchema, Tool: Tool{"overlay", version}, Job: *job, Traced: []Traced{}, name: name}
	r.Headline = r.headline()
	return r
}

// Join adds what the traces of the job say of the ranks that are waited for or late. The line that says who it is ends with it.
func (r *FlightsReport) Join(j *ranks.Job, v *ranks.Verdict) {
	named := slices.Clone(r.Job.Suspects)
	for i := range r.Job.Late {
		named = append(named, r.Job.Late[i].Rank)
	}
	for i, rank := range named {
		m := slices.IndexFunc(j.Members, func(m ranks.Member) bool { return int(m.Rank) == rank })
		if m < 0 || slices.Contains(named[:i], rank) {
			continue
		}
		t := Traced{Rank: rank, Where: j.Members[m].Where(), Caused: j.Waits.ByMember[m].Caused}
		for k := range v.Stragglers {
			if s := &v.Stragglers[k]; slices.Contains(s.Members, int32(m)) && t.Slow == "" {
				t.Slow = s.Words() + s.When()
				if gain := j.GainWords(v, k); gain != "" {
					t.Slow += "; " + gain
				}
			}
		}
		if r.Traced = append(r.Traced, t); i == 0 && r.Headline != "" {
			r.Headline += "; " + t.words()
		}
	}
}

// words say what the traces show of a rank.
func (t *Traced) words() string {
	s := ranksOf([]int{t.Rank}) + t.Where + " in its trace: "
	switch {
	case t.Slow != "":
		return s + t.Slow
	case t.Caused > 0:
		return s + "as fast as its peers; the others waited " + tables.Duration(t.Caused) + " for it in all"
	}
	return s + "as fast as its peers"
}

// headline: what is called differently comes before who is missing, which follows from it; late is who makes the others wait for more than all others together.
func (r *FlightsReport) headline() string {
	j := &r.Job
	if len(j.Mismatches) > 0 {
		m := &j.Mismatches[0]
		return ranksOf(m.Others) + verb(len(m.Others), " calls ", " call ") + m.Call + " where others call " + m.Most + ": collective " + tables.Plain(m.Seq) + " of group " + m.Group + at(m.Frame)
	}
	for _, w := range j.Waits {
		if len(w.Missing) > 0 && (len(j.Suspects) == 0 || slices.Contains(w.Missing, j.Suspects[0])) {
			s := ranksOf(j.Suspects) + verb(len(j.Suspects), " has", " have") + " not called " + w.Call + ", collective " + tables.Plain(w.Seq) + " of group " + w.Group + "; " +
				tables.Counted(len(w.Waiting), "rank") + verb(len(w.Waiting), " waits", " wait") + " in it"
			for _, l := range j.Last {
				if l.Rank == j.Suspects[0] && l.Frame != "" {
					s += ", and the last call before is that of " + l.Frame
				}
			}
			return s
		}
	}
	if len(j.Waits) > 0 {
		w := &j.Waits[0]
		s := w.Call + ", collective " + tables.Plain(w.Seq) + " of group " + w.Group + ", does not end: "
		if len(w.Unknown) > 0 {
			return s + "there is no dump of " + ranksOf(w.Unknown)
		}
		return s + "all of its ranks have called it"
	}
	if len(j.Late) > 0 && 2*j.Late[0].Waits > j.Waited && 10*j.Late[0].Waits > j.Ran {
		l := &j.Late[0]
		return ranksOf([]int{l.Rank}) + " comes last in " + tables.Plain(int64(l.Count)) + " of " + tables.Counted(l.Of, "collective") + ": the others wait " + tables.Duration(l.Waits) + " for it in all" + at(l.Frame)
	}
	return ""
}

func ranksOf(list []int) string { return verb(len(list), "rank ", "ranks ") + roster.Ranges(list) }

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func at(frame string) string {
	if frame != "" {
		frame = " (" + frame + ")"
	}
	return frame
}

// WriteJSON writes the report as JSON.
func (r *FlightsReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// Tables gives the report as tables.
func (r *FlightsReport) Tables() []tables.Table {
	return tables.From("flights", "who did not arrive and who was late", r)
}

// Sections are what the dumps tell, a row for each.
func (r *FlightsReport) Sections() []Section {
	j, late := &r.Job, tables.Find(r.Tables(), "flights_late")
	listed := func(title string, n int, line func(i int) string) Section {
		g := Grid{Columns: []Column{{Label: true}}}
		for i := range n {
			g.Rows = append(g.Rows, []Cell{{Text: line(i)}})
		}
		return Section{Title: title, Grids: filled([]Grid{g})}
	}
	return []Section{
		listed("called differently", len(j.Mismatches), func(i int) string {
			m := &j.Mismatches[i]
			return "collective " + tables.Plain(m.Seq) + " of group " + m.Group + ": " + m.Most + "; " + ranksOf(m.Others) + ": " + m.Call + at(m.Frame)
		}),
		listed("not ended", len(j.Waits), func(i int) string {
			w := &j.Waits[i]
			s := w.Call + ", " + tables.Plain(w.Seq) + " of group " + w.Group + ": " + ranksOf(w.Waiting) + verb(len(w.Waiting), " waits", " wait")
			switch {
			case len(w.Missing) > 0:
				s += " for " + ranksOf(w.Missing)
			case len(w.Unknown) == 0:
				s += ", all have called it"
			}
			if len(w.Unknown) > 0 {
				s += ", no dump of " + ranksOf(w.Unknown)
			}
			return s + at(w.Frame)
		}),
		listed("last call of who is waited for", len(j.Last), func(i int) string {
			l := &j.Last[i]
			if l.Call == "" {
				return ranksOf([]int{l.Rank}) + ": none"
			}
			return ranksOf([]int{l.Rank}) + ": " + l.Call + ", " + tables.Plain(l.Seq) + " of group " + l.Group + verb(map[bool]int{true: 1}[l.Done], ", which has ended", ", which has not ended") + at(l.Frame)
		}),
		listed("in the traces", len(r.Traced), func(i int) string { return r.Traced[i].words() }),
		{Title: "late", Grids: filled([]Grid{gridOf(late, maxRows, "ranks", label("", func(l tables.Line) Cell { return Cell{Text: say(l, "rank {rank}: most in {call}")} }),
			figure(late, "came last", "collectives"), figure(late, "of", "of"), figure(late, "others waited", "waits_ns"))})},
	}
}

// WriteText writes the report on about one screen.
func (r *FlightsReport) WriteText(w io.Writer, o TextOptions) error {
	t, j := newText(w, o, nil), &r.Job
	t.heading(Shorten(Plain(r.Headline), 3*t.width), r.name)
	t.para(tables.Counted(j.Dumps, "dump") + " of " + tables.Counted(j.Ranks, "rank") + ", " + tables.Counted(j.Calls, "call") + "; " + tables.Counted(j.Measured, "collective") + " with the time of each kernel.")
	if j.Measured == 0 {
		t.para("Who was late is not known: TORCH_NCCL_ENABLE_TIMING=1 records how long kernels run.")
	}
	if len(j.NoDump) > 0 {
		t.para("No dump of " + ranksOf(j.NoDump) + ".")
	}
	t.sections(r.Sections(), func(Section) int { return t.most(8) })
	return t.w.Flush()
}
