package advise

import (
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/vendors"
)

const (
	// largeCopy is from how many bytes on bandwidth decides how long a copy takes.
	largeCopy = 256 << 10
	// smallCopy is below how many bytes a copy takes as long as any.
	smallCopy = 64 << 10
	// fewCopies is how many small copies are not worth a finding.
	fewCopies = 30
	// asyncCall is what the call of a copy takes that nobody waits for, ns.
	asyncCall = 6_000
)

// Directions of copies, as CUPTI writes them; ROCm says only which side is the host.
var (
	toDevice = containsAny("HtoD", "HostToDevice")
	toHost   = containsAny("DtoH", "DeviceToHost")
)

// pageable reports whether a copy has a side of which the name says that it is pageable; the second spelling is of 2020.
var pageable = containsAny("Pageable", "Pagable")

// largeCopies lists the copies of a kind of which bandwidth decides how long they take.
func largeCopies(r *run, fits func(string) bool) []cdg.ActID {
	return slices.DeleteFunc(r.named(gpuCopy, fits), func(a cdg.ActID) bool { return r.bytes(a) < largeCopy })
}

// links are GB/s of copies of pinned memory by the generation of PCI Express that a device has, by its name.
var links = []struct {
	device string
	gbs    int64
}{{"H100", 45}, {"H200", 45}, {"B200", 45}, {"MI300", 45}, {"MI325", 45}, {"L40", 22}, {"L4", 22}, {"A100", 22}, {"A10", 22}, {"A30", 22}, {"MI2", 22}, {"RTX 3", 22}, {"RTX 4", 22}}

const oldLink = 11 // GB/s of the third generation, for all others

// pinnedTime is how long a copy of some bytes takes from pinned memory, ns: by the fastest such copy of the trace, else
// by what the device's link does.
func pinnedTime(r *run) func(bytes int64) int64 {
	best := 0.0 // bytes a ns, which is GB/s
	for _, a := range r.named(gpuCopy, func(s string) bool { return (toDevice(s) || toHost(s)) && strings.Contains(s, "Pinned") }) {
		if n := r.bytes(a); n >= 1<<20 && r.dur(a) > 0 {
			best = max(best, float64(n)/float64(r.dur(a)))
		}
	}
	if best == 0 {
		best = oldLink
		for _, name := range r.tr.DeviceNames {
			for _, l := range links {
				if strings.Contains(name, l.device) {
					best = max(best, float64(l.gbs))
				}
			}
		}
	}
	return func(bytes int64) int64 { return int64(float64(bytes)/best) + 2000 }
}

// copying is a copy with the waits that belong to it: its call, and synchronisations in the same operator.
func copying(r *run, copies []cdg.ActID) (calls []cdg.ActID, waits []wait) {
	callOf, op := map[cdg.ActID]bool{}, map[cdg.ActID]bool{}
	for _, a := range copies {
		if c := r.launch(a); c != cdg.NoAct {
			calls = append(calls, c)
			callOf[c] = true
			if o := r.opAround(a); o != cdg.NoAct {
				op[o] = true
			}
		}
	}
	for _, w := range r.waits {
		if callOf[w.call] {
			waits = append(waits, w)
		} else if o := r.opAround(w.call); o != cdg.NoAct && op[o] && r.verb(w.call) == vendors.StreamSync {
			waits = append(waits, w)
		}
	}
	return calls, waits
}

// pinned is the scenario of copies from and to pinned memory that nobody waits for.
func pinned(r *run, copies []cdg.ActID) scenario {
	calls, waits := copying(r, copies)
	s, time := r.scenario(), pinnedTime(r)
	s.scale(copies, func(a cdg.ActID, own int64) int64 { return min(own, time(r.bytes(a))) })
	s.shrink(calls, asyncCall)
	s.noWait(waits)
	return s
}
