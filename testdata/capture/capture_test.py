"""Tests of the parts of the kit that need no torch: python3 -m unittest capture_test"""
import contextlib
import io
import json
import os
import tempfile
import time
import types
import unittest

import capture
import pairs
import worker


def by_name(name):
    return next(p for p in pairs.PAIRS if p.name == name)


class Arguments(unittest.TestCase):
    def fails(self, *argv):
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit) as end:
            capture.parse(list(argv))
        self.assertEqual(end.exception.code, 2)
        return err.getvalue()

    def test_wrong(self):
        self.assertIn("--out", self.fails())
        self.assertIn("invalid choice", self.fails("--out", "x", "--only", "nope"))
        self.assertIn("invalid choice", self.fails("--out", "x", "--device", "tpu"))
        self.assertIn("at least one", self.fails("--out", "x", "--repeat", "0"))

    def test_only_selects_in_table_order(self):
        _, chosen = capture.parse(["--out", "x", "--only", "item", "--only", "loader_1_worker"])
        self.assertEqual([p.name for p in chosen], ["loader_1_worker", "item"])

    def test_list_needs_no_torch(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(capture.main(["--list"]), 0)
        lines = [line.split()[0] for line in out.getvalue().splitlines()]
        self.assertEqual(len(set(lines)), len(lines))
        self.assertEqual({line.split(os.sep)[0] for line in lines}, {p.name for p in pairs.PAIRS})


class Files(unittest.TestCase):
    def test_forms(self):
        suffixes = lambda *a: [f["suffix"] for f in capture.forms(*a)]
        self.assertEqual(suffixes("cpu", "both", "both"), ["", ".stacks"])
        self.assertEqual(suffixes("cuda", "both", "both"), ["", ".stacks", ".sync", ".sync.stacks"])
        self.assertEqual(suffixes("cuda", "off", "on"), [".sync"])
        self.assertEqual(suffixes("cuda", "on", "off"), [".stacks"])
        self.assertEqual(suffixes("cpu", "off", "on"), [""])  # a CPU has nothing to synchronise with

    def test_names(self):
        one = [paths for _, _, paths in capture.files(by_name("item"), "cpu", "off", "off")]
        self.assertEqual(one, [["item/before" + worker.SUFFIX], ["item/after" + worker.SUFFIX]])
        job = [paths for _, _, paths in capture.files(by_name("rank_sleeps"), "cpu", "on", "off")]
        self.assertEqual(job[0], ["rank_sleeps/before.stacks/rank%d%s" % (r, worker.SUFFIX) for r in (0, 1)])


class Table(unittest.TestCase):
    def test_pairs(self):
        self.assertEqual(len({p.name for p in pairs.PAIRS}), len(pairs.PAIRS))
        for p in pairs.PAIRS:
            self.assertTrue(any(p.world.values()), p.name)
            self.assertEqual(set(p.world), {"cpu", "cuda"}, p.name)
            self.assertLess(p.truth.get("straggler") or 0, min(w for w in p.world.values() if w) or 1, p.name)


class Manifest(unittest.TestCase):
    def entry(self, name, size=10):
        trace = {"file": "a.json.gz", "bytes": size}
        return {"pair": name, "before": {"traces": [trace]}, "after": {"traces": [trace]}}

    def test_save_keeps_pairs_of_the_same_torch(self):
        with tempfile.TemporaryDirectory() as out:
            base = {"torch": {"torch": "2"}, "pairs": [self.entry("item")], "skipped": [], "failed": []}
            capture.save(out, base)
            capture.save(out, dict(base, pairs=[], failed=[{"pair": "bf16", "error": "x"}]))
            capture.save(out, dict(base, pairs=[self.entry("loader_1_worker"), self.entry("bf16")]))
            with open(os.path.join(out, "manifest.json")) as f:
                kept = json.load(f)
            self.assertEqual([p["pair"] for p in kept["pairs"]], ["loader_1_worker", "item", "bf16"])
            self.assertEqual(kept["failed"], [])
            capture.save(out, dict(base, torch={"torch": "3"}, pairs=[self.entry("bf16")]))
            with open(os.path.join(out, "manifest.json")) as f:
                self.assertEqual([p["pair"] for p in json.load(f)["pairs"]], ["bf16"])
            self.assertEqual(os.listdir(out), ["manifest.json"])

    def test_limits(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertTrue(capture.within_limits({"pairs": [self.entry("item", capture.LIMIT_ONE)]}))
            self.assertFalse(capture.within_limits({"pairs": [self.entry("item", capture.LIMIT_ONE + 1)]}))
            self.assertFalse(capture.within_limits({"pairs": [self.entry("item", capture.LIMIT_ONE)] * 4}))
        self.assertIn("more than", err.getvalue())
        self.assertIn("together", err.getvalue())


def recorded(job, rank):
    """Stands for a loop: rank 1 breaks after as many forms as the job says."""
    if job["loop"] == "nowhere":
        os._exit(1)
    result = {"step_seconds": [0.5], "recorded": len(job["forms"])}
    if rank == 1 and job["breaks"] is not None:
        result["recorded"] = job["breaks"]
        worker.leave(job, rank, result)
        while not os.path.exists(worker.result_file(job, 0)):
            time.sleep(0.01)
        os._exit(3)
    worker.leave(job, rank, result)


class Processes(unittest.TestCase):
    def start(self, **job):
        with tempfile.TemporaryDirectory() as tmp:
            main, worker.main = worker.main, recorded
            try:
                return worker.start({"pair": "p", "loop": "before", "world": 2, "tmp": tmp, "forms": [1, 2], "breaks": None, **job})
            finally:
                worker.main = main

    def test_all_well(self):
        self.assertEqual(self.start(), {"step_seconds": [0.5], "recorded": 2, "error": None})

    def test_a_crash_keeps_what_was_recorded_before(self):
        got = self.start(breaks=1)
        self.assertEqual((got["recorded"], got["error"]), (1, "rank 1 ended with status 3"))

    def test_a_crash_at_once(self):
        with self.assertRaises(worker.Failed) as failed:
            self.start(world=1, loop="nowhere")
        self.assertIn("rank 0 ended with status 1", str(failed.exception))


class NoTorch(unittest.TestCase):
    def says(self, code, out, err=""):
        was = capture.subprocess.run
        answer = types.SimpleNamespace(returncode=code, stdout=out, stderr=err)
        capture.subprocess.run = lambda command, **_: answer if "worker" in command[-1] else types.SimpleNamespace(returncode=1, stdout="")
        try:
            with self.assertRaises(SystemExit) as end:
                capture.torch_facts(None if "gpu" not in err else "cuda")
            return str(end.exception)
        finally:
            capture.subprocess.run = was

    def test_says_what_was_found(self):
        text = self.says(1, "", "Traceback\nModuleNotFoundError: No module named 'torch'\n")
        self.assertIn("No module named 'torch'", text)
        self.assertIn("python: 3", text)

    def test_without_kineto(self):
        self.assertIn("without Kineto", self.says(0, json.dumps({"torch": "1.13", "kineto": False, "gpus": 0})))

    def test_without_gpu(self):
        self.assertIn("--device cpu", self.says(0, json.dumps({"torch": "2.6", "kineto": True, "gpus": 0}), "gpu"))


class Images(unittest.TestCase):
    def test_jpegs_are_the_same_every_time(self):
        try:
            import numpy, PIL  # noqa: F401
        except ImportError:
            self.skipTest("numpy and Pillow are not here")
        self.assertEqual(pairs.jpeg_images(2, 32), pairs.jpeg_images(2, 32))


if __name__ == "__main__":
    unittest.main()
