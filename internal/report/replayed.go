package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// replayed finds the places of operations in the graphs that are replayed.
type replayed struct {
	tr    *trace.Trace
	of    map[trace.EventID]*cdg.Replay // by launch; made when first needed
	place map[trace.EventID]int         // of the operations of graphs that were asked for, from 1
}

// name names the graph of an operation and its position there: by the number that was recorded, else by that among the graphs of the trace.
// It is "" for what no graph launched.
func (r *replayed) name(op trace.EventID) string {
	call := trace.NoEvent
	if r.tr.Events[op].Kind.Device() {
		call = r.tr.Launch(op)
	}
	if call == trace.NoEvent || vendors.VerbOf(r.tr.Name(call)) != vendors.GraphLaunch {
		return ""
	}
	if r.of == nil {
		r.of, r.place = map[trace.EventID]*cdg.Replay{}, map[trace.EventID]int{}
		list := cdg.Replays(r.tr)
		for i := range list {
			r.of[list[i].Call] = &list[i]
		}
	}
	x := r.of[call]
	if r.place[op] == 0 {
		for i, o := range x.Ops {
			r.place[o] = i + 1
		}
	}
	number := int64(x.Graph + 1)
	if n, ok := r.tr.ArgInt(op, "graph id"); ok {
		number = n
	}
	return fmt.Sprintf("graph %d, operation %d of %d", number, r.place[op], len(x.Ops))
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

// nearby is how many slices around a launch are looked at for its operator.
const nearby = 100

// generated is the file that inductor wrote the kernel of an operation to: its comments name the lines of the model. "" for other operations.
func generated(g *graph.Graph, op trace.EventID) string {
	if call := g.Trace.Launch(op); g.Trace.Events[op].Kind == trace.Kernel && call != trace.NoEvent && g.ActOf[call] != cdg.NoAct {
		a := g.Parent[g.ActOf[call]]
		for range nearby {
			if a == cdg.NoAct {
				break
			}
			if id := g.Acts[a].Event; g.Trace.Events[id].Kind == trace.CPUOp { // the innermost, which knows or is none of inductor's
				v, _ := g.Trace.Arg(id, "kernel_file")
				return v.Text
			}
			a = g.Parent[a]
		}
	}
	return ""
}
