package report

import (
	"cmp"
	"io"
	"slices"

	"overlay/internal/serving"
	"overlay/internal/stat"
	"overlay/internal/tables"
	"overlay/internal/whatif"
)

// Difference compares two reports; differences are after minus before.
type Difference struct {
	Schema     string            `json:"schema"`
	Before     *Report           `json:"before" table:"-"`
	After      *Report           `json:"after" table:"-"`
	Window     Change            `json:"window" table:"window" about:"length of the window, or of a step where per_step is there"`
	Slower     float64           `json:"slower_percent" unit:"percent" about:"below 0: faster"`
	Classes    []Change          `json:"classes" table:"classes" about:"time on the path by class, largest effect first"`
	Hotspots   []HotspotChange   `json:"hotspots" table:"hotspots" about:"time on the path by name, of the hotspots of either side"`
	Explained  *Explained        `json:"explained,omitempty" table:"explained" about:"how much of the difference follows from the time that names take"`
	PerStep    []StepLength      `json:"per_step,omitempty" table:"per_step" about:"where both windows hold steps of one kind: how long a step takes. Classes and hotspots are those of one step then"`
	Iterations []IterationChange `json:"iterations,omitempty" table:"iterations_changed" about:"iterations of a server, of the types of both sides"`
	Work       *Work             `json:"work,omitempty" table:"work" about:"of windows without steps that do not hold as much work: by how much"`
	Noise      *Noise            `json:"noise,omitempty" table:"noise" about:"within which the difference lies"`
	Same       *Comparable       `json:"comparable,omitempty" table:"comparable" about:"whether the two traces do the same work"`
	Steps      *StepsCompared    `json:"steps,omitempty" table:"compared" about:"of two steps of one trace: which they are"`
	steps      [2]int64          // that the runs of each side hold, where steps are compared
}

// InSteps is by how many steps the times of each side are divided; 1 where whole windows are compared.
func (d *Difference) InSteps() [2]int64 {
	if len(d.PerStep) == 0 {
		return [2]int64{1, 1}
	}
	return [2]int64{int64(max(d.Before.countSteps(), 1)), int64(max(d.After.countSteps(), 1))}
}

// Change is one value before and after, ns.
type Change struct {
	Name   string `json:"name"`
	Before int64  `json:"before_ns" unit:"ns"`
	After  int64  `json:"after_ns" unit:"ns"`
	Effect int64  `json:"effect_ns" unit:"change"`
}

// IterationChange is the iterations of a server of one type before and after: medians.
type IterationChange struct {
	Type       string `json:"type" key:"yes"`
	Before     int64  `json:"before_ns" unit:"ns" about:"from the last operation of the iteration before to its own last"`
	After      int64  `json:"after_ns" unit:"ns"`
	Effect     int64  `json:"effect_ns" unit:"change"`
	BeforePerS *int64 `json:"before_tokens_per_s" unit:"count" about:"null where the names do not tell"`
	AfterPerS  *int64 `json:"after_tokens_per_s" unit:"count"`
	BeforeGap  int64  `json:"before_host_gap_ns" unit:"ns" about:"from the end of an annotation to the start of the next"`
	AfterGap   int64  `json:"after_host_gap_ns" unit:"ns"`
}

func iterationChanges(before, after []serving.Type) (out []IterationChange) {
	for i := range before {
		x := &before[i]
		for k := range after {
			if y := &after[k]; y.Type == x.Type {
				out = append(out, IterationChange{x.Type, x.Time, y.Time, y.Time - x.Time, x.PerS, y.PerS, x.Gap, y.Gap})
			}
		}
	}
	return out
}

// HotspotChange is a name on the path before and after.
type HotspotChange struct {
	Name        string `json:"name"`
	Readable    string `json:"readable" about:"the name as reports show it"`
	Before      int64  `json:"before_ns" unit:"ns"`
	After       int64  `json:"after_ns" unit:"ns"`
	Effect      int64  `json:"effect_ns" unit:"change"`
	BeforeCalls int    `json:"before_calls" unit:"count" about:"events on the path"`
	AfterCalls  int    `json:"after_calls" unit:"count" about:"events on the path"`
}

// CompareRuns makes the difference of several runs a side, one as a rule. For hotspots to be complete all reports must list all of them. Steps are those of all runs, and what they are made of is that of the run in the
// middle by its median step, or by its window.
func CompareRuns(befores, afters []*Report) *Difference {
	d := compareWindows(middleRun(befores), middleRun(afters))
	if d.perStep(befores, afters); len(d.PerStep) == 0 {
		var x, y stat.Units
		for _, r := range befores {
			x = append(x, []int64{r.Window.Duration})
		}
		for _, r := range afters {
			y = append(y, []int64{r.Window.Duration})
		}
		d.Noise = noiseOf([]stat.Units{x}, []stat.Units{y}, []float64{1}, len(x), len(y), "windows")
		d.Window.Before, d.Window.After = int64(x.Typical()), int64(y.Typical())
		d.Window.Effect = d.Window.After - d.Window.Before
	}
	d.Slower = 100 * signedShare(d.Window.Effect, d.Window.Before)
	return d
}

// compareWindows makes the difference of two windows as they are.
func compareWindows(before, after *Report) *Difference {
	window := Change{"window", before.Window.Duration, after.Window.Duration, after.Window.Duration - before.Window.Duration}
	return &Difference{Schema: "overlay-diff/1", Before: before, After: after, Window: window, Classes: changes(before.Path.ByClass, after.Path.ByClass),
		Iterations: iterationChanges(before.Iterations, after.Iterations), Hotspots: hotspotChanges(before.Hotspots, after.Hotspots), Slower: 100 * signedShare(window.Effect, window.Before)}
}

// hotspotChanges is the time on the path and the number of events there by name and collective: a name is several hotspots where its
// events are of several kinds. A frame that the other side does not have in this line is one in any. The largest effect comes first, then they go by name.
func hotspotChanges(before, after []Hotspot) []HotspotChange {
	type key struct{ name, collective string }
	in := [2]map[string]bool{{}, {}}
	for side, list := range [2][]Hotspot{before, after} {
		for i := range list {
			in[side][list[i].Name] = true
		}
	}
	at := map[key]int{}
	out := []HotspotChange{}
	of := func(h *Hotspot) *HotspotChange {
		name, readable := h.Name, h.Readable
		if !in[0][name] || !in[1][name] {
			name, readable = whatif.WithoutLine(name), whatif.WithoutLine(readable)
		}
		k := key{name, h.Collective}
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, HotspotChange{Name: name, Readable: readable})
		}
		return &out[at[k]]
	}
	for i := range before {
		c := of(&before[i])
		c.Before, c.BeforeCalls = c.Before+before[i].NS, c.BeforeCalls+before[i].Calls
	}
	for i := range after {
		c := of(&after[i])
		c.After, c.AfterCalls = c.After+after[i].NS, c.AfterCalls+after[i].Calls
	}
	for i := range out {
		out[i].Effect = out[i].After - out[i].Before
	}
	slices.SortFunc(out, func(x, y HotspotChange) int {
		return cmp.Or(cmp.Compare(max(y.Effect, -y.Effect), max(x.Effect, -x.Effect)), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Readable, y.Readable))
	})
	return out
}

// changes joins two maps, the largest effect first, then by name.
func changes(a, b map[string]int64) []Change {
	out := []Change{}
	for k, v := range a {
		out = append(out, Change{k, v, b[k], b[k] - v})
	}
	for k, v := range b {
		if _, ok := a[k]; !ok {
			out = append(out, Change{k, 0, v, v})
		}
	}
	slices.SortFunc(out, func(x, y Change) int {
		return cmp.Or(cmp.Compare(max(y.Effect, -y.Effect), max(x.Effect, -x.Effect)), cmp.Compare(x.Name, y.Name))
	})
	return out
}

// WriteJSON writes the difference as JSON.
func (d *Difference) WriteJSON(w io.Writer) error {
	return writeJSON(w, d)
}

// Tables gives the difference as tables; those of the two reports are theirs.
func (d *Difference) Tables() []tables.Table {
	return tables.From("difference", "how much longer the window takes", d)
}

// Verdict is the difference of the windows in words.
func (d *Difference) Verdict() string {
	if d.Steps != nil {
		return (*Noise)(nil).verdict(d.Labels()[1], nil, d.Slower, d.Labels()[0])
	}
	return cmp.Or(d.stepsVerdict(), d.Noise.verdict("the window", d.Work, d.Slower, "before"))
}
