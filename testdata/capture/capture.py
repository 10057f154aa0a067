#!/usr/bin/env python3
"""Record small real PyTorch traces on one GPU, with step times measured without the profiler.

Needs torch, torchvision, numpy and Pillow, and one GPU; downloads nothing (random weights, random images).
Torch is imported only when a scenario runs, so --list and --help work anywhere.

    python3 capture.py --out real                    every scenario
    python3 capture.py --out real --only streams     one of them
    python3 capture.py --out real --only gpt_small --sync on

Each run writes NAME[.sync].json.gz for the chosen scenarios, and manifest.json: versions, GPU, date, command,
and for each trace the step times measured with the profiler off.
"""
import argparse
import gzip
import io
import json
import os
import shutil
import statistics
import sys
import tempfile
import time

LIMIT_ONE = 1 << 20  # bytes of one .json.gz
LIMIT_ALL = 12 << 20  # bytes of all of them


class Scenario:
    """One thing to record. make(torch) returns (step, cleanup); step(i) runs training step i."""

    def __init__(self, name, make, steps=2, syncs=("off", "on"), stacks=False, memory=False, shapes=False):
        self.name, self.make, self.steps, self.syncs = name, make, steps, syncs
        self.stacks, self.memory, self.shapes = stacks, memory, shapes

    def files(self, sync):
        return [(s, self.name + (".sync" if s == "on" else "") + ".json.gz") for s in self.syncs if sync in ("both", s)]


# --- the paper's first case: images decoded and resized in the loader, and the same with the resize done ahead ---

def jpeg_images(count, side):
    import numpy as np
    from PIL import Image
    rng = np.random.default_rng(0)
    out = []
    for _ in range(count):
        buf = io.BytesIO()
        Image.fromarray(rng.integers(0, 256, (side, side, 3), dtype=np.uint8)).save(buf, "JPEG")
        out.append(buf.getvalue())
    return out


def resnet_loader(ahead):
    def make(torch):
        import numpy as np
        import torchvision
        from PIL import Image

        side, batch, batches = 224, 64, 24
        images = jpeg_images(batch, 32)

        def load(i):
            img = Image.open(io.BytesIO(images[i % len(images)])).convert("RGB").resize((side, side), Image.BILINEAR)
            return torch.from_numpy(np.asarray(img).transpose(2, 0, 1).copy()).float().div_(255)

        class Images(torch.utils.data.Dataset):
            stored = [load(i) for i in range(len(images))] if ahead else None

            def __len__(self):
                return batch * batches

            def __getitem__(self, i):
                return (self.stored[i % len(images)] if ahead else load(i)), i % 10

        loader = torch.utils.data.DataLoader(Images(), batch_size=batch, num_workers=0)
        model = torchvision.models.resnet18(num_classes=10).cuda().train()
        opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        loss_fn = torch.nn.CrossEntropyLoss()
        state = {"it": iter(loader)}

        def step(_):
            try:
                x, y = next(state["it"])
            except StopIteration:
                state["it"] = iter(loader)
                x, y = next(state["it"])
            x, y = x.cuda(), y.cuda()
            opt.zero_grad(set_to_none=True)
            loss_fn(model(x), y).backward()
            opt.step()

        return step, None
    return make


# --- a small transformer: eager, compiled, captured in a graph ---

def gpt(torch, layers=6, width=256, heads=4, seq=128, vocab=1024):
    nn = torch.nn

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Embedding(vocab, width)
            self.pos = nn.Parameter(torch.zeros(1, seq, width))
            block = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
            self.blocks = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
            self.head = nn.Linear(width, vocab)

        def forward(self, x):
            return self.head(self.blocks(self.emb(x) + self.pos))

    return GPT().cuda().train(), seq, vocab


def gpt_small(mode):
    def make(torch):
        model, seq, vocab = gpt(torch)
        run = torch.compile(model) if mode == "compile" else model
        x = torch.randint(0, vocab, (8, seq), device="cuda")
        y = torch.randint(0, vocab, (8, seq), device="cuda")
        opt = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True, capturable=mode == "graph")

        def work():
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(run(x).flatten(0, 1).float(), y.flatten())
            loss.backward()
            opt.step()
            opt.zero_grad(set_to_none=mode != "graph")
            return loss

        if mode != "graph":
            return (lambda _: work()), None

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                work()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        return (lambda _: graph.replay()), None
    return make


# --- streams, events, waits, copies ---

def streams(torch):
    n = 2048
    a = torch.randn(n, n, device="cuda")
    b = torch.randn(n, n, device="cuda")
    pinned = torch.empty(n, n).pin_memory()
    pageable = torch.empty(n, n)
    one, two = torch.cuda.Stream(), torch.cuda.Stream()

    def step(i):
        first, second = torch.cuda.Event(), torch.cuda.Event()
        c = a @ b
        first.record()
        with torch.cuda.stream(one):
            one.wait_event(first)
            d = c @ b
            second.record(one)
        with torch.cuda.stream(two):
            two.wait_event(first)
            pinned.copy_(c, non_blocking=True)
        torch.cuda.current_stream().wait_event(second)
        e = (d + c).sum()
        two.synchronize()
        dev = pageable.cuda()
        pageable.copy_(dev)
        pinned.cuda(non_blocking=True)
        second.synchronize()
        e.item()
        torch.cuda.synchronize()

    return step, None


# --- one-process DistributedDataParallel with NCCL ---

def ddp_one(torch):
    import torch.distributed as dist
    folder = tempfile.mkdtemp()
    dist.init_process_group("nccl", init_method="file://" + os.path.join(folder, "store"), rank=0, world_size=1)
    model, seq, vocab = gpt(torch, layers=4)
    ddp = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0], bucket_cap_mb=2)
    opt = torch.optim.AdamW(ddp.parameters(), lr=1e-4)
    x = torch.randint(0, vocab, (8, seq), device="cuda")

    def step(_):
        opt.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(ddp(x).flatten(0, 1), x.flatten()).backward()
        opt.step()

    def cleanup():
        dist.destroy_process_group()
        shutil.rmtree(folder, ignore_errors=True)

    return step, cleanup


SCENARIOS = [
    Scenario("resnet18_loader", resnet_loader(False), steps=3),
    Scenario("resnet18_ahead", resnet_loader(True), steps=3),
    Scenario("gpt_small", gpt_small("eager")),
    Scenario("gpt_compile", gpt_small("compile")),
    Scenario("gpt_graph", gpt_small("graph")),
    Scenario("streams", streams, steps=3),
    Scenario("stacks", resnet_loader(False), steps=1, syncs=("off",), stacks=True, memory=True, shapes=True),
    Scenario("ddp_one", ddp_one),
]


def measure(torch, step, count=10):
    """Seconds of each of count steps, profiler off, the device idle at both ends of a step."""
    times = []
    for i in range(count):
        torch.cuda.synchronize()
        t = time.perf_counter()
        step(i)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - t)
    return times


def record(torch, sc, step, sync, path):
    from torch.profiler import ProfilerActivity, profile, schedule
    config = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=sync == "on")
    with tempfile.TemporaryDirectory() as tmp:
        raw = os.path.join(tmp, "trace.json")
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                     schedule=schedule(wait=1, warmup=2, active=sc.steps, repeat=1),
                     on_trace_ready=lambda p: p.export_chrome_trace(raw),
                     record_shapes=sc.shapes, with_stack=sc.stacks, profile_memory=sc.memory,
                     experimental_config=config) as prof:
            for i in range(3 + sc.steps):
                step(i)
                prof.step()
            torch.cuda.synchronize()
        with open(raw, "rb") as src, open(path, "wb") as dst:
            with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=dst, mtime=0) as out:
                shutil.copyfileobj(src, out)
    return os.path.getsize(path)


def run(args, chosen):
    import torch
    if not torch.cuda.is_available():
        sys.exit("capture.py: no GPU is visible to torch; --list shows what would be recorded")
    os.makedirs(args.out, exist_ok=True)
    manifest = {"torch": torch.__version__, "cuda": torch.version.cuda, "hip": torch.version.hip,
                "gpu": torch.cuda.get_device_name(0), "date": time.strftime("%Y-%m-%d", time.gmtime()),
                "command": " ".join(["capture.py"] + sys.argv[1:]), "traces": [], "failed": []}
    started = time.monotonic()
    for sc in chosen:
        print("capture.py: %s, %.0f s so far" % (sc.name, time.monotonic() - started), file=sys.stderr, flush=True)
        torch.manual_seed(0)
        cleanup = None
        try:
            step, cleanup = sc.make(torch)
            for i in range(5):
                step(i)
            times = measure(torch, step)
            for sync, name in sc.files(args.sync):
                size = record(torch, sc, step, sync, os.path.join(args.out, name))
                manifest["traces"].append(entry(name, sc, sync, size, times))
        except Exception as err:  # one scenario that cannot run here must not lose the others
            manifest["failed"].append({"name": sc.name, "error": "%s: %s" % (type(err).__name__, err)})
            print("capture.py: %s failed: %s" % (sc.name, err), file=sys.stderr)
        finally:
            if cleanup:
                cleanup()
            torch.cuda.empty_cache()
    save(args.out, manifest)
    return 1 if manifest["failed"] or not within_limits(manifest) else 0


def entry(name, sc, sync, size, times):
    return {"file": name, "scenario": sc.name, "sync_events": sync == "on", "steps": sc.steps, "bytes": size,
            "step_seconds": [round(t, 6) for t in times], "step_median_seconds": round(statistics.median(times), 6)}


def save(out, manifest):
    with open(os.path.join(out, "manifest.json"), "w") as f:
        json.dump(manifest, f, indent=1, sort_keys=True)
        f.write("\n")


def within_limits(manifest):
    ok = True
    for t in manifest["traces"]:
        if t["bytes"] > LIMIT_ONE:
            print("capture.py: %s has %d bytes, more than %d" % (t["file"], t["bytes"], LIMIT_ONE), file=sys.stderr)
            ok = False
    if sum(t["bytes"] for t in manifest["traces"]) > LIMIT_ALL:
        print("capture.py: all traces together are larger than %d bytes" % LIMIT_ALL, file=sys.stderr)
        ok = False
    return ok


def parse(argv):
    names = [sc.name for sc in SCENARIOS]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", metavar="DIR", help="folder for the traces and manifest.json")
    p.add_argument("--only", metavar="NAME", action="append", choices=names, help="record only this scenario (may be repeated): " + ", ".join(names))
    p.add_argument("--sync", choices=("both", "on", "off"), default="both", help="with enable_cuda_sync_events, without, or both (default)")
    p.add_argument("--list", action="store_true", help="print the files that would be written, and stop")
    args = p.parse_args(argv)
    if not args.list and not args.out:
        p.error("--out DIR is required (or --list)")
    chosen = [sc for sc in SCENARIOS if not args.only or sc.name in args.only]
    return args, chosen


def main(argv):
    args, chosen = parse(argv)
    if args.list:
        for sc in chosen:
            for sync, name in sc.files(args.sync):
                print("%-28s steps=%d sync=%s stacks=%s" % (name, sc.steps, sync, "yes" if sc.stacks else "no"))
        return 0
    return run(args, chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
