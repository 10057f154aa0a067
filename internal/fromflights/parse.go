// Package fromflights reads what PyTorch's flight recorder has kept of the collectives of a rank.
//
// A dump is what torch._C._distributed_c10d._dump_nccl_trace gives, a pickle, or its sister for JSON; the watchdog writes it to
// $TORCH_NCCL_DEBUG_INFO_TEMP_FILE and the rank when a collective takes too long. Its form is that of torch/csrc/distributed/c10d/FlightRecorder*.hpp (versions 2.0 to 2.10):
// pg_config has the members of each group, entries has the last collectives by their order, with state, sizes, types, the time of the call,
// and, where TORCH_NCCL_ENABLE_TIMING is set, how long the kernels ran. JSON has no frames, and 0 for a time that a pickle leaves out. A pickle becomes JSON first;
// nothing of it is executed.
package fromflights

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/flights"
	"overlay/internal/unpickle"
)

// MostBytes is how large a dump may be: a ring of 20,000 collectives takes less than a fifth.
const MostBytes = 128 << 20

// dump is a dump as PyTorch writes it.
type dump struct {
	Version string `json:"version"`
	Config  map[string]struct {
		Desc  string `json:"desc"`
		Ranks string `json:"ranks"` // as [0, 1]
	} `json:"pg_config"`
	Entries []entry `json:"entries"`
}

type entry struct {
	Name     string    `json:"profiling_name"` // backend:collective
	Seq      *int64    `json:"collective_seq_id"`
	Single   bool      `json:"is_p2p"`
	State    string    `json:"state"`
	Duration *float64  `json:"duration_ms"`
	Group    []string  `json:"process_group"` // name, description
	In       [][]int64 `json:"input_sizes"`
	Out      [][]int64 `json:"output_sizes"`
	Types    []string  `json:"input_dtypes"`
	Frames   []struct {
		Name string `json:"name"`
		File string `json:"filename"`
		Line int64  `json:"line"`
	} `json:"frames"`
}

// Is tells a dump by its first bytes.
func Is(head []byte) bool {
	head = head[:min(len(head), 4096)]
	if len(head) > 2 && head[0] == 0x80 && head[1] <= 5 && (head[2] == '}' || head[2] == 0x95) {
		return bytes.Contains(head, []byte("pg_config")) // other programs keep other things in pickles
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(text, []byte("{")) {
		return false
	}
	for _, key := range [...]string{"traceEvents", "schemaVersion", "distributedInfo", "deviceProperties"} { // Kineto's traces may list groups, too
		if bytes.Contains(text, []byte(`"`+key+`"`)) {
			return false
		}
	}
	_, config, _ := bytes.Cut(text, []byte(`"pg_config"`))
	return bytes.Contains(text, []byte(`"collective_seq_id"`)) || bytes.HasPrefix(bytes.TrimLeft(config, " \t\r\n:"), []byte("{"))
}

// RankOf is the rank in the name of a dump: the digits at its end, as in nccl_trace_rank_7 or nccl_trace_rank_node02_7.json.
func RankOf(name string) (int32, bool) {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".json"), ".pickle"), ".pkl")
	digits := name[len(strings.TrimRight(name, "0123456789")):]
	n, err := strconv.ParseInt(digits, 10, 32)
	return int32(n), err == nil
}

// Parse reads a dump.
func Parse(src []byte, rank int32) (*flights.Dump, error) {
	if len(src) > MostBytes {
		return nil, fmt.Errorf("%d bytes, and a dump of a flight recorder has at most %d", len(src), int64(MostBytes))
	}
	var err error
	if len(src) > 0 && src[0] == 0x80 {
		v, err := unpickle.Value(src)
		if err != nil {
			return nil, err
		}
		if src, err = toJSON(nil, v, 0, 1<<20+16*len(src)); err != nil {
			return nil, err
		}
	}
	var in dump
	err = json.NewDecoder(bytes.NewReader(src)).Decode(&in)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return nil, fmt.Errorf("%s is a %s: expected a dump of PyTorch's flight recorder of version 2.0 or later", cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	if err != nil {
		return nil, err
	}
	if in.Config == nil {
		return nil, errors.New("no pg_config: expected a dump of PyTorch's flight recorder of version 2.0 or later")
	}
	d := &flights.Dump{Rank: rank, Version: in.Version}
	for name, g := range in.Config {
		var ranks []int32
		if err := json.Unmarshal([]byte(g.Ranks), &ranks); err != nil || slices.ContainsFunc(ranks, func(n int32) bool { return n < 0 }) {
			return nil, fmt.Errorf("group %q: ranks %q is no list of ranks", name, g.Ranks)
		}
		slices.Sort(ranks)
		d.Groups = append(d.Groups, flights.Group{Name: name, Desc: g.Desc, Ranks: slices.Compact(ranks)})
	}
	slices.SortFunc(d.Groups, func(a, b flights.Group) int { return cmp.Compare(a.Name, b.Name) })
	for i := range in.Entries {
		c, err := in.Entries[i].call(d.Groups)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		d.Calls = append(d.Calls, c)
	}
	return d, nil
}

// mostDeep is how far values of a pickle lie in each other.
const mostDeep = 64

// toJSON appends a value of a pickle, up to so many bytes: what it refers to again and again would be longer than any memory.
func toJSON(to []byte, v any, deep, most int) (_ []byte, err error) {
	if len(to) > most || deep > mostDeep {
		return nil, errors.New("it refers to the same values again and again")
	}
	switch v := v.(type) {
	case *unpickle.List:
		to = append(to, '[')
		for i, x := range v.Items {
			if i > 0 {
				to = append(to, ',')
			}
			if to, err = toJSON(to, x, deep+1, most); err != nil {
				return nil, err
			}
		}
		return append(to, ']'), nil
	case map[string]any:
		to = append(to, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				to = append(to, ',')
			}
			name, _ := json.Marshal(key)
			if to, err = toJSON(append(append(to, name...), ':'), v[key], deep+1, most); err != nil {
				return nil, err
			}
		}
		return append(to, '}'), nil
	}
	text, err := json.Marshal(v)
	if err != nil { // a number that is none
		text = []byte("null")
	}
	return append(to, text...), nil
}

func (e *entry) call(groups []flights.Group) (flights.Call, error) {
	c := flights.Call{Name: e.Name, Group: -1, Duration: -1, Done: e.State == "completed", Sizes: shapes(e.In), Types: strings.Join(slices.Compact(e.Types), ", "), Frame: e.frame()}
	if c.Name == "" {
		return c, errors.New("no profiling_name")
	}
	if e.Seq == nil {
		return c, errors.New("no collective_seq_id: expected a dump of version 2.0 or later")
	}
	c.Seq = *e.Seq
	if _, name, ok := strings.Cut(c.Name, ":"); ok { // behind the backend
		c.Name = name
	}
	c.Single = e.Single || strings.HasPrefix(c.Name, "send ") || strings.HasPrefix(c.Name, "recv ")
	if ms := e.Duration; ms != nil && *ms > 0 && *ms < 1e12 {
		c.Duration = int64(*ms*1e6 + 0.5)
	}
	if len(e.Group) > 0 {
		if at, ok := slices.BinarySearchFunc(groups, e.Group[0], func(g flights.Group, name string) int { return cmp.Compare(g.Name, name) }); ok {
			c.Group = int32(at)
		}
	}
	if out := shapes(e.Out); out != c.Sizes {
		c.Sizes += " → " + out
	}
	return c, nil
}

// shapes writes lists of sizes as 3×4, 8.
func shapes(list [][]int64) string {
	var b []byte
	for i, shape := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		for k, n := range shape {
			if k > 0 {
				b = append(b, "×"...)
			}
			b = strconv.AppendInt(b, n, 10)
		}
	}
	return string(b)
}

// frame is the innermost Python frame outside of torch, or the innermost of all.
func (e *entry) frame() (first string) {
	for _, f := range e.Frames {
		if !strings.Contains(f.File, ".py") {
			continue
		}
		s := f.Name + " " + f.File[strings.LastIndexByte(f.File, '/')+1:] + ":" + strconv.FormatInt(f.Line, 10)
		if !strings.Contains(f.File, "/torch/") && !strings.HasPrefix(f.File, "torch/") {
			return s
		}
		first = cmp.Or(first, s)
	}
	return first
}
