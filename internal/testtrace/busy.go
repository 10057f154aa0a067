package testtrace

import "fmt"

// BusyStream is a stream that always has work, in 10 steps: every launch starts so many kernels. gap ns lie between two of
// them; where it is negative they overlap.
func BusyStream(kernels, gap int64) *Builder {
	b := New()
	main, stream := b.Thread(1, 1, "python"), b.Stream(0, 7)
	const perStep, us = 700, 1000
	free, corr := int64(0), int64(0)
	for step := range int64(10) {
		start := step * perStep * 10 * us
		main.Annotation(fmt.Sprintf("ProfilerStep#%d", step), start, perStep*10*us)
		for k := range perStep / kernels {
			corr++
			at := start + k*3*us
			main.Launch("cudaLaunchKernel", at, 2*us, corr)
			free = max(free, at+5*us)
			for range kernels {
				stream.Kernel("gemm", free, 10*us, corr)
				free += 10*us + gap
			}
		}
	}
	main.Call("cudaDeviceSynchronize", 10*perStep*10*us, free+5*us-10*perStep*10*us, corr+1)
	return b
}
