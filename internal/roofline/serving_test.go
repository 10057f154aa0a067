package roofline

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/testtrace"
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

// TestNoServingModel: inputs that do not fit, or do not say enough, give no figures; what just fits does.
func TestNoServingModel(t *testing.T) {
	with := func(name string, in ...string) *Call { c := call("", in...); c.Name = name; return c }
	decode := func(c *Call, keys, tokens, pairs int64) *Call {
		c.Iteration = &trace.Iteration{Type: trace.Decode, Decode: trace.Requests{Count: 1, Keys: keys, Tokens: tokens, Pairs: pairs}}
		return c
	}
	moe := func(c *Call, inner ...*Call) *Call {
		c.Within = func() (list []Call) {
			for _, in := range inner {
				list = append(list, *in)
			}
			return list
		}
		return c
	}
	topk := func(n string) *Call { return with("TopK", "half[4,8]", n) }
	weights := with("aten::view", "half[8,120,100]", "half[8,100,60]")
	const moeName, fused, mla, attends = "vllm::moe_forward", "vllm::fused_experts", "vllm::unified_mla_attention", "x::paged_attention"
	for _, c := range []struct {
		call  *Call
		flops int64 // -1: no figures
	}{
		{with("x::store_cache", "half[32]", "half[32]"), -1}, {with("x::store_cache", "half[32,4]"), -1}, {with("x::store_cache", "half[32,4]", "half[32,4]"), 0},
		{with("x::rmsnorm", "half[32]"), -1}, {with("x::silu_and_mul", "half[32]"), -1}, {with("x::rotary", "half[32]"), -1}, {with("x::moe_sum", "half[32]"), -1},
		{with("x::rmsnorm", "Something[2,3]"), -1}, {with("x::silu_and_mul", "half[2,4]", "float[2,4]"), 5 * 4},
		{with("x::batched_gemm", "half[16,32,512]"), -1}, {with("x::batched_gemm", "half[16,512]", "half[16,128,512]"), -1}, {with("x::batched_gemm", "half[16,32,512]", "half[128,512]"), -1},
		{with("x::batched_gemm", "half[16,32,512]", "half[7,128,512]"), -1}, {with("x::batched_gemm", "half[16,32,512]", "half[16,128,500]"), -1}, {with("x::batched_gemm", "half[16,32,512]", "half[32,128,512]"), 2 * 16 * 32 * 128 * 512},
		{with("x::scaled_mm", "half[32,4096]", "half[512,2048]"), -1}, {with("x::scaled_mm", "half[32,4096]", "byte[512,1000]"), -1}, {with("x::scaled_mm", "half[32,40]", "half[40,8]"), 2 * 32 * 40 * 8},
		{with("x::scaled_mm", "half[32,40]"), -1}, {with("x::scaled_mm", "half[32,40]", "half[3,8,40]"), -1},
		{with(fused, "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "int[4,64]"), 2 * 256 * (600*1000 + 1000*300)}, {with(fused, "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "int[4,65]"), -1},
		{with(fused, "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "float[4,2]"), -1}, {with(fused, "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "int[5,2]"), -1},
		{with(fused, "half[4,1000]", "int[4,2]"), -1}, {with(fused, "half[4,999]", "half[8,600,1000]", "half[8,1000,300]", "int[4,2]"), -1},
		{with(fused, "half[4,1000]", "half[8,600,1000]", "half[9,1000,300]", "int[4,2]"), 2 * 8 * 600 * 1000},  // weights of another number of experts are none of these
		{with(fused, "half[4,1000]", "half[8,64,1000]", "half[8,1000,64]", "int[4,2]"), -1},                    // these have as many columns as a token has choices
		{with(fused, "half[4,1000]", "half[8,65,1000]", "half[8,1000,65]", "int[4,2]"), 2 * 8 * 2 * 65 * 1000}, // and these have more
		{with(fused, "half[4,1000]", "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "1", "1", "1", "1", "2"), -1},
		{with("x::fmoe_a", "half[4,1000]", "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "1", "1", "1", "1", "64"), 2 * 256 * (600*1000 + 1000*300)},
		{with("x::fmoe_a", "half[4,1000]", "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "1", "1", "1", "1", "65"), -1},
		{with("x::fmoe_a", "half[4,1000]", "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "1", "1", "1", "1", "[2, 3]"), -1},
		{with("x::fmoe_a", "half[4,1000]", "half[4,1000]", "half[8,600,1000]", "half[8,1000,300]", "1", "1", "1", "1"), -1},
		{with("x::moe_stage2", "half[32,2,1024]", "half[8,4096,1024]", "half[32,4096]"), 2 * 64 * 4096 * 1024}, {with("x::moe_stage1", "half[32,4000]", "half[8,2048,4096]"), -1},
		{with("x::moe_stage1", "half[32,4000]"), -1}, {with("x::moe_stage1", "half[32,4096]", "half[8,2048,4096]", "half[1,900,2,4096]"), 2 * 32 * 2048 * 4096},
		{with("x::moe_stage1", "half[900,1024]", "half[32,4096]", "half[8,2048,4096]"), 2 * 900 * 2048 * 4096},
		{moe(with(moeName, "half[4,100]", "half[4,8]"), topk("2"), weights), 2 * 8 * (120*100 + 100*60)}, {moe(with(moeName, "half[4,100]", "half[4,8]"), topk("8"), weights), 2 * 32 * (120*100 + 100*60)},
		{moe(with(moeName, "half[4,100]", "half[4,8]"), topk("9"), topk("2"), topk("3"), weights), 2 * 8 * (120*100 + 100*60)}, {moe(with(moeName, "half[4,100]", "half[4,8]"), topk("0"), weights), -1},
		{moe(with(moeName, "half[4,100]", "half[4,8]"), topk("9"), weights), -1}, {moe(with(moeName, "half[4,100]", "half[4,8]"), topk("x"), weights), -1}, {moe(with(moeName, "half[4,100]", "half[4,8]"), topk("[1, 2]"), weights), -1},
		{moe(with(moeName, "half[4,100]", "half[4,8]"), with("TopK", "half[4,8]"), with("TopK"), weights), -1}, {moe(with(moeName, "half[4,100]", "half[4,8]"), with("sort", "half[4,8]", "2"), weights), -1},
		{moe(with(moeName, "half[4,100]", "half[4,8]"), with("TopK", "half[4,9]", "2"), weights), -1}, {moe(with(moeName, "half[4,100]", "half[4,8]"), topk("2"), with("aten::view", "half[8,120,100]")), -1},
		{moe(with(moeName, "half[4,100]", "half[4,8]"), topk("2"), with("aten::view", "half[8,120,100]", "Something[8,120,100]", "half[7,100,60]", "half[8,60]", "half[8,100,60]", "half[8,5,5]")), 2 * 8 * (120*100 + 100*60)},
		{moe(with(moeName, "half[4,100]"), topk("2"), weights), -1}, {moe(with(moeName, "half[4,10,10]", "half[4,8]"), topk("2"), weights), -1}, {moe(with(moeName, "half[4,100]", "half[4,8,1]"), topk("2"), weights), -1},
		{moe(with(moeName, "half[5,100]", "half[4,8]"), topk("2"), weights), -1},
		{decode(with(attends, "half[1,8,64]", "half[9,16,4,64]"), 10, 1, 10), 4 * 8 * 64 * 10}, {with(attends, "half[1,8,64]", "half[9,16,4,64]"), -1}, {decode(with(attends, "half[1,8,64]"), 10, 1, 10), -1},
		{decode(with(attends, "half[1,1,1,8,64]", "half[9,16,4,64]"), 10, 1, 10), -1}, {decode(with(attends, "half[1,8,64]", "half[9,16,3,64]"), 10, 1, 10), -1}, {decode(with(attends, "half[1,8,64]", "half[9,4,64,16]"), 10, 1, 10), 4 * 8 * 64 * 10},
		{decode(with(attends, "half[1,8,64]", "half[9,4,8,16,7]"), 10, 1, 10), -1}, {decode(with(attends, "half[1,8,64]", "half[9,16,0,64]"), 10, 1, 10), -1}, {decode(with(attends, "half[1,8,64]", "half[9,64,16]"), 10, 1, 10), -1},
		{decode(with(attends, "half[1,8,512]", "half[9,16,1,512]"), 10, 1, 10), 4 * 8 * 512 * 10}, {decode(with(attends, "half[1,8,576]", "half[9,16,2,576]"), 10, 1, 10), 4 * 8 * 576 * 10},
		{decode(with(attends, "half[1,8,64]", "half[9,16,4,64]"), -1, 1, 10), -1}, {decode(with(attends, "half[1,8,64]", "half[9,16,4,64]"), 10, -1, 10), -1}, {decode(with(attends, "half[1,8,64]", "half[9,16,4,64]"), 10, 1, -1), -1},
		{decode(with(attends, "half[1,8,64]", "half[9,16,4,64]"), 0, 1, 0), 0}, {decode(with(attends, "half[1,8,64]", "half[9,16,4,64]"), 10, 0, 0), 0}, {decode(with(attends, "half[1,8,64]", "half[9,16,4,64]"), 0, 0, 0), -1},
		{decode(with(mla, "half[1,16,192]", "half[1,512]", "half[1,64]"), 10, 1, 10), 2 * 16 * (2*512 + 64) * 10}, {with(mla, "half[1,16,192]", "half[1,512]", "half[1,64]"), -1}, {decode(with(mla, "half[1,16,192]", "half[1,512]"), 10, 1, 10), -1},
		{decode(with(mla, "half[1,192]", "half[1,512]", "half[1,64]"), 10, 1, 10), -1}, {decode(with(mla, "half[1,16,192]", "half[1,1,512]", "half[1,64]"), 10, 1, 10), -1}, {decode(with(mla, "half[1,16,192]", "half[1,512]", "half[64]"), 10, 1, 10), -1},
	} {
		f, _ := modelOf(c.call.Name)
		w, ok := f(c.call)
		if ok != (c.flops >= 0) || ok && w.Flops != c.flops {
			t.Errorf("%s %v %q: %v %+v, want %d FLOPs", c.call.Name, c.call.In, c.call.Concrete, ok, w, c.flops)
		}
	}
	same := decode(with(attends, "half[1,8,64]", "half[9,16,4,64]", "float[9,16,4,64]", "half[9,16,2,64]", "float[9,16,2,64]"), 10, 1, 10)
	if w, _ := paged(same); w.Bytes != 10*2*2*64*2+2*8*64*2 {
		t.Errorf("the cache is the first of those with the fewest heads: %+v", w)
	}
}

// TestWithin: an operator called what begins inside of it on its thread, and of the operators of other threads nothing.
func TestWithin(t *testing.T) {
	b := testtrace.New()
	main, other := b.Thread(1, 1, "python"), b.Thread(1, 2, "other")
	shaped := func(th *testtrace.Thread, name string, start, dur int64) {
		th.Op(name, start, dur).Arg("Input Dims", testtrace.Raw("[[2]]")).Arg("Input type", testtrace.Raw(`["float"]`))
	}
	main.Frame("frame", 0, 9000)
	shaped(main, "before", 500, 100)
	shaped(main, "outer", 1000, 1000)
	shaped(main, "first", 1000, 500)
	main.Op("no shapes", 1200, 10)
	shaped(other, "beside", 1300, 10)
	shaped(main, "last", 1999, 1)
	shaped(main, "after", 2000, 100)
	shaped(other, "alone", 3000, 100)
	tr := b.Parse(t)
	m := &Meter{}
	for name, want := range map[string]string{"outer": "first last", "before": "", "alone": "", "after": ""} {
		var got []string
		for id := range tr.Events {
			if tr.Name(trace.EventID(id)) == name {
				for _, c := range m.within(tr, trace.EventID(id)) {
					got = append(got, c.Name)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s called %q, want %s", name, got, want)
		}
	}
}
