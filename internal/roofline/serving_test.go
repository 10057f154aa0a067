package roofline

import (
	"fmt"
	"testing"

	"overlay/internal/trace"
)

// The work of what servers run, by hand: shapes as captures of SGLang and vLLM have them.
func TestServingModels(t *testing.T) {
	decode := &trace.Iteration{Type: trace.Decode, Prefill: trace.Requests{}, Decode: trace.Requests{Count: 32, Tokens: 32, Keys: 32785, Squares: 32, Pairs: 32785}}
	prefill := &trace.Iteration{Type: trace.Prefill, Prefill: trace.Requests{Count: 1, Tokens: 100, Keys: 100, Squares: 10000, Pairs: 10000}, Decode: trace.Requests{}}
	named := func(name string, c *Call) *Call { c.Name = name; return c }
	within := func(c *Call, weights ...string) *Call { // of eight experts two take a token
		inner := []Call{*named("aten::view", call("", append(weights, weights...)...)), *named("TopK", call("", fmt.Sprintf("half[%d,8]", c.In[0].Dims[0]), "2", "True"))}
		c.Within = func() []Call { return inner }
		return c
	}
	for _, c := range []struct {
		call         *Call
		it           *trace.Iteration
		flops, bytes int64
	}{
		{named("sglang_profiler::attention_paged_attention_ragged_100", call("", "half[32,32,128]", "byte[1000]", "half[32,32,128]", "half[835874,1,8,128]", "half[835874,1,8,128]")), decode,
			4 * 32 * 128 * 32785, (32785*2*8*128 + 32*2*32*128) * 2},
		{named("vllm::unified_attention_with_output", call("", "half[100,64,64]", "half[100,8,64]", "half[100,8,64]", "half[100,64,64]")), prefill, 4 * 64 * 64 * 5000, (100*2*8*64 + 100*2*64*64) * 2},
		{named("x::mla_decode_fwd", call("", "half[32,16,576]", "half[1000,1,1,576]")), decode, 2 * 16 * (576 + 512) * 32785, (32785*576 + 32*2*16*576) * 2},
		{named("vllm::unified_mla_attention_with_output", call("", "half[32,16,192]", "half[32,512]", "half[32,1,64]", "half[32,2048]")), decode,
			2 * 16 * (2*512 + 64) * 32785, (32785*576 + 32*16*(192+128)) * 2},
		{named("vllm::unified_mla_attention", call("", "half[100,16,192]", "half[100,512]", "half[100,1,64]")), prefill, 2 * 16 * (192 + 128) * 5000, (100*576 + 100*16*(192+128)) * 2},
		{within(named("vllm::moe_forward", call("", "half[4,100]", "half[4,8]")), "byte[8,50,120]", "byte[8,30,100]"), nil, 2 * 8 * (100*120 + 60*100), 2*4*100*2 + 8*(50*120+30*100)},
		{within(named("vllm::moe_forward_shared", call("", "half[1,100]", "half[1,8]")), "half[8,120,100]", "half[8,100,60]"), nil, 2 * 2 * (100*120 + 60*100), 2*100*2 + 2*(100*120+60*100)*2},
		{named("aiter::add_rmsnorm", call("", "half[32,4096]", "half[32,4096]", "half[32,4096]", "half[32,4096]", "half[4096]")), nil, 4 * 32 * 4096, 4 * 32 * 4096 * 2},
		{named("vllm::rms_norm", call("", "half[32,4096]", "half[4096]")), nil, 4 * 32 * 4096, 2 * 32 * 4096 * 2},
		{named("_C::rotary_embedding", call("", "long int[32]", "half[32,4096]", "half[32,1024]", "64", "half[41216,128]")), nil, 3 * 32 * 5120, 2 * 32 * 5120 * 2},
		{named("sgl_kernel::silu_and_mul", call("", "half[32,12288]", "half[32,24576]")), nil, 5 * 32 * 12288, 3 * 32 * 12288 * 2},
		{named("sglang::store_cache", call("", "half[32,1024]", "half[32,1024]", "half[835874,1024]", "half[835874,1024]", "long int[32]")), nil, 0, 4 * 32 * 1024 * 2},
		{named("aiter::gemm_a16w16", call("", "half[32,4096]", "half[6144,4096]")), nil, 2 * 32 * 4096 * 6144, (32*4096 + 6144*4096 + 32*6144) * 2},
		{named("x::cutlass_fp4_mm", call("", "byte[32,2048]", "byte[512,2048]")), nil, 2 * 32 * 4096 * 512, 32*2048 + 512*2048 + 32*512*2},
		{named("vllm::outplace_fused_experts", call("", "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "float[4,2]", "int[4,2]")), nil, 2 * 8 * (600*1000 + 1000*300), 2*4*1000*2 + (8*600*1000+8*1000*300)*2},
		// AITER gives the result first, the numbers of experts sorted, and scales that look like choices.
		{named("aiter::fmoe_fp8_blockscale_g1u1", call("", "half[32,7168]", "c10::Float8_e4m3fn[32,7168]", "c10::Float8_e4m3fn[256,512,7168]", "c10::Float8_e4m3fn[256,7168,256]", "int[9000]", "float[9000]", "int[280]", "int[1]", "8", "float[32,56]")), nil,
			2 * 256 * (512*7168 + 7168*256), 2*32*7168 + 256*(512*7168+7168*256)},
		{named("aiter::fmoe_g1u1_tkw1", call("", "half[32,1000]", "half[32,1000]", "half[8,600,1000]", "half[8,1000,300]")), nil, 0, 0},
		{named("aiter::ck_moe_stage1", call("", "half[32,4096]", "half[8,2048,4096]", "half[8,4096,1024]", "int[500]", "int[40]", "int[2]", "half[32,2,1024]")), nil, 2 * 64 * 2048 * 4096, (32*4096 + 64*1024 + 8*2048*4096) * 2},
		{named("aiter::ck_moe_stage2", call("", "half[32,2,1024]", "half[8,2048,4096]", "half[8,4096,1024]", "int[500]", "int[40]", "int[2]", "half[32,4096]")), nil, 2 * 64 * 4096 * 1024, (64*1024 + 32*4096 + 8*4096*1024) * 2},
		{named("aiter::moe_cktile2stages_gemm1_ck", call("", "half[4,4096]", "byte[128,2048,2048]", "half[4,2,1024]", "int[500]")), nil, 2 * 8 * 2048 * 4096, (4*4096+8*1024)*2 + 8*2048*2048},
		{named("sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel_7", call("", "c10::Float8_e4m3fn[64,2048]", "c10::Float8_e4m3fn[128,1536,2048]", "1", "half[512,1536]", "1", "float[128]")), nil,
			2 * 512 * 1536 * 2048, 64*2048 + 512*1536*2 + 128*1536*2048},
		{named("sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel_8", call("", "c10::Float8_e4m3fn[512,768]", "c10::Float8_e4m3fn[128,2048,768]", "1", "half[64,8,2048]", "1", "float[128]")), nil,
			2 * 512 * 2048 * 768, 512*768 + 512*2048*2 + 128*2048*768},
		{named("aiter::gemm_a8w8_blockscale_bpreshuffle_ck", call("", "c10::Float8_e4m3fn[32,4096]", "c10::Float8_e4m3fn[512,4096]", "float[32,32]", "float[4,32]", "half[32,512]")), nil, 2 * 32 * 4096 * 512, 32*4096 + 512*4096 + 32*512*2},
		{named("aiter::gemm_a16wfp4_", call("", "half[32,4096]", "byte[512,2048]")), nil, 2 * 32 * 4096 * 512, 32*4096*2 + 512*2048 + 32*512*2},
		{named("aiter::_gemm_a4w4_asm", call("", "c10::Float4_e2m1fn_x2[32,2048]", "c10::Float4_e2m1fn_x2[512,2048]")), nil, 2 * 32 * 4096 * 512, 32*2048 + 512*2048 + 32*512*2},
		{named("aiter::batched_gemm_a16wfp4_", call("", "half[16,32,512]", "byte[16,128,256]")), nil, 2 * 16 * 32 * 128 * 512, 16*32*512*2 + 16*128*256 + 16*32*128*2},
		{named("_C::paged_attention_v1", call("", "half[32,32,128]", "half[32,32,128]", "half[1000,8,16,16,8]", "half[1000,8,128,16]")), decode, 4 * 32 * 128 * 32785, (32785*2*8*128 + 32*2*32*128) * 2},
		{named("sgl_kernel::fwd_kvcache", call("", "half[32,1,32,128]", "c10::Float8_e4m3fn[1000,16,8,128]", "c10::Float8_e4m3fn[1000,16,8,128]")), decode, 4 * 32 * 128 * 32785, 32785*2*8*128 + 32*2*32*128*2},
		{named("_flashmla_C::fwd_kvcache_mla", call("", "half[32,1,16,576]", "half[1000,64,1,576]")), decode, 2 * 16 * (576 + 512) * 32785, (32785*576 + 32*2*16*576) * 2},
		{named("aiter::wrapper_fmha_v3_fwd", call("", "half[1,4608,24,128]", "half[1,4608,24,128]", "half[1,4608,24,128]", "0", "0.08", "False")), nil, 4608 * 4608 * 24 * 4 * 128, 4 * 4608 * 24 * 128 * 2},
		{named("aiter::gelu_tanh_and_mul", call("", "half[32,12288]", "half[32,24576]")), nil, 5 * 32 * 12288, 3 * 32 * 12288 * 2},
		{named("_C::per_token_group_fp8_quant", call("", "half[32,4096]", "c10::Float8_e4m3fn[32,4096]", "float[32,32]")), nil, 0, 32*4096*3 + 32*32*4},
	} {
		f, _ := modelOf(c.call.Name)
		if f == nil {
			t.Errorf("%s has no model", c.call.Name)
			continue
		}
		c.call.Iteration = c.it
		if w, ok := f(c.call); ok != (c.bytes > 0) || w.Flops != c.flops || w.Bytes != c.bytes {
			t.Errorf("%s: %v %+v, want %d FLOPs, %d bytes", c.call.Name, ok, w, c.flops, c.bytes)
		}
	}
	c := named("x::paged_attention", call("", "half[32,32,128]", "half[10,1,8,128]"))
	if w, ok := paged(c); ok {
		t.Errorf("attention without the lengths of requests: %+v", w)
	}
	c.Iteration, c.In[1].Dims = decode, []int64{10, 1, 8, 64}
	if w, ok := paged(c); ok {
		t.Errorf("attention that does not tell how many heads share a key: %+v", w)
	}
	c = named("vllm::moe_forward", call("", "half[4,100]", "half[4,8]"))
	if w, ok := expertsWithin(c); ok {
		t.Errorf("experts without their weights: %+v", w)
	}
	if w, ok := expertsWithin(within(c, "byte[8,70,120]", "byte[8,30,100]")); ok {
		t.Errorf("weights of another width: %+v", w)
	}
	for _, name := range []string{"aten::rms_norm_x", "rmsnorm", "mylib::linear", "autograd::rmsnorm", "aiter::fused_allreduce_rmsnorm", "_C_custom_ar::all_reduce"} {
		if f, _ := modelOf(name); f != nil {
			t.Errorf("%s has a model", name)
		}
	}
}
