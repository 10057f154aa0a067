package ranks

import (
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// LoaderPrefix is how the names of a data loader's annotations begin.
const LoaderPrefix = "enumerate(DataLoader)"

// doing is the name under which time of a thread counts: inside a data loader that of its annotation. Recorded stacks show many frames there,
// by which nobody sees that batches come late, and that ranks do the same.
func (z *summarizer) doing(id trace.EventID) Name {
	g := z.g
	for a, depth := g.ActOf[id], 0; a != cdg.NoAct && depth < 64; a, depth = g.Parent[a], depth+1 {
		if e := g.Acts[a].Event; strings.HasPrefix(z.tr.Name(e), LoaderPrefix) {
			return z.name(e)
		}
	}
	return z.name(id)
}
