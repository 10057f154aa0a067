package hta

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

type golden struct {
	File         string             `json:"file"`
	Annotation   string             `json:"annotation"`
	Instance     json.RawMessage    `json:"instance"`
	DataLoad     []string           `json:"data_load_events"`
	LastStep     bool               `json:"include_last_profiler_step"`
	Options      map[string]bool    `json:"options"`
	MinTS        int64              `json:"min_ts_subtracted"`
	Success      *bool              `json:"success"`
	ReturnedNone bool               `json:"returned_none"`
	Clipped      int                `json:"clipped_events"`
	NodeList     int                `json:"node_list_len"`
	GraphNodes   int                `json:"graph_nodes"`
	PathNodes    [][3]any           `json:"critical_path_nodes"`
	PathEvents   []int64            `json:"critical_path_events"`
	PathWeight   int64              `json:"critical_path_total_weight_graph"`
	Summary      map[string]float64 `json:"summary_pct"`
	Overlay      map[string]struct {
		Flows map[string]int `json:"flow_by_type_ph_critical"`
	} `json:"overlay"`
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	if err := json.Unmarshal(corpus.Text(t, path), v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func (gd *golden) options(t *testing.T) Options {
	o := Options{Annotation: gd.Annotation, First: -1, DataLoad: gd.DataLoad, KeepLastStep: gd.LastStep,
		ZeroLaunch: gd.Options["CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE"]}
	var one int
	var two [2]int
	switch {
	case string(gd.Instance) == "null":
	case json.Unmarshal(gd.Instance, &one) == nil:
		o.First, o.Last = one, one
	case json.Unmarshal(gd.Instance, &two) == nil:
		o.First, o.Last = two[0], two[1]
	default:
		t.Fatalf("instance %s", gd.Instance)
	}
	return o
}

// TestGoldens holds the graph and the path against what the peer itself computed.
func TestGoldens(t *testing.T) {
	dir := corpus.Dir(t)
	files, _ := filepath.Glob(filepath.Join(dir, "../golden/hta/*.json.gz"))
	traces := map[string]*trace.Trace{}
	ran := 0
	for _, f := range files {
		if strings.HasSuffix(f, ".edges.json.gz") {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(f), ".json.gz")
		var gd golden
		readJSON(t, f, &gd)
		path := filepath.Join(dir, filepath.Base(gd.File))
		if !corpus.Small(path) {
			continue
		}
		tr := traces[path]
		if tr == nil {
			tr = testtrace.Read(t, path)
			traces[path] = tr
		}
		ran++
		t.Run(name, func(t *testing.T) { checkGolden(t, tr, &gd, strings.TrimSuffix(f, ".json.gz")+".edges.json.gz") })
	}
	if ran == 0 {
		t.Skip("no golden of the peer fits a trace here")
	}
}

func checkGolden(t *testing.T, tr *trace.Trace, gd *golden, edges string) {
	g, err := Find(tr, gd.options(t))
	if gd.ReturnedNone {
		if err == nil {
			t.Fatal("the peer found no window, we did")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if g.in.minTS != gd.MinTS*1000 || len(g.in.clip) != gd.Clipped || len(g.Nodes) != gd.NodeList || g.Used != gd.GraphNodes {
		t.Errorf("min ts %d, clipped %d, node list %d, nodes %d; the peer has %d, %d, %d, %d",
			g.in.minTS/1000, len(g.in.clip), len(g.Nodes), g.Used, gd.MinTS, gd.Clipped, gd.NodeList, gd.GraphNodes)
	}
	checkEdges(t, g, edges)
	checkPath(t, g, gd)
	checkSummary(t, g, gd)
}

// text of an edge as both sides can write it; weights in whole µs.
func edgeText(src int64, srcStart bool, dst int64, dstStart bool, typ string, w, gw float64, owner any) string {
	return fmt.Sprintf("%d/%v %d/%v %s %g %g %v", src, srcStart, dst, dstStart, typ, w, gw, owner)
}

var edgeWords = map[string]string{"OPERATOR_KERNEL": "critical_path_operator", "DEPENDENCY": "critical_path_dependency",
	"KERNEL_LAUNCH_DELAY": "critical_path_kernel_launch_delay", "KERNEL_KERNEL_DELAY": "critical_path_kernel_kernel_delay",
	"SYNC_DEPENDENCY": "critical_path_sync_dependency"}

func checkEdges(t *testing.T, g *Graph, file string) {
	var want struct{ Edges [][8]any }
	readJSON(t, file, &want)
	count := map[string]int{}
	for _, e := range want.Edges {
		owner := any(nil)
		if f, ok := e[7].(float64); ok {
			owner = int64(f)
		}
		count[edgeText(int64(e[0].(float64)), e[1].(float64) == 1, int64(e[2].(float64)), e[3].(float64) == 1, edgeWords[e[4].(string)], e[5].(float64), e[6].(float64), owner)]++
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		f, to := g.Nodes[e.From], g.Nodes[e.To]
		owner := any(nil)
		if e.Type == critpath.OperatorEdge || e.Type == critpath.KernelDelayEdge {
			owner = int64(e.Owner)
		}
		count[edgeText(int64(f.Event), !f.End, int64(to.Event), !to.End, e.Type.String(), float64(e.Weight)/1000, float64(e.GraphWeight)/1000, owner)]--
	}
	shown := 0
	for _, k := range slices.Sorted(maps.Keys(count)) {
		if count[k] != 0 {
			if shown++; shown <= 8 {
				t.Errorf("edge %s: %+d in the peer's graph", k, count[k])
			}
		}
	}
	if shown > 8 {
		t.Errorf("%d edges differ of %d", shown, len(want.Edges))
	}
}

func checkPath(t *testing.T, g *Graph, gd *golden) {
	if g.Weight != gd.PathWeight*1000 {
		t.Errorf("path weight %d, the peer has %d", g.Weight/1000, gd.PathWeight)
	}
	set := map[int64]bool{}
	for _, n := range g.PathNode {
		set[int64(g.Nodes[n].Event)] = true
	}
	if got := slices.Sorted(maps.Keys(set)); !slices.Equal(got, gd.PathEvents) {
		t.Errorf("%d critical events, the peer has %d", len(got), len(gd.PathEvents))
	}
	if len(g.PathNode) != len(gd.PathNodes) {
		t.Errorf("%d nodes on the path, the peer has %d", len(g.PathNode), len(gd.PathNodes))
		return
	}
	for i, n := range g.PathNode {
		w := gd.PathNodes[i]
		if x := g.Nodes[n]; int64(x.Event) != int64(w[0].(float64)) || x.End == w[1].(bool) || (x.TS-g.in.minTS)/1000 != int64(w[2].(float64)) {
			t.Errorf("path node %d is %+v, the peer has %v", i, x, w)
			return
		}
	}
}

func checkSummary(t *testing.T, g *Graph, gd *golden) {
	total := int64(0)
	got := map[string]int64{}
	for _, s := range g.Summary() {
		got[s.Name] = s.NS
		total += s.NS
	}
	for name, pct := range gd.Summary {
		if name == "" {
			continue
		}
		if p := 100 * float64(got[name]) / float64(total); p-pct > 1e-6 || pct-p > 1e-6 {
			t.Errorf("summary %s %.4f %%, the peer has %.4f", name, p, pct)
		}
	}
}
