package overlay

import (
	"overlay/internal/cdg"
	"overlay/internal/chrome"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
)

// Anonymize returns a graph and a path that are the same but for names: those that tell of people, machines, jobs,
// files and code of the user are replaced by pseudonyms. A string always gets the same one. Names of PyTorch, of
// vendors' APIs and of kernels stay. What is not known to be harmless is replaced; numbers stay. The trace of the
// result is a new one, with new bytes; positions of events are the same.
func Anonymize(g *cdg.Graph, p *critpath.Path) (*cdg.Graph, *critpath.Path) {
	g2, y2, p2 := *g, *g.Layout, *p
	g2.Layout = &y2
	g2.Trace = anonymizeTrace(g.Trace)
	g2.Window.Annotation = annotationName(g.Window.Annotation)
	p2.Window.Annotation = annotationName(p.Window.Annotation)
	g2.Steps = append([]cdg.Step(nil), g.Steps...)
	for i := range g2.Steps {
		g2.Steps[i].Name = annotationName(g2.Steps[i].Name)
	}
	return &g2, &p2
}

type anonymizer struct {
	tr   *kineto.Trace
	out  kineto.Trace
	syms map[string]kineto.Sym
	name map[nameKey]kineto.Sym // pseudonyms of names
	buf  []byte
}

type nameKey struct {
	sym  kineto.Sym
	kind kineto.Kind
	ph   byte
}

func anonymizeTrace(tr *kineto.Trace) *kineto.Trace {
	a := &anonymizer{tr: tr, out: *tr, syms: map[string]kineto.Sym{}, name: map[nameKey]kineto.Sym{}}
	a.out.File, a.out.Fields = "", nil
	a.out.Syms = make([]string, len(tr.Syms)) // categories and tokens keep their numbers, names get new ones
	a.categories()
	a.rows()
	a.source()
	return &a.out
}

// categories replaces unknown categories; their symbols come first and stay where they are.
func (a *anonymizer) categories() {
	for i := range a.tr.Events {
		e := &a.tr.Events[i]
		if a.out.Syms[e.Cat] != "" {
			continue
		}
		if a.out.Syms[e.Cat] = a.tr.Syms[e.Cat]; e.Kind == kineto.KindOther {
			a.out.Syms[e.Cat] = categoryName(a.tr.Syms[e.Cat])
		}
	}
}

// rows replaces names of processes and threads, and pids and tids that are texts.
func (a *anonymizer) rows() {
	a.out.Procs = append([]kineto.Process(nil), a.tr.Procs...)
	a.out.Tracks = append([]kineto.Track(nil), a.tr.Tracks...)
	token := func(t *kineto.Token) {
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
func (a *anonymizer) sym(s string) kineto.Sym {
	if s == "" {
		return 0
	}
	id, ok := a.syms[s]
	if !ok {
		id = kineto.Sym(len(a.out.Syms))
		a.out.Syms = append(a.out.Syms, s)
		a.syms[s] = id
	}
	return id
}

// eventName is the symbol of the pseudonym of an event's name.
func (a *anonymizer) eventName(e *kineto.Event) kineto.Sym {
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
	a.out.Events = append([]kineto.Event(nil), a.tr.Events...)
	var before, after []chrome.Field
	for _, f := range a.tr.Fields {
		field := chrome.Field{Key: f.Key, Value: fieldValue(f.Key, a.tr.Src[f.Off:f.Off+f.Len])}
		if f.Off < a.tr.ListOff {
			before = append(before, field)
		} else {
			after = append(after, field)
		}
	}
	doc := chrome.NewDocument(before, after)
	if a.tr.ArrayForm {
		doc = chrome.Document{Head: []byte("["), Tail: []byte("]\n")}
	}
	a.buf = append(make([]byte, 0, len(a.tr.Src)), doc.Head...)
	a.out.ListOff = int64(len(a.buf)) - 1
	for i := range a.out.Events {
		if i > 0 {
			a.buf = append(a.buf, ',')
		}
		a.buf = append(a.buf, '\n')
		a.event(kineto.EventID(i))
	}
	a.buf = append(a.buf, '\n')
	a.out.ListEnd = int64(len(a.buf))
	a.buf = append(a.buf, doc.Tail...)
	a.out.Src, a.out.Truncated = a.buf, false
	a.fields(append(before, after...))
}

// fields finds the top-level members in the new bytes.
func (a *anonymizer) fields(fields []chrome.Field) {
	if a.tr.ArrayForm {
		return
	}
	at := 1
	for range len(fields) + 1 {
		m, ok := chrome.NextMember(a.buf, at)
		if !ok {
			break
		}
		if string(m.Key) != "traceEvents" {
			a.out.Fields = append(a.out.Fields, kineto.Field{Key: string(m.Key), Off: int64(m.At), Len: int64(m.End - m.At)})
		}
		at = m.End
	}
}

// event appends an event with its texts replaced.
func (a *anonymizer) event(id kineto.EventID) {
	raw := a.tr.Clean(id)
	e := &a.out.Events[id]
	name := a.eventName(e)
	e.Off, e.Args, e.Name = int64(len(a.buf)), 0, name
	e.Flags &^= kineto.Dirty
	if len(raw) == 0 || raw[0] != '{' {
		a.buf = append(a.buf, "{}"...)
		e.Len = 2
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
		a.buf = append(append(a.buf, raw[m.KeyAt:m.KeyAt+len(m.Key)+2]...), ": "...)
		value := raw[m.At:m.End]
		switch string(m.Key) {
		case "name":
			a.buf = chrome.AppendString(a.buf, a.out.Syms[name])
		case "cat":
			a.buf = chrome.AppendString(a.buf, a.out.Syms[e.Cat])
		case "pid", "tid":
			a.buf = append(a.buf, rowToken(value)...)
		case "ph", "s", "bp", "ts", "dur":
			a.buf = append(a.buf, value...)
		case "args":
			e.Args = uint32(int64(len(a.buf)) - e.Off)
			a.args(e, value)
		default:
			a.buf = appendValue(a.buf, "", value)
		}
	}
	a.buf = append(a.buf, '}')
	e.Len = uint32(int64(len(a.buf)) - e.Off)
}

// args appends the args of an event; those of a metadata event are names of rows.
func (a *anonymizer) args(e *kineto.Event, value []byte) {
	if e.Ph != 'M' {
		a.buf = appendValue(a.buf, "args", value)
		return
	}
	text := rowText
	switch a.out.Syms[e.Name] {
	case "process_name":
		text = processText
	case "thread_name":
		text = threadText
	}
	a.buf = appendStrings(a.buf, value, func(_, s string) string { return text(s) })
}
