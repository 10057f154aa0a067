package trace

import (
	"encoding/json"
	"strings"
)

// Origin is what led to an operation beyond its launch: of replayed graphs, whose launch says nothing of them, as the trace of the capture
// recorded it; of compiled code by what the compiler noted. Symbols are of the trace of the operation.
type Origin struct {
	Trace     *Trace    // that recorded it
	Operators []EventID // in Trace, from the innermost outwards
	Operator  Sym       // name of the innermost; 0 without one
	Module    Sym       // call of an nn.Module, without "nn.Module: "
	Line      Sym       // innermost frame of the user's files
	File      Sym       // that inductor wrote the kernel to: its comments name the lines of the model
}

// Origins are the origins of operations, by event.
type Origins struct {
	Of   []int32 // per event: 1 + index into List, 0 for none
	List []Origin
}

// Origin is what another trace recorded of an operation; nil where nothing is known.
func (t *Trace) Origin(id EventID) *Origin {
	if t.Origins == nil || int(id) >= len(t.Origins.Of) || t.Origins.Of[id] == 0 {
		return nil
	}
	return &t.Origins.List[t.Origins.Of[id]-1]
}

// Shapes are those of the inputs of the innermost operator, as written; "" where they were not recorded.
func (o *Origin) Shapes() string {
	if len(o.Operators) == 0 {
		return ""
	}
	v, _ := o.Trace.InputDims(o.Operators[0])
	return v.Text
}

// GraphMark is what PyTorch's annotations of graphs say of an operation: the name of a region, and in which phase of autograd it is.
type GraphMark struct {
	Name  string `json:"name"`
	Phase string `json:"autograd_phase"`
}

// GraphMarks are the annotations of an operation of a graph, from the outside in: of PyTorch's monitor a text of JSON, of its exporter to Chrome's
// format members beside the others, each name once more.
func (t *Trace) GraphMarks(op EventID) (marks []GraphMark) {
	if _, ok := t.Arg(op, "graph node id"); !ok {
		return nil
	}
	t.TopArgs(op, func(key string, v Value) bool {
		switch key {
		case "annotation":
			if json.Unmarshal([]byte(v.Text), &marks) != nil {
				marks = nil
			}
			return false
		case "name":
			marks = append(marks, GraphMark{Name: strings.Clone(v.Text)})
		case "autograd_phase":
			if len(marks) == 0 {
				marks = append(marks, GraphMark{})
			}
			marks[len(marks)-1].Phase = strings.Clone(v.Text)
		}
		return true
	})
	return marks
}
