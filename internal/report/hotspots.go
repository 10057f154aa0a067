package report

import (
	"cmp"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// Hotspot is the critical time of one name.
type Hotspot struct {
	Name          string  `json:"name"`
	Readable      string  `json:"readable" about:"templates folded, collectives spelled out"`
	Collective    string  `json:"collective,omitempty" about:"what is recorded of a communication kernel whose name does not say which collective it is"`
	Category      string  `json:"category"`
	Kind          string  `json:"kind"`
	Phase         string  `json:"phase"`
	Calls         int     `json:"calls" unit:"count"`
	NS            int64   `json:"critical_ns" unit:"ns"`
	ShareOfPath   float64 `json:"share_of_path" unit:"share"`
	ShareOfWindow float64 `json:"share_of_window" unit:"share"`
	Caller        string  `json:"caller" about:"innermost Python frame of the user's code; without one the file that inductor wrote the kernel to"`
	Graph         string  `json:"graph,omitempty" about:"of the longest, where a graph is replayed: which one, and its place there"`
	Operator      string  `json:"operator,omitempty" about:"of the longest, where a capture of its graph recorded it"`
	Module        string  `json:"module,omitempty" about:"of the longest, the same; or what PyTorch's annotations of graphs say"`
	Shapes        string  `json:"shapes,omitempty" about:"of the operator's inputs, the same"`
}

func hotspots(g *graph.Graph, all []critpath.Hotspot, top int, names Names) []Hotspot {
	out := []Hotspot{}
	tr := g.Trace
	graphs := cdg.PlacesIn(tr)
	for i, h := range all {
		if i == top || h.NS == 0 { // the path of HTA marks events without time
			break
		}
		x := Hotspot{Name: h.Name, Readable: names.Hotspot(&h), Collective: h.Collective, Category: h.Category, Kind: h.Kind.String(), Phase: h.Phase.String(), Calls: h.Calls, NS: h.NS,
			ShareOfPath: h.ShareOfPath, ShareOfWindow: h.ShareOfWindow, Caller: h.Caller}
		if o := tr.Origin(h.Event); o != nil {
			x.Operator, x.Module, x.Shapes = tr.Str(o.Operator), tr.Str(o.Module), o.Shapes()
		}
		if h.Event != trace.NoEvent {
			x.Graph, x.Module = graphs.Name(h.Event), cmp.Or(x.Module, annotated(tr, h.Event))
		}
		out = append(out, x)
	}
	return out
}

func (r *Report) hotspotSection(list []tables.Table) Section {
	t := tables.Find(list, "hotspots")
	return Section{"hotspots", "Hotspots", "Time on the critical path by name: what is shorter here makes the run shorter." + r.withoutEarlier(), filled([]Grid{gridOf(t, maxRows, "names",
		label("name", func(l tables.Line) Cell {
			c := shownCell(l)
			c.Small = cameFrom(l)
			return c
		}), bar(t, "critical_ns", "{of kind}", ""), r.ofWindow(t, "share_of_window", "critical_ns"), figure(t, "time", "critical_ns"), figure(t, "calls", "calls"),
		wordsOf("kind", "{kind kind}"), wordsOf("phase", "{phase}"))})}
}

// cameFrom says what led to a hotspot: operator, module and line, or where nothing but the launch of its graph was recorded, its place there.
func cameFrom(l tables.Line) string {
	from := after("from ", l.Str("caller"))
	if l.Str("operator") == "" {
		from = cmp.Or(l.Str("graph"), from)
	}
	return strings.Join(nonEmpty(strings.TrimSpace(l.Str("operator")+after(" in ", l.Str("module"))), from), smallParts)
}
