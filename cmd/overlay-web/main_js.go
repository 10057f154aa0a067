//go:build js && wasm

// Command overlay-web is the engine of overlay for a web page: `make web` compiles it to WebAssembly and puts it beside
// the page of the folder site. It defines two functions for the worker of that page:
//
//	overlayAnalyse(request, read, write, stage)
//	overlayAsk(changes)
//
// request is JSON (type request); read(offset, length) returns a Uint8Array of the file; write(piece) takes the next
// piece of the overlaid trace; stage(name) is told what the work does. The second one replays the run with something changed, as sliders
// say it (pipeline.Desk). Both return JSON: the answer, or {"error": text}.
package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall/js"

	"overlay/internal/pipeline"
)

func main() {
	runtime.GOMAXPROCS(1)
	var desk *pipeline.Desk // of the trace that was analysed
	define("overlayAnalyse", func(args []js.Value) (any, error) {
		var q request
		if err := json.Unmarshal([]byte(args[0].String()), &q); err != nil {
			return nil, fmt.Errorf("the page sent a broken request: %w", err)
		}
		out := &pieces{write: args[2]}
		a, d, err := analyse(q, &file{args[1]}, out, func(name string) { args[3].Invoke(name) })
		if err == nil {
			out.flush()
		}
		desk = d
		return a, err
	})
	define("overlayAsk", func(args []js.Value) (any, error) { return desk.Ask(args[0].String()) })
	select {} // the functions stay callable
}

// define makes a function of the page. A panic is a bug of ours, and said to be one.
func define(name string, do func(args []js.Value) (any, error)) {
	js.Global().Set(name, js.FuncOf(func(_ js.Value, args []js.Value) (result any) {
		failure := func(text string) string {
			b, _ := json.Marshal(map[string]string{"error": text})
			return string(b)
		}
		defer func() {
			if bug := recover(); bug != nil {
				result = failure(fmt.Sprintf("%v; this is a bug in overlay, please report it with these lines\n%s", bug, debug.Stack()))
			}
		}()
		v, err := do(args)
		if err != nil {
			return failure(err.Error())
		}
		b, err := json.Marshal(v)
		if err != nil {
			return failure(err.Error())
		}
		return string(b)
	}))
}

// file reads a file of the page in pieces.
type file struct{ read js.Value }

// ReadAt is that of an io.ReaderAt. What is beyond the end of the file cannot be read, so nobody may ask for it.
func (f *file) ReadAt(p []byte, at int64) (int, error) {
	n := js.CopyBytesToGo(p, f.read.Invoke(at, len(p)))
	if n < len(p) {
		return n, fmt.Errorf("the browser cannot read the file at byte %d: did it change?", at+int64(n))
	}
	return n, nil
}

// pieces hands the output to the page, which keeps it outside of the memory of this program.
type pieces struct {
	write js.Value
	b     []byte
}

// pieceSize is large enough that calls into the page cost nothing.
const pieceSize = 1 << 20

func (o *pieces) Write(p []byte) (int, error) {
	o.b = append(o.b, p...)
	if len(o.b) >= pieceSize {
		o.flush()
	}
	return len(p), nil
}

func (o *pieces) flush() {
	if len(o.b) == 0 {
		return
	}
	piece := js.Global().Get("Uint8Array").New(len(o.b))
	js.CopyBytesToJS(piece, o.b)
	o.write.Invoke(piece)
	o.b = o.b[:0]
}
