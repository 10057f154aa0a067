package pftrace

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/perfetto"
	"overlay/internal/trace"
)

// addRows adds the processes, threads, counters and asynchronous rows that have events, in the order in which they
// are to be shown: host processes, devices, then the profiler's own.
func (w *writer) addRows() {
	tr := w.tr
	w.joinThreads()
	w.rowOf = fill32(len(tr.Tracks))
	w.procOf = fill32(len(tr.Procs))
	threads := make([][]trace.TrackID, len(tr.Procs))
	used := make([]bool, len(tr.Procs))
	for t := range tr.Tracks {
		if len(w.items[t]) > 0 {
			proc := tr.Tracks[t].Proc
			threads[proc] = append(threads[proc], trace.TrackID(t))
			used[proc] = true
		}
	}
	async, counts := make([][]int, len(tr.Procs)), make([][]int, len(tr.Procs))
	for i := range w.async {
		proc := w.async[i].proc
		async[proc], used[proc] = append(async[proc], i), true
	}
	for i := range w.counts {
		proc := w.counts[i].proc
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
		pseudo[id] = w.isPseudo(id, threads[id])
	}
	slices.SortStableFunc(procs, func(a, b trace.ProcID) int {
		x, y := &tr.Procs[a], &tr.Procs[b]
		return cmp.Or(cmp.Compare(procGroup(x, pseudo[a]), procGroup(y, pseudo[b])), cmp.Compare(x.Device, y.Device), cmp.Compare(x.Sort, y.Sort))
	})
	pids := w.pids(procs, pseudo)
	for order, id := range procs {
		if w.rank != nil {
			order = w.rankOrder(order, pseudo[id])
		}
		w.addProcess(id, int32(order), pids[id], threads[id], pseudo[id])
		w.addAsync(id, async[id])
		w.addCounters(id, counts[id])
	}
}

// joinThreads gives events of unknown category, such as the instants of the memory profiler, to the thread on which
// they happened. They have a track of their own in the trace only because they are no part of the analysis.
func (w *writer) joinThreads() {
	type key struct {
		proc trace.ProcID
		tid  trace.Token
	}
	threads := make(map[key]int)
	for t := range w.tr.Tracks {
		if kt := &w.tr.Tracks[t]; kt.Class == trace.HostThread && len(w.items[t]) > 0 {
			threads[key{kt.Proc, kt.TID.Key()}] = t
		}
	}
	for t := range w.tr.Tracks {
		kt := &w.tr.Tracks[t]
		if kt.Class != trace.OtherTrack || len(w.items[t]) == 0 {
			continue
		}
		if host, ok := threads[key{kt.Proc, kt.TID.Key()}]; ok {
			w.items[host] = append(w.items[host], w.items[t]...)
			w.items[t] = nil
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
func (w *writer) isPseudo(id trace.ProcID, threads []trace.TrackID) bool {
	pr := &w.tr.Procs[id]
	if pr.IsDevice {
		return false
	}
	if !pr.PID.IsNum {
		return true
	}
	for _, t := range threads {
		if c := w.tr.Tracks[t].Class; c != trace.SpanTrack && c != trace.OverheadTrack {
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

func (w *writer) addProcess(id trace.ProcID, order int32, pid int64, threads []trace.TrackID, pseudo bool) {
	tr := w.tr
	pr := &tr.Procs[id]
	self := len(w.out.Tracks)
	w.procOf[id] = int32(self)
	t := perfetto.Track{Kind: perfetto.Process, Parent: -1, PID: pid, Order: order,
		Name: w.rankName(w.processName(pr, pseudo)), Description: "pid=" + w.tr.TokenText(pr.PID)}
	if w.tr.LaunchByFlow && pr.IsDevice && pr.Name != "" {
		t.Description += " name=" + pr.Name // in such traces it is the name that makes it a device
	}
	if pr.Labels != "" {
		t.Labels = strings.Split(pr.Labels, ",")
	}
	w.out.Tracks = append(w.out.Tracks, t)

	slices.SortStableFunc(threads, func(a, b trace.TrackID) int { return w.compareThreads(&tr.Tracks[a], &tr.Tracks[b]) })
	tids := w.tids(pid, pr.IsDevice, threads)
	for i, t := range threads {
		kt := &tr.Tracks[t]
		w.rowOf[t] = int32(len(w.out.Tracks))
		w.out.Tracks = append(w.out.Tracks, perfetto.Track{
			Kind: perfetto.Thread, Parent: self, PID: pid, TID: tids[i], Order: int32(i),
			Name: w.threadName(kt), Description: "pid=" + w.tr.TokenText(pr.PID) + " tid=" + w.tr.TokenText(kt.TID),
			Items: w.items[t], Fill: w.filler,
		})
	}
}

func (w *writer) addAsync(proc trace.ProcID, ids []int) {
	for _, i := range ids {
		a := &w.async[i]
		w.out.Tracks = append(w.out.Tracks, perfetto.Track{
			Kind: perfetto.Row, Parent: int(w.procOf[proc]), Name: w.tr.Syms[a.name], Merge: true, Items: a.items, Fill: w.filler,
		})
	}
}

func (w *writer) addCounters(proc trace.ProcID, ids []int) {
	for _, i := range ids {
		c := &w.counts[i]
		slices.SortStableFunc(c.points, func(a, b perfetto.Point) int { return cmp.Compare(a.TS, b.TS) })
		w.out.Tracks = append(w.out.Tracks, perfetto.Track{
			Kind: perfetto.Counter, Parent: int(w.procOf[proc]), Name: c.name, Order: int32(i), Points: c.points,
		})
	}
}

// classOrder puts the shadows of annotations above their stream, and what waits below it.
var classOrder = [...]int{
	trace.HostThread: 0, trace.OtherTrack: 0, trace.AnnotationTrack: 1, trace.DeviceStream: 2, trace.SyncTrack: 3,
	trace.DeviceTrack: 4, trace.OverheadTrack: 5, trace.SpanTrack: 6,
}

// compareThreads orders the rows of a process: the main thread, then by sort index or number (rows of one stream
// together), then as they appear.
func (w *writer) compareThreads(a, b *trace.Track) int {
	key := func(t *trace.Track) (group int, place int64) {
		switch t.Class {
		case trace.SpanTrack, trace.OverheadTrack:
			group = 2
		}
		pid := w.tr.Procs[t.Proc].PID
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
