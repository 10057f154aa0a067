package advise

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// kernel is a kernel of computation that is long enough to be compared with others, and how it was launched.
type kernel struct {
	op    cdg.ActID
	shape kernelShape

	blocks            float64 // per multiprocessor, as recorded; 0 where they were not
	registers, shared int64   // of a thread, and bytes of a block
}

// kernelShape is what launches of the same work have in common: code, grid and block.
type kernelShape struct {
	name        trace.Sym
	device      int64
	grid, block [3]int64
}

// longKernel is what a kernel takes at least to be compared with others, ns: shorter ones are decided by their start.
const longKernel = 15_000

// kernelsByStart lists the long kernels of which the grid was recorded, by start. Those that communicate, and those of CUDA graphs, are
// left out.
func (r *run) kernelsByStart() []kernel { return r.shapes() }

func (r *run) findKernels() (out []kernel) {
	collective := r.fits(gpuKernel, vendors.IsCollective)
	for _, a := range r.ops {
		if r.kind(a) != trace.Kernel || r.dur(a) < longKernel || collective[r.event(a).Name] || r.launch(a) != cdg.NoAct && r.verb(r.launch(a)) == vendors.GraphLaunch {
			continue
		}
		k := kernel{op: a, shape: kernelShape{name: r.event(a).Name, device: r.deviceOf(a)}}
		var list *[3]int64 // that members belong to
		n := 0
		r.tr.Args(r.g.Acts[a].Event, func(key string, v trace.Value) bool {
			switch {
			case v.Kind == trace.End:
				list = nil
			case list != nil && n < len(list):
				list[n], _ = v.AsInt()
				n++
			case key == "grid":
				list, n = &k.shape.grid, 0
			case key == "block":
				list, n = &k.shape.block, 0
			case key == "blocks per SM":
				k.blocks, _ = v.AsFloat()
			case key == "registers per thread":
				k.registers, _ = v.AsInt()
			case key == "shared memory":
				k.shared, _ = v.AsInt()
			}
			return true
		})
		if k.shape.grid[0] > 0 && k.shape.block[0] > 0 {
			out = append(out, k)
		}
	}
	return out
}

// deviceOf is the number of the device that an operation ran on.
func (r *run) deviceOf(op cdg.ActID) int64 {
	return r.tr.Procs[r.tr.Tracks[r.g.Lanes[r.g.Acts[op].Lane].Track].Proc].Device
}

// byShape lists kernels of the same work together, in order of first appearance.
func byShape(list []kernel) [][]kernel {
	at := map[kernelShape]int{}
	var out [][]kernel
	for _, k := range list {
		i, ok := at[k.shape]
		if !ok {
			i = len(out)
			at[k.shape] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], k)
	}
	return out
}

// times are the durations of kernels, ns, ascending.
func (r *run) times(list []kernel) []int64 {
	out := make([]int64, len(list))
	for i, k := range list {
		out[i] = r.dur(k.op)
	}
	slices.Sort(out)
	return out
}

// spread is how far the middle eight of ten of some ascending times lie apart, as a share of the median.
func spread(times []int64) float64 {
	n := len(times)
	return float64(times[n-1-n/10]-times[n/10]) / float64(max(times[n/2], 1))
}

// busyWith tells which share of an operation one of some others runs beside, whatever its stream.
func (r *run) busyWith(others []cdg.ActID) func(op cdg.ActID) float64 {
	type span struct{ start, end int64 }
	var spans []span
	sorted := slices.SortedFunc(slices.Values(others), func(a, b cdg.ActID) int {
		return cmp.Or(cmp.Compare(r.g.Acts[a].Start, r.g.Acts[b].Start), cmp.Compare(a, b))
	})
	for _, a := range sorted {
		s := span{r.g.Acts[a].Start, r.g.Acts[a].End}
		if n := len(spans); n > 0 && spans[n-1].end >= s.start {
			spans[n-1].end = max(spans[n-1].end, s.end)
			continue
		}
		spans = append(spans, s)
	}
	return func(op cdg.ActID) float64 {
		act := &r.g.Acts[op]
		i, _ := slices.BinarySearchFunc(spans, act.Start, func(s span, at int64) int { return cmp.Compare(s.end, at) })
		beside := int64(0)
		for ; i < len(spans) && spans[i].start < act.End; i++ {
			beside += max(min(spans[i].end, act.End)-max(spans[i].start, act.Start), 0)
		}
		return float64(beside) / float64(max(act.End-act.Start, 1))
	}
}
