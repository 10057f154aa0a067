package kineto

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// foreignRows reads traces in which not the category but the process says what an event is, as before Kineto and on
// some devices (vendors.Process). Flows join their operations to what launched them.
func (t *draft) foreignRows() {
	procs, some := t.foreignProcesses()
	if !some {
		return
	}
	t.LaunchByFlow = true
	kinds := make([]trace.Kind, len(t.Tracks)) // per row, KindOther where it is for the category to say
	for i := range t.Tracks {
		x := &t.Tracks[i]
		if p := procs[x.Proc]; p != nil {
			if kinds[i] = p.Kind; !strings.HasPrefix(x.Name, p.Row) {
				kinds[i] = trace.DeviceOther
			}
		}
	}
	nested := map[trace.TrackID][]trace.EventID{}
	names, made := map[trace.Sym]hostName{}, map[string]trace.Sym{}
	changed := make([]bool, len(t.Tracks))
	for i := range t.Events {
		e := &t.Events[i]
		if e.Ph != 'X' || e.Kind != trace.KindOther || e.Track == trace.NoTrack || kinds[e.Track] == trace.KindOther {
			continue
		}
		e.Kind = kinds[e.Track]
		changed[e.Track] = true
		if e.Kind == trace.Kernel && procs[t.Tracks[e.Track].Proc].Nested {
			nested[e.Track] = append(nested[e.Track], trace.EventID(i))
		}
		switch {
		case e.Kind == trace.Kernel && strings.HasPrefix(strings.ToLower(t.Syms[e.Name]), "memcpy"):
			e.Kind = trace.Memcpy
		case procs[t.Tracks[e.Track].Proc].Calls:
			t.hostEvent(trace.EventID(i), names, made)
		}
	}
	for _, row := range nested {
		t.onlyInnermost(row)
	}
	for i := range t.Tracks {
		x := &t.Tracks[i]
		if changed[i] {
			x.Class = trace.ClassOf(kinds[i])
			if x.Class == trace.DeviceStream && x.TID.IsNum {
				x.Stream = x.TID.Num
			}
		}
	}
}

// hostName is what the name of an event of XLA's on the host says.
type hostName struct {
	name  string // as PyTorch would have it
	frame bool   // of Python
	verb  vendors.Verb
}

// hostEvent says of an event of XLA's on the host what it is: a frame of Python, a step that the program marked, a call of a runtime. Frames and
// steps get the names that PyTorch gives them; made are the symbols of these.
func (t *draft) hostEvent(id trace.EventID, names map[trace.Sym]hostName, made map[string]trace.Sym) {
	e := &t.Events[id]
	n, known := names[e.Name]
	if !known {
		n.name, n.frame = vendors.PythonFrame(t.Syms[e.Name])
		n.verb = vendors.VerbOf(n.name)
		names[e.Name] = n
	}
	name := n.name
	switch {
	case n.verb.Blocks() || n.verb != vendors.NoVerb && e.Flags&trace.HasCorr != 0:
		e.Kind = trace.Runtime
	case n.frame:
		e.Kind = trace.Python
	case e.Flags&(trace.HasArgs|trace.HasCorr) == trace.HasArgs:
		if step, ok := argInt(arg(t.Raw(id), "args"), "step_num"); ok {
			e.Kind, name = trace.Annotation, trace.StepPrefix+strconv.FormatInt(step, 10)
		}
	}
	if name != t.Syms[e.Name] {
		t.rename(id, name, made)
	}
}

// onlyInnermost takes from the operations of a row those that enclose others, such as loops: what ran is inside. They stay drawn.
func (t *draft) onlyInnermost(row []trace.EventID) {
	slices.SortStableFunc(row, func(a, b trace.EventID) int {
		x, y := &t.Events[a], &t.Events[b]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(t.End(y), t.End(x)))
	})
	for i, id := range row[:max(len(row)-1, 0)] {
		if e, next := &t.Events[id], &t.Events[row[i+1]]; next.Start < t.End(e) && t.End(next) <= t.End(e) {
			e.Kind = trace.DeviceOther
		}
	}
}

// writer is the process that says who wrote a trace, nil without one.
func (t *draft) writer() *vendors.Process {
	for _, k := range vendors.Processes() {
		if k.Writer != "" && slices.ContainsFunc(t.Procs, func(p trace.Process) bool {
			return k.Name == p.Name || k.Start && strings.HasPrefix(p.Name, k.Name)
		}) {
			return &k
		}
	}
	return nil
}

// foreignProcesses finds the processes that say what their events are, and notes which of them are devices.
func (t *draft) foreignProcesses() (procs []*vendors.Process, some bool) {
	procs = make([]*vendors.Process, len(t.Procs))
	for _, k := range vendors.Processes() {
		if k.With != "" && !slices.ContainsFunc(t.Procs, func(p trace.Process) bool { return strings.HasPrefix(p.Name, k.With) }) {
			continue
		}
		for i := range t.Procs {
			p := &t.Procs[i]
			number, starts := strings.CutPrefix(p.Name, k.Name)
			device, err := strconv.ParseInt(number, 10, 64)
			switch {
			case k.Start && starts && err == nil:
				p.IsDevice, p.Device = true, device
			case k.Start || !(k.Name != "" && k.Name == p.Name || k.PID != "" && k.PID == t.TokenText(p.PID)):
				continue
			case k.Kind.Device():
				p.IsDevice, p.Device = true, p.PID.Num&(1<<k.DeviceBits-1)
			}
			procs[i], some = &k, true
		}
	}
	return procs, some
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
			starts = append(starts, end{t.Corr(e), trace.EventID(i)})
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
		if f.Ph != 'f' && f.Ph != 't' {
			continue
		}
		op, ok := at[place{t.sameRow(f.Track, trace.DeviceStream), f.Start}]
		if !ok || t.Launch(op) != trace.NoEvent {
			continue
		}
		k, found := slices.BinarySearchFunc(starts, t.Corr(f), func(s end, id int64) int { return cmp.Compare(s.id, id) })
		for ; found && k < len(starts) && starts[k].id == t.Corr(f); k++ {
			s := &t.Events[starts[k].event]
			if s.Cat != f.Cat || s.Name != f.Name {
				continue
			}
			row := rows[t.sameRow(s.Track, trace.HostThread)]
			n, _ := slices.BinarySearchFunc(row, s.Start+1, func(id trace.EventID, ts int64) int { return cmp.Compare(t.Events[id].Start, ts) })
			for n--; n >= 0; n-- { // the innermost slice that is open there
				if h := &t.Events[row[n]]; t.End(h) >= s.Start {
					t.SetLaunch(op, row[n])
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
