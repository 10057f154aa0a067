package fromxplane

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/kinetotext"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// hostPID is the process of everything on the CPU; planes are numbered from 1.
const hostPID = 1 << 24

// write writes all planes. What the calls of a device's runtime have in a plane of their own is of the same process as the rest.
func (r *reader) write() {
	var cpu []thread
	var names []kinetotext.Device
	for _, p := range r.planes {
		if strings.HasPrefix(p.name, host) {
			for i := range p.lines {
				cpu = append(cpu, r.thread(p, &p.lines[i]))
			}
		}
		for i := range p.stats {
			if id, ok := gpu(p.name); ok && p.stats[i].name == "gpu_device_name" {
				names = append(names, kinetotext.Device{ID: id, Name: p.stats[i].text})
			}
		}
	}
	r.w.Head(r.start, -1, names)
	if len(cpu) > 0 {
		r.w.Name("process_name", hostPID, hostPID, "name", host+"CPU")
		joinCalls(cpu)
	}
	for i := range cpu {
		t := &cpu[i]
		if t.name != "" {
			r.w.Name("thread_name", hostPID, t.id, "name", t.name)
		}
		for k := range t.events {
			r.hostEvent(t, &t.events[k])
		}
	}
	for i, p := range r.planes {
		if strings.HasPrefix(p.name, host) || len(p.lines) == 0 {
			continue
		}
		pid := int64(i + 1)
		r.w.Name("process_name", pid, pid, "name", p.name)
		for k := range p.lines {
			l := &p.lines[k]
			r.w.Name("thread_name", pid, l.id, "name", l.name)
			for _, b := range l.events {
				r.w.Took(len(b))
				e := p.read(l, b, r.start)
				r.deviceEvent(p, l, pid, &e)
			}
		}
	}
}

// gpu is the number of the GPU that a plane is of.
func gpu(plane string) (int64, bool) {
	number, ok := strings.CutPrefix(plane, devices+"GPU:")
	id, err := strconv.ParseInt(number, 10, 64)
	return id, ok && err == nil
}

// deviceEvent writes an event of a device. Streams of GPUs hold operations; all other rows are what package vendors says.
func (r *reader) deviceEvent(p *plane, l *line, pid int64, e *event) {
	device, ok := gpu(p.name)
	number, isStream := strings.CutPrefix(l.name, "Stream #")
	number, _, _ = strings.Cut(number, "(")
	stream, err := strconv.ParseInt(number, 10, 64)
	if !ok || !isStream || err != nil {
		r.slice("", e.kind.name, pid, l.id, e)
		r.end(e)
		return
	}
	words := e.details()
	category, name := "kernel", e.kind.name
	way, copies := strings.CutPrefix(name, "Memcpy")
	switch {
	case copies && len(way) == 3 && way[1] == '2':
		category, name = "gpu_memcpy", "Memcpy "+way[:1]+"to"+way[2:]
		if from, to := words["kind_src"], words["kind_dst"]; from != "" && to != "" {
			name += " (" + title(from) + " -> " + title(to) + ")"
		}
	case copies:
		category = "gpu_memcpy"
	case strings.HasPrefix(name, "Memset"):
		category = "gpu_memset"
	}
	r.slice(category, name, pid, l.id, e)
	r.w.Int("device", device)
	r.w.Int("stream", stream)
	for _, key := range []string{"grid", "block"} {
		if n, ok := three(words[key]); ok {
			r.w.Three(key, n[0], n[1], n[2])
		}
	}
	if n, err := strconv.ParseInt(words["size"], 10, 64); err == nil {
		r.w.Int("bytes", n)
	}
	r.end(e)
}

// details are the words of kernel_details, memcpy_details and memset_details: "regs:38 grid:160,1,1".
func (e *event) details() map[string]string {
	words := map[string]string{}
	for _, list := range [][]stat{e.stats, e.kind.stats} {
		for i := range list {
			if strings.HasSuffix(list[i].name, "_details") {
				for _, word := range strings.Fields(list[i].text) {
					key, value, _ := strings.Cut(word, ":")
					words[key] = value
				}
			}
		}
	}
	return words
}

// title is a kind of memory in Kineto's words: Pinned, Pageable, Device.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// three reads "160,1,1".
func three(s string) (n [3]int64, ok bool) {
	parts := strings.Split(s, ",")
	for i := range min(len(parts), 3) {
		v, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil {
			return n, false
		}
		n[i] = v
	}
	return n, len(parts) == 3
}

// hostEvent writes an event of a thread: a step that the program marked, a call that has a correlation, a frame of Python
// ("$file.py:12 name"), a call that waits by its name, or work of XLA's. Older versions call a call like what it launched; of a copy the
// details say whether the call waited.
func (r *reader) hostEvent(t *thread, e *event) {
	category, name := "", e.kind.name
	frame, python := vendors.PythonFrame(name)
	step := e.stat("step_num")
	switch {
	case step != nil:
		category, name = "user_annotation", trace.StepPrefix+strconv.FormatInt(step.number(), 10)
	case e.stat(correlation) != nil:
		category = vendors.CallCategory(name)
		if strings.HasPrefix(name, "Memcpy") && e.details()["async"] == "1" {
			name += "Async"
		}
	case python:
		category, name = "python_function", frame
	case vendors.VerbOf(name).Blocks():
		category = vendors.CallCategory(name)
	default:
		category = "cpu_op"
	}
	r.slice(category, name, hostPID, t.id, e)
	if step != nil {
		r.w.Str("range", e.kind.name)
	}
	r.end(e)
}

// correlation is the value that a call and what it launched share.
const correlation = "correlation_id"

// slice begins an event, end adds its values.
func (r *reader) slice(category, name string, pid, tid int64, e *event) {
	r.events++
	r.w.Slice(category, name, pid, tid, e.start, e.end)
}

func (r *reader) end(e *event) {
	seen := map[string]bool{}
	for _, list := range [][]stat{e.stats, e.kind.stats} {
		for i := range list {
			switch s := &list[i]; {
			case s.kind == 0 || s.name == "" || seen[s.name]:
				continue
			case s.name == correlation:
				r.w.Int("correlation", s.number())
			case s.isText():
				r.w.Str(s.name, s.text)
			case s.kind == statDouble:
				r.w.Float(s.name, math.Float64frombits(uint64(s.num)))
			default:
				r.w.Int(s.name, s.num)
			}
			seen[list[i].name] = true
		}
	}
	r.w.End()
}

// thread is a line of the CPU with its events read.
type thread struct {
	id     int64
	name   string
	events []event
	calls  bool // it holds calls of a device's runtime and nothing else
}

func (r *reader) thread(p *plane, l *line) thread {
	t := thread{id: l.id, name: l.name, calls: len(l.events) > 0}
	for _, b := range l.events {
		r.w.Took(len(b))
		e := p.read(l, b, r.start)
		t.calls = t.calls && e.stat(correlation) != nil
		t.events = append(t.events, e)
	}
	slices.SortStableFunc(t.events, func(a, b event) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	return t
}

// joinCalls finds the threads that made the calls. Calls are recorded on lines of their own, by another number of the thread
// than that of the slices of the program: all calls of a thread lie in slices of it. Of several lines whose calls lie in slices of one
// thread, the line that fills the slices around its calls best is the thread's.
func joinCalls(threads []thread) {
	const most = 64 // lines of calls: there is one for each thread that launches
	var fits []fit
	looked := 0
	for i := range threads {
		if !threads[i].calls || looked == most {
			continue
		}
		looked++
		for k := range threads {
			if threads[k].calls {
				continue
			}
			if share := filled(&threads[k], &threads[i]); share >= 0.5 {
				fits = append(fits, fit{i, k, share})
			}
		}
	}
	slices.SortStableFunc(fits, func(a, b fit) int { return cmp.Compare(b.share, a.share) })
	taken := map[int]bool{}
	for _, f := range fits {
		if !taken[f.calls] && !taken[f.of] {
			taken[f.calls], taken[f.of] = true, true
			threads[f.calls].id, threads[f.calls].name = threads[f.of].id, ""
		}
	}
}

// fit says how well a line of calls fits a thread.
type fit struct {
	calls, of int
	share     float64
}

// filled is the share of the innermost slices of a thread around calls that the calls take; 0 when some call lies in none.
func filled(t, calls *thread) float64 {
	var open []*event
	var inside, around int64
	n := 0
	for i := range calls.events {
		c := &calls.events[i]
		for ; n < len(t.events) && t.events[n].start <= c.start; n++ {
			open = append(closed(open, t.events[n].start), &t.events[n])
		}
		open = closed(open, c.start)
		k := len(open) - 1
		for k >= 0 && open[k].end < c.end {
			k--
		}
		if k < 0 {
			return 0
		}
		inside, around = inside+c.end-c.start, around+open[k].end-open[k].start
	}
	return float64(inside) / float64(max(around, 1))
}

// closed takes slices off the stack that have ended.
func closed(open []*event, at int64) []*event {
	for len(open) > 0 && open[len(open)-1].end <= at {
		open = open[:len(open)-1]
	}
	return open
}
