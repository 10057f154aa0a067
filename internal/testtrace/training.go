package testtrace

// training is two steps with what the simulator does not write: a loader, collectives, a backward pass on another
// thread with its flows, copies in both directions, events of the allocator and Python frames.
func training() *Builder {
	b := New()
	b.Device = "NVIDIA A100-SXM4-40GB"
	main, grad, compute, comm := b.Thread(100, 100, "python"), b.Thread(100, 101, "pt_autograd_0"), b.Stream(0, 7), b.Stream(0, 20)
	corr := int64(0)
	launch := func(t *Thread, s *Stream, name string, at, start, dur int64) {
		corr++
		t.Launch("cudaLaunchKernel", at, 6_000, corr)
		s.Kernel(name, start, dur, corr)
	}
	for step := range int64(3) {
		at := 2_000_000 * step
		main.Annotation("ProfilerStep#"+itoa(step), at, 1_990_000)
		main.Frame("train.py(7): train", at+1_000, 1_900_000)
		main.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at+2_000, 300_000)
		main.Frame("data.py(7): __getitem__", at+5_000, 250_000)
		main.Op("aten::to", at+310_000, 60_000)
		corr++
		main.Launch("cudaMemcpyAsync", at+315_000, 50_000, corr)
		compute.Memcpy(HtoDPageable, at+330_000, 30_000, corr)
		main.Annotation("forward", at+380_000, 300_000)
		main.Op("aten::linear", at+390_000, 100_000)
		main.Op("aten::addmm", at+395_000, 90_000)
		launch(main, compute, "void cutlass::Kernel<gemm<float> >(Params)", at+400_000, at+410_000, 200_000)
		launch(main, compute, "elementwise_kernel", at+420_000, at+612_000, 50_000)
		grad.Op("autograd::engine::evaluate_function: AddmmBackward0", at+700_000, 200_000)
		grad.Op("AddmmBackward0", at+705_000, 180_000)
		b.Flow("fwdbwd", "fwdbwd", step+1, main, at+395_000, grad, at+705_000)
		launch(grad, compute, "gemm_nt", at+710_000, at+720_000, 300_000)
		corr += 2
		grad.Call("cudaEventRecord", at+730_000, 2_000, corr-1)
		grad.Call("cudaStreamWaitEvent", at+734_000, 2_000, corr)
		comm.SyncRecord(StreamWaitEvent, at+734_000, 2_000, corr, 7, corr-1)
		launch(grad, comm, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", at+740_000, at+1_022_000, 400_000)
		corr++
		main.Op("aten::item", at+910_000, 600_000)
		main.Call("cudaDeviceSynchronize", at+950_000, 480_000, corr)
		compute.SyncRecord(ContextSync, at+950_000, 480_000, corr, -1, -1)
		main.Instant("[memory]", at+1_500_000).Arg("Device Type", 1).Arg("Device Id", 0).Arg("Total Allocated", 1_000_000*(step+1)).Arg("Total Reserved", 4_000_000).Arg("Bytes", 512)
		corr++
		main.Launch("cudaMemcpyAsync", at+1_550_000, 30_000, corr)
		compute.Memcpy(DtoHPinned, at+1_560_000, 40_000, corr)
		corr++
		main.Launch("cudaMemsetAsync", at+1_590_000, 5_000, corr)
		compute.Memset(at+1_610_000, 3_000, corr)
		corr++
		main.Call("cudaStreamSynchronize", at+1_600_000, 20_000, corr)
		compute.GPUAnnotation("ProfilerStep#"+itoa(step), at+330_000, 1_290_000)
	}
	return b
}

// vendors is a process on the GPU of another vendor than the one that the simulator imitates, with its names of calls.
func vendors() *Builder {
	b := New()
	b.NoFlows, b.Device = true, "AMD Instinct MI250X"
	main, compute, comm := b.Thread(9, 9, "python"), b.Stream(2, 0), b.Stream(2, 5)
	for i := range int64(6) {
		at, corr := 400_000*i, 10*i
		main.Op("aten::mm", at, 200_000)
		main.Call("hipExtModuleLaunchKernel", at+10_000, 12_000, corr+1)
		compute.Kernel("Cijk_Ailk_Bljk_HHS_BH_MT128x128x16", at+30_000, 100_000, corr+1)
		main.Call("hipEventRecord", at+24_000, 2_000, corr+2)
		main.Call("hipStreamWaitEvent", at+28_000, 2_000, corr+3)
		main.Call("hipLaunchKernel", at+32_000, 12_000, corr+4)
		comm.Kernel("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", at+133_000, 60_000, corr+4)
		main.Call("hipMemcpyWithStream", at+210_000, 60_000, corr+5)
		compute.Memcpy("CopyDeviceToHost", at+225_000, 40_000, corr+5)
		main.Call("hipStreamSynchronize", at+275_000, 5_000, corr+6)
		main.Call("hipDeviceSynchronize", at+300_000, 20_000, corr+7)
	}
	return b
}
