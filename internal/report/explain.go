package report

import (
	"fmt"

	"overlay/internal/tables"
	"overlay/internal/whatif"
)

// Explained is how much of the difference of two windows follows from the time that names take.
type Explained struct {
	NS      int64        `json:"explained_ns" unit:"change" about:"of the difference: what a replay of the second run with all times as in the first takes back"`
	Share   float64      `json:"explained_share" unit:"share" about:"of the difference"`
	Changes []NameChange `json:"changes" table:"changes" about:"names whose own time differs most, those first that explain most"`
}

// NameChange is a name whose own time differs between two runs.
type NameChange struct {
	Name         string `json:"name"`
	Before       int64  `json:"before_ns" unit:"ns" about:"own time of all events of the name, on the path or not"`
	After        int64  `json:"after_ns" unit:"ns"`
	BeforeEvents int    `json:"before_events" unit:"count"`
	AfterEvents  int    `json:"after_events" unit:"count"`
	Effect       int64  `json:"effect_ns" unit:"change" about:"what this alone does to the window, by a replay"`
}

// Explain adds to a difference how much of it follows from the time that names take.
func (d *Difference) Explain(x *whatif.Explanation) {
	for _, l := range d.PerStep {
		if l.BeforeSteps != l.AfterSteps {
			return // it explains windows
		}
	}
	if d.Work != nil || d.windows.Effect == 0 {
		return
	}
	e := &Explained{NS: x.Explained, Changes: []NameChange{}}
	if x.Measured != 0 {
		e.Share = float64(x.Explained) / float64(x.Measured)
	}
	for _, c := range x.Changes {
		e.Changes = append(e.Changes, NameChange{c.Name, c.Before.NS, c.After.NS, c.Before.Events, c.After.Events, c.Effect})
	}
	d.Explained = e
}

// explanation says how much of a difference the times of names explain: as a part of it, where it is a part.
func (d *Difference) explanation() string {
	x := d.Explained
	if x.Share >= 0 && x.Share <= 1 {
		return fmt.Sprintf("%s of the difference of the windows (%s of %s) is that the same names took another time: so much a replay of the second run with the times of the first takes back",
			tables.FormatShare(x.Share), tables.Signed(x.NS), tables.Signed(d.windows.Effect))
	}
	return fmt.Sprintf("the same names took another time: that alone makes %s, by a replay of the second run with the times of the first; what else differs makes %s",
		tables.Signed(x.NS), tables.Signed(d.windows.Effect-x.NS))
}

// explained prints what explains a difference.
func (t *text) explained(d *Difference, top int) {
	if d.Explained == nil || d.windows.Effect == 0 || len(d.Explained.Changes) == 0 {
		return
	}
	t.line("")
	t.para(d.explanation())
	t.changed("before", "after", "explains", "own time of")
	for l := range t.table("changes").Lines(top) {
		t.changed(l.Show("before_ns"), l.Show("after_ns"), l.Show("effect_ns"), Shorten(Plain(Readable(l.Str("name"))), t.width-43))
	}
}
