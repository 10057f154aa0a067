package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// NoteCompiled keeps where the kernels of compiled code come from, beside what a capture told: the line of the model that PyTorch's
// inductor_trace_handler writes on them (stack, of the nodes that a kernel was made of), the file that inductor wrote a kernel to, and its shapes,
// which its record on the host has (kernel_file). Nothing is asked of a trace without compiled code.
func (t *Trace) NoteCompiled() {
	if !slices.ContainsFunc(t.Syms, func(s string) bool {
		return strings.HasPrefix(s, "## Call CompiledFxGraph ") || strings.HasPrefix(s, "triton_")
	}) {
		return
	}
	x := t.Origins
	if x == nil {
		x = &Origins{Of: make([]int32, len(t.Events))}
	}
	syms := map[string]Sym{}
	sym := func(s string) Sym {
		n, ok := syms[s]
		if !ok && s != "" {
			n = Sym(len(t.Syms))
			t.Syms = append(t.Syms, s)
			syms[s] = n
		}
		return n
	}
	written := map[int64]EventID{} // by External id
	for i := range t.Events {
		e := &t.Events[i]
		if ext := t.ExternalID(EventID(i)); e.Kind == CPUOp && ext > 0 && strings.HasPrefix(t.Str(e.Name), "triton_") {
			written[ext] = EventID(i)
		}
	}
	type key struct {
		line Sym
		op   EventID
	}
	of := map[key]int32{}
	for i := range t.Events {
		id := EventID(i)
		if t.Events[i].Kind != Kernel || x.Of[i] != 0 {
			continue
		}
		k := key{op: NoEvent}
		if v, ok := t.Arg(id, "stack"); ok {
			k.line = sym(modelLine(v.Text))
		}
		if op, ok := written[t.ExternalID(id)]; ok && t.Events[op].Name == t.Events[i].Name {
			k.op = op
		}
		if k.line == 0 && k.op == NoEvent {
			continue
		}
		if of[k] == 0 {
			o := Origin{Trace: t, Line: k.line}
			if k.op != NoEvent {
				v, _ := t.Arg(k.op, "kernel_file")
				o.File, o.Operators = sym(strings.Clone(v.Text)), []EventID{k.op}
			}
			x.List = append(x.List, o)
			of[k] = int32(len(x.List))
		}
		x.Of[i] = of[k]
	}
	if len(x.List) > 0 {
		t.Origins = x
	}
}

// modelLine is the innermost frame of the first of a list of stacks, as the profiler names frames: file.py(7): forward.
func modelLine(stacks string) string {
	var list []string
	if json.Unmarshal([]byte(stacks), &list) != nil || len(list) == 0 {
		return ""
	}
	at := strings.LastIndex(list[0], `File "`)
	if at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(list[0][at+len(`File "`):], "\n")
	file, rest, ok := strings.Cut(line, `", line `)
	number, name, named := strings.Cut(rest, ", in ")
	if !ok || !named {
		return ""
	}
	return fmt.Sprintf("%s(%s): %s", file, number, name)
}
