// The page: takes files, has a worker analyse one after another, shows their reports, and hands an overlaid trace to the viewer.

const viewer = 'https://ui.perfetto.dev';
const base = new URL('.', location.href).href;
const $ = id => document.getElementById(id);

let worker; // of the trace that is being analysed, or of a single one whose report is shown
let waiting = []; // files that come after it
let alone; // there is one file: its worker is kept, and answers what the sliders ask
let results = []; // {name, answer, output} of those that are done
let result; // the one that is shown
let asked; // {resolve, reject} of what the sliders ask

// The program and the worker's text are loaded once; both come from the page's own origin.
const loading = Promise.all([
  WebAssembly.compileStreaming(fetch('overlay.wasm')),
  fetch('worker.js').then(r => r.blob()).then(b => URL.createObjectURL(new Blob([b], {type: 'text/javascript'}))),
]);
loading.catch(e => say(typeof WebAssembly === 'undefined' ? 'This browser has no WebAssembly: use the program.' : 'The program could not be loaded: ' + e, true));

function say(text, isError) {
  $('status').textContent = text;
  $('status').className = isError ? 'error' : '';
}

// analyseAll drops what is under way and takes new files, one after another: each may need most of the memory that a page has.
function analyseAll(files) {
  if (worker) worker.terminate();
  worker = result = undefined;
  results = [];
  waiting = [...files];
  alone = waiting.length === 1;
  document.body.classList.remove('shown');
  $('result').hidden = true;
  $('files').replaceChildren();
  const first = waiting.shift();
  if (first) analyse(first);
}

// next goes on with the file behind the one that is done.
function next() {
  if (alone) return;
  worker = undefined;
  const file = waiting.shift();
  if (file) analyse(file);
}

// show shows one of the results. With several, a button for each stands above.
function show(which) {
  result = which;
  URL.revokeObjectURL($('page').src);
  $('page').src = URL.createObjectURL(new Blob([result.answer.page], {type: 'text/html'}));
  $('result').hidden = false;
  document.body.classList.add('shown');
  for (const button of $('files').children) button.setAttribute('aria-pressed', button.dataset.name === String(results.indexOf(result)));
}

function addButton(name, done) {
  const button = document.createElement('button');
  button.textContent = name;
  if (done) {
    button.dataset.name = String(results.indexOf(done));
    button.onclick = () => show(done);
  } else {
    button.disabled = true;
  }
  $('files').append(button);
}

async function analyse(file) {
  say('Loading the program …');
  let module, source;
  try { [module, source] = await loading; } catch { return; }
  const began = performance.now();
  const mine = worker = new Worker(source);
  mine.onmessage = ({data}) => {
    if (mine !== worker) return; // of a trace that was dropped before this one
    if (data.stage) return say(`${file.name}: ${data.stage} …`);
    if (asked) {
      const {resolve, reject} = asked;
      asked = undefined;
      return data.error ? reject(data.error) : resolve(data.answer);
    }
    if (data.error || !alone) mine.terminate();
    if (data.error) {
      addButton(`${file.name}: ${data.error}`);
      say(data.error, true);
      return next();
    }
    const done = {name: file.name, ...data};
    results.push(done);
    if (!alone) addButton(file.name, done);
    if (!result) show(done);
    say(`${file.name}: done in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    next();
  };
  mine.onerror = e => {
    if (mine !== worker) return;
    mine.terminate(); // it holds all the memory of the trace
    if (asked) return asked.reject(e.message);
    addButton(`${file.name}: the program stopped`);
    say(`The program stopped: ${e.message}`, true);
    next();
  };
  mine.postMessage({base, module, file, request: {
    name: file.name, size: file.size, step: $('step').value.trim(), rows: $('rows').checked, slim: $('slim').checked, desk: alone,
  }});
}

// overlayAsk is what the sliders of a report call: it promises a replay with those changes. One question is asked at a time.
window.overlayAsk = text => new Promise((resolve, reject) => {
  asked = {resolve, reject};
  worker.postMessage({ask: text});
});

// What the path is made of, for a tab of the viewer; the same as that of `overlay open`.
const pathQuery = `-- critical path: what it is made of
SELECT name, count(*) AS segments, round(sum(dur) / 1e6, 3) AS ms, round(100.0 * sum(dur) / (SELECT sum(dur) FROM slice WHERE category = 'critical_path'), 1) AS percent FROM slice WHERE category = 'critical_path' GROUP BY name ORDER BY sum(dur) DESC`;

// openInViewer shows the trace in the viewer: its page says PONG when it is ready to take a trace, and a trace goes to it alone.
async function openInViewer() {
  const {answer, output} = result;
  const commands = JSON.stringify([{id: 'dev.perfetto.PinTracksByRegex', args: ['^(Critical path|Path segments)$']}, {id: 'dev.perfetto.RunQueryAndShowTab', args: [pathQuery]}]);
  const view = answer.start < answer.end ? `&visStart=${answer.start}&visEnd=${answer.end}` : '';
  const other = window.open(`${viewer}/#!/?startupCommands=${encodeURIComponent(commands)}${view}`);
  if (!other) return say('The browser blocked the new window: allow it for this page, or save the trace and drop it on ' + viewer, true);
  const buffer = await output.arrayBuffer();
  const patience = setTimeout(() => { stop(); say(`${viewer} does not answer: save the trace and drop it there`, true); }, 60000);
  const ping = setInterval(() => other.postMessage('PING', viewer), 50);
  const stop = () => { clearInterval(ping); clearTimeout(patience); removeEventListener('message', pong); };
  const pong = e => {
    if (e.origin !== viewer || e.source !== other || e.data !== 'PONG') return;
    stop();
    other.postMessage({perfetto: {buffer, title: answer.output, fileName: answer.output, keepApiOpen: false}}, viewer, [buffer]);
  };
  addEventListener('message', pong);
}

function save(blob, name) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60000);
}

$('file').onchange = () => analyseAll($('file').files);
$('demo').onclick = async () => {
  const answer = await fetch('demo.json.gz');
  if (answer.ok) analyseAll([new File([await answer.blob()], 'demo.json.gz')]);
  else say('The demo trace is missing beside this page', true);
};
$('open').onclick = openInViewer;
$('save').onclick = () => save(result.output, result.answer.output);
$('keep').onclick = () => save(new Blob([result.answer.page], {type: 'text/html'}), result.answer.output.replace(/\.overlaid\.pftrace$/, '.html'));
$('other').onclick = () => { document.body.classList.remove('shown'); $('file').focus(); };
$('report').onclick = () => save(new Blob([JSON.stringify(result.answer.report, null, 2)]), result.answer.output.replace(/\.overlaid\.pftrace$/, '.report.json'));

// A file can be dropped on the page and on the report in it.
function takeDrops(target) {
  target.addEventListener('dragover', e => { e.preventDefault(); document.body.classList.add('over'); });
  target.addEventListener('dragleave', e => { if (!e.relatedTarget) document.body.classList.remove('over'); });
  target.addEventListener('drop', e => {
    e.preventDefault();
    document.body.classList.remove('over');
    if (e.dataTransfer.files.length) analyseAll(e.dataTransfer.files);
  });
}
takeDrops(window);
$('page').onload = () => takeDrops($('page').contentWindow);
