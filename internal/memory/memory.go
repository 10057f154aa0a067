// Package memory follows the allocator of each device by the [memory] events that PyTorch's profiler records with profile_memory=True:
// what is allocated and reserved over time, when it is most, and what holds it then.
package memory

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Use is what the allocator of one device held in a window.
type Use struct {
	Device   string   `json:"device" key:"yes" about:"GPU and its number; cpu for the host"`
	Events   int      `json:"events" unit:"count" about:"allocations and frees in the window"`
	Peak     int64    `json:"peak_allocated_bytes" unit:"bytes" about:"the most that was allocated"`
	Reserved int64    `json:"peak_reserved_bytes" unit:"bytes" about:"the most that was reserved"`
	PeakAt   int64    `json:"peak_ns" unit:"time" about:"when the most was allocated, for the first time"`
	Event    int32    `json:"event" unit:"ref" about:"the allocation that made it the most; -1 where a snapshot alone has it"`
	Step     string   `json:"peak_step" about:"the step in which that was; empty outside of steps"`
	Unseen   int64    `json:"unseen_bytes" unit:"bytes" about:"of the peak, what was allocated before recording began, or without an address that says when it is freed"`
	Holders  []Holder `json:"holders" about:"what holds the rest of the peak, by what allocated it, the 200 with the most"`
	Others   int64    `json:"others_bytes" unit:"bytes" about:"what others hold of it"`
	Snapshot bool     `json:"snapshot,omitempty" unit:"flag" about:"a memory snapshot of the allocator says so"`

	Allocated []Level `json:"-"`
	Drawn     []Level `json:"-"` // from the driver: reserved

	upTo []record // the peak, from the first one of the device
}

// mostHolders bounds a list that may be as long as the trace.
const mostHolders = 200

// Level is an amount of bytes from a time on.
type Level struct{ TS, Bytes int64 }

// Holder is what allocated some of the memory that is in use at a peak.
type Holder struct {
	Operator string `json:"operator" about:"the outermost one around the allocation, within the innermost frame or annotation"`
	Module   string `json:"module" about:"class of the innermost nn.Module around it; needs stacks"`
	Line     string `json:"line" about:"innermost Python frame of the user's code around it; needs stacks"`
	Bytes    int64  `json:"bytes" unit:"bytes"`
	Count    int    `json:"count" unit:"count" about:"allocations"`
}

// record is one event of the allocator.
type record struct {
	at     int64
	event  trace.EventID
	device string
	addr   int64
	bytes  int64  // below 0 of what is freed
	level  int64  // allocated afterwards
	drawn  int64  // reserved afterwards
	placed bool   // it has an address
	told   bool   // by a snapshot
	line   string // that allocated it, where a snapshot says so
}

// Held is Of with what holds the peaks, and in which steps these are. A snapshot of the same run says more of GPUs than the trace; nil: there is none.
func Held(g *graph.Graph, from, to int64, s *Snapshot) []Use {
	own := records(g.Trace)
	if s != nil {
		own = s.join(g.Trace, own)
	}
	list := uses(own, from, to)
	for i := range list {
		u := &list[i]
		u.hold(g, u.upTo)
		if i := slices.IndexFunc(g.Steps, func(s cdg.Step) bool { return s.Start <= u.PeakAt && u.PeakAt < s.End }); i >= 0 {
			u.Step = g.Steps[i].Name
		}
	}
	return list
}

// Of gives the devices in the order of their names, from one time to another. Events without totals, as profilers before 2022 wrote them,
// say nothing of levels.
func Of(tr *trace.Trace, from, to int64) []Use { return uses(records(tr), from, to) }

func uses(list []record, from, to int64) []Use {
	out := []Use{}
	byDevice := map[string][]record{}
	for _, r := range list {
		byDevice[r.device] = append(byDevice[r.device], r)
	}
	for _, d := range slices.Sorted(maps.Keys(byDevice)) {
		u, peak := Use{Device: d, Holders: []Holder{}}, -1
		for i, r := range byDevice[d] {
			if r.at < from || r.at > to {
				continue
			}
			if peak < 0 || r.level > u.Peak {
				u.Peak, u.PeakAt, u.Event, peak = r.level, r.at, int32(r.event), i
			}
			u.Events, u.Snapshot = u.Events+1, r.told
			u.Reserved = max(u.Reserved, r.drawn)
			u.Allocated, u.Drawn = append(u.Allocated, Level{r.at, r.level}), append(u.Drawn, Level{r.at, r.drawn})
		}
		if u.Events == 0 {
			continue
		}
		u.Unseen, u.upTo = u.Peak, byDevice[d][:peak+1]
		out = append(out, u)
	}
	return out
}

// records reads the events of the allocators in order of time.
func records(tr *trace.Trace) (list []record) {
	i := slices.Index(tr.Syms, "[memory]")
	if i < 0 {
		return nil
	}
	for id := range tr.Events {
		e := &tr.Events[id]
		if e.Name != trace.Sym(i) || e.Ph != 'i' {
			continue
		}
		r := record{at: e.Start, event: trace.EventID(id), device: "cpu"}
		var total bool
		if r.level, total = tr.ArgInt(r.event, "Total Allocated"); !total {
			continue
		}
		r.drawn, _ = tr.ArgInt(r.event, "Total Reserved")
		r.bytes, _ = tr.ArgInt(r.event, "Bytes")
		r.addr, r.placed = tr.ArgInt(r.event, "Addr")
		if t, _ := tr.ArgInt(r.event, "Device Type"); t != 0 {
			d, _ := tr.ArgInt(r.event, "Device Id")
			r.device = "GPU " + strconv.FormatInt(d, 10)
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	return list
}

// hold adds up what is in use after the last of some records. Where that is more than the allocator says, frees are missing, and it says
// nothing.
func (u *Use) hold(g *graph.Graph, list []record) {
	live := map[int64]int{}
	for i, r := range list {
		switch {
		case !r.placed:
		case r.bytes > 0:
			live[r.addr] = i
		default:
			delete(live, r.addr)
		}
	}
	o := newOwners(g)
	held := map[Holder]Holder{}
	sum := int64(0)
	for _, i := range slices.Sorted(maps.Values(live)) {
		r := &list[i]
		who := Holder{}
		if r.event != trace.NoEvent {
			who = o.of(r.event)
		}
		who.Line = cmp.Or(who.Line, r.line)
		h := held[who]
		h.Bytes, h.Count = h.Bytes+r.bytes, h.Count+1
		held[who] = h
		sum += r.bytes
	}
	if sum > u.Peak {
		return
	}
	u.Unseen = u.Peak - sum
	for who, h := range held {
		who.Bytes, who.Count = h.Bytes, h.Count
		u.Holders = append(u.Holders, who)
	}
	slices.SortFunc(u.Holders, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Operator, b.Operator), strings.Compare(a.Module, b.Module), strings.Compare(a.Line, b.Line))
	})
	for _, h := range u.Holders[min(len(u.Holders), mostHolders):] {
		u.Others += h.Bytes
	}
	u.Holders = slices.Clip(u.Holders[:min(len(u.Holders), mostHolders)])
}

// owners finds what allocated. It is asked in order of time, so that each slice is opened once, closed once and described once.
type owners struct {
	g     *graph.Graph
	lanes map[thread]*open
	known map[cdg.ActID]owner
}

// thread tells threads apart: instants have a row of their own beside that of the slices of a thread.
type thread struct {
	proc trace.ProcID
	tid  trace.Token
}

// open is the innermost slice of a thread that runs at a moment, and the first that starts after it.
type open struct {
	at, next, limit cdg.ActID
}

// owner is what stands around a place on a thread.
type owner struct {
	Holder
	framed bool // a frame or an annotation stands between it and its operator
}

func newOwners(g *graph.Graph) *owners {
	o := &owners{g, map[thread]*open{}, map[cdg.ActID]owner{cdg.NoAct: {}}}
	for i := range g.Lanes {
		if l := &g.Lanes[i]; !l.Stream {
			o.lanes[o.thread(l.Track)] = &open{cdg.NoAct, l.First, l.Limit}
		}
	}
	return o
}

func (o *owners) thread(id trace.TrackID) thread {
	t := &o.g.Trace.Tracks[id]
	return thread{t.Proc, t.TID}
}

// of is what allocated by an event, without amounts.
func (o *owners) of(id trace.EventID) Holder {
	e := &o.g.Trace.Events[id]
	l := o.lanes[o.thread(e.Track)]
	if l == nil {
		return Holder{}
	}
	for ; l.next < l.limit && o.g.Acts[l.next].Start <= e.Start; l.next++ {
		l.at = l.next
	}
	for l.at != cdg.NoAct && o.g.Acts[l.at].End < e.Start {
		l.at = o.g.Parent[l.at]
	}
	return o.around(l.at).Holder
}

// around describes a slice and what stands around it, each of these from the outside in.
func (o *owners) around(a cdg.ActID) owner {
	var way []cdg.ActID
	for ; ; a = o.g.Parent[a] {
		if _, ok := o.known[a]; ok {
			break
		}
		way = append(way, a)
	}
	x := o.known[a]
	for _, a := range slices.Backward(way) {
		e := &o.g.Trace.Events[o.g.Acts[a].Event]
		name := o.g.Trace.Str(e.Name)
		switch {
		case e.Kind == trace.CPUOp && (x.framed || x.Operator == ""):
			x.Operator, x.framed = name, false
		case e.Kind == trace.Annotation:
			x.framed = true
		case e.Kind == trace.Python:
			x.framed = true
			if class, ok := strings.CutPrefix(name, "nn.Module: "); ok {
				if i := strings.LastIndexByte(class, '_'); i > 0 {
					class = class[:i] // what follows says which object
				}
				x.Module = class
			} else if critpath.UserFrame(name) {
				x.Line = critpath.NormalName(name)
			}
		}
		o.known[a] = x
	}
	return x
}
