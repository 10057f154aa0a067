package pftrace

import (
	"overlay/internal/trace"
)

// Ranges of made-up numbers, far from what an operating system gives to the first processes of a machine.
const (
	devicePID = 1_000_000 // + 100 for each rank + device
	pseudoPID = 2_000_000
	stacksPID = 2_900_000
	madeUpTID = 1_000_000
)

// pids gives every process a number of its own that is neither 0 nor negative: a host process its own where it has
// one. (A process 0 would be the idle process, and equal numbers are one process to the viewer.)
func (w *writer) pids(procs []trace.ProcID, pseudo []bool) map[trace.ProcID]int64 {
	if w.rank != nil {
		return w.rankPIDs(procs, pseudo)
	}
	pids := make(map[trace.ProcID]int64)
	taken := make(numbers)
	for _, id := range procs {
		pr := &w.tr.Procs[id]
		if n := pr.PID.Num; !pr.IsDevice && !pseudo[id] && n > 0 && n < 1<<31 && taken.from(n) == n {
			pids[id] = taken.take(n)
		}
	}
	for i, id := range procs {
		if pids[id] != 0 {
			continue
		}
		n := int64(pseudoPID + i)
		if pr := &w.tr.Procs[id]; pr.IsDevice && pr.Device >= 0 && pr.Device < 1e6 {
			n = devicePID + 100*max(w.tr.Rank, 0)%1_000_000 + pr.Device
		}
		pids[id] = taken.take(n)
	}
	return pids
}

// tids gives the rows of a process numbers: threads and streams their own, where it is positive, not taken, and (on
// a device) not the pid, which would make it the main thread. Other rows get one that tells where they belong.
func (w *writer) tids(pid int64, device bool, threads []trace.TrackID) []int64 {
	tids := make([]int64, len(threads))
	taken := make(numbers)
	for i, id := range threads {
		t := &w.tr.Tracks[id]
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
		t := &w.tr.Tracks[id]
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
