package frompftrace

import (
	"bytes"
	"strconv"
	"strings"
)

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
