package advise

import (
	"math"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

// ownGrid are kernels that choose their grid by the device, or whose blocks take work from each other: their grid says nothing about
// the size of the problem.
var ownGrid = containsAny("persistent", "Persistent", "stream_k", "streamk", "StreamK", "cooperative", "sm90_", "sm100_", "warpspecialized", "splitK", "splitk")

const (
	smallBlocks = 0.5 // blocks per multiprocessor
	fewGrids    = 2
)

var _ = add(rule{
	id: "small-grid", group: Specific, class: critpath.ClassCompute, kind: AtMost, level: Low,
	why:      "that the same work spreads evenly over the whole device is the best case",
	title:    "kernels use less than half of the GPU",
	cause:    "a grid with fewer blocks than the device has multiprocessors leaves the others without work",
	scenario: "each such kernel takes as much less as multiprocessors have no block, at most a quarter of its time stays",
	action:   []string{"larger batches or chunks", "several small problems in one call: torch.bmm, grouped products, torch.vmap", "two streams, so that small kernels run beside each other"},
	verify:   "blocks per SM of these kernels",
	find: func(r *run) *found {
		var list []cdg.ActID
		share, own := map[cdg.ActID]float64{}, r.fits(gpuKernel, ownGrid)
		for _, k := range r.kernelsByStart() {
			if k.blocks > 0 && k.blocks < smallBlocks && !own[k.shape.name] {
				list = append(list, k.op)
				share[k.op] = max(k.blocks, 0.25)
			}
		}
		if len(list) < fewGrids {
			return nil
		}
		f := r.about(list, "kernel", "kernels with less than one block for two multiprocessors", "larger batches, or several problems in one call")
		f.change.scale(list, func(a cdg.ActID, own int64) int64 { return int64(share[a] * float64(own)) })
		return f
	},
})

// perSM is what a multiprocessor holds of devices whose multiprocessors are alike: CUDA C++ Programming Guide, technical
// specifications by compute capability (7.0, 8.0, 9.0, 10.0). Devices with room for fewer threads are left out.
var perSM = []struct {
	device string
	shared int64 // bytes for all blocks
}{{"V100", 96 << 10}, {"A100", 164 << 10}, {"A800", 164 << 10}, {"PG509", 164 << 10}, {"H100", 228 << 10}, {"H200", 228 << 10}, {"H800", 228 << 10}, {"H20", 228 << 10}, {"B200", 228 << 10}}

// Room of each of them.
const (
	threadsPerSM   = 2048
	blocksPerSM    = 32
	registersPerSM = 65536
	sharedOfSystem = 1 << 10 // bytes that each block takes beside its own, from compute capability 8.0 on
)

// resident is how many blocks of a kernel a multiprocessor holds at once, 0 where that is not known.
func (r *run) resident(k *kernel) int64 {
	shared := int64(0)
	for _, d := range perSM {
		if name := r.tr.DeviceNames[k.shape.device]; containsAny(d.device)(name) {
			shared = d.shared
		}
	}
	block := k.shape.block
	if shared == 0 || k.registers <= 0 || max(block[0], block[1], block[2]) > threadsPerSM {
		return 0
	}
	warps := (block[0]*max(block[1], 1)*max(block[2], 1) + 31) / 32
	if warps > threadsPerSM/32 {
		return 0
	}
	registers := (k.registers*32 + 255) / 256 * 256 * warps // given out to warps in lots of 256
	n := min(blocksPerSM, threadsPerSM/(32*warps), registersPerSM/registers)
	if k.shared > 0 {
		n = min(n, shared/(k.shared+sharedOfSystem))
	}
	return n
}

const (
	manyWaves = 4.0 // more, and the last one is short beside the others
	waveLoss  = 1.2 // by which whole waves are more than those that are needed
)

var _ = add(rule{
	id: "wave-tail", group: Specific, class: critpath.ClassCompute, kind: AtMost, level: Low,
	why:      "that blocks of the last wave could fill the device is the best case; what a block takes is not recorded",
	title:    "the last wave of blocks leaves most of the GPU without work",
	cause:    "a device runs so many blocks at once; a few more than that take a whole wave more",
	scenario: "each such kernel takes as long as its waves would without rounding",
	action:   []string{"another batch or hidden size, so that the number of blocks is a little below a whole number of waves", "another size of tiles: torch.compile(mode=\"max-autotune\")"},
	verify:   "blocks per SM of these kernels, over what a multiprocessor holds at once, is just below a whole number",
	find: func(r *run) *found {
		var list []cdg.ActID
		share, own := map[cdg.ActID]float64{}, r.fits(gpuKernel, ownGrid)
		for _, k := range r.kernelsByStart() {
			n := r.resident(&k)
			if n == 0 || own[k.shape.name] {
				continue
			}
			waves := k.blocks / float64(n)
			if waves > 1 && waves <= manyWaves && math.Ceil(waves) > waveLoss*waves {
				list = append(list, k.op)
				share[k.op] = waves / math.Ceil(waves)
			}
		}
		if len(list) < fewGrids {
			return nil
		}
		f := r.about(list, "kernel", "kernels with a short last wave", "another batch or tile size, so that waves are full")
		f.change.scale(list, func(a cdg.ActID, own int64) int64 { return int64(share[a] * float64(own)) })
		return f
	},
})
