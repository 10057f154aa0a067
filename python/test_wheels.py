"""Tests of the wheels: python3 -m unittest discover python"""
import base64
import glob
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import wheels


class TestWheels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_record_and_bytes(self):
        for platform, tags in wheels.PLATFORMS.items():
            path = wheels.write(self.folder, platform, b"the program", "1.2.3")
            self.assertTrue(path.endswith("overlay_trace-1.2.3-py3-none-%s.whl" % tags), path)
            with open(path, "rb") as f:
                first = f.read()
            wheels.write(self.folder, platform, b"the program", "1.2.3")
            with open(path, "rb") as f:
                self.assertEqual(first, f.read(), "two builds differ")
            with zipfile.ZipFile(path) as z:
                lines = z.read("overlay_trace-1.2.3.dist-info/RECORD").decode().splitlines()
                self.assertEqual([line.split(",")[0] for line in lines], z.namelist())
                for line in lines[:-1]:
                    name, digest, size = line.split(",")
                    b = z.read(name)
                    want = base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b"=").decode()
                    self.assertEqual((digest, int(size)), ("sha256=" + want, len(b)), name)

    @unittest.skipUnless(importlib.util.find_spec("pip"), "no pip: nothing can be installed")
    @unittest.skipIf(os.name == "nt", "the program of the test is a script of a shell")
    def test_install(self):
        path = wheels.write(self.folder, wheels.here(), b"#!/bin/sh\necho installed\n", "1.2.3")
        prefix = os.path.join(self.folder, "env")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", "--no-deps",
                        "--prefix", prefix, path], check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        program = glob.glob(prefix + "/**/bin/overlay", recursive=True)
        self.assertEqual(len(program), 1, "pip put no program into bin")
        self.assertEqual(subprocess.check_output(program, text=True), "installed\n")
        module = glob.glob(prefix + "/**/overlay_torch.py", recursive=True)
        self.assertEqual(len(module), 1, "pip put no module in place")


if __name__ == "__main__":
    unittest.main()
