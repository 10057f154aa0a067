package frompftrace

import (
	"bytes"
	"strconv"
)

// row is what a track is in a Kineto trace: a pid and a tid, and what its place says of its events.
type row struct {
	head    []byte // `"pid":1,"tid":2`
	pid     string // as JSON
	tid     string
	name    text // of the thread
	guess   rowKind
	device  string // number of the device, for rows of rocprofv3
	stream  string
	own     bool // written by this program
	added   bool // by a run of this program, to show the path
	numbers bool // pid or tid are made up
}

// rowKind is what a row says of events without a category.
type rowKind uint8

const (
	anyRow      rowKind = iota
	gpuRow              // a stream of a device
	overheadRow         // the profiler's own work
)

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
	// streamAgent is the device of a stream in traces of rocprofv3.
	streamAgent map[string]string
	onlyPID     string // of the only process that is described
	nextPID     int64
	nextTID     int64
}

// makeRows resolves the tracks that hold events.
func (r *reader) makeRows() ([]row, []process) {
	m := &rowMaker{r: r, procOf: map[string]int{}, byPID: map[int64]int32{}, rootPID: map[int32]string{}, streamAgent: map[string]string{}, nextPID: 3_000_000, nextTID: 5_000_000}
	processes := 0
	for i := range r.tracks {
		t := &r.tracks[i]
		m.nextPID = max(m.nextPID, t.pid+1)
		m.nextTID = max(m.nextTID, t.tid+1)
		if name := t.name.raw; bytes.Contains(name, []byte("STREAM [")) && bytes.Contains(name, []byte("(GPU)")) {
			if agent, rest, ok := inBrackets(name); ok {
				if number, _, ok := inBrackets(rest); ok {
					m.streamAgent[number] = agent
				}
			}
		}
		if t.process {
			processes++
			if _, ok := m.byPID[t.pid]; !ok {
				m.byPID[t.pid] = int32(i)
			}
			m.onlyPID = strconv.FormatInt(t.pid, 10)
		}
	}
	if processes != 1 {
		m.onlyPID = ""
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
		x.tid, x.numbers = m.freeTID(), true
	case m.rocm(x, tracks[i].name.raw):
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
			x.tid, x.guess = s, gpuRow
		}
	}
	if string(m.r.tracks[proc].name.raw) == "Overhead" {
		x.guess = overheadRow
	}
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
	if tid, ok := threadOfSDK(name); ok {
		x.pid, x.tid = m.onlyPID, tid
		if x.pid == "" {
			x.pid = "0"
		}
		m.addProcess(x.pid, m.processOfPID(x.pid), false)
		return
	}
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
	x.pid, x.tid, x.numbers = pid, m.freeTID(), true
	x.added = m.procs[m.procOf[pid]].added
}

func (m *rowMaker) processOfPID(pid string) int32 {
	n, err := strconv.ParseInt(pid, 10, 64)
	if err != nil {
		return -1
	}
	return m.processOf(n)
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
