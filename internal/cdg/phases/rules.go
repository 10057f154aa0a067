package phases

import (
	"regexp"
	"strings"
	"sync"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// rule says which rule gave an event its phase. The rules of the table match an event by its own name; the
// others follow from the event's surroundings.
type rule uint8

// The rules that look at more than a name. noRule is the zero value: nothing is known of the event.
const (
	noRule            rule = iota
	byFwdThread            // row 7: the op names the forward thread it belongs to
	byAncestor             // nearest enclosing event that matched a rule
	byExternalID           // row 14: a call on its own takes the op that its External id names
	byLaunchCall           // row 14: a GPU operation takes its launch call; of a graph what is annotated on its node
	byCommKernel           // row 14: an operation without a launch, named like a collective
	byAutogradContext      // forward, loss and loading inside a backward pass are recomputation
	byAutogradThread       // thread of the autograd engine
	byLoaderThread         // thread that loads or pins batches
	byCommThread           // thread of a communication back end
	byWindowCopy           // step window: copies to the device before the first op that takes part in autograd
	byWindowForward        // step window: before the first backward op
	byWindowLoss           // step window: last reduction before the first backward op
	byWindowBackward       // step window: between the first and the last backward op
	byWindowUpdate         // step window: after the last backward op
	firstNameRule          // nameRules[0]
)

// nameRule returns the table entry of a rule, nil for rules that look at more than a name.
func (r rule) nameRule() *nameRule {
	if r < firstNameRule {
		return nil
	}
	return &nameRules[r-firstNameRule]
}

// The kinds of events that an entry applies to.
const (
	onOp = 1 << iota
	onAnnotation
	onPython
)

func kindBit(k trace.Kind) uint8 {
	switch k {
	case trace.CPUOp:
		return onOp
	case trace.Annotation:
		return onAnnotation
	case trace.Python:
		return onPython
	}
	return 0
}

// How strongly an entry speaks.
const (
	strong      = iota
	transparent // never classifies: what it encloses decides
	helper      // keeps the phase around it, and speaks only where there is none
	generic     // gives way to an enclosing DataLoad, Loss or Backward
	inBackward  // holds only inside a backward pass
)

// nameRule is one pattern of the table. Row numbers and order are the precedence: the first entry that matches wins.
type nameRule struct {
	row      int
	name     string
	phase    Phase
	on       uint8
	strength uint8
	lits     []string              // lower case; a name that matches contains one of them. Spares most names the expression
	re       func() *regexp.Regexp // compiled when the first name asks for it
}

func entry(row int, name string, phase Phase, on, strength uint8, lits, re string) nameRule {
	e := nameRule{row: row, name: name, phase: phase, on: on, strength: strength, re: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(re) })}
	if lits != "" {
		e.lits = strings.Split(lits, "|")
	}
	return e
}

// nameRules maps names to training phases. The names are PyTorch's own markers (torch.profiler, torch.optim hooks,
// DDP, FSDP1 and FSDP2, c10d, autograd, inductor), those of common trainers, and words that users put into record_function.
// Row 1 tells apart what starts a collective and what helps it: bucket copies and FSDP hooks belong to the phase around them.
var nameRules = []nameRule{
	entry(0, "0 step", Other, onAnnotation|onPython, transparent, "profiler", `^`+trace.StepPrefix+`|^PyTorch Profiler`),
	entry(0, "0 compiled", Other, onAnnotation|onPython, transparent, "compile|dynamo|aotd|pregraph", `^Torch-Compiled Region|^## Call CompiledFxGraph|^TorchDynamo |^AOTDispatcher |^Pregraph`),
	entry(0, "0 lightning", Other, onAnnotation|onPython, transparent, "[pl]", `^\[pl\]\[profile\](run_training_(epoch|batch)|.*Strategy.*(training_step)?$)`),
	entry(0, "0 train loop", Other, onAnnotation|onPython, transparent, "train", `^(train|training)_?(step|loop|iter)`),
	entry(0, "0 pipeline", Other, onAnnotation|onPython, transparent, "1f1b", `1F1B`),

	entry(1, "1 backend", Communication, onOp|onAnnotation, strong, ":", `^(`+strings.Join(vendors.Backends(), "|")+`):`),
	entry(1, "1 params", Communication, onOp|onAnnotation, strong, "record_param_comms", `^record_param_comms$`),
	entry(1, "1 c10d", Communication, onOp|onAnnotation, strong, "c10d|symm_mem", `^(c10d|_c10d_functional|c10d_functional|symm_mem)::`),
	entry(1, "1 fsdp2 helper", Communication, onOp|onAnnotation, helper, "fsdp::", `^FSDP::(all_gather|all_gather_copy_in|all_gather_copy_out|post_backward_reduce|post_backward_rs_wait|backward_prefetch)`),
	entry(1, "1 fsdp1 helper", Communication, onOp|onAnnotation, helper, "fullysharded", `^FullyShardedDataParallel\.(rate_limiter|_pre_backward_prefetch)`),
	entry(1, "1 ddp helper", Communication, onOp|onAnnotation, helper, "reducer", `torch\.distributed\.ddp\.reducer::|torch::distributed::reducer`),
	entry(2, "2 torch", Communication, onPython, strong, "torch/distributed/", `torch/distributed/(distributed_c10d|_functional_collectives)\.py\(\d+\): (all_|reduce|broadcast|barrier|send|recv|isend|irecv|batch_isend|gather|scatter|wait)`),
	entry(2, "2 trainers", Communication, onPython, strong, "deepspeed/|megatron/", `deepspeed/comm/|megatron/core/(tensor_parallel/mappings|pipeline_parallel/p2p_communication)`),

	entry(3, "3 loader", DataLoad, onOp|onAnnotation, strong, "enumerate(", `^enumerate\(Data(Loader|Pipe)\)#`),
	entry(3, "3 words", DataLoad, onOp|onAnnotation, strong, "data|batch|h2d|fetch", `(?i)(data_?load|load_?data|load_?batch|next_?batch|get_?batch|wait_for_batch|copy_batch|h2d|prefetch_batch|train_dataloader_next|fetch_?next)`),
	entry(4, "4 torch", DataLoad, onPython, strong, "torch/utils/data/|torchdata/", `torch/utils/data/.*\.py\(|torchdata/`),
	// "datasets/" is also a usual folder of users: only the installed package counts.
	entry(4, "4 libraries", DataLoad, onPython, strong, "datasets/|webdataset/|nvidia/dali/|torchvision/", `(^|-packages/)datasets/|webdataset/|nvidia/dali/|torchvision/(transforms|datasets)/`),

	entry(5, "5 optimizer", Update, onOp|onAnnotation, strong, "optimizer.", `^Optimizer\.(step|zero_grad)#`),
	entry(5, "5 fused", Update, onOp|onAnnotation, strong, "aten::_f", `^aten::_(fused|foreach)_(adam|adamw|sgd|adagrad)|^aten::_fused_(adam|adamw|sgd|adagrad)_?$`),
	entry(5, "5 amp", Update, onOp|onAnnotation, strong, "aten::_amp", `^aten::_amp_(foreach_non_finite_check_and_unscale_|update_scale_)`),
	entry(5, "5 words", Update, onOp|onAnnotation, strong, "opt|zero_grad|clip|lr_sched|weight_update|update_params", `(?i)(^|\W)(optim(izer)?(_step)?|opt_step|zero_grad|clip_grad|grad_clip|lr_sched|weight_update|update_params)(\W|$)`),
	entry(6, "6 torch.optim", Update, onPython, strong, "torch/optim/", `torch/optim/.*\.py\(\d+\): (step|_single_tensor_|_multi_tensor_|_fused_|_init_group|zero_grad|adamw?|sgd)`),
	entry(6, "6 wrapper", Update, onPython, strong, "torch/optim/optimizer", `torch/optim/optimizer\.py\(\d+\): (profile_hook_step|wrapper|zero_grad)`),
	entry(6, "6 scheduler", Update, onPython, strong, "torch/optim/", `torch/optim/(lr_scheduler|swa_utils)\.py`),
	entry(6, "6 scaler", Update, onPython, strong, "grad_scaler|clip_grad", `torch/(amp|cuda/amp)/grad_scaler\.py|torch/nn/utils/clip_grad\.py`),
	entry(6, "6 trainers", Update, onPython, strong, "apex/|bitsandbytes/|megatron/|deepspeed/", `apex/optimizers/|bitsandbytes/optim/|megatron/core/optimizer/.*: step|deepspeed/runtime/(zero|bf16_optimizer|fp16).*: step`),

	entry(7, "7 evaluate", Backward, onOp, strong, "autograd::engine", `^autograd::engine::evaluate_function: `),
	entry(7, "7 node", Backward, onOp, strong, "backward", `Backward\d*$`),
	entry(7, "7 autograd", Backward, onOp, strong, "torch::autograd", `^torch::autograd::(AccumulateGrad|CopySlices|GraphRoot)`),
	entry(7, "7 aten", Backward, onOp, strong, "_backward", `^aten::.*_backward(_.*)?$`),
	entry(7, "7 compiled", Backward, onOp, strong, "compiledfunctionbackward", `^CompiledFunctionBackward`),
	entry(8, "8 fsdp2", Backward, onAnnotation, strong, "fsdp::", `^FSDP::(pre_backward|post_backward|root_post_backward)`),
	entry(8, "8 fsdp1", Backward, onAnnotation, strong, "fullysharded", `^FullyShardedDataParallel\._(pre|post)_backward`),
	entry(8, "8 words", Backward, onAnnotation, strong, "backward|bw", `(?i)(^|\W)(backward|bwd|bw)(\W|$)`),
	entry(8, "8 letters", Backward, onAnnotation, strong, "(b)|(w)", `\((B|W)\)$`),
	entry(9, "9 engine", Backward, onPython, strong, "run_backward", `<built-in method run_backward of torch\._C\._EngineBase|torch/autograd/graph\.py\(\d+\): _engine_run_backward`),
	entry(9, "9 call", Backward, onPython, strong, "torch/autograd/__init__|torch/_tensor", `torch/autograd/__init__\.py\(\d+\): (backward|grad)|torch/_tensor\.py\(\d+\): backward`),
	entry(9, "9 function", Backward, onPython, inBackward, "torch/autograd/function", `torch/autograd/function\.py\(\d+\): (apply|backward)`),
	entry(9, "9 trainers", Backward, onPython, strong, "deepspeed/runtime/engine|schedules.py", `deepspeed/runtime/engine\.py\(\d+\): backward|schedules\.py\(\d+\): backward_step`),

	entry(10, "10 aten", Loss, onOp, strong, "aten::", `^aten::(cross_entropy_loss|nll_loss(_nd|2d|_forward|2d_forward)?|binary_cross_entropy(_with_logits)?|mse_loss|l1_loss|smooth_l1_loss|huber_loss|kl_div|(_cudnn_init|_cudnn|_)?ctc_loss|.*_margin_loss|margin_ranking_loss|hinge_embedding_loss|cosine_embedding_loss|poisson_nll_loss|soft_margin_loss|gaussian_nll_loss)$`),
	entry(10, "10 words", Loss, onOp, strong, "entropy", `(?i)cross_?entropy`),
	entry(11, "11 module", Loss, onAnnotation|onPython, strong, "nn.module: ", `^nn\.Module: \w*(Loss|Criterion)\w*_\d+$`),
	entry(11, "11 functional", Loss, onAnnotation|onPython, strong, "torch/nn/", `torch/nn/functional\.py\(\d+\): (cross_entropy|nll_loss|.*_loss|binary_cross_entropy.*|kl_div)|torch/nn/modules/loss\.py`),
	entry(11, "11 words", Loss, onAnnotation|onPython, strong, "loss|criterion", `(?i)(^|\W|_)(loss|criterion)(\W|_|$)`),

	entry(12, "12 parallel", Forward, onOp|onAnnotation, strong, "parallel", `^(DistributedDataParallel|DataParallel|FullyShardedDataParallel)\.(forward|_pre_forward|_post_forward)`),
	entry(12, "12 fsdp2", Forward, onOp|onAnnotation, strong, "fsdp::", `^FSDP::(root_)?(pre|post)_forward`),
	entry(12, "12 compiled", Forward, onOp|onAnnotation, strong, "compiledfunction", `^CompiledFunction$`),
	entry(12, "12 words", Forward, onOp|onAnnotation, strong, "forward|fw|inference|generate|prefill|decode", `(?i)(^|\W)(forward|fwd|fw|inference|generate|prefill|decode)(\W|$)`),
	entry(12, "12 letters", Forward, onOp|onAnnotation, strong, "(f)", `\(F\)$`),
	entry(13, "13 module", Forward, onPython, generic, "nn.module: |torch/nn/modules/module.py", `^nn\.Module: |torch/nn/modules/module\.py\(\d+\): _(wrapped_)?call_impl`),
	entry(13, "13 forward", Forward, onPython, generic, ": forward", `: forward$`),
}

// ruleSet is the table with some rules switched off (by tests).
type ruleSet struct{ off []bool }

func (s ruleSet) on(r rule) bool { return s.off == nil || !s.off[r] }

// match returns the first entry of the table that matches a name, NoRule if none does.
func (s ruleSet) match(name string, kind uint8) rule {
	lower := strings.ToLower(name)
	for i := range nameRules {
		e := &nameRules[i]
		r := firstNameRule + rule(i)
		if e.on&kind != 0 && s.on(r) && containsOne(lower, e.lits) && e.re().MatchString(name) {
			return r
		}
	}
	return noRule
}

func containsOne(s string, lits []string) bool {
	for _, l := range lits {
		if strings.Contains(s, l) {
			return true
		}
	}
	return false
}
