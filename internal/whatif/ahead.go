package whatif

// Lead is how much earlier than recorded a thread is at a time of the simulated run, ns.
type Lead struct{ At, NS int64 }

// maxLeads is how many points of a lead are given.
const maxLeads = 10_000

// Ahead follows the main thread: how far it is ahead of the recording where that changes, at its new times.
func (r *Result) Ahead(t *Times) []Lead {
	x := t.of
	every := r.Window / maxLeads
	var out []Lead
	for k := x.first[r.m.main]; k < x.first[r.m.main+1]; k++ {
		lead := Lead{t.then[k], x.at[k] - t.then[k]}
		switch n := len(out); {
		case n > 0 && out[n-1].NS == lead.NS:
		case n > 0 && out[n-1].At == lead.At:
			out[n-1].NS = lead.NS
		case n == 0 || lead.At-out[n-1].At >= every:
			out = append(out, lead)
		}
	}
	return out
}
