#!/usr/bin/env python3
"""Record small loops with one known cause each, on the CPU: what the advisor says of them is judged in internal/advise/testdata/cases.tsv.

    python3 planted.py --out ../planted            all of them, each in a process of its own
    python3 planted.py --out ../planted NAME ...   some; NAME.stacks with Python stacks
"""
import argparse
import gc
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule


def trained(batch=256, double=False):
    """A training step of a small network."""
    net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    x, y = torch.randn(batch, 256), torch.randint(0, 10, (batch,))
    if double:
        net, x = net.double(), x.double()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)

    def train(x=x, y=y):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()

    return net, train


def spin(seconds):
    """Python that is busy."""
    until, n = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        for _ in range(1000):
            n += 1
    return n


def python_in_step():
    _, train = trained()

    def count_words():
        return spin(0.012)

    def step():
        train()
        count_words()

    return step


def output_thread():
    """What another thread computes is waited for."""
    _, train = trained()
    jobs, results = queue.Queue(), queue.Queue()

    def serve():
        while n := jobs.get():
            w = torch.randn(300, 300)
            for _ in range(n):
                w = torch.tanh(w @ w)
            results.put(w.sum().item())

    threading.Thread(target=serve, daemon=True).start()

    def step():
        jobs.put(6)
        train()
        results.get()

    return step


def fed_by_thread():
    """A thread that makes batches in Python is slower than the step, and keeps the interpreter from it."""
    _, train = trained(batch=24)
    batches = queue.Queue(1)

    def augment():
        return torch.tensor([[(i * 7919 % 1013) / 1013 for i in range(4000)][:256] for _ in range(24)])

    def produce():
        while True:
            batches.put(augment())

    threading.Thread(target=produce, daemon=True).start()
    return lambda: train(batches.get())


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, i):
        time.sleep(0.0003)
        return torch.randn(256), i % 10


def slow_workers():
    _, train = trained()
    batches = iter(torch.utils.data.DataLoader(Slow(), batch_size=64, num_workers=2))
    return lambda: train(*next(batches))


def garbage():
    _, train = trained()
    keep = []

    class Node:
        pass

    def step():
        train()
        for _ in range(1000):
            a, b = Node(), Node()
            a.b, b.a = b, a
            keep.append(a)
        gc.collect()

    return step


def double():
    return trained(double=True)[1]


def saves():
    """Weights are written to the disk in each step."""
    net, train = trained()
    name = os.path.join(tempfile.mkdtemp(), "weights.pt")

    def step():
        train()
        torch.save(net.state_dict(), name)
        os.sync()

    return step


def tokenises():
    words = ("the quick brown fox jumps over the lazy dog " * 100).split()
    table = nn.EmbeddingBag(1000, 64)

    def encode(words):
        return torch.tensor([hash(w) % 1000 for w in words])

    def step():
        for _ in range(4):
            table(encode(words), torch.tensor([0]))

    return step


LOOPS = {f.__name__: f for f in (python_in_step, output_thread, fed_by_thread, slow_workers, garbage, double, saves, tokenises)}


def record(name, out):
    loop, stacks = name.removesuffix(".stacks"), name.endswith(".stacks")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    step = LOOPS[loop]()
    for _ in range(2):
        step()
    kept = os.path.join(out, name + ".json")
    with profile(activities=[ProfilerActivity.CPU], with_stack=stacks, record_shapes=True, schedule=schedule(wait=1, warmup=1, active=4, repeat=1),
                 on_trace_ready=lambda p: p.export_chrome_trace(kept)) as p:
        for _ in range(6):
            step()
            p.step()
    if os.path.exists("/usr/bin/zstd"):
        subprocess.run(["zstd", "-19", "-q", "-f", "--rm", kept], check=True)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--out", required=True)
    args.add_argument("--one", help=argparse.SUPPRESS)
    args.add_argument("names", nargs="*")
    args = args.parse_args()
    if args.one:
        record(args.one, args.out)
        os._exit(0)  # threads that are busy
    os.makedirs(args.out, exist_ok=True)
    for name in args.names or [n + s for n in LOOPS for s in ("", ".stacks")]:
        subprocess.run([sys.executable, __file__, "--out", args.out, "--one", name], check=True)


if __name__ == "__main__":
    main()
