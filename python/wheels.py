#!/usr/bin/env python3
"""Wheels of overlay: each holds the program for one platform, overlay_torch.py and overlay_notebook.py, so that `pip install` puts all in place.

    python3 python/wheels.py --out bin/wheels                    for this machine
    python3 python/wheels.py --out bin/wheels linux/arm64 …      for others, as GOOS/GOARCH; all: for all that are known

Needs Go and nothing beyond Python's own library. The same sources give the same bytes. The format: packaging.python.org,
"Binary distribution format".
"""

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import zipfile

NAME = "overlay-trace"  # on the package index, where `overlay` is somebody else's
OWNER = "the authors of overlay"
SUMMARY = "What bounds a PyTorch run: the critical path of a profiler trace, in one screen and in Perfetto"

# The program is static, so on Linux any libc will do; Go 1.26 runs on macOS 12 and later.
PLATFORMS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def command(*words, **environment):
    """What a command prints; its failure ends the program with what it said."""
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("wheels: `%s` failed" % " ".join(words))
    return done.stdout.strip()


def version():
    """The tag of the commit, else a version of development that grows with the time of the commit."""
    tag = subprocess.run(["git", "describe", "--tags", "--exact-match", "--match", "v[0-9]*"], cwd=ROOT,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if tag.returncode == 0:
        return tag.stdout.strip()[1:]
    return "0.dev" + time.strftime("%Y%m%d%H%M%S", time.gmtime(int(command("git", "log", "-1", "--format=%ct"))))


def compiled(platform, folder):
    """The program for a platform: its bytes."""
    goos, goarch = platform.split("/")
    out = os.path.join(folder, "overlay")
    command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, "./cmd/overlay",
            GOOS=goos, GOARCH=goarch, CGO_ENABLED="0")
    with open(out, "rb") as f:
        return f.read()


def text(name):
    with open(os.path.join(ROOT, name), "rb") as f:
        return f.read()


def write(folder, platform, program, release):
    """A wheel in a folder; its path."""
    stem, tag = "%s-%s" % (NAME.replace("-", "_"), release), "py3-none-" + PLATFORMS[platform]
    info = stem + ".dist-info/"
    metadata = "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nAuthor: %s\nLicense: Apache-2.0\nRequires-Python: >=3.8\n" % (
        NAME, release, SUMMARY, OWNER) + "Description-Content-Type: text/markdown\n\n"
    tags = "".join("Tag: py3-none-%s\n" % t for t in PLATFORMS[platform].split("."))
    files = {
        **{name: text("python/" + name) for name in ("overlay_torch.py", "overlay_notebook.py")},
        stem + ".data/scripts/overlay" + (".exe" if platform.startswith("windows") else ""): program,
        info + "METADATA": metadata.encode() + text("README.md"),
        info + "WHEEL": ("Wheel-Version: 1.0\nGenerator: overlay\nRoot-Is-Purelib: false\n" + tags).encode(),
        info + "LICENSE": text("LICENSE"),
    }
    record = "".join("%s,sha256=%s,%d\n" % (name, base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b"=").decode(), len(b))
                     for name, b in files.items())
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    path = os.path.join(folder, "%s-%s.whl" % (stem, tag))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, b in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: no time of today makes two builds differ
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, where the bits below mean something
            entry.external_attr = (0o100755 if ".data/scripts/" in name else 0o100644) << 16
            z.writestr(entry, b)
    return path


def here():
    """The platform of this machine."""
    return "/".join(command("go", "env", "GOHOSTOS", "GOHOSTARCH").split())


def main(argv):
    parser = argparse.ArgumentParser(description="Build wheels that hold the program and its modules.")
    parser.add_argument("--out", required=True, help="folder for the wheels")
    parser.add_argument("platforms", nargs="*", help="GOOS/GOARCH, all: every one of " + " ".join(PLATFORMS))
    a = parser.parse_args(argv)
    wanted = list(PLATFORMS) if a.platforms == ["all"] else a.platforms or [here()]
    for p in wanted:
        if p not in PLATFORMS:
            parser.error("no platform %r: one of %s" % (p, " ".join(PLATFORMS)))
    os.makedirs(a.out, exist_ok=True)
    release = version()
    for p in wanted:
        with tempfile.TemporaryDirectory() as folder:
            print(write(a.out, p, compiled(p, folder), release))


if __name__ == "__main__":
    main(sys.argv[1:])
