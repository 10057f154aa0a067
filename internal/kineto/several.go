package kineto

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Several is the error of reading a file in which several processes launched GPU work: the ranks of a job, as a rule. The
// streams and correlations of one are not those of another, so each is a trace of its own.
type Several struct {
	File  string
	Parts []Part
}

// Part is one of the processes, with what belongs to it.
type Part struct {
	Name string // "rank3" where the file says so, "gpu1" where each has a GPU of its own, else "process 144"
	PID  string // by this, too, --process finds it

	// Write writes the text of the part, and says what it was made from. What the file was read from has to
	// be there still.
	Write func(to *Sink) (Options, error)
}

func (e *Several) Error() string {
	var list []string
	for _, p := range e.Parts {
		list = append(list, p.PID)
	}
	return fmt.Sprintf("%s: %d processes launched GPU work in this file (%s): choose one with --process; 'overlay report', 'overlay run' and 'overlay check' take them all, as ranks of a job",
		e.File, len(e.Parts), trace.Brief(strings.Join(list, ", ")))
}

// Part finds a process by its number or its name.
func (e *Several) Part(process string) (*Part, error) {
	var names []string
	for i := range e.Parts {
		p := &e.Parts[i]
		if p.PID == process || p.Name == process {
			return p, nil
		}
		names = append(names, p.Name+" ("+p.PID+")")
	}
	return nil, fmt.Errorf("%s: no process %s launched GPU work in this file: choose one of %s", e.File, trace.Brief(process), trace.Brief(strings.Join(names, ", ")))
}

// owners say for each event to which part it belongs: an index, or one of these.
const (
	everybody = -1 // names of rows that several have
	unknown   = -2
)

// refuse says no to what would be read wrong: several host processes that launch GPU work in one file.
func (t *draft) refuse() error {
	calling := make([]bool, len(t.Tracks))
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind.Call() && e.Flags&trace.HasCorr != 0 && e.Track != trace.NoTrack {
			calling[e.Track] = true
		}
	}
	callers := map[trace.ProcID]bool{}
	for k, calls := range calling {
		if calls {
			callers[t.Tracks[k].Proc] = true
		}
	}
	if len(callers) < 2 {
		return nil
	}
	procs := slices.Sorted(maps.Keys(callers))
	owner, names := t.labelled(procs)
	if owner == nil {
		launching := map[trace.ProcID]bool{}
		for _, call := range t.Launches() {
			if k := t.Events[call].Track; k != trace.NoTrack {
				launching[t.Tracks[k].Proc] = true
			}
		}
		if len(launching) < 2 {
			return nil
		}
		procs = slices.Sorted(maps.Keys(launching))
		if call := t.shared(launching); call != trace.NoEvent {
			return &SyntaxError{File: t.File, Offset: t.Offset(call), Compressed: -1, Pointer: fmt.Sprintf("/traceEvents/%d", call),
				Want: "processes of this file use the same correlations, so it cannot be told which of them launched what: give the trace of each rank by itself"}
		}
		owner, names = t.byLaunch(procs)
	}
	e := &Several{File: t.File}
	for i, p := range procs {
		_, pid := label(t.TokenText(t.Procs[p].PID))
		e.Parts = append(e.Parts, Part{Name: names[i], PID: pid, Write: func(to *Sink) (Options, error) { return t.writePart(to, owner, int32(i)) }})
	}
	return e
}

// shared finds a call with a correlation that a call of another launching process has, too: what it launched may be either's.
func (t *draft) shared(launching map[trace.ProcID]bool) trace.EventID {
	first := map[int64]trace.ProcID{}
	for i := range t.Events {
		e := &t.Events[i]
		if !e.Kind.Call() || e.Flags&trace.HasCorr == 0 || e.Track == trace.NoTrack || !launching[t.Tracks[e.Track].Proc] {
			continue
		}
		p, corr := t.Tracks[e.Track].Proc, t.Corr(e)
		if q, ok := first[corr]; ok && q != p && corr != 0 {
			return trace.EventID(i)
		}
		first[corr] = p
	}
	return trace.NoEvent
}

// label takes apart the pid that a tool which merges traces wrote: "[TP00-DP01] 144".
func label(pid string) (label, rest string) {
	if strings.HasPrefix(pid, "[") {
		if l, r, ok := strings.Cut(pid[1:], "] "); ok {
			return l, r
		}
	}
	return "", pid
}

// labelled finds parts by what tools that merge the traces of ranks do to process numbers, so that they stay apart: a
// label in front (SGLang), or a power of ten for each rank (TraceLens), where numbers of processes stay below 2^22. It
// returns nil where the processes are no such.
func (t *draft) labelled(launching []trace.ProcID) (owner []int32, names []string) {
	for _, offset := range []int64{0, 1e9, 1e8, 1e7} {
		keyOf := func(p trace.ProcID) (string, bool) {
			pid := t.Procs[p].PID
			if offset == 0 {
				l, _ := label(t.TokenText(pid))
				return l, l != ""
			}
			return "rank" + strconv.FormatInt(pid.Num/offset, 10), pid.IsNum && pid.Num >= 0
		}
		part := map[string]int32{}
		names = names[:0]
		for _, p := range launching {
			if k, ok := keyOf(p); ok {
				part[k] = int32(len(part))
				names = append(names, k)
			}
		}
		if len(part) < len(launching) || len(names) != len(part) {
			continue
		}
		ofProc := make([]int32, len(t.Procs))
		for p := range t.Procs {
			ofProc[p] = unknown
			if k, ok := keyOf(trace.ProcID(p)); ok {
				if i, ok := part[k]; ok {
					ofProc[p] = i
				}
			}
		}
		return t.eventOwners(func(id trace.EventID, e *trace.Event) int32 {
			if p := t.procOf(id, e); p != trace.NoProc && ofProc[p] >= 0 {
				return ofProc[p]
			}
			// A process that has no number, such as that of marks of the profiler: the tool notes the rank beside it.
			if _, ok := t.Text.Arg(id, "pid_raw"); ok {
				if rank, ok := t.Text.Arg(id, "rank"); ok {
					if i, ok := part["rank"+rank.Text]; ok {
						return i
					}
				}
			}
			return unknown
		}), names
	}
	return nil, nil
}

// procOf is the process of an event, NoProc without one. Names of processes are in no row.
func (t *draft) procOf(id trace.EventID, e *trace.Event) trace.ProcID {
	if e.Track != trace.NoTrack {
		return t.Tracks[e.Track].Proc
	}
	pid := Unquoted(arg(t.Raw(id), "pid"))
	return trace.ProcID(slices.IndexFunc(t.Procs, func(p trace.Process) bool { return pid != "" && t.TokenText(p.PID) == pid }))
}

// byLaunch finds parts by what each process launched: rows of devices belong to the process that launched most of what is
// on them, and of rows that are shared each operation to whoever launched it. A process that launches nothing, such as a worker that
// loads data, belongs to the one with the next lower number: it started later.
func (t *draft) byLaunch(launching []trace.ProcID) (owner []int32, names []string) {
	ofProc := make([]int32, len(t.Procs))
	for p := range ofProc {
		ofProc[p] = unknown
		for i, l := range launching {
			if at := t.Procs[l].PID.Num; trace.ProcID(p) == l || at <= t.Procs[p].PID.Num && (ofProc[p] < 0 || at > t.Procs[launching[ofProc[p]]].PID.Num) {
				ofProc[p] = int32(i)
			}
		}
	}
	votes := map[trace.TrackID][]int{}
	devices := make([]map[int64]bool, len(launching))
	for op, call := range t.Launches() {
		p := t.procOf(call, &t.Events[call])
		i := slices.Index(launching, p)
		if i < 0 || t.Events[op].Track == trace.NoTrack {
			continue
		}
		k := t.Events[op].Track
		if votes[k] == nil {
			votes[k] = make([]int, len(launching))
		}
		votes[k][i]++
		if devices[i] == nil {
			devices[i] = map[int64]bool{}
		}
		devices[i][t.Procs[t.Tracks[k].Proc].Device] = true
	}
	ofTrack := make([]int32, len(t.Tracks))
	ofDevice := make([]int32, len(t.Procs)) // the part that all operations of a device process are of
	for p := range ofDevice {
		ofDevice[p] = unknown
	}
	for k := range t.Tracks {
		ofTrack[k] = unknown
		if v := votes[trace.TrackID(k)]; v != nil {
			ofTrack[k] = int32(slices.Index(v, slices.Max(v)))
			if d := &ofDevice[t.Tracks[k].Proc]; *d == unknown {
				*d = ofTrack[k]
			} else if *d != ofTrack[k] {
				*d = everybody
			}
		}
	}
	owner = t.eventOwners(func(id trace.EventID, e *trace.Event) int32 {
		if e.Track == trace.NoTrack {
			if p := t.procOf(id, e); p != trace.NoProc && !t.Procs[p].IsDevice {
				return ofProc[p]
			} else if p != trace.NoProc {
				return ofDevice[p]
			}
			return unknown
		}
		if e.Kind.Device() && e.Ph == 'X' {
			if call := t.Launch(id); call != trace.NoEvent {
				return int32(slices.Index(launching, t.procOf(call, &t.Events[call])))
			}
		}
		p := t.Tracks[e.Track].Proc
		switch {
		case ofTrack[e.Track] != unknown:
			return ofTrack[e.Track]
		case t.Tracks[e.Track].Class == trace.DeviceStream || t.Procs[p].IsDevice:
			return ofDevice[p]
		}
		return ofProc[p]
	})
	own := map[int64]int{}
	for _, d := range devices {
		for device := range d {
			own[device]++
		}
	}
	for i, l := range launching {
		name := "process " + t.TokenText(t.Procs[l].PID)
		for device := range devices[i] {
			if len(devices[i]) == 1 && len(own) == len(launching) {
				name = "gpu" + strconv.FormatInt(device, 10)
			}
		}
		names = append(names, name)
	}
	return owner, names
}

// eventOwners asks for each event whose it is. What nobody can tell is the first part's, names of rows everybody's.
func (t *draft) eventOwners(of func(id trace.EventID, e *trace.Event) int32) []int32 {
	owner := make([]int32, len(t.Events))
	for i := range t.Events {
		e := &t.Events[i]
		if owner[i] = of(trace.EventID(i), e); owner[i] == unknown || owner[i] == everybody && e.Ph != 'M' {
			owner[i] = 0
			if e.Ph == 'M' {
				owner[i] = everybody
			}
		}
	}
	return owner
}

// writePart writes the text of a part: what stands around the events, but for the rank, which is that of one of the merged
// traces, and the events of the part.
func (t *draft) writePart(to *Sink, owner []int32, part int32) (Options, error) {
	to.Allow(t.Length())
	var b bytes.Buffer
	var failed error
	flush := func(least int) {
		if failed == nil && b.Len() >= least {
			_, failed = to.Write(b.Bytes())
			b.Reset()
		}
	}
	b.WriteByte('{')
	for _, f := range t.Fields {
		value := t.Src[f.Off : f.Off+f.Len]
		fmt.Fprintf(&b, "%q:", f.Key)
		if f.Key == "distributedInfo" {
			writeWithoutRank(&b, value)
		} else {
			b.Write(value)
		}
		b.WriteByte(',')
	}
	b.WriteString(`"traceEvents":[`)
	first := true
	for i := range t.Events {
		if owner[i] != part && owner[i] != everybody {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteByte('\n')
		b.Write(t.Raw(trace.EventID(i)))
		flush(chunkSize)
	}
	b.WriteString("\n]}\n")
	flush(0)
	return Options{From: t.From, Form: vendors.Form{Name: t.Form, By: t.Recorder}}, failed
}

func writeWithoutRank(b *bytes.Buffer, raw []byte) {
	b.WriteByte('{')
	first := true
	for m := Members(raw); m.Next(); {
		if string(m.Key) == "rank" {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteByte('"')
		b.Write(m.Key)
		b.WriteString(`":`)
		b.Write(m.Value)
	}
	b.WriteByte('}')
}
