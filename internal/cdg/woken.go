package cdg

import (
	"cmp"
	"regexp"
	"slices"
	"sort"

	"overlay/internal/trace"
)

// ways are those in which a thread of Python waits and another one lets it go on, by the frames of both.
var ways = [...]struct{ waits, wakes *regexp.Regexp }{
	// Condition.notify, Queue.put, Event.set and Future.set_result all end in the release of a lock that the waiting thread is about to acquire
	// (CPython's threading.py and queue.py).
	{regexp.MustCompile(`^<built-in method acquire of _thread\.`), regexp.MustCompile(`^<built-in method release of _thread\.`)},
	// The threads of an executor take their work from such a queue (CPython's concurrent/futures/thread.py).
	{regexp.MustCompile(`^<built-in method get of _queue\.SimpleQueue `), regexp.MustCompile(`^<built-in method put of _queue\.SimpleQueue `)},
	// call_soon_threadsafe writes to a socket that the loop of asyncio polls (CPython's asyncio/selector_events.py, _write_to_self).
	{regexp.MustCompile(`^<built-in method poll of select\.`), regexp.MustCompile(`^<built-in method send of (_socket\.)?socket `)},
}

// lettingGo names the frame in which a thread releases a lock because it is about to wait itself, which ends nobody's wait (CPython's threading.py).
var lettingGo = regexp.MustCompile(`threading\.py\(\d+\): _release_save$`)

// idling names frames in which a thread of Python lets others have the interpreter.
var idling = regexp.MustCompile(`^<built-in function sleep>|` + blockingFrame.String())

// switchInterval is how long a thread that holds the interpreter may keep one waiting that was let go on (CPython's sys.setswitchinterval).
const switchInterval = 5000 * us

// released is the end of a frame that lets another thread go on.
type released struct {
	at   int64
	act  ActID
	lane LaneID
	way  int8
}

// locks are the hand-offs between threads of Python as they were recorded: in which frames they wait, and by process who let any go on.
type locks struct {
	waits    []int8 // per symbol: 1 + the way in which a frame of that name waits, 0 for none; nil without frames
	releases map[trace.ProcID][]released
	idles    []bool // per symbol: a frame of that name lets others have the interpreter
	framed   []bool // per lane: frames of a thread of Python were recorded
}

var locksRule = rule{name: "locks of Python", find: func(b *builder) { b.locks = b.findLocks() }}

// findLocks looks through the frames of Python.
func (b *builder) findLocks() (out locks) {
	out.framed = make([]bool, len(b.d.Lanes))
	for a := range b.firstOp {
		if act := &b.d.Acts[a]; b.tr.Events[act.Event].Kind == trace.Python {
			out.framed[act.Lane] = true
		}
	}
	if !slices.Contains(out.framed, true) {
		return out
	}
	out.waits, out.releases = make([]int8, len(b.tr.Syms)), map[trace.ProcID][]released{}
	wakes := make([]int8, len(b.tr.Syms))
	for s, name := range b.tr.Syms {
		for w := range ways {
			if ways[w].waits.MatchString(name) {
				out.waits[s] = int8(w + 1)
			} else if ways[w].wakes.MatchString(name) {
				wakes[s] = int8(w + 1)
			}
		}
	}
	out.idles = matchSyms(b.tr, idling.MatchString)
	letting := matchSyms(b.tr, lettingGo.MatchString)
	for a := range b.firstOp {
		e, act := b.event(a), &b.d.Acts[a]
		if in := b.d.Parent[a]; e.Kind == trace.Python && wakes[e.Name] != 0 && (in == NoAct || !letting[b.event(in).Name]) {
			p := b.d.Lanes[act.Lane].Proc
			out.releases[p] = append(out.releases[p], released{act.End, a, act.Lane, wakes[e.Name]})
		}
	}
	for _, list := range out.releases {
		slices.SortFunc(list, func(x, y released) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.act, y.act)) })
	}
	return out
}

// recorded reports whether it was recorded in the process of a thread who let others go on: then nobody has to learn from times who ended a wait.
func (l *locks) recorded(d *Graph, lane LaneID) bool { return len(l.releases[d.Lanes[lane].Proc]) > 0 }

// tell reports whether hand-offs between two threads of a process are recorded: then these threads may take turns by chance.
func (l *locks) tell(x, y LaneID) bool { return len(l.releases) > 0 && l.framed[x] && l.framed[y] }

// woken finds who ended a wait in a frame over (from, t]: the last other thread that let one go on in this way just before. The addresses in the
// names of such frames say nothing, since the profiler keeps the first of them for all locks.
func (b *threadBinder) woken(w *Wait, lane LaneID, owner ActID, from, t int64) bool {
	if b.locks.waits == nil || b.locks.waits[b.event(owner).Name] == 0 || b.o.without(Handoff) {
		return false
	}
	list, way := b.locks.releases[b.d.Lanes[lane].Proc], b.locks.waits[b.event(owner).Name]
	for i := sort.Search(len(list), func(i int) bool { return list[i].at > t }) - 1; i >= 0; i-- {
		switch x := &list[i]; {
		case x.at <= from || x.at < t-switchInterval:
			return false
		case x.lane != lane && x.way == way:
			*w = Wait{At: x.at, From: x.act, Rule: Handoff, Evidence: ByAlignment}
			return true
		}
	}
	return false
}

const (
	longHold  = 500 * us // the own time of a slice may be a wait for the interpreter from here on
	unusually = 10       // times what the slice takes as a rule
)

// held finds the thread that kept the interpreter from another one in the own time (from, t] of a slice, which takes far less as a rule: it was in frames of
// Python all that time, and began to wait just before t, or had to give the interpreter away after the interval. It has work from the other thread:
// what one that runs beside it did before has nothing to do with it.
func (b *threadBinder) held(w *Wait, lane LaneID, piece int, from, t int64) bool {
	d := b.d
	if b.locks.waits == nil || !b.locks.framed[lane] || t-from < longHold || d.PieceAt(lane, t+1) == piece || b.o.without(Handoff) ||
		t-from < unusually*b.usualOwn(lane, b.event(d.Pieces[piece].Owner).Name) {
		return false
	}
	for l := range d.Lanes {
		y, first := LaneID(l), int(d.PieceFirst[l])
		if y == lane || !b.locks.framed[y] || d.Lanes[y].Proc != d.Lanes[lane].Proc {
			continue
		}
		i, h := d.PieceAt(y, t), t
		switch {
		case i >= 0 && !b.computes(i):
			h = d.Pieces[i].Start
		case t-from < switchInterval:
			continue
		}
		for i = d.PieceAt(y, t-handoffAtOnce); i > first && b.computes(i) && d.Pieces[i].Start > from+handoffAtOnce; i-- {
		}
		if i >= 0 && b.computes(i) && d.Pieces[i].Start <= from+handoffAtOnce && b.letGoBy(lane, y, i) && (w.Rule != Handoff || h > w.At) {
			*w = Wait{At: h, From: b.lastAct(y, h), Rule: Handoff, Evidence: ByAlignment}
		}
	}
	if w.Rule == Handoff && w.At == t {
		b.inside = append(b.inside, Inside{At: t, Lane: d.Acts[w.From].Lane})
	}
	return w.Rule == Handoff
}

// giver is the thread that another one waited for last, before what that one does in a piece.
type giver struct {
	piece int
	lane  LaneID // NoLane: none
}

// letGoBy reports whether it was one thread that another one waited for last, before what that one does in a piece. What ended earlier waits is known
// by now, so that only what lies behind the piece that was asked for before has to be looked through.
func (b *threadBinder) letGoBy(lane, y LaneID, piece int) bool {
	d := b.d
	known, asked := b.givers[y]
	if !asked || known.piece > piece {
		known = giver{int(d.PieceFirst[y]), NoLane}
	}
	for i := piece; i > known.piece; i-- {
		if id := d.Pieces[i].Begun; id != NoWait && d.Waits[id].Rule == Handoff {
			known.lane = d.Acts[d.Waits[id].From].Lane
			break
		} else if !b.computes(i-1) && d.Pieces[i].Start-d.Pieces[i-1].Start > handoffAtOnce {
			known.lane = NoLane
			break
		}
	}
	known.piece = piece
	b.givers[y] = known
	return known.lane == lane
}

// computes reports whether a thread is in a frame of Python in a piece that keeps the interpreter.
func (b *threadBinder) computes(piece int) bool {
	a := b.d.Pieces[piece].Owner
	return a != NoAct && b.event(a).Kind == trace.Python && !b.locks.idles[b.event(a).Name]
}

// usualOwn is what a slice of a name takes of its own as a rule, by the half of its pieces on a thread.
func (b *threadBinder) usualOwn(lane LaneID, name trace.Sym) int64 {
	d, own := b.d, b.own[lane]
	if own == nil {
		all := map[trace.Sym][]int64{}
		for i := int(d.PieceFirst[lane]); i+1 < int(d.PieceFirst[lane+1]); i++ {
			if a := d.Pieces[i].Owner; a != NoAct && d.Marker(a) {
				s := b.event(a).Name
				all[s] = append(all[s], d.Pieces[i+1].Start-d.Pieces[i].Start)
			}
		}
		own = map[trace.Sym]int64{}
		for s, list := range all {
			own[s] = quantile(list, 0.5)
		}
		b.own[lane] = own
	}
	return own[name]
}
