// Package advise says what would make a run shorter: what exactly is wrong, where, what to change, and by how much the
// window gets shorter then. Rules find causes in the recorded run; what a cause costs is never a time found in the trace
// but always a replay of the run without it (internal/whatif), so it includes what becomes critical instead.
//
// A rule is data and one function, in a file of its own or of a small family; the table in rules.go lists them. Gains
// are never added up: the list ends with one replay of everything together.
//
// Times are int64 ns, shares are ratios 0 to 1. The same graph gives the same advice on any number of processors.
package advise

import (
	"iter"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/trace"
	"overlay/internal/verdict"
	"overlay/internal/whatif"
)

// Schema names the form of the JSON; docs/reference/advise.schema.json describes it.
const Schema = "overlay-advice/1"

// Advice is what was found in one window of one trace, and what was not.
type Advice struct {
	Window   int64             `json:"window_ns" unit:"ns"`
	Base     int64             `json:"base_ns" unit:"ns" about:"the window that gains are taken from: shorter than the recorded one by what had been launched before recording began, and where recording itself cost much"`
	BaseBy   string            `json:"base_by" about:"the finding that says so"`
	Floor    int64             `json:"floor_ns" unit:"ns" about:"the window if the CPU took no time and waited for nothing"`
	Together int64             `json:"together_ns" unit:"ns" about:"the window with everything listed changed at once"`
	FirstUse int64             `json:"first_use_ns" unit:"ns" about:"of the critical path, in what happens once in a run"`
	Beside   int64             `json:"beside_collectives_ns" unit:"ns" about:"of the critical path of a run without devices, waiting while collectives of the CPU run"`
	Workers  int64             `json:"beside_workers_ns" unit:"ns" about:"of the critical path, waiting for workers of a data loader"`
	Without  []verdict.Without `json:"without" table:"without" about:"the window without a class of time, by a replay: of the class with the most time on the path, and of the next where that might bound the run instead"`
	NearTies []NearTie         `json:"near_ties" table:"near_ties" about:"stretches of at least 5 % of the window that have a second path, at most 1 % shorter than the critical one: little decides which of the two is critical, and gains are of replays in which both count"`
	Rules    int               `json:"rule_count" unit:"count" about:"how many were tried"`
	Findings []Finding         `json:"findings" table:"findings" about:"what would make the window shorter, or is wrong with the recording"`
	Below    []Below           `json:"below" table:"findings_below" about:"what was found and gains too little to be listed"`
	Unknown  []Unknown         `json:"unknown" table:"findings_unknown" about:"what the trace cannot tell, and what to record"`

	recorded      int64 // Base with what recording cost
	workersUnseen int64 // of Workers, ns that the path has as host code that was not recorded
}

// NearTie is a stretch of the window that has a second path which takes nearly as long as the critical one.
type NearTie struct {
	From   int64  `json:"start_ns" unit:"time"`
	To     int64  `json:"end_ns" unit:"time"`
	Margin int64  `json:"margin_ns" unit:"ns" about:"by which the second path is shorter: what shortens the critical one alone saves no more there"`
	Class  string `json:"class" about:"that holds most of the second path"`
	Name   string `json:"name" about:"the longest operation of the second path; empty where it runs through threads alone"`
}

// Finding is one cause. Fields that say what is wrong in general come from its rule, the others from the trace.
type Finding struct {
	ID         string    `json:"id" key:"yes" about:"stable name of the rule"`
	Group      Group     `json:"group" about:"measurement, specific, general or note"`
	Title      string    `json:"title" about:"what is wrong"`
	Cause      string    `json:"cause" about:"why that costs time"`
	Kind       Kind      `json:"kind" about:"of the gain: predicted, at_most or none"`
	Gain       int64     `json:"gain_ns" unit:"ns" about:"by how much the window gets shorter, by a replay; of a general finding what it adds after all specific ones"`
	Share      float64   `json:"gain_share" unit:"share" about:"of base_ns"`
	Alone      int64     `json:"alone_ns" unit:"ns" about:"by how much without any other change"`
	Confidence Level     `json:"confidence" about:"high, medium or low"`
	Why        string    `json:"why" about:"why so confident"`
	Do         string    `json:"do" about:"what to do, in a few words"`
	Saw        string    `json:"saw" about:"the evidence in a few words"`
	Action     []string  `json:"action" about:"what to change, in the order in which to try"`
	Scenario   string    `json:"scenario" about:"what the replay changed, in words"`
	Numbers    []Number  `json:"numbers" about:"what was measured"`
	Events     []int     `json:"events" entry:"event" unit:"ref" about:"positions of the slices that it is about, the longest first, as many as listed"`
	Total      int       `json:"event_count" unit:"count"`
	Examples   []Example `json:"examples" about:"the longest of them"`
	Lines      []Line    `json:"lines" about:"where in the program: lines of the user's Python code, else modules, else operators, most time first"`
	Verify     string    `json:"verify" about:"what has to be seen after the change"`
	PartOf     string    `json:"part_of" about:"a larger finding that already takes most of the same time away"`
	Ranks      []int     `json:"ranks,omitempty" table:"-" about:"of a job: the ranks that it is about"`

	class   critpath.Class
	places  []trace.EventID
	changes []whatif.Change
	taken   []taken
}

// Replayed is what a verdict asks of the advice; nil where nobody looked for causes.
func (a *Advice) Replayed() *verdict.Replayed {
	if a == nil {
		return nil
	}
	r := &verdict.Replayed{Base: a.recorded, FirstUse: a.FirstUse, Beside: a.Beside, Workers: a.Workers, WorkersUnseen: a.workersUnseen, Without: a.Without}
	for i := range a.Findings {
		switch f := &a.Findings[i]; f.ID {
		case profilerCost.id:
			r.Recording = f.Numbers[0].NS
		case slowHostOps.id:
			r.Recording = f.Gain
		}
	}
	return r
}

// Changes are what its replay changes about the run.
func (f *Finding) Changes() []whatif.Change { return f.changes }

// Class is the class of time that the finding is about.
func (f *Finding) Class() critpath.Class { return f.class }

// Places are the slices that the finding is about, the longest first: of Total as many as are worth drawing.
func (f *Finding) Places() []trace.EventID { return f.places }

// Group says what a finding is about.
type Group string

// The groups, in the order of the list.
const (
	Measurement Group = "measurement" // recording itself cost time
	Specific    Group = "specific"    // one cause
	General     Group = "general"     // what remains, by its nature
	Note        Group = "note"        // about the window or the recording, without a gain
)

// Kind says how a gain is meant.
type Kind string

// The kinds of gains.
const (
	Predicted Kind = "predicted" // if the replaced durations are as assumed
	AtMost    Kind = "at_most"   // something is assumed to take no time at all
	None      Kind = "none"
)

// Level is how sure a rule is of itself. A new one starts as Medium; High is for those that were right on real traces
// that they were not made for.
type Level string

// The levels.
const (
	High   Level = "high"
	Medium Level = "medium"
	Low    Level = "low"
)

// Number is something measured: a time, a count or bytes; the others are 0.
type Number struct {
	Name  string `json:"number"`
	NS    int64  `json:"ns" unit:"ns"`
	Count int64  `json:"count" unit:"count"`
	Bytes int64  `json:"bytes" unit:"bytes"`
}

// Example is a slice that a finding is about.
type Example struct {
	Event    int32  `json:"event" unit:"ref"`
	Name     string `json:"name"`
	At       int64  `json:"at_ns" unit:"ns" about:"from the start of the window"`
	NS       int64  `json:"ns" unit:"ns"`
	Expected int64  `json:"expected_ns" unit:"ns" about:"that it should take; -1 when that cannot be said"`
}

// Line is a place of the program.
type Line struct {
	Line  string `json:"line"`
	Count int    `json:"count" unit:"count"`
	NS    int64  `json:"ns" unit:"ns" about:"of the slices there; of host-bound what the GPU waits for"`
}

// Below is a finding that gains less than its rule lists.
type Below struct {
	ID    string  `json:"id"`
	Title string  `json:"title" about:"what is wrong"`
	Share float64 `json:"gain_share" unit:"share"`
}

// Unknown is something that the trace does not tell.
type Unknown struct {
	What   string `json:"what"`
	Record string `json:"record" about:"what to do so that it does"`
}

// taken is own time that a change of a scenario takes from activities, ns each. It is worked out whenever somebody
// looks: a list would be as long as the trace.
type taken = iter.Seq2[cdg.ActID, int64]

// Top lists the findings of a first screen, most gain first: those that are surest, then others as far as there is room.
func (a *Advice) Top(n int) []*Finding {
	var sure, check []*Finding
	for i := range a.Findings {
		switch f := &a.Findings[i]; {
		case f.Kind == None || f.Group == Measurement || f.PartOf != "":
		case f.Confidence == High || f.Group == General:
			sure = append(sure, f)
		default:
			check = append(check, f)
		}
	}
	byGain(sure)
	byGain(check)
	sure = append(sure, check...)
	sure = sure[:min(n, len(sure))]
	byGain(sure)
	return sure
}
