package advise

import (
	"fmt"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/stat"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// oldStacks is the argument of operators that held their Python stack before the profiler recorded frames.
const oldStacks = "Call stack"

// stacks reports whether Python stacks were recorded, as frames or on operators. Of these the first thousand are looked at.
func stacks(r *run) bool {
	return len(r.names[trace.Python]) > 0 || r.oldStacks()
}

func (r *run) findOldStacks() bool {
	seen := 0
	for a := range r.g.Acts {
		if id := cdg.ActID(a); r.kind(id) == trace.CPUOp {
			if s, ok := r.tr.Arg(r.g.Acts[id].Event, oldStacks); ok && s.Text != "" {
				return true
			}
			if seen++; seen == 1000 {
				break
			}
		}
	}
	return false
}

// viewOps compute nothing, so what they take is what any operator costs the CPU.
var viewOps = oneOf("aten::view", "aten::as_strided", "aten::t", "aten::transpose", "aten::detach", "aten::alias", "aten::unsqueeze", "aten::expand", "aten::select",
	"aten::slice", "aten::permute")

// viewTime lists operators that compute nothing, with the median of what these take themselves, ns; nil where they are too few.
func viewTime(r *run) (views []cdg.ActID, median int64) {
	if views = r.named(opKinds, viewOps); len(views) < fewOps {
		return nil, 0
	}
	own := make([]int64, len(views))
	for i, a := range views {
		own[i] = r.own(a)
	}
	return views, stat.Median(own)
}

const (
	usualOp = 1_500 // ns that a view takes: 0.3 to 4 µs on CPUs of today
	slowOp  = 8_000
	fewOps  = 20
)

var slowHostOps = add(rule{
	id: "slow-host-ops", group: Measurement, kind: Predicted, level: Medium, limit: baseShare,
	why:      "a slow CPU looks the same as a profiler that records much",
	title:    "every operator is slow, even those that compute nothing",
	cause:    "recording costs each operator some µs, most with stacks and shapes; so does a slow or busy CPU",
	scenario: "each operator takes as much less as views take more than 1.5 µs, and a sixth of its time at least",
	action:   []string{"record again without with_stack, record_shapes and detect_anomaly", "if that changes nothing: look at the CPU's frequency governor and at what else runs there"},
	verify:   "views take less than 4 µs",
	find: func(r *run) *found {
		views, usual := viewTime(r)
		if usual < slowOp {
			return nil
		}
		ops := r.named(opKinds, anyName)
		f := &found{events: events{list: views, expected: usualOp}, change: r.scenario(), do: "record again without with_stack",
			saw:     fmt.Sprintf("operators that compute nothing take %s", tables.Duration(usual)),
			numbers: []Number{timeOf("median of views", usual), countOf("views", len(views)), countOf("operators", len(ops))}}
		if !r.tr.Shapes && !stacks(r) {
			f.do = "look at the CPU: stacks and shapes were not recorded"
			f.why = "neither stacks nor shapes were recorded, so it is more likely the CPU than the profiler"
			f.action = []string{"look at the CPU: its frequency governor, what else runs there, whether PyTorch is a debug build",
				"time a step without a profiler, by the clock: if it is as long as here, it is the CPU", "record without profile_memory and detect_anomaly"}
		}
		f.change.scale(ops, func(_ cdg.ActID, own int64) int64 { return max(own-(usual-usualOp), own*15/100) })
		return f
	},
})

var _ = add(rule{
	id: "unseen-time", group: Note, kind: None, level: High,
	why:      "the critical path says so",
	title:    "a part of the critical path is not recorded",
	cause:    "nothing was recorded there but the annotation around it, if that",
	scenario: "",
	action:   []string{"profile(with_stack=True) in a short run", "record_function(\"...\") around the parts of the loop"},
	verify:   "untraced time on the path falls",
	find: func(r *run) *found {
		blind := r.total.Class[critpath.ClassUntraced] + r.total.Class[critpath.ClassUnexplained]
		var marks []cdg.ActID
		marked := int64(0)
		_, beside := r.besideGloo()
		for a := range r.g.Acts {
			id := cdg.ActID(a)
			if r.kind(id) != trace.Annotation {
				continue
			}
			if ns := max(r.mark(id)-beside[id], 0); ns > 0 && !ownWork(r.name(id)) {
				marks = append(marks, id)
				marked += ns
			}
		}
		if 10*(blind+marked) < r.window {
			return nil
		}
		f := &found{events: events{list: marks}, saw: tables.Duration(blind+marked) + " of the path",
			do: "record a short run with_stack=True, or put record_function around parts of the loop"}
		parts, host := vendors.HowToRecord(r.tr.Recorder, vendors.LacksParts), vendors.HowToRecord(r.tr.Recorder, vendors.LacksHost)
		switch {
		case r.firstOp == 0:
			f.cause, f.do, f.action = "the device alone was recorded: nothing tells what the host did", host, []string{host}
		case r.tr.Recorder != vendors.PyTorch:
			f.do, f.action = parts, []string{parts}
		case stacks(r):
			f.do, f.action = "put record_function around parts of the loop", []string{parts}
		}
		if blind > 0 {
			f.numbers = append(f.numbers, timeOf("untraced or unexplained", blind))
		}
		if marked > 0 {
			f.numbers = append(f.numbers, timeOf("in annotations without operators", marked))
		}
		return f
	},
})

// ownWork reports whether an annotation stands for work itself: of the data loader, or of a backend of collectives.
func ownWork(name string) bool {
	_, _, call := vendors.BackendCall(name)
	return call || strings.HasPrefix(name, "enumerate(DataLoader)")
}

var _ = add(rule{
	id: "records-lost-launch", group: Note, kind: None, level: High,
	why:      "operations without the call that launched them",
	title:    "operations of the GPU have no recorded launch",
	cause:    "they were launched before recording began, or the profiler lost the records: what the CPU did for them is not known",
	scenario: "",
	action:   []string{"start the profiler a step earlier: schedule(wait=1, warmup=2, active=3)", "synchronize before recording begins"},
	verify:   "every operation has a launch",
	find: func(r *run) *found {
		var lost []cdg.ActID
		calls := 0
		for _, o := range r.ops {
			if r.launch(o) == cdg.NoAct {
				lost = append(lost, o)
			} else {
				calls++
			}
		}
		if len(lost) <= 10 || 50*len(lost) <= len(r.ops) || calls == 0 {
			return nil
		}
		return &found{events: events{list: lost}, do: "start the profiler a step earlier", saw: fmt.Sprintf("%s of %s operations", tables.Grouped(int64(len(lost))), tables.Grouped(int64(len(r.ops)))),
			numbers: []Number{countOf("operations without launch", len(lost)), countOf("operations", len(r.ops))}}
	},
})
