"""Other tools that sample running threads from outside: the walks that they come back with."""

import re
import subprocess

from requirement import CannotRun

RATE = 199
# What the tools that name what they print may take for it.
PATIENCE_SECONDS = 15


def walks_of_perf(bench, pid, seconds):
    """Pairs of a thread and its addresses, innermost first, as offsets in files. By unwind tables, with as
    much of the stack as perf takes."""
    perf, data = bench.programs.peer("perf"), bench.programs.cache / "walks.perf"
    words = [perf, "record", "-q", "-F", RATE, "-e", "cpu-clock", "--call-graph", "dwarf,65528"]
    run([*words, "-p", pid, "-o", data, "--", "sleep", seconds])
    walks = []
    # Lines that begin a sample have its time.
    for line in run([perf, "script", "--no-inline", "-i", data, "-F", "tid,time,ip"]).splitlines():
        if ":" in line:
            walks.append((int(line.split()[0]), []))
        elif line.strip():
            walks[-1][1].append(int(line.split()[0], 16))
    return walks


def walks_of_bpftrace(bench, pid, seconds):
    """The same by frame pointers, which is all that bpftrace knows of."""
    program = (
        f"profile:hz:{RATE} /pid == {pid}/ {{ @[tid, ustack(perf)] = count(); }} "
        f"interval:s:{seconds} {{ exit(); }}"
    )
    said = run([bench.programs.peer("bpftrace"), "-q", "-e", program])
    walks = []
    for thread, stack, count in re.findall(r"^@\[(\d+),(.*?)\]: (\d+)$", said, re.MULTILINE | re.DOTALL):
        addresses = [int(line.split()[0], 16) for line in stack.splitlines() if line.strip()]
        walks += [(int(thread), addresses)] * int(count)
    return walks


WALKS = {"perf (dwarf)": walks_of_perf, "bpftrace (frame pointers)": walks_of_bpftrace}


def walks(bench, pid, seconds):
    """What each of them says, or why it says nothing."""
    for name, tool in WALKS.items():
        try:
            yield name, tool(bench, pid, seconds), None
        except CannotRun as problem:
            yield name, [], str(problem)


def run(words):
    words = [str(word) for word in words]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        raise CannotRun(f"{' '.join(words[:2])} took longer than {PATIENCE_SECONDS} s") from None
    if done.returncode != 0:
        last = done.stderr.strip().splitlines() or ["it said nothing"]
        raise CannotRun(f"{words[0]} ended with {done.returncode}; its last words: {last[-1]}")
    return done.stdout
