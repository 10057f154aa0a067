package chrome

import (
	"bytes"
	"strconv"
)

// Threads knows the pid and tid tokens of a trace and finds numbers for those that viewers fold onto other rows.
// Perfetto takes numbers from 0 to 2^32-1; every other number becomes 0, tid 0 of another pid becomes that pid, and
// a string becomes the number of an internal table (json_trace_tokenizer.cc). Tokens that say the same number, 7 and
// "7", are one row.
type Threads struct {
	rows  map[threadKey]*Thread
	order []*Thread
	used  map[int64]bool
	free  int64 // all made-up numbers below it are used

	lastPID, lastTID []byte // copies of the tokens seen last: neighbours in a file are mostly of one row
	lastThread       bool   // there was a lastTID
}

// threadKey is a pid and tid without their spelling.
type threadKey struct {
	pid, tid string
	whole    bool // no tid: events of a whole process
}

func keyOf(pid, tid []byte) threadKey {
	return threadKey{string(unquote(pid)), string(unquote(tid)), tid == nil}
}

// Thread is one pair of pid and tid.
type Thread struct {
	PIDText, TIDText string // as written, without quotes
	Whole            bool   // the whole process: there is no tid
	PID, TID         int64  // as they have to be written
	NewPID, NewTID   bool   // not the number that stood there
}

// NewThreads returns an empty table.
func NewThreads() *Threads {
	return &Threads{rows: map[threadKey]*Thread{}, used: map[int64]bool{}, free: firstFree + 1}
}

// Tokens returns the values of pid and tid of an event; nil where there is none.
func Tokens(raw []byte) (pid, tid []byte) {
	for i := 1; pid == nil || tid == nil; {
		m, ok := NextMember(raw, i)
		if !ok {
			break
		}
		switch string(m.Key) {
		case "pid":
			pid = raw[m.At:m.End]
		case "tid":
			tid = raw[m.At:m.End]
		}
		i = m.End
	}
	return pid, tid
}

// Add learns the tokens of an event, and keeps neither; tid is nil for one of a whole process. Events without a pid are no row.
func (r *Threads) Add(pid, tid []byte) {
	if pid == nil || bytes.Equal(pid, r.lastPID) && bytes.Equal(tid, r.lastTID) && (tid != nil) == r.lastThread {
		return
	}
	r.lastPID, r.lastTID, r.lastThread = append(r.lastPID[:0], pid...), append(r.lastTID[:0], tid...), tid != nil
	k := keyOf(pid, tid)
	if r.rows[k] != nil {
		return
	}
	row := &Thread{PIDText: k.pid, TIDText: k.tid, Whole: k.whole}
	r.rows[k] = row
	r.order = append(r.order, row)
	for _, s := range []string{k.pid, k.tid} {
		if n, ok := plain(s); ok {
			r.used[n] = true
		}
	}
}

// Assign gives every row its numbers: its own where a viewer keeps them, else ones that are free in the file.
func (r *Threads) Assign() {
	pids := map[string]int64{}
	for _, row := range r.order {
		n, ok := plain(row.PIDText)
		if !ok {
			row.NewPID = true
			if n, ok = pids[row.PIDText]; !ok {
				n = r.Free()
				pids[row.PIDText] = n
			}
		}
		row.PID = n
		if row.Whole {
			continue
		}
		if row.TID, ok = plain(row.TIDText); !ok || row.TID == 0 && row.PID != 0 {
			row.TID, row.NewTID = r.near(row), true
		}
	}
}

// firstFree is where made-up numbers start: above streams, devices and most threads.
const firstFree = 1_000_000

// near returns a tid for a text: the number that it ends in, as in "stream 7", where that is no row of the process.
func (r *Threads) near(row *Thread) int64 {
	text := row.TIDText
	digits := len(text)
	for digits > 0 && text[digits-1] >= '0' && text[digits-1] <= '9' {
		digits--
	}
	n, ok := plain(text[digits:])
	if !ok || digits == 0 || text[digits-1] != ' ' || n == 0 || n == row.PID || r.rows[threadKey{pid: row.PIDText, tid: text[digits:]}] != nil {
		return r.Free()
	}
	return n
}

// Free returns a number that is no pid and no tid of the file, a new one each time.
func (r *Threads) Free() int64 {
	for r.used[r.free] {
		r.free++
	}
	r.used[r.free] = true
	return r.free
}

// Find returns the row of an event's tokens; nil for an event without a pid.
func (r *Threads) Find(pid, tid []byte) *Thread {
	if pid == nil {
		return nil
	}
	return r.rows[threadKey{string(unquote(pid)), string(unquote(tid)), tid == nil}] // without a copy
}

// Edit sets the tokens of an event that have to change, and reports whether there are any.
func (w *Thread) Edit(e *Edit, pid, tid []byte) bool {
	if needs(pid, w.PID) {
		e.PID = strconv.AppendInt(nil, w.PID, 10)
	}
	if !w.Whole && needs(tid, w.TID) {
		e.TID = strconv.AppendInt(nil, w.TID, 10)
	}
	return e.PID != nil || e.TID != nil
}

// needs reports whether a token is not the number.
func needs(token []byte, n int64) bool {
	var buf [20]byte
	return !bytes.Equal(token, strconv.AppendInt(buf[:0], n, 10))
}

// plain is the number of a token that viewers keep.
func plain(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && n < 1<<32
}

func unquote(b []byte) []byte {
	if len(b) >= 2 && b[0] == '"' {
		return b[1 : len(b)-1]
	}
	return b
}
