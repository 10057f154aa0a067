package chromejson

import (
	"strings"
	"sync/atomic"

	"overlay/internal/chrome"
	"overlay/internal/overlay"
	"overlay/internal/trace"
)

// atomicCount is a counter of the workers.
type atomicCount = atomic.Int64

const (
	countEvents = iota
	countLost
	countRenumbered
	countReencoded
	eventCounts
)

// findRows learns the pids and tids of all events that are written.
func (w *writer) findRows() {
	w.rows = chrome.NewThreads()
	var t tokens
	for i := range w.tr.Events {
		if w.kept(i) {
			w.rows.Add(t.of(w, trace.EventID(i), nil))
		}
	}
}

// tokens is room for those of an event.
type tokens struct{ room, raw []byte }

// of returns the pid and tid of an event as written, until it is asked again. The tid is nil where it means nothing: in names of
// processes, counters and asynchronous events, mostly written as 0. raw is the text of the event, nil where it is not known.
func (t *tokens) of(w *writer, id trace.EventID, raw []byte) (pid, tid []byte) {
	var ok bool
	if t.room, pid, tid, ok = w.text.Row(t.room[:0], id); !ok {
		if raw == nil {
			t.raw, _ = w.text.Append(t.raw[:0], id)
			raw = t.raw
		}
		if len(raw) == 0 || raw[0] != '{' {
			return nil, nil
		}
		pid, tid = chrome.Tokens(raw)
	}
	e := &w.tr.Events[id]
	switch e.Ph {
	case 'X', 'B', 'E', 'i', 'I', 'R', 's', 't', 'f':
		return pid, tid
	case 'M':
		if strings.HasPrefix(w.tr.Str(e.Name), "thread_") {
			return pid, tid
		}
	}
	return pid, nil
}

// nameRows finds the written row of each track, names rows with new numbers after their old ones, and devices after
// their model: viewers show no labels of processes.
func (w *writer) nameRows() {
	tr := w.tr
	w.rowOf = make([]*chrome.Thread, len(tr.Tracks))
	procRow := make([]*chrome.Thread, len(tr.Procs))
	shared := map[int64]bool{} // pid of a host process with threads
	for t := range tr.Tracks {
		k := &tr.Tracks[t]
		row := w.rows.Find([]byte(tr.Str(tr.Procs[k.Proc].PID.Raw)), []byte(tr.Str(k.TID.Raw)))
		w.rowOf[t] = row
		if row == nil {
			continue
		}
		procRow[k.Proc] = row
		if k.Class == trace.HostThread {
			shared[row.PID] = true
		}
	}
	renamed := map[[2]int64]bool{}
	for p := range tr.Procs {
		row, proc := procRow[p], &tr.Procs[p]
		switch {
		case row == nil:
		case row.NewPID && !renamed[[2]int64{row.PID, -1}]:
			renamed[[2]int64{row.PID, -1}] = true
			w.names = append(w.names, chrome.Meta{Kind: "process_name", PID: row.PID, Args: nameArg(oldName(proc.Name, "pid", row.PIDText))})
		case proc.IsDevice && !shared[row.PID]:
			w.names = append(w.names, chrome.Meta{Kind: "process_name", Category: overlay.CategorySummary, PID: row.PID, Args: nameArg(tr.DeviceName(proc))})
		}
	}
	for t := range tr.Tracks {
		if row := w.rowOf[t]; row != nil && row.NewTID && !renamed[[2]int64{row.PID, row.TID}] {
			renamed[[2]int64{row.PID, row.TID}] = true
			w.names = append(w.names, chrome.Meta{Kind: "thread_name", PID: row.PID, TID: row.TID, Args: nameArg(oldName(tr.Tracks[t].Name, "tid", row.TIDText))})
		}
	}
}

// oldName keeps the number or text that a row had.
func oldName(name, what, text string) string {
	name = strings.TrimSpace(name)
	switch {
	case name == "" && text == "":
		return "(no " + what + ")"
	case name == "" && strings.Trim(text, "-0123456789") != "":
		return text
	case name == "":
		return what + " " + text
	case strings.Contains(name, text):
		return name
	}
	return name + " (" + what + " " + text + ")"
}

func nameArg(name string) []chrome.Arg { return []chrome.Arg{{Key: "name", Str: name, IsStr: true}} }
