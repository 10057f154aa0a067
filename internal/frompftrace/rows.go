package frompftrace

import (
	"bytes"
	"strconv"
	"strings"
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
	case proc >= 0 && proc == i: // events of the process as a whole
		m.pidOf(x, proc)
		x.tid, x.numbers = m.freeTID(), true
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

// fromOwn takes apart the name that this program gives to a process: "python 4711 (rank 3)", "GPU 0 · NVIDIA H100".
func (p *process) fromOwn(t *track) {
	name, model, hasModel := bytes.Cut(t.name.raw, []byte(" · "))
	if word, number, ok := bytes.Cut(name, []byte(" ")); ok && isInteger(number) && isDeviceWord(word) {
		p.device, _ = strconv.ParseInt(string(number), 10, 64)
		p.label = string(name)
		if hasModel {
			p.model = model
		}
		if _, given, _ := originalProcess(t.description.raw); len(given) > 0 {
			p.name = given
		}
		return
	}
	name = t.name.raw
	if i := bytes.LastIndex(name, []byte(" (rank ")); i > 0 && bytes.HasSuffix(name, []byte(")")) {
		name = name[:i]
	}
	if pid, _, ok := originalProcess(t.description.raw); ok && len(pid) > 0 {
		name = bytes.TrimSuffix(name, append([]byte(" "), pid...))
	}
	p.name = name
}

// isDeviceWord reports whether a word stands before the number of a device: GPU, XPU, NPU.
func isDeviceWord(word []byte) bool {
	return len(word) >= 3 && len(word) <= 4 && strings.ToUpper(string(word)) == string(word) && isPlain(word)
}

// originalProcess reads what this program notes of a process: "pid=…", and "name=…" where it shows another one.
func originalProcess(description []byte) (pid, name []byte, ok bool) {
	rest, ok := bytes.CutPrefix(description, []byte("pid="))
	pid, name, _ = bytes.Cut(rest, []byte(" name="))
	return pid, name, ok
}

// originalRow reads what this program notes of a row that it renumbers: "pid=… tid=…".
func originalRow(description []byte) (pid, tid string, ok bool) {
	rest, ok := bytes.CutPrefix(description, []byte("pid="))
	if !ok {
		return "", "", false
	}
	i := bytes.LastIndex(rest, []byte(" tid="))
	if i < 0 {
		return "", "", false
	}
	return token(rest[:i]), token(rest[i+len(" tid="):]), true
}

// token is a pid or tid as JSON.
func token(s []byte) string {
	if isInteger(s) {
		return string(s)
	}
	return string(appendString(nil, s))
}

// numberAfter is the integer behind a prefix, where nothing else follows.
func numberAfter(s []byte, prefix string) (string, bool) {
	rest, ok := bytes.CutPrefix(s, []byte(prefix))
	if !ok || !isInteger(rest) {
		return "", false
	}
	return string(rest), true
}

// threadOfSDK reads the name that rocprofv3 gives to a thread: "THREAD 1 (4711)".
func threadOfSDK(name []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(name, []byte("THREAD "))
	if !ok {
		return "", false
	}
	_, rest, ok = bytes.Cut(rest, []byte(" ("))
	rest, closed := bytes.CutSuffix(bytes.TrimRight(rest, " "), []byte(")"))
	if !ok || !closed || !isInteger(rest) {
		return "", false
	}
	return string(rest), true
}

// rocm reads the names that rocprofv3 gives to rows of devices: "COMPUTE AGENT [4] STREAM [1] (GPU)",
// "COPY to AGENT [4] STREAM [1] (GPU)", "COMPUTE AGENT [4] QUEUE [0] (GPU)", "COPY to AGENT [4] THREAD [2] (GPU)".
// Kernels and copies of one stream are in order, so they share a row.
func (m *rowMaker) rocm(x *row, name []byte) bool {
	copies := bytes.HasPrefix(name, []byte("COPY to "))
	if !copies && !bytes.HasPrefix(name, []byte("COMPUTE ")) {
		return false
	}
	agent, rest, ok := inBrackets(name)
	if !ok {
		return false
	}
	number, _, ok := inBrackets(rest)
	if !ok {
		return false
	}
	if gpu, ok := m.streamAgent[number]; ok && bytes.Contains(rest, []byte("(CPU)")) {
		agent = gpu // the stream is one of a device, whichever way its copies go
	}
	x.pid, x.device, x.guess = agent, agent, gpuRow
	x.tid, x.stream = number, number
	if copies && bytes.Contains(rest, []byte("THREAD")) {
		x.tid = "1000" + number // the stream is not known; a row of its own for each thread that copied
		x.stream = x.tid
	}
	if _, ok := m.procOf[agent]; !ok {
		m.procOf[agent] = len(m.procs)
		m.procs = append(m.procs, process{pid: agent, device: -1, name: []byte("GPU " + agent), label: "GPU " + agent})
	}
	x.name = newText([]byte("stream " + x.tid))
	return true
}

// inBrackets is the first integer in brackets and what follows it.
func inBrackets(s []byte) (string, []byte, bool) {
	_, s, ok := bytes.Cut(s, []byte("["))
	if !ok {
		return "", nil, false
	}
	n, rest, ok := bytes.Cut(s, []byte("]"))
	if !ok || !isInteger(n) {
		return "", nil, false
	}
	return string(n), rest, true
}
