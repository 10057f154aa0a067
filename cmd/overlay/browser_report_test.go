package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// reportProbe opens the report in a frame, sorts its hotspots by calls both ways, and posts what it saw.
const reportProbe = `<!doctype html><iframe id="f" style="width:1100px;height:900px"></iframe><script>
const f = document.getElementById('f'), errors = [];
f.onload = async () => {
  const w = f.contentWindow, d = f.contentDocument;
  w.addEventListener('error', e => errors.push(String(e.message)));
  w.addEventListener('securitypolicyviolation', e => errors.push(e.blockedURI));
  const tables = [...d.querySelectorAll('table.sort')];
  const head = [...d.querySelectorAll('th')].find(h => h.textContent === 'calls');
  const table = head.closest('table'), column = [...head.parentNode.children].indexOf(head);
  const calls = () => [...table.tBodies[0].rows].map(r => Number(r.cells[column].dataset.v));
  const before = calls();
  head.click();
  const down = calls();
  head.click();
  const up = calls();
  await new Promise(r => setTimeout(r, 300));
  await fetch('/result', {method: 'POST', body: JSON.stringify({
    title: d.querySelector('h1').textContent, tables: tables.length, drawings: d.querySelectorAll('.bars').length, before, down, up, errors,
    requests: w.performance.getEntriesByType('resource').map(r => r.name), width: d.documentElement.scrollWidth - d.documentElement.clientWidth})});
};
f.src = '/report.html';
</script>`

// TestBrowserReport: the page runs without an error, asks for nothing, fits its window, and sorts its tables.
func TestBrowserReport(t *testing.T) {
	browser := browserName(t)
	file := filepath.Join(t.TempDir(), "report.html")
	var stderr bytes.Buffer
	if status := run([]string{"overlay", "report", "-i", "../../testdata/demo.json.gz", "--html", file, "--analysis", "all"}, nil, &bytes.Buffer{}, &stderr); status != 0 {
		t.Fatal(stderr.String())
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Title            string
		Tables, Drawings int
		Before, Down, Up []float64
		Errors, Requests []string
		Width            int
	}
	s := servePage(t, false, reportProbe, map[string][]byte{"/report.html": page}, "")
	s.browse(t, browser, s.URL, &got)
	if got.Title != "Bound by GPU compute" || got.Tables < 10 || got.Drawings != 3 {
		t.Errorf("title %q, %d tables, %d drawings", got.Title, got.Tables, got.Drawings)
	}
	if len(got.Errors) > 0 || len(got.Requests) > 0 {
		t.Errorf("errors %q, requests %q", got.Errors, got.Requests)
	}
	if got.Width > 0 {
		t.Errorf("the page is %d px wider than its window", got.Width)
	}
	want := slices.Sorted(slices.Values(got.Before))
	if len(want) < 5 || slices.Equal(want, got.Before) || !slices.Equal(got.Up, want) {
		t.Errorf("sorted up %v, was %v", got.Up, got.Before)
	}
	slices.Reverse(want)
	if !slices.Equal(got.Down, want) {
		t.Errorf("sorted down %v", got.Down)
	}
}
