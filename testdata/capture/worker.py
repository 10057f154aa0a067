"""The processes that run loops: one for each rank, fresh for each loop, so that no loop sees what another one left behind.

Each times its steps with the profiler off, then records the loop in each form, and leaves its results as a file for the process that started it.
"""
import gzip
import json
import multiprocessing
import os
import shutil
import time
import traceback

import pairs

try:
    from compression import zstd  # Python 3.14 and later: a third smaller than gzip
except ImportError:
    zstd = None

SUFFIX = ".json.zst" if zstd else ".json.gz"
WARM_UP = 5  # steps before anything is timed


class Failed(Exception):
    """A loop that could not run, with what its process said."""


def facts():
    """What torch is and can do here, as it goes into the manifest."""
    import torch
    return {"torch": torch.__version__, "cuda": torch.version.cuda, "hip": torch.version.hip, "kineto": torch.profiler.kineto_available(),
            "gpus": torch.cuda.device_count() if torch.cuda.is_available() else 0,
            "gpu": torch.cuda.get_device_name(0) if torch.cuda.is_available() else None}


def start(job):
    """Runs a loop in job["world"] processes and returns their results by rank. Forms that not all of them recorded are no part of the results: a profiler
    that crashes must not take with it what was recorded before. What went wrong then stands in the results as "error"."""
    ctx = multiprocessing.get_context("spawn")
    ranks = [ctx.Process(target=main, args=(job, rank)) for rank in range(job["world"])]
    for p in ranks:
        p.start()
    broken = []
    while not broken and any(p.is_alive() for p in ranks):
        time.sleep(0.05)
        broken = [rank for rank, p in enumerate(ranks) if p.exitcode not in (None, 0)]
    if broken:  # the others would wait for it in a collective
        for p in ranks:
            p.terminate()
    for p in ranks:
        p.join()
    broken = broken or [rank for rank, p in enumerate(ranks) if p.exitcode != 0]
    out, said = [], []
    for rank, p in enumerate(ranks):
        try:
            with open(result_file(job, rank)) as f:
                out.append(json.load(f))
            os.remove(result_file(job, rank))
        except OSError:
            out.append({})
        if "error" in out[rank]:
            said.append(out[rank]["error"])
    if broken and not said:
        said.append("rank %d ended with status %s" % (broken[0], ranks[broken[0]].exitcode))
    if not all("recorded" in r for r in out):
        raise Failed("%s: %s" % (job["loop"], said[0] if said else "a rank left no result"))
    return {"step_seconds": out[0]["step_seconds"], "recorded": min(r["recorded"] for r in out), "error": said[0] if said else None}


def result_file(job, rank):
    return os.path.join(job["tmp"], "%s.%s.%d.json" % (job["pair"], job["loop"], rank))


def main(job, rank):
    result = {}
    try:
        loop(job, rank, result)
    except Exception as err:
        traceback.print_exc()
        result["error"] = "%s: %s" % (type(err).__name__, " ".join(str(err).split()))
        leave(job, rank, result)
        os._exit(1)  # collectives of others may never end: nothing here is to wait for them


def leave(job, rank, result):
    with open(result_file(job, rank), "w") as f:
        json.dump(result, f)


def loop(job, rank, result):
    """Times and records a loop; result holds what was reached, and is left in its file each time it grows."""
    import torch
    pair = next(p for p in pairs.PAIRS if p.name == job["pair"])
    torch.manual_seed(0)
    if job["device"] == "cpu":
        torch.set_num_threads(1)  # one core a process: what runs beside it is other processes, as on machines with many cores
    else:
        torch.cuda.set_device(rank)
    if pair.distributed:
        store = "file://" + os.path.abspath(os.path.join(job["tmp"], "%s.%s.store" % (job["pair"], job["loop"])))
        torch.distributed.init_process_group("gloo" if job["device"] == "cpu" else "nccl", init_method=store, rank=rank, world_size=job["world"])
    env = pairs.Env(torch, job["device"], rank, job["world"])
    step = pair.loops[job["loop"]](env)
    for i in range(WARM_UP):
        step(i)
    result["step_seconds"] = [round(t, 6) for t in measure(torch, env, step, job["repeat"])]
    for n, form in enumerate(job["forms"]):
        result["recorded"] = n
        leave(job, rank, result)
        record(torch, env, step, pair.steps, form, form["paths"][rank])
    result["recorded"] = len(job["forms"])
    leave(job, rank, result)
    if pair.distributed:
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


def measure(torch, env, step, count):
    """Seconds of each of count steps, profiler off, the device idle at both ends of a step."""
    idle = torch.cuda.synchronize if env.on_gpu else (lambda: None)
    if env.world > 1:
        torch.distributed.barrier()
    times = []
    for i in range(count):
        idle()
        t = time.perf_counter()
        step(i)
        idle()
        times.append(time.perf_counter() - t)
    return times


def record(torch, env, step, steps, form, path):
    from torch.profiler import ProfilerActivity, profile, schedule
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if env.on_gpu else [])
    more = {"experimental_config": torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)} if form["sync"] else {}
    os.makedirs(os.path.dirname(path), exist_ok=True)
    raw = os.path.splitext(path)[0]
    with profile(activities=activities, schedule=schedule(wait=1, warmup=2, active=steps, repeat=1), on_trace_ready=lambda p: p.export_chrome_trace(raw),
                 record_shapes=True, with_stack=form["stacks"], **more) as prof:
        for i in range(3 + steps):
            step(i)
            if env.on_gpu and i == 2 + steps:
                torch.cuda.synchronize()
            prof.step()
    with open(raw, "rb") as src, open(path, "wb") as dst:
        if zstd:
            dst.write(zstd.compress(src.read(), level=19))
        else:
            with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=dst, mtime=0) as out:
                shutil.copyfileobj(src, out)
    os.remove(raw)
