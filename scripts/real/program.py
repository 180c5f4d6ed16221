"""One real program on trial: how it is started, how it is made to stall, and what it needs for that."""

import contextlib
import fcntl
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

REPOSITORY = Path(__file__).resolve().parents[2]
STALL = 0.8
ALL = []


class CannotRun(Exception):
    """What the program needs or should do did not come; the text says what."""


class NotInstalled(CannotRun):
    """So the program is not tried."""


@dataclass
class Program:
    """`body` is a generator: what it yields is the process (or process and thread) to watch, idle by then. After that
    it makes the program stall once, for `STALL` seconds, and ends when the stall has ended."""

    name: str
    body: Callable
    packages: tuple
    provocation: str
    options: tuple


def program(packages="", stalls=True, options=()):
    """Adds a program to the table; the sentence below its name says what makes it stall."""

    def add(body):
        name = body.__name__.replace("_", "-")
        ALL.append(Program(name, body, tuple(packages.split()), body.__doc__ if stalls else "", options))
        return body

    return add


def find(command):
    """Its path; also in the folders that are not in everyone's PATH."""
    folders = [os.environ["PATH"], "/usr/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
    found = shutil.which(command, path=":".join(folders))
    if not found:
        raise NotInstalled(f"no {command}")
    return found


class Run:
    """One run of a program: its folder, and all that was started for it."""

    def __init__(self, name, folder):
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.children = []
        self.is_over = threading.Event()

    def start(self, command, *words, **settings):
        settings = {"stdin": subprocess.DEVNULL, "stderr": self.output("log"), **settings}
        settings.setdefault("stdout", settings["stderr"])
        child = subprocess.Popen([find(command), *map(str, words)], cwd=REPOSITORY, start_new_session=True, **settings)
        self.children.append(child)
        return child

    def run(self, command, *words, **settings):
        subprocess.run(
            [find(command), *map(str, words)], cwd=REPOSITORY, check=True, stdout=self.output("log"),
            stderr=subprocess.STDOUT, **settings
        )  # fmt: skip

    def output(self, name):
        return open(self.folder / name, "ab", buffering=0)

    def terminal(self, command, *words):
        """The program in a terminal of its own: the process, and the terminal's other end, which someone reads."""
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80))
        take_it = lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # noqa: E731
        environment = {**os.environ, "TERM": "xterm", "HOME": str(self.folder)}
        child = self.start(
            command, *words, stdin=slave, stdout=slave, stderr=slave, env=environment, preexec_fn=take_it
        )
        os.close(slave)
        pour(master, self.output("screen"))
        return child, master

    def meanwhile(self, act):
        """Someone uses the program now and then: only what comes back to a read is known to wait there."""

        def use():
            while not self.is_over.wait(2):
                act()

        threading.Thread(target=use, daemon=True).start()

    def wait_until(self, is_so, what, patience=60):
        deadline = time.monotonic() + patience
        while not is_so():
            ended = [child for child in self.children if child.poll() not in (None, 0)]
            if ended or time.monotonic() > deadline:
                raise CannotRun(f"{what} did not come{'; it ended' if ended else ''}")
            time.sleep(0.05)

    def wait_for_text(self, text, name="log"):
        path = self.folder / name
        self.wait_until(lambda: path.exists() and text in path.read_text(errors="replace"), f"“{text}”")

    def wait_for_port(self, port):
        self.wait_until(lambda: not refuses(port), f"port {port}")

    def end(self):
        self.is_over.set()
        for child in self.children:
            for number in (signal.SIGCONT, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, number)
            child.wait()


class Outlet:
    """A pipe for what a program writes, and its reader. While held it is full: who writes, waits."""

    def __init__(self, run, path=None):
        if path:
            os.mkfifo(path)
            # Opened for both: otherwise the opening waits for the program's.
            self.reading = self.writing = os.open(path, os.O_RDWR)
        else:
            self.reading, self.writing = os.pipe()
        self.may_read, self.rests = threading.Event(), threading.Event()
        self.may_read.set()
        self.sink = run.output("log")
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            if not self.may_read.is_set():
                self.rests.set()
                self.may_read.wait()
            self.sink.write(os.read(self.reading, 1 << 16))

    @contextlib.contextmanager
    def held(self):
        self.may_read.clear()
        # The reader is inside a read(2): one byte gets it out of there.
        os.write(self.writing, b"\n")
        self.rests.wait()
        # Opened anew: not blocking is a property of the open file, which the program shares.
        full = os.open(f"/proc/self/fd/{self.writing}", os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(full, b"\n" * 4096)
        os.close(full)
        try:
            yield
            time.sleep(STALL)
        finally:
            self.may_read.set()


@contextlib.contextmanager
def unwritten(path, child):
    """In place of the file a named pipe: who opens it for reading waits until someone opens it for writing."""
    os.mkfifo(f"{path}.pipe")
    os.rename(f"{path}.pipe", path)
    yield
    # Some programs take the request up with their next tick only.
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child.pid}/wchan").read_text() not in ("wait_for_partner", "fifo_open"):
        if time.monotonic() > deadline:
            raise CannotRun(f"it does not open {path}")
        time.sleep(0.002)
    time.sleep(STALL)
    os.close(os.open(path, os.O_WRONLY))


def pour(source, sink):
    def read():
        with contextlib.suppress(OSError):
            while chunk := os.read(source, 1 << 16):
                sink.write(chunk)

    threading.Thread(target=read, daemon=True).start()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def refuses(port):
    try:
        connect(port).close()
    except OSError:
        return True
    return False


def request(port, path):
    """One request, until its answer is complete."""
    with connect(port) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        while connection.recv(1 << 16):
            pass


def signalled(child, number=signal.SIGUSR1):
    """Where a signal makes the program stall by itself."""
    child.send_signal(number)
    time.sleep(STALL)


def children_of(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


PYTHON = sys.executable
