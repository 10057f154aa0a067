#!/usr/bin/env python3
"""Record small real PyTorch traces in pairs, before and after one change, with step times measured without the profiler.

Needs torch, torchvision, numpy and Pillow; downloads nothing (random weights, random images). Runs on a GPU, or on the
CPU where there is none. Torch is imported only when something runs, so --list and --help work anywhere.

    python3 capture.py --out ../real                         every pair that this machine can run
    python3 capture.py --out ../real --only loader_2_workers one of them (may be repeated)
    python3 capture.py --out ../real --device cpu            on the CPU, though there is a GPU
    python3 capture.py --list                                what would be recorded

Each pair gets a folder NAME with before and after, each also with Python stacks, on a GPU also with records of
synchronisation: before.json.gz, before.stacks.json.gz, before.sync.json.gz, before.sync.stacks.json.gz; of jobs folders of
that name with rank0.json.gz and so on; .zst where Python has Zstandard. manifest.json says what was recorded, on what machine, and how long steps take
with the profiler off. Then: go run ./internal/testtrace/cmd/validate testdata/real
"""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time

import pairs
import worker

LIMIT_ONE = 3 << 20  # bytes of one trace
LIMIT_ALL = 20 << 20  # bytes of all of them


def forms(device, stacks, sync):
    """The forms in which each loop is recorded: (suffix of its name, stacks, records of synchronisation)."""
    out = []
    for s in ([False, True] if device != "cpu" else [False]):
        for p in (False, True):
            if (stacks == "both" or (stacks == "on") == p) and (s is False or sync != "off") and (s or sync != "on" or device == "cpu"):
                out.append({"suffix": (".sync" if s else "") + (".stacks" if p else ""), "stacks": p, "sync": s})
    return out


def files(pair, device, stacks, sync):
    """The paths of the traces of a pair below the output folder, by loop and form."""
    world = pair.world[device]
    for loop in pair.loops:
        for form in forms(device, stacks, sync):
            base = os.path.join(pair.name, loop + form["suffix"])
            yield loop, form, [base + worker.SUFFIX] if not pair.distributed else [os.path.join(base, "rank%d%s" % (r, worker.SUFFIX)) for r in range(world)]


def first_line(*command):
    """The first line that a command prints, None where it is missing or fails."""
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return out.stdout.strip().splitlines()[0] if out.returncode == 0 and out.stdout.strip() else None


def machine():
    """What this machine is, without torch."""
    cpu = ""
    try:
        with open("/proc/cpuinfo") as f:
            cpu = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "")
    except OSError:
        pass
    return {"system": platform.system() + " " + platform.release(), "cpu": cpu or platform.processor(), "cores": os.cpu_count(), "python": platform.python_version(),
            "gpu": first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"),
            "nvcc": (first_line("sh", "-c", "nvcc --version | grep release")), "nsys": first_line("nsys", "--version")}


def torch_facts(wanted):
    """What torch can do here, asked in a process of its own so that this one never starts a GPU or threads."""
    ctx_code = "import json, worker; print(json.dumps(worker.facts()))"
    out = subprocess.run([sys.executable, "-c", ctx_code], capture_output=True, text=True, cwd=os.path.dirname(os.path.abspath(__file__)))
    if out.returncode != 0:
        last = (out.stderr.strip().splitlines() or ["no message"])[-1]
        found = ", ".join("%s: %s" % (k, v) for k, v in machine().items() if v)
        sys.exit("capture.py: torch cannot be used here (%s); found %s" % (last, found))
    facts = json.loads(out.stdout.strip().splitlines()[-1])
    if not facts["kineto"]:
        sys.exit("capture.py: torch %s is built without Kineto: its profiler writes another kind of file; a build with Kineto is needed" % facts["torch"])
    facts["device"] = wanted or ("cuda" if facts["gpus"] else "cpu")
    if facts["device"] == "cuda" and not facts["gpus"]:
        sys.exit("capture.py: no GPU is visible to torch %s; --device cpu records what a CPU can show" % facts["torch"])
    return facts


def record_pair(pair, args, facts, tmp):
    """Runs both loops of a pair, each in processes of its own, and returns the entry for the manifest."""
    device, world = facts["device"], pair.world[facts["device"]]
    entry = {"pair": pair.name, "change": pair.change, "ranks": world if pair.distributed else 0, "question": pair.question, "rule": pair.rule,
             "truth": pair.truth, "steps": pair.steps}
    for loop in pair.loops:
        chosen = [(form, paths) for which, form, paths in files(pair, device, args.stacks, args.sync) if which == loop]
        job = {"pair": pair.name, "loop": loop, "device": device, "world": world, "repeat": args.repeat, "tmp": tmp,
               "forms": [dict(form, paths=[os.path.join(args.out, p) for p in paths]) for form, paths in chosen]}
        load = os.getloadavg()[0]
        result = worker.start(job)
        entry[loop] = {"step_seconds": result["step_seconds"], "load": round(load, 2), "traces": []}
        if result["error"]:
            form = chosen[min(result["recorded"], len(chosen) - 1)][0]
            entry["error"] = "%s%s: %s" % (loop, form["suffix"], result["error"])
            print("capture.py: %s: %s" % (pair.name, entry["error"]), file=sys.stderr)
        for form, paths in chosen[result["recorded"]:]:
            for path in paths:
                for broken in (path, os.path.splitext(path)[0]):
                    if os.path.exists(os.path.join(args.out, broken)):
                        os.remove(os.path.join(args.out, broken))
        for form, paths in chosen[:result["recorded"]]:
            for path in paths:
                entry[loop]["traces"].append({"file": path, "stacks": form["stacks"], "sync": form["sync"], "bytes": os.path.getsize(os.path.join(args.out, path))})
    return entry


def run(args, chosen):
    facts = torch_facts(args.device)
    os.makedirs(args.out, exist_ok=True)
    tmp = os.path.join(args.out, ".capture")
    manifest = {"torch": facts, "machine": machine(), "date": time.strftime("%Y-%m-%d", time.gmtime()),
                "command": " ".join(["python3", "capture.py"] + sys.argv[1:]), "pairs": [], "skipped": [], "failed": []}
    started = time.monotonic()
    for pair in chosen:
        world = pair.world[facts["device"]]
        if world == 0 or (facts["device"] == "cuda" and world > facts["gpus"]):
            why = "needs a GPU" if world == 0 else "needs %d GPUs" % world
            manifest["skipped"].append({"pair": pair.name, "why": why})
            continue
        print("capture.py: %s, %.0f s so far" % (pair.name, time.monotonic() - started), file=sys.stderr, flush=True)
        os.makedirs(tmp, exist_ok=True)
        try:
            manifest["pairs"].append(record_pair(pair, args, facts, tmp))
        except worker.Failed as err:  # one pair that cannot run here must not lose the others
            manifest["failed"].append({"pair": pair.name, "error": str(err)})
            print("capture.py: %s failed: %s" % (pair.name, err), file=sys.stderr)
            shutil.rmtree(os.path.join(args.out, pair.name), ignore_errors=True)
        finally:
            shutil.rmtree(tmp, ignore_errors=True)
        save(args.out, manifest)
    save(args.out, manifest)
    broken = manifest["failed"] or any("error" in p for p in manifest["pairs"])
    return 1 if broken or not within_limits(manifest) else 0


def save(out, manifest):
    """Writes the manifest; pairs of an earlier run of the same torch on the same machine that were not recorded again stay in it."""
    path = os.path.join(out, "manifest.json")
    kept = dict(manifest)
    try:
        with open(path) as f:
            old = json.load(f)
    except (OSError, ValueError):
        old = None
    if old and old.get("torch") == manifest["torch"]:
        said = {e["pair"] for part in ("pairs", "skipped", "failed") for e in manifest[part]}
        for part in ("pairs", "skipped", "failed"):
            kept[part] = manifest[part] + [e for e in old.get(part, []) if e["pair"] not in said]
    order = {p.name: i for i, p in enumerate(pairs.PAIRS)}
    for part in ("pairs", "skipped", "failed"):
        kept[part] = sorted(kept[part], key=lambda e: order.get(e["pair"], len(order)))
    with open(path + ".new", "w") as f:
        json.dump(kept, f, indent=1, sort_keys=True)
        f.write("\n")
    os.replace(path + ".new", path)


def within_limits(manifest):
    ok, total = True, 0
    for p in manifest["pairs"]:
        for t in p["before"]["traces"] + p["after"]["traces"]:
            total += t["bytes"]
            if t["bytes"] > LIMIT_ONE:
                print("capture.py: %s has %d bytes, more than %d" % (t["file"], t["bytes"], LIMIT_ONE), file=sys.stderr)
                ok = False
    if total > LIMIT_ALL:
        print("capture.py: all traces together are larger than %d bytes" % LIMIT_ALL, file=sys.stderr)
        ok = False
    return ok


def parse(argv):
    names = [p.name for p in pairs.PAIRS]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", metavar="DIR", help="folder for the traces and manifest.json")
    p.add_argument("--only", metavar="NAME", action="append", choices=names, help="record only this pair (may be repeated): " + ", ".join(names))
    p.add_argument("--device", choices=("cpu", "cuda"), help="where to run (default: a GPU if there is one)")
    p.add_argument("--stacks", choices=("both", "on", "off"), default="both", help="with Python stacks, without, or both (default)")
    p.add_argument("--sync", choices=("both", "on", "off"), default="both", help="on a GPU with records of synchronisation, without, or both (default)")
    p.add_argument("--repeat", type=int, default=20, metavar="N", help="steps that are timed with the profiler off (default: 20)")
    p.add_argument("--list", action="store_true", help="print the files that would be written, and stop")
    args = p.parse_args(argv)
    if not args.list and not args.out:
        p.error("--out DIR is required (or --list)")
    if args.repeat < 1:
        p.error("--repeat %d: at least one step has to be timed" % args.repeat)
    return args, [pair for pair in pairs.PAIRS if not args.only or pair.name in args.only]


def main(argv):
    args, chosen = parse(argv)
    if not args.list:
        return run(args, chosen)
    for pair in chosen:
        device = args.device or ("cuda" if pair.world["cpu"] == 0 else "cpu")
        if pair.world[device] == 0:
            continue
        for _, _, paths in files(pair, device, args.stacks, args.sync):
            for path in paths:
                print("%-44s %s" % (path, pair.change))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
