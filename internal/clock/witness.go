package clock

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

const us = 1000 // ns

// blocked is how long a call lasts, at least, that waited for the device: a shorter one may have found it idle.
const blocked = 30 * us

// sample is one witness: from the start of a launch call to the start of its operation, or from the end of an operation to the return of
// the call that waited for it.
type sample struct {
	at    int64 // when the operation began, or ended, by the clock of the device
	reach int64 // ns
}

// witnesses are the samples of one device.
type witnesses struct {
	first, last int64 // from the first start of an operation to the last end
	grain       int64 // ns: 1 µs where operations lie whole µs apart, else 1
	launch      lows
	launches    []sample // only where they are asked for
	returns     []sample
}

// query asks for the operation that a call waited for: of those of a device or stream whose launch calls had returned before, the one with
// the latest end.
type query struct {
	call   trace.EventID
	behind trace.EventID // the call behind what it waited for was launched: itself, or the one that recorded its event
	stream trace.TrackID // that a record names; NoTrack: where the thread's last launch went
	one    bool          // a stream is meant, else the device
}

// put is a launched operation, with the first query whose call began when the launch call had returned.
type put struct {
	query    int32
	op, call trace.EventID
}

type collector struct {
	tr      *trace.Trace
	queries []query // by start
	puts    []put
	verbs   map[trace.Sym]vendors.Verb
	rows    map[int64]trace.TrackID // of streams by their numbers; NoTrack where several have one
	of      map[trace.ProcID]*witnesses
}

// ask notes the calls that certainly waited for the device, and for what of it. Synchronisations of the device do by their definition;
// those of a stream where a record names it, where there is only one, or right behind a copy on it; those of an event where a record names
// what recorded it.
func (x *collector) ask() {
	tr := x.tr
	records := map[int64]trace.EventID{} // of synchronisations, by the correlation of the call
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Ph != 'X' || e.Flags&trace.ClampedTS != 0 || e.Track == trace.NoTrack {
			continue
		}
		if e.Kind == trace.SyncRecord && e.Flags&trace.HasCorr != 0 {
			records[tr.Corr(e)] = trace.EventID(i)
		}
		if !e.Kind.Call() || tr.Dur(e) < blocked {
			continue
		}
		if v := x.verb(e.Name); v == vendors.DeviceSync || v == vendors.StreamSync || v == vendors.EventSync && e.Flags&trace.HasCorr != 0 {
			x.queries = append(x.queries, query{call: trace.EventID(i), behind: trace.EventID(i), stream: trace.NoTrack, one: v != vendors.DeviceSync})
		}
	}
	var recorded map[int64]trace.EventID // calls that recorded events, by correlation
	if len(records) > 0 && slices.ContainsFunc(x.queries, x.forEvent) {
		recorded = x.recorded()
	}
	kept := x.queries[:0]
	for _, q := range x.queries {
		e := &tr.Events[q.call]
		r, ok := records[tr.Corr(e)]
		ok = ok && e.Flags&trace.HasCorr != 0
		switch {
		case x.forEvent(q):
			if !ok {
				continue
			}
			corr, _ := tr.ArgInt(r, RecordCorrArg)
			if q.behind, ok = recorded[corr]; !ok || tr.Events[q.behind].Start > e.Start {
				continue
			}
			if q.stream = x.streamOf(r, "wait_on_stream"); q.stream == trace.NoTrack {
				continue
			}
		case q.one && ok:
			q.stream = x.streamOf(r, "stream")
		}
		kept = append(kept, q)
	}
	x.queries = kept
	slices.SortStableFunc(x.queries, func(a, b query) int {
		return cmp.Compare(tr.Events[a.behind].Start, tr.Events[b.behind].Start)
	})
}

// RecordCorrArg is the argument of a record of a wait that names the correlation of the call which recorded its event.
const RecordCorrArg = "wait_on_cuda_event_record_corr_id"

// forEvent reports whether a call waits for an event.
func (x *collector) forEvent(q query) bool {
	return x.verb(x.tr.Events[q.call].Name) == vendors.EventSync
}

// recorded lists the calls that recorded events by their correlation.
func (x *collector) recorded() map[int64]trace.EventID {
	list := map[int64]trace.EventID{}
	for i := range x.tr.Events {
		if e := &x.tr.Events[i]; e.Ph == 'X' && e.Kind.Call() && e.Flags&trace.HasCorr != 0 && e.Flags&trace.ClampedTS == 0 && x.verb(e.Name) == vendors.EventRecord {
			list[x.tr.Corr(e)] = trace.EventID(i)
		}
	}
	return list
}

func (x *collector) verb(s trace.Sym) vendors.Verb {
	v, ok := x.verbs[s]
	if !ok {
		v = vendors.VerbOf(x.tr.Str(s))
		x.verbs[s] = v
	}
	return v
}

// streamOf is the row of the stream that an argument of a record names, where no other device has a stream of that number: records name device 0 where
// they know none.
func (x *collector) streamOf(record trace.EventID, arg string) trace.TrackID {
	number, ok := x.tr.ArgInt(record, arg)
	if !ok || number < 0 {
		return trace.NoTrack
	}
	if x.rows == nil {
		x.rows = map[int64]trace.TrackID{}
		for t := range x.tr.Tracks {
			if k := &x.tr.Tracks[t]; k.Class == trace.DeviceStream {
				if _, twice := x.rows[k.Stream]; twice {
					x.rows[k.Stream] = trace.NoTrack
				} else {
					x.rows[k.Stream] = trace.TrackID(t)
				}
			}
		}
	}
	if t, ok := x.rows[number]; ok {
		return t
	}
	return trace.NoTrack
}

// witness returns what is known of a device with a row.
func (x *collector) witness(row trace.TrackID) *witnesses {
	p := x.tr.Tracks[row].Proc
	if x.of[p] == nil {
		x.of[p] = &witnesses{first: math.MaxInt64, last: math.MinInt64, grain: us, launch: nothing}
	}
	return x.of[p]
}

// shared reports whether several processes of the trace are called one device: then nobody can tell whose launches are whose.
func (x *collector) shared(p trace.ProcID) bool {
	for other := range x.of {
		if other != p && x.tr.Procs[other].Device == x.tr.Procs[p].Device {
			return true
		}
	}
	return false
}

// launched takes the samples of launches, and sorts operations by the queries that they may answer.
func (x *collector) launched() {
	tr := x.tr
	for i := range tr.Events {
		o := &tr.Events[i]
		if !o.Kind.Device() || o.Ph != 'X' || o.Track == trace.NoTrack || o.Flags&trace.ClampedTS != 0 {
			continue
		}
		w := x.witness(o.Track)
		if w.last > math.MinInt64 && (o.Start-w.first)%us != 0 || tr.Dur(o)%us != 0 {
			w.grain = 1 // whatever all times were moved by
		}
		w.first, w.last = min(w.first, o.Start), max(w.last, tr.End(o))
		call := tr.Launch(trace.EventID(i))
		if call == trace.NoEvent || tr.Events[call].Flags&trace.ClampedTS != 0 {
			continue
		}
		c := &tr.Events[call]
		w.launch.add(o.Start - c.Start)
		if o.Kind == trace.Memcpy && tr.Dur(c) >= tr.Dur(o) && waited(tr.Name(trace.EventID(i)), x.verb(c.Name)) {
			w.returns = append(w.returns, sample{tr.End(o), tr.End(c) - tr.End(o)})
		}
		n := sort.Search(len(x.queries), func(i int) bool { return tr.Events[x.queries[i].behind].Start >= tr.End(c) })
		if n < len(x.queries) {
			x.puts = append(x.puts, put{int32(n), trace.EventID(i), call})
		}
	}
	slices.SortStableFunc(x.puts, func(a, b put) int { return cmp.Compare(a.query, b.query) })
}

// launches lists the samples of launches of a device, by time.
func (x *collector) launches(p trace.ProcID) (list []sample) {
	for op, call := range x.tr.Launches() {
		o, c := &x.tr.Events[op], &x.tr.Events[call]
		if o.Kind.Device() && o.Track != trace.NoTrack && x.tr.Tracks[o.Track].Proc == p && (o.Flags|c.Flags)&trace.ClampedTS == 0 {
			list = append(list, sample{o.Start, o.Start - c.Start})
		}
	}
	sortSamples(list)
	return list
}

// answer takes the samples of calls that waited.
func (x *collector) answer() {
	tr := x.tr
	ofDevice, ofStream := map[trace.ProcID]int64{}, map[trace.TrackID]int64{} // latest ends of what is put there
	last := map[trace.TrackID]put{}                                           // per thread
	device := map[trace.ProcID]trace.ProcID{}                                 // per process of the host; NoProc: it launched on several
	puts := x.puts
	for i := range x.queries {
		for ; len(puts) > 0 && int(puts[0].query) <= i; puts = puts[1:] {
			o, c := &tr.Events[puts[0].op], &tr.Events[puts[0].call]
			p, end := tr.Tracks[o.Track].Proc, tr.End(o)
			host := tr.Tracks[c.Track].Proc
			if known, ok := device[host]; ok && known != p {
				device[host] = trace.NoProc
			} else if !ok {
				device[host] = p
			}
			if at, ok := ofDevice[p]; !ok || at < end {
				ofDevice[p] = end
			}
			if at, ok := ofStream[o.Track]; !ok || at < end {
				ofStream[o.Track] = end
			}
			if l, ok := last[c.Track]; !ok || tr.Events[l.call].Start <= c.Start {
				last[c.Track] = puts[0]
			}
		}
		q := &x.queries[i]
		call := &tr.Events[q.call]
		row := q.stream
		if l, ok := last[call.Track]; ok && row == trace.NoTrack {
			if o := &tr.Events[l.op]; !q.one || o.Kind == trace.Memcpy && call.Start-tr.End(&tr.Events[l.call]) < blocked {
				row = o.Track
			}
		}
		if row == trace.NoTrack && (!q.one && len(ofDevice) == 1 || len(ofStream) == 1) {
			for row = range ofStream { // any of the device will do
				break
			}
		}
		if row == trace.NoTrack || !q.one && device[tr.Tracks[call.Track].Proc] == trace.NoProc {
			continue // a synchronisation waits for the thread's current device, and nothing records which one that is
		}
		end, ok := ofStream[row]
		if ok && !q.one {
			end = ofDevice[tr.Tracks[row].Proc]
		}
		if ok {
			w := x.witness(row)
			w.returns = append(w.returns, sample{end, tr.End(call) - end})
		}
	}
	for _, w := range x.of {
		sortSamples(w.returns)
	}
}

func sortSamples(list []sample) {
	slices.SortStableFunc(list, func(a, b sample) int { return cmp.Compare(a.at, b.at) })
}

// waited reports whether a call returns when the copy that it made is done: CUDA promises so of copies to pageable memory, and of all to the
// host that are not asynchronous.
func waited(name string, by vendors.Verb) bool {
	return strings.HasPrefix(name, "Memcpy DtoH") && (by == vendors.BlockingCopy || strings.HasSuffix(name, "-> Pageable)") || strings.HasSuffix(name, "-> Pagable)"))
}
