package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"overlay/internal/testtrace/corpus"
)

// The tests of this file run in a real browser, headless: make test-browser. A page does the work and posts what it
// found to the test's server, so that nothing but the browser itself is needed.

// browserName finds a browser, or skips the test.
func browserName(t *testing.T) string {
	t.Helper()
	if os.Getenv("OVERLAY_BROWSER") == "" {
		t.Skip("set OVERLAY_BROWSER=1, or use make test-browser")
	}
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no chromium")
	return ""
}

// pageServer serves a site and takes what its page posts to /result.
type pageServer struct {
	*httptest.Server
	result chan []byte
}

// servePage starts a server for a page, its data files by path, and a folder of static files (may be "").
func servePage(t *testing.T, tls bool, page string, data map[string][]byte, static string) *pageServer {
	t.Helper()
	s := &pageServer{result: make(chan []byte, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if b, ok := data[r.URL.Path]; ok {
			w.Write(b)
			return
		}
		if static != "" && r.URL.Path != "/" {
			f, err := os.Open(filepath.Join(static, filepath.Clean(r.URL.Path)))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			defer f.Close()
			http.ServeContent(w, r, f.Name(), time.Time{}, f) // http.ServeFile sends index.html elsewhere
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, page)
	})
	mux.HandleFunc("/result", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		select {
		case s.result <- b:
		default:
		}
	})
	if s.Server = httptest.NewUnstartedServer(mux); tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// browse opens a page in the browser and decodes what it posts.
func (s *pageServer) browse(t *testing.T, browser, url string, result any) {
	t.Helper()
	s.browseBeside(t, browser, s, url, result)
}

// browseBeside does so while another server takes the place of the viewer.
func (s *pageServer) browseBeside(t *testing.T, browser string, viewer *pageServer, url string, result any) {
	t.Helper()
	_, port, err := net.SplitHostPort(viewer.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var log bytes.Buffer
	cmd := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-popup-blocking", "--ignore-certificate-errors",
		"--user-data-dir="+t.TempDir(), "--enable-logging=stderr", "--window-size=1600,1000",
		"--host-resolver-rules=MAP ui.perfetto.dev 127.0.0.1:"+port+",MAP evil.example 127.0.0.1:"+port, url)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); cmd.Wait() }()
	select {
	case b := <-s.result:
		if err := json.Unmarshal(b, result); err != nil {
			t.Fatalf("the page posted %q: %v", b, err)
		}
	case <-time.After(90 * time.Second):
		cancel()
		cmd.Wait()
		t.Fatalf("the page posted nothing; the browser says\n%s", log.String())
	}
}

// fetchPage tries addresses one after the other and posts what became of each.
const fetchPage = `<!doctype html><script>
(async () => {
  const results = [];
  for (const url of %s) {
    try {
      const r = await fetch(url);
      const b = new Uint8Array(await r.arrayBuffer());
      let sum = 0;
      for (const x of b) sum = (sum * 31 + x) >>> 0;
      results.push({status: r.status, bytes: b.length, sum});
    } catch (e) {
      results.push({error: String(e)});
    }
  }
  await fetch('/result', {method: 'POST', body: JSON.stringify(results)});
})();
</script>`

type fetched struct {
	Status, Bytes int
	Sum           uint32
	Error         string
}

// TestBrowserOpen lets a page in the place of the viewer fetch the file that `overlay open` serves, and pages of other
// origins, other paths and a second transfer fail.
func TestBrowserOpen(t *testing.T) {
	browser := browserName(t)
	content := bytes.Repeat([]byte("a trace of some size "), 100_000)
	var sum uint32
	for _, b := range content {
		sum = sum*31 + uint32(b)
	}
	name := filepath.Join(t.TempDir(), "my trace.pftrace")
	if err := os.WriteFile(name, content, 0o666); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	linkR, linkW := io.Pipe()
	var stderr bytes.Buffer
	go func() { ended <- run([]string{"overlay", "open", "--no-browser", name}, nil, linkW, &stderr) }()
	buf := make([]byte, 4096)
	n, err := linkR.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, linkR)
	link := strings.TrimSpace(string(buf[:n]))
	if !strings.HasPrefix(link, viewerOrigin+"/#!/?url=http://127.0.0.1:9001/my_trace.pftrace&") {
		t.Errorf("link %s", link)
	}

	file := "http://127.0.0.1:9001/my_trace.pftrace"
	list := func(urls ...string) string { b, _ := json.Marshal(urls); return fmt.Sprintf(fetchPage, b) }
	var got []fetched

	evil := servePage(t, true, list(file, "http://127.0.0.1:9001/status"), nil, "")
	evil.browse(t, browser, "https://evil.example/", &got)
	for i, f := range got {
		if f.Error == "" {
			t.Errorf("another origin, request %d: %+v", i, f)
		}
	}

	viewer := servePage(t, true, list("http://127.0.0.1:9001/status", "http://localhost:9001/my_trace.pftrace", file, file), nil, "")
	got = nil
	viewer.browse(t, browser, link, &got)
	if len(got) != 4 {
		t.Fatalf("got %+v", got)
	}
	for i, what := range []string{"another path", "another host"} {
		if got[i].Error == "" {
			t.Errorf("%s: %+v", what, got[i])
		}
	}
	if want := (fetched{Status: 200, Bytes: len(content), Sum: sum}); got[2] != want {
		t.Errorf("the file: got %+v, want %+v", got[2], want)
	}
	if got[3].Status == 200 {
		t.Errorf("the second transfer: %+v", got[3])
	}
	select {
	case status := <-ended:
		if status != 0 {
			t.Errorf("status %d: %s", status, stderr.String())
		}
	case <-time.After(10 * time.Second):
		t.Error("overlay open goes on after the transfer")
	}
}

// viewerPage loads /trace.json into the trace viewer that Go ships and posts what is in its model.
const viewerPage = `<!doctype html><html><head>
<script src="/webcomponents.min.js"></script>
<script>
  const fail = e => fetch('/result', {method: 'POST', body: JSON.stringify({Error: String(e && e.stack || e)})});
  window.addEventListener('error', e => fail(e.message));
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
      const options = new tr.importer.ImportOptions();
      await new tr.importer.Import(model, options).importTracesWithProgressDialog([text]);
      viewer.model = model;
      const result = {Processes: [], Slices: 0, Flows: 0, Unbound: 0, Ours: [], Warnings: {}};
      for (const p of model.getAllProcesses()) {
        result.Processes.push(p.name || '');
        for (const tid in p.threads) {
          const slices = p.threads[tid].sliceGroup.slices;
          result.Slices += slices.length;
        }
      }
      for (const f of model.flowEvents) {
        result.Flows++;
        if (!f.startSlice || !f.endSlice) result.Unbound++;
        if (f.title === 'critical_path') result.Ours.push([f.startSlice && f.startSlice.title, f.endSlice && f.endSlice.title]);
      }
      for (const w of model.importWarnings) result.Warnings[w.type] = (result.Warnings[w.type] || 0) + 1;
      await fetch('/result', {method: 'POST', body: JSON.stringify(result)});
    } catch (e) { fail(e); }
  });
</script>
<link rel="import" href="/trace_viewer_full.html">
</head><body></body></html>`

// viewerModel is what the viewer made of a trace.
type viewerModel struct {
	Error     string
	Processes []string
	Slices    int
	Flows     int
	Unbound   int
	Ours      [][2]string // names of the slices that our arrows join
	Warnings  map[string]int
}

// loadInViewer loads a Chrome trace into the viewer.
func loadInViewer(t *testing.T, browser string, trace []byte) viewerModel {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command to find the viewer with")
	}
	static := filepath.Join(strings.TrimSpace(string(root)), "src/internal/trace/traceviewer/static")
	if _, err := os.Stat(static); err != nil {
		t.Skip("this Go has no trace viewer: ", err)
	}
	s := servePage(t, false, viewerPage, map[string][]byte{"/trace.json": trace}, static)
	var m viewerModel
	s.browse(t, browser, s.URL+"/", &m)
	if m.Error != "" {
		t.Fatal(m.Error)
	}
	return m
}

// TestBrowserChrome loads the Chrome output of traces into a viewer: everything of the input is there, our rows and
// arrows are there, arrows join the slices that the file names, and the viewer objects to nothing that it accepts in
// the input.
func TestBrowserChrome(t *testing.T) {
	browser := browserName(t)
	inputs := []string{"../../testdata/demo.json.gz"}
	inputs = append(inputs, corpus.Find(t, "param__dlrm8__worker0*.json.gz")...) // whole µs: arrows that wait for the slice that begins next
	for _, input := range append(inputs, corpus.Find(t, "*alexnet*.json.gz")...) {
		t.Run(filepath.Base(input), func(t *testing.T) {
			if _, err := os.Stat(input); err != nil {
				t.Skip("no ", input)
			}
			before := loadInViewer(t, browser, chromeOutput(t, "convert", input))
			text := chromeOutput(t, "run", input)
			after := loadInViewer(t, browser, text)
			t.Logf("%d slices and %d arrows of the input, %d and %d in the output, processes %q", before.Slices, before.Flows,
				after.Slices, after.Flows, after.Processes)
			compareModels(t, before, after, drawnBy(t, text))
		})
	}
}

// chromeOutput runs a command of the program and returns the Chrome JSON that it writes.
func chromeOutput(t *testing.T, command, input string, flags ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.json")
	var stderr bytes.Buffer
	if status := run(append([]string{"overlay", command, "-i", input, "-o", out, "--quiet"}, flags...), nil, io.Discard, &stderr); status != 0 {
		t.Fatalf("%s: %s", command, stderr.String())
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// drawn is what the text of an output says that we added.
type drawn struct{ slices, arrows int }

func drawnBy(t *testing.T, text []byte) (d drawn) {
	t.Helper()
	var doc struct {
		TraceEvents []struct{ Ph, Cat, Name string }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.TraceEvents {
		ours := strings.HasPrefix(e.Cat, "critical_path") || e.Cat == "cdg"
		switch {
		case e.Ph == "X" && ours:
			d.slices++
		case e.Ph == "s" && e.Cat == "critical_path":
			d.arrows++
		}
	}
	return d
}

func compareModels(t *testing.T, before, after viewerModel, d drawn) {
	t.Helper()
	if d.slices == 0 {
		t.Error("the output has no slice of ours")
	}
	if after.Slices != before.Slices+d.slices {
		t.Errorf("slices: %d of the input, %d added, %d in the viewer", before.Slices, d.slices, after.Slices)
	}
	if after.Flows != before.Flows+d.arrows || len(after.Ours) != d.arrows {
		t.Errorf("arrows: %d of the input, %d added, %d in the viewer, %d of them ours", before.Flows, d.arrows, after.Flows, len(after.Ours))
	}
	for _, a := range after.Ours {
		if a[0] == "" || a[1] == "" {
			t.Errorf("an arrow of ours joins %q and %q", a[0], a[1])
		}
	}
	if after.Unbound > before.Unbound {
		t.Errorf("%d arrows without slices, %d in the input", after.Unbound, before.Unbound)
	}
	// Both halves of an arrow carry its args, as HTA's do; the viewer merges them and notes each that it has twice.
	const argsOfArrow = 5
	for kind, n := range after.Warnings {
		if kind == "arg_merge_error" {
			n -= argsOfArrow * d.arrows
		}
		if n > before.Warnings[kind] {
			t.Errorf("%d warnings %s, %d in the input", n, kind, before.Warnings[kind])
		}
	}
	if !slices.ContainsFunc(after.Processes, func(name string) bool { return strings.HasPrefix(name, "Critical path") }) {
		t.Errorf("no process Critical path: %q", after.Processes)
	}
}
