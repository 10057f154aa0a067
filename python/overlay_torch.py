"""overlay for PyTorch: one file, no dependencies; copy it beside your training script, or install the wheel.

    from overlay_torch import overlay_trace_handler, profile_kwargs

    with torch.profiler.profile(schedule=torch.profiler.schedule(wait=5, warmup=2, active=3),
                                on_trace_ready=overlay_trace_handler("traces"), **profile_kwargs()) as prof:
        for batch in loader:
            train(batch)
            prof.step()

Every cycle of the profiler leaves traces/rank3_step10.json.gz, and, where the program `overlay` is on PATH,
traces/rank3_step10.overlaid.pftrace for ui.perfetto.dev. Four lines say what bounds the run, how long a step takes, what to
change first, and how to look at the trace.
"""

import atexit
import inspect
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading

__all__ = ["overlay_trace_handler", "profile_kwargs"]

DETAIL = ("low", "normal", "high")


def profile_kwargs(detail="normal", torch=None):
    """Arguments for torch.profiler.profile that record what the analysis needs, on the PyTorch at hand.

    detail "low" records times and synchronisation events; "normal" adds shapes of tensors; "high" adds Python
    stacks, which make traces large and steps slower. What this PyTorch does not know is left out.
    """
    if detail not in DETAIL:
        raise ValueError("detail is %r: one of %s" % (detail, ", ".join(DETAIL)))
    if torch is None:
        import torch
    wanted = {"record_shapes": detail != "low", "with_stack": detail == "high"}
    known = inspect.signature(torch.profiler.profile.__init__).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
    kwargs = {name: value for name, value in wanted.items() if takes_any or name in known}
    config = _sync_events(torch)
    if config is not None and (takes_any or "experimental_config" in known):
        kwargs["experimental_config"] = config
    return kwargs


def _sync_events(torch):
    """A configuration that records synchronisation events, None where this PyTorch has no such thing."""
    try:
        return torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    except (AttributeError, TypeError):
        return None


def overlay_trace_handler(folder, overlay="overlay", arguments=(), quiet=False, wait_at_exit=True):
    """A function for on_trace_ready: exports the trace, and analyses it in the background.

    folder: where traces go; it is made. overlay: the program, a name on PATH or a path. arguments: further flags of
    `overlay run`, such as ("--analysis", "all"). quiet: print nothing but failures. wait_at_exit: let a process that
    ends wait for analyses that still run. Only the training goes on if anything here fails: a line on standard error
    says what.
    """
    folder = os.fspath(folder)
    os.makedirs(folder, exist_ok=True)
    running = []

    def handler(prof):
        try:
            trace = os.path.join(folder, _name(prof))
            prof.export_chrome_trace(trace)
        except Exception as e:  # a profiler that fails must not end a training run
            _say("overlay: cannot export the trace: %s" % e)
            return
        # pip puts the program beside the interpreter, which is on PATH in an activated environment only.
        program = shutil.which(overlay) or shutil.which(overlay, path=sysconfig.get_path("scripts"))
        if program is None:
            if not quiet:
                _say("overlay: wrote %s; %r is not on PATH, so it was not analysed" % (trace, overlay))
            return
        thread = threading.Thread(target=_analyse, args=(program, trace, list(arguments), quiet), daemon=True)
        thread.start()
        running[:] = [t for t in running if t.is_alive()] + [thread]

    def finish():
        for thread in running:
            thread.join()

    handler.finish = finish
    if wait_at_exit:
        atexit.register(finish)
    return handler


def _name(prof):
    """rank3_step10.json.gz; one process alone has rank 0."""
    return "rank%d_step%d.json.gz" % (_rank(), getattr(prof, "step_num", 0))


def _rank():
    """The rank in the job: that of torch.distributed where it runs, else what launchers leave in the environment."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    try:
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank()
    except Exception:
        pass
    for variable in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        if os.environ.get(variable, "").isdigit():
            return int(os.environ[variable])
    return 0


def _analyse(program, trace, arguments, quiet):
    out = trace[: -len(".json.gz")] + ".overlaid.pftrace"
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.json")
        # One core: the rest belongs to the training. A report of the caller's own comes later in the command, and holds.
        command = [program, "run", "-i", trace, "-o", out, "--no-color", "--report", report] + arguments + ["--jobs", "1"]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        except OSError as e:
            _say("overlay: cannot run %s: %s" % (program, e))
            return
        if done.returncode != 0:
            _say(done.stderr.strip() or "overlay: status %d for %s" % (done.returncode, trace))
        elif not quiet:
            _say("\n".join("overlay: " + line for line in _verdict(done.stdout, _read(report)) + ["overlay open " + out]))


def _read(report):
    """The report, empty where there is none."""
    try:
        with open(report) as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


def _verdict(text, report):
    """Lines on what bounds the run, how long a step takes, and what would make it shorter."""
    lines = [line for line in text.splitlines() if line.startswith(("bound by ", "mostly "))][:1] or ["analysed"]
    steps = [step["duration_ns"] for step in report.get("steps") or []]
    if steps:
        lines.append("a step takes %.2f ms (median of %d)" % (statistics.median(steps) / 1e6, len(steps)))
    advice = report.get("advice") or {}
    for finding in (advice.get("findings") or [])[:1]:
        gain = {"predicted": "; %.1f %% shorter", "at_most": "; at most %.1f %% shorter"}.get(finding["kind"])
        lines.append(finding["title"] + ": " + finding["do"] + (gain % (100 * finding["gain_share"]) if gain else ""))
    return lines


def _say(text):
    print(text, file=sys.stderr, flush=True)
