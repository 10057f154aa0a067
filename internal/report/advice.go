package report

import (
	"bytes"
	"encoding/json"
	"io"

	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/tables"
)

// Advice is what would make one window of one trace shorter, in full.
type Advice struct {
	Schema string   `json:"schema"`
	Tool   Tool     `json:"tool"`
	Input  string   `json:"input" about:"file name without its folders"`
	Window Window   `json:"window" table:"window" about:"the analysed interval"`
	Bound  string   `json:"bound_by" about:"the class with the most time on the critical path"`
	Says   string   `json:"verdict" about:"what bounds the window, in words"`
	Device string   `json:"devices" about:"how busy the devices were, in words"`
	Doubts []string `json:"doubts" about:"where the trace tells little of the verdict, and the verdict without what recording cost"`

	Advice   *advise.Advice     `json:"advice" about:"null for slim traces"`
	Roofline *analyses.Roofline `json:"roofline,omitempty" table:"roofline" about:"how close operators come to what the device can do; left out of slim traces"`
	Names    Names              `json:"-" table:"-"`
}

// NewAdvice makes the report of advice that was found.
func NewAdvice(s Source) *Advice {
	r := New(Source{Name: s.Name, Version: s.Version, Graph: s.Graph, Path: s.Path, Advice: s.Advice})
	a := &Advice{Schema: advise.Schema, Tool: r.Tool, Input: r.Input.Name, Window: r.Window, Bound: r.Path.BoundBy, Says: r.Bound(), Device: r.Devices(), Doubts: r.Doubts(), Advice: s.Advice, Names: r.Names}
	if s.Analyses != nil {
		a.Roofline = s.Analyses.Roofline
	}
	return a
}

// WriteJSON writes the advice as an indented JSON document.
func (a *Advice) WriteJSON(w io.Writer) error {
	return writeJSON(w, a)
}

// Detached is the same advice without anything that belongs to the trace, which may be let go then.
func (a *Advice) Detached() (*Advice, error) {
	var text bytes.Buffer
	if err := a.WriteJSON(&text); err != nil {
		return nil, err
	}
	out := Advice{Names: a.Names}
	return &out, json.Unmarshal(text.Bytes(), &out)
}

// signedPercent is a share that may be below 0.
func signedPercent(x float64) string { return tables.FormatPercent(100 * x) }
