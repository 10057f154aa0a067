package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// reportProbe opens the report in a frame of some width, looks for what is cut, empty or without a unit, sorts its
// hotspots by calls both ways, moves the pointer over the curves, and posts what it saw.
const reportProbe = `<!doctype html><iframe id="f" style="width:%dpx;height:900px"></iframe><script>
const f = document.getElementById('f'), errors = [];
f.onload = async () => {
  const w = f.contentWindow, d = f.contentDocument, all = s => [...d.querySelectorAll(s)], text = e => e.textContent.trim().slice(0, 60);
  w.addEventListener('error', e => errors.push(String(e.message)));
  w.addEventListener('securitypolicyviolation', e => errors.push(e.blockedURI));
  const shown = e => e.getClientRects().length > 0;
  const cut = all('.label, td, th, h1, h2, h3, p, li, .scroll, .plot, .key span').filter(e => shown(e) && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1).map(text);
  const ticks = all('.tick').filter(shown).map(e => e.getBoundingClientRect());
  ticks.forEach((r, i) => { if (r.left < 0 || r.right > d.documentElement.clientWidth + 1 || i > 0 && r.left < ticks[i - 1].right) cut.push('tick ' + i); });
  const bare = all('td.n').filter(e => {
    const s = e.textContent, head = e.closest('table').rows[0].cells[e.cellIndex].textContent;
    return !/^[+-]?[\d.]+ (ns|µs|ms|s|%%|B|kB|MB|GB|GB\/s|[kMGTP]?FLOP)$/.test(s) && !(/^[\d,.]+$/.test(s) && /calls|copies|operations|times|events|steps|allocations/.test(head)) && !(s === '' && head === 'allocations');
  }).map(e => e.textContent + ' in ' + e.closest('table').rows[0].cells[e.cellIndex].textContent);
  const empty = all('section').filter(e => e.textContent.trim().length < 30).map(text)
    .concat(all('table').filter(e => e.tBodies[0].rows.length === 0).map(text), all('td.l').filter(e => e.textContent.trim() === '').map(text), all('path').filter(e => !e.getAttribute('d')).map(e => 'a curve'));
  const head = all('th').find(h => h.textContent === 'calls');
  const table = head.closest('table'), column = head.cellIndex;
  const calls = () => [...table.tBodies[0].rows].map(r => Number(r.cells[column].dataset.v));
  const before = calls();
  const button = head.querySelector('button');
  button.focus();
  if (d.activeElement !== button) errors.push('a head takes no focus');
  button.click();
  const down = calls();
  if (head.getAttribute('aria-sort') !== 'descending') errors.push('a head does not say how it sorts');
  button.click();
  const up = calls();
  const links = all('nav a');
  if (all('section[id]').length > 3 && links.length !== all('section[id] > h2').length) errors.push(links.length + ' links to sections');
  for (const a of links) if (!d.getElementById(a.hash.slice(1))) errors.push('no section ' + a.hash);
  const key = (e, k) => { e.focus(); e.dispatchEvent(new w.KeyboardEvent('keydown', {key: k})); };
  const hint = d.querySelector('.hint');
  for (const box of all('tbody').filter(b => b.querySelector('[title]'))) {
    key(box, 'ArrowDown');
    if (d.activeElement !== box || hint.hidden || hint.textContent !== box.querySelector('[title]').title) errors.push('no names by keyboard');
  }
  key(d.querySelector('.bar'), 'ArrowRight');
  if (hint.textContent !== d.querySelector('.bar [title]').title) errors.push('a bar says nothing by keyboard');
  key(d.querySelector('.bar'), 'Escape');
  d.querySelector('.bar [title]').dispatchEvent(new w.MouseEvent('click', {bubbles: true}));
  if (hint.hidden) errors.push('a bar says nothing where it is touched');
  let tip = '';
  const time = d.querySelector('.time[data-tips]');
  if (time) {
    const box = d.querySelector('.marks').getBoundingClientRect();
    time.dispatchEvent(new w.MouseEvent('mousemove', {clientX: box.left + box.width / 2, clientY: box.top + 5}));
    tip = d.querySelector('.tip').textContent;
    key(time, 'ArrowRight');
    if (d.querySelector('.tip').textContent === tip) errors.push('curves say nothing by keyboard');
  }
  const flame = d.querySelector('.flame');
  if (flame) {
    const frames = () => [...flame.querySelectorAll('div')], top = frames(), say = () => d.querySelector('.frame.tip').textContent, find = d.querySelector('.find input');
    if (top.length < 3 || top[0].getBoundingClientRect().left < flame.getBoundingClientRect().left) errors.push('no frames');
    key(flame, 'ArrowDown');
    let one = say(), two = one;
    for (let n = 0; n < 9 && one === two; n++) { // to the first that calls something
      if (n > 0) key(flame, 'ArrowRight');
      one = say();
      key(flame, 'ArrowDown');
      two = say();
    }
    key(flame, 'ArrowUp');
    if (!one || one === two || say() !== one) errors.push('the flame graph does not go down and up: ' + [one, two, say()]);
    key(flame, 'ArrowDown');
    key(flame, 'Enter');
    const near = frames().filter(e => !e.classList.contains('dim'))[0].getBoundingClientRect();
    if (Math.abs(near.width - flame.clientWidth) > 2 || say() !== two) errors.push('the flame graph looks at ' + near.width + ' px, ' + say());
    key(flame, 'Escape');
    if (frames().length !== top.length) errors.push('the flame graph does not go back');
    find.value = top[0].textContent || 'a';
    find.dispatchEvent(new w.Event('input'));
    if (!flame.querySelector('.found') || !/frames?, [\d.]+ %% of the path/.test(d.querySelector('.find output').textContent)) errors.push('nothing is found: ' + d.querySelector('.find output').textContent);
  } else if (!all('p').some(e => /slim trace/.test(e.textContent))) {
    errors.push('no flame graph');
  }
  await new Promise(r => setTimeout(r, 300));
  const first = all('.findings, #window').map(e => Math.round(e.getBoundingClientRect().bottom + w.scrollY));
  await fetch('/result', {method: 'POST', body: JSON.stringify({
    title: d.querySelector('h1').textContent, tables: all('table.sort').length, findings: all('.finding').length, curves: all('svg').length, before, down, up, errors,
    cut, bare, empty, tip, first, requests: w.performance.getEntriesByType('resource').map(r => r.name), width: d.documentElement.scrollWidth - d.documentElement.clientWidth})});
};
f.src = '/report.html';
</script>`

// seenPage is what the probe saw.
type seenPage struct {
	Title                    string
	Tables, Findings, Curves int
	Before, Down, Up         []float64
	Errors, Requests         []string
	Cut, Bare, Empty         []string
	Tip                      string
	First                    []int // where the findings and the curves end, px
	Width                    int
}

// TestBrowserReport: on a wide and on a narrow window the page runs without an error, asks for nothing, fits, cuts no
// label, has a unit on each number and nothing that is empty (but for the allocations of what was there before the recording), sorts its tables, and says what is under the pointer.
func TestBrowserReport(t *testing.T) {
	browser := browserName(t)
	inputs := append([]string{corpus.Demo(t)}, corpus.Find(t, "*nccl_data*", "*Qwen*", "*trace_diff*", "*mi300*", "*asdf_False*", "*cpu_only*")...)
	slim := filepath.Join(t.TempDir(), "slim.json")
	var stderr bytes.Buffer
	if status := run([]string{"overlay", "run", "-i", inputs[0], "--only-critical", "-o", slim, "--quiet"}, nil, &bytes.Buffer{}, &stderr); status != 0 {
		t.Fatal(stderr.String())
	}
	for _, input := range append(inputs, slim) {
		page := pageOf(t, input)
		for _, width := range []int{1300, 700, 400} {
			t.Run(fmt.Sprintf("%s at %d", filepath.Base(input), width), func(t *testing.T) {
				var got seenPage
				s := servePage(t, false, fmt.Sprintf(reportProbe, width), map[string][]byte{"/report.html": page}, "")
				s.browse(t, browser, s.URL, &got)
				got.check(t, input == corpus.Demo(t))
				if width == 1300 && len(got.First) > 0 && got.First[0] > 440 { // of 735; the sentence of what recording costs may take a line more
					t.Errorf("the findings end at %d px: they belong on the first screen", got.First[0])
				}
			})
		}
	}
}

// TestBrowserReportSeesFaults spoils a page: the probe must see a label that is cut, a number without its unit, and a
// section that is empty.
func TestBrowserReportSeesFaults(t *testing.T) {
	browser := browserName(t)
	page := pageOf(t, corpus.Demo(t))
	for _, c := range []struct{ old, new string }{
		{"td.l { ", "td.l { overflow:hidden; white-space:nowrap; text-overflow:ellipsis; "},
		{" ms</td>", "</td>"},
		{"</header>", "</header><section><h2>Nothing</h2></section>"},
	} {
		spoilt := bytes.ReplaceAll(page, []byte(c.old), []byte(c.new))
		var got seenPage
		s := servePage(t, false, fmt.Sprintf(reportProbe, 500), map[string][]byte{"/report.html": spoilt}, "")
		s.browse(t, browser, s.URL, &got)
		if len(got.Cut)+len(got.Bare)+len(got.Empty) == 0 {
			t.Errorf("%q for %q: nothing is found", c.new, c.old)
		}
	}
}

// pageOf is the page of a trace.
func pageOf(t *testing.T, input string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	var stderr bytes.Buffer
	if status := run([]string{"overlay", "report", "-i", input, "--html", file}, nil, &bytes.Buffer{}, &stderr); status != 0 {
		t.Fatal(stderr.String())
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func (got *seenPage) check(t *testing.T, demo bool) {
	t.Helper()
	if demo && (got.Title != "Bound by GPU compute" || got.Tables < 10 || got.Curves < 3) {
		t.Errorf("title %q, %d tables, %d curves", got.Title, got.Tables, got.Curves)
	}
	if got.Findings == 0 || got.Curves > 0 && got.Tip == "" {
		t.Errorf("%d findings, %d curves, under the pointer %q", got.Findings, got.Curves, got.Tip)
	}
	for what, list := range map[string][]string{"errors": got.Errors, "requests": got.Requests, "labels that are cut": got.Cut, "numbers without a unit": got.Bare, "empty things": got.Empty} {
		if len(list) > 0 {
			t.Errorf("%s: %q", what, list)
		}
	}
	if got.Width > 0 {
		t.Errorf("the page is %d px wider than its window", got.Width)
	}
	want := slices.Sorted(slices.Values(got.Before))
	if len(want) < 5 || !slices.Equal(got.Up, want) {
		t.Errorf("sorted up %v, was %v", got.Up, got.Before)
	}
	slices.Reverse(want)
	if !slices.Equal(got.Down, want) {
		t.Errorf("sorted down %v", got.Down)
	}
}
