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


if __name__ == "__main__":
    unittest.main()
