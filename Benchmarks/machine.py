"""On what was measured: machine, kernel, versions, date."""

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

from programs import REPOSITORY
from requirement import CannotRun


PEERS = ("bpftrace", "eu-stack", "gdb", "node", "perf", "py-spy", "strace")


def description(programs, peers=PEERS):
    """Pairs of a word and what it is here."""
    lines = [
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("machine", f"{processor()}, {os.cpu_count()} CPUs, {memory()}"),
        ("kernel", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ("system", platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")),
        ("load at the start", "%.2f %.2f %.2f" % os.getloadavg()),
        ("stallwatch", f"{first_line([programs.stallwatch, '--version'])}, {revision()}"),
        ("python", platform.python_version()),
    ]
    for name in peers:
        try:
            lines.append((name, first_line([programs.peer(name), "--version"])))
        except CannotRun as problem:
            lines.append((name, str(problem)))
    return lines


def processor():
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else "unknown processor"


def memory():
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.0f} GB"


def revision():
    def git(*words):
        return subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True).stdout.strip()

    # The pages are written by such runs.
    pages = (":!Docs/Benchmarks.md", ":!Docs/Accuracy.md")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *pages)
    return (git("rev-parse", "--short=12", "HEAD") or "no revision") + (" with changes" if changed else "")


def first_line(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    return (done.stdout or done.stderr).strip().splitlines()[0]
