"""Small C loops, each with its symbols and stripped."""

import time

import program


def c_loop(run, strip, kind):
    binary = run.folder / "loops"
    run.run("cc", "-O2", program.Path(__file__).parent / "loops.c", "-o", binary, *(["-s"] if strip else []))
    child = run.start(binary, kind, stdin=program.subprocess.PIPE)
    run.wait_for_text("ready")
    yield child.pid
    child.stdin.write(b"go\n")
    child.stdin.flush()
    time.sleep(program.STALL)


def add(kind, provocation, strip):
    def body(run):
        yield from c_loop(run, strip, kind)

    body.__name__ = f"c_{kind}{'_stripped' if strip else ''}"
    body.__doc__ = provocation
    program.program("gcc")(body)


for kind, provocation in {"epoll": "a sleep", "poll": "computing", "select": "system(): it waits for a child"}.items():
    for strip in (False, True):
        add(kind, provocation, strip)
