package pftrace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/perfetto"
	"overlay/internal/trace"
)

// addRows adds the processes, threads, counters and asynchronous rows that have events, in the order in which they
// are to be shown: host processes, devices, then the profiler's own.
func (p *picture) addRows() {
	tr := p.tr
	p.joinThreads()
	p.rowOf = fill32(len(tr.Tracks))
	p.procOf = fill32(len(tr.Procs))
	threads := make([][]trace.TrackID, len(tr.Procs))
	used := make([]bool, len(tr.Procs))
	for t := range tr.Tracks {
		if len(p.items[t]) > 0 {
			proc := tr.Tracks[t].Proc
			threads[proc] = append(threads[proc], trace.TrackID(t))
			used[proc] = true
		}
	}
	async, counts := make([][]int, len(tr.Procs)), make([][]int, len(tr.Procs))
	for i := range p.async {
		proc := p.async[i].proc
		async[proc], used[proc] = append(async[proc], i), true
	}
	for i := range p.counts {
		proc := p.counts[i].proc
		counts[proc], used[proc] = append(counts[proc], i), true
	}
	var procs []trace.ProcID
	for i := range tr.Procs {
		if used[i] {
			procs = append(procs, trace.ProcID(i))
		}
	}
	pseudo := make([]bool, len(tr.Procs))
	for _, id := range procs {
		pseudo[id] = p.isPseudo(id, threads[id])
	}
	slices.SortStableFunc(procs, func(a, b trace.ProcID) int {
		x, y := &tr.Procs[a], &tr.Procs[b]
		return cmp.Or(cmp.Compare(procGroup(x, pseudo[a]), procGroup(y, pseudo[b])), cmp.Compare(x.Device, y.Device), cmp.Compare(x.Sort, y.Sort))
	})
	pids := p.pids(procs, pseudo)
	for order, id := range procs {
		p.addProcess(id, int32(order), pids[id], threads[id], pseudo[id])
		p.addAsync(id, async[id])
		p.addCounters(id, counts[id])
	}
}

// joinThreads gives events of unknown category, such as the instants of the memory profiler, to the thread on which
// they happened. They have a track of their own in the trace only because they are no part of the analysis.
func (p *picture) joinThreads() {
	type key struct {
		proc trace.ProcID
		num  int64
		raw  trace.Sym
	}
	of := func(t *trace.Track) key {
		if t.TID.IsNum {
			return key{proc: t.Proc, num: t.TID.Num}
		}
		return key{proc: t.Proc, raw: t.TID.Raw}
	}
	threads := make(map[key]int)
	for t := range p.tr.Tracks {
		if kt := &p.tr.Tracks[t]; kt.Class == trace.HostThread && len(p.items[t]) > 0 {
			threads[of(kt)] = t
		}
	}
	for t := range p.tr.Tracks {
		kt := &p.tr.Tracks[t]
		if kt.Class != trace.OtherTrack || len(p.items[t]) == 0 {
			continue
		}
		if host, ok := threads[of(kt)]; ok {
			p.items[host] = append(p.items[host], p.items[t]...)
			p.items[t] = nil
		}
	}
}

func fill32(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// isPseudo reports whether a process stands for something else: no number, or nothing but the profiler's own events.
func (p *picture) isPseudo(id trace.ProcID, threads []trace.TrackID) bool {
	pr := &p.tr.Procs[id]
	if pr.IsDevice {
		return false
	}
	if !pr.PID.IsNum {
		return true
	}
	for _, t := range threads {
		if c := p.tr.Tracks[t].Class; c != trace.SpanTrack && c != trace.OverheadTrack {
			return false
		}
	}
	return len(threads) > 0
}

func procGroup(pr *trace.Process, pseudo bool) int {
	switch {
	case pseudo:
		return 2
	case pr.IsDevice:
		return 1
	}
	return 0
}

// Ranges of made-up numbers, far from what an operating system gives to the first processes of a machine.
const (
	devicePID = 1_000_000 // + 100 for each rank + device
	pseudoPID = 2_000_000
	madeUpTID = 1_000_000
)

// pids gives every process a number of its own that is neither 0 nor negative: a host process its own where it has
// one. (A process 0 would be the idle process, and equal numbers are one process to the viewer.)
func (p *picture) pids(procs []trace.ProcID, pseudo []bool) map[trace.ProcID]int64 {
	pids := make(map[trace.ProcID]int64)
	taken := make(numbers)
	for _, id := range procs {
		pr := &p.tr.Procs[id]
		if n := pr.PID.Num; !pr.IsDevice && !pseudo[id] && n > 0 && n < 1<<31 && taken.from(n) == n {
			pids[id] = taken.take(n)
		}
	}
	for i, id := range procs {
		if pids[id] != 0 {
			continue
		}
		n := int64(pseudoPID + i)
		if pr := &p.tr.Procs[id]; pr.IsDevice && pr.Device >= 0 && pr.Device < 1e6 {
			n = devicePID + 100*max(p.tr.Rank, 0)%1_000_000 + pr.Device
		}
		pids[id] = taken.take(n)
	}
	return pids
}

func (p *picture) addProcess(id trace.ProcID, order int32, pid int64, threads []trace.TrackID, pseudo bool) {
	tr := p.tr
	pr := &tr.Procs[id]
	self := len(p.out.Tracks)
	p.procOf[id] = int32(self)
	t := perfetto.Track{Kind: perfetto.Process, Parent: -1, PID: pid, Order: order,
		Name: p.processName(pr, pseudo), Description: "pid=" + p.tr.TokenText(pr.PID)}
	if pr.Labels != "" {
		t.Labels = strings.Split(pr.Labels, ",")
	}
	p.out.Tracks = append(p.out.Tracks, t)

	slices.SortStableFunc(threads, func(a, b trace.TrackID) int { return p.compareThreads(&tr.Tracks[a], &tr.Tracks[b]) })
	tids := p.tids(pid, pr.IsDevice, threads)
	for i, t := range threads {
		kt := &tr.Tracks[t]
		p.rowOf[t] = int32(len(p.out.Tracks))
		p.out.Tracks = append(p.out.Tracks, perfetto.Track{
			Kind: perfetto.Thread, Parent: self, PID: pid, TID: tids[i], Order: int32(i),
			Name: p.threadName(kt), Description: "pid=" + p.tr.TokenText(pr.PID) + " tid=" + p.tr.TokenText(kt.TID),
			Items: p.items[t], Fill: p.fill,
		})
	}
}

func (p *picture) addAsync(proc trace.ProcID, ids []int) {
	for _, i := range ids {
		a := &p.async[i]
		p.out.Tracks = append(p.out.Tracks, perfetto.Track{
			Kind: perfetto.Row, Parent: int(p.procOf[proc]), Name: p.tr.Syms[a.name], Merge: true, Items: a.items, Fill: p.fill,
		})
	}
}

func (p *picture) addCounters(proc trace.ProcID, ids []int) {
	for _, i := range ids {
		c := &p.counts[i]
		slices.SortStableFunc(c.points, func(a, b perfetto.Point) int { return cmp.Compare(a.TS, b.TS) })
		p.out.Tracks = append(p.out.Tracks, perfetto.Track{
			Kind: perfetto.Counter, Parent: int(p.procOf[proc]), Name: c.name, Order: int32(i), Points: c.points,
		})
	}
}

// processName is what the viewer shows before the pid.
func (p *picture) processName(pr *trace.Process, pseudo bool) string {
	switch {
	case pr.IsDevice:
		return p.tr.DeviceName(pr)
	case pseudo && pr.PID.IsNum:
		return cmp.Or(strings.TrimSpace(pr.Name), strings.TrimSpace(pr.Labels), "profiler "+p.tr.TokenText(pr.PID))
	case pseudo:
		return cmp.Or(strings.TrimSpace(pr.Name), p.tr.TokenText(pr.PID), "profiler")
	}
	name := cmp.Or(strings.TrimSpace(pr.Name), "process") + " " + p.tr.TokenText(pr.PID)
	if p.tr.Rank >= 0 {
		name += fmt.Sprintf(" (rank %d)", p.tr.Rank)
	}
	return name
}

func (p *picture) threadName(t *trace.Track) string {
	tid := p.tr.TokenText(t.TID)
	number := tid
	if t.TID.IsNum {
		number = strconv.FormatInt(t.TID.Num, 10)
	}
	if t.Stream >= 0 {
		number = strconv.FormatInt(t.Stream, 10)
	}
	name := strings.TrimSpace(t.Name)
	stream := "stream " + strings.TrimPrefix(number, "stream ")
	switch t.Class {
	case trace.DeviceStream:
		return stream
	case trace.AnnotationTrack:
		return stream + " annotations"
	case trace.SyncTrack:
		if t.TID.IsNum && t.TID.Num < 0 {
			return "device sync"
		}
		return stream + " sync"
	case trace.OverheadTrack:
		return cmp.Or(name, "overhead "+number)
	case trace.DeviceTrack:
		return cmp.Or(name, "row "+number)
	case trace.SpanTrack:
		return cmp.Or(name, tid, "spans")
	}
	if !t.TID.IsNum {
		return cmp.Or(name, tid, "events")
	}
	return cmp.Or(name, "thread "+number)
}

// classOrder puts the shadows of annotations above their stream, and what waits below it.
var classOrder = [...]int{
	trace.HostThread: 0, trace.OtherTrack: 0, trace.AnnotationTrack: 1, trace.DeviceStream: 2, trace.SyncTrack: 3,
	trace.DeviceTrack: 4, trace.OverheadTrack: 5, trace.SpanTrack: 6,
}

// compareThreads orders the rows of a process: the main thread, then by sort index or number (rows of one stream
// together), then as they appear.
func (p *picture) compareThreads(a, b *trace.Track) int {
	key := func(t *trace.Track) (group int, place int64) {
		switch t.Class {
		case trace.SpanTrack, trace.OverheadTrack:
			group = 2
		}
		pid := p.tr.Procs[t.Proc].PID
		switch {
		case t.Class == trace.HostThread && t.TID.IsNum && pid.IsNum && t.TID.Num == pid.Num:
			return -1, 0
		case t.Stream >= 0:
			return group, t.Stream
		case t.TID.IsNum && t.TID.Num < 0:
			return group + 1, 0 // a thread that ran no op, by the low bits of its pthread
		case t.HasSort:
			return group, t.Sort
		case t.TID.IsNum:
			return group, t.TID.Num
		}
		return group, 0
	}
	ga, na := key(a)
	gb, nb := key(b)
	return cmp.Or(cmp.Compare(ga, gb), cmp.Compare(na, nb), cmp.Compare(classOrder[a.Class], classOrder[b.Class]))
}

// tids gives the rows of a process numbers: threads and streams their own, where it is positive, not taken, and (on
// a device) not the pid, which would make it the main thread. Other rows get one that tells where they belong.
func (p *picture) tids(pid int64, device bool, threads []trace.TrackID) []int64 {
	tids := make([]int64, len(threads))
	taken := make(numbers)
	for i, id := range threads {
		t := &p.tr.Tracks[id]
		n := t.TID.Num
		if t.Class == trace.DeviceStream && t.Stream >= 0 {
			n = t.Stream
		}
		own := t.Class == trace.HostThread || t.Class == trace.DeviceStream || t.Class == trace.OtherTrack || t.Class == trace.DeviceTrack
		if own && (t.TID.IsNum || t.Stream >= 0) && n > 0 && taken.from(n) == n && !(device && n == pid) {
			tids[i] = taken.take(n)
		}
	}
	if taken.from(pid) == pid {
		taken.take(pid)
	}
	for i, id := range threads {
		if tids[i] != 0 {
			continue
		}
		t := &p.tr.Tracks[id]
		n := int64(madeUpTID) * int64(1+classOrder[t.Class])
		if t.TID.IsNum && t.TID.Num > 0 && t.TID.Num < madeUpTID {
			n += t.TID.Num
		}
		tids[i] = taken.take(n)
	}
	return tids
}

// numbers are numbers that are taken, each with a later one: those between the two are taken, too.
type numbers map[int64]int64

// from returns the first number from n on that is not taken.
func (t numbers) from(n int64) int64 {
	free := n
	for next, ok := t[free]; ok; next, ok = t[free] {
		free = next
	}
	for n != free { // the next search is shorter
		t[n], n = free, t[n]
	}
	return free
}

// take takes the first number from n on that is not taken.
func (t numbers) take(n int64) int64 {
	n = t.from(n)
	t[n] = n + 1
	return n
}
