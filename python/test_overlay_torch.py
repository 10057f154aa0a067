"""python3 -m unittest discover python; OVERLAY names the program for the test that runs it."""

import contextlib
import io
import os
import shutil
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import overlay_torch

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testdata", "demo.json.gz")


def fake_torch(parameters, config=True, rank=None):
    """A torch whose profiler takes the parameters named, with or without synchronisation events."""
    torch = types.ModuleType("torch")
    names = ", ".join("%s=None" % p for p in parameters)
    scope = {}
    exec("class profile:\n    def __init__(self, %s): pass" % names, scope)
    torch.profiler = types.SimpleNamespace(profile=scope["profile"])

    def experimental(**kwargs):
        if config == "old":
            raise TypeError("unexpected keyword argument")
        return kwargs

    inner = types.SimpleNamespace(_ExperimentalConfig=experimental) if config else types.SimpleNamespace()
    torch._C = types.SimpleNamespace(_profiler=inner)
    torch.distributed = types.SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: rank is not None, get_rank=lambda: rank)
    return torch


class FakeProfile:
    step_num = 10

    def export_chrome_trace(self, name):
        shutil.copy(DEMO, name)


class BrokenProfile:
    def export_chrome_trace(self, name):
        raise OSError("no space left")


class TestKwargs(unittest.TestCase):
    new = ["activities", "record_shapes", "with_stack", "experimental_config"]

    def test_new(self):
        got = overlay_torch.profile_kwargs(torch=fake_torch(self.new))
        self.assertEqual(got, {"record_shapes": True, "with_stack": False,
                               "experimental_config": {"enable_cuda_sync_events": True}})

    def test_detail(self):
        torch = fake_torch(self.new)
        self.assertFalse(overlay_torch.profile_kwargs("low", torch)["record_shapes"])
        self.assertTrue(overlay_torch.profile_kwargs("high", torch)["with_stack"])
        with self.assertRaisesRegex(ValueError, "low, normal, high"):
            overlay_torch.profile_kwargs("most", torch)

    def test_old(self):
        for config in (False, "old"):
            got = overlay_torch.profile_kwargs(torch=fake_torch(self.new, config))
            self.assertNotIn("experimental_config", got)
        self.assertEqual(overlay_torch.profile_kwargs(torch=fake_torch(["activities"])), {})


class TestHandler(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
            self.addCleanup(os.environ.__setitem__, name, os.environ.pop(name)) if name in os.environ else None
        self.addCleanup(lambda had: sys.modules.__setitem__("torch", had) if had else sys.modules.pop("torch", None),
                        sys.modules.get("torch"))

    def run_handler(self, prof, **kwargs):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            handler = overlay_torch.overlay_trace_handler(self.dir, wait_at_exit=False, **kwargs)
            handler(prof)
            handler.finish()
        return said.getvalue(), sorted(os.listdir(self.dir))

    def program(self, script):
        name = os.path.join(self.dir, "program")
        with open(name, "w") as f:
            f.write("#!/bin/sh\n" + script)
        os.chmod(name, 0o755)
        return name

    def test_no_program(self):
        said, files = self.run_handler(FakeProfile(), overlay="no-such-program")
        self.assertIn("not on PATH", said)
        self.assertEqual(files, ["rank0_step10.json.gz"])
        said, _ = self.run_handler(FakeProfile(), overlay="no-such-program", quiet=True)
        self.assertEqual(said, "")

    def test_rank(self):
        os.environ["RANK"] = "5"
        self.addCleanup(os.environ.pop, "RANK", None)
        self.assertEqual(self.run_handler(FakeProfile(), overlay="none")[1], ["rank5_step10.json.gz"])
        sys.modules["torch"] = fake_torch([], rank=3)
        self.assertIn("rank3_step10.json.gz", self.run_handler(FakeProfile(), overlay="none")[1])

    def test_failures_are_said_and_end_nothing(self):
        self.assertIn("no space left", self.run_handler(BrokenProfile())[0])
        said, _ = self.run_handler(FakeProfile(), overlay=self.program("echo overlay: broken >&2; exit 1\n"))
        self.assertEqual(said, "overlay: broken\n")
        said, _ = self.run_handler(FakeProfile(), overlay=self.program("exit 4\n"))
        self.assertIn("status 4", said)

    def test_arguments(self):
        said, _ = self.run_handler(FakeProfile(), overlay=self.program('echo "bound by $*"\n'), arguments=("--step", "2"))
        self.assertIn("run -i %s/rank0_step10.json.gz -o %s/rank0_step10.overlaid.pftrace --no-color --report " % (self.dir, self.dir), said)
        self.assertIn("report.json --step 2 --jobs 1", said)

    def test_idle_programs_have_a_verdict(self):
        said, _ = self.run_handler(FakeProfile(), overlay=self.program('echo "mostly waiting for work (68 %)"\n'))
        self.assertTrue(said.startswith("overlay: mostly waiting for work (68 %)"), said)

    @unittest.skipUnless(os.environ.get("OVERLAY"), "OVERLAY names no program")
    def test_real_program(self):
        said, files = self.run_handler(FakeProfile(), overlay=os.environ["OVERLAY"])
        lines = said.splitlines()
        self.assertEqual(len(lines), 4, said)
        self.assertEqual(lines[0], "overlay: bound by GPU compute")
        self.assertEqual(lines[1], "overlay: a step takes 26.34 ms (median of 3)")
        self.assertRegex(lines[2], r"^overlay: .+; (at most )?[0-9.]+ % shorter$")
        self.assertTrue(lines[3].endswith("rank0_step10.overlaid.pftrace"), said)
        self.assertIn("rank0_step10.overlaid.pftrace", files)

    def test_report_of_ones_own(self):
        """Without a report that can be read two lines remain."""
        said, _ = self.run_handler(FakeProfile(), overlay=self.program("echo bound by CPU\n"))
        self.assertEqual([line.split(" ")[1] for line in said.splitlines()], ["bound", "overlay"])


class StandInProfile:
    """A torch.profiler.profile that counts what is asked of it, and costs time as it is told."""
    made = []
    cost = 0.0

    def __init__(self, schedule=None, record_shapes=False, with_stack=False, profile_memory=False, **_):
        self.schedule, self.step_num, self.states = schedule, 0, []
        self.asked = {"shapes": record_shapes, "stack": with_stack, "memory": profile_memory}
        self.made.append(self)

    def start(self):
        Clock.now += self.cost
        self.states.append(self.schedule(self.step_num))

    def step(self):
        self.step_num += 1
        self.states.append(self.schedule(self.step_num))

    def stop(self):
        self.states.append("stopped")

    def export_chrome_trace(self, name):
        shutil.copy(DEMO, name)


class Clock:
    now = 0.0

    @classmethod
    def perf_counter(cls):
        return cls.now


class TestSampler(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.addCleanup(setattr, overlay_torch, "time", overlay_torch.time)
        overlay_torch.time = Clock
        self.torch = types.ModuleType("torch")
        self.torch.profiler = types.SimpleNamespace(
            profile=StandInProfile, ProfilerAction=types.SimpleNamespace(WARMUP="warm", RECORD="record"))
        StandInProfile.made, StandInProfile.cost = [], 0.0

    def sampler(self, **kwargs):
        return overlay_torch.OverlaySampler(self.dir, torch=self.torch, **kwargs)

    def steps(self, sampler, n, length=0.1):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            for _ in range(n):
                Clock.now += length
                sampler.step()
        return said.getvalue()

    def traces(self):
        return sorted(f for f in os.listdir(self.dir) if f.endswith(".gz"))

    def test_windows(self):
        """A window of two steps after one to warm up, with times alone, every hundred steps."""
        self.assertEqual(self.steps(self.sampler(every=100), 250), "")
        self.assertEqual(self.traces(), ["rank0_step100.json.gz", "rank0_step200.json.gz"])
        for prof in StandInProfile.made:
            self.assertEqual(prof.states, ["warm", "record", "record", "stopped"])
            self.assertEqual(prof.asked, {"shapes": False, "stack": False, "memory": False})
        self.assertEqual([prof.step_num for prof in StandInProfile.made], [102, 202])

    def test_overhead(self):
        """What a window costs beside other steps is measured; one that costs too much comes half as often."""
        StandInProfile.cost = 0.2
        sampler = self.sampler(every=100, most=0.01)
        self.steps(sampler, 104)
        self.assertAlmostEqual(sampler.overhead, 0.2 / (102 * 0.1 + 0.2), places=3)
        self.assertEqual(sampler.every, 200)
        self.steps(sampler, 700)
        self.assertEqual((sampler.every, sampler.windows), (200, 5))
        self.assertEqual(self.traces()[-1], "rank0_step800.json.gz")

    def test_asked_from_outside(self):
        """Two windows in detail, on the ranks that are named."""
        with open(os.path.join(self.dir, "detail.request"), "w") as f:
            f.write('{"says": "an old one"}')
        sampler = self.sampler(every=100)
        self.steps(sampler, 110)
        for ranks, detail in (("", 2), (', "ranks": [1, 5]', 0), (', "ranks": [0, 5]', 2)):
            StandInProfile.made = []
            sampler._ask({})
            with open(sampler._request, "w") as f:
                f.write('{"says": "slower"%s}' % ranks)
            os.utime(sampler._request, ns=(0, sampler._answered + 1))
            self.steps(sampler, 300)
            self.assertEqual([prof.asked["memory"] and prof.asked["stack"] and prof.asked["shapes"]
                              for prof in StandInProfile.made], [i < detail for i in range(3)])
        self.assertIn("rank0_step200.detail.json.gz", self.traces())
        self.assertIn("rank0_step400.json.gz", self.traces())

    def test_own_steps_ask(self):
        """Steps that take longer than is usual ask for detail once; noise does not."""
        sampler = self.sampler(every=100)
        for i in range(8):
            self.steps(sampler, 100, 0.1 + 0.001 * (i % 3))
        self.assertFalse([f for f in self.traces() if "detail" in f])
        for _ in range(8):
            self.steps(sampler, 100, 0.12)
        self.assertEqual([f for f in self.traces() if "detail" in f],
                         ["rank0_step1000.detail.json.gz", "rank0_step900.detail.json.gz"])
        self.assertIn("a step takes 120.00 ms, and took 101.00 ms before step 900", overlay_torch._read(sampler._request)["says"])

    def test_failures_end_nothing(self):
        self.addCleanup(setattr, StandInProfile, "start", StandInProfile.start)
        StandInProfile.start = lambda self: 1 / 0
        sampler = self.sampler(every=100)
        self.assertIn("no more windows are recorded: division by zero", self.steps(sampler, 250))
        self.assertEqual((self.traces(), len(StandInProfile.made)), ([], 1))
        with self.assertRaisesRegex(ValueError, "does not fit"):
            self.sampler(every=4)

    def test_close(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.sampler(every=100) as sampler:
            self.steps(sampler, 201)
        self.assertEqual(StandInProfile.made[1].states[-1], "stopped")
        self.assertEqual(len(self.traces()), 1)
        self.assertIn("1 windows cost 0.00 % of the time", said.getvalue())


if __name__ == "__main__":
    unittest.main()
