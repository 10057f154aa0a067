// The worker that analyses one trace, and then answers what its report asks. The page starts a new one for each, since the memory of a
// WebAssembly program never shrinks. It is started from a blob, so that it is bound by the page's security policy.
'use strict';
onmessage = async ({data: {ask, base, module, file, request}}) => {
  try {
    if (ask !== undefined) {
      const answer = JSON.parse(overlayAsk(ask));
      return postMessage(answer.error ? {error: answer.error} : {answer});
    }
    importScripts(base + 'wasm_exec.js');
    const go = new Go();
    let last = '';
    const log = console.error;
    console.error = (...words) => { last += words.join(' ') + '\n'; log(...words); };
    go.run(await WebAssembly.instantiate(module, go.importObject));
    const reader = new FileReaderSync();
    const read = (from, length) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, from + length)));
    const pieces = [];
    const write = piece => pieces.push(piece);
    const stage = name => postMessage({stage: name});
    const text = overlayAnalyse(JSON.stringify(request), read, write, stage);
    if (text === undefined) throw new Error(last);
    const answer = JSON.parse(text);
    postMessage(answer.error ? {error: answer.error} : {answer, output: new Blob(pieces)});
  } catch (e) {
    postMessage({error: /memory|unreachable|Array buffer allocation/i.test(String(e)) ?
      'this trace needs more than the 4 GB of memory that a page may have: use the program, it needs a quarter of it' : String(e)});
  }
};
