package kineto

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// foreignRows reads traces in which not the category but the process says what an event is, as before Kineto and on
// some devices (vendors.Process). Flows join their operations to what launched them.
func (t *draft) foreignRows() {
	kinds, some := t.kindsOfProcesses()
	if !some {
		return
	}
	t.LaunchByFlow = true
	changed := make([]bool, len(t.Tracks))
	for i := range t.Events {
		e := &t.Events[i]
		if e.Ph == 'X' && e.Kind == trace.KindOther && e.Track != trace.NoTrack {
			e.Kind = kinds[t.Tracks[e.Track].Proc]
			changed[e.Track] = e.Kind != trace.KindOther
			if e.Kind == trace.Kernel && strings.HasPrefix(strings.ToLower(t.Syms[e.Name]), "memcpy") {
				e.Kind = trace.Memcpy
			}
		}
	}
	for i := range t.Tracks {
		x := &t.Tracks[i]
		if changed[i] {
			x.Class = trace.ClassOf(kinds[x.Proc])
			if x.Class == trace.DeviceStream && x.TID.IsNum {
				x.Stream = x.TID.Num
			}
		}
	}
}

// kindsOfProcesses finds the processes that say what their events are, and notes which of them are devices.
func (t *draft) kindsOfProcesses() (kinds []trace.Kind, some bool) {
	kinds = make([]trace.Kind, len(t.Procs))
	names := map[string]bool{}
	for i := range t.Procs {
		names[t.Procs[i].Name] = true
	}
	for _, k := range vendors.Processes() {
		if k.With != "" && !names[k.With] {
			continue
		}
		for i := range t.Procs {
			p := &t.Procs[i]
			if k.Name != "" && k.Name == p.Name || k.PID != "" && k.PID == t.TokenText(p.PID) {
				kinds[i], some = k.Kind, true
				if k.Kind.Device() {
					p.IsDevice, p.Device = true, p.PID.Num&(1<<k.DeviceBits-1)
				}
			}
		}
	}
	return kinds, some
}

// place is where a flow event stands.
type place struct {
	track trace.TrackID
	ts    int64
}

// foreignLinks joins operations without correlation to the host slice in which their flow begins.
func (t *draft) foreignLinks() {
	if !t.LaunchByFlow {
		return
	}
	type end struct {
		id    int64
		event trace.EventID
	}
	var starts []end
	at := map[place]trace.EventID{} // device operations by where they start
	rows := map[trace.TrackID][]trace.EventID{}
	for i := range t.Events {
		e := &t.Events[i]
		switch {
		case e.Ph == 's':
			starts = append(starts, end{e.Corr, trace.EventID(i)})
		case e.Ph == 'X' && e.Kind.Device():
			at[place{e.Track, e.Start}] = trace.EventID(i)
		case e.Ph == 'X' && e.Kind.Host() && e.Track != trace.NoTrack:
			rows[e.Track] = append(rows[e.Track], trace.EventID(i))
		}
	}
	slices.SortStableFunc(starts, func(a, b end) int { return cmp.Compare(a.id, b.id) })
	for k := range rows {
		slices.SortStableFunc(rows[k], func(a, b trace.EventID) int { return cmp.Compare(t.Events[a].Start, t.Events[b].Start) })
	}
	for i := range t.Events {
		f := &t.Events[i]
		if f.Ph != 'f' {
			continue
		}
		op, ok := at[place{t.sameRow(f.Track, trace.DeviceStream), f.Start}]
		if !ok || t.Launch[op] != trace.NoEvent {
			continue
		}
		k, found := slices.BinarySearchFunc(starts, f.Corr, func(s end, id int64) int { return cmp.Compare(s.id, id) })
		for ; found && k < len(starts) && starts[k].id == f.Corr; k++ {
			s := &t.Events[starts[k].event]
			if s.Cat != f.Cat || s.Name != f.Name {
				continue
			}
			row := rows[t.sameRow(s.Track, trace.HostThread)]
			n, _ := slices.BinarySearchFunc(row, s.Start+1, func(id trace.EventID, ts int64) int { return cmp.Compare(t.Events[id].Start, ts) })
			for n--; n >= 0; n-- { // the innermost slice that is open there
				if h := &t.Events[row[n]]; h.End() >= s.Start {
					t.Launch[op] = row[n]
					break
				}
			}
			break
		}
	}
}

// sameRow is the track of a class with the pid and tid of another track, or that track.
func (t *draft) sameRow(id trace.TrackID, class trace.TrackClass) trace.TrackID {
	if id == trace.NoTrack || t.Tracks[id].Class == class {
		return id
	}
	x := &t.Tracks[id]
	for i := range t.Tracks {
		y := &t.Tracks[i]
		if y.Class == class && y.TID.Bare() == x.TID.Bare() && t.Procs[y.Proc].PID.Bare() == t.Procs[x.Proc].PID.Bare() {
			return trace.TrackID(i)
		}
	}
	return id
}
