"""The eight kinds of loop: how each target is built and started, and what it needs."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from programs import compile_c
from requirement import CannotRun

FOLDER = Path(__file__).parent / "targets"
COMMON = [FOLDER / name for name in ("job.c", "causes.c", "log.c")]
HEADERS = [FOLDER / "job.h", FOLDER / "own_loop.h"]


# EX_UNAVAILABLE of sysexits.h: what a target ends with if the kernel refuses what its loop needs.
REFUSED = 69


class NotInstalled(CannotRun):
    """So there is no such target."""


@dataclass(frozen=True)
class Loop:
    name: str
    library: str = ""
    package: str = ""
    has_dialogs: bool = True

    def words(self, programs, is_stripped=False):
        """Builds the target where it has to be built."""
        if self.name == "asyncio":
            return [sys.executable, FOLDER / "asyncio_loop.py"]
        if not is_stripped:
            return [self.built(programs)]
        return [programs.made(f"{self.name}-stripped", [self.built(programs)], self.strip(programs))]

    def try_out(self, programs):
        """Containers may have no io_uring. A target ends at once if its plan is empty."""
        words = [*self.words(programs), "/dev/null", "/dev/null"]
        if self.name == "io_uring" and subprocess.run(words, capture_output=True).returncode == REFUSED:
            raise NotInstalled("the kernel refuses io_uring")

    def built(self, programs):
        source = FOLDER / ("runloop.swift" if self.name == "runloop" else f"{self.name}.c")
        make = self.make_swift if self.name == "runloop" else self.make_c
        return programs.made(self.name, [source, *COMMON, *HEADERS], lambda path: make(source, path))

    def strip(self, programs):
        return lambda path: subprocess.run(["strip", "-o", path, self.built(programs)], check=True)

    def make_c(self, source, path):
        compile_c([source, *COMMON, "-o", path, *self.flags()])

    def flags(self):
        if not self.library:
            return []
        words = ["pkg-config", "--cflags", "--libs", self.library]
        try:
            shown = subprocess.run(words, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError):
            raise NotInstalled(f"{self.library} is not installed; apt-get install pkg-config {self.package}") from None
        return shown.stdout.split()

    def make_swift(self, source, path):
        if not shutil.which("swiftc"):
            raise NotInstalled("swiftc is not in PATH; see scripts/install")
        objects = []
        for part in COMMON:
            objects.append(path.with_name(f"runloop-{part.stem}.o"))
            compile_c(["-c", part, "-o", objects[-1]])
        words = ["swiftc", "-O", "-g", "-parse-as-library", "-static-stdlib", source, *objects, "-o", path]
        # What the linker says of Foundation is of no use here, except when it fails.
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            raise CannotRun(f"runloop could not be built: {done.stderr[-500:]}")


LOOPS = (
    Loop("epoll"),
    Loop("poll"),
    Loop("select"),
    Loop("io_uring", "liburing", "liburing-dev"),
    Loop("glib", "glib-2.0", "libglib2.0-dev"),
    Loop("libuv", "libuv", "libuv1-dev", has_dialogs=False),
    Loop("asyncio", has_dialogs=False),
    Loop("runloop"),
)


def available(programs):
    """The loops that can be built here, and why the others cannot."""
    there, missing = [], {}
    for loop in LOOPS:
        try:
            loop.try_out(programs)
            there.append(loop)
        except CannotRun as problem:
            missing[loop.name] = str(problem)
    return there, missing
