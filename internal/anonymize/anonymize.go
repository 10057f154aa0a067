// Package anonymize makes traces safe to share: names that tell of people, machines and code are replaced.
package anonymize

import (
	"bytes"
	"errors"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/chrome"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Graph returns a graph and a path that are the same but for names: those that tell of people, machines, jobs,
// files and code of the user are replaced by pseudonyms. A string always gets the same one. What is made of known words
// stays: names of PyTorch, of vendors' interfaces and of libraries of kernels (words.txt, internal/vendors). Everything else is replaced,
// keys of objects included. The trace of the result is a new one, with new bytes; positions of events are the same.
// A trace that was not read from JSON has no bytes to rewrite: that is the error.
func Graph(g *graph.Graph, p *critpath.Path) (*graph.Graph, *critpath.Path, error) {
	if kineto.TextOf(g.Trace) == nil {
		return nil, nil, errors.New("the trace cannot be anonymised: it was not read from JSON")
	}
	g2, deps, layout, p2 := *g, *g.Graph, *g.Graph.Layout, *p
	g2.Graph, deps.Layout = &deps, &layout
	g2.Trace = anonymizeTrace(g.Trace)
	g2.Window.Annotation = annotationName(g.Window.Annotation)
	p2.Window.Annotation = annotationName(p.Window.Annotation)
	for _, w := range []*cdg.Window{&g2.Window, &p2.Window} {
		if !isNumbers(strings.ReplaceAll(w.Instance, ":", " ")) { // the record of a slim trace may say anything
			w.Instance = pseudonym("", w.Instance)
		}
	}
	g2.Steps = append([]cdg.Step(nil), g.Steps...)
	for i := range g2.Steps {
		if s := &g2.Steps[i]; trace.IsStep(s.Name) || s.Of.Type == trace.NoIteration { // the names of iterations are made of their types
			s.Name = annotationName(s.Name)
		}
	}
	return &g2, &p2, nil
}

// Text returns a name of the job, such as that of a process group, as it may be shown: what is made of known words stays.
func Text(s string) string { return argText(true, s) }

type anonymizer struct {
	tr   *trace.Trace
	old  *kineto.Text
	json *kineto.Text // of the new trace
	out  trace.Trace
	syms map[string]trace.Sym
	name map[nameKey]trace.Sym // pseudonyms of names
	text map[string]string     // of texts under known keys
	vals values                // of args
	buf  []byte
}

type nameKey struct {
	sym  trace.Sym
	kind trace.Kind
	ph   byte
}

func anonymizeTrace(tr *trace.Trace) *trace.Trace {
	a := &anonymizer{tr: tr, old: kineto.TextOf(tr), out: *tr, json: &kineto.Text{}, syms: map[string]trace.Sym{}, name: map[nameKey]trace.Sym{}, text: map[string]string{}}
	a.vals = values{known: func(key string) bool { return knownArgs[key] }, text: a.argText}
	a.out.File, a.out.Source, a.out.Origins = "", a.json, nil
	a.json.ArrayForm = a.old.ArrayForm
	a.out.DeviceNames = make(map[int64]string, len(tr.DeviceNames))
	for id, name := range tr.DeviceNames {
		a.out.DeviceNames[id] = metaText(true, name)
	}
	a.out.Syms = make([]string, len(tr.Syms)) // categories and tokens keep their numbers, names get new ones
	a.categories()
	a.rows()
	a.source()
	return &a.out
}

// argText is argText with a memory: the same few texts come again and again.
func (a *anonymizer) argText(known bool, s string) string {
	if !known {
		return argText(false, s)
	}
	t, ok := a.text[s]
	if !ok {
		t = argText(true, s)
		a.text[s] = t
	}
	return t
}

// categories replaces unknown categories; their symbols come first and stay where they are. An event of an unknown
// category may have a kind all the same, by its process.
func (a *anonymizer) categories() {
	for i := range a.tr.Events {
		if e := &a.tr.Events[i]; a.out.Syms[e.Cat] == "" {
			a.out.Syms[e.Cat] = categoryName(a.tr.Syms[e.Cat])
		}
	}
}

// rows replaces names of processes and threads, and pids and tids that are texts.
func (a *anonymizer) rows() {
	a.out.Procs = append([]trace.Process(nil), a.tr.Procs...)
	a.out.Tracks = append([]trace.Track(nil), a.tr.Tracks...)
	token := func(t *trace.Token) {
		raw := a.tr.Syms[t.Raw]
		t.Raw = a.sym(string(rowToken([]byte(raw))))
	}
	for i := range a.out.Procs {
		pr := &a.out.Procs[i]
		token(&pr.PID)
		pr.Name, pr.Labels = processText(pr.Name), rowText(pr.Labels)
	}
	for i := range a.out.Tracks {
		token(&a.out.Tracks[i].TID)
		a.out.Tracks[i].Name = threadText(a.out.Tracks[i].Name)
	}
}

// sym interns a string of the new trace.
func (a *anonymizer) sym(s string) trace.Sym {
	if s == "" {
		return 0
	}
	id, ok := a.syms[s]
	if !ok {
		id = trace.Sym(len(a.out.Syms))
		a.out.Syms = append(a.out.Syms, s)
		a.syms[s] = id
	}
	return id
}

// eventName is the symbol of the pseudonym of an event's name.
func (a *anonymizer) eventName(e *trace.Event) trace.Sym {
	k := nameKey{e.Name, e.Kind, e.Ph}
	id, ok := a.name[k]
	if !ok {
		id = a.sym(eventText(e.Kind, e.Ph, a.tr.Syms[e.Name]))
		a.name[k] = id
	}
	return id
}

// source writes the new bytes, and moves events and top-level fields to where they stand in them.
func (a *anonymizer) source() {
	a.out.Events = append([]trace.Event(nil), a.tr.Events...)
	var before, after []chrome.Field
	for _, f := range a.old.Fields {
		field := chrome.Field{Key: f.Key, Value: fieldValue(f.Key, a.old.CleanField(f))}
		if !knownFields[f.Key] {
			field.Key = pseudonym("k_", f.Key)
		}
		if f.Off < a.old.ListOff {
			before = append(before, field)
		} else {
			after = append(after, field)
		}
	}
	doc := chrome.NewDocument(before, after)
	if a.old.ArrayForm {
		doc = chrome.Document{Head: []byte("["), Tail: []byte("]\n")}
	}
	a.buf = append(make([]byte, 0, a.old.Size()), doc.Head...)
	a.json.ListOff = int64(len(a.buf)) - 1
	for i := range a.out.Events {
		if i > 0 {
			a.buf = append(a.buf, ',')
		}
		a.buf = append(a.buf, '\n')
		a.event(trace.EventID(i))
	}
	a.buf = append(a.buf, '\n')
	a.json.ListEnd = int64(len(a.buf))
	a.buf = append(a.buf, doc.Tail...)
	a.json.Src, a.out.Truncated = a.buf, false
	a.fields(append(before, after...))
}

// fields finds the top-level members in the new bytes.
func (a *anonymizer) fields(fields []chrome.Field) {
	if a.old.ArrayForm {
		return
	}
	at := 1
	for range len(fields) + 1 {
		m, ok := chrome.NextMember(a.buf, at)
		if !ok {
			break
		}
		if string(m.Key) != "traceEvents" {
			a.json.Fields = append(a.json.Fields, kineto.Field{Key: string(m.Key), Off: int64(m.At), Len: int64(m.End - m.At)})
		}
		at = m.End
	}
}

// event appends an event with its texts replaced.
func (a *anonymizer) event(id trace.EventID) {
	e := &a.out.Events[id]
	raw := a.old.Clean(id, e)
	name := a.eventName(e)
	off := len(a.buf)
	e.Name = name
	defer func() { a.json.Add(off, len(a.buf)) }()
	e.Flags &^= trace.Dirty | trace.HasArgs
	if len(raw) == 0 || raw[0] != '{' {
		a.buf = append(a.buf, "{}"...)
		return
	}
	a.buf = append(a.buf, '{')
	for i, n := 1, 0; ; n++ {
		m, ok := chrome.NextMember(raw, i)
		if !ok {
			break
		}
		i = m.End
		if n > 0 {
			a.buf = append(a.buf, ", "...)
		}
		known := knownEventKeys[string(m.Key)]
		a.buf = append(appendKey(a.buf, known, m.Key), ": "...)
		value := raw[m.At:m.End]
		switch string(m.Key) {
		case "name":
			written := a.out.Syms[e.Name]
			switch {
			case e.Kind == trace.Memcpy || e.Kind == trace.Memset:
				written = a.out.WrittenName(id)
			case e.Kind == trace.Python && bytes.HasPrefix(value, []byte(`"$`)):
				written = vendors.WrittenFrame(written)
			}
			a.buf = chrome.AppendString(a.buf, written)
		case "cat":
			a.buf = chrome.AppendString(a.buf, a.out.Syms[e.Cat])
		case "pid", "tid":
			a.buf = append(a.buf, rowToken(value)...)
		case "ph":
			a.buf = append(a.buf, phase(value)...)
		case "ts", "dur":
			a.buf = append(a.buf, timeValue(value)...)
		case "args":
			e.Flags |= trace.HasArgs
			a.args(e, value)
		default:
			a.buf = a.vals.append(a.buf, known, value)
		}
	}
	a.buf = append(a.buf, '}')
}

// phase is a phase letter. The reader takes the first of several.
func phase(value []byte) string {
	switch {
	case len(value) >= 3 && value[0] == '"' && strings.IndexByte(knownPhases, value[1]) >= 0:
		return `"` + string(value[1]) + `"`
	case isScalar(value):
		return string(value)
	}
	return `"?"`
}

// timeValue is a time as it is written, if it is one.
func timeValue(value []byte) string {
	if isScalar(value) {
		return string(value)
	}
	if len(value) > 2 && value[0] == '"' && number().MatchString(strings.Trim(kineto.Unquoted(value), " \t")) {
		return string(value)
	}
	return `"?"`
}

// args appends the args of an event; those of a metadata event are names of rows, and the keys of a counter's are names
// of what is counted.
func (a *anonymizer) args(e *trace.Event, value []byte) {
	switch {
	case e.Ph == 'C' && value[0] == '{':
		a.buf = (&values{known: a.vals.known, text: a.argText, numbers: true}).append(a.buf, true, value)
	case e.Ph != 'M':
		a.buf = a.vals.append(a.buf, true, value)
	default:
		text := rowText
		switch a.out.Syms[e.Name] {
		case "process_name":
			text = processText
		case "thread_name":
			text = threadText
		}
		rows := values{known: a.vals.known, text: func(known bool, s string) string {
			if !known {
				return argText(false, s)
			}
			return text(s)
		}}
		a.buf = rows.append(a.buf, true, value)
	}
}
