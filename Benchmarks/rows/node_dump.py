"""The stacks of all threads of node, beside eu-stack."""

import os
from pathlib import Path

from processes import Target, timed
from programs import REPOSITORY
from requirement import CannotRun, Requirement, Result, duration, median

REQUIREMENTS = [
    Requirement("`dump --pid` of node, cold process", "wall ≤ eu-stack's, by medians"),
    Requirement("the same, page cache dropped before each run", "wall ≤ eu-stack's, by medians"),
]


def measure(bench):
    ours = [bench.programs.stallwatch, "dump", "--pid"]
    peers = [bench.programs.peer("eu-stack"), "-p"]
    node = bench.programs.peer("node")
    with Target([node, REPOSITORY / "Docs/examples/node-server.js", "0"]) as target:
        threads = len(os.listdir(f"/proc/{target.pid}/task"))
        for runs, prepare in (
            (bench.choose(full=20, quick=3), lambda: None),
            (bench.choose(full=10, quick=2), drop_page_cache),
        ):
            taken = {"ours": [], "peers": []}
            for _ in range(runs):
                for name, words in (("ours", ours), ("peers", peers)):
                    prepare()
                    taken[name].append(timed([*words, target.pid]))
            mine, theirs = median(taken["ours"]), median(taken["peers"])
            yield Result(f"{duration(mine)}, {threads} threads, {runs} runs", mine <= theirs, peer=duration(theirs))


def drop_page_cache():
    try:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("1\n")
    except OSError as problem:
        raise CannotRun(f"the page cache cannot be dropped: {problem.strerror}") from None
