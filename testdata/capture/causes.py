#!/usr/bin/env python3
"""Record loops on a GPU that have one known cause each, and the same loops without it: what is predicted can be held against what was measured.

    python3 causes.py --out ../causes            all of them, each in a process of its own
    python3 causes.py --out ../causes NAME ...   some

A loop is make(cause) -> step, where step(i) runs step i and cause says whether the cause is there. Each is timed with the profiler off, in groups of
steps that follow each other without a wait, and then recorded: NAME.json.gz with the cause, NAME.sync with records of synchronisation, NAME.stacks with
Python stacks, NAME.without without the cause. Loops of jobs have ranks of gloo which share the GPU, and a folder for each job. Times stand in truth.json.
"""
import argparse
import gc
import gzip
import json
import multiprocessing
import os
import queue
import shutil
import statistics
import sys
import tempfile
import threading
import time
import traceback

import torch
from torch import nn
from torch.nn import functional as F

GPU = "cpu" if os.environ.get("CAUSES_ON_CPU") else "cuda"
LOOPS, JOBS = {}, {}


def loop(f):
    LOOPS[f.__name__] = f
    return f


def spin(seconds):
    """Python that is busy."""
    until, n = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        n += 1
    return n


class Block(nn.Module):
    """A block of a transformer, with attention fused or written out."""

    def __init__(self, width, heads, fused=True):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        if self.fused:
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            s = (q @ k.transpose(-1, -2)) * (w // self.heads) ** -0.5
            mask = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
            a = s.masked_fill(mask, float("-inf")).softmax(-1) @ v
        x = x + self.out(a.transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.n2(x))))


class GPT(nn.Module):
    def __init__(self, layers=4, width=512, heads=8, vocab=8192, fused=True):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList(Block(width, heads, fused) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, x):
        x = self.emb(x)
        for b in self.blocks:
            x = b(x)
        return self.head(self.norm(x))


def training(batch=16, seq=512, dtype=torch.bfloat16, opt=dict(fused=True), **shape):
    """A model, its optimizer and a training step on tokens that it is given."""
    vocab = shape.get("vocab", 8192)
    model = GPT(**shape).to(GPU)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **({} if GPU == "cpu" else opt))
    tokens = torch.randint(0, vocab, (batch, seq), device=GPU)

    def train(x=tokens, before_step=lambda loss: None):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(GPU, dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
            loss = F.cross_entropy(model(x).flatten(0, 1), x.flatten())
        loss.backward()
        before_step(loss)
        optimizer.step()
        return loss

    return model, optimizer, tokens, train


# --- the host ---

@loop
def reads_loss(cause):
    *_, train = training()
    seen = []

    def step(_):
        loss = train()
        if cause:
            seen.append(loss.item())
    return step


@loop
def reads_many(cause):
    """Norms of all gradients are read one by one."""
    model, _, _, train = training(batch=4)
    seen = []

    def norms(_):
        for p in model.parameters():
            n = p.grad.norm()
            seen.append(n.item() if cause else n)
        del seen[:-1]
    return lambda _: train(before_step=norms)


@loop
def python_in_step(cause):
    *_, train = training(batch=4)

    def augment():
        return spin(0.015)

    def step(_):
        train()
        if cause:
            augment()
    return step


@loop
def garbage(cause):
    *_, train = training(batch=4)
    keep = [[i] for i in range(400000)]

    def step(_):
        train()
        if cause:
            gc.collect()
        return keep
    return step


@loop
def small_batch(cause):
    """So little work that the host is the bound: the same step as a CUDA graph."""
    *_, tokens, train = training(batch=1, seq=64, opt=dict(fused=True, capturable=True), layers=6)
    if cause:
        return lambda _: train()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            train()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        train()
    return lambda _: graph.replay()


@loop
def optimizer_loop(cause):
    *_, train = training(batch=2, opt=dict(foreach=False) if cause else dict(fused=True), layers=8)
    return lambda _: train()


@loop
def boolean_index(cause):
    """Rows are chosen by a mask, whose size the host has to know."""
    *_, tokens, train = training(batch=8)
    data = torch.randn(8192, 512, device=GPU)

    def step(_):
        train()
        mask = data[:, 0] > 0
        if cause:
            return [data[mask].sum() for _ in range(4)]
        return [(data * mask[:, None]).sum() for _ in range(4)]
    return step


@loop
def saves(cause):
    model, _, _, train = training(batch=4, layers=2)
    name = os.path.join(tempfile.mkdtemp(), "weights.pt")

    def step(_):
        train()
        if cause:
            torch.save(model.state_dict(), name)
    return step


@loop
def empties_cache(cause):
    *_, train = training(batch=8)

    def step(_):
        train()
        if cause:
            torch.cuda.empty_cache()
    return step


@loop
def synchronizes(cause):
    """Each part of the step waits for the device."""
    model, _, tokens, train = training(batch=4)
    if cause:
        for b in model.blocks:
            b.register_forward_hook(lambda *_: torch.cuda.synchronize())
    return lambda _: train()


@loop
def anomaly(cause):
    *_, train = training(batch=4)

    def step(_):
        with torch.autograd.set_detect_anomaly(cause):
            train()
    return step


# --- data and copies ---

class Slow(torch.utils.data.Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        if self.seconds:
            time.sleep(self.seconds)
        return torch.full((512,), i % 8192, dtype=torch.long)


@loop
def loads_alone(cause):
    """The loader has no workers."""
    *_, train = training(batch=8)
    batches = iter(torch.utils.data.DataLoader(Slow(0.002), batch_size=8, num_workers=0 if cause else 8, pin_memory=True))
    return lambda _: train(next(batches).to(GPU, non_blocking=True))


@loop
def loads_late(cause):
    """Two workers that are too slow for the loop, with a thread that pins."""
    *_, train = training(batch=8)
    batches = iter(torch.utils.data.DataLoader(Slow(0.006 if cause else 0.0), batch_size=8, num_workers=2, pin_memory=True))
    return lambda _: train(next(batches).to(GPU, non_blocking=True))


def copied(pinned, ahead):
    w = torch.randn(4096, 4096, device=GPU, dtype=torch.bfloat16)
    host = torch.randn(8192, 4096, dtype=torch.bfloat16)
    host = host.pin_memory() if pinned else host
    side = torch.cuda.Stream()
    ready = [None]

    def work(x):
        for _ in range(6):
            x = (x @ w).tanh()
        return x

    def fetch():
        with torch.cuda.stream(side):
            x = host.to(GPU, non_blocking=True)
            done = torch.cuda.Event()
            done.record(side)
        return x, done

    def step(_):
        if not ahead:
            return work(host.to(GPU, non_blocking=pinned))
        x, done = ready[0] or fetch()
        ready[0] = fetch()
        now = torch.cuda.current_stream()
        now.wait_event(done)
        x.record_stream(now)
        return work(x)
    return step


@loop
def copies_pageable(cause):
    return copied(not cause, False)


@loop
def copies_exposed(cause):
    """Pinned copies in the way of the work; without the cause on a stream of their own, one step ahead."""
    return copied(True, not cause)


@loop
def reads_back(cause):
    """Logits are copied to the host in each step."""
    model, _, tokens, _ = training(batch=8)

    @torch.no_grad()
    def step(_):
        out = model(tokens)
        return out.cpu() if cause else out.argmax(-1)
    return step


# --- the device ---

@loop
def fp32(cause):
    *_, train = training(batch=8, dtype=torch.float32 if cause else torch.bfloat16)
    return lambda _: train()


@loop
def attention(cause):
    *_, train = training(batch=4, seq=2048, layers=2, fused=not cause)
    return lambda _: train()


@loop
def channels(cause):
    """Convolutions in NCHW; without the cause in channels_last."""
    import torchvision
    form = torch.contiguous_format if cause else torch.channels_last
    model = torchvision.models.resnet18().to(GPU, memory_format=form)
    x = torch.randn(128, 3, 224, 224, device=GPU).to(memory_format=form)

    def step(_):
        with torch.autocast(GPU, dtype=torch.bfloat16):
            model(x).square().mean().backward()
        model.zero_grad(set_to_none=True)
    return step


@loop
def pointwise(cause):
    """A chain of element-wise operations, kernel by kernel; without the cause one generated kernel."""
    w = torch.randn(2048, 2048, device=GPU, dtype=torch.bfloat16)
    x = torch.randn(32768, 2048, device=GPU, dtype=torch.bfloat16)
    bias = torch.randn(2048, device=GPU, dtype=torch.bfloat16)

    def chain(y):
        y = y + bias
        y = y * 0.5 * (1.0 + torch.tanh(0.79788 * (y + 0.044715 * y * y * y)))
        return (y + x).clamp(-3, 3)
    run = chain if cause else torch.compile(chain)
    return lambda _: run(x @ w)


@loop
def decodes(cause):
    """One token at a time for one request: weights are read for each; without the cause for sixteen requests."""
    model = GPT(layers=8, width=2048, heads=16).to(GPU, torch.bfloat16)
    tokens = torch.randint(0, 8192, (1 if cause else 16, 1), device=GPU)

    @torch.no_grad()
    def step(_):
        for _ in range(4 if cause else 1):
            model(tokens).argmax(-1)
    return step


@loop
def index_add(cause):
    """Gradients of an embedding are added row by row by atomics of few rows."""
    table = nn.Embedding(64 if cause else 65536, 256).to(GPU)
    ids = torch.randint(0, table.num_embeddings, (65536,), device=GPU)
    return lambda _: table(ids).square().mean().backward()


# --- programs as production has them; the cause is one host thread, stream or wait too many ---

@loop
def offloads(cause):
    """Activations go to the host and come back, waited for; without the cause they stay."""
    model, _, tokens, _ = training(batch=8)

    def step(_):
        model.zero_grad(set_to_none=True)
        with torch.autograd.graph.save_on_cpu(pin_memory=True) if cause else torch.enable_grad():
            with torch.autocast(GPU, dtype=torch.bfloat16):
                loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
    return step


@loop
def recomputes(cause):
    from torch.utils.checkpoint import checkpoint
    model, _, tokens, _ = training(batch=8)

    def step(_):
        model.zero_grad(set_to_none=True)
        with torch.autocast(GPU, dtype=torch.bfloat16):
            x = model.emb(tokens)
            for b in model.blocks:
                x = checkpoint(b, x, use_reentrant=False) if cause else b(x)
            loss = F.cross_entropy(model.head(model.norm(x)).flatten(0, 1), tokens.flatten())
        loss.backward()
    return step


def decoder(width=1024, layers=6, batch=8):
    model = GPT(layers=layers, width=width, heads=16).to(GPU, torch.bfloat16).eval()
    tokens = torch.randint(0, 8192, (batch, 1), device=GPU)
    return model, tokens


def graphed(run):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        run()
    return graph


@loop
def serves(cause):
    """Decoding by a CUDA graph, with a thread that takes the tokens; with the cause the loop waits for that thread in each step."""
    model, tokens = decoder()
    host = [torch.zeros(8, 1, dtype=torch.long).pin_memory() for _ in range(4)]
    graph = graphed(lambda: tokens.copy_(model(tokens).argmax(-1)))
    jobs, results = queue.Queue(), queue.Queue()

    def out():
        while True:
            done, buf = jobs.get()
            done.synchronize()
            text = "".join(chr(33 + t % 64) for t in buf.flatten().tolist() * 20)
            spin(0.0015)
            results.put(text)
    threading.Thread(target=out, daemon=True, name="output").start()
    waiting = [0]

    def step(i):
        for n in range(4):
            graph.replay()
            buf = host[n % 4]
            buf.copy_(tokens, non_blocking=True)
            done = torch.cuda.Event()
            done.record()
            jobs.put((done, buf))
            waiting[0] += 1
            while waiting[0] > (0 if cause else 3):
                results.get()
                waiting[0] -= 1
    return step


@loop
def schedules(cause):
    """A server whose scheduler, in Python, works between tokens; without the cause in a thread while the device works."""
    model, tokens = decoder()
    host = torch.zeros(8, 1, dtype=torch.long).pin_memory()
    graph = graphed(lambda: tokens.copy_(model(tokens).argmax(-1)))

    def schedule():
        return spin(0.002 if cause else 0.0001)

    def execute():
        graph.replay()
        host.copy_(tokens, non_blocking=True)
        done = torch.cuda.Event()
        done.record()
        return done

    def step(_):
        for _ in range(4):
            schedule()
            execute().synchronize()
            host.tolist()
    return step


@loop
def two_streams(cause):
    """Two branches on streams of their own; with the cause the second waits for the first."""
    a = torch.randn(2048, 2048, device=GPU, dtype=torch.bfloat16)
    m = torch.randn(256, 2048, device=GPU, dtype=torch.bfloat16)
    one, two = torch.cuda.Stream(), torch.cuda.Stream()

    def step(_):
        now = torch.cuda.current_stream()
        one.wait_stream(now)
        two.wait_stream(now)
        with torch.cuda.stream(one):
            c = m
            for _ in range(60):
                c = c @ a
        if cause:
            two.wait_stream(one)
        with torch.cuda.stream(two):
            d = m
            for _ in range(60):
                d = d @ a
        now.wait_stream(one)
        now.wait_stream(two)
        return (c + d).sum()
    return step


@loop
def sharded(cause):
    """FSDP2 with one rank of NCCL; with the cause parameters are freed after the forward pass."""
    import torch.distributed as dist
    from torch.distributed.fsdp import fully_shard
    dist.init_process_group("nccl", init_method="file://" + os.path.join(tempfile.mkdtemp(), "store"), rank=0, world_size=1)
    model, _, tokens, _ = training(batch=8, layers=6, width=1024)
    for b in model.blocks:
        fully_shard(b, reshard_after_forward=cause)
    fully_shard(model, reshard_after_forward=cause)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(GPU, dtype=torch.bfloat16):
            loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return step


@loop
def generates(cause):
    """Generation of a library, eager, with a cache that grows; without the cause a static one."""
    from transformers import LlamaConfig, LlamaForCausalLM
    cfg = LlamaConfig(vocab_size=8192, hidden_size=512, intermediate_size=1408, num_hidden_layers=6, num_attention_heads=8, num_key_value_heads=4)
    model = LlamaForCausalLM(cfg).to(GPU, torch.bfloat16).eval()
    ids = torch.randint(0, 8192, (4, 64), device=GPU)
    more = {} if cause else dict(cache_implementation="static", disable_compile=True)
    return lambda _: model.generate(ids, max_new_tokens=6, min_new_tokens=6, do_sample=False, pad_token_id=0, **more)


@loop
def batches(cause):
    """A library's server with continuous batching, with Python beside it."""
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
    cfg = LlamaConfig(vocab_size=8192, hidden_size=512, intermediate_size=1408, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=4)
    model = LlamaForCausalLM._from_config(cfg, attn_implementation="paged|sdpa").to(GPU, torch.bfloat16).eval()
    gen = GenerationConfig(max_new_tokens=8, eos_token_id=-1, pad_token_id=0, do_sample=False, num_blocks=128, max_batch_tokens=256)
    prompts = [list(range(10 + i, 40 + i)) for i in range(8)]
    return lambda _: model.generate_batch(inputs=prompts, generation_config=gen, progress_bar=False)


@loop
def compiled(cause):
    """A training step, eager; without the cause compiled, with CUDA graphs."""
    model, optimizer, tokens, train = training(batch=2, layers=4)
    if cause:
        return lambda _: train()
    run = torch.compile(model, mode="reduce-overhead")

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(GPU, dtype=torch.bfloat16):
            loss = F.cross_entropy(run(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
    return step


@loop
def recompiled(cause):
    """Shapes that change are compiled again in the window; without the cause they do not change."""
    layer = nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 512)).to(GPU)
    run = torch.compile(layer, dynamic=False)
    torch._dynamo.config.recompile_limit = 1 << 10
    x = torch.randn(4096, 512, device=GPU)
    return lambda i: run(x[:4096 - 8 * i] if cause and i % 2 else x).sum().backward()


# --- jobs: ranks share the GPU and meet in gloo's collectives ---

def job(causes, world=4):
    def make(cause, rank):
        slow = causes.get(rank, {}) if cause else {}
        model = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(512, 512), nn.ReLU())]).to(GPU)
        wrapped = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=2.0, gradient_as_bucket_view=True)
        optimizer = torch.optim.SGD(wrapped.parameters(), lr=1e-3, foreach=True)
        heavy = torch.randn(4096, 4096, device=GPU)
        batches = iter(torch.utils.data.DataLoader(Rows(slow.get("data", 0)), batch_size=32))

        def step(i):
            late = i >= slow.get("from", 0)
            x = next(batches).to(GPU)
            optimizer.zero_grad(set_to_none=True)
            loss = wrapped(x).square().mean()
            if late and slow.get("host"):
                spin(slow["host"])
            for _ in range(slow.get("gpu", 0) if late else 0):
                loss = loss + (heavy @ heavy)[0, 0] * 0
            loss.backward()
            optimizer.step()
        return step
    make.world, make.causes = world, causes
    return make


class Rows(torch.utils.data.Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        if self.seconds and i % 32 == 0:
            time.sleep(self.seconds)
        return torch.full((512,), (i % 7) / 7.0)


JOBS = {
    "job_balanced": job({}),
    "job_host": job({1: {"host": 0.03}}),
    "job_gpu": job({2: {"gpu": 12}}),
    "job_data": job({3: {"data": 0.03}}),
    "job_host_gpu": job({1: {"host": 0.03}, 3: {"gpu": 12}}),
    "job_host_data": job({0: {"data": 0.03}, 2: {"host": 0.02}}),
    "job_two_hosts": job({1: {"host": 0.03}, 2: {"host": 0.03}}),
    "job_from": job({2: {"host": 0.03, "from": 17}}),
}

WARM, GROUP = 8, 20


def idle():
    if GPU != "cpu":
        torch.cuda.synchronize()


def seconds(step):
    """Seconds a step, the profiler off: the median of three groups of steps."""
    for i in range(WARM):
        step(i)
    out = []
    for _ in range(3):
        idle()
        t = time.perf_counter()
        for i in range(GROUP):
            step(i)
        idle()
        out.append((time.perf_counter() - t) / GROUP)
    return round(statistics.median(out), 7)


def record(step, path, stacks=False, sync=False, steps=3, memory=False):
    """Records a loop, and returns the seconds a step that it took under the profiler."""
    from torch.profiler import ProfilerActivity, profile, schedule
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if GPU != "cpu" else [])
    more = {"experimental_config": torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)} if sync else {}
    raw, took = path + ".json", []
    with profile(activities=activities, schedule=schedule(wait=WARM, warmup=2, active=steps, repeat=1), record_shapes=True, with_stack=stacks,
                 profile_memory=memory, on_trace_ready=lambda p: p.export_chrome_trace(raw), **more) as prof:
        for i in range(WARM + 2 + steps):
            if i == WARM + 2:
                idle()
                t = time.perf_counter()
            step(i)
            if i == WARM + 1 + steps:
                idle()
                took = round((time.perf_counter() - t) / steps, 7)
            prof.step()
    with open(raw, "rb") as src, gzip.GzipFile(raw + ".gz", "wb", 6, mtime=0) as dst:
        shutil.copyfileobj(src, dst)
    os.remove(raw)
    return took


def one(name, out, said):
    torch.manual_seed(0)
    base = os.path.join(out, name)
    steps = 2 if name in ("generates", "batches", "sharded") else 3
    step = LOOPS[name](True)
    said["with"] = seconds(step)
    said["recorded"] = record(step, base, steps=steps)
    said["recorded_sync"] = record(step, base + ".sync", sync=True, steps=steps)
    said["recorded_stacks"] = record(step, base + ".stacks", stacks=True, steps=steps)
    if name == "sharded":
        import torch.distributed as dist
        dist.destroy_process_group()
    step = LOOPS[name](False)
    said["without"] = seconds(step)
    said["recorded_without"] = record(step, base + ".without", steps=steps)
    if name == "attention":
        torch.cuda.memory._record_memory_history(max_entries=20000)
        record(step, base + ".memory", stacks=True, memory=True, steps=2)
        torch.cuda.memory._dump_snapshot(base + ".memory.pickle")
        torch.cuda.memory._record_memory_history(enabled=None)


def rank_main(name, rank, out, said, cause):
    import torch.distributed as dist
    make = JOBS[name]
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + os.path.join(out, "." + name + str(cause)), rank=rank, world_size=make.world)
    torch.manual_seed(0)
    step = make(cause, rank)
    took = seconds(step)
    folder = os.path.join(out, name + ("" if cause else ".without"))
    os.makedirs(folder, exist_ok=True)
    dist.barrier()
    rec = record(step, os.path.join(folder, "rank%d" % rank), steps=8 if "from" in name else 5)
    if rank == 0:
        said["with" if cause else "without"], said["recorded" if cause else "recorded_without"] = took, rec
    dist.barrier()


def child(target, args, said, result):
    try:
        target(*args)
    except BaseException as err:
        traceback.print_exc()
        said["error"] = "%s: %s" % (type(err).__name__, " ".join(str(err).split())[:300])
    if said:
        with open(result, "w") as f:
            json.dump(said, f)
    sys.stderr.flush()
    os._exit(0)  # threads that are busy, groups that are open


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--out", required=True)
    args.add_argument("--budget", type=float, default=1e9, help="seconds after which no loop begins")
    args.add_argument("names", nargs="*")
    args = args.parse_args()
    os.makedirs(args.out, exist_ok=True)
    ctx = multiprocessing.get_context("fork")
    truth = os.path.join(args.out, "truth.json")
    all_said = json.load(open(truth)) if os.path.exists(truth) else {}
    began = time.perf_counter()
    for name in args.names or [*LOOPS, *JOBS]:
        if time.perf_counter() - began > args.budget:
            print("causes.py: no time is left for", name, file=sys.stderr)
            continue
        entry, t = {}, time.perf_counter()
        turns = [None] if name in LOOPS else ([True, False] if JOBS[name].causes else [True])
        for cause in turns:
            results, ps = [], []
            for rank in range(1 if cause is None else JOBS[name].world):
                said, result = {}, os.path.join(args.out, ".result%d" % rank)
                if os.path.exists(result):
                    os.remove(result)
                a = (one, (name, args.out, said)) if cause is None else (rank_main, (name, rank, args.out, said, cause))
                ps.append(ctx.Process(target=child, args=(*a, said, result)))
                results.append(result)
            for p in ps:
                p.start()
            end = time.time() + 60
            for p in ps:
                p.join(max(0.1, end - time.time()))
                if p.is_alive():
                    p.kill()
                    entry["error"] = "took more than 60 s"
            for result in results:
                if os.path.exists(result):
                    entry.update(json.load(open(result)))
                    os.remove(result)
        if name in JOBS:
            entry["causes"] = JOBS[name].causes
        all_said[name] = entry
        print("%-16s %5.1f s  %s" % (name, time.perf_counter() - t, json.dumps({k: v for k, v in entry.items() if k != "causes"})), flush=True)
        with open(truth, "w") as f:
            json.dump(all_said, f, indent=1)


if __name__ == "__main__":
    main()
