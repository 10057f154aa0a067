// Runs the program of the page under Node: node node.js WASM_EXEC WASM REQUEST INPUT OUTPUT. Prints the answer.
'use strict';
const fs = require('fs');
const [exec, wasm, request, input, output] = process.argv.slice(2);
require(exec);
(async () => {
  const go = new Go();
  const {instance} = await WebAssembly.instantiate(fs.readFileSync(wasm), go.importObject);
  go.run(instance);
  const from = fs.openSync(input), to = fs.openSync(output, 'w');
  const read = (at, length) => {
    const piece = new Uint8Array(length);
    return piece.subarray(0, fs.readSync(from, piece, 0, length, at));
  };
  const stages = [];
  const text = overlayAnalyse(request, read, piece => fs.writeSync(to, piece), name => stages.push(name));
  const answer = JSON.stringify({...JSON.parse(text), stages, memory: instance.exports.mem.buffer.byteLength});
  process.stdout.write(answer, () => process.exit(0)); // a pipe takes long answers piece by piece
})();
