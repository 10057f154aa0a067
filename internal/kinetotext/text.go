// Package kinetotext writes events as the text of a Kineto trace, for readers of other formats: package kineto reads it.
package kinetotext

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"overlay/internal/chrome"
	"overlay/internal/kineto"
	"overlay/internal/limits"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Writer writes events as text, a part at a time: Head, then each event from Slice, Instant or Name to End, then Parse.
type Writer struct {
	to   *kineto.Sink
	buf  []byte
	some bool // an event was written
	args int
	err  error
}

const partSize = 1 << 20

// NewWriter writes to a sink.
func NewWriter(to *kineto.Sink) *Writer { return &Writer{to: to} }

// Took says that a record of n bytes was read: what is written of it may be long, since records refer to names.
func (w *Writer) Took(n int) { w.to.Allow(int64(n) * limits.Records) }

// Hold counts bytes that the reader keeps of the input. The error is also that of what was written before.
func (w *Writer) Hold(n int64) error {
	if w.err == nil {
		w.err = w.to.Make(n)
	}
	return w.err
}

// Head begins the text: see AppendHead.
func (w *Writer) Head(base, rank int64, devices []Device) {
	w.buf = AppendHead(w.buf, base, rank, devices)
}

// AppendHead appends what stands before the events of a text. base is the Unix time of time stamp 0, 0 when it is not known; rank that in
// the job, else -1.
func AppendHead(b []byte, base, rank int64, devices []Device) []byte {
	b = append(b, `{"schemaVersion":1,"displayTimeUnit":"ns"`...)
	if base != 0 {
		b = strconv.AppendInt(append(b, `,"baseTimeNanoseconds":`...), base, 10)
	}
	if rank >= 0 {
		b = append(strconv.AppendInt(append(b, `,"distributedInfo":{"rank":`...), rank, 10), '}')
	}
	for i, d := range devices {
		if i == 0 {
			b = append(b, `,"deviceProperties":[`...)
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"id":`...), d.ID, 10)
		b = append(chrome.AppendString(append(b, `,"name":`...), d.Name), '}')
		if i == len(devices)-1 {
			b = append(b, ']')
		}
	}
	return append(b, `,"traceEvents":[`...)
}

// Device is a GPU.
type Device struct {
	ID   int64
	Name string
}

// Slice begins a complete event; args may follow, then end.
func (w *Writer) Slice(category, name string, pid, tid, start, end int64) {
	w.begin("X", category, name, pid, tid)
	w.buf = chrome.AppendMicros(append(w.buf, `,"ts":`...), start)
	w.buf = chrome.AppendMicros(append(w.buf, `,"dur":`...), max(end-start, 0))
}

// Instant begins an event without length.
func (w *Writer) Instant(category, name string, pid, tid, ts int64) {
	w.begin("i", category, name, pid, tid)
	w.buf = append(chrome.AppendMicros(append(w.buf, `,"ts":`...), ts), `,"s":"t"`...)
}

func (w *Writer) begin(ph, category, name string, pid, tid int64) {
	if w.some {
		w.buf = append(w.buf, ',')
	}
	w.some, w.args = true, 0
	w.buf = append(append(append(w.buf, "\n{\"ph\":\""...), ph...), `","name":`...)
	w.text(name)
	if category != "" {
		w.buf = append(w.buf, `,"cat":`...)
		w.text(category)
	}
	w.buf = strconv.AppendInt(append(w.buf, `,"pid":`...), pid, 10)
	w.buf = strconv.AppendInt(append(w.buf, `,"tid":`...), tid, 10)
}

// text appends a string. Long ones go out at once, and none is made where the sink takes no more.
func (w *Writer) text(s string) {
	if len(w.buf)+len(s) > partSize {
		w.flush()
	}
	if w.err == nil {
		w.buf = chrome.AppendString(w.buf, s)
	}
}

func (w *Writer) key(key string) {
	if w.args == 0 {
		w.buf = append(w.buf, `,"args":{`...)
	} else {
		w.buf = append(w.buf, ',')
	}
	w.args++
	w.text(key)
	w.buf = append(w.buf, ':')
}

// Int adds a number to the args.
func (w *Writer) Int(key string, v int64) {
	w.key(key)
	w.buf = strconv.AppendInt(w.buf, v, 10)
}

// Str adds a text to the args.
func (w *Writer) Str(key, v string) {
	w.key(key)
	w.text(v)
}

// Float adds a number with a fraction to the args; what JSON has no word for becomes a text.
func (w *Writer) Float(key string, v float64) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		w.Str(key, fmt.Sprint(v))
		return
	}
	w.key(key)
	w.buf = strconv.AppendFloat(w.buf, v, 'g', -1, 64)
}

// Three appends an array of three numbers: a grid, a block.
func (w *Writer) Three(key string, x, y, z int64) {
	w.key(key)
	for i, v := range []int64{x, y, z} {
		w.buf = strconv.AppendInt(append(w.buf, "[,,"[i]), v, 10)
	}
	w.buf = append(w.buf, ']')
}

// End ends an event.
func (w *Writer) End() {
	if w.args > 0 {
		w.buf = append(w.buf, '}')
	}
	w.buf = append(w.buf, '}')
	if len(w.buf) >= partSize {
		w.flush()
	}
}

func (w *Writer) flush() {
	if w.err == nil {
		_, w.err = w.to.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

// Name names a process or a thread.
func (w *Writer) Name(what string, pid, tid int64, key, name string) {
	w.begin("M", "", what, pid, tid)
	w.Str(key, name)
	w.End()
}

// Close ends the text.
func (w *Writer) Close() error {
	w.buf = append(w.buf, "\n]}\n"...)
	w.flush()
	return w.err
}

// Parse ends the text and reads it. size is the bytes of the file of another format, form what that file is, for people.
func (w *Writer) Parse(name string, form vendors.Form, size int64, o kineto.Options) (*trace.Trace, error) {
	err := w.Close()
	var text []byte
	if err == nil {
		text, err = w.to.Bytes()
	}
	if much := (*limits.TooMuch)(nil); errors.As(err, &much) {
		return nil, kineto.TooMuch(name, much)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return kineto.Parse(text, name, kineto.Options{Strict: o.Strict, From: size, Form: form, Lend: o.Lend})
}

// Range begins a slice of a range that the program pushed; args may follow, then End. torch.autograd.profiler.emit_nvtx makes ranges of all
// that PyTorch records ("aten::mm, seq = 4, op_id = 3"): operators, and what the program names.
func (w *Writer) Range(category, text string, pid, tid, start, end int64) {
	name, rest, seq := text, "", int64(-1)
	for _, mark := range []string{", op_id = ", ", seq = ", ", sizes = "} {
		if i := strings.Index(name, mark); i > 0 {
			name, rest = text[:i], text[i:]
		}
	}
	if _, after, ok := strings.Cut(rest, ", seq = "); ok {
		digits, _, _ := strings.Cut(after, ",")
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			seq = n
		}
	}
	space, _, ok := strings.Cut(name, "::")
	switch {
	case rest != "" && !strings.ContainsAny(name, " (#") && (ok || !strings.Contains(name, ":")):
		category = "cpu_op"
	case ok && space != "" && !strings.ContainsAny(space, " (<") && (rest != "" || !strings.Contains(name, " ")):
		category = "cpu_op"
	}
	w.Slice(category, name, pid, tid, start, end)
	if seq >= 0 {
		w.Int("Sequence number", seq)
	}
	if name != text {
		w.Str("range", text)
	}
}
