package analyses

import (
	"math/bits"

	"overlay/internal/trace"
)

// LaunchStats compares the calls that launch with what they launched, one pair an operation.
type LaunchStats struct {
	Pairs           int      `json:"pairs" unit:"count"`
	CPU             Stats    `json:"cpu_duration" unit:"ns"` // of the call
	GPU             Stats    `json:"gpu_duration" unit:"ns"` // of the operation
	Delay           Stats    `json:"delay" unit:"ns"`        // end of the call to start of the operation, at least 0 (HTA's launch delay)
	Latency         Stats    `json:"latency" unit:"ns"`      // start of the call to start of the operation
	ShortKernels    int      `json:"short_kernels" unit:"count" about:"shorter than their call, which took at most 50 µs"`
	RuntimeOutliers int      `json:"runtime_outliers" unit:"count" about:"calls longer than 50 µs"`
	DelayOutliers   int      `json:"delay_outliers" unit:"count" about:"delays longer than 100 µs"`
	DelayHistogram  []Bucket `json:"delay_histogram" about:"delays from the end of the call to the start of the operation"`
	GPUHistogram    []Bucket `json:"gpu_histogram" about:"durations of the operations"`
}

// Bucket counts values in [From, 2*From) ns; the first one holds those below 1,024 ns.
type Bucket struct {
	From  int64 `json:"from_ns" unit:"ns" about:"up to twice as much; from 0, up to 1,024 ns"`
	Count int   `json:"count" unit:"count"`
}

const (
	runtimeCutoff = 50_000
	delayCutoff   = 100_000
)

// launches is HTA's launch statistics (cuda_kernel_analysis.py, get_cuda_kernel_launch_stats) over every call that
// launched something; HTA counts those on a list of names.
func launches(s *Set, _ Options) *LaunchStats {
	var cpu, gpu, delay, latency []int64
	r := &LaunchStats{}
	for i := range s.Ops {
		op := &s.Ops[i]
		if op.Launch == trace.NoEvent {
			continue
		}
		c, g, d := op.LaunchEnd-op.LaunchStart, op.End-op.Start, max(0, op.Start-op.LaunchEnd)
		cpu, gpu, delay, latency = append(cpu, c), append(gpu, g), append(delay, d), append(latency, max(0, op.Start-op.LaunchStart))
		if g < c && c <= runtimeCutoff {
			r.ShortKernels++
		}
		if c > runtimeCutoff {
			r.RuntimeOutliers++
		}
		if d > delayCutoff {
			r.DelayOutliers++
		}
	}
	r.Pairs = len(cpu)
	r.DelayHistogram, r.GPUHistogram = histogram(delay), histogram(gpu)
	r.CPU, r.GPU, r.Delay, r.Latency = Describe(cpu), Describe(gpu), Describe(delay), Describe(latency)
	return r
}

// histogram counts by powers of two, without empty buckets at the ends.
func histogram(values []int64) []Bucket {
	const first = 10 // 2^10 ns
	var count [64]int
	last := -1
	for _, v := range values {
		b := max(0, bits.Len64(uint64(v))-first)
		count[b]++
		last = max(last, b)
	}
	out := []Bucket{}
	for b := 0; b <= last; b++ {
		from := int64(0)
		if b > 0 {
			from = 1 << (first + b - 1)
		}
		if count[b] > 0 || len(out) > 0 {
			out = append(out, Bucket{from, count[b]})
		}
	}
	return out
}
