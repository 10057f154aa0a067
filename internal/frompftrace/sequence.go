package frompftrace

import (
	"bytes"

	"overlay/internal/wire"
)

// sequence is a packet sequence: packets of one writer, in order.
type sequence struct {
	state int32 // in reader.states, -1 before the first
	clock map[uint64]*ownClock
}

// state is what later packets of a sequence build on, from one clearing of it to the next: strings by number, and
// defaults. Numbers are given once, so the whole table holds for each of its packets.
type state struct {
	names, cats, keys, strs table             // TrackEvent: names, categories, names and strings of arguments
	colors                  table             // what the viewer takes the colour of
	specs                   table             // render stages and hardware queues
	stages                  map[uint64]string // category of the events of a render stage
	copies                  map[uint64]bool   // stages that repeat slices
	kernels, kernelArgs     table             // compute kernels, names of their launch arguments

	clock uint64 // of packets that name none, 0 for the trace's
	track uint64 // of events that name none
}

// table holds strings by number.
type table struct {
	dense []text
	rest  map[uint64]text
}

// maxGap is how far ahead of the strings so far a number may lie to be kept in the slice.
const maxGap = 1024

// put keeps the first string of a number: a later one would be against the rules of the format.
func (t *table) put(iid uint64, s []byte) {
	if iid < uint64(len(t.dense))+maxGap {
		for uint64(len(t.dense)) <= iid {
			t.dense = append(t.dense, text{})
		}
		if !t.dense[iid].known {
			t.dense[iid] = newText(s)
		}
		return
	}
	if t.rest == nil {
		t.rest = map[uint64]text{}
	}
	if _, ok := t.rest[iid]; !ok {
		t.rest[iid] = newText(s)
	}
}

func (t *table) get(iid uint64) text {
	if iid < uint64(len(t.dense)) {
		if s := t.dense[iid]; s.known {
			return s
		}
	}
	return t.rest[iid]
}

// Fields of InternedData.
const (
	internedCategory   = 1
	internedName       = 2
	internedKey        = 3
	internedSpec       = 24
	internedString     = 29
	internedColor      = 43
	internedKernel     = 1000
	internedKernelArgs = 1001
)

// intern takes the strings that a packet sends.
func (r *reader) intern(st *state, data []byte, at int64) {
	f := wire.Over(data)
	for f.Next() {
		var t *table
		switch f.Num {
		case internedCategory:
			t = &st.cats
		case internedName:
			t = &st.names
		case internedKey:
			t = &st.keys
		case internedString:
			t = &st.strs
		case internedColor:
			t = &st.colors
		case internedSpec:
			t = &st.specs
		case internedKernel:
			t = &st.kernels
		case internedKernelArgs:
			t = &st.kernelArgs
		default:
			continue
		}
		var iid, category uint64
		var name, demangled []byte
		copies := false
		e := wire.Over(f.S)
		for e.Next() {
			switch {
			case e.Num == 1:
				iid = e.V
			case e.Num == 2:
				name = e.S
			case e.Num == 3 && f.Num == internedKernel:
				demangled = e.S
			case e.Num == 4 && f.Num == internedSpec:
				category = e.V
			case e.Num == 3 && f.Num == internedSpec:
				copies = string(e.S) == ownStages
			}
		}
		if e.Bad {
			r.mend(ReasonBroken, at)
			continue
		}
		if len(demangled) > 0 {
			name = demangled
		}
		t.put(iid, name)
		switch f.Num {
		case internedCategory:
			r.hasCategories = true
		case internedSpec:
			st.stage(iid, stageCategory(name, category == stageCompute), copies)
		}
	}
	if f.Bad {
		r.mend(ReasonBroken, at)
	}
}

// ownStages is the description of the stages that this program draws beside the slices of the same operations: the slices
// say more.
const ownStages = "drawn by overlay"

// stageCompute is the category of a specification.
const stageCompute = 2

// stageCategory is the category for a stage by its name (InternedGpuRenderStageSpecification).
func stageCategory(name []byte, compute bool) string {
	low := bytes.ToLower(name)
	has := func(s string) bool { return bytes.Contains(low, []byte(s)) }
	switch {
	case has("annotation"):
		return "gpu_user_annotation"
	case has("eventrecord"):
		return "graph_event_node"
	case has("hostnode"):
		return "graph_host_node"
	case has("memset") || has("memoryset"):
		return "gpu_memset"
	case has("memcpy") || has("transfer") || has("copy"):
		return "gpu_memcpy"
	case has("kernel") || has("compute") || compute:
		return "kernel"
	}
	return "gpu_render_stage"
}

// stage notes what a render stage is. The first that is said of a number counts, as for its name.
func (st *state) stage(iid uint64, category string, copies bool) {
	if st.stages == nil {
		st.stages, st.copies = map[uint64]string{}, map[uint64]bool{}
	}
	if _, ok := st.stages[iid]; !ok {
		st.stages[iid] = category
	}
	if copies {
		st.copies[iid] = true
	}
}

// defaults takes the TracePacketDefaults of a packet.
func (st *state) defaults(data []byte) {
	for f := wire.Over(data); f.Next(); {
		switch f.Num {
		case 58:
			st.clock = f.V
		case 11:
			for e := wire.Over(f.S); e.Next(); {
				if e.Num == 11 {
					st.track = e.V
				}
			}
		}
	}
}
