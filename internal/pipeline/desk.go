package pipeline

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"overlay/internal/advise"
	"overlay/internal/critpath"
	"overlay/internal/report"
	"overlay/internal/whatif"
)

// Desk answers what-if questions about a run, one after the other, for as long as somebody has any.
type Desk struct {
	mu      sync.Mutex
	find    *whatif.Selector
	replies report.Replies
	advice  *advise.Advice
}

// Desk makes a run ready for questions. It is asked for before the report, whose replays share its model.
func (r *Run) Desk() *Desk {
	m := whatif.New(r.graph)
	r.model = func() *whatif.Model { return m }
	earlier := critpath.Earlier(r.graph, r.path, r.path.Window.Start, r.path.Window.End)
	return &Desk{find: whatif.NewSelector(m, report.Readable), replies: report.Replies{Model: m.Again(), Earlier: earlier}}
}

// Advised takes the advice on the run, whose findings can be asked for then.
func (d *Desk) Advised(a *advise.Advice) { d.advice = a }

// Replies are what a page is told: a scenario, in the form that many of them would have.
type Replies struct {
	Earlier   int64           `json:"earlier_ns"` // of the window in work from before recording: no share counts it
	Scenarios []*report.Reply `json:"scenarios"`
}

// Ask replays the run with something changed: changes with ; between them, in the words of whatif.Selector.Scenario, or finding:N for what the
// replay of finding N of the advice changes.
func (d *Desk) Ask(text string) (*Replies, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sc, err := d.scenario(text)
	if err != nil {
		return nil, fmt.Errorf("what if: %w", err)
	}
	a, err := d.replies.Reply(&sc)
	return &Replies{d.replies.Earlier, []*report.Reply{a}}, err
}

// Write writes the answer that Ask gives, as JSON.
func (d *Desk) Write(text string, to io.Writer) error {
	a, err := d.Ask(text)
	if err != nil {
		return err
	}
	return json.NewEncoder(to).Encode(a)
}

func (d *Desk) scenario(text string) (sc whatif.Scenario, err error) {
	var own []string
	var found []whatif.Change
	for part := range strings.SplitSeq(text, ";") {
		number, ok := strings.CutPrefix(strings.TrimSpace(part), "finding:")
		if !ok {
			own = append(own, part)
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil || d.advice == nil || n < 0 || n >= len(d.advice.Findings) {
			return sc, fmt.Errorf("there is no finding %q", number)
		}
		found = append(found, d.advice.Findings[n].Changes()...)
	}
	if len(own) > 0 {
		if sc, err = d.find.Scenario(strings.Join(own, ";")); err != nil {
			return sc, err
		}
	}
	if len(found) > 0 {
		sc.Name, sc.Changes = text, append(sc.Changes, found...)
	}
	return sc, nil
}

// Knows reports whether a scenario means something in the run.
func (d *Desk) Knows(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.scenario(text)
	return err == nil
}
