package analyses

import (
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/tables"
)

// Analysis is an entry of the registry.
type Analysis struct {
	Name  string // on the command line and in the JSON
	Title string // above its text

	run  func(s *Set, o Options, r *Result)
	part func(r *Result) any // what run left
}

// All are the analyses, in the order in which they run and are reported. Command line, help, report and page go by it.
var All = []Analysis{
	entry("temporal", "temporal: what each GPU did", func(r *Result) *[]DeviceTime { return &r.Temporal }, temporal, nil),
	entry("timeline", "timeline: what each GPU did over time", func(r *Result) *[]DeviceTimeline { return &r.Timeline }, timeline, nil),
	entry("idle", "idle: why streams had nothing to do", func(r *Result) *[]StreamIdle { return &r.Idle }, idle, idleRows),
	entry("overlap", "overlap: communication hidden by computation", func(r *Result) *[]DeviceOverlap { return &r.Overlap }, overlap, exposedRows),
	entry("queue", "queue: operations launched and not ended", func(r *Result) *[]StreamQueue { return &r.Queue }, queue, queueRows),
	entry("copies", "copies", func(r *Result) **Copies { return &r.Copies }, copyStats, memoryRows),
	entry("launch", "launch: calls and what they launched", func(r *Result) **LaunchStats { return &r.Launch }, launches, nil),
	entry("sequences", "sequences: kernels that operators launch together", func(r *Result) *[]Sequence { return &r.Sequences }, sequences, nil),
	entry("operators", "operators: delay to the launch, and from there to the kernel", func(r *Result) *[]Operator { return &r.Operators }, operators, nil),
	entry("component", "component: who worked alone: computation, communication, host; or together", func(r *Result) *[]StepComponent { return &r.Component }, components, nil),
	entry("kernels", "kernels by type", func(r *Result) *[]KernelGroup { return &r.Kernels }, kernels, nil),
	entry("roofline", "roofline: how close operators come to what the device can do", func(r *Result) **Roofline { return &r.Roofline }, rooflineOf, nil),
	entry("annotations", "annotations", func(r *Result) *[]Group { return &r.Annotations }, annotations, nil),
	entry("blocking", "blocking calls", func(r *Result) *[]BlockingCall { return &r.Blocking }, blocking, nil),
}

// entry joins the function of an analysis with its place in the result and with what it draws, nil for nothing.
func entry[T any](name, title string, place func(*Result) *T, find func(*Set, Options) T, draw func(*Set, T) []AddedRow) Analysis {
	return Analysis{Name: name, Title: title,
		run: func(s *Set, o Options, r *Result) {
			found := find(s, o)
			*place(r) = found
			if draw != nil {
				r.Rows = append(r.Rows, draw(s, found)...)
			}
		},
		part: func(r *Result) any { return *place(r) }}
}

// Names are those of All.
var Names = func() (names []string) {
	for _, a := range All {
		names = append(names, a.Name)
	}
	return names
}()

// Result holds the analyses that were asked for; the others are nil.
type Result struct {
	Temporal    []DeviceTime     `json:"temporal,omitempty"`
	Timeline    []DeviceTimeline `json:"timeline,omitempty"`
	Idle        []StreamIdle     `json:"idle,omitempty"`
	Overlap     []DeviceOverlap  `json:"overlap,omitempty"`
	Queue       []StreamQueue    `json:"queue,omitempty"`
	Copies      *Copies          `json:"copies,omitempty"`
	Launch      *LaunchStats     `json:"launch,omitempty"`
	Sequences   []Sequence       `json:"sequences,omitempty"`
	Operators   []Operator       `json:"operators,omitempty"`
	Component   []StepComponent  `json:"component,omitempty"`
	Kernels     []KernelGroup    `json:"kernels,omitempty"`
	Roofline    *Roofline        `json:"roofline,omitempty"`
	Annotations []Group          `json:"annotations,omitempty"`
	Blocking    []BlockingCall   `json:"blocking,omitempty"`

	Rows []AddedRow `json:"-"` // what is drawn
}

// Run makes the analyses that are named, over the window of the path.
func Run(g *graph.Graph, p *critpath.Path, names []string, o Options) *Result {
	s := newSet(g, p)
	r := &Result{}
	for _, a := range All {
		if slices.Contains(names, a.Name) {
			a.run(s, o, r)
		}
	}
	return r
}

// Section is an analysis as tables: its own, if it has one, and those below.
type Section struct {
	Name, Title string
	Tables      []tables.Table
}

// Sections gives the analyses that were made; none of a nil result.
func (r *Result) Sections() []Section {
	if r == nil {
		return nil
	}
	var out []Section
	for _, a := range All {
		if list := tables.From(a.Name, a.Title, a.part(r)); len(list) > 0 {
			out = append(out, Section{a.Name, a.Title, list})
		}
	}
	return out
}
