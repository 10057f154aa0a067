// Package importer reads Chrome JSON the way Perfetto's trace processor does (v58: json_trace_tokenizer.cc,
// json_trace_parser.cc, slice_tracker.cc, flow_tracker.cc), as the judge of what our output looks like there: which
// row a slice lands on, what is moved or dropped, which slices an arrow joins. It shares no code with the writer.
package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	jsoniter "github.com/json-iterator/go"
)

// Slice is a slice in the viewer's table. Event is the position of its (first) event in the list.
type Slice struct {
	PID, TID int64 // as the viewer sees them; -1 on tracks without a thread
	Name     string
	Category string
	TS, Dur  int64 // ns; Dur is -1 where the slice was never closed
	Depth    int
	Event    int
	Spilled  bool // moved to an overflow row because it overlaps
	Instant  bool
}

// Flow is an arrow between two slices (indexes), from the one that begins first to the other.
type Flow struct {
	Out, In  int
	Category string
	Name     string
	ID       string
}

// ThreadID is a pid and tid as the viewer sees them.
type ThreadID struct{ PID, TID int64 }

// Result is the content of the viewer's tables.
type Result struct {
	Slices    []Slice
	Flows     []Flow
	Counters  int
	Processes map[int64]string // names by pid
	Threads   map[ThreadID]string
	Order     map[int64]int64 // process_sort_index
	Metadata  map[string]json.RawMessage
	Events    []json.RawMessage // the elements of the list
	Stats     map[string]int    // errors and drops, by the names of the viewer's stats table
}

// Errors are the stats that lose or bend something.
func (r *Result) Errors() map[string]int {
	out := map[string]int{}
	for k, n := range r.Stats {
		if k != "flow_end_without_start" && k != "flow_step_without_start" && n > 0 {
			out[k] = n
		}
	}
	return out
}

// Import reads a trace. The error is what makes the viewer refuse the whole file.
func Import(src []byte) (*Result, error) {
	im := &importer{r: &Result{Processes: map[int64]string{}, Threads: map[ThreadID]string{}, Order: map[int64]int64{}, Stats: map[string]int{}},
		pool: map[string]int64{}, tracks: map[any]*track{}, flows: map[flowKey]int{}, members: map[string]json.RawMessage{}}
	if err := im.document(src); err != nil {
		return nil, err
	}
	for i, raw := range im.r.Events {
		if err := im.tokenize(i, raw); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
	}
	im.sort()
	for i := range im.queue {
		im.parse(&im.queue[i])
	}
	return im.r, nil
}

// document finds the list of events.
func (im *importer) document(src []byte) error {
	start := strings.Join(strings.Fields(string(src[:min(len(src), 128)])), "")
	if !strings.HasPrefix(start, `{"`) && !strings.HasPrefix(start, `[{"`) {
		return fmt.Errorf("not recognised as JSON trace: starts with %.20q", start)
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	if tok == json.Delim('[') {
		err := im.list(dec)
		if err == io.EOF || err == io.ErrUnexpectedEOF { // a list needs no end
			err = nil
		}
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if key == "traceEvents" {
			if tok, err = dec.Token(); err != nil || tok != json.Delim('[') {
				return fmt.Errorf("traceEvents is no list: %v", err)
			}
			if err := im.list(dec); err != nil {
				return err
			}
			if _, err := dec.Token(); err != nil {
				return err
			}
			continue
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return err
		}
		if key == "metadata" {
			if err := json.Unmarshal(v, &im.r.Metadata); err != nil {
				return err
			}
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("JSON trace file is incomplete: %w", err)
	}
	return nil
}

func (im *importer) list(dec *json.Decoder) error {
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		im.r.Events = append(im.r.Events, raw)
	}
	return nil
}

// event is a tokenized event that waits for its turn.
type event struct {
	ph        byte
	ts, dur   int64
	pos       int
	pid, tid  int64
	cat, name string
	id        json.RawMessage
	scope     string
	bindEnd   bool
	args      json.RawMessage
}

type importer struct {
	r      *Result
	pool   map[string]int64 // strings as pids and tids
	queue  []event
	tracks map[any]*track
	flows  map[flowKey]int // live flows: their slice

	members map[string]json.RawMessage // of the event that is read
}

func (im *importer) stat(name string) { im.r.Stats[name]++ }

func (im *importer) tokenize(pos int, raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] != '{' {
		im.stat("json_tokenizer_failure")
		return nil
	}
	f, err := im.split(raw)
	if err != nil {
		return err
	}
	ph := written(f["ph"])
	if ph == "" {
		if string(bytes.TrimSpace(raw)) != "{}" {
			im.stat("json_tokenizer_failure")
		}
		return nil
	}
	e := event{ph: ph[0], pos: pos, id: f["id"], args: f["args"]}
	e.cat, e.name, e.scope = written(f["cat"]), written(f["name"]), written(f["s"])
	e.bindEnd = written(f["bp"]) == "e"
	ts, ok := nanos(f["ts"])
	if !ok && e.ph != 'M' {
		im.stat("json_tokenizer_failure")
		return nil
	}
	e.ts = ts
	if len(f["dur"]) > 0 {
		if e.dur, ok = nanos(f["dur"]); !ok {
			return fmt.Errorf("JSON trace file is incomplete: dur is %s", f["dur"])
		}
	} else if e.ph == 'X' {
		im.stat("json_parser_failure")
		return nil
	}
	var pidName, tidName string
	e.pid, pidName = im.rowID(f["pid"])
	e.tid, tidName = im.rowID(f["tid"])
	if e.tid == 0 && e.pid != 0 {
		e.tid = e.pid
	}
	if pidName != "" {
		im.r.Processes[e.pid] = pidName
	}
	if tidName != "" {
		im.r.Threads[ThreadID{e.pid, e.tid}] = tidName
	}
	im.queue = append(im.queue, e)
	return nil
}

// split reads the members of an event, which is valid JSON, as written; of a key that stands there twice the last.
// encoding/json would look at each byte three times.
func (im *importer) split(raw []byte) (map[string]json.RawMessage, error) {
	clear(im.members)
	it := jsoniter.ParseBytes(jsoniter.ConfigDefault, raw)
	it.ReadObjectCB(func(it *jsoniter.Iterator, key string) bool {
		im.members[key] = bytes.TrimSpace(it.SkipAndReturnBytes())
		return true
	})
	if it.Error != nil && it.Error != io.EOF {
		return nil, it.Error
	}
	return im.members, nil
}

// written is a string, "" for everything else.
func written(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	for _, c := range raw {
		if c == '\\' || c >= utf8.RuneSelf {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return ""
			}
			return s
		}
	}
	return string(raw[1 : len(raw)-1])
}

// rowID is a pid or tid as the viewer sees it.
func (im *importer) rowID(raw json.RawMessage) (id int64, name string) {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return 0, ""
		}
		if im.pool[s] == 0 {
			im.pool[s] = int64(len(im.pool) + 1)
		}
		return im.pool[s], s
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || v < 0 || v > math.MaxUint32 {
		return 0, ""
	}
	return int64(v), ""
}

// nanos reads a time: integers are exact, everything else goes through a double.
func nanos(raw json.RawMessage) (int64, bool) {
	s := string(raw)
	if len(s) > 0 && s[0] == '"' {
		if json.Unmarshal(raw, &s) != nil {
			return 0, false
		}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n * 1000, true
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return int64(v) * 1000, true
	}
	return int64(math.Round(v * 1000)), true
}
