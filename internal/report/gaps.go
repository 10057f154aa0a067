package report

import (
	"cmp"
	"slices"
	"sync"

	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Unknown is time of the path that no recorded event owns, for one likely reason.
type Unknown struct {
	Kind   string  `json:"kind" about:"unexplained, untraced or gpu_unrecorded"`
	Reason string  `json:"reason" about:"likely, by what stands around; unknown where nothing says why"`
	NS     int64   `json:"ns" unit:"ns"`
	Share  float64 `json:"share_of_window" unit:"share"`
	Count  int     `json:"count" unit:"count" about:"stretches of the path"`
	Likely string  `json:"likely" about:"the reason in words"`
	Record string  `json:"record" about:"how to record what is missing"`
}

// Gap is such time between two events of a row, all stretches with neighbours of the same names together.
type Gap struct {
	Kind      string  `json:"kind" about:"unexplained, untraced or gpu_unrecorded"`
	Reason    string  `json:"reason" about:"likely, by what stands around"`
	Before    string  `json:"before" about:"name of what stands before it on its row; empty where nothing does"`
	After     string  `json:"after" about:"name of what comes after it"`
	NS        int64   `json:"ns" unit:"ns"`
	Share     float64 `json:"share_of_window" unit:"share"`
	Count     int     `json:"count" unit:"count"`
	Longest   int64   `json:"longest_ns" unit:"ns"`
	LongestAt int64   `json:"longest_at_ns" unit:"time" about:"where the longest starts"`
}

// reasonWords says a reason in words, and how to record what is missing.
var reasonWords = [critpath.NumReasons]struct{ likely, record string }{
	critpath.NoReason:          {"nothing around it says what was waited for", "enable_cuda_sync_events in torch.profiler's experimental_config records waits"},
	critpath.LaunchNotRecorded: {"the launch came before recording began, or its record was lost", "begin recording a step earlier, as with a schedule of warmup=1, and record fewer steps"},
	critpath.HostNotRecorded:   {"the device alone was recorded, so what the host did or copied then is not known", "record the calls of the host too, not the kernels of the device alone"},
	critpath.EventNotRecorded:  {"it waited for an event of work that is not recorded, such as that of another process", "record all processes that share the device, with enable_cuda_sync_events"},
	critpath.MemoryAllocated:   {"memory was allocated just before, which the device maps first", "run some steps before recording, so that the allocator has its memory"},
	critpath.DeviceStoodStill:  {"work was queued and the device stood still, as when the profiler writes its buffers", "record fewer steps or fewer activities"},
	critpath.QueuedBefore:      {"the stream was busy with work launched before recording began", "synchronise the device before recording begins, or begin a step earlier"},
	critpath.RecordsLost:       {"launch calls have no operation: the profiler lost records of the device", "record fewer steps, or fewer activities at once"},
	critpath.GraphLost:         {"a graph began with operations that are not recorded", "run once without graphs to see them, or with a newer profiler"},
	critpath.ProfilerAtWork:    {"the profiler itself was at work", "nothing to mend: without the profiler there is no such time"},
	critpath.RecordingEnded:    {"the end of the recorded code, up to the profiler's own synchronisation", "record another step after it to see what follows"},
	critpath.OtherDevice:       {"a device was busy whose events are drawn, not analysed", "look at its row in the viewer"},
	critpath.DeviceRan:         {"a device ran while threads waited, and nothing says for what", "look at the device's rows in the viewer; a launch or a wait that is recorded would tie its work to a thread"},
	critpath.BeforeThread:      {"nothing is recorded of the thread before, so nobody knows what it waited for", "begin recording before the thread starts, and record the activities of the CPU"},
	critpath.AfterThread:       {"nothing is recorded of the thread after", "stop recording later"},
	critpath.EngineBetween:     {"the autograd engine between two nodes: itself, hooks, custom functions", "with_stack=True records the Python code of hooks and custom functions"},
	critpath.CallsOnly:         {"host code between runtime calls, without operators", "record CPU activities too, not the device alone"},
	critpath.PythonUnrecorded:  {"host code between operators: Python, NumPy, reading files", "with_stack=True records Python code, record_function names a part of it"},
	critpath.OutsidePython:     {"host code outside of the recorded Python frames", "put record_function around it; a system profiler shows threads of libraries"},
}

// recordElsewhere is how to record what is missing where no setting records waits, or another profiler than PyTorch's recorded.
var recordElsewhere = [critpath.NumReasons]string{
	critpath.NoReason:         "no setting of the profiler is known that records what this device waited for",
	critpath.EventNotRecorded: "record all processes that share the device",
}

// lackOf says what the profiler was not asked for, where that is the reason and profilers are asked in words of their own.
var lackOf = map[critpath.Reason]vendors.Lack{
	critpath.HostNotRecorded: vendors.LacksHost, critpath.CallsOnly: vendors.LacksParts, critpath.PythonUnrecorded: vendors.LacksParts, critpath.OutsidePython: vendors.LacksParts,
}

// howToRecord is how to record what is missing for a reason.
func howToRecord(reason critpath.Reason, by trace.Recorder, waits func() bool) string {
	lack, known := lackOf[reason]
	if known && by != vendors.PyTorch {
		return cmp.Or(vendors.HowToRecord(by, lack), reasonWords[reason].record)
	}
	if other := recordElsewhere[reason]; other != "" && (by != vendors.PyTorch || !waits()) {
		return other
	}
	return reasonWords[reason].record
}

// unknowns lists time that no event owns, by reason and by what stands around.
func unknowns(g *graph.Graph, list []critpath.Gap, window int64, top int) (by []Unknown, gaps []Gap) {
	by, gaps = []Unknown{}, []Gap{}
	waits := sync.OnceValue(func() bool { return vendors.CanRecordWaits(g.Trace.Syms) })
	name := func(s trace.Sym) string {
		if s == 0 {
			return ""
		}
		return critpath.NormalName(g.Trace.Str(s))
	}
	for _, x := range list {
		kind, reason, share := x.Kind.String(), x.Reason.String(), tables.ShareOf(x.NS, window)
		n := slices.IndexFunc(by, func(u Unknown) bool { return u.Kind == kind && u.Reason == reason })
		if n < 0 {
			n = len(by)
			by = append(by, Unknown{Kind: kind, Reason: reason, Likely: reasonWords[x.Reason].likely, Record: howToRecord(x.Reason, g.Trace.Recorder, waits)})
		}
		by[n].NS += x.NS
		by[n].Count += x.Count
		if len(gaps) < top {
			gaps = append(gaps, Gap{kind, reason, name(x.Before), name(x.After), x.NS, share, x.Count, x.Longest, x.At})
		}
	}
	for i := range by {
		by[i].Share = tables.ShareOf(by[i].NS, window)
	}
	slices.SortStableFunc(by, func(x, y Unknown) int { return int(min(max(y.NS-x.NS, -1), 1)) })
	return by, gaps
}

// unknownSection shows the time that no event owns, by reason and by what stands around it.
func (r *Report) unknownSection(list []tables.Table) Section {
	by, gaps := tables.Find(list, "unknown_time"), tables.Find(list, "gaps")
	s := Section{Name: "unknown", Title: "Time that no recorded event owns", Says: "What the profiler did not record, by its likely reason with what to do to see it; below that by what stands before and after."}
	if by == nil || by.Rows == 0 || gaps == nil {
		return s
	}
	s.Grids = filled([]Grid{
		gridWorth(by, cardRows, "share_of_window", "reasons", label("likely reason, and how to record it", func(l tables.Line) Cell {
			return Cell{Text: say(l, "{kind kind}: {likely}"), Small: Sentence(l.Str("record"))}
		}), bar(by, "ns", "{of kind}", ""), figure(by, "of the window", "share_of_window"), figure(by, "time", "ns"), figure(by, "times", "count")),
		gridWorth(gaps, cardRows, "share_of_window", "gaps", label("before it, and after it", func(l tables.Line) Cell {
			before, after := cellOf(l.Str("before"), r.Names.Readable(l.Str("before"))), cellOf(l.Str("after"), r.Names.Readable(l.Str("after")))
			return Cell{Text: cmp.Or(before.Text, "the start of the row"), Small: "then " + cmp.Or(after.Text, "the end of the row"), Title: cmp.Or(before.Title, after.Title)}
		}), bar(gaps, "ns", "{of kind}", ""), figure(gaps, "of the window", "share_of_window"), figure(gaps, "time", "ns"), figure(gaps, "times", "count"), extra(figure(gaps, "longest", "longest_ns"))),
	})
	return s
}
