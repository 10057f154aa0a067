package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"overlay/internal/pipeline"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/jobjudge"
)

// servedDesk serves the page of the demo with its sliders, and what is given beside it.
func servedDesk(t *testing.T, beside *http.ServeMux) (url string) {
	t.Helper()
	solved, err := pipeline.Solve(testtrace.Read(t, corpus.Demo(t)), pipeline.Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	stacks, desk := solved.Flame(), solved.Desk()
	r := solved.Report(report.Source{Name: "demo.json.gz", Gains: true, Advise: true})
	desk.Advised(r.Advice)
	var b bytes.Buffer
	if err := page.WriteDesk(&b, r, stacks, page.NewDesk(r, "it's a.json", desk.Knows)); err != nil {
		t.Fatal(err)
	}
	return serveDesk(t, beside, b.Bytes(), desk.Write)
}

func serveDesk(t *testing.T, beside *http.ServeMux, page []byte, ask func(string, io.Writer) error) (url string) {
	s := &deskServer{page: page, ask: ask}
	beside.Handle("/", s)
	server := httptest.NewServer(beside)
	t.Cleanup(server.Close)
	s.host = strings.TrimPrefix(server.URL, "http://")
	return server.URL
}

// TestDesk: the page is served to this machine's own name and the page's own origin only, and answers are those of the command.
func TestDesk(t *testing.T) {
	url := servedDesk(t, http.NewServeMux())
	ask := func(method, path, origin, host, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		r.Host = host
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s: another origin may read it", method, path)
		}
		return resp.StatusCode, string(b)
	}
	for _, c := range []struct {
		method, path, origin, host, body string
		status                           int
		want                             string
	}{
		{"GET", "/", "", "", "", 200, `data-change="class:compute"`},
		{"GET", "/", "https://evil.example", "", "", 403, "wrong origin"},
		{"GET", "/", "", "evil.example", "", 403, "wrong host"},
		{"POST", "/", url, "", "", 405, "not so"},
		{"GET", "/whatif", url, "", "", 405, "not so"},
		{"POST", "/whatif", "", "", "class:compute=0.5", 405, "not so"},
		{"POST", "/whatif", "null", "", "class:compute=0.5", 403, "wrong origin"},
		{"POST", "/whatif", url, "", "zork=0.5", 400, `"zork" selects nothing`},
		{"POST", "/whatif", url, "", "finding:99", 400, `no finding "99"`},
		{"POST", "/whatif", url, "", "finding:0", 200, `"name":"finding:0"`},
		{"POST", "/whatif", url, "", strings.Repeat("x", maxQuestion+1), 400, "too large"},
		{"GET", "/other", "", "", "", 404, "not found"},
	} {
		if status, body := ask(c.method, c.path, c.origin, c.host, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s from %q to %q: %d %.200q", c.method, c.path, c.origin, c.host, status, body)
		}
	}
	const text = "class:compute=0.5;class:launch=0.25"
	status, body := ask("POST", "/whatif", url, "", text)
	var out, errs bytes.Buffer
	if run([]string{"overlay", "whatif", "-i", corpus.Demo(t), "--scenario", text, "--json"}, nil, &out, &errs) != 0 || status != 200 {
		t.Fatal(status, errs.String())
	}
	var got, want struct{ Scenarios []map[string]any }
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &want); err != nil {
		t.Fatal(err)
	}
	if len(got.Scenarios) != 1 || len(got.Scenarios[0]["strip"].([]any)) < 10 {
		t.Fatalf("%.500s", body)
	}
	delete(got.Scenarios[0], "strip")
	for k, v := range got.Scenarios[0] {
		if !reflect.DeepEqual(v, want.Scenarios[0][k]) {
			t.Errorf("%s is %v, of the command %v", k, v, want.Scenarios[0][k])
		}
	}
}

// deskProbe pulls sliders and posts what the page then says.
const deskProbe = `<!doctype html><iframe id="f" style="width:1100px;height:900px"></iframe><script>
const f = document.getElementById('f');
f.onload = async () => {
  const w = f.contentWindow, d = f.contentDocument, one = s => d.querySelector('#desk ' + s), errors = [];
  w.addEventListener('error', e => errors.push(String(e.message)));
  const state = () => ({says: one('.lead').textContent, bar: [...one('.bar').children].reduce((n, e) => n + parseFloat(e.style.width), 0), strip: one('.strip').children.length, code: one('code').textContent});
  const pull = async (slider, value) => {
    slider.focus();
    if (d.activeElement !== slider) errors.push('a slider takes no focus');
    slider.value = value;
    slider.dispatchEvent(new w.Event('input'));
    const before = one('.lead').textContent;
    for (let i = 0; i < 100 && one('.lead').textContent === before; i++) await new Promise(r => setTimeout(r, 50));
  };
  const seen = [state()];
  const sliders = d.querySelectorAll('#desk input');
  await pull(one('input[data-change="class:compute"]'), 50);
  seen.push(state());
  const ranges = d.querySelectorAll('#desk input[type=range]'), box = one('input[type=checkbox]');
  await pull(ranges[ranges.length - 1], 200);
  seen.push(state());
  box.checked = true;
  await pull(box, 'on');
  seen.push(state());
  if (one('button.copy').hidden) errors.push('nothing can be copied');
  one('button.reset').click();
  seen.push(state());
  await fetch('/result', {method: 'POST', body: JSON.stringify({seen, errors, output: sliders[0].parentNode.querySelector('output').textContent})});
};
f.src = '/';
</script>`

// probed opens a probe that stands beside a page, in a browser, and reads what it posts.
func probed(t *testing.T, probe string, served func(beside *http.ServeMux) (url string), got any) {
	t.Helper()
	browser := browserName(t)
	s := &pageServer{Server: httptest.NewServer(http.NotFoundHandler()), result: make(chan []byte, 1)} // of which browse wants the port alone
	t.Cleanup(s.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/probe", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, probe)
	})
	mux.HandleFunc("/result", func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s.result <- b
	})
	s.browse(t, browser, served(mux)+"/probe", got)
}

// jobDeskProbe pulls the slider of a rank and posts what the page then says.
const jobDeskProbe = `<!doctype html><iframe id="f" style="width:1100px;height:900px"></iframe><script>
const f = document.getElementById('f');
f.onload = async () => {
  const w = f.contentWindow, d = f.contentDocument, one = s => d.querySelector('#desk ' + s), errors = [];
  w.addEventListener('error', e => errors.push(String(e.message)));
  const state = () => ({says: one('.lead').textContent, rows: d.querySelectorAll('#desk .stair').length, code: one('code').textContent,
    wide: Math.max(...[...d.querySelectorAll('#desk .stair i')].map(e => parseFloat(e.style.left) + parseFloat(e.style.width)))});
  const seen = [state()], slider = one('input[data-change="rank:0"]'), before = one('.lead').textContent;
  slider.focus();
  if (d.activeElement !== slider) errors.push('a slider takes no focus');
  slider.value = 50;
  slider.dispatchEvent(new w.Event('input'));
  for (let i = 0; i < 100 && one('.lead').textContent === before; i++) await new Promise(r => setTimeout(r, 50));
  seen.push(state());
  one('button.reset').click();
  seen.push(state());
  await fetch('/result', {method: 'POST', body: JSON.stringify({seen, errors})});
};
f.src = '/';
</script>`

// TestBrowserJobDesk: the slider of a rank changes what the page of a job says, its rows and its command, and all can be as it was again.
func TestBrowserJobDesk(t *testing.T) {
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", World: 4, PerHost: 2, Steps: 3, Seed: 1, Noise: 1})
	list, err := jobjudge.Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	job, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	source := report.JobSource{Name: "traces", Job: job, Verdict: replay.Judge(job, ranks.Expected{})}
	r := report.NewJob(source)
	desk, err := page.NewJobDesk(r, source, "traces")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := page.WriteJobDesk(&b, r, source, desk); err != nil {
		t.Fatal(err)
	}
	type state struct {
		Says, Code string
		Rows       int
		Wide       float64
	}
	var got struct {
		Seen   []state
		Errors []string
	}
	probed(t, jobDeskProbe, func(mux *http.ServeMux) string { return serveDesk(t, mux, b.Bytes(), desk.Ask) }, &got)
	if len(got.Errors) > 0 || len(got.Seen) != 3 {
		t.Fatalf("%+v", got)
	}
	first, half, last := got.Seen[0], got.Seen[1], got.Seen[2]
	if !strings.HasPrefix(first.Says, "As recorded: ") || !strings.HasSuffix(first.Says, " ends last.") || first.Rows != 4 || first.Wide < 99 || first.Wide > 100.1 || first.Code != "" {
		t.Errorf("at first: %+v", first)
	}
	if !strings.Contains(half.Says, " % shorter; rank ") || half.Code != "overlay whatif 'traces' --scale 'rank:0=0.5'" || half.Rows != 4 || half.Wide > first.Wide {
		t.Errorf("with half of rank 0: %+v", half)
	}
	if last != first {
		t.Errorf("at last: %+v", last)
	}
}

// TestBrowserDesk: pulled sliders change what the page says, its bar, its strip and its command, and all can be as it was again.
func TestBrowserDesk(t *testing.T) {
	var got struct {
		Seen []struct {
			Says, Code string
			Bar        float64
			Strip      int
		}
		Errors []string
		Output string
	}
	probed(t, deskProbe, func(mux *http.ServeMux) string { return servedDesk(t, mux) }, &got)
	if len(got.Errors) > 0 || len(got.Seen) != 5 {
		t.Fatalf("%+v", got)
	}
	first, half, more, done, last := got.Seen[0], got.Seen[1], got.Seen[2], got.Seen[3], got.Seen[4]
	if !strings.HasPrefix(first.Says, "As recorded: 90.62 ms, most of it GPU compute") || first.Code != "" || first.Bar < 99.9 || first.Strip == 0 {
		t.Errorf("at first: %+v", first)
	}
	if !strings.HasPrefix(half.Says, "90.62 ms → 58.09 ms, 35.9 % shorter (58.08 ms to 58.09 ms); most of it would then be GPU compute") || half.Code != `overlay whatif 'it'\''s a.json' --scale 'class:compute=0.5'` ||
		half.Bar < 63.5 || half.Bar > 64.5 || half.Strip == 0 {
		t.Errorf("with half of GPU compute: %+v", half)
	}
	if more.Says == half.Says || !strings.HasPrefix(more.Code, half.Code+" --scale '") || !strings.HasSuffix(more.Code, "=2'") {
		t.Errorf("with more: %+v", more)
	}
	if done.Says == more.Says || done.Code != more.Code {
		t.Errorf("with a finding: %+v", done)
	}
	if last != first || got.Output != "100 %" {
		t.Errorf("at last: %+v, %s", last, got.Output)
	}
}
