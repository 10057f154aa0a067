package phases

import (
	"slices"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

const us = 1000 // ns

// mini builds a trace event by event. Times are µs.
type mini struct {
	tr   trace.Trace
	syms map[string]trace.Sym
	rows map[string]trace.TrackID
	corr int64
}

// numRules counts all rules; firstNameRule + index of the table is a rule.
var numRules = int(firstNameRule) + len(nameRules)

func newMini() *mini {
	m := &mini{syms: map[string]trace.Sym{}, rows: map[string]trace.TrackID{}}
	m.tr.Procs = []trace.Process{{Device: -1}, {Device: 0, IsDevice: true}}
	m.sym("")
	return m
}

func (m *mini) sym(s string) trace.Sym {
	if id, ok := m.syms[s]; ok {
		return id
	}
	id := trace.Sym(len(m.tr.Syms))
	m.tr.Syms = append(m.tr.Syms, s)
	m.syms[s] = id
	return id
}

func (m *mini) row(name string, device bool) trace.TrackID {
	id, ok := m.rows[name]
	if !ok {
		id = trace.TrackID(len(m.tr.Tracks))
		m.rows[name] = id
		t := trace.Track{Class: trace.HostThread, Name: name, TID: trace.Token{Num: int64(id) + 1, IsNum: true}, Stream: -1}
		if device {
			t.Class, t.Proc, t.Stream = trace.DeviceStream, 1, int64(id)
		}
		m.tr.Tracks = append(m.tr.Tracks, t)
	}
	return id
}

// on adds an event to a thread.
func (m *mini) on(thread string, kind trace.Kind, start, end int64, name string) *trace.Event {
	e := trace.Event{Ph: 'X', Kind: kind, Start: start * us, Name: m.sym(name), Track: m.row(thread, kind.Device()), Flags: trace.HasDur}
	m.tr.SetDur(&e, (end-start)*us)
	m.tr.Events, m.tr.Ext = append(m.tr.Events, e), append(m.tr.Ext, 0)
	return &m.tr.Events[len(m.tr.Events)-1]
}

// launch adds a call and the operation that it launches.
func (m *mini) launch(thread string, start, end int64, stream string, kind trace.Kind, from, to int64, name string) {
	m.corr++
	call := len(m.tr.Events)
	m.tr.SetCorr(m.on(thread, trace.Runtime, start, end, "cudaLaunchKernel"), m.corr)
	m.tr.SetCorr(m.on(stream, kind, from, to, name), m.corr)
	m.tr.Events[call].Flags |= trace.HasCorr
	m.tr.Events[call+1].Flags |= trace.HasCorr
	m.tr.SetLaunch(trace.EventID(call+1), trace.EventID(call))
}

// phaseCase puts a name where only the rule under test can give it its phase.
type phaseCase struct {
	rule string // name of the rule that must fire
	kind trace.Kind
	name string
	want Phase
}

const (
	op = trace.CPUOp
	ua = trace.Annotation
	py = trace.Python
)

// Every alternative of every expression of the table, by an example of it.
var nameCases = []phaseCase{
	{"1 backend", ua, "nccl:all_reduce", Communication},
	{"1 backend", op, "gloo:broadcast", Communication},
	{"1 params", op, "record_param_comms", Communication},
	{"1 c10d", op, "c10d::allreduce_", Communication},
	{"1 c10d", op, "_c10d_functional::wait_tensor", Communication},
	{"1 fsdp2 helper", ua, "FSDP::all_gather (layers.0)", Communication},
	{"1 fsdp2 helper", ua, "FSDP::post_backward_reduce", Communication},
	{"1 fsdp1 helper", ua, "FullyShardedDataParallel.rate_limiter", Communication},
	{"1 ddp helper", op, "torch.distributed.ddp.reducer::copy_bucket_to_grad", Communication},
	{"1 ddp helper", op, "torch::distributed::reducer::mul_out", Communication},
	{"2 torch", py, "torch/distributed/distributed_c10d.py(2806): all_reduce", Communication},
	{"2 torch", py, "torch/distributed/_functional_collectives.py(144): wait_tensor", Communication},
	{"2 trainers", py, "deepspeed/comm/comm.py(108): log_wrapper", Communication},
	{"2 trainers", py, "megatron/core/tensor_parallel/mappings.py(21): _reduce", Communication},
	{"3 loader", ua, "enumerate(DataPipe)#ShufflerIterDataPipe", DataLoad},
	{"3 words", ua, "## wait_for_batch ##", DataLoad},
	{"3 words", ua, "H2D copies", DataLoad},
	{"3 words", op, "fetch_next", DataLoad},
	{"4 torch", py, "torch/utils/data/dataloader.py(628): __next__", DataLoad},
	{"4 torch", py, "torchdata/nodes/base.py(7): next", DataLoad},
	{"4 libraries", py, "torchvision/transforms/functional.py(366): resize", DataLoad},
	{"4 libraries", py, "/opt/lib/site-packages/datasets/arrow_dataset.py(1): __getitem__", DataLoad},
	{"5 optimizer", ua, "Optimizer.step#SGD.step", Update},
	{"5 optimizer", ua, "Optimizer.zero_grad#AdamW.zero_grad", Update},
	{"5 fused", op, "aten::_fused_adamw_", Update},
	{"5 fused", op, "aten::_foreach_sgd", Update},
	{"5 amp", op, "aten::_amp_update_scale_", Update},
	{"5 words", ua, "## optimizer ##", Update},
	{"5 words", ua, "clip_grad", Update},
	{"6 torch.optim", py, "torch/optim/adam.py(150): step", Update},
	{"6 wrapper", py, "torch/optim/optimizer.py(280): wrapper", Update},
	{"6 scheduler", py, "torch/optim/lr_scheduler.py(60): lr_of", Update},
	{"6 scaler", py, "torch/cuda/amp/grad_scaler.py(300): unscale_", Update},
	{"6 scaler", py, "torch/nn/utils/clip_grad.py(20): total", Update},
	{"6 trainers", py, "apex/optimizers/fused_adam.py(9): f", Update},
	{"6 trainers", py, "deepspeed/runtime/zero/stage3.py(9): step", Update},
	{"7 evaluate", op, "autograd::engine::evaluate_function: torch::autograd::X", Backward},
	{"7 node", op, "AddmmBackward0", Backward},
	{"7 autograd", op, "torch::autograd::AccumulateGrad", Backward},
	{"7 aten", op, "aten::native_layer_norm_backward", Backward},
	{"7 compiled", op, "CompiledFunctionBackwardGraph", Backward},
	{"8 fsdp2", ua, "FSDP::pre_backward (layers.0)", Backward},
	{"8 fsdp1", ua, "FullyShardedDataParallel._post_backward_hook", Backward},
	{"8 words", ua, "## backward ##", Backward},
	{"8 letters", ua, "mlp(W)", Backward},
	{"9 engine", py, "<built-in method run_backward of torch._C._EngineBase object at 0x7f01>", Backward},
	{"9 engine", py, "torch/autograd/graph.py(744): _engine_run_backward", Backward},
	{"9 call", py, "torch/_tensor.py(466): backward", Backward},
	{"9 call", py, "torch/autograd/__init__.py(120): grad", Backward},
	{"9 trainers", py, "deepspeed/runtime/engine.py(1900): backward", Backward},
	{"9 trainers", py, "megatron/core/pipeline_parallel/schedules.py(200): backward_step", Backward},
	{"10 aten", op, "aten::cross_entropy_loss", Loss},
	{"10 aten", op, "aten::nll_loss_nd", Loss},
	{"10 words", op, "fused_CrossEntropy_fwd_kernel", Loss},
	{"11 module", py, "nn.Module: CrossEntropyLoss_0", Loss},
	{"11 functional", py, "torch/nn/functional.py(3014): cross_entropy", Loss},
	{"11 functional", py, "torch/nn/modules/loss.py(1179): forward", Loss},
	{"11 words", ua, "compute_loss", Loss},
	{"12 parallel", op, "DistributedDataParallel.forward", Forward},
	{"12 fsdp2", ua, "FSDP::root_pre_forward", Forward},
	{"12 compiled", op, "CompiledFunction", Forward},
	{"12 words", ua, "## forward ##", Forward},
	{"12 letters", ua, "attn(F)", Forward},
	{"13 module", py, "nn.Module: Linear_3", Forward},
	{"13 module", py, "torch/nn/modules/module.py(1518): _wrapped_call_impl", Forward},
	{"13 forward", py, "model.py(12): forward", Forward},
}

// surroundings are cases that need more than a name: build makes the trace, and the event "x" must get the phase.
var surroundings = []struct {
	rule  string
	build func(*mini)
	want  Phase
}{
	{"0 step", func(m *mini) { m.on("a", ua, 0, 90, "PyTorch Profiler: batch loss"); m.on("a", py, 10, 20, "x") }, Other},
	{"0 compiled", func(m *mini) { m.on("a", ua, 0, 90, "Torch-Compiled Region: loss"); m.on("a", py, 10, 20, "x") }, Other},
	{"0 lightning", func(m *mini) {
		m.on("a", ua, 0, 90, "[pl][profile][Strategy]Loss loss.training_step")
		m.on("a", py, 10, 20, "x")
	}, Other},
	{"0 train loop", func(m *mini) { m.on("a", ua, 0, 90, "train_step forward"); m.on("a", py, 10, 20, "x") }, Other},
	{"0 pipeline", func(m *mini) { m.on("a", ua, 0, 90, "1F1B forward"); m.on("a", py, 10, 20, "x") }, Other},
	{"9 function", func(m *mini) {
		m.on("a", ua, 0, 90, "## backward ##")
		m.on("a", py, 10, 20, "torch/autograd/function.py(300): apply")
		m.rename("x")
	}, Backward},
	{"7 fwd_thread", func(m *mini) { m.on("a", op, 0, 9, "x").Flags |= trace.HasFwd }, Backward},
	{"ancestor", func(m *mini) { m.on("a", ua, 0, 90, "## optimizer ##"); m.on("a", py, 10, 20, "x") }, Update},
	{"14 external_id", func(m *mini) {
		e := m.on("a", op, 0, 90, "aten::cross_entropy_loss")
		m.tr.Ext[len(m.tr.Ext)-1] = m.tr.SetExt(e, 7)
		e = m.on("b", trace.Runtime, 10, 20, "x")
		m.tr.Ext[len(m.tr.Ext)-1] = m.tr.SetExt(e, 7)
	}, Loss},
	{"14 launch", func(m *mini) {
		m.on("a", ua, 0, 90, "## optimizer ##")
		m.launch("a", 10, 20, "s", trace.Kernel, 30, 60, "x")
	}, Update},
	{"14 comm_kernel", func(m *mini) { m.on("s", trace.Kernel, 0, 9, "ncclDevKernel_AllReduce"); m.rename("x") }, Communication},
	{"autograd_context", func(m *mini) {
		m.on("a", op, 0, 90, "CheckpointFunctionBackward")
		m.on("a", py, 10, 20, "nn.Module: Linear_0")
		m.on("a", ua, 12, 18, "forward")
		m.rename("x")
	}, Backward},
	{"thread autograd", func(m *mini) { m.on("pt_autograd_0", py, 0, 9, "x") }, Backward},
	{"thread loader", func(m *mini) { m.on("pt_data_pin", py, 0, 9, "x") }, DataLoad},
	{"thread comm", func(m *mini) { m.on("pt_nccl_watchdg", trace.Runtime, 0, 9, "x") }, Communication},
	{"window copy", func(m *mini) {
		m.on("a", op, 0, 20, "aten::to")
		m.launch("a", 5, 10, "s", trace.Memcpy, 12, 30, "Memcpy HtoD (Pageable -> Device)")
		m.on("a", op, 11, 12, "x")
		m.step()
	}, DataLoad},
	{"window forward", func(m *mini) { m.on("a", op, 0, 20, "x"); m.step() }, Forward},
	{"window loss", func(m *mini) { m.step(); m.on("a", op, 55, 58, "aten::mean"); m.rename("x") }, Loss},
	{"window backward", func(m *mini) { m.step(); m.on("a", op, 105, 110, "x") }, Backward},
	{"window update", func(m *mini) { m.step(); m.on("a", op, 300, 310, "x") }, Update},
}

// rename calls the last event by another name for the question, and by its own for the rules.
func (m *mini) rename(alias string) { m.syms[alias] = m.tr.Events[len(m.tr.Events)-1].Name }

// step adds what places ops inside a step: an op that takes part in autograd, and a backward op on another thread.
func (m *mini) step() {
	e := m.on("a", op, 40, 50, "aten::linear")
	e.Flags |= trace.HasSeq
	m.on("engine", op, 100, 200, "autograd::engine::evaluate_function: AddmmBackward0")
}

func ruleByName(t *testing.T, name string) rule {
	for r := 0; r < numRules; r++ {
		if rule(r).String() == name {
			return rule(r)
		}
	}
	t.Fatalf("no rule %q", name)
	return 0
}

// Names of the rules that look at more than a name: tests speak of rules by them, and by those of the table.
var contextRuleNames = [firstNameRule]string{"none", "7 fwd_thread", "ancestor", "14 external_id", "14 launch", "14 comm_kernel", "autograd_context",
	"thread autograd", "thread loader", "thread comm", "window copy", "window forward", "window loss", "window backward", "window update"}

func (r rule) String() string {
	if r < firstNameRule {
		return contextRuleNames[r]
	}
	return nameRules[r-firstNameRule].name
}

// TestPhaseRules asks of every rule: a case that has its phase with the rule, and another one, or another reason, without.
func TestPhaseRules(t *testing.T) {
	tested := make([]bool, numRules)
	tested[noRule] = true
	check := func(rule string, m *mini, x trace.EventID, want Phase) {
		t.Helper()
		r := ruleByName(t, rule)
		tested[r] = true
		phase, by := m.phase(t, x, noRule)
		if phase != want {
			t.Errorf("rule %s: %q is %v by %v, want %v", rule, m.tr.Name(x), phase, by, want)
		}
		off, offBy := m.phase(t, x, r)
		if off == phase && offBy == by {
			t.Errorf("rule %s: %q is %v by %v with and without the rule", rule, m.tr.Name(x), phase, by)
		}
		if r.nameRule() != nil && r.nameRule().strength != transparent && r.nameRule().strength != inBackward && by != r {
			t.Errorf("rule %s: %q is %v by %v", rule, m.tr.Name(x), phase, by)
		}
	}
	for _, c := range nameCases {
		m := newMini()
		m.on("a", c.kind, 0, 100, c.name)
		check(c.rule, m, 0, c.want)
	}
	for _, c := range surroundings {
		m := newMini()
		c.build(m)
		x := slices.IndexFunc(m.tr.Events, func(e trace.Event) bool { return e.Name == m.sym("x") })
		check(c.rule, m, trace.EventID(x), c.want)
	}
	for r, ok := range tested {
		if !ok {
			t.Errorf("rule %s has no case", rule(r))
		}
	}
}

func (m *mini) phase(t *testing.T, id trace.EventID, off rule) (Phase, rule) {
	t.Helper()
	y, _, err := cdg.LayOut(&m.tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rules := ruleSet{off: make([]bool, numRules)}
	rules.off[off] = off != noRule
	phase, by := find(y, rules)
	return phase[id], by[id]
}

// TestPhasePrecedence holds the overrides: what wins where two rules could speak.
func TestPhasePrecedence(t *testing.T) {
	tests := []struct {
		what  string
		want  Phase
		build func(*mini)
	}{
		{"a collective in backward stays one", Communication, func(m *mini) {
			m.on("a", op, 0, 90, "DivBackward0")
			m.on("a", op, 10, 20, "c10d::allreduce_")
		}},
		{"an optimizer in backward stays one", Update, func(m *mini) {
			m.on("a", op, 0, 90, "torch::autograd::AccumulateGrad")
			m.on("a", op, 10, 20, "aten::_fused_adam_")
		}},
		{"a bucket copy keeps the phase around it", Backward, func(m *mini) {
			m.on("a", op, 0, 90, "torch::autograd::AccumulateGrad")
			m.on("a", op, 10, 20, "torch.distributed.ddp.reducer::copy_bucket_to_grad")
		}},
		{"what a collective encloses is communication", Communication, func(m *mini) {
			m.on("a", ua, 0, 90, "## forward ##")
			m.on("a", op, 10, 50, "c10d::allreduce_")
			m.on("a", op, 20, 30, "aten::view")
		}},
		{"module frames inside a loss belong to the loss", Loss, func(m *mini) {
			m.on("a", py, 0, 90, "nn.Module: CrossEntropyLoss_0")
			m.on("a", py, 10, 50, "torch/nn/modules/module.py(1518): _call_impl")
			m.on("a", py, 20, 30, "loss.py(3): forward")
		}},
		{"modules in a data loader transform data", DataLoad, func(m *mini) {
			m.on("a", ua, 0, 90, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
			m.on("a", py, 10, 50, "nn.Module: Resize_0")
		}},
		{"the model inside an optimizer's closure is forward", Forward, func(m *mini) {
			m.on("a", ua, 0, 90, "Optimizer.step#LBFGS.step")
			m.on("a", py, 10, 50, "nn.Module: Linear_0")
		}},
		{"a user's folder named datasets is no loader", Other, func(m *mini) {
			m.on("a", py, 0, 90, "/home/u/datasets/train.py(3): main")
		}},
		{"backward on the caller's thread leaves forward alone", Forward, func(m *mini) {
			m.step()
			m.on("cpu", op, 100, 150, "autograd::engine::evaluate_function: MulBackward0")
			e := m.on("cpu", op, 10, 20, "aten::mul")
			e.Flags |= trace.HasSeq
		}},
		{"without any backward op everything is forward", Forward, func(m *mini) {
			m.on("a", ua, 0, 90, "ProfilerStep#3")
			m.on("a", op, 70, 80, "aten::argmax")
		}},
		{"what begins after the last step belongs to none", Other, func(m *mini) {
			m.on("a", ua, 0, 390, "ProfilerStep#3")
			m.step()
			m.on("a", trace.Runtime, 390, 400, "cudaDeviceSynchronize")
		}},
		{"what begins inside the last step belongs to it", Update, func(m *mini) {
			m.on("a", ua, 0, 390, "ProfilerStep#3")
			m.step()
			m.on("a", trace.Runtime, 380, 400, "cudaDeviceSynchronize")
		}},
	}
	for _, c := range tests {
		m := newMini()
		c.build(m)
		last := trace.EventID(len(m.tr.Events) - 1)
		if got, by := m.phase(t, last, noRule); got != c.want {
			t.Errorf("%s: %q is %v by %v, want %v", c.what, m.tr.Name(last), got, by, c.want)
		}
	}
}

// TestPhaseLiterals: the literals of an entry only spare work; without them every name matches the same.
func TestPhaseLiterals(t *testing.T) {
	for _, c := range nameCases {
		with := ruleSet{}.match(c.name, kindBit(c.kind))
		without := noRule
		for i := range nameRules {
			if e := &nameRules[i]; e.on&kindBit(c.kind) != 0 && e.re().MatchString(c.name) {
				without = firstNameRule + rule(i)
				break
			}
		}
		if with != without {
			t.Errorf("%q: %v with the literals, %v without", c.name, with, without)
		}
	}
}

// TestYields: an entry that names modules gives way to what is around them where that is more than a module.
func TestYields(t *testing.T) {
	for _, c := range []struct {
		strength uint8
		around   Phase
		by       rule
		backward bool
		want     bool
	}{
		{generic, Backward, firstNameRule, false, true}, {generic, Loss, firstNameRule, false, true}, {generic, DataLoad, firstNameRule, false, true},
		{generic, Forward, firstNameRule, false, false}, {generic, Backward, noRule, false, false},
		{helper, Forward, firstNameRule, false, true}, {helper, Forward, noRule, false, false},
		{inBackward, Backward, noRule, true, false}, {inBackward, Forward, noRule, false, true},
	} {
		if got := yields(&nameRule{strength: c.strength}, context{phase: c.around, by: c.by, backward: c.backward}); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
