package anonymize_test

import (
	"strings"
	"testing"

	"overlay/internal/anonymize"
	"overlay/internal/trace"
)

// TestAnonymousNamesStay: names of public libraries are what makes an anonymous trace useful.
func TestAnonymousNamesStay(t *testing.T) {
	for kind, names := range map[trace.Kind]string{
		trace.CPUOp: `aten::mm|aten::add_|aten::_scaled_dot_product_flash_attention_backward|aten::native_layer_norm|aten::upsample_bilinear2d
aten::_foreach_addcdiv_|aten::_fused_adamw_|aten::convolution_backward|aten::__ior__|c10d::allreduce_|c10d::_allgather_base_|_c10d_functional::reduce_scatter_tensor
record_param_comms|AddmmBackward0|autograd::engine::evaluate_function: TBackward0|autograd::engine::evaluate_function: torch::autograd::AccumulateGrad
torch::autograd::CppNode<SplitLookupFunction_Dense_Op>|torch::jit::(anonymous namespace)::DifferentiableGraphBackward|MaxPool2DWithIndicesBackward0
CompiledFunction|CompiledFunctionBackward|Torch-Compiled Region: 12/3|TorchDynamo Cache Lookup|AOTDispatcher Runtime Wrapper Prologue|Pregraph bytecode
triton_poi_fused__unsafe_view_mul_silu_2|fbgemm::permute_2D_sparse_data|vllm::unified_attention_with_output|_C_cache_ops::reshape_and_cache_flash
torch.distributed.ddp.reducer::copy_bucket_to_grad|quantized::linear_dynamic|flash_attn::_flash_attn_forward|mkldnn::_linear_pointwise`,
		trace.Annotation: `ProfilerStep#123456|nccl:all_reduce|gloo:broadcast|Optimizer.step#AdamW.step|Optimizer.zero_grad#SGD.zero_grad|FSDP::post_backward_reduce
DistributedDataParallel.forward|enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__|enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__
## forward ##|PyTorch Profiler (0)|zero_grad|forward|backward|load_batch`,
		trace.Kernel: `void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)
ampere_bf16_s16816gemm_bf16_128x128_ldg8_relu_f2f_stages_32x5_tn|volta_scudnn_128x64_relu_medium_nn_v1
sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas
nvjet_hsh_192x192_64x4_2x1_v_bz_coopB_TNT|void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8::Params)
void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct, float const*)|void cub::DeviceScanKernel<cub::DeviceScanPolicy<int> >(int*)
ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)|ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)
triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_1|triton__0d1d2d3d4de5de
void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t> >(pytorch_flash::Flash_fwd_params)
void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)|void vllm::moe::topkGatingSoftmax<8, 64, 4, 16>(float const*, bool const*)
void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float> >(int, int volatile*)|void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel<float>()
Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN_1LDSB0_APM1_AF0EM1_GSU1_WS64_WG32_4_1
_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_8SequenceIJLi1ELi4EEEEEEvT_
igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64_tb1x8x2x1_1x4x1x64_gkgs
split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_warp_per_row_1|void fbgemm_gpu::permute_2D_data_kernel<false, int>(int)`,
		trace.Memcpy:  `Memcpy HtoD (Pinned -> Device)|Memcpy DtoH (Device -> Pageable)|Memcpy PtoP (Device -> Device)|Memcpy`,
		trace.Memset:  `Memset (Device)|Memset (Unified)`,
		trace.Runtime: `cudaLaunchKernelExC|cudaStreamWaitEvent|cudaMalloc|hipExtModuleLaunchKernel|hipGetDevicePropertiesR0600|cudaGraphLaunch|INVALID|aclrtSynchronizeStream|urEnqueueKernelLaunch|hsa_signal_wait`,
		trace.Driver:  `cuLaunchKernelEx|cuMemcpyDtoHAsync_v2|cuStreamGetCaptureInfo_v2_ptsz`,
		trace.Python: `nn.Module: Linear_0|nn.Module: TransformerEncoderLayer_3|torch/nn/modules/module.py(1501): _call_impl|torch/utils/data/dataloader.py(630): __next__
<built-in method run_backward of torch._C._EngineBase object>`,
		trace.SyncRecord: `Context Sync|Stream Wait Event|Event Sync`,
	} {
		for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == '|' || r == '\n' }) {
			if got := anonymize.EventText(kind, name); got != name {
				t.Errorf("%s %q became %q", kind, name, got)
			}
		}
	}
}

// TestAnonymousNamesGo: whatever has a word that no library has.
func TestAnonymousNamesGo(t *testing.T) {
	for kind, cases := range map[trace.Kind]string{
		// name => what must be left of it, "" for nothing
		trace.CPUOp: `aten::acme => aten::
aten::_acme_add => aten::
acme::fused_attention => 
torch: host acme => 
22ACMEBackward0 => Backward0
autograd::engine::evaluate_function: AcmeLayerBackward => autograd::engine::evaluate_function:
autograd::engine::evaluate_function: torch::autograd::CppNode<AcmeOp> => torch::autograd::CppNode<
triton_poi_fused_acme_0 => triton_poi_fused_
/home/acme/x.py => `,
		trace.Annotation: `acme forward => forward
FSDP::forward (acme.layers) => FSDP::forward
Optimizer.step#Acme.step => Optimizer.step#
nccl:acme => nccl:
PyTorch Profiler acme => PyTorch Profiler
ProfilerStep#acme => ProfilerStep#
run 2026-01-02 10:11 acme => 
acme-17.dc4 => 
gpu-host-17 => 
worker.data.center => 
node17 => `,
		trace.Kernel: `/home/acme/k.cu => 
void acme::ops::kernel<float>(int) => <float>(int)
void at::native::foo_acme<float>(int) => void at::native::
void at::native::elementwise_kernel<acme::Functor>(int) => at::native::elementwise_kernel<
_ZN4acme6kernelIfEEvT_ => 
_ZACMEzq => 
Cijk_Ailk_ACME1_MT64 => 
acme_all_reduce_kernel => all_reduce
acmeNcclThing => nccl`,
		trace.Memcpy: `Memcpy HtoD acme => Memcpy HtoD`,
		trace.Runtime: `cudaAcme => 
acmeLaunchKernel => Launch`,
		trace.Python: `/home/acme/train.py(12): acme_step => (12):
/home/acme/train.py(12): forward => (12): forward
/opt/acme/site-packages/torch/nn/acme.py(1): f => (1): f
nn.Module: AcmeBlock_7 => _7
<built-in method acme of object at 0x7f> => <built-in
acme => `,
		trace.Overhead: `acme => `,
		trace.Span:     `PyTorch Profiler (acme) => `,
		trace.KindOther: `[acme memory] => 
acme => `,
	} {
		for line := range strings.Lines(cases) {
			name, left, _ := strings.Cut(strings.TrimRight(line, "\n"), " =>")
			got := anonymize.EventText(kind, name)
			if got == name || strings.Contains(strings.ToLower(got), "acme") || !strings.Contains(got, strings.TrimSpace(left)) {
				t.Errorf("%s %q became %q, want %q in it", kind, name, got, left)
			}
			if again := anonymize.EventText(kind, name); again != got {
				t.Errorf("%s %q became %q and %q", kind, name, got, again)
			}
		}
	}
}
