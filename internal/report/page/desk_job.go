package page

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"overlay/internal/ranks/replay"
	"overlay/internal/report"
)

// maxPlaces is how many ranks have a slider and a row: all, or of more those that are of interest.
const maxPlaces = 48

// JobDesk is the sliders of a job of many ranks, and what answers them.
type JobDesk struct {
	Desk
	page  jobPage
	parse replay.Parser
	shown []int32 // members with a row
	mu    sync.Mutex
}

// rankRow is a rank from left to right.
type rankRow struct {
	Name  string       `json:"name"`
	Strip []report.Run `json:"strip"`
}

// moved is a job as a scenario has it, for the script of the page.
type moved struct {
	report.JobAnswer
	Ranks []rankRow `json:"ranks"`
}

// NewJobDesk makes a job ready for questions. name is what the command takes as its input.
func NewJobDesk(r *report.JobReport, s report.JobSource, name string) (*JobDesk, error) {
	m, err := replay.New(s.Job)
	if err != nil {
		return nil, err
	}
	d := &JobDesk{page: jobPage{r: r, j: s.Job, v: s.Verdict}, parse: replay.Parser{Model: m, Shown: report.Readable}}
	knows := func(change string) bool { _, err := d.parse.Scenario(change); return err == nil }
	d.Desk = *newDesk(name, r.Job.Path.ByClass, knows)
	d.shown = d.page.interesting(maxPlaces, s.Job.Window[0], s.Job.Window[1])
	hosts, several := map[string]bool{"": true}, d.page.hosts() > 1
	for _, i := range d.shown {
		host := s.Job.Members[i].Host
		if change := "host:" + host; several && !hosts[host] && knows(change+"=0.5") {
			hosts[host] = true
			d.Places = append(d.Places, slider{"", "host " + report.Shorten(report.Plain(host), 40), change})
		}
	}
	for _, i := range d.shown {
		if change := fmt.Sprintf("rank:%d", s.Job.Members[i].Rank); knows(change + "=0.5") {
			d.Places = append(d.Places, slider{"", d.page.rank(i), change})
		}
	}
	was := d.answer(replay.Scenario{Ask: replay.Changes(nil)})
	d.Recorded.Window, d.Recorded.Ends, d.Recorded.Ranks = was.Window, was.EndsWith, was.Ranks
	return d, nil
}

// Ask writes the answer to a scenario, as JSON.
func (d *JobDesk) Ask(text string, to io.Writer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	x, err := d.parse.Scenario(text)
	if err != nil {
		return fmt.Errorf("what if: %w", err)
	}
	return json.NewEncoder(to).Encode(map[string][]moved{"scenarios": {d.answer(x)}})
}

func (d *JobDesk) answer(x replay.Scenario) moved {
	then := d.parse.Model.Replayed(x, d.shown...)
	a := moved{JobAnswer: report.AnswerOf(d.parse.Model, &x, then.Answer)}
	for _, i := range d.shown {
		row := rankRow{Name: d.page.rank(i)}
		for _, p := range then.Strips[i].Thin(max(then.Window/400, 1)) {
			kind, _ := d.page.piece(&p)
			row.Strip = append(row.Strip, report.Run{Start: p.Start, End: p.End, Class: kind})
		}
		a.Ranks = append(a.Ranks, row)
	}
	return a
}
