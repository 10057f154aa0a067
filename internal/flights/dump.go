// Package flights reads what PyTorch's flight recorder has kept of the collectives of each rank, and says who did not arrive and who was late.
// It knows no files.
//
// A dump is what torch._C._distributed_c10d._dump_nccl_trace gives, a pickle, or its sister for JSON; the watchdog writes it to
// $TORCH_NCCL_DEBUG_INFO_TEMP_FILE and the rank when a collective takes too long. Its form is that of torch/csrc/distributed/c10d/FlightRecorder*.hpp (versions 2.0 to 2.10):
// pg_config has the members of each group, entries has the last collectives by their order, with state, sizes, types, the time of the call,
// and, where TORCH_NCCL_ENABLE_TIMING is set, how long the kernels ran. JSON has no frames, and 0 for a time that a pickle leaves out.
//
// # Who is missing
//
// Of each group, the first collective that some member has called and that has not ended: who has not called it is missing. The ring of a rank holds its last calls,
// so what lies before the first one that it still holds is not known, and taken as done. A rank that is missing in one group often waits in
// another for somebody else: those that wait for nobody are named first.
//
// # Who is late
//
// The kernels of a collective end together, and each begins when its rank arrives: the one that ran for the shortest time came last, by the difference.
// No clock is compared. The calls themselves say little, because the host runs ahead of its device.
package flights

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MostBytes is how large a dump may be: a ring of 20,000 collectives takes less than a fifth.
const MostBytes = 128 << 20

// Dump is what a rank has recorded.
type Dump struct {
	Rank    int32
	Version string
	Groups  []Group
	Calls   []Call // in the order of the calls
}

// Group is a process group of which the rank is a member.
type Group struct {
	Name, Desc string
	Ranks      []int32 // ascending
}

// Call is a call of a collective, or of a send or receive.
type Call struct {
	Group    int32 // of Dump.Groups, -1 where the dump has none of its name
	Seq      int64 // number of the collective in its group; of sends and receives that of the collective before
	Single   bool  // it is a send or a receive
	Name     string
	Sizes    string // input → output
	Types    string
	Done     bool
	Duration int64 // of its kernel, ns; -1 where it was not measured
	Frame    string
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
func Parse(src []byte, rank int32) (*Dump, error) {
	if len(src) > MostBytes {
		return nil, fmt.Errorf("%d bytes, and a dump of a flight recorder has at most %d", len(src), int64(MostBytes))
	}
	var v any
	var err error
	if len(src) > 0 && src[0] == 0x80 {
		v, err = unpickle(src)
	} else {
		d := json.NewDecoder(bytes.NewReader(src))
		d.UseNumber()
		err = d.Decode(&v)
	}
	if err != nil {
		return nil, err
	}
	r := &reader{d: &Dump{Rank: rank}, room: 1<<20 + 16*len(src)}
	if err := r.dump(v); err != nil {
		return nil, err
	}
	return r.d, nil
}

// reader turns values into a dump. Those of a pickle may be referred to often: room is how many may be looked at.
type reader struct {
	d    *Dump
	room int
}

var errRoom = errors.New("it refers to the same values again and again")

func items(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case *list:
		return v.items
	}
	return nil
}

func (r *reader) dump(v any) error {
	top, ok := v.(map[string]any)
	if _, has := top["pg_config"]; !ok || !has {
		return errors.New("no pg_config: expected a dump of PyTorch's flight recorder of version 2.0 or later")
	}
	r.d.Version = text(top["version"])
	config, _ := top["pg_config"].(map[string]any)
	for name, v := range config {
		g, _ := v.(map[string]any)
		var ranks []int32
		if err := json.Unmarshal([]byte(text(g["ranks"])), &ranks); err != nil || slices.ContainsFunc(ranks, func(n int32) bool { return n < 0 }) {
			return fmt.Errorf("group %q: ranks %q is no list of ranks", name, text(g["ranks"]))
		}
		if r.room -= len(ranks); r.room < 0 {
			return errRoom
		}
		slices.Sort(ranks)
		r.d.Groups = append(r.d.Groups, Group{name, text(g["desc"]), slices.Compact(ranks)})
	}
	slices.SortFunc(r.d.Groups, func(a, b Group) int { return cmp.Compare(a.Name, b.Name) })
	for i, v := range items(top["entries"]) {
		e, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("entry %d is no dict", i)
		}
		if err := r.call(e); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return nil
}

func (r *reader) call(e map[string]any) error {
	c := Call{Duration: -1, Done: text(e["state"]) == "completed"}
	if c.Name = text(e["profiling_name"]); c.Name == "" {
		return errors.New("no profiling_name")
	}
	if _, name, ok := strings.Cut(c.Name, ":"); ok { // behind the backend
		c.Name = name
	}
	seq, ok := number(e["collective_seq_id"])
	if !ok {
		return errors.New("no collective_seq_id: expected a dump of version 2.0 or later")
	}
	c.Seq = int64(seq)
	c.Single, _ = e["is_p2p"].(bool)
	c.Single = c.Single || strings.HasPrefix(c.Name, "send ") || strings.HasPrefix(c.Name, "recv ")
	if ms, ok := number(e["duration_ms"]); ok && ms >= 0 && ms < 1e12 {
		c.Duration = int64(ms*1e6 + 0.5)
	}
	c.Group = -1
	if pg := items(e["process_group"]); len(pg) > 0 {
		at, ok := slices.BinarySearchFunc(r.d.Groups, text(pg[0]), func(g Group, name string) int { return cmp.Compare(g.Name, name) })
		if ok {
			c.Group = int32(at)
		}
	}
	var err error
	if c.Sizes, err = r.shapes(e["input_sizes"]); err != nil {
		return err
	}
	out, err := r.shapes(e["output_sizes"])
	if err != nil {
		return err
	}
	if out != c.Sizes {
		c.Sizes += " → " + out
	}
	if c.Types, err = r.words(e["input_dtypes"]); err != nil {
		return err
	}
	if c.Frame, err = r.frame(e["frames"]); err != nil {
		return err
	}
	r.d.Calls = append(r.d.Calls, c)
	return nil
}

// shapes writes lists of sizes as 3×4, 8.
func (r *reader) shapes(v any) (string, error) {
	var b strings.Builder
	for i, shape := range items(v) {
		if i > 0 {
			b.WriteString(", ")
		}
		for k, n := range items(shape) {
			if r.room--; r.room < 0 {
				return "", errRoom
			}
			if k > 0 {
				b.WriteString("×")
			}
			x, _ := number(n)
			b.WriteString(strconv.FormatInt(int64(x), 10))
		}
		if r.room--; r.room < 0 {
			return "", errRoom
		}
	}
	return b.String(), nil
}

func (r *reader) words(v any) (string, error) {
	var words []string
	for _, w := range items(v) {
		if r.room -= 1 + len(text(w)); r.room < 0 {
			return "", errRoom
		}
		words = append(words, text(w))
	}
	return strings.Join(slices.Compact(words), ", "), nil
}

// frame is the innermost Python frame outside of torch, or the innermost of all.
func (r *reader) frame(v any) (string, error) {
	first := ""
	for _, v := range items(v) {
		f, _ := v.(map[string]any)
		file := text(f["filename"])
		if r.room--; r.room < 0 {
			return "", errRoom
		}
		if !strings.Contains(file, ".py") {
			continue
		}
		line, _ := number(f["line"])
		s := text(f["name"]) + " " + file[strings.LastIndexByte(file, '/')+1:] + ":" + strconv.FormatInt(int64(line), 10)
		if first == "" {
			first = s
		}
		if !strings.Contains(file, "/torch/") && !strings.HasPrefix(file, "torch/") {
			return s, nil
		}
	}
	return first, nil
}

func text(v any) string { s, _ := v.(string); return s }

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, v == v
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}
