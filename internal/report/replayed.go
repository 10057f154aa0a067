package report

import (
	"strings"

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
