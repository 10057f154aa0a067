package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/roofline"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// findCollectives lists the kernels that communicate, in order of the graph.
func (r *run) findCollectives() []cdg.ActID {
	return slices.Clip(r.named(gpuKernel, vendors.IsCollective))
}

// laterCollectives are the collectives without the first of each stream: that one waits for ranks whose recording began later, or
// that were set up later, and says nothing of what the others wait for.
func laterCollectives(r *run) []cdg.ActID {
	seen := map[cdg.LaneID]bool{}
	return slices.DeleteFunc(slices.Clone(r.collectives()), func(a cdg.ActID) bool {
		lane := r.g.Acts[a].Lane
		first := !seen[lane]
		seen[lane] = true
		return first
	})
}

// criticalOf is the time of activities on the critical path.
func (r *run) criticalOf(list []cdg.ActID) int64 {
	return sum(list, r.mark)
}

// message is what a collective moves.
type message struct {
	bytes int64
	ranks int64
	name  string
}

// messageOf reads what a collective moves: from its own args, else from the shapes of the operator that asked for it.
func messageOf(r *run, op cdg.ActID) (message, bool) {
	m := message{name: r.name(op), ranks: r.tr.Distributed.World}
	id := r.g.Acts[op].Event
	if c, ok := r.tr.Collective(id); ok && c.Bytes() > 0 {
		m.bytes, m.name = c.Bytes(), c.Name
		if c.Group.Size > 0 {
			m.ranks = c.Group.Size
		}
		return m, true
	}
	l := r.launch(op)
	for a := l; a != cdg.NoAct; a = r.g.Parent[a] {
		name := r.name(a)
		_, collective, ok := vendors.BackendCall(name)
		if !ok && name != trace.RecordedCollective {
			continue
		}
		if n := shapeBytes(r, a); n > 0 {
			m.bytes = n
			if ok {
				m.name = collective
			}
			return m, true
		}
	}
	return m, false
}

// shapeBytes is the size of the largest input of an operator, 0 when shapes are not recorded.
func shapeBytes(r *run, a cdg.ActID) (most int64) {
	call, _ := roofline.ReadCall(r.tr, r.g.Acts[a].Event)
	for i := range call.In {
		if len(call.In[i].Dims) > 0 {
			most = max(most, call.In[i].Bytes())
		}
	}
	return most
}

// generous is longer than a collective of this size takes when all ranks are there: a start, a bit for each rank, and the
// bytes at 30 % of the link.
func generous(m *message) int64 {
	n := float64(m.ranks)
	if n < 2 {
		n = 8
	}
	rate := 45.0 // bytes a ns: 30 % of the slowest link between the devices of a host that is sold for training
	if n > 8 {
		rate = 4 // a third of a port of 100 Gb/s
	}
	return int64(30_000 + 3_000*n + float64(m.bytes)*trace.BusFactor(m.name, int64(n))/rate)
}

// exchange tells the kernels that move pieces between all ranks, which libraries also make of single sends and receives.
func exchange(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "sendrecv") || strings.Contains(name, "alltoall") || strings.Contains(name, "all_to_all")
}

var commWait = add(rule{
	id: "comm-wait", group: Specific, class: critpath.ClassComm, kind: AtMost, level: Medium,
	why:      "the trace of one rank cannot tell waiting from a slow link",
	title:    "collectives take much longer than their bytes need",
	cause:    "another rank comes late, or the link is slow",
	scenario: "each such collective takes a generous time for its size",
	action:   []string{"profile all ranks, and compare them: overlay advise FOLDER; the rank with the shortest collectives is the late one", "where all are slow alike: nccl-tests on the same nodes"},
	verify:   "the time of the collectives falls to that of their bytes",
	find: func(r *run) *found {
		all := laterCollectives(r)
		critical := r.criticalOf(all)
		var far, long []cdg.ActID
		need := map[cdg.ActID]int64{}
		for _, a := range all {
			m, ok := messageOf(r, a)
			if !ok {
				continue
			}
			g := generous(&m)
			need[a] = g
			switch d := r.dur(a); {
			case d > 5*g && d > g+200_000:
				far = append(far, a)
			case d > 2*g:
				long = append(long, a)
			}
		}
		if len(far) == 0 || critical == 0 || 10*r.criticalOf(far) < 3*critical {
			return nil
		}
		list := append(far, long...)
		f := &found{events: events{list: list}, change: r.scenario(), do: "find the late rank: overlay advise FOLDER",
			saw:     fmt.Sprintf("%s of %s wait", tables.Grouped(int64(len(list))), tables.Counted(len(all), "collective")),
			numbers: []Number{countOf("collectives", len(all)), countOf("long ones", len(list)), timeOf("in long ones", sum(list, r.dur)), timeOf("on the critical path", r.criticalOf(list))}}
		f.change.scale(list, func(a cdg.ActID, own int64) int64 { return min(own, need[a]) })
		return f
	},
})

var _ = add(rule{
	id: "comm-exposed", group: General, rank: 2, class: critpath.ClassComm, kind: AtMost, level: Low,
	why:      "that all of it can be hidden is the best case",
	title:    "communication is not hidden behind computation",
	cause:    "the GPU computes nothing while it waits for a collective",
	scenario: "collectives take no time",
	action: []string{"DDP: bucket_cap_mb; FSDP: backward_prefetch=BackwardPrefetch.BACKWARD_PRE", "async_op=True, and wait where the result is needed",
		"fewer bytes: a bf16 compression hook"},
	verify: "communication on the critical path falls",
	find: func(r *run) *found {
		all := laterCollectives(r)
		critical := r.criticalOf(all)
		if len(r.ops) == 0 {
			return exposedGloo(r)
		}
		if len(all) == 0 || critical*100 < r.window {
			return nil
		}
		if w := r.result(commWait); w != nil && 10*r.criticalOf(w.events.list) >= 6*critical {
			return nil // what waits for another rank cannot be hidden
		}
		exposed := slices.DeleteFunc(slices.Clone(all), func(a cdg.ActID) bool { return r.mark(a) == 0 })
		f := &found{events: events{list: exposed}, change: r.scenario(), do: "hide collectives: bucket_cap_mb, async_op=True",
			saw:     fmt.Sprintf("%s, %s on the path", tables.Counted(len(exposed), "collective"), tables.Duration(critical)),
			numbers: []Number{countOf("collectives", len(all)), countOf("of them on the critical path", len(exposed)), timeOf("on the critical path", critical)}}
		most := func(fits func(a cdg.ActID) bool) bool {
			return 2*r.criticalOf(slices.DeleteFunc(slices.Clone(exposed), func(a cdg.ActID) bool { return !fits(a) })) > critical
		}
		norms := r.within(r.named(markKinds, func(s string) bool { return strings.HasPrefix(s, "SyncBatchNorm") }))
		switch { // buckets of gradients are not what is waited for
		case most(func(a cdg.ActID) bool { return norms.by(a) != cdg.NoAct }):
			f.title, f.do = "batch norm exchanges its statistics between all ranks", "BatchNorm by GPU, or GroupNorm"
			f.action = []string{"BatchNorm on each GPU by itself, where its batch is large enough", "GroupNorm, which needs no other samples"}
		case most(func(a cdg.ActID) bool { return exchange(r.name(a)) }):
			f.do = "hide the all-to-all: async_op=True"
			f.action = []string{"async_op=True, and wait where the result is needed", "exchange the inputs of the next batch while this one is computed", "fewer bytes: 16 bits a number in the exchange"}
		}
		if r.program().jax {
			f.do = "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true"
			f.action = []string{f.do, "jax.lax collectives as early, and their results as late, as the program allows"}
		}
		f.change.zero(all)
		return f
	},
})
