package flights_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"overlay/internal/flights"
	"overlay/internal/fromflights"
)

// dict is a dict with its keys in order, as the recorder inserts them.
type dict []any

// pickler writes what torch/csrc/jit/serialization/pickler.cpp writes of the values that dump_nccl_trace hands to it: protocol 2, every text and container
// remembered, texts that occur again by their number.
type pickler struct {
	bytes.Buffer
	memo  uint32
	texts map[string]uint32
}

func pickled(v any) []byte {
	p := &pickler{texts: map[string]uint32{}}
	p.WriteString("\x80\x02")
	p.value(v)
	p.WriteByte('.')
	return p.Bytes()
}

func (p *pickler) number(small, large byte, n uint32) {
	if n < 256 {
		p.Write([]byte{small, byte(n)})
	} else {
		p.Write(binary.LittleEndian.AppendUint32([]byte{large}, n))
	}
}

func (p *pickler) remember() uint32 {
	p.number('q', 'r', p.memo)
	p.memo++
	return p.memo - 1
}

func (p *pickler) value(v any) {
	switch v := v.(type) {
	case nil:
		p.WriteByte('N')
	case bool:
		p.WriteByte(map[bool]byte{true: 0x88, false: 0x89}[v])
	case int:
		switch {
		case v >= 0 && v < 256:
			p.Write([]byte{'K', byte(v)})
		case v >= 0 && v < 1<<16:
			p.Write(binary.LittleEndian.AppendUint16([]byte{'M'}, uint16(v)))
		case int(int32(v)) == v:
			p.Write(binary.LittleEndian.AppendUint32([]byte{'J'}, uint32(v)))
		default:
			p.Write(binary.LittleEndian.AppendUint64([]byte{0x8a, 8}, uint64(v)))
		}
	case float64:
		p.Write(binary.BigEndian.AppendUint64([]byte{'G'}, math.Float64bits(v)))
	case string:
		if n, ok := p.texts[v]; ok {
			p.number('h', 'j', n)
			return
		}
		p.Write(binary.LittleEndian.AppendUint32([]byte{'X'}, uint32(len(v))))
		p.WriteString(v)
		p.texts[v] = p.remember()
	case dict:
		p.WriteByte('}')
		p.remember()
		p.WriteByte('(')
		for _, x := range v {
			p.value(x)
		}
		p.WriteByte('u')
	case [2]string:
		p.value(v[0])
		p.value(v[1])
		p.WriteByte(0x86)
		p.remember()
	case []any:
		p.WriteByte(']')
		p.remember()
		p.WriteByte('(')
		for _, x := range v {
			p.value(x)
		}
		p.WriteByte('e')
	default:
		panic(fmt.Sprintf("%T", v))
	}
}

// texted is the same as nlohmann's JSON has it.
func texted(v any) any {
	switch v := v.(type) {
	case dict:
		m := map[string]any{}
		for i := 0; i < len(v); i += 2 {
			if m[v[i].(string)] = texted(v[i+1]); v[i+1] == nil {
				m[v[i].(string)] = 0
			}
		}
		delete(m, "frames")
		return m
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, texted(x))
		}
		return out
	}
	return v
}

// call is a call of the job that is made.
type call struct {
	group    string
	seq      int
	name     string
	size     int
	open     bool
	duration float64 // ms, 0: not measured
	line     int
}

// made is the dump of a rank. Groups are name, description, members.
func made(groups [][3]string, calls []call) dict {
	config, desc := dict{}, map[string]string{}
	for _, g := range groups {
		desc[g[0]] = g[1]
		config = append(config, g[0], dict{"name", g[0], "desc", g[1], "ranks", g[2]})
	}
	entries := []any{}
	for i, c := range calls {
		e := dict{"frames", []any{dict{"name", "wrapper", "filename", "/env/torch/distributed/c10d_logger.py", "line", 83}, dict{"name", "step", "filename", "/home/u/train.py", "line", c.line}},
			"record_id", i, "pg_id", 0, "process_group", [2]string{c.group, desc[c.group]}, "collective_seq_id", c.seq, "p2p_seq_id", 0, "op_id", i, "profiling_name", "nccl:" + c.name,
			"time_created_ns", 1724779239936775119 + i}
		if c.duration > 0 {
			e = append(e, "duration_ms", c.duration)
		}
		state, ended := "completed", any(1724779239975811724)
		if c.open {
			state, ended = "scheduled", nil
		}
		entries = append(entries, append(e, "input_sizes", []any{[]any{c.size, 4}}, "input_dtypes", []any{"Float"}, "output_sizes", []any{[]any{c.size, 4}}, "output_dtypes", []any{"Float"},
			"state", state, "time_discovered_started_ns", nil, "time_discovered_completed_ns", ended, "retired", !c.open, "timeout_ms", 600000, "is_p2p", strings.Contains(c.name, " ")))
	}
	return dict{"version", "2.10", "pg_config", config, "pg_status", dict{"0", dict{"last_enqueued_collective", 2}}, "entries", entries}
}

// job makes the dumps of a job of four ranks in two pairs.
func job(t *testing.T, json_ bool, calls func(rank int) []call) *flights.Study {
	t.Helper()
	var dumps []*flights.Dump
	for rank := range 4 {
		list := calls(rank)
		if list == nil {
			continue
		}
		pair := "[0, 1]"
		if rank > 1 {
			pair = "[2, 3]"
		}
		d := made([][3]string{{"0", "default_pg", "[0, 1, 2, 3]"}, {"7", "tp", pair}}, list)
		src := pickled(d)
		if json_ {
			src, _ = json.Marshal(texted(d))
		}
		if !fromflights.Is(src) {
			t.Fatal("no dump")
		}
		x, err := fromflights.Parse(src, int32(rank))
		if err != nil {
			t.Fatal(err)
		}
		if x.Version != "2.10" || len(x.Calls) != len(list) || len(x.Groups) != 2 {
			t.Fatalf("%+v", x)
		}
		dumps = append(dumps, x)
	}
	slices.Reverse(dumps) // their order means nothing
	s, err := flights.Judge(dumps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rounds are so many all-reduces of all, in each of which the rank 2 comes 3 ms after the others.
func rounds(rank, n int) (list []call) {
	for seq := 1; seq <= n; seq++ {
		d := 3.5
		if rank == 2 {
			d = 0.5
		}
		list = append(list, call{"0", seq, "all_reduce", 1024, false, d, 10})
	}
	return list
}

func TestMissing(t *testing.T) {
	for _, text := range []bool{false, true} {
		s := job(t, text, func(rank int) []call {
			list := rounds(rank, 5)
			if rank == 1 {
				return list
			}
			return append(list, call{"0", 6, "all_reduce", 1024, true, 0, 20})
		})
		if len(s.Waits) != 1 || !slices.Equal(s.Suspects, []int{1}) || !slices.Equal(s.Waits[0].Waiting, []int{0, 2, 3}) || !slices.Equal(s.Waits[0].Missing, []int{1}) || s.Waits[0].Seq != 6 ||
			s.Waits[0].Call != "all_reduce of 1024×4 Float" || len(s.Last) != 1 || s.Last[0].Seq != 5 || len(s.Mismatches) != 0 {
			t.Errorf("%+v", s)
		}
		want := "step train.py:20"
		if text {
			want = ""
		}
		if s.Waits[0].Frame != want {
			t.Errorf("frame %q", s.Waits[0].Frame)
		}
	}
}

// TestChain: 0 and 1 wait for 2 and 3 in the group of all; 2 waits in its pair for 3, which waits for nobody.
func TestChain(t *testing.T) {
	s := job(t, false, func(rank int) []call {
		switch rank {
		case 2:
			return append(rounds(rank, 5), call{"7", 1, "all_gather", 8, true, 0, 30})
		case 3:
			return rounds(rank, 5)
		}
		return append(rounds(rank, 5), call{"0", 6, "all_reduce", 1024, true, 0, 20})
	})
	if len(s.Waits) != 2 || !slices.Equal(s.Suspects, []int{3}) || len(s.Last) != 2 {
		t.Errorf("%+v", s)
	}
}

// TestPairs: groups that a split has made share a name; their collectives have nothing to do with each other.
func TestPairs(t *testing.T) {
	s := job(t, false, func(rank int) []call { return []call{{"7", 1, "all_reduce", 8 + rank/2, false, 1, 1}} })
	if len(s.Mismatches)+len(s.Waits) != 0 || s.Measured != 2 {
		t.Errorf("%+v", s)
	}
}

func TestMismatch(t *testing.T) {
	for what, change := range map[string]func(c *call){"collective": func(c *call) { c.name = "broadcast" }, "size": func(c *call) { c.size = 7 }} {
		s := job(t, false, func(rank int) []call {
			list := append(rounds(rank, 5), call{"0", 6, "all_reduce", 1024, true, 0, 20})
			if rank == 3 {
				change(&list[5])
			}
			return list
		})
		if len(s.Mismatches) != 1 || s.Mismatches[0].What != what || s.Mismatches[0].Seq != 6 || !slices.Equal(s.Mismatches[0].Others, []int{3}) || s.Mismatches[0].Most != "all_reduce of 1024×4 Float" {
			t.Errorf("%s: %+v", what, s.Mismatches)
		}
	}
	s := job(t, false, func(rank int) []call { return []call{{"0", 1, "all_to_all", 8 + rank, false, 1, 1}} })
	if len(s.Mismatches) != 0 { // members of such a one may give different sizes
		t.Errorf("%+v", s.Mismatches)
	}
}

func TestLate(t *testing.T) {
	s := job(t, true, func(rank int) []call { return rounds(rank, 5) })
	if s.Measured != 5 || s.Waited != 5*3*3e6 || len(s.Late) != 1 || s.Late[0].Rank != 2 || s.Late[0].Count != 5 || s.Late[0].Of != 5 || s.Late[0].Waits != s.Waited || s.Late[0].Most != 9e6 {
		t.Errorf("%+v", s)
	}
}

// TestSingle: a send whose receive was not called, and one that has its receive.
func TestSingle(t *testing.T) {
	for missing, want := range map[bool][]int{true: {1}, false: {}} {
		s := job(t, false, func(rank int) []call {
			switch {
			case rank == 0:
				return []call{{"0", 0, "send 0->1", 8, true, 0, 1}}
			case rank == 1 && !missing:
				return []call{{"0", 0, "recv 1<-0", 8, true, 0, 1}}
			}
			return []call{{"0", 0, "recv 2<-3", 8, false, 0, 1}}
		})
		if len(s.Waits) == 0 || !slices.Equal(s.Waits[0].Missing, want) || !slices.Equal(s.Suspects, want) {
			t.Errorf("%+v", s)
		}
	}
}

// TestRings: a rank without a dump is nobody's fault, and what left a ring has ended.
func TestRings(t *testing.T) {
	s := job(t, false, func(rank int) []call {
		switch rank {
		case 1:
			return nil
		case 0:
			return rounds(rank, 9)[8:]
		}
		return append(rounds(rank, 9)[5:], call{"0", 10, "all_reduce", 1024, true, 0, 20})
	})
	if !slices.Equal(s.NoDump, []int{1}) || s.Ranks != 4 || !slices.Equal(s.Waits[0].Unknown, []int{1}) || !slices.Equal(s.Suspects, []int{0}) || s.Measured != 0 {
		t.Errorf("%+v", s)
	}
}

// TestRefused: nothing of a pickle is executed, and what is no dump is one error.
func TestRefused(t *testing.T) {
	whole := pickled(made([][3]string{{"0", "default_pg", "[0]"}}, rounds(0, 2)))
	for src, want := range map[string]string{
		"\x80\x02}q\x00cos\nsystem\n(X\x02\x00\x00\x00idtR.":                        "byte 5: the instruction 0x63 is none of a dump",
		"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x8c\x06system\x93.": "the instruction 0x93",
		string(whole[:len(whole)/2]):                                                "the pickle is cut",
		"\x80\x02]q\x00h\x01.":                                                      "a reference to 1, which is nothing yet",
		"\x80\x02K\x01K\x02.":                                                       "ends with 2 values",
		"\x80\x02u.":                                                                "items without their beginning",
		"\x80\x02](NNs.":                                                            "items of what is no dict",
		"\x80\x02}(NNu.":                                                            "neither text nor number",
		"\x80\x09.":                                                                 "protocol 9",
		"\x80\x02K\x01.":                                                            "it is a number: expected a dump of PyTorch's flight recorder of version 2.0 or later",
		`{"pg_config": {"0": {"ranks": "[-1]"}}}`:                                   "is no list of ranks",
		`{"pg_config": {}, "entries": [{}]}`:                                        "entry 0: no profiling_name",
		`{"pg_config": {}, "entries": [{"profiling_name": "nccl:all_reduce", "seq_id": 1}]}`: "version 2.0 or later",
		`{"pg_config": `: "unexpected EOF",
	} {
		_, err := fromflights.Parse([]byte(src), 0)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
	for _, src := range []string{`{"schemaVersion":1,"distributedInfo":{"pg_config":[{"pg_name":"0"}]}}`, "rank,step\n", "\x80\x02c", "\x80\x02}q\x00X\x08\x00\x00\x00segments", ""} {
		if fromflights.Is([]byte(src)) {
			t.Errorf("%q is taken for a dump", src)
		}
	}
	one, err := fromflights.Parse(whole, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flights.Judge([]*flights.Dump{one, one}); err == nil {
		t.Error("two dumps of one rank")
	}
	for name, want := range map[string]int32{"nccl_trace_rank_7": 7, "nccl_trace_rank_node02_15.json": 15, "comm_lib_trace_rank_0.pkl": 0, "notes": -1} {
		if n, ok := fromflights.RankOf(name); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
}

// TestAgain: lists that refer to the same list a thousand times and more cost no more than their bytes.
func TestAgain(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("\x80\x02}(X\x09\x00\x00\x00pg_config}X\x07\x00\x00\x00entries](}(X\x0e\x00\x00\x00profiling_nameX\x01\x00\x00\x00aX\x11\x00\x00\x00collective_seq_idK\x01X\x0b\x00\x00\x00input_sizes](](" +
		strings.Repeat("K\x01", 20_000) + "eq\x00" + strings.Repeat("h\x00", 20_000) + "euq\x01" + strings.Repeat("h\x01", 20_000) + "eu.")
	if _, err := fromflights.Parse(b.Bytes(), 0); err == nil || !strings.Contains(err.Error(), "again and again") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	d := made([][3]string{{"0", "default_pg", "[0, 1]"}}, rounds(0, 3))
	f.Add(pickled(d))
	text, _ := json.Marshal(texted(d))
	f.Add(text)
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := fromflights.Parse(src, 1)
		if err != nil {
			return
		}
		other := *d
		other.Rank = 0
		if _, err := flights.Judge([]*flights.Dump{d, &other}); err != nil {
			t.Fatal(err)
		}
	})
}
