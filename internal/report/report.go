// Package report says what bounds a run: as data (Report, the JSON of the contract), as text for a terminal, as one
// self-contained page, and as the difference of two runs.
//
// Every number in text and page is a field of Report. Times are int64 ns on the trace's own clock, shares are ratios
// 0 to 1. New is pure; lists have a stable order.
package report

import (
	"encoding/json"
	"io"

	"overlay/internal/analyses"
)

// Schema names the form of the JSON; docs/report.schema.json describes it.
const Schema = "overlay-report/1"

// Report is the analysis of one window of one trace.
type Report struct {
	Schema      string           `json:"schema"`
	Tool        Tool             `json:"tool"`
	Input       InputInfo        `json:"input"`
	Method      string           `json:"method"`
	Threads     string           `json:"threads"` // gil or explicit: how threads hand work over
	Window      Window           `json:"window"`
	Path        Path             `json:"critical_path"`
	Hotspots    []Hotspot        `json:"hotspots"`
	Steps       []Step           `json:"steps"`
	CDG         CDG              `json:"cdg"`
	Paper       *Paper           `json:"ctda,omitempty"` // method ctda
	Peer        []PeerShare      `json:"hta,omitempty"`  // method hta: its own summary
	Calibration Calibration      `json:"calibration"`
	Hints       []Hint           `json:"hints"`
	Analyses    *analyses.Result `json:"analyses,omitempty"`
	Quality     map[string]int   `json:"quality"`
}

// Tool is who made the report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// InputInfo is what was read.
type InputInfo struct {
	Name    string         `json:"name"`  // file name without its folders
	Bytes   int64          `json:"bytes"` // decompressed
	Events  int            `json:"events"`
	ByPhase map[string]int `json:"by_phase_letter"`
	Repairs map[string]int `json:"repairs"`
}

// Window is the analysed interval.
type Window struct {
	Start      int64  `json:"start_ns"`
	End        int64  `json:"end_ns"`
	Duration   int64  `json:"duration_ns"`
	Annotation string `json:"annotation"`
	Instance   string `json:"instance"`
	CarriedIn  int    `json:"carried_in"`
}

// Path is the critical path by what it is made of.
type Path struct {
	Duration   int64            `json:"duration_ns"`
	CPCR       float64          `json:"cpcr"`
	BoundBy    string           `json:"bound_by"`
	ByClass    map[string]int64 `json:"by_class"`
	ByKind     map[string]int64 `json:"by_kind"`
	ByEvidence map[string]int64 `json:"by_evidence"`
	Inferred   int64            `json:"inferred_ns"` // of by_evidence: api and aligned
	ByResource []Resource       `json:"by_resource"`
	Segments   []Segment        `json:"segments,omitempty"`
	Edges      []Edge           `json:"edges,omitempty"`
	Count      int              `json:"segment_count"`
	Strip      []Run            `json:"strip"` // the window in order, smoothed to 1/400 of it
}

// Run is a stretch of the strip.
type Run struct {
	Start int64  `json:"start_ns"`
	End   int64  `json:"end_ns"`
	Class string `json:"class"`
}

// Resource is a thread or stream with its time on the path.
type Resource struct {
	Name string `json:"resource"`
	NS   int64  `json:"ns"`
}

// Segment is a piece of the path. Event is a position in traceEvents, nil where no event owns it.
type Segment struct {
	Start    int64  `json:"start_ns"`
	End      int64  `json:"end_ns"`
	Kind     string `json:"kind"`
	Event    *int32 `json:"event"`
	Name     string `json:"name"`
	Resource string `json:"resource"`
	Evidence string `json:"evidence"`
}

// Edge is a step of the path.
type Edge struct {
	From     *int32 `json:"from"`
	FromSide string `json:"from_side"` // start or end
	To       *int32 `json:"to"`
	ToSide   string `json:"to_side"`
	Type     string `json:"type"`
	Weight   int64  `json:"weight_ns"`
	Evidence string `json:"evidence"`
	Inferred bool   `json:"inferred"`
}

// Hotspot is the critical time of one name.
type Hotspot struct {
	Name          string  `json:"name"`
	Readable      string  `json:"readable"` // templates folded, collectives spelled out
	Category      string  `json:"category"`
	Kind          string  `json:"kind"`
	Phase         string  `json:"phase"`
	Calls         int     `json:"calls"`
	NS            int64   `json:"critical_ns"`
	ShareOfPath   float64 `json:"share_of_path"`
	ShareOfWindow float64 `json:"share_of_window"`
	Caller        string  `json:"caller"`
}

// Step is the one path of the window clipped to a step; "before" and "after" are what lies outside.
type Step struct {
	Name     string           `json:"name"`
	Start    int64            `json:"start_ns"`
	Duration int64            `json:"duration_ns"`
	BoundBy  string           `json:"bound_by"`
	ByClass  map[string]int64 `json:"by_class"`
}

// CDG is the aggregated graph.
type CDG struct {
	Nodes     []Node           `json:"nodes"`
	Edges     []NodeEdge       `json:"edges"`
	Reduction float64          `json:"events_per_node"`
	ByPhase   map[string]int64 `json:"busy_ns_by_phase"`
}

// Node is a node of it.
type Node struct {
	ID       int    `json:"id"`
	Kind     string `json:"kind"` // cpu or gpu
	Phase    string `json:"phase"`
	Resource string `json:"resource"`
	Start    int64  `json:"start_ns"`
	End      int64  `json:"end_ns"`
	Busy     int64  `json:"busy_ns"`
	Events   int    `json:"events"`
	Critical int64  `json:"critical_ns"`
}

// NodeEdge joins two nodes.
type NodeEdge struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Type string `json:"type"`
}

// Paper is the tables of the CTDA-CPA paper, CPU and GPU events apart.
type Paper struct {
	CPU   []PaperLine `json:"cpu"`
	GPU   []PaperLine `json:"gpu"`
	Nodes []int       `json:"path_nodes"`
}

// PaperLine has the paper's columns.
type PaperLine struct {
	Name       string  `json:"name"`
	Category   string  `json:"category"`
	Duration   int64   `json:"duration_ns"`
	Proportion float64 `json:"proportion"`
	InTotal    float64 `json:"prop_in_total"`
}

// PeerShare is a line of HTA's summary.
type PeerShare struct {
	Name  string  `json:"bound_by"`
	NS    int64   `json:"ns"`
	Share float64 `json:"share"`
}

// Calibration is the delays measured on the trace.
type Calibration struct {
	Launch      int64          `json:"launch_ns"`
	Kernel      int64          `json:"kernel_ns"`
	EventWindow int64          `json:"event_window_ns"`
	Samples     map[string]int `json:"samples"`
}

// Hint is what to try about a class, with the time at stake.
type Hint struct {
	Class string `json:"class"`
	NS    int64  `json:"at_stake_ns"`
	Text  string `json:"text"`
}

// WriteJSON writes the report as an indented JSON document.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}
