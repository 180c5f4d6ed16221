"""The programs that the rows need: found, built or generated, each once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from requirement import CannotRun

FOLDER = Path(__file__).parent
REPOSITORY = FOLDER.parent

PACKAGES = {
    "bpftrace": "apt-get install bpftrace",
    "eu-stack": "apt-get install elfutils",
    "gdb": "apt-get install gdb",
    "node": "apt-get install nodejs",
    "perf": "apt-get install linux-perf",
    "strace": "apt-get install strace",
    "py-spy": "pip install py-spy",
    "java": "apt-get install default-jre-headless",
    "javac": "apt-get install default-jdk-headless",
    "g++": "apt-get install g++",
    "rustc": "apt-get install rustc",
    "redis-server": "apt-get install redis-server",
    "redis-benchmark": "apt-get install redis-tools",
    "taskset": "apt-get install util-linux",
}


class Programs:
    def __init__(self, cache, stallwatch=None):
        self.cache = cache
        self.cache.mkdir(parents=True, exist_ok=True)
        self.stallwatch = stallwatch or build_stallwatch()

    def peer(self, name):
        """A program of others."""
        found = shutil.which(name, path=f"{self.cache}/py-spy/bin:{os.environ['PATH']}")
        if name == "py-spy" and not found:
            words = [sys.executable, "-m", "pip", "install", "--quiet", "--target", self.cache / "py-spy", "py-spy"]
            subprocess.run(words, check=False, capture_output=True)
            return self.peer_if_installed(self.cache / "py-spy/bin/py-spy", name)
        return self.peer_if_installed(found, name)

    @staticmethod
    def peer_if_installed(path, name):
        if not path or not os.access(path, os.X_OK):
            raise CannotRun(f"{name} is not installed; {PACKAGES.get(name, 'see its own page')}")
        return Path(path)

    def target(self, name):
        """One of the C programs in `targets`."""
        source = self.target_source(name)
        return self.made(name, [source], lambda path: compile_c([source, "-o", path]))

    @staticmethod
    def target_source(name):
        return FOLDER / f"targets/{name}.c"

    def made(self, name, sources, make):
        """A file in the cache: made again when one of its sources is newer."""
        path = self.cache / name
        newest = max(source.stat().st_mtime for source in sources)
        if not path.exists() or path.stat().st_mtime < newest:
            unfinished = path.with_name(f"{name}.unfinished")
            make(unfinished)
            unfinished.rename(path)
        return path


def compile_c(words):
    command = ["cc", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", *words]
    subprocess.run([str(word) for word in command], check=True)


def build_stallwatch():
    words = ["swift", "build", "--configuration", "release", "--static-swift-stdlib"]
    subprocess.run([*words, "--product", "stallwatch"], cwd=REPOSITORY, check=True, stdout=sys.stderr)
    shown = subprocess.run([*words, "--show-bin-path"], cwd=REPOSITORY, check=True, capture_output=True, text=True)
    return Path(shown.stdout.strip()) / "stallwatch"
