"""overlay for PyTorch: one file, no dependencies; copy it beside your training script.

    from overlay_torch import overlay_trace_handler, profile_kwargs

    with torch.profiler.profile(schedule=torch.profiler.schedule(wait=5, warmup=2, active=3),
                                on_trace_ready=overlay_trace_handler("traces"), **profile_kwargs()) as prof:
        for batch in loader:
            train(batch)
            prof.step()

Every cycle of the profiler leaves traces/rank3_step10.json.gz, and, where the program `overlay` is on PATH,
traces/rank3_step10.overlaid.pftrace for ui.perfetto.dev. Three lines say what bounds the run.
"""

import atexit
import inspect
import os
import shutil
import subprocess
import sys
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
        program = shutil.which(overlay)
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
    command = [program, "run", "-i", trace, "-o", out, "--no-color"] + arguments
    try:
        # One core: the rest belongs to the training.
        done = subprocess.run(command + ["--jobs", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as e:
        _say("overlay: cannot run %s: %s" % (program, e))
        return
    if done.returncode != 0:
        _say(done.stderr.strip() or "overlay: status %d for %s" % (done.returncode, trace))
    elif not quiet:
        _say(_verdict(done.stdout, out))


def _verdict(text, out):
    """What bounds the run, what the path is made of most, and where to look."""
    lines = text.splitlines()
    bound = next((line for line in lines if line.startswith(("bound by ", "mostly "))), "analysed")
    path = next((line for line in lines if line.startswith("path ")), "")
    return "\n".join("overlay: " + line for line in (bound, path, "overlay open " + out) if line)


def _say(text):
    print(text, file=sys.stderr, flush=True)
