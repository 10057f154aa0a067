//go:build js && wasm

// Command overlay-web is the engine of overlay for a web page: `make web` compiles it to WebAssembly and puts it beside
// the page of the folder site. It defines one function for the worker of that page:
//
//	overlayAnalyse(request, read, write, stage)
//
// request is JSON (type request); read(offset, length) returns a Uint8Array of the file; write(piece) takes the next
// piece of the overlaid trace; stage(name) is told what the work does. It returns JSON: the answer, or {"error": text}.
package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall/js"
)

func main() {
	runtime.GOMAXPROCS(1)
	js.Global().Set("overlayAnalyse", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return answerTo(args[0].String(), args[1], args[2], args[3])
	}))
	select {} // the function stays callable
}

// answerTo does what a request asks for. A panic is a bug of ours, and said to be one.
func answerTo(text string, read, write, stage js.Value) (result string) {
	defer func() {
		if bug := recover(); bug != nil {
			result = failure(fmt.Sprintf("%v; this is a bug in overlay, please report it with these lines\n%s", bug, debug.Stack()))
		}
	}()
	var q request
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		return failure("the page sent a broken request: " + err.Error())
	}
	out := &pieces{write: write}
	a, err := analyse(q, &file{read}, out, func(name string) { stage.Invoke(name) })
	if err != nil {
		return failure(err.Error())
	}
	out.flush()
	b, err := json.Marshal(a)
	if err != nil {
		return failure(err.Error())
	}
	return string(b)
}

func failure(text string) string {
	b, _ := json.Marshal(map[string]string{"error": text})
	return string(b)
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
