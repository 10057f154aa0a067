package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// clickPage loads /trace.json into the trace viewer that Go ships, finds the longest chain of arrows of the path, selects
// the slice in its middle, and posts how long it took until that was drawn. It follows arrows as Perfetto does when a
// slice is clicked: over all that are connected, those of the input too.
const clickPage = `<!doctype html><html><head>
<script src="/webcomponents.min.js"></script>
<script>
  const fail = e => fetch('/result', {method: 'POST', body: JSON.stringify({Error: String(e && e.stack || e)})});
  window.addEventListener('error', e => fail(e.message));
  const drawn = () => new Promise(r => requestAnimationFrame(() => setTimeout(r, 0)));
  document.addEventListener('WebComponentsReady', async () => {
    try {
      const container = document.createElement('track-view-container');
      container.id = 'track_view_container';
      const viewer = document.createElement('tr-ui-timeline-view');
      viewer.track_view_container = container;
      Polymer.dom(viewer).appendChild(container);
      viewer.globalMode = true;
      Polymer.dom(document.body).appendChild(viewer);
      const text = await (await fetch('/trace.json')).text();
      const model = new tr.Model();
      await new tr.importer.Import(model, new tr.importer.ImportOptions()).importTracesWithProgressDialog([text]);
      viewer.model = model;
      await drawn();
      const parts = new Map(), seen = new Set();
      for (const f of model.flowEvents) {
        for (const s of [f.startSlice, f.endSlice]) {
          if (s) { if (!parts.has(s)) { parts.set(s, []); } parts.get(s).push(f); }
        }
      }
      let chain = [], largest = 0;
      for (const start of parts.keys()) {
        if (seen.has(start)) { continue; }
        seen.add(start);
        const ours = [], flows = new Set();
        for (const todo = [start]; todo.length;) {
          const s = todo.pop();
          if (parts.get(s).some(f => f.title === 'critical_path')) { ours.push(s); }
          for (const f of parts.get(s)) {
            flows.add(f);
            for (const t of [f.startSlice, f.endSlice]) { if (t && !seen.has(t)) { seen.add(t); todo.push(t); } }
          }
        }
        largest = Math.max(largest, flows.size);
        if (ours.length > chain.length) { chain = ours; }
      }
      chain.sort((a, b) => a.start - b.start);
      const slice = chain[chain.length >> 1], times = [];
      for (let i = 0; i < 5; i++) {
        const state = viewer.brushingStateController;
        state.changeSelectionFromTimeline(new tr.model.EventSet());
        await drawn();
        const began = performance.now();
        const found = new tr.model.EventSet([slice]), todo = [slice], met = new Set(todo);
        while (todo.length) {
          for (const f of parts.get(todo.pop())) {
            found.push(f);
            for (const t of [f.startSlice, f.endSlice]) { if (t && !met.has(t)) { met.add(t); todo.push(t); found.push(t); } }
          }
        }
        state.changeSelectionFromTimeline(found);
        await drawn();
        times.push(performance.now() - began);
      }
      await fetch('/result', {method: 'POST', body: JSON.stringify({Name: slice.title, Chain: chain.length, Largest: largest, Times: times})});
    } catch (e) { fail(e); }
  });
</script>
<link rel="import" href="/trace_viewer_full.html">
</head><body></body></html>`

// TestBrowserClick clicks a slice in the middle of the longest chain of arrows, and reports how long the viewer takes to
// select and draw all that is connected to it, with the limits of the arrows and without.
func TestBrowserClick(t *testing.T) {
	browser := browserName(t)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command to find the viewer with")
	}
	static := filepath.Join(strings.TrimSpace(string(root)), "src/internal/trace/traceviewer/static")
	for _, input := range append([]string{corpus.Demo(t)}, corpus.Find(t, "*nccl_data*", "*resnet50_num_workers_0*")...) {
		for _, flows := range []string{"critical", "all"} {
			t.Run(fmt.Sprintf("%s %s", filepath.Base(input), flows), func(t *testing.T) {
				trace := chromeOutput(t, "run", input, "--flows", flows)
				s := servePage(t, false, clickPage, map[string][]byte{"/trace.json": trace}, static)
				var got struct {
					Error, Name    string
					Chain, Largest int
					Times          []float64
				}
				s.browse(t, browser, s.URL+"/", &got)
				if got.Error != "" {
					t.Fatal(got.Error)
				}
				t.Logf("a chain of %d slices, at most %d arrows connected; %q in its middle takes %.0f ms", got.Chain, got.Largest, got.Name, got.Times)
				if got.Chain < 10 || got.Name == "" {
					t.Errorf("the longest chain has %d slices", got.Chain)
				}
				if flows == "critical" && got.Largest > 1000 {
					t.Errorf("a click draws %d arrows", got.Largest)
				}
			})
		}
	}
}
