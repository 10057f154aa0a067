"""Tests of the parts of capture.py that need no torch: python3 -m unittest capture_test"""
import contextlib
import io
import json
import os
import tempfile
import unittest

import capture


class Arguments(unittest.TestCase):
    def fails(self, *argv):
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit) as end:
            capture.parse(list(argv))
        self.assertEqual(end.exception.code, 2)
        return err.getvalue()

    def test_out_is_required(self):
        self.assertIn("--out", self.fails())

    def test_unknown_scenario(self):
        self.assertIn("invalid choice", self.fails("--out", "x", "--only", "nope"))

    def test_only_selects_in_table_order(self):
        _, chosen = capture.parse(["--out", "x", "--only", "streams", "--only", "gpt_small"])
        self.assertEqual([sc.name for sc in chosen], ["gpt_small", "streams"])

    def test_list_needs_no_torch(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(capture.main(["--list"]), 0)
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 2 * (len(capture.SCENARIOS) - 1) + 1)  # stacks is recorded once
        self.assertEqual(len({line.split()[0] for line in lines}), len(lines))

    def test_sync_selects_files(self):
        sc = capture.SCENARIOS[0]
        self.assertEqual(sc.files("on"), [("on", "resnet18_loader.sync.json.gz")])
        self.assertEqual(sc.files("off"), [("off", "resnet18_loader.json.gz")])


class Manifest(unittest.TestCase):
    def test_entry_and_save(self):
        e = capture.entry("a.json.gz", capture.SCENARIOS[0], "on", 10, [0.3, 0.1, 0.2])
        self.assertEqual(e["step_median_seconds"], 0.2)
        self.assertTrue(e["sync_events"])
        with tempfile.TemporaryDirectory() as out:
            capture.save(out, {"traces": [e]})
            with open(os.path.join(out, "manifest.json")) as f:
                self.assertEqual(json.load(f)["traces"][0]["file"], "a.json.gz")

    def test_limits(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertTrue(capture.within_limits({"traces": [{"file": "a", "bytes": capture.LIMIT_ONE}]}))
            self.assertFalse(capture.within_limits({"traces": [{"file": "a", "bytes": capture.LIMIT_ONE + 1}]}))
            self.assertFalse(capture.within_limits({"traces": [{"file": "a", "bytes": capture.LIMIT_ONE}] * 13}))
        self.assertIn("more than", err.getvalue())


class Images(unittest.TestCase):
    def test_jpegs_are_the_same_every_time(self):
        try:
            import numpy, PIL  # noqa: F401
        except ImportError:
            self.skipTest("numpy and Pillow are not here")
        self.assertEqual(capture.jpeg_images(2, 32), capture.jpeg_images(2, 32))


if __name__ == "__main__":
    unittest.main()
