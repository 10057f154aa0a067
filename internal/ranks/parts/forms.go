package parts

import (
	"fmt"
	"strconv"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// number, length, moment and text are columns.
func number(name, about string, get func(*builder, int) int64, set func(*builder, int, int64)) col {
	return col{name: name, about: about, unit: tables.ID, get: get, set: set}
}

func length(name, about string, get func(*builder, int) int64, set func(*builder, int, int64)) col {
	return col{name: name, about: about, unit: tables.NS, get: get, set: set}
}

func moment(name, about string, get func(*builder, int) int64, set func(*builder, int, int64)) col {
	return col{name: name, about: about, unit: tables.Time, near: true, get: get, set: set}
}

func text(name, about string, get func(*builder, int) string, set func(*builder, int, string)) col {
	return col{name: name, about: about, unit: tables.Text, text: get, setText: set}
}

// nameOf is a column with a name that the table of names has.
func nameOf(about string, of func(*builder, int) *ranks.Name) col {
	return text("name", about, func(b *builder, i int) string { return b.Names[*of(b, i)] }, func(b *builder, i int, v string) { *of(b, i) = b.name(v) })
}

// forms are the tables. Names come before what refers to them.
var forms = []form{
	{rankTable, "the rank: where it ran, and when it was recorded", func(*builder) int { return 1 }, func(*builder, int) {}, []col{
		text("source", "the trace", func(b *builder, _ int) string { return b.Source }, func(b *builder, _ int, v string) { b.Source = v }),
		number("bytes", "of the trace, decompressed", func(b *builder, _ int) int64 { return b.Bytes }, func(b *builder, _ int, v int64) { b.Bytes = v }),
		number("events", "of the trace", func(b *builder, _ int) int64 { return int64(b.Events) }, func(b *builder, _ int, v int64) { b.Events = fit[int](b, v) }),
		number("rank_number", "in its job", func(b *builder, _ int) int64 { return int64(b.Rank) }, func(b *builder, _ int, v int64) { b.Rank = fit[ranks.Rank](b, v) }),
		text("rank_by", "how the rank is known", func(b *builder, _ int) string { return b.RankBy }, func(b *builder, _ int, v string) { b.RankBy = v }),
		number("world", "ranks of the job, 0 when not said", func(b *builder, _ int) int64 { return int64(b.World) }, func(b *builder, _ int, v int64) { b.World = fit[int32](b, v) }),
		text("host", "empty when not said", func(b *builder, _ int) string { return b.Host }, func(b *builder, _ int, v string) { b.Host = v }),
		number("device", "on its host, -1 when not said", func(b *builder, _ int) int64 { return int64(b.Device) }, func(b *builder, _ int, v int64) { b.Device = fit[int32](b, v) }),
		text("threads", "how hand-offs between threads were read", func(b *builder, _ int) string { return b.Threads }, func(b *builder, _ int, v string) { b.Threads = v }),
		moment("start_ns", "of the window, unix time on the rank's own clock", func(b *builder, _ int) int64 { return b.Window[0] }, func(b *builder, _ int, v int64) { b.Window[0] = v }),
		moment("end_ns", "of the window", func(b *builder, _ int) int64 { return b.Window[1] }, func(b *builder, _ int, v int64) { b.Window[1] = v }).beyond(func(b *builder, _ int) int64 { return b.Window[0] }),
	}},
	{"summary_names", "names of events, each once", func(b *builder) int { return len(b.Names) }, func(b *builder, n int) { b.Names = make([]string, n) }, []col{
		text("name", "made short", func(b *builder, i int) string { return b.Names[i] }, func(b *builder, i int, v string) { b.Names[i] = v }),
	}},
	{"summary_groups", "process groups that the rank uses", func(b *builder) int { return len(b.Groups) }, func(b *builder, n int) { b.Groups = make([]ranks.Group, n) }, []col{
		text("name", "of the group", func(b *builder, i int) string { return b.Groups[i].Name }, func(b *builder, i int, v string) { b.Groups[i].Name = v }),
		text("description", "of the group", func(b *builder, i int) string { return b.Groups[i].Desc }, func(b *builder, i int, v string) { b.Groups[i].Desc = v }),
		text("ranks", "members as 0-3,8-56+8; ? when not known", func(b *builder, i int) string { return rankText(b.Groups[i].Ranks) }, func(b *builder, i int, v string) {
			var err error
			if b.Groups[i].Ranks, err = readRanks(v); err != nil {
				b.fail("%w", err)
			}
		}),
		number("size", "0 when not known", func(b *builder, i int) int64 { return int64(b.Groups[i].Size) }, func(b *builder, i int, v int64) { b.Groups[i].Size = fit[int32](b, v) }),
		text("known_by", "args, config, stride or stream", func(b *builder, i int) string { return b.Groups[i].By }, func(b *builder, i int, v string) { b.Groups[i].By = v }),
	}},
	{"summary_kinds", "kinds of communication operations", func(b *builder) int { return len(b.Kinds) }, func(b *builder, n int) { b.Kinds = make([]ranks.Kind, n) }, []col{
		number("group", "row of summary_groups", func(b *builder, i int) int64 { return int64(b.Kinds[i].Group) }, func(b *builder, i int, v int64) { b.Kinds[i].Group = fit[int32](b, v) }),
		number("stream", "of the device", func(b *builder, i int) int64 { return int64(b.Kinds[i].Stream) }, func(b *builder, i int, v int64) { b.Kinds[i].Stream = fit[int32](b, v) }),
		text("collective", "what it does", func(b *builder, i int) string { return b.Kinds[i].Coll.String() }, func(b *builder, i int, v string) {
			b.Kinds[i].Coll = word(b, ranks.Barrier+1, v, ranks.Coll.String)
		}),
		text("dtype", "of elements", func(b *builder, i int) string { return b.Kinds[i].Dtype }, func(b *builder, i int, v string) { b.Kinds[i].Dtype = v }),
		number("elements_in", "-1 when not said", func(b *builder, i int) int64 { return b.Kinds[i].In }, func(b *builder, i int, v int64) { b.Kinds[i].In = v }),
		number("elements_out", "-1 when not said", func(b *builder, i int) int64 { return b.Kinds[i].Out }, func(b *builder, i int, v int64) { b.Kinds[i].Out = v }),
		number("peer", "of point-to-point operations, else -1", func(b *builder, i int) int64 { return int64(b.Kinds[i].Peer) }, func(b *builder, i int, v int64) { b.Kinds[i].Peer = fit[ranks.Rank](b, v) }),
		number("sends", "1: to the peer", func(b *builder, i int) int64 { return flag(b.Kinds[i].Sends) }, func(b *builder, i int, v int64) { b.Kinds[i].Sends = v != 0 }),
		number("token", "what all members say alike", func(b *builder, i int) int64 { return int64(b.Kinds[i].Token) }, func(b *builder, i int, v int64) { b.Kinds[i].Token = uint64(v) }),
		nameOf("of the kernel", func(b *builder, i int) *ranks.Name { return &b.Kinds[i].Name }),
	}},
	{"summary_operations", "communication operations, by start", func(b *builder) int { return len(b.Ops) }, func(b *builder, n int) { b.Ops = make([]ranks.Op, n) }, []col{
		moment("start_ns", "on the rank's own clock", func(b *builder, i int) int64 { return b.Ops[i].Start }, func(b *builder, i int, v int64) { b.Ops[i].Start = v }).beyond(func(b *builder, i int) int64 { return b.opBefore(i).Start }),
		moment("end_ns", "on the rank's own clock", func(b *builder, i int) int64 { return b.Ops[i].End }, func(b *builder, i int, v int64) { b.Ops[i].End = v }).beyond(func(b *builder, i int) int64 { return b.Ops[i].Start }),
		moment("launch_ns", "start of the call that launched it", func(b *builder, i int) int64 { return b.Ops[i].Launch }, func(b *builder, i int, v int64) { b.Ops[i].Launch = v }).beyond(func(b *builder, i int) int64 {
			return b.opBefore(i).Launch - b.opBefore(i).Start + b.Ops[i].Start
		}),
		number("event", "in the trace", func(b *builder, i int) int64 { return int64(b.Ops[i].Event) }, func(b *builder, i int, v int64) { b.Ops[i].Event = fit[trace.EventID](b, v) }).beyond(func(b *builder, i int) int64 { return int64(b.opBefore(i).Event) }),
		number("kind", "row of summary_kinds", func(b *builder, i int) int64 { return int64(b.Ops[i].Kind) }, func(b *builder, i int, v int64) { b.Ops[i].Kind = fit[int32](b, v) }),
		number("sequence", "number in its group as recorded, -1", func(b *builder, i int) int64 { return int64(b.Ops[i].Seq) }, func(b *builder, i int, v int64) { b.Ops[i].Seq = fit[int32](b, v) }),
		number("step", "of its launch, -1", func(b *builder, i int) int64 { return int64(b.Ops[i].Step) }, func(b *builder, i int, v int64) { b.Ops[i].Step = fit[int32](b, v) }),
	}},
	{"summary_stubs", "walks back: one from the start of each operation, and one from the end of the window", func(b *builder) int { return len(b.Stubs) },
		func(b *builder, n int) {
			b.Stubs, b.runs, b.to, b.ends = make([]ranks.Stub, n), make([]int32, n), make([]int64, n), make([]critpath.StubEnd, n)
		}, []col{
			text("meets", "start, operation or stub", func(b *builder, i int) string { end, _ := b.Stubs[i].End(); return stubEnd(end) }, func(b *builder, i int, v string) {
				b.ends[i] = word(b, critpath.AtStub+1, v, stubEnd)
			}),
			number("row", "of the operation or stub that it meets, -1", func(b *builder, i int) int64 { _, ref := b.Stubs[i].End(); return int64(ref) }, func(b *builder, i int, v int64) {
				ref := fit[int32](b, v)
				if v < 0 != (b.ends[i] == critpath.AtStart) {
					b.fail("a walk back that ends with a %s has %d there", stubEnd(b.ends[i]), v)
				}
				b.Stubs[i] = ranks.MakeStub(b.ends[i], ref)
			}),
			number("runs", "rows of summary_runs that belong to it, after those of the stubs before it", func(b *builder, i int) int64 { return int64(b.runs[i]) },
				func(b *builder, i int, v int64) { b.runs[i] = fit[int32](b, v) }),
			moment("at_ns", "where it ends", func(b *builder, i int) int64 { return b.to[i] }, func(b *builder, i int, v int64) { b.to[i] = v }).beyond((*builder).met),
		}},
	{"summary_runs", "stretches of the stubs, the latest first", func(b *builder) int { return len(b.Runs) }, func(b *builder, n int) {
		b.Runs, b.First = make([]ranks.Run, n), b.borders(b.runs, n)
	}, []col{
		length("duration_ns", "of the stretch", func(b *builder, i int) int64 { return b.Runs[i].Dur }, func(b *builder, i int, v int64) { b.Runs[i].Dur = v }).beyond((*builder).restOfStub),
		number("event", "the longest of it, -1 without", func(b *builder, i int) int64 { return int64(b.Runs[i].Event) }, func(b *builder, i int, v int64) { b.Runs[i].Event = fit[trace.EventID](b, v) }),
		nameOf("of the event", func(b *builder, i int) *ranks.Name { return &b.Runs[i].Name }),
		text("kind", "of the path", func(b *builder, i int) string { return b.Runs[i].Kind.String() }, func(b *builder, i int, v string) {
			b.Runs[i].Kind = word(b, critpath.NumSegmentKinds, v, critpath.SegmentKind.String)
		}),
	}},
	{chainsTable, "chains: ways in which operations, and last the end of the window, followed from earlier operations", func(b *builder) int { return len(b.chains) },
		func(b *builder, n int) { b.chains, b.chainParts = make([]chain, n), make([]int32, n) }, []col{
			number("row", "of the operation in summary_stubs", func(b *builder, i int) int64 { return int64(b.chains[i].of) }, func(b *builder, i int, v int64) { b.chains[i].of = fit[int32](b, v) }).beyond(func(b *builder, i int) int64 {
				if i == 0 {
					return 0
				}
				return int64(b.chains[i-1].of)
			}),
			number("from", "row of the operation that it follows from, -1 for the start of the window", func(b *builder, i int) int64 { return int64(b.chains[i].from) }, func(b *builder, i int, v int64) { b.chains[i].from = fit[int32](b, v) }).beyond(func(b *builder, i int) int64 {
				return int64(b.chains[i].of)
			}),
			number("parts", "rows of summary_parts that belong to it, after those of the chains before it", func(b *builder, i int) int64 { return int64(b.chainParts[i]) },
				func(b *builder, i int, v int64) { b.chainParts[i] = fit[int32](b, v) }),
			length("fixed_ns", "delays, and what no question changes", func(b *builder, i int) int64 { return b.chains[i].fixed }, func(b *builder, i int, v int64) { b.chains[i].fixed = v }).beyond(func(b *builder, i int) int64 {
				if b.chainParts[i] > 0 {
					return 0
				}
				return b.between(&b.chains[i])
			}),
		}},
	{partsTable, "own time in chains", func(b *builder) int { return len(b.parts) }, func(b *builder, n int) {
		b.parts, b.partFirst = make([]part, n), b.borders(b.chainParts, n)
	}, []col{
		nameOf("of the work, empty for the rest of its class", func(b *builder, i int) *ranks.Name { return &b.parts[i].Name }),
		text("class", "compute, copy, cpu, runtime or python", func(b *builder, i int) string { return b.parts[i].Work.String() }, func(b *builder, i int, v string) {
			b.parts[i].Work = word(b, ranks.NumWorks, v, ranks.Work.String)
		}),
		length("duration_ns", "of it", func(b *builder, i int) int64 { return b.parts[i].ns }, func(b *builder, i int, v int64) { b.parts[i].ns = v }).beyond((*builder).restOfChain),
	}},
	{"summary_steps", "profiler steps of the rank", func(b *builder) int { return len(b.Steps) }, func(b *builder, n int) { b.Steps = make([]ranks.Step, n) }, stepColumns()},
	{"summary_spent", "time by step and name", func(b *builder) int { return len(b.Spent) }, func(b *builder, n int) { b.Spent = make([]ranks.Spent, n) }, []col{
		number("step_row", "row of summary_steps", func(b *builder, i int) int64 { return int64(b.Spent[i].Step) }, func(b *builder, i int, v int64) { b.Spent[i].Step = fit[int32](b, v) }),
		nameOf("of the work", func(b *builder, i int) *ranks.Name { return &b.Spent[i].Name }),
		number("host", "1: time of threads, else of the device", func(b *builder, i int) int64 { return flag(b.Spent[i].Host) }, func(b *builder, i int, v int64) { b.Spent[i].Host = v != 0 }),
		number("calls", "how often", func(b *builder, i int) int64 { return int64(b.Spent[i].Calls) }, func(b *builder, i int, v int64) { b.Spent[i].Calls = fit[int32](b, v) }),
		length("path_ns", "on the rank's own path", func(b *builder, i int) int64 { return b.Spent[i].Path }, func(b *builder, i int, v int64) { b.Spent[i].Path = v }),
		length("busy_ns", "in all", func(b *builder, i int) int64 { return b.Spent[i].Busy }, func(b *builder, i int, v int64) { b.Spent[i].Busy = v }),
		length("longest_ns", "of it", func(b *builder, i int) int64 { return b.Spent[i].Most }, func(b *builder, i int, v int64) { b.Spent[i].Most = v }),
	}},
	{givenTable, "what operators were given in each step", func(b *builder) int { return len(b.Given) }, func(b *builder, n int) { b.Given = make([]ranks.Given, n) }, []col{
		number("step_row", "row of summary_steps", func(b *builder, i int) int64 { return int64(b.Given[i].Step) }, func(b *builder, i int, v int64) { b.Given[i].Step = fit[int32](b, v) }),
		nameOf("of the operator, or of a kernel that none launched", func(b *builder, i int) *ranks.Name { return &b.Given[i].Name }),
		text("unit", "flops, bytes, elements (by the shapes of inputs) or threads (by the grids of kernels)", func(b *builder, i int) string { return b.Given[i].Unit.String() }, func(b *builder, i int, v string) {
			b.Given[i].Unit = word(b, ranks.NumUnits, v, ranks.Unit.String)
		}),
		number("amount", "of that", func(b *builder, i int) int64 { return b.Given[i].Amount }, func(b *builder, i int, v int64) { b.Given[i].Amount = v }),
		length("busy_ns", "in its kernels; without a device, of threads in it", func(b *builder, i int) int64 { return b.Given[i].Busy }, func(b *builder, i int, v int64) { b.Given[i].Busy = v }),
	}},
	{"summary_quality", "what the analysis of the rank met", func(b *builder) int { return len(b.reasons) }, func(b *builder, n int) { b.reasons = make([]string, n) }, []col{
		text("reason", "what", func(b *builder, i int) string { return b.reasons[i] }, func(b *builder, i int, v string) { b.reasons[i] = v }),
		number("count", "how often", func(b *builder, i int) int64 { return int64(b.Quality[b.reasons[i]]) }, func(b *builder, i int, v int64) { b.Quality[b.reasons[i]] = fit[int](b, v) }),
	}},
}

func stepColumns() []col {
	cols := []col{
		number("step", "its number; of iterations without one -1 less their place", func(b *builder, i int) int64 { return int64(b.Steps[i].Number) }, func(b *builder, i int, v int64) { b.Steps[i].Number = fit[int32](b, v) }),
		moment("start_ns", "on the rank's own clock", func(b *builder, i int) int64 { return b.Steps[i].Start }, func(b *builder, i int, v int64) { b.Steps[i].Start = v }),
		moment("end_ns", "on the rank's own clock", func(b *builder, i int) int64 { return b.Steps[i].End }, func(b *builder, i int, v int64) { b.Steps[i].End = v }),
		length("gpu_busy_ns", "work of the device without communication", func(b *builder, i int) int64 { return b.Steps[i].BusyGPU }, func(b *builder, i int, v int64) { b.Steps[i].BusyGPU = v }),
		length("host_busy_ns", "work of threads without waiting", func(b *builder, i int) int64 { return b.Steps[i].BusyHost }, func(b *builder, i int, v int64) { b.Steps[i].BusyHost = v }),
	}
	kind := text("type", "of the iterations of a server: prefill, decode and the like", func(b *builder, i int) string { return b.Steps[i].Type.String() }, func(b *builder, i int, v string) {
		b.Steps[i].Type = word(b, trace.NumIterationTypes, v, trace.IterationType.String)
	})
	kind.later = true
	cols = append(cols, kind)
	for c := range critpath.NumClasses {
		cols = append(cols, length("path_"+c.String()+"_ns", "of the rank's own path", func(b *builder, i int) int64 { return b.Steps[i].Path[c] }, func(b *builder, i int, v int64) { b.Steps[i].Path[c] = v }))
	}
	return cols
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// rankText writes ascending ranks in stretches of equal steps: 0-3,8-56+8.
func rankText(list []ranks.Rank) string {
	if list == nil {
		return "?"
	}
	var out []string
	for i := 0; i < len(list); {
		k, step := i, ranks.Rank(1)
		if i+1 < len(list) {
			step = list[i+1] - list[i]
		}
		for k+1 < len(list) && list[k+1]-list[k] == step {
			k++
		}
		switch {
		case k == i || k == i+1 && step != 1:
			out = append(out, strconv.Itoa(int(list[i])))
			k = i
		case step == 1:
			out = append(out, fmt.Sprintf("%d-%d", list[i], list[k]))
		default:
			out = append(out, fmt.Sprintf("%d-%d+%d", list[i], list[k], step))
		}
		i = k + 1
	}
	return strings.Join(out, ",")
}

// mostRanks bounds a group, so that a broken file costs no memory without end.
const mostRanks = 1 << 20

func readRanks(s string) ([]ranks.Rank, error) {
	if s == "?" {
		return nil, nil
	}
	list := []ranks.Rank{}
	if s == "" {
		return list, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		span, every, _ := strings.Cut(part, "+")
		first, last, isSpan := strings.Cut(span, "-")
		if !isSpan {
			last = first
		}
		a, errA := strconv.ParseInt(first, 10, 32)
		b, errB := strconv.ParseInt(last, 10, 32)
		step, errS := int64(1), error(nil)
		if every != "" {
			step, errS = strconv.ParseInt(every, 10, 32)
		}
		if errA != nil || errB != nil || errS != nil || a < 0 || b < a || step < 1 || (b-a)/step >= mostRanks || len(list) >= mostRanks ||
			len(list) > 0 && ranks.Rank(a) <= list[len(list)-1] {
			return nil, fmt.Errorf("%q is no list of ranks", s)
		}
		for r := a; r <= b; r += step {
			list = append(list, ranks.Rank(r))
		}
	}
	return list, nil
}
