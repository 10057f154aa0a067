package report

import (
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// annotated is what PyTorch's annotations of graphs say of an operation, from the outside in: names and the phase of autograd.
func annotated(tr *trace.Trace, op trace.EventID) string {
	var words []string
	for _, m := range tr.GraphMarks(op) {
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
