package frompftrace

// sequence is a packet sequence: packets of one writer, in order.
type sequence struct {
	state int32 // in reader.states, -1 before the first
	clock map[uint64]*ownClock
}

// state is what later packets of a sequence build on, from one clearing of it to the next: strings by number, and
// defaults. Numbers are given once, so the whole table holds for each of its packets.
type state struct {
	names, cats, keys, strs table             // TrackEvent: names, categories, names and strings of arguments
	specs                   table             // render stages and hardware queues
	stages                  map[uint64]string // category of the events of a render stage
	copies                  map[uint64]bool   // stages that repeat slices
	kernels, kernelArgs     table             // compute kernels, names of their launch arguments
	contexts                map[uint64]int64  // graphics context -> pid

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
	internedContext    = 23
	internedSpec       = 24
	internedString     = 29
	internedKernel     = 1000
	internedKernelArgs = 1001
)

// intern takes the strings that a packet sends.
func (r *reader) intern(st *state, data []byte, at int64) {
	f := over(data)
	for f.next() {
		var t *table
		switch f.num {
		case internedCategory:
			t = &st.cats
		case internedName:
			t = &st.names
		case internedKey:
			t = &st.keys
		case internedString:
			t = &st.strs
		case internedSpec:
			t = &st.specs
		case internedKernel:
			t = &st.kernels
		case internedKernelArgs:
			t = &st.kernelArgs
		case internedContext:
			r.internContext(st, f.s)
			continue
		default:
			continue
		}
		var iid, category uint64
		var name, demangled []byte
		copies := false
		e := over(f.s)
		for e.next() {
			switch {
			case e.num == 1:
				iid = e.v
			case e.num == 2:
				name = e.s
			case e.num == 3 && f.num == internedKernel:
				demangled = e.s
			case e.num == 4 && f.num == internedSpec:
				category = e.v
			case e.num == 3 && f.num == internedSpec:
				copies = string(e.s) == ownStages
			}
		}
		if e.bad {
			r.mend(ReasonBroken, at)
			continue
		}
		if len(demangled) > 0 {
			name = demangled
		}
		t.put(iid, name)
		switch f.num {
		case internedCategory:
			r.hasCategories = true
		case internedSpec:
			st.stage(iid, stageCategory(name, category == stageCompute), copies)
		}
	}
	if f.bad {
		r.mend(ReasonBroken, at)
	}
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

func (r *reader) internContext(st *state, data []byte) {
	var iid uint64
	var pid int64
	e := over(data)
	for e.next() {
		switch e.num {
		case 1:
			iid = e.v
		case 2:
			pid = int64(int32(e.v))
		}
	}
	if st.contexts == nil {
		st.contexts = map[uint64]int64{}
	}
	st.contexts[iid] = pid
}

// defaults takes the TracePacketDefaults of a packet.
func (st *state) defaults(data []byte) {
	f := over(data)
	for f.next() {
		switch f.num {
		case 58:
			st.clock = f.v
		case 11:
			e := over(f.s)
			for e.next() {
				if e.num == 11 {
					st.track = e.v
				}
			}
		}
	}
}
