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
