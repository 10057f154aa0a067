package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// replayed finds the places of operations in the graphs that are replayed.
type replayed struct {
	tr   *trace.Trace
	list []cdg.Replay // made when first needed
}

// place names the graph of an operation and its position there: by the number that was recorded, else by that among the graphs of the trace.
// It is "" for what no graph launched.
func (r *replayed) place(op trace.EventID) string {
	call := trace.NoEvent
	if r.tr.Events[op].Kind.Device() {
		call = r.tr.Launch(op)
	}
	if call == trace.NoEvent || vendors.VerbOf(r.tr.Name(call)) != vendors.GraphLaunch {
		return ""
	}
	if r.list == nil {
		r.list = cdg.Replays(r.tr)
	}
	i := slices.IndexFunc(r.list, func(x cdg.Replay) bool { return x.Call == call })
	if i < 0 {
		return ""
	}
	number := int64(r.list[i].Graph + 1)
	if n, ok := r.tr.ArgInt(op, "graph id"); ok {
		number = n
	}
	return fmt.Sprintf("graph %d, operation %d of %d", number, slices.Index(r.list[i].Ops, op)+1, len(r.list[i].Ops))
}

// annotated is what PyTorch's annotations of graphs say of an operation, from the outside in: names and the phase of autograd.
func annotated(tr *trace.Trace, op trace.EventID) string {
	v, ok := tr.Arg(op, "annotation")
	if !ok {
		return ""
	}
	var marks []struct {
		Name  string `json:"name"`
		Phase string `json:"autograd_phase"`
	}
	if json.Unmarshal([]byte(v.Text), &marks) != nil {
		return ""
	}
	var words []string
	for _, m := range marks {
		if m.Phase != "" && m.Name != "" {
			m.Name += " (" + m.Phase + ")"
		}
		if m.Name != "" {
			words = append(words, m.Name)
		}
	}
	return strings.Join(words, " / ")
}
