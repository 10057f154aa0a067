#!/usr/bin/env python3
"""Programs as production and research have them, each with one known cause and the same program without it.

    python3 programs.py --out DIR           all of them
    python3 programs.py --out DIR NAME ... some
"""
import argparse
import contextlib
import glob
import gzip
import json
import math
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

os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # so that no import makes a context before the fork
import torch
from torch import nn
from torch.nn import functional as F

CPU = bool(os.environ.get("CAUSES_ON_CPU"))
GPU = "cpu" if CPU else "cuda"
BF16 = torch.float32 if CPU else torch.bfloat16
LOOPS, FACTS, LOOPS_STOP = {}, {}, []
if not hasattr(F, "scaled_dot_product_attention"):
    def sdpa(q, k, v, attn_mask=None, is_causal=False):
        s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if is_causal:
            attn_mask = torch.ones(s.shape[-2:], dtype=torch.bool).tril()
        if attn_mask is not None:
            s = s.masked_fill(~attn_mask, -1e9) if attn_mask.dtype == torch.bool else s + attn_mask
        return s.softmax(-1) @ v
    F.scaled_dot_product_attention = sdpa


class Skip(Exception):
    pass


def loop(kind, size, what, steps=3, limit=25):
    def keep(f):
        LOOPS[f.__name__] = f
        FACTS[f.__name__] = {"kind": kind, "size": size, "what": what, "steps": steps, "limit": limit}
        return f
    return keep


def n(gpu, cpu):
    """A size: on the GPU, and for a try on the CPU."""
    return cpu if CPU else gpu


def amp():
    return contextlib.nullcontext() if CPU else torch.autocast("cuda", dtype=torch.bfloat16)


def adamw(params, lr=1e-4, **more):
    return torch.optim.AdamW(params, lr=lr, **({} if CPU else more or {"fused": True}))


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=GPU, dtype=dtype)


def randint(high, *shape):
    return torch.randint(0, high, shape, device=GPU)


def on_device():
    """Modules are made where they will be, as their first values take seconds on the host."""
    return torch.device(GPU) if hasattr(torch.device, "__enter__") else contextlib.nullcontext()


def made_on_device(cls):
    init = cls.__init__

    def made(self, *args, **more):
        with on_device():
            init(self, *args, **more)
    cls.__init__ = made
    return cls


def room(many, few, gigabytes):
    """A batch's size: the smaller one where shared memory is too small for what workers fetch ahead."""
    try:
        at = os.statvfs("/dev/shm")
        return many if at.f_bavail * at.f_frsize > gigabytes * (1 << 30) else few
    except OSError:
        return few


def imported(*names):
    out = []
    for name in names:
        try:
            out.append(__import__(name, fromlist=["x"]))
        except Exception as err:
            raise Skip("%s is missing: %s" % (name, err))
    return out[0] if len(out) == 1 else out


# --- models ---

class SelfAttention(nn.Module):
    def __init__(self, width, heads, causal=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask=None):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=self.causal and mask is None)
        return self.out(a.transpose(1, 2).reshape(b, t, w))


class Layer(nn.Module):
    def __init__(self, width, attention, mlp=None):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(width), nn.LayerNorm(width), attention
        self.mlp = mlp or nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, *args):
        x = x + self.attention(self.norm1(x), *args)
        return x + self.mlp(self.norm2(x))


@made_on_device
class LM(nn.Module):
    def __init__(self, vocab=n(32000, 100), width=n(768, 32), layers=n(6, 2), heads=n(12, 2), causal=True, attention=None, mlp=None):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        attention = attention or (lambda: SelfAttention(width, heads, causal))
        self.layers = nn.ModuleList(Layer(width, attention(), mlp() if mlp else None) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)
        self.vocab, self.width = vocab, width

    def hidden(self, x, *args):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x, *args)
        return self.norm(x)

    def forward(self, x, *args):
        return self.head(self.hidden(x, *args))


def lm_loss(model, tokens, *args):
    return F.cross_entropy(model(tokens, *args).flatten(0, 1), tokens.flatten())


class Conv(nn.Sequential):
    def __init__(self, a, b, k=3, stride=1):
        super().__init__(nn.Conv2d(a, b, k, stride, k // 2, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class Residual(nn.Module):
    def __init__(self, a, b, stride):
        super().__init__()
        self.body = nn.Sequential(Conv(a, b, 3, stride), Conv(b, b))
        self.skip = nn.Conv2d(a, b, 1, stride) if (a, stride) != (b, 1) else nn.Identity()

    def forward(self, x):
        return self.body(x) + self.skip(x)


def backbone(width=64, blocks=(2, 2, 2, 2)):
    layers, a = [Conv(3, width, 7, 2), nn.MaxPool2d(3, 2, 1)], width
    for i, many in enumerate(blocks):
        for j in range(many):
            layers.append(Residual(a, width << i, 2 if i and not j else 1))
            a = width << i
    return nn.Sequential(*layers), a


@made_on_device
class Classifier(nn.Module):
    def __init__(self, classes=100, **more):
        super().__init__()
        self.features, width = backbone(**more)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


@made_on_device
class UNet(nn.Module):
    def __init__(self, inputs=3, outputs=3, width=n(64, 8), depth=3, per=2):
        super().__init__()
        ws = [width << i for i in range(depth + 1)]
        self.first = Conv(inputs, width)
        self.time = nn.Sequential(nn.Linear(64, 256), nn.SiLU(), nn.Linear(256, ws[-1]))
        self.down = nn.ModuleList(nn.Sequential(*[Residual(ws[i] if j else ws[i - 1], ws[i], 1 if j else 2) for j in range(per)])
                                  for i in range(1, depth + 1))
        self.up = nn.ModuleList(nn.Sequential(*[Residual(ws[i - 1] if j else ws[i] + ws[i - 1], ws[i - 1], 1) for j in range(per)])
                                for i in range(depth, 0, -1))
        self.last = nn.Conv2d(width, outputs, 1)

    def forward(self, x, t=None):
        xs = [self.first(x)]
        for d in self.down:
            xs.append(d(xs[-1]))
        x = xs.pop()
        if t is not None:
            f = t[:, None].float() * torch.exp(torch.arange(32, device=x.device) * -0.3)
            x = x + self.time(torch.cat((f.sin(), f.cos()), 1))[:, :, None, None].to(x.dtype)
        for u in self.up:
            x = u(torch.cat((F.interpolate(x, scale_factor=2, mode="nearest"), xs.pop()), 1))
        return self.last(x)


def fit(model, optimizer, loss_of, *args, after=None):
    optimizer.zero_grad(set_to_none=True)
    with amp():
        loss = loss_of(model, *args)
    loss.backward()
    optimizer.step()
    return loss


def images(batch, side, form=torch.channels_last):
    return randn(batch, 3, side, side).to(memory_format=form)


# --- training ---

@loop("sync", "small", "torchmetrics objects validate their inputs and compute() is called and read each step: several waits for the device in a ViT "
      "training loop; update with validate_args=False and compute at the epoch's end")
def vit_pretrain(cause):
    timm, tm = imported("timm", "torchmetrics.classification")
    model = timm.create_model("vit_small_patch16_224", num_classes=100).to(GPU)
    optimizer, x, y = adamw(model.parameters()), images(192, 224), randint(100, 192)
    meters = [m(num_classes=100, validate_args=cause).to(GPU) for m in (tm.MulticlassAccuracy, tm.MulticlassF1Score, tm.MulticlassAUROC)[:2]]
    progress = {}

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        with amp():
            logits = model(x)
            loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        for m in meters:
            m.update(logits.detach().float(), y)
            if cause:
                progress[type(m).__name__] = float(m.compute())  # @vit_pretrain
    return step


@loop("many small kernels", "large", "the exponential moving average of a diffusion UNet's weights is updated tensor by tensor in Python (mul_ and add_ "
      "per state entry, including buffers); use torch._foreach_lerp_ over all of them", steps=2)
def diffusion_train(cause):
    model = UNet(width=n(48, 8), per=n(4, 1)).to(GPU, memory_format=torch.channels_last)
    shadow = {k: v.detach().clone() for k, v in model.state_dict().items() if v.is_floating_point()}
    live = {k: v for k, v in model.state_dict().items() if k in shadow}
    optimizer, x = adamw(model.parameters()), images(n(8, 2), n(64, 16))
    average, current = list(shadow.values()), [live[k] for k in shadow]

    def update_ema(decay=0.999):
        for k, v in model.state_dict().items():
            if k in shadow:
                shadow[k].mul_(decay).add_(v, alpha=1 - decay)  # @diffusion_train

    def loss_of(model, x):
        t = torch.randint(0, 1000, (x.shape[0],), device=GPU)
        noise = torch.randn_like(x)
        a = torch.cos(t / 1000 * math.pi / 2)[:, None, None, None]
        return F.mse_loss(model(a * x + (1 - a * a).sqrt() * noise, t).float(), noise)

    def step(_):
        fit(model, optimizer, loss_of, x)
        with torch.no_grad():
            if cause:
                update_ema()
            else:
                torch._foreach_lerp_(average, current, 0.001) if hasattr(torch, "_foreach_lerp_") else update_ema()
    return step


@loop("device, wasted work", "large", "embedding tables of a click model have dense gradients: zero fills and the optimizer's pass over all of the rows "
      "each step; EmbeddingBag(sparse=True)")
def ctr_dlrm(cause):
    rows, tables, dim, batch = n(1500000, 1000), n(12, 3), 64, n(4096, 16)
    with on_device():
        bags = nn.ModuleList(nn.EmbeddingBag(rows, dim, mode="sum", sparse=not cause) for _ in range(tables)).to(GPU)  # @ctr_dlrm
    bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, dim), nn.ReLU()).to(GPU)
    pairs = (tables + 1) * tables // 2
    top = nn.Sequential(nn.Linear(pairs + dim, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1)).to(GPU)
    optimizer = torch.optim.SGD([*bags.parameters(), *bottom.parameters(), *top.parameters()], lr=0.01)
    dense, ids, y = randn(batch, 13), [randint(rows, batch * 4) for _ in range(tables)], randint(2, batch).float()
    offsets, (i, j) = torch.arange(0, batch * 4, 4, device=GPU), torch.tril_indices(tables + 1, tables + 1, -1).to(GPU)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        d = bottom(dense)
        z = torch.stack([d] + [bag(x, offsets) for bag, x in zip(bags, ids)], 1)
        logit = top(torch.cat((d, (z @ z.transpose(1, 2))[:, i, j]), 1)).squeeze(1)
        F.binary_cross_entropy_with_logits(logit, y).backward()
        optimizer.step()
    return step


@loop("many small kernels", "large", "a recurrent language model steps nn.LSTMCell in a Python loop over time; nn.LSTM runs the sequence in cuDNN", steps=1)
def lstm_lm(cause):
    width, t, b = n(512, 16), n(96, 6), n(64, 4)
    embed, head = nn.Embedding(n(10000, 50), width).to(GPU), nn.Linear(width, n(10000, 50)).to(GPU)
    cells = nn.ModuleList(nn.LSTMCell(width, width) for _ in range(2)).to(GPU)
    lstm = nn.LSTM(width, width, 2, batch_first=True).to(GPU)
    body = cells if cause else lstm
    optimizer = adamw([*embed.parameters(), *head.parameters(), *body.parameters()])
    tokens = randint(n(10000, 50), b, t)

    def unroll(x):
        states = [(x.new_zeros(b, width), x.new_zeros(b, width)) for _ in cells]
        out = []
        for k in range(t):
            h = x[:, k]
            for c, cell in enumerate(cells):
                states[c] = cell(h, states[c])  # @lstm_lm
                h = states[c][0]
            out.append(h)
        return torch.stack(out, 1)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        x = embed(tokens)
        h = unroll(x) if cause else lstm(x)[0]
        F.cross_entropy(head(h).flatten(0, 1), tokens.flatten()).backward()
        optimizer.step()
    return step


class MoE(nn.Module):
    def __init__(self, width, experts, looped):
        super().__init__()
        self.gate, self.looped = nn.Linear(width, experts), looped
        self.up = nn.Parameter(torch.randn(experts, width, 2 * width) * 0.02)
        self.down = nn.Parameter(torch.randn(experts, 2 * width, width) * 0.02)

    def forward(self, x):
        shape, x = x.shape, x.flatten(0, 1)
        p, idx = self.gate(x).softmax(-1).topk(2)
        experts = self.up.shape[0]
        if self.looped:
            out = torch.zeros_like(x)
            for e in range(experts):
                rows, slot = (idx == e).nonzero(as_tuple=True)  # @moe_pretrain
                h = F.gelu(x[rows] @ self.up[e]) @ self.down[e]
                out = out.index_add(0, rows, h * p[rows, slot, None])
            return out.view(shape)
        flat = idx.flatten()
        cap = 2 * flat.numel() // experts
        pos = ((flat[:, None] == torch.arange(experts, device=x.device)).int().cumsum(0) - 1).gather(1, flat[:, None]).squeeze(1)
        slot = flat * (cap + 1) + pos.clamp(max=cap)
        buf = x.new_zeros(experts * (cap + 1), x.shape[1]).index_copy(0, slot, x.repeat_interleave(2, 0))
        h = torch.bmm(F.gelu(torch.bmm(buf.view(experts, cap + 1, -1), self.up)), self.down).flatten(0, 1)[slot]
        return (h.view(-1, 2, x.shape[1]) * p[:, :, None]).sum(1).view(shape)


@loop("sync and small kernels", "large", "the mixture of experts loops over 32 experts in Python and asks nonzero() for each one's tokens, a wait each; "
      "dispatch into a padded buffer and use bmm (or a grouped GEMM)", steps=1)
def moe_pretrain(cause):
    width = n(512, 32)
    model = LM(width=width, heads=n(8, 2), layers=n(4, 2), mlp=lambda: MoE(width, n(32, 4), cause)).to(GPU, BF16)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(8, 2), n(512, 16))

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        lm_loss(model, tokens).backward()
        optimizer.step()
    return step


class Head(nn.Module):
    """One head, as tutorials write it."""

    def __init__(self, width, size):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, size, bias=False) for _ in range(3))

    def forward(self, x):
        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x), is_causal=True)


class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.out = nn.ModuleList(Head(width, width // heads) for _ in range(heads)), nn.Linear(width, width)

    def forward(self, x):
        return self.out(torch.cat([h(x) for h in self.heads], -1))  # @shakespeare


@loop("many small kernels", "large", "multi-head attention is a ModuleList of 12 single heads with own q, k and v projections, run one after the other; "
      "one qkv projection and a batched attention over heads", steps=1)
def shakespeare(cause):
    width, heads = n(768, 32), n(12, 2)
    model = LM(layers=n(4, 2), vocab=n(5000, 50), attention=(lambda: Heads(width, heads)) if cause else None).to(GPU)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(16, 2), n(256, 16))
    return lambda _: fit(model, optimizer, lm_loss, tokens)


@loop("sync", "small", "a GradScaler scales the loss although training is in bf16: unscale and found_inf.item() each step, so that the host waits before "
      "the optimizer; leave it away")
def translate_amp(cause):
    model = LM(layers=n(8, 2), width=n(768, 32)).to(GPU)
    optimizer, tokens = adamw(model.parameters(), foreach=True), randint(model.vocab, n(8, 2), n(512, 16))
    scaler = torch.cuda.amp.GradScaler(enabled=False) if CPU else torch.amp.GradScaler("cuda", enabled=cause)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        with amp():
            loss = lm_loss(model, tokens)
        scaler.scale(loss).backward()
        if cause:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)  # @translate_amp
        scaler.update()
    return step


@loop("sync", "small", "clip_grad_norm_ with error_if_nonfinite=True and foreach=False: a norm kernel for each parameter and a wait for the device before "
      "each optimizer step; the defaults need neither")
def seq2seq_clip(cause):
    width = n(512, 32)
    model = nn.Transformer(width, n(8, 2), n(3, 1), n(3, 1), n(2048, 64), batch_first=True, dropout=0.0).to(GPU)
    embed, head = nn.Embedding(n(16000, 50), width).to(GPU), nn.Linear(width, n(16000, 50)).to(GPU)
    params = [*model.parameters(), *embed.parameters(), *head.parameters()]
    optimizer, src, dst = adamw(params), randint(n(16000, 50), n(32, 2), n(128, 8)), randint(n(16000, 50), n(32, 2), n(128, 8))

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        with amp():
            loss = F.cross_entropy(head(model(embed(src), embed(dst))).flatten(0, 1), dst.flatten())
        loss.backward()
        if CPU:
            nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=cause)
        else:
            nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=cause, foreach=False if cause else None)  # @seq2seq_clip
        optimizer.step()
    return step


@loop("device, wasted work", "medium", "a DCGAN's discriminator step runs on fakes that still hang in the generator's graph, so its backward pass goes "
      "through the generator for gradients that are thrown away; fake.detach()")
def gan_train(cause):
    w, z = n(64, 4), 100
    gen = nn.Sequential(nn.ConvTranspose2d(z, w * 8, 4), nn.BatchNorm2d(w * 8), nn.ReLU(),
                        *[m for i in (8, 4, 2) for m in (nn.ConvTranspose2d(w * i, w * i // 2, 4, 2, 1), nn.BatchNorm2d(w * i // 2), nn.ReLU())],
                        nn.ConvTranspose2d(w, 3, 4, 2, 1), nn.Tanh()).to(GPU, memory_format=torch.channels_last)
    dis = nn.Sequential(nn.Conv2d(3, w, 4, 2, 1), nn.LeakyReLU(0.2),
                        *[m for i in (1, 2, 4) for m in (nn.Conv2d(w * i, w * i * 2, 4, 2, 1), nn.BatchNorm2d(w * i * 2), nn.LeakyReLU(0.2))],
                        nn.Conv2d(w * 8, 1, 4)).to(GPU, memory_format=torch.channels_last)
    og, od, real = adamw(gen.parameters()), adamw(dis.parameters()), images(n(512, 4), 64)

    def step(_):
        b = real.shape[0]
        with amp():
            fake = gen(randn(b, z, 1, 1))
            loss = F.softplus(-dis(real)).mean() + F.softplus(dis(fake if cause else fake.detach())).mean()  # @gan_train
        od.zero_grad(set_to_none=True)
        loss.backward()
        od.step()
        with amp():
            loss = F.softplus(-dis(gen(randn(b, z, 1, 1)))).mean()
        og.zero_grad(set_to_none=True)
        loss.backward()
        og.step()
    return step


@loop("many small kernels", "large", "contrastive training augments the images on the device sample by sample (flip, shift, brightness for each of 96); one "
      "batched grid_sample and broadcast factors", steps=1)
def clip_contrastive(cause):
    tower, text = Classifier(classes=256, width=n(64, 4)).to(GPU, memory_format=torch.channels_last), LM(
        vocab=n(8000, 50), width=n(256, 16), heads=n(4, 2), layers=2).to(GPU)
    project = nn.Linear(text.width, 256).to(GPU)
    optimizer = adamw([*tower.parameters(), *text.parameters(), *project.parameters()])
    b, side = n(96, 4), n(128, 32)
    x, tokens = images(b, side), randint(text.vocab, b, n(32, 8))

    def augment_one(im):
        if torch.rand(()) < 0.5:
            im = im.flip(-1)
        im = torch.roll(im, (int(torch.randint(-8, 9, ())), int(torch.randint(-8, 9, ()))), (1, 2))
        im = im * (0.8 + 0.4 * float(torch.rand(())))
        return (im - im.mean((1, 2), keepdim=True)) / (im.std((1, 2), keepdim=True) + 1e-5)

    def augment(x):
        if cause:
            return torch.stack([augment_one(im) for im in x])  # @clip_contrastive
        theta = torch.zeros(b, 2, 3, device=GPU)
        theta[:, 0, 0] = torch.randint(0, 2, (b,), device=GPU) * 2.0 - 1
        theta[:, 1, 1] = 1
        theta[:, :, 2] = torch.rand(b, 2, device=GPU) * 0.2 - 0.1
        x = F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)
        x = x * (0.8 + 0.4 * torch.rand(b, 1, 1, 1, device=GPU))
        return (x - x.mean((2, 3), keepdim=True)) / (x.std((2, 3), keepdim=True) + 1e-5)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        views = augment(x)
        with amp():
            a = F.normalize(tower(views), dim=-1)
            c = F.normalize(project(text.hidden(tokens).mean(1)), dim=-1)
            logits = a @ c.t() / 0.07
            target = torch.arange(b, device=GPU)
            loss = F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)
        loss.backward()
        optimizer.step()
    return step


@loop("host Python", "large", "an acoustic model decodes greedily and computes the word error rate by Python's edit distance in each training step, with "
      "tolist() before; decode once in many steps", steps=2)
def speech_ctc(cause):
    import random
    b, t, vocab = n(32, 2), n(800, 64), 29
    conv = nn.Sequential(nn.Conv1d(80, n(512, 16), 5, 2, 2), nn.GELU(), nn.Conv1d(n(512, 16), n(512, 16), 5, 2, 2), nn.GELU()).to(GPU)
    rnn = nn.LSTM(n(512, 16), n(512, 16), 3, bidirectional=True, batch_first=True).to(GPU)
    head = nn.Linear(2 * n(512, 16), vocab).to(GPU)
    optimizer = adamw([*conv.parameters(), *rnn.parameters(), *head.parameters()])
    mel, target = randn(b, 80, t), torch.randint(1, vocab, (b, n(60, 8)), device=GPU)
    texts = [[random.randrange(1, vocab) for _ in range(target.shape[1])] for _ in range(b)]
    frames, labels = torch.full((b,), t // 4, dtype=torch.long), torch.full((b,), target.shape[1], dtype=torch.long)
    rates = []

    def edit_distance(a, c):
        row = list(range(len(c) + 1))
        for i, x in enumerate(a, 1):
            last, row[0] = row[0], i
            for j, y in enumerate(c, 1):
                cost, over, left = last + (x != y), row[j] + 1, row[j - 1] + 1
                cost = over if over < cost else cost
                last, row[j] = row[j], left if left < cost else cost
        return row[-1]

    def word_error_rate(logits):
        wrong = 0
        for ids, text in zip(logits.argmax(-1).tolist(), texts):
            said = [c for k, c in enumerate(ids) if c and (not k or ids[k - 1] != c)]
            wrong += edit_distance(text, said)
        return wrong / sum(map(len, texts))

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        with amp():
            h, _ = rnn(conv(mel).transpose(1, 2))
            logits = head(h)
        lp = logits.float().log_softmax(-1).transpose(0, 1)
        F.ctc_loss(lp, target, frames, labels, zero_infinity=True).backward()
        optimizer.step()
        if cause:
            rates.append(word_error_rate(logits))  # @speech_ctc
    return step


class ChannelNorm(nn.Module):
    def __init__(self, width, moved):
        super().__init__()
        self.norm, self.moved = nn.LayerNorm(width), moved

    def forward(self, x):
        if self.moved:
            return self.norm(x.permute(0, 2, 3, 1).contiguous()).permute(0, 3, 1, 2).contiguous()  # @convnext_finetune
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class NeXt(nn.Module):
    def __init__(self, width, moved):
        super().__init__()
        self.depth, self.norm = nn.Conv2d(width, width, 7, 1, 3, groups=width), ChannelNorm(width, moved)
        self.up, self.down = nn.Conv2d(width, 4 * width, 1), nn.Conv2d(4 * width, width, 1)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(self.depth(x)))))


@loop("device, copies", "medium", "a ConvNeXt in NCHW makes two contiguous copies around each LayerNorm; channels_last makes the permutes free")
def convnext_finetune(cause):
    form = torch.contiguous_format if cause else torch.channels_last
    w = n(96, 8)
    model = nn.Sequential(nn.Conv2d(3, w, 4, 4), *[NeXt(w, cause) for _ in range(3)], nn.Conv2d(w, 2 * w, 2, 2),
                          *[NeXt(2 * w, cause) for _ in range(n(6, 1))], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * w, 100))
    model = model.to(GPU, memory_format=form)
    optimizer, x, y = adamw(model.parameters()), images(n(64, 2), n(224, 32), form), randint(100, n(64, 2))
    return lambda _: fit(model, optimizer, lambda m, a, b: F.cross_entropy(m(a), b), x, y)


@loop("device, wasted precision", "medium", "a causal language model of 128k tokens makes its logits float() and takes log_softmax and gather of them: passes "
      "over gigabytes of fp32; F.cross_entropy on the bf16 logits of the head")
def llm_vocab(cause):
    model = LM(vocab=n(128256, 300), width=n(1024, 32), heads=n(16, 2), layers=n(3, 1)).to(GPU, BF16)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(4, 2), n(1024, 16))

    def loss_of(model, tokens):
        logits = model(tokens)
        if cause:
            logits = logits.float()  # @llm_vocab
            return -torch.log(logits.softmax(-1) + 1e-9).gather(2, tokens[..., None]).mean()
        return F.cross_entropy(logits.flatten(0, 1), tokens.flatten())

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        loss_of(model, tokens).backward()
        optimizer.step()
    return step


class LoRA(nn.Module):
    def __init__(self, base, rank=8):
        super().__init__()
        self.base, self.a, self.b = base, nn.Linear(base.in_features, rank, bias=False), nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.b.weight)

    def forward(self, x):
        return self.base(x) + self.b(self.a(x))


@loop("device, wasted work", "medium", "LoRA fine-tuning forgot to freeze the base weights: gradients and AdamW for all of them; requires_grad_(False) and only "
      "the adapters in the optimizer")
def lora_tune(cause):
    model = LM(width=n(1024, 32), heads=n(16, 2), layers=n(10, 2)).to(GPU, BF16)
    model.requires_grad_(cause)  # @lora_tune
    for layer in model.layers:
        layer.attention.qkv = LoRA(layer.attention.qkv).to(GPU, BF16)
        layer.attention.out = LoRA(layer.attention.out).to(GPU, BF16)
    optimizer, tokens = adamw([p for p in model.parameters() if p.requires_grad]), randint(model.vocab, n(8, 2), n(512, 16))

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        lm_loss(model, tokens).backward()
        optimizer.step()
    return step


@loop("device, attention", "medium", "a decoder is given its causal mask as a dense float tensor, for which scaled_dot_product_attention can't use flash; "
      "is_causal=True")
def longcontext(cause):
    model = LM(layers=n(4, 2), width=n(1024, 32), heads=n(16, 2)).to(GPU)
    t = n(4096, 32)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(2, 2), t)
    mask = torch.zeros(t, t, device=GPU, dtype=BF16).masked_fill(torch.ones(t, t, device=GPU, dtype=torch.bool).triu(1), float("-inf"))
    args = (mask,) if cause else ()  # @longcontext
    return lambda _: fit(model, optimizer, lambda m, x: lm_loss(m, x, *args), tokens)


@loop("device, wasted work", "large", "linear attention multiplies (Q K^T) V, quadratic in the length of 4096, although no softmax stands between; "
      "Q (K^T V)")
def linear_attention(cause):
    width, heads = n(512, 32), n(8, 2)

    class Linear(SelfAttention):
        def forward(self, x):
            b, t, w = x.shape
            q, k, v = self.qkv(x).view(b, t, 3, heads, w // heads).permute(2, 0, 3, 1, 4)
            q, k = F.elu(q) + 1, F.elu(k) + 1
            if cause:
                a = (q @ k.transpose(-1, -2)) @ v / t  # @linear_attention
            else:
                a = q @ (k.transpose(-1, -2) @ v) / t
            return self.out(a.transpose(1, 2).reshape(b, t, w))

    model = LM(vocab=n(4000, 50), width=width, layers=n(4, 2), attention=lambda: Linear(width, heads)).to(GPU)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(4, 2), n(4096, 32))
    return lambda _: fit(model, optimizer, lm_loss, tokens)


@loop("host and copies", "large", "each layer of a transformer builds its relative-position bias with numpy on the host and copies it to the device in "
      "each forward pass; register it once as a buffer")
def music_transformer(cause):
    np = imported("numpy")
    width, heads, t = n(512, 32), n(8, 2), n(1024, 16)

    def bias():
        at = np.arange(t)
        d = at[None, :] - at[:, None]
        return np.where(d > 0, -np.inf, -0.01 * np.abs(d)).astype(np.float32)

    class Biased(SelfAttention):
        def __init__(self):
            super().__init__(width, heads)
            self.register_buffer("bias", torch.from_numpy(bias()).to(BF16))

        def forward(self, x):
            mask = torch.from_numpy(bias()).to(GPU).to(BF16) if cause else self.bias  # @music_transformer
            return super().forward(x, mask)

    model = LM(vocab=n(4000, 50), width=width, heads=heads, layers=n(6, 2), attention=Biased).to(GPU)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(8, 2), t)
    return lambda _: fit(model, optimizer, lm_loss, tokens)


@loop("copies, small", "medium", "a recommender moves its batch of 80 features to the device one by one from pageable memory; pack them into one pinned tensor, "
      "copy once and split")
def wide_and_deep(cause):
    count, b, vocab = n(80, 6), n(2048, 16), n(20000, 50)
    tables, deep = nn.Embedding(vocab, 32).to(GPU), nn.Sequential(
        nn.Linear(32 * count, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1)).to(GPU)
    optimizer = adamw([*tables.parameters(), *deep.parameters()])
    batch = {"feature_%d" % i: torch.randint(0, vocab, (b,)) for i in range(count)}
    packed = torch.stack(list(batch.values()))
    packed = packed if CPU else packed.pin_memory()
    y = randint(2, b).float()

    def to_device():
        if cause:
            moved = {k: v.to(GPU) for k, v in batch.items()}  # @wide_and_deep
            return torch.stack(list(moved.values()))
        return packed.to(GPU, non_blocking=True)

    def step(_):
        ids = to_device()
        optimizer.zero_grad(set_to_none=True)
        F.binary_cross_entropy_with_logits(deep(tables(ids.t()).flatten(1)).squeeze(1), y).backward()
        optimizer.step()
    return step


@loop("device, wasted work", "medium", "torch.use_deterministic_algorithms makes scatter_add and index_add of a mesh network sort and serialise; leave it to "
      "tests", steps=2)
def mesh_gnn(cause):
    torch.use_deterministic_algorithms(cause, warn_only=True)  # @mesh_gnn
    nodes, edges, w = n(20000, 50), n(160000, 200), n(128, 8)
    src, dst = randint(nodes, edges), randint(nodes, edges)
    mlps = nn.ModuleList(nn.Sequential(nn.Linear(2 * w, w), nn.ReLU(), nn.Linear(w, w)) for _ in range(4)).to(GPU)
    optimizer, x0, y = adamw(mlps.parameters()), randn(nodes, w), randn(nodes, w)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        x = x0
        for m in mlps:
            message = m(torch.cat((x.index_select(0, src), x.index_select(0, dst)), 1))
            x = x + torch.zeros_like(x).index_add(0, dst, message)
        F.mse_loss(x, y).backward()
        optimizer.step()
    return step


@loop("device, wasted work", "medium", "GCNConv normalises the same static graph again in each forward pass of each layer (self loops, degrees, scatter); cached=True", steps=2)
def citation_gcn(cause):
    geo = imported("torch_geometric.nn")
    nodes, edges, w = 60000, 1000000, 64
    convs = nn.ModuleList(geo.GCNConv(w, w, cached=not cause) for _ in range(3)).to(GPU)  # @citation_gcn
    optimizer, x, y = adamw(convs.parameters()), randn(nodes, w), randint(w, nodes)
    edge_index = torch.stack((randint(nodes, edges), randint(nodes, edges)))

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        h = x
        for c in convs:
            h = F.relu(c(h, edge_index))
        F.cross_entropy(h, y).backward()
        optimizer.step()
    return step


@loop("sync and logging", "large", "histograms of all weights and gradients are taken and copied to the host in each step for a dashboard; log them once in hundreds "
      "of steps", steps=1)
def audio_classifier(cause):
    model = Classifier(classes=50, width=n(48, 4)).to(GPU, memory_format=torch.channels_last)
    optimizer, x, y = adamw(model.parameters()), images(n(32, 2), n(128, 32)), randint(50, n(32, 2))
    dashboard = {}

    def log_histograms():
        for name, p in model.named_parameters():
            dashboard["weights/" + name] = torch.histc(p.detach().float(), 64).cpu().numpy()  # @audio_classifier
            dashboard["gradients/" + name] = torch.histc(p.grad.float(), 64).cpu().numpy()

    def step(_):
        fit(model, optimizer, lambda m, a, b: F.cross_entropy(m(a), b), x, y)
        if cause:
            log_histograms()
    return step


@loop("device, extra kernels", "large", "forward hooks on every module of a ResNet compute mean, deviation, extrema and the share of zeros of each activation, in each step; "
      "attach them for a few steps only", steps=1)
def resnet_monitor(cause):
    model = Classifier(width=64, blocks=n((3, 4, 6, 3), (1, 1))).to(GPU, memory_format=torch.channels_last)
    stats = {}

    def watch(name):
        def hook(_, __, out):
            a = out.detach().float()
            stats[name] = torch.stack((a.mean(), a.std(), a.amin(), a.amax(), (a == 0).float().mean()))  # @resnet_monitor
        return hook
    if cause:
        for name, m in model.named_modules():
            if not list(m.children()):
                m.register_forward_hook(watch(name))
    optimizer, x, y = adamw(model.parameters()), images(n(64, 2), n(192, 32)), randint(100, n(64, 2))
    return lambda _: fit(model, optimizer, lambda m, a, b: F.cross_entropy(m(a), b), x, y)


@loop("GIL", "large", "a background thread serialises metrics with json.dumps, C code that holds the GIL, so that the training loop's launches wait for it; "
      "write from another process, or seldom", steps=2)
def experiment_tracker(cause):
    model = LM(layers=n(8, 2), width=n(256, 32), heads=n(4, 2), vocab=n(2000, 50)).to(GPU)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(8, 2), n(128, 16))
    records = [{"name": "metric/%d" % i, "values": [j * 0.37 for j in range(50)]} for i in range(300)]
    enabled = [cause]
    LOOPS_STOP.append(enabled)

    def upload():
        while enabled[0]:
            json.dumps(records)  # @experiment_tracker
            time.sleep(0.01)
    if cause:
        threading.Thread(target=upload, daemon=True, name="tracker").start()
    return lambda _: fit(model, optimizer, lm_loss, tokens)


@loop("data, one thread", "large", "a thread that augments in Python fills a queue of one batch, slower than the device takes them; more workers, as processes, or "
      "batched work", steps=3)
def thread_loader(cause):
    np = imported("numpy")
    model = Classifier(width=n(64, 4)).to(GPU, memory_format=torch.channels_last)
    b, side = n(32, 2), n(128, 32)
    optimizer, y = adamw(model.parameters()), randint(100, b)
    store = np.random.randint(0, 255, (256, side + 16, side + 16, 3), dtype=np.uint8)
    batches = queue.Queue(1 if cause else 8)
    ready = torch.rand(b, 3, side, side).to(memory_format=torch.channels_last)
    ready = ready if CPU else ready.pin_memory()

    def produce():
        rng = np.random.default_rng(0)
        while True:
            out = []
            for i in rng.integers(0, 256, b):
                r, c = rng.integers(0, 16, 2)
                im = store[i, r:r + side, c:c + side].astype(np.float64) / 255
                im = np.clip((im - im.mean()) * rng.uniform(0.8, 1.2) + rng.normal(0, 0.02, im.shape) + 0.5, 0, 1)  # @thread_loader
                out.append(im.transpose(2, 0, 1).astype(np.float32))
            batches.put(torch.from_numpy(np.stack(out)))
    if cause:
        threading.Thread(target=produce, daemon=True, name="producer").start()

    def step(_):
        x = batches.get() if cause else ready
        x = x.to(GPU, memory_format=torch.channels_last, non_blocking=True)
        fit(model, optimizer, lambda m, a, c: F.cross_entropy(m(a), c), x, y)
    return step


class Clips(torch.utils.data.Dataset):
    def __init__(self, floats):
        self.floats = floats
        self.clip = torch.randint(0, 255, (3, n(16, 4), n(112, 16), n(112, 16)), dtype=torch.uint8)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        return (self.clip.float() / 255 if self.floats else self.clip), i % 50


@loop("copies", "medium", "a video loader makes clips float in its workers and does not pin: four times the bytes through shared memory and a pageable copy that waits; "
      "send uint8 from pinned memory and convert on the device")
def video_train(cause):
    w = n(32, 4)
    model = nn.Sequential(nn.Conv3d(3, w, 3, (1, 2, 2), 1), nn.BatchNorm3d(w), nn.ReLU(), nn.Conv3d(w, 2 * w, 3, 2, 1), nn.BatchNorm3d(2 * w), nn.ReLU(),
                          nn.Conv3d(2 * w, 4 * w, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(4 * w, 50)).to(GPU)
    optimizer = adamw(model.parameters())
    batches = iter(torch.utils.data.DataLoader(Clips(cause), batch_size=n(room(48, 2, 6), 2), num_workers=n(8, 1), pin_memory=not cause and not CPU))

    def step(_):
        x, y = next(batches)
        if cause:
            x, y = x.to(GPU), y.to(GPU)  # @video_train
        else:
            x, y = x.to(GPU, non_blocking=True).float() / 255, y.to(GPU, non_blocking=True)
        fit(model, optimizer, lambda m, a, c: F.cross_entropy(m(a), c), x, y)
    return step


@loop("small work", "large", "gradients are accumulated over 8 micro-batches of 2 rows although all 16 fit into memory many times: the host is the bound; one batch of 16", steps=1)
def instruct_accumulate(cause):
    model = LM(layers=n(8, 2), width=n(512, 32), heads=n(8, 2)).to(GPU)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, 16, n(128, 16))
    micro = 8 if cause else 1

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        for part in tokens.chunk(micro):  # @instruct_accumulate
            with amp():
                loss = lm_loss(model, part) / micro
            loss.backward()
        optimizer.step()
    return step


@loop("many small kernels", "large", "a selective state-space layer scans its 96 time steps in a Python loop; a parallel scan by doubling (or a fused kernel)", steps=1)
def mamba_like(cause):
    width, t, b, state = n(256, 8), n(96, 8), n(16, 2), n(16, 4)

    class Scan(nn.Module):
        def __init__(self):
            super().__init__()
            self.project, self.out = nn.Linear(width, width + 2 * state), nn.Linear(width, width)
            self.decay = nn.Parameter(torch.rand(width, state))

        def forward(self, x):
            dt, bb, cc = self.project(x).split((width, state, state), -1)
            dt = F.softplus(dt)[..., None]
            a, u = torch.exp(-dt * self.decay), dt * bb[:, :, None] * x[..., None]
            if cause:
                h, hs = torch.zeros_like(u[:, 0]), []
                for k in range(t):
                    h = a[:, k] * h + u[:, k]  # @mamba_like
                    hs.append((h * cc[:, k, None]).sum(-1))
                return self.out(torch.stack(hs, 1))
            d = 1
            while d < t:
                u = torch.cat((u[:, :d], u[:, d:] + a[:, d:] * u[:, :-d]), 1)
                a = torch.cat((a[:, :d], a[:, d:] * a[:, :-d]), 1)
                d *= 2
            return self.out((u * cc[:, :, None]).sum(-1))

    model = LM(vocab=n(4000, 50), width=width, layers=2, attention=Scan).to(GPU)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, b, t)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        lm_loss(model, tokens).backward()
        optimizer.step()
    return step


@loop("sync", "large", "metric learning mines the hardest triplets in a Python loop over the batch with boolean masks and item(); masked min and max of the whole distance matrix", steps=1)
def face_triplets(cause):
    model = Classifier(classes=128, width=n(64, 4)).to(GPU, memory_format=torch.channels_last)
    b = n(64, 8)
    optimizer, x, who = adamw(model.parameters()), images(b, n(112, 32)), torch.arange(b, device=GPU) // 4

    def mine(d):
        same = who[:, None] == who
        if cause:
            losses = []
            for i in range(b):
                p, q = d[i][same[i]].max(), d[i][~same[i]].min()
                if (p - q + 0.2).item() > 0:  # @face_triplets
                    losses.append(p - q + 0.2)
            return torch.stack(losses).mean() if losses else d.sum() * 0
        return F.relu((d * same).amax(1) - (d + same * 1e4).amin(1) + 0.2).mean()

    def loss_of(model, x):
        e = F.normalize(model(x).float(), dim=-1)
        return mine((2 - 2 * e @ e.t()).clamp(min=1e-6).sqrt())
    return lambda _: fit(model, optimizer, loss_of, x)


@loop("device, bandwidth", "large", "a VQ-VAE finds the nearest codes by a broadcast difference of shape (positions, codes, width), gigabytes each step; the expansion by a matrix product")
def vq_vae(cause):
    w, codes, dim = n(128, 8), n(1024, 16), 64
    enc = nn.Sequential(Conv(3, w, 4, 2), Conv(w, w, 4, 2), nn.Conv2d(w, dim, 1)).to(GPU, memory_format=torch.channels_last)
    dec = nn.Sequential(nn.ConvTranspose2d(dim, w, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(w, 3, 4, 2, 1)).to(GPU, memory_format=torch.channels_last)
    book = nn.Embedding(codes, dim).to(GPU)
    optimizer, x = adamw([*enc.parameters(), *dec.parameters(), *book.parameters()]), images(n(16, 2), n(128, 32))

    def nearest(z):
        if cause:
            return (z[:, None] - book.weight[None]).pow(2).sum(-1).argmin(-1)  # @vq_vae
        return (book.weight.pow(2).sum(-1) - 2 * z @ book.weight.t()).argmin(-1)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        with amp():
            z = enc(x)
        flat = z.float().permute(0, 2, 3, 1).flatten(0, 2)
        with torch.no_grad():
            idx = nearest(flat)
        q = book(idx)
        st = (flat + (q - flat).detach()).view(z.shape[0], z.shape[2], z.shape[3], dim).permute(0, 3, 1, 2)
        with amp():
            y = dec(st)
        loss = F.mse_loss(y.float()[..., :x.shape[2], :x.shape[3]], x[..., :y.shape[2], :y.shape[3]])
        (loss + F.mse_loss(q, flat.detach()) + 0.25 * F.mse_loss(flat, q.detach())).backward()
        optimizer.step()
    return step


@loop("device, wasted precision", "medium", "the Newton-Schulz iteration of a Muon optimizer runs in float64 and matrix by matrix; in bf16 with matrices of one shape stacked", steps=2)
def muon_pretrain(cause):
    model = LM(layers=n(6, 2), width=n(512, 32), heads=n(8, 2), vocab=n(4000, 50)).to(GPU)
    mats = [p for p in model.layers.parameters() if p.dim() == 2]
    inside = set(map(id, mats))
    rest, tokens = adamw([p for p in model.parameters() if id(p) not in inside]), randint(model.vocab, n(8, 2), n(256, 16))
    shapes = {}
    for p in mats:
        shapes.setdefault(tuple(p.shape), []).append(p)

    def orthogonal(g):
        g = g.double() if cause else g.to(BF16)  # @muon_pretrain
        turned = g.shape[-2] > g.shape[-1]
        g = g.mT if turned else g
        g = g / (g.norm(dim=(-2, -1), keepdim=True) + 1e-7)
        for _ in range(5):
            s = g @ g.mT
            g = 3.4445 * g + (-4.7750 * s + 2.0315 * s @ s) @ g
        return g.mT if turned else g

    def step(_):
        model.zero_grad(set_to_none=True)
        with amp():
            loss = lm_loss(model, tokens)
        loss.backward()
        rest.step()
        with torch.no_grad():
            for same in shapes.values():
                if cause:
                    for p in same:
                        p.add_(orthogonal(p.grad).to(p.dtype), alpha=-0.01)
                else:
                    torch._foreach_add_(same, list(orthogonal(torch.stack([p.grad for p in same])).to(p_dtype(same)).unbind(0)), alpha=-0.01)
    return step


def p_dtype(ps):
    return ps[0].dtype


@loop("round trip to the host", "medium", "segmentation copies predictions and labels to the host in each step and makes a confusion matrix with numpy; torch.bincount on the device")
def segmentation(cause):
    np = imported("numpy")
    classes, b, side = 21, n(16, 2), n(256, 32)
    model = UNet(outputs=classes, width=n(32, 8)).to(GPU, memory_format=torch.channels_last)
    optimizer, x, y = adamw(model.parameters()), images(b, side), randint(classes, b, side, side)
    total = np.zeros((classes, classes), dtype=np.int64)
    seen = torch.zeros(classes * classes, device=GPU)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        with amp():
            out = model(x)
            loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        guess = out.argmax(1)
        if cause:
            p, t = guess.cpu().numpy().ravel(), y.cpu().numpy().ravel()  # @segmentation
            total[:] += np.bincount(t * classes + p, minlength=classes * classes).reshape(classes, classes)
        else:
            seen.scatter_add_(0, (y * classes + guess).flatten(), torch.ones((), device=GPU).expand(y.numel()))
    return step


@loop("round trip to the host", "large", "data consistency of an MRI reconstruction takes its Fourier transforms with numpy on the host, a round trip in each cascade; torch.fft")
def mri_recon(cause):
    np = imported("numpy")
    b, side = n(8, 2), n(256, 32)
    nets = nn.ModuleList(nn.Sequential(Conv(2, n(64, 4)), Conv(n(64, 4), n(64, 4)), nn.Conv2d(n(64, 4), 2, 3, 1, 1)) for _ in range(4)).to(GPU).eval()
    x, mask = randn(b, 2, side, side), torch.rand(side, side) < 0.3
    on_device, on_host = mask.to(GPU), mask.numpy()
    k0 = torch.fft.fft2(torch.complex(x[:, 0], x[:, 1]))
    k0_host = k0.cpu().numpy()

    def consistent(x):
        if cause:
            c = x.float().cpu().numpy()  # @mri_recon
            k = np.fft.fft2(c[:, 0] + 1j * c[:, 1])
            im = np.fft.ifft2(np.where(on_host, k0_host, k))
            return torch.from_numpy(np.stack((im.real, im.imag), 1).astype(np.float32)).to(GPU)
        c = torch.fft.fft2(torch.complex(x[:, 0].float(), x[:, 1].float()))
        im = torch.fft.ifft2(torch.where(on_device, k0, c))
        return torch.stack((im.real, im.imag), 1)

    @torch.no_grad()
    def step(_):
        h = x
        for net in nets:
            with amp():
                h = h + net(h)
            h = consistent(h)
        return h
    return step


@loop("many small kernels", "large", "a radiance field is rendered in chunks of 512 points, each a launch-bound pass of the network; chunks of 65536", steps=1)
def nerf_render(cause):
    w = n(256, 16)
    net = nn.Sequential(nn.Linear(63, w), nn.ReLU(), *[m for _ in range(6) for m in (nn.Linear(w, w), nn.ReLU())], nn.Linear(w, 4)).to(GPU, BF16)
    rays, samples = n(1024, 16), 64
    points = randn(rays * samples, 3)

    def encode(p):
        f = p[:, :, None] * (2.0 ** torch.arange(10, device=GPU))
        return torch.cat((p, f.sin().flatten(1), f.cos().flatten(1)), 1).to(BF16)

    @torch.no_grad()
    def step(_):
        chunk = 512 if cause else 65536
        raw = torch.cat([net(encode(p)) for p in points.split(chunk)])  # @nerf_render
        raw = raw.float().view(rays, samples, 4)
        a = 1 - torch.exp(-F.relu(raw[..., 3]) * 0.02)
        weight = a * torch.cumprod(torch.cat((torch.ones_like(a[:, :1]), 1 - a[:, :-1]), 1), 1)
        return (weight[..., None] * raw[..., :3].sigmoid()).sum(1)
    return step


@loop("compile, graph breaks", "medium", "each layer of a compiled model reads its activation's maximum with item() for a debug list: a graph break and a wait in each layer; "
      "leave it away", limit=45)
def compiled_debug(cause):
    width = n(512, 32)
    peaks = []

    class Watched(SelfAttention):
        def forward(self, x):
            if cause:
                peaks.append(x.detach().abs().max().item())  # @compiled_debug
                del peaks[:-4]
            return super().forward(x)

    model = LM(vocab=n(4000, 50), width=width, layers=n(4, 2), attention=lambda: Watched(width, n(8, 2))).to(GPU)
    run = model if CPU else torch.compile(model)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(8, 2), n(256, 16))
    return lambda _: fit(run, optimizer, lm_loss, tokens)


@loop("device, precision", "small", "a mel-spectrogram loss multiplies in float64, as the filter bank came from numpy; make the bank float32")
def audio_mel(cause):
    np = imported("numpy")
    w, b, t = n(64, 4), n(32, 2), n(32768, 2048)
    net = nn.Sequential(nn.Conv1d(1, w, 15, 1, 7), nn.GELU(), *[m for _ in range(3) for m in (nn.Conv1d(w, w, 15, 1, 7), nn.GELU())], nn.Conv1d(w, 1, 15, 1, 7)).to(GPU)
    bank = torch.from_numpy(np.abs(np.random.rand(513, 80))).to(GPU)
    window = torch.hann_window(1024, device=GPU)
    optimizer, noisy, clean = adamw(net.parameters()), randn(b, 1, t), randn(b, 1, t)
    bank = bank if cause else bank.float()

    def mel(x):
        s = torch.stft(x.float().squeeze(1), 1024, 256, window=window, return_complex=True).abs().transpose(1, 2)
        return torch.log(s.to(bank.dtype) @ bank + 1e-5)  # @audio_mel
    target = mel(clean)
    return lambda _: fit(net, optimizer, lambda m, x: (mel(m(x)) - target).abs().mean(), noisy)


@loop("many small kernels", "medium", "rotary position tables (outer product, cosine, sine, concatenation) are made again in each layer for q and k, in fp32; make them once and keep them", steps=2)
def rope_llm(cause):
    width, heads, t = n(512, 32), n(8, 2), n(512, 16)
    size = width // heads

    def tables():
        f = torch.outer(torch.arange(t, device=GPU).float(), 10000.0 ** (-torch.arange(0, size, 2, device=GPU).float() / size))
        f = torch.cat((f, f), -1)
        return f.cos(), f.sin()
    kept = tuple(x.to(BF16) for x in tables())

    def rotate(x):
        c, s = tables() if cause else kept  # @rope_llm
        a, b = x.chunk(2, -1)
        return (x * c + torch.cat((-b, a), -1) * s).to(x.dtype)

    class Rotary(SelfAttention):
        def forward(self, x):
            b, _, w = x.shape
            q, k, v = self.qkv(x).view(b, t, 3, heads, size).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
            return self.out(a.transpose(1, 2).reshape(b, t, w))

    model = LM(vocab=n(8000, 50), width=width, heads=heads, layers=n(8, 2), attention=lambda: Rotary(width, heads)).to(GPU)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(4, 2), t)
    return lambda _: fit(model, optimizer, lm_loss, tokens)


# --- inference and evaluation ---

@loop("many small kernels", "large", "a detector's non-maximum suppression is a Python loop over boxes on the device with item(); torchvision.ops.nms", steps=1)
def detector(cause):
    ops = None if cause and CPU else imported("torchvision.ops")
    net, width = backbone(width=n(64, 4))
    net = net.to(GPU, memory_format=torch.channels_last).eval()
    head = nn.Conv2d(width, 5 * n(4, 1), 1).to(GPU)
    x = images(n(8, 1), n(512, 64))

    def suppress(boxes, scores):
        order, keep = scores.argsort(descending=True), []
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        while order.numel() and len(keep) < n(30, 3):
            i = order[0].item()  # @detector
            keep.append(i)
            lt, rb = torch.maximum(boxes[i, :2], boxes[order, :2]), torch.minimum(boxes[i, 2:], boxes[order, 2:])
            both = (rb - lt).clamp(min=0).prod(1)
            order = order[both / (area[i] + area[order] - both) < 0.5]
        return keep

    @torch.no_grad()
    def step(_):
        with amp():
            out = head(net(x)).float()
        for o in out:
            o = o.view(-1, 5, o.shape[1] * o.shape[2]).transpose(1, 2).flatten(0, 1)
            at = o[:, :2].sigmoid() * 500
            boxes = torch.cat((at, at + 20 + 60 * o[:, 2:4].sigmoid()), 1)
            scores, idx = o[:, 4].topk(min(400, o.shape[0]))
            boxes = boxes[idx]
            found = suppress(boxes, scores) if cause else ops.nms(boxes, scores, 0.5)[:30]
    return step


@loop("device, wasted work", "large", "texts are padded to 512 tokens for a classifier of a library although they have 40 to 120; pad to the batch's longest")
def bert_classify(cause):
    tr = imported("transformers")
    with on_device():
        model = tr.BertForSequenceClassification(tr.BertConfig(num_hidden_layers=12)).to(GPU, BF16).eval()
    lengths = torch.randint(40, 121, (32,))
    t = 512 if cause else int(lengths.max())  # @bert_classify
    ids, mask = torch.randint(1, 30000, (32, t)).to(GPU), (torch.arange(t)[None] < lengths[:, None]).long().to(GPU)

    @torch.no_grad()
    def step(_):
        return model(input_ids=ids, attention_mask=mask).logits.argmax(-1)
    return step


@loop("device, wasted work", "large", "a library's generate() runs with use_cache=False: the prompt of 768 tokens is computed again for each new token; use_cache=True", steps=1)
def gpt2_complete(cause):
    tr = imported("transformers")
    with on_device():
        model = tr.GPT2LMHeadModel(tr.GPT2Config(n_layer=8)).to(GPU, BF16).eval()
    ids = torch.randint(0, 50000, (16, 768), device=GPU)
    mask = torch.ones_like(ids)

    def step(_):
        return model.generate(ids, attention_mask=mask, max_new_tokens=6, min_new_tokens=6, do_sample=False, pad_token_id=0,
                              use_cache=not cause)  # @gpt2_complete
    return step


@loop("device, wasted work", "large", "top-p sampling sorts all 128k logits of 64 rows and scatters them back, softmax and cumsum in fp32, for each token; take the top 200 first")
def llm_sample(cause):
    model = LM(vocab=n(128256, 300), width=n(768, 32), layers=n(4, 2)).to(GPU, BF16).eval()
    tokens = randint(model.vocab, n(64, 2), 16)

    def sample(logits, p=0.9):
        if not cause:
            top, idx = logits.topk(min(200, logits.shape[-1]))
            q = top.float().softmax(-1)
            q = q * (q.cumsum(-1) - q < p)
            return idx.gather(1, torch.multinomial(q, 1))
        sorted_logits, idx = torch.sort(logits.float(), descending=True)  # @llm_sample
        q = sorted_logits.softmax(-1)
        remove = (q.cumsum(-1) - q > p)
        remove = torch.zeros_like(remove).scatter(1, idx, remove)
        return torch.multinomial(logits.float().masked_fill(remove, float("-inf")).softmax(-1), 1)

    @torch.no_grad()
    def step(_):
        x = tokens
        for _ in range(2):
            new = sample(model.head(model.hidden(x)[:, -1]))
            x = torch.cat((x[:, 1:], new), 1)
        return x
    return step


@loop("round trip to the host", "large", "beam search moves the logits of all beams to the host for log_softmax and topk there; keep them on the device")
def beam_search(cause):
    model = LM(vocab=n(32000, 100), width=n(512, 32), heads=n(8, 2), layers=n(6, 2)).to(GPU, BF16).eval()
    b, beams, start = n(16, 2), 4, randint(n(32000, 100), n(16, 2) * 4, 32)

    @torch.no_grad()
    def step(_):
        x, score = start, torch.zeros(b, beams, device="cpu" if cause else GPU)
        for _ in range(2):
            logits = model.head(model.hidden(x)[:, -1])
            if cause:
                logits = logits.float().cpu()  # @beam_search
            lp = logits.float().log_softmax(-1).view(b, beams, -1) + score[..., None]
            score, at = lp.flatten(1).topk(beams)
            row = (torch.div(at, model.vocab, rounding_mode="floor") + torch.arange(b, device=at.device)[:, None] * beams).flatten().to(GPU)
            x = torch.cat((x[row][:, 1:], (at % model.vocab).flatten()[:, None].to(GPU)), 1)
        return x
    return step


@loop("device, wasted copies", "large", "inference under autocast over fp32 weights: each forward pass casts all weights to bf16 again, for a batch of 4 short texts; model.to(bfloat16) once")
def embed_service(cause):
    model = LM(width=n(1536, 32), heads=n(16, 2), layers=n(12, 2), causal=False).to(GPU).eval()
    if not cause:
        model = model.to(BF16)
    tokens = randint(model.vocab, 4, n(64, 16))

    @torch.no_grad()
    def step(_):
        with amp() if cause else contextlib.nullcontext():  # @embed_service
            return F.normalize(model.hidden(tokens).mean(1).float(), dim=-1)
    return step


@loop("waiting", "large", "a server's batcher sleeps until its window of 10 ms is over although the batch is full already; leave as soon as the batch is full")
def rerank_server(cause):
    model = LM(width=n(768, 32), layers=n(6, 2), causal=False).to(GPU, BF16).eval()
    requests, many = queue.Queue(), n(16, 2)
    texts = [torch.randint(0, model.vocab, (n(128, 16),)).tolist() for _ in range(many)]

    def gather_batch(window=0.010):
        batch, until = [], time.perf_counter() + window
        while len(batch) < many:
            batch.append(requests.get())
        if cause:
            while time.perf_counter() < until:
                time.sleep(0.001)  # @rerank_server
        return batch

    @torch.no_grad()
    def step(_):
        for t in texts:
            requests.put(t)
        x = torch.tensor(gather_batch()).to(GPU)
        return model.hidden(x).mean((1, 2)).cpu()
    return step


@loop("small work", "large", "a reinforcement-learning rollout asks the policy for one environment at a time and reads each action; one call for all 32 environments", steps=2)
def rl_rollout(cause):
    np = imported("numpy")
    envs, obs_size, acts = n(32, 4), 24, 4
    policy = nn.Sequential(nn.Linear(obs_size, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, acts)).to(GPU)
    obs = np.random.randn(envs, obs_size).astype(np.float32)
    rng = np.random.default_rng(0)
    turn = rng.normal(size=(acts, obs_size)).astype(np.float32) * 0.05

    def environment(o, a):
        o = o * 0.99 + turn[a]
        return o, float(-np.square(o).sum())

    def act(o):
        p = policy(torch.from_numpy(o).to(GPU)).softmax(-1)
        return torch.multinomial(p, 1)

    @torch.no_grad()
    def step(_):
        if cause:
            actions = [act(obs[e:e + 1]).item() for e in range(envs)]  # @rl_rollout
        else:
            actions = act(obs).flatten().tolist()
        for e, a in enumerate(actions):
            obs[e], _ = environment(obs[e], a)
    return step


@loop("validation", "large", "a whole validation pass over four batches runs after each training step; validate once an epoch", steps=2)
def finetune_validate(cause):
    model = Classifier(width=n(64, 4)).to(GPU, memory_format=torch.channels_last)
    optimizer, x, y = adamw(model.parameters()), images(n(64, 2), n(160, 32)), randint(100, n(64, 2))
    held = [(images(n(64, 2), n(160, 32)), randint(100, n(64, 2))) for _ in range(4)]
    best = [0.0]

    def validate():
        model.eval()
        right = 0
        with torch.no_grad(), amp():
            for a, b in held:
                right += (model(a).argmax(-1) == b).sum().item()  # @finetune_validate
        model.train()
        return right

    def step(_):
        fit(model, optimizer, lambda m, a, b: F.cross_entropy(m(a), b), x, y)
        if cause:
            best[0] = max(best[0], validate())
    return step


# --- healthy ---

def healthy(steps=3, limit=25):
    return loop("healthy", "none", "healthy", steps, limit)


@healthy()
def ok_gpt_train(_):
    model = LM(layers=n(6, 2), width=n(1024, 32), heads=n(16, 2)).to(GPU)
    optimizer, tokens = adamw(model.parameters()), randint(model.vocab, n(16, 2), n(1024, 16))
    return lambda _: fit(model, optimizer, lm_loss, tokens)


@healthy(limit=45)
def ok_compiled(_):
    model = LM(layers=n(4, 2), width=n(512, 32), heads=n(8, 2), vocab=n(8000, 50)).to(GPU)
    run = model if CPU else torch.compile(model, mode="reduce-overhead")
    optimizer, tokens = adamw(model.parameters(), fused=True), randint(model.vocab, n(16, 2), n(512, 16))
    return lambda _: fit(run, optimizer, lm_loss, tokens)


@healthy()
def ok_decode_graph(_):
    model = LM(layers=n(16, 2), width=n(2048, 32), heads=n(16, 2)).to(GPU, BF16).eval()
    tokens = randint(model.vocab, n(32, 2), 1)

    def run():
        with torch.no_grad():
            tokens.copy_(model(tokens).argmax(-1))
    if CPU:
        return lambda _: run()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()

    def step(_):
        for _ in range(4):
            graph.replay()
    return step


class Ready(torch.utils.data.Dataset):
    def __init__(self):
        self.image = torch.randint(0, 255, (3, n(192, 32), n(192, 32)), dtype=torch.uint8)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        return self.image.flip(-1) if i % 2 else self.image, i % 100


@healthy()
def ok_resnet_loader(_):
    model = Classifier(blocks=n((3, 4, 6, 3), (1, 1)), width=n(96, 8)).to(GPU, memory_format=torch.channels_last)
    optimizer = adamw(model.parameters())
    batches = iter(torch.utils.data.DataLoader(Ready(), batch_size=n(room(128, 16, 1), 2), num_workers=n(8, 1), pin_memory=not CPU, prefetch_factor=4))

    def step(_):
        x, y = next(batches)
        x = x.to(GPU, non_blocking=True).to(memory_format=torch.channels_last).float() / 255
        fit(model, optimizer, lambda m, a, b: F.cross_entropy(m(a), b), x, y.to(GPU, non_blocking=True))
    return step


@healthy()
def ok_vit_infer(_):
    timm = imported("timm")
    model = timm.create_model("vit_base_patch16_224").to(GPU, BF16).eval()
    x = randn(128, 3, 224, 224, dtype=BF16)

    @torch.inference_mode()
    def step(_):
        return model(x).argmax(-1)
    return step


@healthy()
def ok_mlp_wide(_):
    w = n(8192, 32)
    with on_device():
        model = nn.Sequential(*[m for _ in range(3) for m in (nn.Linear(w, w), nn.ReLU())]).to(GPU, BF16)
    optimizer, x = torch.optim.SGD(model.parameters(), lr=1e-3), randn(n(8192, 4), w, dtype=BF16)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        model(x).square().mean().backward()
        optimizer.step()
    return step


@healthy()
def ok_diffusion(_):
    model = UNet(width=n(96, 8)).to(GPU, memory_format=torch.channels_last)
    optimizer, x, t = adamw(model.parameters()), images(n(64, 2), n(64, 16)), randint(1000, n(64, 2))
    return lambda _: fit(model, optimizer, lambda m, a: F.mse_loss(m(a, t).float(), a), x)


@healthy()
def ok_llama_prefill(_):
    tr = imported("transformers")
    cfg = tr.LlamaConfig(vocab_size=32000, hidden_size=2048, intermediate_size=5632, num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=4)
    with on_device():
        model = tr.LlamaForCausalLM(cfg).to(GPU, BF16).eval()
    ids = torch.randint(0, 32000, (8, 2048), device=GPU)

    @torch.inference_mode()
    def step(_):
        return model(input_ids=ids, use_cache=False, logits_to_keep=1).logits.argmax(-1)
    return step


# --- the harness ---


FORM_LIMIT, STACKS_LIMIT = 700_000, 1_500_000


def idle():
    if not CPU:
        torch.cuda.synchronize()


def timed(step, i):
    idle()
    t = time.perf_counter()
    step(i)
    idle()
    return time.perf_counter() - t


def seconds(step):
    """Seconds a step, the profiler off: the median of three groups of steps that follow each other without a wait."""
    first = [timed(step, i) for i in range(3)]
    if first[-1] < 0.2:
        first += [timed(step, i) for i in range(3, 6)]
    group = int(max(3, min(20, 0.33 / first[-1])))
    out = []
    for _ in range(3):
        idle()
        t = time.perf_counter()
        for i in range(group):
            step(i)
        idle()
        out.append((time.perf_counter() - t) / group)
    return round(statistics.median(out), 7)


def record(step, path, steps, slow, stacks=False):
    """Records a loop, and returns the seconds a step that it took under the profiler and the file's size."""
    from torch.profiler import ProfilerActivity, profile, schedule
    activities = [ProfilerActivity.CPU] + ([] if CPU else [ProfilerActivity.CUDA])
    raw, took, wait = path + ".json", 0, 1 if slow else 4
    with profile(activities=activities, schedule=schedule(wait=wait, warmup=2, active=steps, repeat=1), record_shapes=True, with_stack=stacks,
                 on_trace_ready=lambda p: p.export_chrome_trace(raw)) as prof:
        for i in range(wait + 2 + steps):
            if i == wait + 2:
                idle()
                t = time.perf_counter()
            step(i)
            if i == wait + 1 + steps:
                idle()
                took = round((time.perf_counter() - t) / steps, 7)
            prof.step()
    with open(raw, "rb") as src, gzip.GzipFile(raw + ".gz", "wb", 6, mtime=0) as dst:
        shutil.copyfileobj(src, dst)
    os.remove(raw)
    return took, os.path.getsize(raw + ".gz")


def fewer(steps, size, limit):
    """So many steps that the file keeps its limit, by the size of a file of more; 0 if no number would."""
    return min(steps - 1, int(steps * limit / size))


def one(name, out, said, save):
    torch.manual_seed(0)
    base, steps = os.path.join(out, name), FACTS[name]["steps"]
    step = LOOPS[name](True)
    said["with"] = seconds(step)
    save()
    slow = said["with"] > 0.1
    said["recorded"], size = record(step, base, steps, slow)
    if size > FORM_LIMIT and steps > 1:
        steps = max(1, fewer(steps, size, FORM_LIMIT))
        said["recorded"], size = record(step, base, steps, slow)
    said["steps"], said["bytes"] = steps, size
    save()
    said["recorded_stacks"], size = record(step, base + ".stacks", steps, slow, stacks=True)
    many = fewer(steps, size, STACKS_LIMIT) if size > STACKS_LIMIT else steps
    if 1 <= many < steps:
        said["recorded_stacks"], size = record(step, base + ".stacks", many, slow, stacks=True)
    said["steps_stacks"] = many
    if size > STACKS_LIMIT:
        os.remove(base + ".stacks.json.gz")
        said["steps_stacks"] = 0
        said["note"] = "the form with stacks had %d bytes" % size
    save()
    if FACTS[name]["kind"] == "healthy":
        return
    for flag in LOOPS_STOP:
        flag[0] = False
    del step
    step = LOOPS[name](False)
    said["without"] = seconds(step)
    save()
    many = FACTS[name]["steps"]
    said["recorded_without"], size = record(step, base + ".without", many, said["without"] > 0.1)
    if size > FORM_LIMIT and many > 1:
        many = max(1, fewer(many, size, FORM_LIMIT))
        said["recorded_without"], size = record(step, base + ".without", many, said["without"] > 0.1)
    said["steps_without"] = many


def child(name, out, result):
    said = {}

    def save():
        with open(result + ".new", "w") as f:
            json.dump(said, f)
        os.replace(result + ".new", result)
    try:
        one(name, out, said, save)
    except Skip as err:
        said["skipped"] = str(err)
    except BaseException as err:
        traceback.print_exc()
        said["error"] = "%s: %s" % (type(err).__name__, " ".join(str(err).split())[:300])
    save()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads and workers that are still there


def places():
    """Where each cause stands in this file: its line and the functions around it."""
    out, around = {}, []
    with open(__file__) as f:
        for number, line in enumerate(f, 1):
            bare = line.lstrip()
            depth = len(line) - len(bare)
            if bare.startswith(("def ", "class ")):
                around = [(d, w) for d, w in around if d < depth] + [(depth, bare.split()[1].split("(")[0].rstrip(":"))]
            if "  # @" in line:
                inside = ".".join(w for d, w in around if d < depth)
                out[line.split("  # @")[1].strip()] = "programs.py:%d in %s" % (number, inside or "a call")
    return out


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--out", help="folder for recordings; without it a temporary one")
    args.add_argument("--budget", type=float, default=420, help="seconds in which all loops end")
    args.add_argument("names", nargs="*")
    args = args.parse_args()
    began = time.perf_counter()
    args.out = args.out or tempfile.mkdtemp(prefix="programs")
    os.makedirs(args.out, exist_ok=True)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    where, truth = places(), {}
    ctx = multiprocessing.get_context("fork")
    for name in args.names or LOOPS:
        left, t = args.budget - (time.perf_counter() - began), time.perf_counter()
        if left < 6:
            print("%-20s no time is left" % name, flush=True)
            continue
        result = os.path.join(args.out, "." + name)
        p = ctx.Process(target=child, args=(name, args.out, result))
        p.start()
        limit = min(FACTS[name]["limit"], left)
        p.join(limit)
        entry = {}
        killed = p.is_alive()
        if killed:
            p.kill()
            p.join(5)
        if os.path.exists(result):
            with open(result) as f:
                entry = json.load(f)
        if killed:
            entry["error"] = "took more than %.0f s" % limit
        elif not entry or ("with" not in entry and "error" not in entry and "skipped" not in entry):
            entry["error"] = "ended with %s" % p.exitcode
        for rest in glob.glob(os.path.join(args.out, name + "*.json")):
            os.remove(rest)  # a recording that was not compressed
        facts = {k: FACTS[name][k] for k in ("kind", "size", "what")}
        truth[name] = {**facts, "where": where.get(name, "none"), **entry}
        gain = "%5.2fx" % (entry["with"] / entry["without"]) if entry.get("without") else "      "
        print("%-20s %5.1f s %s %s" % (name, time.perf_counter() - t, gain, json.dumps(entry)), flush=True)
        with open(os.path.join(args.out, "truth.json"), "w") as f:
            json.dump(truth, f, indent=1)
    print("programs.py: %.0f s" % (time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
