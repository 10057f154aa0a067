package frompftrace

import "strconv"

// row is what a track is in a Kineto trace: a pid and a tid, and what its place says of its events.
type row struct {
	head     []byte // `"pid":1,"tid":2`
	pid      string // as JSON
	tid      string
	name     text // of the thread
	overhead bool // the profiler's own work
	own      bool // written by this program
	added    bool // by a run of this program, to show the path
}

// process is a process of the text.
type process struct {
	pid    string
	name   []byte
	label  string
	device int64 // -1 for none
	model  []byte
	added  bool
}

// addedRoot is the name of the row under which a run of this program draws.
const addedRoot = "Critical path"

// rowMaker gives rows their numbers.
type rowMaker struct {
	r       *reader
	rows    []row
	procs   []process
	procOf  map[string]int  // pid as JSON -> index in procs
	byPID   map[int64]int32 // pid -> track with its descriptor
	rootPID map[int32]string
	nextPID int64
	nextTID int64
}

// makeRows resolves the tracks that hold events.
func (r *reader) makeRows() ([]row, []process) {
	m := &rowMaker{r: r, procOf: map[string]int{}, byPID: map[int64]int32{}, rootPID: map[int32]string{}, nextPID: 3_000_000, nextTID: 5_000_000}
	for i := range r.tracks {
		t := &r.tracks[i]
		m.nextPID = max(m.nextPID, t.pid+1)
		m.nextTID = max(m.nextTID, t.tid+1)
		if t.process {
			if _, ok := m.byPID[t.pid]; !ok {
				m.byPID[t.pid] = int32(i)
			}
		}
	}
	for i := range r.tracks {
		if r.tracks[i].used {
			r.tracks[i].row = int32(len(m.rows))
			m.rows = append(m.rows, row{})
			m.resolve(&m.rows[len(m.rows)-1], int32(i))
		}
	}
	return m.rows, m.procs
}

// maxParents bounds the search for the process of a row: descriptors may form a circle.
const maxParents = 100

// resolve finds what the row of a track is.
func (m *rowMaker) resolve(x *row, i int32) {
	tracks := m.r.tracks
	if !tracks[i].declared && tracks[i].uuid != 0 {
		m.r.mend(ReasonUnknownTrack, 0)
	}
	// Upwards: the nearest thread, the nearest process, the root.
	thread, proc, root := int32(-1), int32(-1), i
	for steps, k := 0, i; steps < maxParents; steps++ {
		t := &tracks[k]
		root = k
		if t.thread && thread < 0 {
			thread = k
		}
		if t.process {
			proc = k
			break
		}
		p, ok := m.r.trackOf[t.parent]
		if !ok || t.parent == 0 || p == k {
			break
		}
		k = p
	}
	x.name = tracks[i].name
	switch {
	case thread >= 0:
		m.onThread(x, thread, proc)
	case proc >= 0:
		m.pidOf(x, proc)
		x.tid = m.freeTID()
	default:
		m.onRoot(x, root)
	}
	x.head = []byte(`"pid":` + x.pid + `,"tid":` + x.tid)
}

// onThread gives the numbers of a thread descriptor, or the original ones where our own output notes them.
func (m *rowMaker) onThread(x *row, thread, proc int32) {
	t := &m.r.tracks[thread]
	if proc < 0 {
		proc = m.processOf(t.pid)
	}
	x.name = t.name
	x.pid, x.tid = strconv.FormatInt(t.pid, 10), strconv.FormatInt(t.tid, 10)
	if pid, tid, ok := originalRow(t.description.raw); ok {
		x.pid, x.tid, x.own = pid, tid, true
		m.addProcess(x.pid, proc, true)
		return
	}
	if proc < 0 {
		m.addProcess(x.pid, -1, false)
		return
	}
	m.pidOf(x, proc)
	// PyTorch's rows of synchronisation records: the numbers stand in the names, those of the descriptor are masked.
	if _, ok := numberAfter(m.r.tracks[proc].name.raw, "GPU "); ok {
		if s, ok := numberAfter(t.name.raw, "stream "); ok {
			x.tid = s
		}
	}
	x.overhead = string(m.r.tracks[proc].name.raw) == "Overhead"
}

// processOf is the process descriptor with a pid, -1 without.
func (m *rowMaker) processOf(pid int64) int32 {
	if i, ok := m.byPID[pid]; ok {
		return i
	}
	return -1
}

// pidOf gives the number of a process.
func (m *rowMaker) pidOf(x *row, proc int32) {
	t := &m.r.tracks[proc]
	x.pid = strconv.FormatInt(t.pid, 10)
	own := false
	if pid, _, ok := originalProcess(t.description.raw); ok {
		x.pid, own, x.own = token(pid), true, true
	} else if d, ok := numberAfter(t.name.raw, "GPU "); ok {
		x.pid = d
	}
	m.addProcess(x.pid, proc, own)
}

// onRoot makes up a process for rows that belong to none.
func (m *rowMaker) onRoot(x *row, root int32) {
	name := m.r.tracks[root].name.raw
	pid, ok := m.rootPID[root]
	if !ok {
		pid = strconv.FormatInt(m.nextPID, 10)
		m.nextPID++
		m.rootPID[root] = pid
		m.addProcess(pid, root, false)
		if _, own := m.r.attr("overlay.window_ns"); own && string(name) == addedRoot {
			m.procs[m.procOf[pid]].added = true
		}
	}
	x.pid, x.tid = pid, m.freeTID()
	x.added = m.procs[m.procOf[pid]].added
}

func (m *rowMaker) freeTID() string {
	m.nextTID++
	return strconv.FormatInt(m.nextTID-1, 10)
}

// addProcess notes a process of the text, once. own says that a run of this program named it.
func (m *rowMaker) addProcess(pid string, track int32, own bool) {
	if _, ok := m.procOf[pid]; ok {
		return
	}
	m.procOf[pid] = len(m.procs)
	p := process{pid: pid, device: -1}
	if track >= 0 {
		p.name = m.r.tracks[track].name.raw
		if own {
			p.fromOwn(&m.r.tracks[track])
		}
	}
	m.procs = append(m.procs, p)
}
