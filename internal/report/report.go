// Package report says what bounds a run: as data (Report, which is the JSON), as text for a terminal, as one self-contained
// page, and as the difference of two runs.
//
// Every number in text and page is a field of Report, or a share or sum of such. Times are int64 ns on the trace's own
// clock, shares are ratios 0 to 1. Tables gives the same as tables, which text and page show. New is pure; lists have a
// stable order.
package report

import (
	"io"

	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/memory"
	"overlay/internal/serving"
	"overlay/internal/tables"
	"overlay/internal/verdict"
	"overlay/internal/whatif"
)

// Schema names the form of the JSON; docs/reference/report.schema.json describes it.
const Schema = "overlay-report/1"

// Report is the analysis of one window of one trace. The tags unit, about, key, entry and table make the tables
// (internal/tables).
type Report struct {
	Schema      string           `json:"schema"`
	Tool        Tool             `json:"tool"`
	Input       InputInfo        `json:"input" table:"input" about:"what was read"`
	Method      string           `json:"method" about:"how the path was found"`
	Threads     string           `json:"threads" about:"gil or explicit: how threads hand work over"`
	Window      Window           `json:"window" table:"window" about:"the analysed interval"`
	Path        Path             `json:"critical_path" table:"critical_path" about:"the critical path by what it is made of"`
	DeviceUse   []DeviceUse      `json:"devices" table:"devices" about:"how busy each device is in the window"`
	Hotspots    []Hotspot        `json:"hotspots" table:"hotspots" about:"time on the critical path by name"`
	Unknown     []Unknown        `json:"unknown_time" table:"unknown_time" about:"time on the path that no recorded event owns, by its likely reason"`
	Gaps        []Gap            `json:"gaps" table:"gaps" about:"the same by what stands before and after, most time first, as many as hotspots"`
	Steps       []Step           `json:"steps" table:"steps" about:"the one path of the window clipped to each step"`
	StepTimes   *StepTimes       `json:"step_times,omitempty" table:"step_times" about:"how long steps take; without what lies outside them"`
	Iterations  []serving.Type   `json:"iterations,omitempty" table:"iterations" about:"iterations of a server by type"`
	Memory      []memory.Use     `json:"memory,omitempty" table:"memory" about:"memory that the allocator held, by device, of traces with memory events"`
	CDG         CDG              `json:"cdg" table:"cdg" about:"the aggregated graph"`
	CTDA        *CTDA            `json:"ctda,omitempty" table:"ctda" about:"with method ctda: the tables of the CTDA-CPA paper"`
	HTA         []HTAShare       `json:"hta,omitempty" table:"hta" about:"with method hta: its own summary"`
	Clock       []Clock          `json:"clock,omitempty" table:"clock" about:"where the clock of a device was off, and what was done: the times of the analysis are corrected, those of drawn events are not"`
	Calibration Calibration      `json:"calibration" table:"calibration" about:"the delays measured on the trace"`
	Advice      *advise.Advice   `json:"advice,omitempty" table:"advice" about:"what would make the window shorter; left out of slim traces, and where a method has a window of its own"`
	Gains       []Gain           `json:"gains" table:"gains" about:"what could be gained at each class and hotspot: the run replayed without it"`
	Analyses    *analyses.Result `json:"analyses,omitempty" table:"-"`
	Names       Names            `json:"-" table:"-"`

	bounds  *verdict.Bounds    // nil of a report that was read
	hot     []critpath.Hotspot // the first, of which replays tell the gain
	Quality map[string]int     `json:"quality" table:"quality" entry:"reason" unit:"count" about:"what was odd, by reason"`
}

// Tool is who made the report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// InputInfo is what was read.
type InputInfo struct {
	Name    string         `json:"name" about:"file name without its folders"`
	Bytes   int64          `json:"bytes" unit:"bytes" about:"decompressed"`
	Events  int            `json:"events" unit:"count"`
	ByPhase map[string]int `json:"by_phase_letter" entry:"phase_letter" unit:"count" about:"events by their letter ph"`
	Slim    bool           `json:"slim,omitempty" about:"it is a slim trace: the path and its context"`
	Repairs map[string]int `json:"repairs" table:"repairs" entry:"reason" unit:"count" about:"what was mended in the input"`
}

// Window is the analysed interval.
type Window struct {
	Start      int64  `json:"start_ns" unit:"time"`
	End        int64  `json:"end_ns" unit:"time"`
	Duration   int64  `json:"duration_ns" unit:"ns"`
	Annotation string `json:"annotation" about:"that it is an instance of; empty for the whole trace"`
	Instance   string `json:"instance"`
	CarriedIn  int    `json:"carried_in" unit:"count" about:"activities that run when it starts"`
	Before     int64  `json:"left_out_before_ns" unit:"ns" about:"of the whole trace: what was recorded before the window, where no thread that counts is recorded, or the profiler starts or stops"`
	After      int64  `json:"left_out_after_ns" unit:"ns" about:"the same after it"`
}

// Path is the critical path by what it is made of.
type Path struct {
	Duration   int64            `json:"duration_ns" unit:"ns"`
	CPCR       float64          `json:"cpcr" unit:"share" about:"of the window, what segments with an event cover"`
	BoundBy    string           `json:"bound_by" about:"the class with the most time"`
	Says       string           `json:"verdict" about:"what bounds the window, in words"`
	Without    string           `json:"without_recording" about:"the same without what recording cost; empty where that is little"`
	ByClass    map[string]int64 `json:"by_class" table:"by_class" entry:"class" unit:"ns" about:"time of the path by class"`
	ByKind     map[string]int64 `json:"by_kind" table:"by_kind" entry:"kind" unit:"ns" about:"time of the path by kind of segment"`
	ByEvidence map[string]int64 `json:"by_evidence" table:"by_evidence" entry:"evidence" unit:"ns" about:"time of the path by what says that it is on it"`
	Inferred   int64            `json:"inferred_ns" unit:"ns" about:"of by_evidence: api and aligned"`
	ByResource []Resource       `json:"by_resource" table:"by_resource" about:"time of the path by thread and stream"`
	Segments   []Segment        `json:"segments,omitempty" table:"segments" about:"the path, in order of time"`
	Edges      []Edge           `json:"edges,omitempty" table:"edges" about:"the steps of the path from event to event"`
	Count      int              `json:"segment_count" unit:"count"`
	Strip      []Run            `json:"strip" table:"strip" about:"the window in order, smoothed to 1/400 of it"`
}

// Run is a stretch of the strip.
type Run struct {
	Start int64  `json:"start_ns" unit:"time"`
	End   int64  `json:"end_ns" unit:"time"`
	Class string `json:"class"`
}

// Resource is a thread or stream with its time on the path.
type Resource struct {
	Name string `json:"resource"`
	NS   int64  `json:"ns" unit:"ns"`
}

// Segment is a piece of the path. Event is a position in traceEvents, nil where no event owns it.
type Segment struct {
	Start    int64  `json:"start_ns" unit:"time"`
	End      int64  `json:"end_ns" unit:"time"`
	Kind     string `json:"kind"`
	Event    *int32 `json:"event" unit:"ref"`
	Name     string `json:"name"`
	Resource string `json:"resource"`
	Evidence string `json:"evidence"`
}

// Edge is a step of the path.
type Edge struct {
	From     *int32 `json:"from" unit:"ref"`
	FromSide string `json:"from_side" about:"start or end"`
	To       *int32 `json:"to" unit:"ref"`
	ToSide   string `json:"to_side" about:"start or end"`
	Type     string `json:"type"`
	Weight   int64  `json:"weight_ns" unit:"ns"`
	Evidence string `json:"evidence"`
	Inferred bool   `json:"inferred"`
}

// CDG is the aggregated graph.
type CDG struct {
	Nodes     []Node           `json:"nodes" table:"nodes" about:"nodes of the aggregated graph"`
	Edges     []NodeEdge       `json:"edges" table:"node_edges" about:"edges of the aggregated graph"`
	Reduction float64          `json:"events_per_node" unit:"count"`
	ByPhase   map[string]int64 `json:"busy_ns_by_phase" table:"by_phase" entry:"phase" unit:"ns" about:"busy time of the nodes by training phase"`
}

// Node is a node of it.
type Node struct {
	ID       int    `json:"id" unit:"id"`
	Kind     string `json:"kind" about:"cpu or gpu"`
	Phase    string `json:"phase"`
	Resource string `json:"resource"`
	Start    int64  `json:"start_ns" unit:"time"`
	End      int64  `json:"end_ns" unit:"time"`
	Busy     int64  `json:"busy_ns" unit:"ns"`
	Events   int    `json:"events" unit:"count"`
	Critical int64  `json:"critical_ns" unit:"ns"`
}

// NodeEdge joins two nodes.
type NodeEdge struct {
	From int    `json:"from" unit:"id"`
	To   int    `json:"to" unit:"id"`
	Type string `json:"type"`
}

// CTDA is the tables of the CTDA-CPA paper, CPU and GPU events apart.
type CTDA struct {
	CPU   []CTDALine `json:"cpu" about:"events of the CPU on the path"`
	GPU   []CTDALine `json:"gpu" about:"events of the GPU on the path"`
	Nodes []int      `json:"path_nodes" entry:"node" unit:"id" about:"nodes on the path"`
}

// CTDALine has the paper's columns.
type CTDALine struct {
	Name       string  `json:"name"`
	Category   string  `json:"category"`
	Duration   int64   `json:"duration_ns" unit:"ns"`
	Proportion float64 `json:"proportion" unit:"share"`
	InTotal    float64 `json:"prop_in_total" unit:"share"`
}

// HTAShare is a line of HTA's summary.
type HTAShare struct {
	Name  string  `json:"bound_by"`
	NS    int64   `json:"ns" unit:"ns"`
	Share float64 `json:"share" unit:"share" about:"of the weight of the path"`
}

// Calibration is the delays measured on the trace.
type Calibration struct {
	Launch      int64          `json:"launch_ns" unit:"ns"`
	Kernel      int64          `json:"kernel_ns" unit:"ns"`
	EventWindow int64          `json:"event_window_ns" unit:"ns"`
	Samples     map[string]int `json:"samples" entry:"delay" unit:"count" about:"how many cases each delay rests on"`
}

// WriteJSON writes the report as an indented JSON document.
func (r *Report) WriteJSON(w io.Writer) error {
	return writeJSON(w, r)
}

// Tables gives the report as tables; those of the analyses come last.
func (r *Report) Tables() []tables.Table {
	out := tables.From("report", "how the report was made", r)
	for _, s := range r.Analyses.Sections() {
		out = append(out, s.Tables...)
	}
	return out
}

// Source is what a report is made of.
type Source struct {
	Name     string // of the input
	Version  string
	Graph    *graph.Graph
	Path     *critpath.Path
	Top      int  // hotspots listed; 0 = 10
	Segments bool // with the walk
	Brief    bool // without the nodes and edges of the aggregated graph, of which the text shows nothing but the number, and that for ctda alone
	Slim     bool // the input holds the path and its context only
	Analyses *analyses.Result
	Gains    bool          // with what could be gained at classes and hotspots
	Memory   []memory.Use  // what the allocators held
	Advise   bool          // with advice
	Model    *whatif.Model // that replays Graph; needed for gains
	Advice   *advise.Advice
}
