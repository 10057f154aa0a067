package pftrace

import (
	"strings"

	"overlay/internal/overlay"
	"overlay/internal/perfetto"
	"overlay/internal/trace"
)

// CriticalColor colours the slices on the path. The viewer takes the hash of the string as colour, for light and dark
// themes and for both of its palettes.
const CriticalColor = "critical#2796"

// paleColors colour the other slices of the input, each by its name; none of them is near red.
var paleColors = [24]string{
	"off#3216", "off#8734", "off#11962", "off#873", "off#26776", "off#15212", "off#2676", "off#9466",
	"off#90421", "off#15209", "off#9559", "off#10147", "off#9499", "off#30643", "off#10007", "off#17575",
	"off#8603", "off#53639", "off#44709", "off#7045", "off#7787", "off#10191", "off#10061", "off#10221",
}

// noPale in writer.pale says that the name keeps its own colour; behind it are the types of iterations of a server, each with a colour.
const noPale = uint8(len(paleColors))

// paleIndex chooses a pale colour by name without digits (FNV-1a), as the viewer's own colours go by name; of iterations by type.
func paleIndex(name string) uint8 {
	if t := trace.IterationNamed(name); overlay.IterationColors[t] != "" {
		return noPale + uint8(t)
	}
	if strings.HasPrefix(name, "ProfilerStep") {
		return noPale
	}
	h := uint32(2166136261)
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < '0' || c > '9' {
			h = (h ^ uint32(c)) * 16777619
		}
	}
	return uint8(h % uint32(len(paleColors)))
}

// filler returns what describes input events, for one goroutine.
func (w *writer) filler() func(b *perfetto.Body, id int32) {
	args := newArgWriter(w.tr, dropped(w.drawing))
	return func(b *perfetto.Body, id int32) { w.fill(b, id, args) }
}

// fill describes an input event.
func (w *writer) fill(b *perfetto.Body, id int32, args *argWriter) {
	e := &w.tr.Events[id]
	b.Name(w.tr.WrittenName(trace.EventID(id)))
	if e.Cat != 0 {
		b.Category(w.tr.Syms[e.Cat])
	}
	var m overlay.Mark
	marked := false
	if w.drawing != nil {
		m, marked = w.drawing.Marks.Of(trace.EventID(id))
	}
	if w.pale != nil {
		// Red is what the path spends its time in; an event that only wraps such work stays pale.
		if marked && m.Critical() && m.NS*10 >= w.tr.Dur(e) {
			b.Color(CriticalColor)
		} else if c := w.pale[e.Name] - 1; c < noPale {
			b.Color(paleColors[c])
		} else if c > noPale {
			b.Color(overlay.IterationColors[c-noPale])
		}
	}
	if w.flowAt != nil {
		for _, f := range w.flows[w.flowAt[id]:w.flowAt[id+1]] {
			b.Flow(w.flowID(f))
		}
	}
	if w.rank != nil {
		if f, ok := w.rank.Arrows[trace.EventID(id)]; ok {
			b.Flow(uint64(f))
		}
	}
	if marked {
		mark(b, &m, w.drawing.Slim)
	}
	if w.drawing != nil {
		w.drawing.Replayed(w.tr, trace.EventID(id), b.Str)
	}
	args.write(b, trace.EventID(id))
	if e.Ph == 'B' || e.Ph == 'b' || e.Ph == 'S' {
		if end, ok := w.endOf[id]; ok {
			args.write(b, trace.EventID(end))
		}
	}
}

// mark writes a mark. A slim trace has no numbers that join events with segments: they are half of what a mark costs,
// and both lie at the same time. It also has no total that is the event's own time.
func mark(b *perfetto.Body, m *overlay.Mark, slim bool) {
	if m.Critical() {
		b.Int(overlay.ArgCritical, 1)
		if m.NS > 0 { // the path of HTA marks events that own no time
			b.Int(overlay.ArgCriticalNS, m.NS)
		}
	}
	if m.Critical() && !slim {
		b.Int(overlay.ArgID, int64(m.ID))
		if m.Next >= 0 {
			b.Int(overlay.ArgNext, int64(m.Next))
		}
	}
	if m.TotalNS > 0 && !(slim && m.TotalNS == m.NS) {
		b.Int(overlay.ArgTotalNS, m.TotalNS)
	}
	if m.Node >= 0 {
		b.Int(overlay.ArgNode, int64(m.Node))
	}
}

// dropped says which args of input events are left out.
func dropped(drawing *overlay.Drawing) func(key string) bool {
	switch {
	case drawing == nil:
		return nil
	case drawing.Slim:
		return isMarkOrNumber
	}
	return overlay.IsMark
}

// isMarkOrNumber holds for marks and for numbers by which the profiler joins its records: they are of no use to a
// person, nothing reads them from a .pftrace, and they make a fifth of a slim one.
func isMarkOrNumber(key string) bool {
	switch key {
	case "Ev Idx", "Profiler Event Index", "External id", "external id", "external ts", "Record function id", "Sequence number",
		"Fwd thread id", "cbid", "correlation", "context", "queued", "Python id", "Python parent id", "Python module id":
		return true
	}
	return overlay.IsMark(key)
}
