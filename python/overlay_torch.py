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

Always on, a short window every thousand steps, for `overlay watch`:

    from overlay_torch import OverlaySampler

    with OverlaySampler("traces", every=1000) as sampler:
        for batch in loader:
            train(batch)
            sampler.step()
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
import time

__all__ = ["OverlaySampler", "overlay_trace_handler", "profile_kwargs"]

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


class OverlaySampler:
    """Records a short window of steps every so often: times alone, so that it costs little, and stacks, shapes and
    memory when that is asked for. Between windows no profiler runs.

    folder: where traces go, rank3_step1000.json.gz; it is made. every: steps from window to window. steps: how many a
    window has, after one to warm up. most: the share of the time that windows may cost; while one costs more, every
    is doubled. Detail is asked for by the file detail.request in the folder: `overlay watch` writes it when a step takes
    longer than it did, and so does a sampler whose own steps do. The ranks that it names, or all that share the
    folder, answer with two windows, rank3_step2000.detail.json.gz, so that there is one of all of them.

    overhead: the share of the time since the first step that windows have cost, beside steps without them.
    """

    def __init__(self, folder, every=1000, steps=2, most=0.01, torch=None):
        if steps < 1 or every < steps + 3:
            raise ValueError("a window of %d steps does not fit into %d" % (steps, every))
        if torch is None:
            import torch
        self.every, self.steps, self.most = every, steps, most
        self.step_number, self.windows, self.overhead = 0, 0, 0.0
        self._torch, self._folder, self._prof = torch, os.fspath(folder), None
        self._plain = []  # how long the steps since the last window took, s
        self._usual = []  # their medians, of the windows before
        self._first = self._last = None
        self._cost, self._in_detail = 0.0, 0
        os.makedirs(self._folder, exist_ok=True)
        self._request = os.path.join(self._folder, "detail.request")
        if not os.path.exists(self._request):
            self._ask({})  # by this file others see that somebody answers
        self._answered = os.stat(self._request).st_mtime_ns

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def step(self):
        """Ends a step. What fails here is said, and ends the recording alone."""
        now = time.perf_counter()
        if self._first is None:
            self._first = now
        elif self._prof is None:
            self._plain.append(now - self._last)
        self.step_number += 1
        try:
            if self._prof is not None and self.step_number > self._until:
                self._finish()
            elif self._prof is not None:
                self._prof.step()
            elif self.every and self.step_number % self.every == 0:
                self._begin()
        except Exception as e:
            _say("overlay: no more windows are recorded: %s" % e)
            self._prof, self.every = None, 0
        self._last = time.perf_counter()

    def close(self):
        """Ends the recording; a window that is not whole is not kept."""
        prof, self._prof, self.every = self._prof, None, 0
        if prof is not None:
            prof.stop()
        if self.windows:
            _say("overlay: %d windows cost %.2f %% of the time" % (self.windows, 100 * self.overhead))

    def _begin(self):
        self._began = time.perf_counter()
        self._typical = statistics.median(self._plain)
        self._plain = []
        self._compare()
        when = os.stat(self._request).st_mtime_ns
        if when != self._answered:
            self._answered = when
            ranks = _read(self._request).get("ranks")
            self._in_detail = 2 if ranks is None or _rank() in ranks else 0
        kwargs = profile_kwargs("high" if self._in_detail else "low", self._torch)
        if self._in_detail:
            kwargs["profile_memory"] = True
        first, action = self.step_number, self._torch.profiler.ProfilerAction
        self._until = first + self.steps
        self._prof = self._torch.profiler.profile(
            schedule=lambda step: action.WARMUP if step <= first else action.RECORD, **kwargs)
        self._prof.step_num = first  # steps have the numbers of the training
        self._prof.start()

    def _finish(self):
        prof, self._prof = self._prof, None
        prof.stop()
        trace = os.path.join(self._folder, "rank%d_step%d%s.json.gz" % (
            _rank(), self._until - self.steps, ".detail" if self._in_detail else ""))
        prof.export_chrome_trace(trace)
        self.windows += 1
        now = time.perf_counter()
        cost = now - self._began - (self.steps + 1) * self._typical
        self._cost += cost
        self.overhead = max(self._cost / (now - self._first), 0.0)
        if self._in_detail:
            self._in_detail -= 1
        elif cost > self.most * self.every * self._typical:
            self.every *= 2

    def _compare(self):
        """Asks for detail where steps take longer than is usual: by 5 %, and by more than they vary."""
        if len(self._usual) >= 5:
            middle = statistics.median(self._usual)
            far = statistics.median(abs(u - middle) for u in self._usual)
            if self._typical > 1.05 * middle + 5 * far:
                self._usual = []  # what is usual from now on
                if os.stat(self._request).st_mtime_ns == self._answered:  # else another rank has asked
                    self._ask({"says": "rank %d: a step takes %.2f ms, and took %.2f ms before step %d" % (
                        _rank(), 1e3 * self._typical, 1e3 * middle, self.step_number)})
        self._usual = self._usual[-49:] + [self._typical]

    def _ask(self, request):
        scratch = "%s.%d" % (self._request, os.getpid())
        with open(scratch, "w") as f:
            json.dump(request, f)
        os.replace(scratch, self._request)


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
