"""Programs with a window, on an X server without a screen."""

import contextlib
import os
import signal
import time

import program
from program import CannotRun


def display(run):
    """An X server of its own. While stopped it answers nobody."""
    reading, writing = os.pipe()
    words = ["-displayfd", writing, "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    server = run.start("Xvfb", *words, pass_fds=[writing])
    os.close(writing)
    with os.fdopen(reading) as numbers:
        number = numbers.readline().strip()
    if not number:
        raise CannotRun("no display")
    return server, {**os.environ, "DISPLAY": f":{number}", "GDK_BACKEND": "x11", "HOME": str(run.folder)}


@contextlib.contextmanager
def silent(server):
    server.send_signal(signal.SIGSTOP)
    try:
        yield
        time.sleep(program.STALL)
    finally:
        server.send_signal(signal.SIGCONT)


def wait_for_window(run, environment):
    def is_there():
        words = [program.find("xdotool"), "search", "--onlyvisible", "--name", "."]
        done = program.subprocess.run(words, env=environment, capture_output=True, check=False)
        return done.stdout.strip()

    run.wait_until(is_there, "a window")
    time.sleep(1)


@program.program("xvfb zenity xdotool")
def zenity(run):
    """GTK asks an X server that does not answer"""
    server, environment = display(run)
    pipe = program.subprocess.PIPE
    child = run.start("zenity", "--progress", "--text=watched", stdin=pipe, env=environment)
    wait_for_window(run, environment)
    yield child.pid
    with silent(server):
        # The longer text makes the window grow, which takes questions to the server.
        child.stdin.write(b"".join(b"# a longer text %s\n%d\n" % (b"and longer " * n, n) for n in range(1, 9)))
        child.stdin.flush()


@program.program("xvfb xterm xdotool")
def xterm(run):
    """Xlib asks an X server that does not answer"""
    server, environment = display(run)
    script = f"echo $$ >{run.folder}/shell; trap 'seq 99999' USR1; while :; do sleep 1000 & wait; done"
    child = run.start("xterm", "-e", "sh", "-c", script, env=environment)
    shell = run.folder / "shell"
    wait_for_window(run, environment)
    run.wait_until(lambda: shell.exists() and shell.read_text(), "the shell")
    yield child.pid
    with silent(server):
        os.kill(int(shell.read_text()), signal.SIGUSR1)


@program.program("xvfb x11-apps xdotool", stalls=False)
def xclock(run):
    """It draws without asking: a silent server does not stop it."""
    _, environment = display(run)
    child = run.start("xclock", "-update", 1, env=environment)
    wait_for_window(run, environment)
    yield child.pid


@program.program("xvfb xdotool", stalls=False)
def Xvfb(run):  # noqa: N802
    """It does little that takes time, and nothing here makes it wait."""
    server, _ = display(run)
    yield server.pid
