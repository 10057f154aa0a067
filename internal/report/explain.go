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
	e := &Explained{NS: x.Explained, Changes: []NameChange{}}
	if x.Measured != 0 {
		e.Share = float64(x.Explained) / float64(x.Measured)
	}
	for _, c := range x.Changes {
		e.Changes = append(e.Changes, NameChange{c.Name, c.Before.NS, c.After.NS, c.Before.Events, c.After.Events, c.Effect})
	}
	d.Explained = e
}

// explained prints what explains a difference.
func (t *text) explained(d *Difference, top int) {
	if d.Explained == nil || d.Window.Effect == 0 || len(d.Explained.Changes) == 0 {
		return
	}
	t.line("")
	for _, l := range wrapText(fmt.Sprintf("%s of the difference (%s of %s) is that the same names took another time: so much a replay of the second run with the times of the first takes back",
		tables.FormatShare(d.Explained.Share), tables.Signed(d.Explained.NS), tables.Signed(d.Window.Effect)), t.width) {
		t.line("%s", l)
	}
	t.line("  %12s %12s %13s  %s", "before", "after", "explains", "own time of")
	for l := range t.table("changes").Lines(top) {
		t.line("  %12s %12s %13s  %s", l.Show("before_ns"), l.Show("after_ns"), l.Show("effect_ns"), Shorten(Plain(Readable(l.Str("name"))), t.width-43))
	}
}
