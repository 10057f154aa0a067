package testtrace

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"overlay/internal/trace"
)

func floatBits(v float64) uint64 { return math.Float64bits(v) }

// pytorch writes the layout of PyTorch's exporter: a snapshot that ties the trace's clock to Unix time, rows, all
// strings, groups of columns, render stages.
func (w *pfWriter) pytorch() {
	first := w.o.Layout == PyTorchFirst
	if !first {
		clocks := pb(nil).msg(1, pb(nil).num(1, 6).num(2, uint64(w.base))).msg(1, pb(nil).num(1, 1).num(2, uint64(w.base)))
		w.packet(pb(nil).num(8, uint64(w.base)).num(10, 1).msg(6, clocks))
	}
	names, cats := newNumbers(), newNumbers()
	groups := make([][]trace.EventID, 6)
	var stages []trace.EventID
	for i := range w.tr.Events {
		e := &w.tr.Events[i]
		if e.Ph != 'X' || e.Track == trace.NoTrack || e.Kind == trace.Span || e.Flags&trace.ClampedTS != 0 {
			continue
		}
		id := trace.EventID(i)
		names.of(w.name(id))
		cats.of(w.tr.Category(id))
		switch {
		case e.Kind.Device() || e.Kind == trace.GPUAnnotation:
			if first {
				groups[5] = append(groups[5], id)
			} else {
				stages = append(stages, id)
			}
		case e.Kind == trace.Runtime:
			groups[1] = append(groups[1], id)
		case e.Kind == trace.Driver:
			groups[2] = append(groups[2], id)
		case e.Kind == trace.Overhead:
			groups[3] = append(groups[3], id)
		case e.Kind == trace.SyncRecord || e.Kind == trace.EventRecord || e.Kind == trace.DeviceOther:
			groups[4] = append(groups[4], id)
		default:
			groups[0] = append(groups[0], id)
		}
	}
	w.pytorchStrings(names, cats, stages)
	eventOf := map[trace.EventID]uint64{}
	for i, id := range stages {
		eventOf[id] = uint64(i) + 1
	}
	launched := map[trace.EventID][]uint64{}
	for _, id := range stages {
		if l := w.tr.Launch(id); l != trace.NoEvent {
			launched[l] = append(launched[l], eventOf[id])
		}
	}
	for k, g := range groups {
		w.columns(g, k, names, cats, launched)
	}
	waits := map[trace.EventID][]uint64{}
	for _, e := range w.tr.GraphEdges {
		waits[e.To] = append(waits[e.To], eventOf[e.From])
	}
	for _, id := range stages {
		w.stage(id, eventOf[id], names, waits[id])
	}
}

// numbers gives strings numbers from 1.
type numbers struct {
	ids  map[string]uint64
	list []string
}

func newNumbers() *numbers { return &numbers{ids: map[string]uint64{}} }

func (n *numbers) of(s string) uint64 {
	id, ok := n.ids[s]
	if !ok {
		n.list = append(n.list, s)
		id = uint64(len(n.list))
		n.ids[s] = id
	}
	return id
}

// name is what the event is called in the file.
func (w *pfWriter) name(id trace.EventID) string {
	if w.o.Layout == PyTorch && !w.o.NoNames {
		return w.tr.Name(id) // which says the direction of a copy: the file says it nowhere else
	}
	return w.tr.WrittenName(id)
}

// laneIID is the number of the first hardware queue; those below are stages.
const laneIID = 100

var stageNames = [...]struct {
	name     string
	category uint64
}{{"Kernel", 2}, {"MemoryTransfer", 0}, {"MemorySet", 0}, {"Annotation", 0}, {"EventRecord", 0}, {"HostNode", 0}}

func (w *pfWriter) stageOf(id trace.EventID) uint64 {
	switch e := &w.tr.Events[id]; {
	case e.Kind == trace.Kernel:
		return 1
	case e.Kind == trace.Memcpy:
		return 2
	case e.Kind == trace.Memset:
		return 3
	case e.Kind == trace.GPUAnnotation:
		return 4
	case w.tr.Category(id) == "graph_event_node":
		return 5
	}
	return 6
}

// lane is the row of an operation.
func (w *pfWriter) lane(id trace.EventID) int64 {
	t := &w.tr.Tracks[w.tr.Events[id].Track]
	if t.Stream >= 0 {
		return t.Stream
	}
	return w.number(t.TID)
}

// pytorchStrings writes the packet with all strings.
func (w *pfWriter) pytorchStrings(names, cats *numbers, stages []trace.EventID) {
	var in pb
	for i, s := range names.list {
		in = in.msg(2, pb(nil).num(1, uint64(i)+1).str(2, s))
	}
	if w.o.Layout == PyTorchFirst {
		w.packet(pb(nil).num(10, 1).num(13, 1).msg(12, in))
		return
	}
	for i, s := range cats.list {
		in = in.msg(1, pb(nil).num(1, uint64(i)+1).str(2, s))
	}
	for i, s := range stageNames {
		in = in.msg(24, pb(nil).num(1, uint64(i)+1).str(2, s.name).num(4, s.category))
	}
	seen := map[int64]bool{}
	for _, id := range stages {
		if lane := w.lane(id); !seen[lane] {
			seen[lane] = true
			in = in.msg(24, pb(nil).num(1, uint64(laneIID+lane)).str(2, fmt.Sprintf("[%04d] stream %d", lane, lane)))
		}
	}
	in = in.msg(23, pb(nil).num(1, 1).num(2, 4711))
	in = in.msg(1001, pb(nil).num(1, 1).str(2, "registers_per_thread"))
	w.packet(pb(nil).num(10, 1).num(13, 1).msg(12, in))
}

// columns writes a group: all BEGINs, then all ENDs.
func (w *pfWriter) columns(group []trace.EventID, k int, names, cats *numbers, launched map[trace.EventID][]uint64) {
	first := w.o.Layout == PyTorchFirst
	uuids := make([]uint64, len(group))
	for i, id := range group {
		e := &w.tr.Events[id]
		switch k {
		case 3:
			uuids[i] = w.thread("overhead", w.process("overhead", 5_000_001, "Overhead"), 5_000_001, 0, "Overhead")
		case 4, 5:
			uuids[i] = w.deviceRow(e.Track)
		default:
			uuids[i] = w.hostRow(e.Track)
		}
		ev := pb(nil).num(9, 1).num(11, uuids[i]).num(10, names.of(w.name(id)))
		if cat := w.tr.Category(id); cat != "" && !first && (k <= 2 || k == 4 && e.Kind != trace.SyncRecord) {
			ev = ev.num(3, cats.of(cat))
		}
		if l := launched[id]; len(l) > 0 && !first {
			ev = ev.msg(3000, pb(nil).nums(1, l, w.o.Packed))
		}
		for _, a := range w.arguments(id) {
			ev = ev.msg(4, annotation(func(m pb) pb { return m.str(10, a.key) }, a.value))
		}
		w.packet(pb(nil).num(8, w.ts(e.Start)).num(10, 1).num(13, 2).msg(11, ev))
	}
	for i, id := range group {
		e := &w.tr.Events[id]
		w.packet(pb(nil).num(8, w.ts(w.tr.End(e))).num(10, 1).msg(11, pb(nil).num(9, 2).num(11, uuids[i])))
	}
}

func (w *pfWriter) ts(ns int64) uint64 {
	if w.o.Layout == PyTorchFirst {
		return uint64(ns)
	}
	return uint64(w.base + ns)
}

// stage writes a render stage.
func (w *pfWriter) stage(id trace.EventID, event uint64, names *numbers, waits []uint64) {
	e := &w.tr.Events[id]
	args := w.arguments(id)
	ev := pb(nil).num(1, event).num(2, uint64(w.tr.Dur(e))).num(11, uint64(w.device(&w.tr.Tracks[e.Track]))).
		num(13, uint64(laneIID+w.lane(id))).num(14, w.stageOf(id)).num(5, 1)
	if copies := e.Kind == trace.Memcpy || e.Kind == trace.Memset; !copies || !w.o.NoNames {
		ev = ev.num(20, names.of(w.name(id)))
	}
	ev = ev.nums(18, waits, w.o.Packed)
	if grid, ok := argument(args, "grid"); ok {
		block, _ := argument(args, "block")
		launch := pb(nil).msg(1, dims(grid)).msg(2, dims(block))
		if n, ok := argument(args, "registers per thread"); ok {
			if n, ok := n.(int64); ok {
				launch = launch.msg(3, pb(nil).num(1, 1).num(4, uint64(n)))
			}
		}
		ev = ev.msg(21, launch)
	}
	extra := func(key, value string) { ev = ev.msg(6, pb(nil).str(1, key).str(2, value)) }
	stream, moved := argument(args, "original_stream")
	for _, a := range args {
		switch a.key {
		case "grid", "block", "registers per thread", "original_stream":
			continue
		case "copy kind", "src kind", "dst kind":
			continue // not in this format
		case "device", "context":
			extra(a.key+" id", text(a.value))
		case "stream":
			if moved {
				extra("stream id", text(stream))
			} else {
				extra("stream id", text(a.value))
			}
		default:
			extra(a.key, text(a.value))
		}
	}
	w.packet(pb(nil).num(8, w.ts(e.Start)).num(10, 1).num(13, 2).msg(53, ev))
}

// dims is a Dim3.
func dims(v any) pb {
	list, _ := v.([]any)
	var m pb
	for i, x := range list {
		if n, ok := x.(int64); ok && i < 3 {
			m = m.num(protowire.Number(i+1), uint64(n))
		}
	}
	return m
}

// text is a value as extra_data has it.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case []any, []member:
		out, err := json.Marshal(plain(v))
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(out)
	}
	return fmt.Sprint(v)
}

// plain turns arguments into what encoding/json writes.
func plain(v any) any {
	switch v := v.(type) {
	case []member:
		m := map[string]any{}
		for _, x := range v {
			m[x.key] = plain(x.value)
		}
		return m
	case []any:
		list := slices.Clone(v)
		for i := range list {
			list[i] = plain(list[i])
		}
		return list
	case float64:
		return fmt.Sprint(v)
	}
	return v
}
