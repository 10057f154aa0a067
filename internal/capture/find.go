// Package capture joins the operations of replayed graphs with the trace in which the graphs were captured. A replay records one launch for
// hundreds of operations; the capture has a launch call for each, inside of its operator, modules and frames, and no operation.
package capture

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Graph is one captured graph: what was launched between the begin and the end of a capture on its thread.
type Graph struct {
	Trace    *trace.Trace
	Batch    int64 // that it was captured for, -1 where neither annotation nor file tells
	Requests bool  // are what that counts; else tokens
	Nodes    []Node
}

// Node is one launch call of a capture.
type Node struct {
	Name      string // of the kernel; "" where the launch call does not tell
	Kind      trace.Kind
	Operators []trace.EventID // around it, from the innermost outwards
	Module    string
	Line      string
}

// modulePrefix begins the names of frames that are calls of modules.
const modulePrefix = "nn.Module: "

// Find lists the captured graphs of a trace in order of time. file is the name of its file, which may tell the batch.
func Find(tr *trace.Trace, file string) []Graph {
	threads := map[trace.TrackID][]trace.EventID{}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 'X' && e.Kind.Call() && e.Track != trace.NoTrack && strings.HasSuffix(tr.Str(e.Name), "StreamBeginCapture") {
			threads[e.Track] = nil
		}
	}
	if len(threads) == 0 {
		return nil
	}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 'X' && e.Kind.Host() {
			if list, ok := threads[e.Track]; ok {
				threads[e.Track] = append(list, trace.EventID(i))
			}
		}
	}
	type timed struct {
		at int64
		g  Graph
	}
	var found []timed
	for _, list := range threads {
		slices.SortStableFunc(list, func(a, b trace.EventID) int {
			x, y := &tr.Events[a], &tr.Events[b]
			return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(tr.Dur(y), tr.Dur(x)))
		})
		w := walker{tr: tr}
		for _, id := range list {
			if at, g := w.step(id); g != nil {
				found = append(found, timed{at, *g})
			}
		}
	}
	slices.SortFunc(found, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	out := make([]Graph, len(found))
	for i := range found {
		out[i] = found[i].g
		out[i].Trace = tr
		if n := FileBatch(file); n >= 0 {
			if out[i].Batch < 0 || n < out[i].Batch { // where they disagree it is for no more than the less
				out[i].Batch = n
			}
			out[i].Requests = true
		}
	}
	return out
}

// walker goes through the slices of a thread by start.
type walker struct {
	tr    *trace.Trace
	open  []trace.EventID
	now   *Graph // that is being captured
	since int64
}

// step takes the next slice. A graph is complete when its capture ends.
func (w *walker) step(id trace.EventID) (since int64, done *Graph) {
	tr, e := w.tr, &w.tr.Events[id]
	for n := len(w.open); n > 0 && tr.End(&tr.Events[w.open[n-1]]) <= e.Start; n-- {
		w.open = w.open[:n-1]
	}
	if !e.Kind.Call() {
		w.open = append(w.open, id)
		return 0, nil
	}
	name := tr.Str(e.Name)
	switch {
	case strings.HasSuffix(name, "StreamBeginCapture"):
		batch, requests := w.batch()
		w.now, w.since = &Graph{Batch: batch, Requests: requests}, e.Start
	case w.now == nil:
	case strings.HasSuffix(name, "StreamEndCapture"):
		done, w.now = w.now, nil
		return w.since, done
	default:
		if verb := vendors.VerbOf(name); verb.Launches() && verb != vendors.GraphLaunch {
			w.now.Nodes = append(w.now.Nodes, w.node(id, verb))
		}
	}
	return 0, nil
}

// depth is how many slices around a launch are looked at: Python nests by some hundreds at most.
const depth = 1000

func (w *walker) node(id trace.EventID, verb vendors.Verb) Node {
	tr := w.tr
	n := Node{Kind: trace.Kernel}
	switch verb {
	case vendors.AsyncCopy, vendors.BlockingCopy:
		n.Kind = trace.Memcpy
	case vendors.Memset:
		n.Kind = trace.Memset
	default:
		if v, ok := tr.Arg(id, "kernel"); ok {
			n.Name = v.Text
		}
	}
	for i := len(w.open) - 1; i >= max(0, len(w.open)-depth); i-- {
		e := &tr.Events[w.open[i]]
		name := tr.Str(e.Name)
		switch {
		case e.Kind == trace.CPUOp:
			n.Operators = append(n.Operators, w.open[i])
		case e.Kind != trace.Python:
		case strings.HasPrefix(name, modulePrefix):
			n.Module = cmp.Or(n.Module, name[len(modulePrefix):])
		case n.Line == "" && critpath.UserFrame(name):
			n.Line = name
		}
	}
	return n
}

// batch is that of the innermost annotation around that names a capture: capture_32_DECODE of vLLM counts tokens, capture_graph_bs_32 requests.
func (w *walker) batch() (n int64, requests bool) {
	for i := len(w.open) - 1; i >= max(0, len(w.open)-depth); i-- {
		if e := &w.tr.Events[w.open[i]]; e.Kind == trace.Annotation {
			if rest, ok := strings.CutPrefix(w.tr.Str(e.Name), "capture_"); ok {
				return firstNumber(rest), strings.Contains(rest, "bs_")
			}
		}
	}
	return -1, false
}

// FileBatch is how many requests the graphs in a file called bs_32… were captured for, -1 where its name does not tell.
func FileBatch(file string) int64 {
	i := strings.LastIndex(file, "bs_")
	if i < 0 {
		return -1
	}
	return firstNumber(file[i:])
}

func firstNumber(s string) int64 {
	i := strings.IndexAny(s, "0123456789")
	if i < 0 {
		return -1
	}
	n := int64(0)
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9' && n < 1<<40; i++ {
		n = 10*n + int64(s[i]-'0')
	}
	return n
}
