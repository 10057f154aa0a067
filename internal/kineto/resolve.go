package kineto

import (
	"strconv"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// field takes what matters from a top-level value.
func (r *topLevel) field(key string, v []byte) {
	t := r.t
	switch key {
	case "baseTimeNanoseconds":
		if n, ok := parseInt(v); ok {
			t.Base, t.HasBase = n, true
		}
	case "metadata":
		t.noteAttrs(v)
	case "distributedInfo":
		if rank, ok := argInt(v, "rank"); ok {
			t.Rank = rank
		}
		t.distributed(v)
	case "host_name", "hostname":
		t.Distributed.Host = Unquoted(v)
	case "PT_PROFILER_JOB_NAME":
		t.Distributed.Job = Unquoted(v)
	case "PT_PROFILER_JOB_VERSION":
		t.Distributed.Version = Unquoted(v)
	case "PT_PROFILER_JOB_ATTEMPT_INDEX":
		t.Distributed.Attempt = Unquoted(v)
	case "deviceProperties":
		Elements(v, func(d []byte) {
			id, ok := argInt(d, "id")
			name, named := argString(d, "name")
			if !ok || !named {
				return
			}
			if name == "" {
				major, _ := argInt(d, "computeMajor")
				minor, _ := argInt(d, "computeMinor")
				units, _ := argInt(d, "numSms")
				bytes, _ := argInt(d, "totalGlobalMem")
				name = vendors.DeviceOf(major, minor, units, bytes)
			}
			t.DeviceNames[id] = name
		})
	}
}

// noteAttrs keeps the scalars that an earlier run of this program noted.
func (t *draft) noteAttrs(v []byte) {
	for m := Members(v); m.Next(); {
		key := Unquoted(append(append([]byte{'"'}, m.Key...), '"'))
		if c := m.Value[0]; strings.HasPrefix(key, attrPrefix) && c != '{' && c != '[' {
			if t.Attrs == nil {
				t.Attrs = map[string]trace.Value{}
			}
			t.Attrs[key] = value(m.Value)
		}
	}
}

// attrPrefix begins the keys of what a run of this program notes about a trace.
const attrPrefix = "overlay."

// addedCategory is that of the names that a run of this program gave to devices. They are for viewers: the profiler's own
// names stay, since some profilers say by them what a process is.
const addedCategory = "critical_path_summary"

// resolve finishes the trace after the last byte: times, rows, names, links.
func (r *topLevel) resolve() {
	t := r.t
	if t.unpadded() {
		r.p.mend(RepairUnpadded, int(t.ListOff))
		t.rereadUnpadded()
	}
	if n := t.flagClamped(); n > 0 {
		for range n {
			r.p.mend(RepairTS0, int(t.ListOff))
		}
	}
	t.numberRows()
	t.nameRows()
	t.foreignRows()
	t.LinkLaunches()
	t.readGraphEdges()
	t.foreignLinks()
	t.namedSteps()
}

// unpadded tells the traces of Kineto nightlies of March 2024, which wrote 12 µs and 5 ns as 12.5: laid out by Kineto,
// epoch stamps, no base, and short fractions of which none starts with 0.
func (t *draft) unpadded() bool {
	if t.fracs&fracShort == 0 || t.fracs&fracThree == 0 || t.fracs&fracShort0 != 0 || t.HasBase || t.ArrayForm {
		return false
	}
	if len(t.Fields) == 0 || t.Fields[0].Key != "schemaVersion" {
		return false
	}
	for i := range t.Events {
		if e := &t.Events[i]; e.Ph == 'X' {
			return e.Start >= 1e14*1000
		}
	}
	return false
}

func (t *draft) rereadUnpadded() {
	for i := range t.Events {
		e := &t.Events[i]
		if e.Ph == 0 {
			continue
		}
		for m := Members(t.Raw(trace.EventID(i))); m.Next(); {
			ns, ok := unpaddedMicros(m.Value)
			switch string(m.Key) {
			case "ts":
				if ok {
					e.Start = ns
				}
			case "dur":
				if ok && ns >= 0 {
					t.SetDur(e, ns)
				}
			}
		}
	}
}

// flagClamped marks complete events at ts 0 when the others are more than a second away: transToRelativeTime of
// output_json.cpp clamps what lies before the base, and CUPTI gives 0 for a time that it did not collect.
func (t *draft) flagClamped() int {
	first, zeros := int64(1<<63-1), 0
	for i := range t.Events {
		if e := &t.Events[i]; e.Ph == 'X' && e.Start > 0 {
			first = min(first, e.Start)
		} else if e.Ph == 'X' && e.Start == 0 {
			zeros++
		}
	}
	if zeros == 0 || first < 1e9 || first == 1<<63-1 {
		return 0
	}
	for i := range t.Events {
		if e := &t.Events[i]; e.Ph == 'X' && e.Start == 0 {
			e.Flags |= trace.ClampedTS
		}
	}
	return zeros
}

// numberRows finds device and stream numbers: args say them best; pid and tid do in all but odd traces.
func (t *draft) numberRows() {
	seen := make([]bool, len(t.Tracks))
	left := len(t.Tracks)
	for i := 0; i < len(t.Events) && left > 0; i++ {
		e := &t.Events[i]
		if e.Track == trace.NoTrack || seen[e.Track] {
			continue
		}
		seen[e.Track] = true
		left--
		track := &t.Tracks[e.Track]
		if !track.Class.OnDevice() {
			continue
		}
		proc := &t.Procs[track.Proc]
		args := t.rawArgs(trace.EventID(i))
		if d, ok := argInt(args, "device"); ok && d >= 0 && proc.Device < 0 {
			proc.Device = d
		}
		if track.Class != trace.DeviceStream {
			continue
		}
		if s, ok := argInt(args, "stream"); ok && s >= 0 {
			track.Stream = s
		} else if track.TID.IsNum {
			track.Stream = track.TID.Num
		} else if n, err := strconv.ParseInt(strings.TrimPrefix(strings.Trim(t.Syms[track.TID.Raw], `"`), "stream "), 10, 64); err == nil {
			track.Stream = n
		}
	}
	for i := range t.Procs {
		if p := &t.Procs[i]; p.IsDevice && p.Device < 0 && p.PID.IsNum {
			p.Device = p.PID.Num
		}
	}
}

// nameRows applies the M events. A pid may belong to a host process and a device; labels and sort indexes tell them
// apart. Of several names of a thread the last one counts, but not the main thread's: an entry keyed with thread 0
// gets the name of the thread that stopped the profiler.
func (t *draft) nameRows() {
	type row struct {
		pid, tid trace.Token
	}
	byPID := map[trace.Token][]trace.ProcID{}
	for i := range t.Procs {
		k := t.Procs[i].PID.Bare()
		byPID[k] = append(byPID[k], trace.ProcID(i))
	}
	byRow := map[row][]trace.TrackID{}
	for i := range t.Tracks {
		k := row{t.Procs[t.Tracks[i].Proc].PID.Bare(), t.Tracks[i].TID.Bare()}
		byRow[k] = append(byRow[k], trace.TrackID(i))
	}
	symOf := map[string]trace.Sym{}
	for i, s := range t.Syms {
		symOf[s] = trace.Sym(i)
	}
	token := func(w []byte) trace.Token {
		if w == nil {
			return trace.Token{IsNum: true}
		}
		if d, _ := unquote1(w); len(d) < 20 {
			if v, ok := parseInt(d); ok {
				return trace.Token{Num: v, IsNum: true}
			}
		}
		return trace.Token{Raw: symOf[string(w)]}
	}
	for _, id := range t.metas {
		var pid, tid []byte
		m := Members(t.Raw(id))
		for m.Next() {
			switch string(m.Key) {
			case "pid":
				pid = m.Value
			case "tid":
				tid = m.Value
			}
		}
		args := t.rawArgs(id)
		if args == nil {
			continue
		}
		p := token(pid)
		switch t.Name(id) {
		case "process_name":
			name, _ := argString(args, "name")
			added := t.Category(id) == addedCategory
			for _, k := range byPID[p] {
				if !added || t.Procs[k].Name == "" {
					t.Procs[k].Name = name
				}
			}
		case "process_labels":
			label, _ := argString(args, "labels")
			for _, k := range t.pickByKind(byPID[p], !strings.HasPrefix(label, "CPU")) {
				t.Procs[k].Labels = label
			}
		case "process_sort_index":
			v, _ := argInt(args, "sort_index")
			for _, k := range t.pickByKind(byPID[p], v != p.Num) {
				t.Procs[k].Sort = v
			}
		case "thread_name":
			name, _ := argString(args, "name")
			for _, k := range byRow[row{p, token(tid)}] {
				x := &t.Tracks[k]
				if x.Name == "" || !mainName(name) || x.TID.Num == p.Num || mainName(x.Name) {
					x.Name = name
				}
			}
		case "thread_sort_index":
			v, ok := argInt(args, "sort_index")
			for _, k := range byRow[row{p, token(tid)}] {
				t.Tracks[k].Sort, t.Tracks[k].HasSort = v, ok
			}
		}
	}
	t.metas = nil
}

// mainName tells the name that the profiler's own thread gives to others.
func mainName(s string) bool {
	return strings.Contains(s, "(pt_main_thread)") || strings.Contains(s, "(python)")
}

// pickByKind picks, where a host process and a device share a pid, the one of the kind that is meant.
func (t *draft) pickByKind(procs []trace.ProcID, device bool) []trace.ProcID {
	if len(procs) < 2 {
		return procs
	}
	var out []trace.ProcID
	for _, p := range procs {
		if t.Procs[p].IsDevice == device {
			out = append(out, p)
		}
	}
	return out
}
