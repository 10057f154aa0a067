package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// webDriver uses the page as a person would: it starts the demo, waits for the report, pulls a slider, tries what the page must not
// be able to do, and opens the trace in the viewer, whose place the page viewerStandIn takes.
const webDriver = `<!doctype html><iframe id="page" src="/index.html" width="1200" height="900"></iframe><script>
const frame = document.getElementById('page');
const wait = async (what, done, ms) => {
  for (let left = ms; !done(); left -= 50) {
    if (left < 0) throw new Error('no ' + what + ': ' + frame.contentDocument.getElementById('status').textContent);
    await new Promise(go => setTimeout(go, 50));
  }
};
const post = result => fetch('/result', {method: 'POST', body: JSON.stringify(result)});
frame.onload = async () => {
  try {
    const page = frame.contentDocument, inside = frame.contentWindow, result = {};
    page.getElementById('demo').click();
    const shown = () => page.getElementById('page').contentDocument, title = () => shown() && shown().querySelector('h1') ? shown().title : '';
    await wait('report', title, 60000);
    result.summary = title();
    const slider = shown().querySelector('#desk input[data-change="class:compute"]'), says = () => shown().querySelector('#desk .lead').textContent;
    slider.focus();
    slider.value = 50;
    slider.dispatchEvent(new inside.Event('input'));
    await wait('replay', () => says().includes('shorter'), 20000);
    result.replay = says();
    result.status = page.getElementById('status').textContent;

    // A stranger's address, from the page and from a worker like the page's own.
    result.leaks = [], result.two = [];
    try { await inside.fetch('http://evil.example/'); result.leaks.push('page'); } catch (e) {}
    const source = inside.URL.createObjectURL(new inside.Blob(
      ["fetch('http://evil.example/').then(() => postMessage('worker'), () => postMessage(''))"], {type: 'text/javascript'}));
    const leak = await new Promise((done, failed) => {
      const w = new inside.Worker(source);
      w.onmessage = e => done(e.data);
      w.onerror = e => done('error ' + e.message);
    });
    if (leak) result.leaks.push(leak);

    // A file that is no trace, as from the file chooser.
    const choose = file => {
      const list = new inside.DataTransfer();
      list.items.add(file);
      page.getElementById('file').files = list.files;
      page.getElementById('file').onchange();
    };
    choose(new inside.File(["'use strict'"], 'page.js'));
    await wait('error', () => page.getElementById('status').className === 'error', 20000);
    result.error = page.getElementById('status').textContent;

    // Two traces at a time: each has a button, and the first is shown until the second one's is clicked.
    const demo = await (await inside.fetch('demo.json.gz')).blob();
    const two = new inside.DataTransfer();
    for (const name of ['rank0.json.gz', 'rank1.json.gz']) two.items.add(new inside.File([demo], name));
    page.getElementById('file').files = two.files;
    page.getElementById('file').onchange();
    await wait('two results', () => page.querySelectorAll('#files button').length === 2, 60000);
    for (const [i, button] of page.querySelectorAll('#files button').entries()) {
      button.click();
      await wait('report', () => title().startsWith('rank' + i), 20000);
      result.two.push(title().split(':')[0] + (shown().getElementById('desk') ? ' has sliders' : ''));
    }

    page.getElementById('demo').click();
    await wait('second report', () => page.getElementById('status').textContent.startsWith('demo.json.gz: done'), 60000);
    inside.addEventListener('message', e => { if (e.data && e.data.got) { result.got = e.data.got; result.sum = e.data.sum; post(result); } });
    page.getElementById('open').click();
  } catch (e) { post({error: String(e)}); }
};
</script>`

// viewerStandIn answers as ui.perfetto.dev does, and tells the opener what it got.
const viewerStandIn = `<!doctype html><script>
onmessage = e => {
  if (e.data === 'PING') return e.source.postMessage('PONG', e.origin);
  if (!e.data.perfetto) return;
  let sum = 0;
  for (const x of new Uint8Array(e.data.perfetto.buffer)) sum = (sum * 31 + x) >>> 0;
  e.source.postMessage({got: {bytes: e.data.perfetto.buffer.byteLength, title: e.data.perfetto.title, hash: location.hash}, sum}, e.origin);
};
</script>`

// TestBrowserWeb drives the page that needs no install: the report answers, and the trace that the viewer gets is the program's.
func TestBrowserWeb(t *testing.T) {
	browser := browserName(t)
	dir := t.TempDir()
	cmd := exec.Command("make", "--no-print-directory", "web", "WEB="+dir, "VCS=-buildvcs=false") // a test has no commit in it, and outputs carry the version
	cmd.Dir = corpus.Root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := overlaidDemo(t)
	var sum uint32
	for _, b := range want {
		sum = sum*31 + uint32(b)
	}
	viewer := servePage(t, true, viewerStandIn, nil, "")
	site := servePage(t, false, webDriver, nil, dir)
	var got struct {
		Summary, Replay, Status, Error string
		Leaks, Two                     []string
		Got                            struct {
			Bytes       int
			Title, Hash string
		}
		Sum uint32
	}
	site.browseBeside(t, browser, viewer, site.URL+"/", &got)
	if got.Summary != "demo.json.gz: bound by GPU compute" || !strings.Contains(got.Status, "done in") || !strings.HasPrefix(got.Replay, "90.62 ms → ") {
		t.Errorf("report %q, replay %q, status %q", got.Summary, got.Replay, got.Status)
	}
	if len(got.Leaks) > 0 {
		t.Errorf("a connection to elsewhere: %q", got.Leaks)
	}
	if !strings.HasPrefix(got.Error, "page.js: byte 0: ") {
		t.Errorf("a file that is no trace: %q", got.Error)
	}
	if strings.Join(got.Two, " ") != "rank0.json.gz rank1.json.gz" {
		t.Errorf("of two traces: %q", got.Two)
	}
	if got.Got.Bytes != len(want) || got.Sum != sum || got.Got.Title != "demo.overlaid.pftrace" || !strings.Contains(got.Got.Hash, "visStart=") {
		t.Errorf("the viewer got %+v, sum %d; want %d bytes, sum %d", got.Got, got.Sum, len(want), sum)
	}
}

// overlaidDemo is what `overlay run` makes of the demo.
func overlaidDemo(t *testing.T) []byte {
	t.Helper()
	name := t.TempDir() + "/demo.overlaid.pftrace"
	if status := run([]string{"overlay", "run", "-i", corpus.Demo(t), "-o", name, "--quiet"}, nil, os.Stderr, os.Stderr); status != 0 {
		t.Fatalf("status %d", status)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
