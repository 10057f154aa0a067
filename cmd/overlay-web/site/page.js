// The page: takes a file, has a worker analyse it, shows the summary, and hands the overlaid trace to the viewer.

const viewer = 'https://ui.perfetto.dev';
const base = new URL('.', location.href).href;
const $ = id => document.getElementById(id);

let worker; // of the trace that is being analysed
let result; // {name, answer, output} of the last one

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

async function analyse(file) {
  if (worker) worker.terminate();
  worker = result = undefined;
  $('result').hidden = true;
  say('Loading the program …');
  let module, source;
  try { [module, source] = await loading; } catch { return; }
  const began = performance.now();
  const mine = worker = new Worker(source);
  mine.onmessage = ({data}) => {
    if (mine !== worker) return; // of a trace that was dropped before this one
    if (data.stage) return say(`${file.name}: ${data.stage} …`);
    mine.terminate();
    worker = undefined;
    if (data.error) return say(data.error, true);
    result = {name: file.name, ...data};
    $('summary').textContent = data.answer.summary;
    $('result').hidden = false;
    say(`${file.name}: done in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  };
  mine.onerror = e => { if (mine === worker) say(`The program stopped: ${e.message}`, true); };
  mine.postMessage({base, module, file, request: {
    name: file.name, size: file.size, step: $('step').value.trim(), method: $('method').value,
    analyses: $('analyses').checked, slim: $('slim').checked, anonymous: $('anonymous').checked,
  }});
}

// openInViewer shows the trace in the viewer: its page says PONG when it is ready to take a trace, and a trace goes to it alone.
async function openInViewer() {
  const {answer, output} = result;
  const commands = JSON.stringify([{id: 'dev.perfetto.PinTracksByRegex', args: ['^(Critical path|Path segments)$']}]);
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

$('file').onchange = () => { if ($('file').files[0]) analyse($('file').files[0]); };
$('demo').onclick = async () => {
  const answer = await fetch('demo.json.gz');
  if (answer.ok) analyse(new File([await answer.blob()], 'demo.json.gz'));
  else say('The demo trace is missing beside this page', true);
};
$('open').onclick = openInViewer;
$('save').onclick = () => save(result.output, result.answer.output);
$('report').onclick = () => save(new Blob([JSON.stringify(result.answer.report, null, 2)]), result.answer.output.replace(/\.overlaid\.pftrace$/, '.report.json'));
addEventListener('dragover', e => { e.preventDefault(); document.body.classList.add('over'); });
addEventListener('dragleave', e => { if (!e.relatedTarget) document.body.classList.remove('over'); });
addEventListener('drop', e => {
  e.preventDefault();
  document.body.classList.remove('over');
  const files = e.dataTransfer.files;
  if (files.length > 1) say('One trace at a time: the first is taken');
  if (files[0]) analyse(files[0]);
});
