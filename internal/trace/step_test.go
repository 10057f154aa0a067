package trace_test

import (
	"slices"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// The names as the servers' own sources write them, several versions of each.
func TestNamesOfIterations(t *testing.T) {
	said := func(n ...int64) trace.Requests {
		r := trace.Requests{-1, -1, -1, -1, -1}
		for i, to := range []*int64{&r.Count, &r.Tokens, &r.Keys, &r.Squares, &r.Pairs} {
			if i < len(n) {
				*to = n[i]
			}
		}
		return r
	}
	for name, want := range map[string]trace.Iteration{
		"execute_context_9(8155)_generation_37(37)":                                 {Type: trace.Mixed, Number: -1, Padded: -1, Batch: 46, Tokens: 8192, Prefill: said(9, 8155), Decode: said(37, 37)},
		"execute_context_0(0)_generation_4(4)":                                      {Type: trace.Decode, Number: -1, Padded: -1, Batch: 4, Tokens: 4, Prefill: said(0, 0), Decode: said(4, 4)},
		"execute_context_2(100)_generation_0(0)":                                    {Type: trace.Prefill, Number: -1, Padded: -1, Batch: 2, Tokens: 100, Prefill: said(2, 100), Decode: said(0, 0)},
		"execute_context_0(0)_generation_0(0)":                                      {Type: trace.Idle, Number: -1, Padded: -1, Prefill: said(0, 0), Decode: said(0, 0)},
		"execute_new_2_cached_5":                                                    {Type: trace.Mixed, Number: -1, Padded: -1, Batch: 7, Tokens: -1, Prefill: said(), Decode: said()},
		"execute_64_context_3(sq128sk256sqsq9sqsk8)_generation_1(sq1sk7sqsq1sqsk7)": {Type: trace.Mixed, Number: -1, Padded: 64, Batch: 4, Tokens: 129, Prefill: said(3, 128, 256, 9, 8), Decode: said(1, 1, 7, 1, 7)},
		"step[DECODE bs=32]":                                                        {Type: trace.Decode, Number: -1, Padded: -1, Batch: 32, Tokens: 32, Prefill: said(), Decode: said(32, 32)},
		"step[DECODE bs=32 g_sq=64 g_sqsq=128 g_sqsk=9 g_sk=7]":                     {Type: trace.Decode, Number: -1, Padded: -1, Batch: 32, Tokens: 64, Prefill: said(), Decode: said(32, 64, 7, 128, 9)},
		"step[EXTEND bs=2 toks=107]":                                                {Type: trace.Prefill, Number: -1, Padded: -1, Batch: 2, Tokens: 107, Prefill: said(2, 107), Decode: said()},
		"step[MIXED bs=2]":                                                          {Type: trace.Mixed, Number: -1, Padded: -1, Batch: 2, Tokens: -1, Prefill: said(), Decode: said()},
		"step[MIXED bs=3 c=1 g=2 c_sq=9 c_sk=9 g_sq=2 g_sk=8]":                      {Type: trace.Mixed, Number: -1, Padded: -1, Batch: 3, Tokens: 11, Prefill: said(1, 9, 9), Decode: said(2, 2, 8)},
		"step[TARGET_VERIFY bs=4]":                                                  {Type: trace.Verify, Number: -1, Padded: -1, Batch: 4, Tokens: -1, Prefill: said(), Decode: said(4)},
		"step[decode bs=32]":                                                        {Type: trace.Decode, Number: -1, Padded: -1, Batch: 32, Tokens: 32, Prefill: said(), Decode: said(32, 32)},
		"step[prefill bs=2 toks=107]":                                               {Type: trace.Prefill, Number: -1, Padded: -1, Batch: 2, Tokens: 107, Prefill: said(2, 107), Decode: said()},
		"step[mixed bs=3 ext=9 dec=2]":                                              {Type: trace.Mixed, Number: -1, Padded: -1, Batch: 3, Tokens: 11, Prefill: said(-1, 9), Decode: said(2, 2)},
		"step[idle]":                                                                {Type: trace.Idle, Number: -1, Padded: -1, Prefill: said(0, 0), Decode: said()},
		"step[VERIFY bs=4]":                                                         {Type: trace.Verify, Number: -1, Padded: -1, Batch: 4, Tokens: -1, Prefill: said(), Decode: said(4)},
		"prefill[bs=1 tok=107 ctx=[107]]":                                           {Type: trace.Prefill, Number: -1, Padded: -1, Batch: 1, Tokens: 107, Prefill: said(1, 107), Decode: said()},
		"decode[bs=8 tok=8 d=8]":                                                    {Type: trace.Decode, Number: -1, Padded: -1, Batch: 8, Tokens: 8, Prefill: said(), Decode: said(8, 8)},
		"step[TARGET_VERIFY bs=2 g_sq=6 g_sqsq=18 g_sqsk=90 g_sk=30]":               {Type: trace.Verify, Number: -1, Padded: -1, Batch: 2, Tokens: 6, Prefill: said(), Decode: said(2, 6, 30, 18, 90)},
		"step[DRAFT_EXTEND_V2 bs=2 c_sq=5 c_sqsq=13 c_sqsk=93 c_sk=35]":             {Type: trace.Draft, Number: -1, Padded: -1, Batch: 2, Tokens: 5, Prefill: said(2, 5, 35, 13, 93), Decode: said()},
		"draft step[DECODE bs=32]":                                                  {Type: trace.Draft, Number: -1, Padded: -1, Batch: 32, Tokens: 32, Prefill: said(), Decode: said(32, 32)},
		"draft step[EXTEND bs=4 toks=100]":                                          {Type: trace.Draft, Number: -1, Padded: -1, Batch: 4, Tokens: 100, Prefill: said(4, 100), Decode: said()},
		"step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]":                    {Type: trace.Prefill, Number: -1, Padded: -1, Batch: 2, Tokens: 12, Prefill: said(2, 12, 20, 80, 120), Decode: said()},
		"step[MIXED bs=1 c=1 g=0 c_sq=3 c_sk=3 g_sq=0 g_sk=0]":                      {Type: trace.Prefill, Number: -1, Padded: -1, Batch: 1, Tokens: 3, Prefill: said(1, 3, 3), Decode: said(0, 0, 0)},
		"decode[bs=117/128 tok=117 d=117]":                                          {Type: trace.Decode, Number: -1, Padded: 128, Batch: 117, Tokens: 117, Prefill: said(), Decode: said(117, 117)},
		"decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 tbo=1]": {Type: trace.Decode, Number: -1, Padded: -1, Batch: 128, Tokens: 384, Prefill: said(), Decode: said(128, 384, 258048, 132612, 1114112)},
		"prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3]":                       {Type: trace.Prefill, Number: -1, Padded: -1, Batch: 6, Tokens: 17408, Prefill: said(6, 17408), Decode: said()},
		"scheduler.run_batch":                                                       {Type: trace.Repeated, Number: -1, Padded: -1, Batch: -1, Tokens: -1, Prefill: said(), Decode: said()},
		"gpu_model_runner: preprocess":                                              {Type: trace.Repeated, Number: -1, Padded: -1, Batch: -1, Tokens: -1, Prefill: said(), Decode: said()},
		"[Executor] _forward_step 7: 1 ctx reqs, 512 ctx tokens, 3 gen reqs":        {Type: trace.Mixed, Number: 7, Padded: -1, Batch: 4, Tokens: -1, Prefill: said(1, 512), Decode: said(3)},
		"[Executor] _forward_step: 0 ctx reqs, 3 gen reqs":                          {Type: trace.Decode, Number: -1, Padded: -1, Batch: 3, Tokens: -1, Prefill: said(0), Decode: said(3)},
		"executeStep: 2 ctx reqs, 0 gen reqs":                                       {Type: trace.Prefill, Number: -1, Padded: -1, Batch: 2, Tokens: -1, Prefill: said(2), Decode: said(0, 0)},
		"execute_diffusion_1_256x256":                                               {Type: trace.Image, Number: -1, Padded: -1, Batch: 1, Tokens: -1, Prefill: said(), Decode: said()},
	} {
		tr := named(t, name)
		got := tr.Iterations()
		if want.Event = 0; len(got) != 1 || got[0] != want {
			t.Errorf("%s:\n%+v, want\n%+v", name, got, want)
		}
		if trace.StepsLike(name) == "" {
			t.Errorf("%s: no pattern", name)
		}
	}
	for _, name := range []string{"execute_", "execute_context_9(", "execute_context_9(1)_generation_", "execute_new_x_cached_5", "execute_context_99999999999999999(1)_generation_2(2)", "step[DECODE]", "step[3]", "step[]", "step[NEW bs=1]",
		"decode[1]", "decode[bs=8/]", "decode[bs=8/x]", "gpu_model_runner: forward", "scheduler.process_batch_result_decode", "draft prefill", "execute_script", "[Executor] _forward_step x: 1 ctx reqs, 2 gen reqs", "executeStep: 1 ctx reqs", "aten::step[DECODE bs=1] ", "capture_32_DECODE", "execute_diffusion_x"} {
		tr := named(t, name)
		if got := tr.Iterations(); len(got) != 0 || trace.StepsLike(name) != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func named(t *testing.T, name string) *trace.Trace {
	b := testtrace.New()
	b.Thread(1, 1, "main").Annotation(name, 0, 10)
	return b.Parse(t)
}

// Iterations are those of the thread with most, the outermost of each; without a known name what repeats and tiles its thread, where
// nothing is trained.
func TestIterations(t *testing.T) {
	type slice struct {
		thread     int64
		name       string
		start, dur int64
	}
	for what, c := range map[string]struct {
		slices []slice
		want   []int
		kinds  string
	}{
		"outermost of the busiest thread":   {[]slice{{1, "execute_context_0(0)_generation_4(4)", 0, 10}, {1, "step[DECODE bs=4]", 1, 8}, {2, "step[DECODE bs=4]", 3, 2}, {1, "execute_context_0(0)_generation_4(4)", 20, 10}}, []int{0, 3}, "decode decode"},
		"the scheduler's when nothing else": {[]slice{{1, "scheduler.run_batch", 0, 10}, {1, "scheduler.run_batch", 12, 5}}, []int{0, 1}, "iteration iteration"},
		"what the scheduler runs":           {[]slice{{1, "scheduler.run_batch", 0, 10}, {1, "step[DECODE bs=4]", 1, 8}, {1, "scheduler.run_batch", 12, 5}, {1, "step[EXTEND bs=1 toks=7]", 13, 3}}, []int{1, 3}, "decode prefill"},
		"drafts and what verifies them": {[]slice{{1, "scheduler.run_batch", 0, 10}, {1, "draft step[DECODE bs=4]", 1, 2}, {1, "step[TARGET_VERIFY bs=4]", 4, 4}, {1, "draft step[DRAFT_EXTEND_V2 bs=4]", 8, 1},
			{1, "scheduler.run_batch", 12, 5}, {1, "step[EXTEND bs=1 toks=7]", 13, 1}, {1, "draft step[EXTEND bs=1 toks=7]", 15, 1}}, []int{0, 4}, "verify prefill"},
		"a draft by an older name":     {[]slice{{1, "step[DECODE bs=4]", 1, 2}, {1, "step[TARGET_VERIFY bs=4]", 4, 4}}, []int{0, 1}, "draft verify"},
		"vLLM's first phase":           {[]slice{{1, "gpu_model_runner: preprocess", 0, 1}, {1, "gpu_model_runner: forward", 1, 2}, {1, "gpu_model_runner: preprocess", 9, 1}}, []int{0, 2}, "iteration iteration"},
		"a loop of one's own":          {[]slice{{1, "decode_step_1", 0, 10}, {1, "decode_step_2", 12, 9}, {1, "decode_step_3", 22, 9}}, []int{0, 1, 2}, "decode decode decode"},
		"what repeats":                 {[]slice{{1, "request 17", 0, 10}, {1, "forward", 2, 3}, {1, "request 18", 12, 9}, {1, "request 19", 30, 11}, {1, "forward", 32, 3}}, []int{0, 2, 3}, "iteration iteration iteration"},
		"not twice only":               {[]slice{{1, "request", 0, 10}, {1, "request", 12, 9}}, nil, ""},
		"not a part of the thread":     {[]slice{{1, "request", 0, 10}, {1, "request", 12, 9}, {1, "request", 30, 11}, {1, "aten::mm", 60, 100}}, nil, ""},
		"not layers by number":         {[]slice{{1, "layer 0", 0, 10}, {1, "layer 1", 10, 10}, {1, "layer 0", 20, 10}, {1, "layer 1", 30, 10}}, nil, ""},
		"not one long and little more": {[]slice{{1, "part 0", 0, 1}, {1, "part 1", 10, 500}, {1, "part 2", 520, 6}}, nil, ""},
		"not in training":              {[]slice{{1, "request", 0, 10}, {1, "request", 12, 9}, {1, "request", 30, 11}, {1, "Optimizer.step#SGD.step", 35, 1}}, nil, ""},
		"not what PyTorch writes":      {[]slice{{1, "## Call CompiledFxGraph a ##", 0, 10}, {1, "## Call CompiledFxGraph a ##", 12, 9}, {1, "## Call CompiledFxGraph a ##", 30, 11}}, nil, ""},
	} {
		b := testtrace.New()
		for _, s := range c.slices {
			b.Thread(1, s.thread, "").Annotation(s.name, s.start, s.dur)
		}
		var got []int
		var kinds []string
		for _, it := range b.Parse(t).Iterations() {
			got, kinds = append(got, int(it.Event)), append(kinds, it.Type.String())
		}
		if !slices.Equal(got, c.want) || strings.Join(kinds, " ") != c.kinds {
			t.Errorf("%s: events %v, %v, want %v, %v", what, got, kinds, c.want, c.kinds)
		}
	}
}
