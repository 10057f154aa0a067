package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
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
func toDevice(s string) bool {
	return strings.Contains(s, "HtoD") || strings.Contains(s, "HostToDevice")
}
func toHost(s string) bool { return strings.Contains(s, "DtoH") || strings.Contains(s, "DeviceToHost") }

// pageable reports whether a copy has a side of which the name says that it is pageable; the second spelling is of 2020.
func pageable(s string) bool {
	return strings.Contains(s, "Pageable") || strings.Contains(s, "Pagable")
}

// links are GB/s of copies of pinned memory by the generation of PCI Express that a device has, by its name.
var links = []struct {
	device string
	gbs    int64
}{{"H100", 45}, {"H200", 45}, {"B200", 45}, {"MI300", 45}, {"MI325", 45}, {"L40", 22}, {"L4", 22}, {"A100", 22}, {"A10", 22}, {"A30", 22}, {"MI2", 22}, {"RTX 3", 22}, {"RTX 4", 22}}

const oldLink = 11 // GB/s of the third generation, for all others

// pinnedTime is how long a copy of some bytes takes from pinned memory, ns: by the fastest such copy of the trace, else
// by what the device's link does.
func (r *run) pinnedTime() func(bytes int64) int64 {
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
func (r *run) copying(copies []cdg.ActID) (calls []cdg.ActID, waits []wait) {
	callOf, op := map[cdg.ActID]bool{}, map[cdg.ActID]bool{}
	for _, a := range copies {
		if c := r.launch[a]; c != cdg.NoAct {
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
func (r *run) pinned(copies []cdg.ActID) scenario {
	calls, waits := r.copying(copies)
	s, time := r.scenario(), r.pinnedTime()
	s.scale(copies, func(a cdg.ActID, own int64) int64 { return min(own, time(r.bytes(a))) })
	s.shrink(calls, asyncCall)
	s.noWait(waits)
	return s
}

var _ = add(rule{
	id: "copy-pageable-h2d", group: Specific, class: critpath.ClassCopy, kind: Predicted, level: High,
	why:      "the copy's name says that the memory is pageable",
	title:    "batches are copied to the GPU from pageable memory",
	cause:    "the driver copies pageable memory twice, in small pieces, and the call waits for it",
	scenario: "each such copy is as fast as from pinned memory, and nobody waits for it",
	action:   []string{"DataLoader(..., pin_memory=True), or x.pin_memory() once", "x.to(device, non_blocking=True)"},
	verify:   "the copies are named Pinned -> Device, and no cudaStreamSynchronize follows them",
	find: func(r *run) *found {
		var copies []cdg.ActID
		for _, a := range r.named(gpuCopy, func(s string) bool { return toDevice(s) && pageable(s) }) {
			if r.bytes(a) >= largeCopy {
				copies = append(copies, a)
			}
		}
		if len(copies) == 0 {
			return nil
		}
		moved := sum(copies, r.bytes)
		busy := sum(copies, r.dur)
		f := &found{events: events{list: copies}, change: r.pinned(copies), do: "pin_memory=True, then x.to(device, non_blocking=True)",
			numbers: []Number{countOf("copies", len(copies)), timeOf("in copies", busy), bytesOf("moved", moved)}}
		f.saw = fmt.Sprintf("%s in %s", tables.FormatBytes(moved), tables.Duration(busy))
		return f
	},
})

var _ = add(rule{
	id: "copy-d2h", group: Specific, class: critpath.ClassCopy, kind: Predicted, level: Medium,
	why:      "whether the values are needed at once cannot be seen",
	title:    "the CPU waits for large results of the GPU",
	cause:    "a copy to pageable memory returns when it is over, and with it everything before it on the GPU",
	scenario: "each such copy is as fast as to pinned memory, and nobody waits for it",
	action:   []string{"copy into a pinned buffer with non_blocking=True, and read it a step later", "reduce on the GPU first: copy less"},
	verify:   "no call waits for the copies named DtoH",
	find: func(r *run) *found {
		last := int64(0) // start of the last launch of a kernel
		for _, o := range r.ops {
			if l := r.launch[o]; l != cdg.NoAct && r.kind(o) == trace.Kernel {
				last = max(last, r.g.Acts[l].Start)
			}
		}
		var copies []cdg.ActID
		for _, a := range r.named(gpuCopy, toHost) {
			if c := r.launch[a]; c != cdg.NoAct && r.bytes(a) >= largeCopy && (r.g.Acts[c].Start < last || last == 0) {
				copies = append(copies, a)
			}
		}
		if len(copies) == 0 {
			return nil
		}
		_, waits := r.copying(copies)
		if len(waits) == 0 {
			return nil
		}
		moved, busy := sum(copies, r.bytes), sum(copies, r.dur)
		return &found{events: events{list: copies}, change: r.pinned(copies), do: "copy to pinned memory, read it a step later",
			saw:     fmt.Sprintf("%s in %s", tables.FormatBytes(moved), tables.Duration(busy)),
			numbers: []Number{countOf("copies", len(copies)), countOf("waits", len(waits)), timeOf("in copies", busy), bytesOf("moved", moved)}}
	},
})

// tensorMakers are the operators that put small values of the host on a device.
var tensorMakers = []string{"aten::to", "aten::_to_copy", "aten::copy_", "aten::lift_fresh", "aten::tensor"}

// makerAround is the outermost operator around a copy that does nothing but move a value, NoAct for none.
func (r *run) makerAround(a cdg.ActID) cdg.ActID {
	found := cdg.NoAct
	r.around(a, func(op cdg.ActID, name string) bool {
		if !slices.Contains(tensorMakers, name) {
			return false
		}
		found = op
		return true
	})
	return found
}

// smallToDevice lists small copies to a device with the operators that make them.
func (r *run) smallToDevice() (copies, makers []cdg.ActID) {
	if r.small == nil {
		copies, makers = r.findSmallToDevice()
		r.small = &smallCopies{copies, makers}
	}
	return r.small.copies, r.small.makers
}

// smallCopies are small copies to a device, and the operators that make them.
type smallCopies struct{ copies, makers []cdg.ActID }

func (r *run) findSmallToDevice() (copies, makers []cdg.ActID) {
	for _, a := range r.named(gpuCopy, toDevice) {
		if r.launch[a] == cdg.NoAct {
			continue
		}
		if n, ok := r.tr.ArgInt(r.g.Acts[a].Event, "bytes"); !ok || n >= smallCopy {
			continue
		}
		copies = append(copies, a)
		if o := r.makerAround(a); o != cdg.NoAct {
			makers = append(makers, o)
		}
	}
	slices.Sort(makers)
	return copies, slices.Compact(makers)
}

var _ = add(rule{
	id: "copy-many-small", group: Specific, class: critpath.ClassCopy, kind: Predicted, level: Medium,
	why:      "where the values come from cannot be seen",
	title:    "many small values are copied to the GPU one by one",
	cause:    "each copy costs the CPU as much as a kernel, and from pageable memory it waits",
	scenario: "the copies and the operators that make them take no time, and nobody waits for them",
	action:   []string{"make them on the GPU: torch.arange, full, zeros, tensor(..., device=\"cuda\")", "pack the values into one pinned tensor, and copy that with non_blocking=True"},
	verify:   "the number of copies HtoD falls",
	find: func(r *run) *found {
		copies, makers := r.smallToDevice()
		if len(copies) < fewCopies {
			return nil
		}
		f := &found{events: events{list: copies, expected: -1}, change: r.scenario(), do: "make them on the GPU (device=), or pack them in one"}
		in := r.within(makers)
		waits := r.waitsIn(in)
		f.change.remove(copies)
		f.change.shrink(makers, 0)
		f.change.noWait(waits)
		host := sum(makers, r.dur)
		f.numbers = []Number{countOf("copies", len(copies)), countOf("waits", len(waits)), timeOf("in the operators", host), bytesOf("moved", sum(copies, r.bytes))}
		f.saw = fmt.Sprintf("%s of %s", tables.Counted(len(copies), "small one"), tables.FormatBytes(sum(copies, r.bytes)))
		return f
	},
})
