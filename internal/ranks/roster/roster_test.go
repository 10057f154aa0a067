package roster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// silent is a trace that says nothing of its rank.
func silent(name string) Entry {
	return Entry{Name: name, Member: name, Recorded: -1, Said: -1, Device: -1, FirstStep: -1, LastStep: -1, Working: true, Events: 1}
}

func recorded(name string, rank, world int64) Entry {
	e := silent(name)
	e.Recorded, e.World = rank, world
	return e
}

func with(e Entry, change func(e *Entry)) Entry {
	change(&e)
	return e
}

// TestNames: which rank names say, for the names that tools give.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		names string
		want  string // "-" for none
	}{
		{"rank0_trace.json rank1_trace.json rank10_trace.json", "0 1 10"},
		{"rank-3.json.gz rank-1.json.gz", "3 1"},
		{"trace_Rank 2.json trace_Rank 4.json", ""},
		{"worker0.1623143089861.pt.trace.json worker1.1623143090000.pt.trace.json", "0 1"},
		{"worker7_step_12.1694128201553.pt.trace.json worker3_step_12.1694128201557.pt.trace.json", "7 3"},
		{"dev_4001.1694128201553.pt.trace.json dev_4002.1694128201557.pt.trace.json", "-"},
		{"1755-TP-0.trace.json.gz 1755-TP-1.trace.json.gz", "0 1"},
		{"a_r0.json a_r1.json", "0 1"},
		{"rank[0].json rank[1].json", "0 1"},
		{"trace.0.json trace.1.json trace.2.json", "0 1 2"},
		{"run3.0.json run3.1.json", "0 1"},
		{"a0b1.json a1b2.json", "-"},           // which of the two?
		{"rank0.json rank0_again.json", "0 0"}, // two captures
		{"rank0_step10.json rank0_step20.json", "0 0"},
		{"rank0_step10.json rank1_step10.json rank0_step20.json rank1_step20.json", "0 1 0 1"},
		{"iteration_10/rank0_trace.json iteration_10/rank1_trace.json iteration_20/rank0_trace.json iteration_20/rank1_trace.json", "0 1 0 1"}, // torchtitan
		{"worker0_step_12.1694128201553.pt.trace.json worker0_step_24.1694128201557.pt.trace.json", "0 0"},
		{"job-worker-0_71.1694128201553.pt.trace.json job-worker-0_72.1694128201557.pt.trace.json", "-"}, // one machine, two processes
		{"trace_step10.json trace_step20.json", "-"},
		{"step_1.json step_2.json", "-"},
		{"r1_of_8.json r4_of_8.json", "1 4"},
		{"w_r2.json w_r3.json", "2 3"},
		{"1755-TP-2.trace.json.gz 1755-TP-3.trace.json.gz", "2 3"},
		{"1755-TP-0-PP-0.trace.json.gz 1755-TP-1-PP-0.trace.json.gz 1755-TP-0-PP-1.trace.json.gz 1755-TP-1-PP-1.trace.json.gz", "0 1 2 3"},
		{"4f0c-rank-0.1694128201553.pt.trace.json.gz 4f0c-rank-1.1694128201559.pt.trace.json.gz", "0 1"},             // vLLM
		{"dp0_pp0_tp0_rank0.1694128201553.pt.trace.json.gz dp0_pp0_tp1_rank1.1694128201559.pt.trace.json.gz", "0 1"}, // vLLM
		{"lora_rank16_rank0.json lora_rank16_rank1.json", "0 1"},
		{"node0_rank0.json node0_rank1.json node1_rank0.json node1_rank1.json", "0 1 2 3"},
		{"node1_gpu0.json node1_gpu1.json node2_gpu0.json node2_gpu1.json", "0 1 2 3"},
		{"rank=0.json rank=1.json", "0 1"},
		{"error1.json error2.json", "1 2"}, // no mark
		{"x1694128201553.json x1694128201557.json", "-"},
		{"a.json b.json", "-"},
		{"d/rank0/trace.json d/rank1/trace.json", "0 1"},
		{"7/trace.json 8/trace.json", "7 8"},
		{"rank5.json", "5"},
		{"trace_5.json", "-"}, // alone, a number means nothing
		{"rank99999999999.json rank1.json", "-"},
	} {
		names := strings.Fields(c.names)
		if strings.Contains(c.names, "Rank ") {
			names, c.want = []string{"trace_Rank 2.json", "trace_Rank 4.json"}, "2 4"
		}
		got := byName(names, worldLimit)
		var words []string
		for _, r := range got {
			words = append(words, fmt.Sprint(r))
		}
		if text := strings.Join(words, " "); text != c.want && !(got == nil && c.want == "-") {
			t.Errorf("%s: %q, want %q", c.names, text, c.want)
		}
	}
}

// TestMake: who is in the job, who is left out, and what is refused.
func TestMake(t *testing.T) {
	group := func(name string, ranks ...int64) func(e *Entry) {
		return func(e *Entry) { e.Groups = append(e.Groups, Group{name, ranks}) }
	}
	window := func(at, step int64) func(e *Entry) {
		return func(e *Entry) { e.Window, e.FirstStep, e.LastStep = [2]int64{at, at + 10}, step, step+2 }
	}
	cut := func(e *Entry) { e.Truncated = true }
	digest := func(e *Entry) { e.Digest = [4]int64{1, 2, 3, 4} }
	for _, c := range []struct {
		name    string
		entries []Entry
		o       Options
		want    string // members and what is left, or the error
	}{
		{"recorded", []Entry{recorded("b", 1, 4), recorded("a", 0, 4)}, Options{}, "a=0/recorded b=1/recorded of 4 missing 2-3"},
		{"said", []Entry{with(silent("a"), func(e *Entry) { e.Said = 3 }), recorded("b", 1, 4)}, Options{}, "b=1/recorded a=3/op of 4 missing 0, 2"},
		{"by name", []Entry{silent("rank1.json"), silent("rank0.json")}, Options{}, "rank0.json=0/name rank1.json=1/name of 2"},
		{"by order", []Entry{silent("b.json"), silent("a.json")}, Options{}, "a.json=0/order b.json=1/order of 2 note no trace says its rank: numbered by name"},
		{"no order among ranked", []Entry{silent("x.json"), recorded("a", 0, 2)}, Options{}, "a=0/recorded of 2 missing 1 left x.json: neither the trace nor its name says which rank it is"},
		{"another kind", []Entry{with(silent("x.json"), func(e *Entry) { e.Working = false }), recorded("a", 0, 1)}, Options{},
			"a=0/recorded of 1 left x.json: no rank of the job: no rank recorded, no device operations, no collectives"},
		{"world by groups", []Entry{with(recorded("a", 0, 0), group("0", 0, 1, 2, 3))}, Options{}, "a=0/recorded of 4 missing 1-3"},
		{"unreadable", []Entry{{Name: "x", Fault: "x: no trace"}, recorded("a", 0, 1)}, Options{}, "a=0/recorded of 1 left x: x: no trace"},
		{"unreadable, strict", []Entry{{Name: "x", Fault: "no trace"}, recorded("a", 0, 1)}, Options{Strict: true}, "error x: --strict: no trace"},
		{"only one, unreadable", []Entry{{Name: "x", Fault: "x: no trace"}}, Options{}, "error x: no trace"},
		{"all unreadable", []Entry{{Name: "y", Fault: "y: cut"}, {Name: "x", Fault: "x: no trace"}}, Options{}, "error none of 2 files is a trace; the first: x: no trace"},
		{"same bytes", []Entry{with(recorded("b", 0, 1), digest), with(recorded("a", 0, 1), digest)}, Options{}, "a=0/recorded of 1 left b: the same bytes as a"},
		{"same bytes in a copy", []Entry{with(recorded("a (1)", 0, 1), digest), with(recorded("a", 0, 1), digest)}, Options{}, "a=0/recorded of 1 left a (1): the same bytes as a"},
		{"same bytes, copied", []Entry{with(recorded("d/rank0 (1).json.gz", 0, 1), digest), with(recorded("d/rank0.json.gz", 0, 1), digest)}, Options{},
			"d/rank0.json.gz=0/recorded of 1 left d/rank0 (1).json.gz: the same bytes as d/rank0.json.gz"},
		{"same bytes, other names", []Entry{with(recorded("d/copy.json", 0, 1), digest), with(recorded("d/again.json", 0, 1), digest)}, Options{},
			"d/again.json=0/recorded of 1 left d/copy.json: the same bytes as d/again.json"},
		{"cut", []Entry{with(recorded("a", 0, 2), cut), recorded("b", 1, 2)}, Options{}, "a=0/recorded b=1/recorded of 2 note 1 trace is cut, and what would follow is not known: a"},
		{"alone and cut", []Entry{with(recorded("a", 0, 1), cut)}, Options{}, "a=0/recorded of 1"},
		{"world differs", []Entry{recorded("a", 0, 8), recorded("b", 1, 16)}, Options{}, "error world size 8 in a, 16 in b: one job at a time"},
		{"world of one differs", []Entry{recorded("a", 0, 2), recorded("b", 0, 8), recorded("c", 1, 8), recorded("d", 2, 8)}, Options{},
			"error world size 2 in a, 8 in b and 2 more: take out what is not of this job: a"},
		{"worlds of many differ", []Entry{recorded("a", 0, 2), recorded("b", 0, 3), recorded("c", 0, 4), recorded("d", 0, 5), recorded("e", 0, 8), recorded("f", 1, 8)}, Options{},
			"error world size 2 in a, 8 in e and 1 more: take out what is not of this job: a, b, c and 1 more"},
		{"job of one differs", []Entry{with(recorded("a", 0, 8), func(e *Entry) { e.Job = "x 1" }), with(recorded("b", 1, 8), func(e *Entry) { e.Job = "x 1" }),
			with(recorded("c", 2, 8), func(e *Entry) { e.Job = "x 2" }), recorded("d", 3, 8)}, Options{},
			"error job x 2 in c, x 1 in a and 1 more: take out what is not of this job: c"},
		{"job differs", []Entry{with(recorded("a", 0, 8), func(e *Entry) { e.Job = "x 1" }), with(recorded("b", 1, 8), func(e *Entry) { e.Job = "x 2" })}, Options{},
			"error job x 1 in a, x 2 in b: one job at a time"},
		{"rank too large", []Entry{recorded("a", 0, 8), recorded("b", 8, 0)}, Options{}, "error rank 8 in b, but world size 8 in a: one job at a time"},
		{"groups differ", []Entry{with(recorded("a", 0, 4), group("0", 0, 1)), with(recorded("b", 1, 4), group("0", 0, 1, 2))}, Options{},
			"error process group 0 is ranks 0-1 in a, 0-2 in b: one job at a time"},
		{"sister groups", []Entry{with(recorded("a", 0, 4), group("1", 0, 1)), with(recorded("b", 2, 4), group("1", 2, 3))}, Options{}, "a=0/recorded b=2/recorded of 4 missing 1, 3"},
		{"twice", []Entry{with(recorded("a", 0, 2), window(5, 1)), with(recorded("b", 0, 2), window(50, 4)), recorded("c", 1, 2)}, Options{},
			"error rank 0 twice, in a and in b: which one is meant? Take the other one out, or name the files to read"},
		{"twice and cut", []Entry{recorded("a", 0, 4), with(recorded("a (1)", 0, 4), cut), recorded("b", 1, 4), recorded("c", 2, 4)}, Options{},
			"error rank 0 twice, in a and in a (1) (a (1) is cut): which one is meant? Take the other one out, or name the files to read"},
		{"two twice, days apart", []Entry{with(recorded("a", 0, 4), window(5, 1)), with(recorded("z", 0, 4), window(3*dayApart+7, 1)), recorded("b", 1, 4), recorded("b2", 1, 4),
			recorded("c", 2, 4), recorded("d", 3, 4)}, Options{},
			"error rank 0 twice (and 1 more rank), in a and in z, recorded 3 days apart: which one is meant? Take the other one out, or name the files to read"},
		{"one of two captures lost", []Entry{recorded("a", 0, 0), recorded("b", 0, 0), recorded("c", 1, 0), recorded("d", 1, 0), recorded("e", 2, 0)}, Options{},
			"error rank 2 has 1 capture, in e, where 2 ranks have 2: give as many of each rank, or the files of one capture"},
		{"one rank twice", []Entry{with(recorded("b", 0, 2), window(50, 4)), with(recorded("a", 0, 2), window(5, 1))}, Options{},
			"error rank 0 twice, in a and in b: give one of them, or choose with --capture 1 to --capture 2"},
		{"captures", captures(window), Options{}, "error 2 ranks have 2 captures each: 1 steps 1-3, 2 steps 10-12; choose --capture N"},
		{"capture 2", captures(window), Options{Capture: 2}, "b=0/recorded d=1/recorded of 2"},
		{"capture 3", captures(window), Options{Capture: 3}, "choice --capture 3 of 2: there are 2 captures"},
		{"capture of one", []Entry{recorded("a", 0, 1)}, Options{Capture: 2}, "choice --capture 2 of 1: there is 1 capture"},
		{"a day apart", []Entry{with(recorded("a", 0, 2), window(0, 1)), with(recorded("b", 1, 2), window(2*dayApart, 1))}, Options{},
			"a=0/recorded b=1/recorded of 2 note b begins more than a day after a: are they traces of one run?"},
	} {
		if got := tell(c.entries, c.o); got != c.want {
			t.Errorf("%s:\n %s, want\n %s", c.name, got, c.want)
		}
	}
}

func captures(window func(at, step int64) func(e *Entry)) []Entry {
	return []Entry{with(recorded("a", 0, 2), window(5, 1)), with(recorded("b", 0, 2), window(500, 10)),
		with(recorded("d", 1, 2), window(501, 10)), with(recorded("c", 1, 2), window(6, 1))}
}

// tell puts a roster into a line.
func tell(entries []Entry, o Options) string {
	r, err := Make(entries, o)
	if choice := (*ChoiceError)(nil); errors.As(err, &choice) {
		return "choice " + err.Error()
	}
	if err != nil {
		return "error " + err.Error()
	}
	var s []string
	for _, m := range r.Members {
		s = append(s, fmt.Sprintf("%s=%d/%s", entries[m.Entry].Name, m.Rank, m.By))
	}
	s = append(s, fmt.Sprintf("of %d", r.World))
	if len(r.Missing) > 0 {
		s = append(s, "missing "+List(r.Missing))
	}
	for _, l := range r.Left {
		s = append(s, "left "+entries[l.Entry].Name+": "+l.Why)
	}
	for _, n := range r.Notes {
		s = append(s, "note "+n)
	}
	return strings.Join(s, " ")
}

// TestOrder: in whatever order the inputs come, the job is the same.
func TestOrder(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		entries := random(rng)
		o := Options{Capture: rng.IntN(3), Strict: rng.IntN(4) == 0}
		want := tell(entries, o)
		rng.Shuffle(len(entries), func(i, k int) { entries[i], entries[k] = entries[k], entries[i] })
		if got := tell(entries, o); got != want {
			t.Fatalf("seed %d:\n %s, before\n %s", seed, got, want)
		}
	}
}

// random makes entries that differ in what decides.
func random(rng *rand.Rand) (list []Entry) {
	forms := []string{"rank%d.json", "h_%d.1694128201553.pt.trace.json", "%d/t.json", "worker%d.1694128201553.json", "a%[1]db%[1]d.json"}
	form, n := forms[rng.IntN(len(forms))], 1+rng.IntN(6)
	for i := range n {
		e := silent(fmt.Sprintf(form, rng.IntN(2*n)))
		if i > 0 && rng.IntN(9) == 0 {
			e.Name = fmt.Sprintf("other%d.json", i)
		}
		e.Name += strings.Repeat(" ", i) // names of inputs differ
		e.Member = e.Name
		if rng.IntN(3) > 0 {
			e.Recorded, e.World = int64(rng.IntN(n+1)), int64(n+1)
		}
		switch rng.IntN(12) {
		case 0:
			e.World = 99
		case 1:
			e.Fault = "broken"
		case 2:
			e.Digest = [4]int64{1, 1, 1, 1}
		case 3:
			e.Groups = []Group{{"0", []int64{0, int64(1 + rng.IntN(2))}}}
		case 4:
			e.Said = int64(rng.IntN(n + 1))
		case 5:
			e.Working = false
		}
		e.Window[0] = rng.Int64N(1000)
		list = append(list, e)
	}
	return list
}

// FuzzMake: whatever names and traces say, the answer is a job that holds together, or an error of one line.
func FuzzMake(f *testing.F) {
	f.Add("rank0.json\nrank1.json\nx", int64(5), byte(1))
	f.Add("a_1.2.json\na_1.3.json", int64(-1), byte(0))
	f.Add("00000000000000000001\n1", int64(1<<40), byte(3))
	f.Fuzz(func(t *testing.T, text string, number int64, how byte) {
		var entries []Entry
		for i, name := range strings.Split(text, "\n") {
			e := silent(name)
			switch (int(how) + i) % 5 {
			case 0:
				e.Recorded = max(number>>i, -1)
			case 1:
				e.World = max(number, 0)
			case 2:
				e.Said = max(number-int64(i), -1)
			case 3:
				e.Groups = []Group{{name, []int64{max(number, 0)}}}
			}
			entries = append(entries, e)
		}
		r, err := Make(entries, Options{Capture: int(how % 3)})
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		checkRoster(t, entries, r)
	})
}

func checkRoster(t *testing.T, entries []Entry, r *Roster) {
	t.Helper()
	seen := map[int]bool{}
	for i, m := range r.Members {
		if m.Rank < 0 || i > 0 && m.Rank <= r.Members[i-1].Rank || seen[m.Entry] || m.By == "" {
			t.Errorf("member %+v", m)
		}
		seen[m.Entry] = true
	}
	for _, l := range r.Left {
		if seen[l.Entry] || l.Why == "" {
			t.Errorf("left %+v", l)
		}
		seen[l.Entry] = true
	}
	if r.Captures == 1 && len(seen) != len(entries) {
		t.Errorf("%d of %d entries are told of", len(seen), len(entries))
	}
	if !slices.IsSorted(r.Missing) || len(r.Members) > 1 && int64(len(r.Missing)+len(r.Members)) != max(r.World, r.Members[len(r.Members)-1].Rank+1) {
		t.Errorf("%d missing and %d there of %d", len(r.Missing), len(r.Members), r.World)
	}
}

// TestNatural: names are sorted as people do.
func TestNatural(t *testing.T) {
	names := []string{"a10", "a2", "a02", "b", "a", "a1x", "a1"}
	slices.SortFunc(names, CompareNames)
	if want := []string{"a", "a1", "a1x", "a02", "a2", "a10", "b"}; !reflect.DeepEqual(names, want) {
		t.Errorf("%v", names)
	}
}
