"""Programs that people type to."""

import os
import time

import program
from program import unwritten


def typed(master, text):
    os.write(master, text.encode())


@program.program("vim")
def vim(run):
    """a command that computes"""
    child, keys = run.terminal("vim", "-u", "NONE", "-N", "-n")
    run.wait_for_text("~", "screen")
    yield child.pid
    typed(keys, ":let s = reltime() | while reltimefloat(reltime(s)) < 0.8 | endwhile\r")
    time.sleep(program.STALL)


@program.program("less")
def less(run):
    """it opens a pipe that nobody writes to"""
    page, other = run.folder / "page", run.folder / "other"
    page.write_text("".join(f"line {number}\n" for number in range(100)))
    other.write_text("")
    child, keys = run.terminal("less", "-f", page)
    run.wait_for_text("line 9", "screen")
    run.meanwhile(lambda: typed(keys, "j"))
    yield child.pid
    run.is_over.set()
    with unwritten(other, child):
        typed(keys, f":e {other}\r")


@program.program("emacs-nox")
def emacs(run):
    """Lisp that computes"""
    compute = "(let ((end (+ (float-time) 0.8))) (while (< (float-time) end)))"
    bind = f'(global-set-key "z" (lambda () (interactive) {compute}))'
    child, keys = run.terminal("emacs", "-Q", "-nw", "--eval", bind)
    run.wait_for_text("scratch", "screen")
    time.sleep(2)
    yield child.pid
    typed(keys, "z")
    time.sleep(program.STALL)


@program.program("bash")
def bash(run):
    """a command that takes its time"""
    child, keys = run.terminal("bash", "--norc", "--noprofile")
    run.wait_for_text("$" if os.geteuid() else "#", "screen")
    yield child.pid
    typed(keys, "sleep 0.8\r")
    time.sleep(program.STALL)
