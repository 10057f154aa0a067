"""What the kit records: pairs of training loops that differ in one thing.

A pair names the change, what holds on which device, and the question that predicts the change from the trace of `before` alone. Torch comes in as an argument:
reading this file needs none. A loop is make(env) -> step, where step(i) runs training step i; env says on which device, as which rank, and
takes what has to be closed.
"""
import io
import time


class Env:
    """Where a loop runs: torch, the device ("cpu" or "cuda"), the rank of this process among world."""

    def __init__(self, torch, device, rank=0, world=1):
        self.torch, self.device, self.rank, self.world = torch, device, rank, world
        self.on_gpu = device != "cpu"


class Pair:
    """Two loops and the change between them.

    questions: flags of `overlay whatif`; {after:NAME} stands for the median time of what is called NAME in the trace after the change.
    rule: the rule of `overlay advise` that means this change, if there is one. truth: what holds by construction, for the checks.
    world: ranks of the job for each device, by default one; 0 means that it is not recorded on that device.
    """

    def __init__(self, name, change, before, after, question="", rule="", truth=None, world=None, steps=3, distributed=False):
        self.name, self.change, self.loops = name, change, {"before": before, "after": after}
        self.question, self.rule, self.truth, self.steps, self.distributed = question, rule, truth or {}, steps, distributed
        self.world = {"cpu": 1, "cuda": 1, **(world or {})}


# --- data: images that are decoded and resized while the loop waits, or in workers ---

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


def images(env, side, stored_side, stall=0.0):
    """A data set without end of JPEG images that are decoded and made side x side; each takes stall seconds longer."""
    torch = env.torch
    import numpy as np
    from PIL import Image
    stored = jpeg_images(16, stored_side)

    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, i):
            if stall:
                time.sleep(stall)
            img = Image.open(io.BytesIO(stored[i % len(stored)])).convert("RGB").resize((side, side), Image.BILINEAR)
            return torch.from_numpy(np.asarray(img).transpose(2, 0, 1).copy()).float().div_(255), i % 10

    return Images()


def resnet(workers):
    """ResNet-18 on images from a loader with so many workers."""
    def make(env):
        import torchvision
        torch = env.torch
        side, stored, batch = (224, 256, 64) if env.on_gpu else (32, 512, 4)
        loader = torch.utils.data.DataLoader(images(env, side, stored), batch_size=batch, num_workers=workers, multiprocessing_context="fork" if workers else None)
        batches = iter(loader)
        model = torchvision.models.resnet18(num_classes=10).to(env.device).train()
        opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=True)
        loss_fn = torch.nn.CrossEntropyLoss()

        def step(_):
            x, y = next(batches)
            x, y = x.to(env.device), y.to(env.device)
            opt.zero_grad(set_to_none=True)
            loss_fn(model(x), y).backward()
            opt.step()
        return step
    return make


# --- a small transformer ---

def gpt(env, layers=2, width=64, heads=4, seq=32, vocab=256):
    torch = env.torch
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

    model = GPT().to(env.device).train()
    x = torch.randint(0, vocab, (8, seq), device=env.device)
    return model, x


def transformer(item=False, compiled=False, **optimizer):
    """A step of the transformer: reads values back in the middle, is compiled, or has another optimizer."""
    def make(env):
        torch = env.torch
        model, x = gpt(env)
        opt = torch.optim.AdamW(model.parameters(), lr=1e-4, **optimizer)
        run = torch.compile(model, mode="reduce-overhead") if compiled else model
        seen = []

        def step(_):
            opt.zero_grad(set_to_none=True)
            out = run(x).flatten(0, 1)
            loss = torch.nn.functional.cross_entropy(out, x.flatten())
            if item:
                for part in out.detach()[:8].sum(1):
                    seen.append(part.item())
                seen.append(loss.item())
            loss.backward()
            opt.step()
        return step
    return make


def products(bf16):
    """Products of matrices with an element-wise operation between them, in fp32 or under autocast."""
    def make(env):
        torch = env.torch
        n, rows = (4096, 8192) if env.on_gpu else (768, 512)
        model = torch.nn.Sequential(*[m for _ in range(3) for m in (torch.nn.Linear(n, n), torch.nn.ReLU())]).to(env.device)
        x = torch.randn(rows, n, device=env.device)

        def step(_):
            with torch.autocast(env.device, dtype=torch.bfloat16, enabled=bf16):
                loss = model(x).float().square().mean()
            loss.backward()
            for p in model.parameters():
                p.grad = None
        return step
    return make


# --- copies and streams, which only a GPU has ---

def batches(pinned):
    def make(env):
        torch = env.torch
        n = 4096
        w = torch.randn(n, n, device=env.device)
        host = torch.randn(n, n).pin_memory() if pinned else torch.randn(n, n)

        def step(_):
            x = host.to(env.device, non_blocking=pinned)
            for _ in range(4):
                x = (x @ w).tanh()
            return x
        return step
    return make


def streams(wait):
    """Two streams with work of their own; the second one waits for the first without need, or it does not."""
    def make(env):
        torch = env.torch
        n = 512  # small enough for two such kernels side by side
        a, b = torch.randn(n, n, device=env.device), torch.randn(n, n, device=env.device)
        one, two = torch.cuda.Stream(), torch.cuda.Stream()

        def step(_):
            done_one, done_two = torch.cuda.Event(), torch.cuda.Event()
            with torch.cuda.stream(one):
                c = a
                for _ in range(40):
                    c = c @ a
                done_one.record(one)
            with torch.cuda.stream(two):
                if wait:
                    two.wait_event(done_one)
                d = b
                for _ in range(40):
                    d = d @ b
                done_two.record(two)
            now = torch.cuda.current_stream()
            now.wait_event(done_one)
            now.wait_event(done_two)
            (c + d).sum().item()
        return step
    return make


# --- jobs of several ranks ---

def ddp(buckets=1, sleep=0.0, more=1, stall=0.0, data=False):
    """DistributedDataParallel; rank 1 may sleep (seconds a step), have more rows, or a loader that stalls (seconds a batch)."""
    def make(env):
        torch = env.torch
        width, depth, rows = 512, 6, 128 // env.world
        odd = env.rank == min(1, env.world - 1)
        model = torch.nn.Sequential(*[m for _ in range(depth) for m in (torch.nn.Linear(width, width), torch.nn.ReLU())])
        model = model.to(env.device)
        layer = (width * width + width) * 4 / (1 << 20)  # MiB
        cap = layer * depth * 2 if buckets == 1 else layer * depth / buckets * 0.99
        wrapped = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=cap, gradient_as_bucket_view=True)
        opt = torch.optim.SGD(wrapped.parameters(), lr=1e-3, foreach=True)
        if odd:
            rows *= more

        class Rows(torch.utils.data.Dataset):
            def __len__(self):
                return 1 << 20

            def __getitem__(self, i):
                if odd and stall and i % rows == 0:
                    time.sleep(stall)
                return torch.full((width,), (i % 7) / 7.0)

        loader = iter(torch.utils.data.DataLoader(Rows(), batch_size=rows)) if data else None
        fixed = torch.randn(rows, width)

        def step(_):
            x = (next(loader) if loader else fixed).to(env.device)
            opt.zero_grad(set_to_none=True)
            loss = wrapped(x).square().mean()
            if odd and sleep:
                time.sleep(sleep)
            loss.backward()
            opt.step()
        return step
    return make


JOB = {"cpu": 2, "cuda": 2}
LATE = 0.04  # seconds

PAIRS = [
    Pair("loader_1_worker", "DataLoader with 0 workers, then 1", resnet(0), resnet(1), "--shrink enumerate(DataLoader)*={after:enumerate(DataLoader)*}",
         rule="data-no-workers"),
    Pair("loader_2_workers", "DataLoader with 0 workers, then 2", resnet(0), resnet(2), "--shrink enumerate(DataLoader)*={after:enumerate(DataLoader)*}",
         rule="data-no-workers"),
    Pair("loader_4_workers", "DataLoader with 0 workers, then 4", resnet(0), resnet(4), "--shrink enumerate(DataLoader)*={after:enumerate(DataLoader)*}",
         rule="data-no-workers", world={"cpu": 0}),
    Pair("optimizer_fused", "AdamW parameter by parameter, then fused", transformer(foreach=False), transformer(fused=True),
         "--shrink Optimizer.step#AdamW.step={after:Optimizer.step#AdamW.step}", rule="optimizer-loop"),
    Pair("optimizer_foreach", "AdamW parameter by parameter, then over lists", transformer(foreach=False), transformer(foreach=True),
         "--shrink Optimizer.step#AdamW.step={after:Optimizer.step#AdamW.step}", rule="optimizer-loop"),
    Pair("item", "nine .item() in the middle of a step, then none", transformer(item=True, fused=True), transformer(fused=True),
         "--shrink aten::item=0", rule="sync-item"),
    Pair("bf16", "products of matrices in fp32, then bf16", products(False), products(True), rule="fp32-matmul"),
    Pair("compiled", "eager, then torch.compile with CUDA graphs", transformer(fused=True, capturable=True), transformer(compiled=True, fused=True, capturable=True),
         rule="host-bound", world={"cpu": 0}),
    Pair("pinned", "copies of batches from pageable memory, then pinned", batches(False), batches(True), rule="copy-pageable-h2d", world={"cpu": 0}),
    Pair("streams", "a stream that waits for another without need, then does not", streams(True), streams(False), "", world={"cpu": 0}),
    Pair("buckets", "gradients in six buckets, then one", ddp(buckets=6), ddp(buckets=1), rule="comm-small", world={"cpu": 2, "cuda": 1}, distributed=True, steps=6),
    Pair("balanced", "nothing: the same job twice", ddp(), ddp(), world=JOB, distributed=True, steps=6, truth={"straggler": None}),
    Pair("rank_sleeps", "rank 1 sleeps 40 ms a step, then not", ddp(sleep=LATE), ddp(), world=JOB, distributed=True, steps=6,
         truth={"straggler": 1, "seconds": LATE}),
    Pair("rank_sleeps_of_4", "rank 1 of 4 sleeps 40 ms a step, then not", ddp(sleep=LATE), ddp(), world={"cpu": 4, "cuda": 4}, distributed=True, steps=6,
         truth={"straggler": 1, "seconds": LATE}),
    Pair("rank_has_more", "rank 1 has four times the rows, then as many as the other", ddp(more=4), ddp(), world=JOB, distributed=True, steps=6,
         truth={"straggler": 1}),
    Pair("rank_loads_late", "the loader of rank 1 stalls for 40 ms a batch, then not", ddp(stall=LATE, data=True), ddp(data=True), world=JOB, distributed=True,
         steps=6, truth={"straggler": 1, "seconds": LATE}),
]
