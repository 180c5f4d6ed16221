"""Programs of several languages, started to wait or to compute."""

import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from processes import Target
from programs import FOLDER, REPOSITORY
from requirement import CannotRun

PYTHON = """
import sys, threading, time, queue
def visit(words, depth):
    return sum(words.values()) if depth == 0 else visit(words, depth - 1) + depth
print('ready', flush=True)
words = {f'word {number}': number for number in range(1000)}
while sys.argv[1] == 'spin':
    for depth in range(20): visit(words, depth)
threading.Thread(target=queue.Queue().get, daemon=True).start()
threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()
threading.Event().wait()
"""

NODE = """
const words = new Map(Array.from({ length: 1000 }, (_, number) => [`word ${number}`, number]))
function visit(depth) {
  if (depth === 0) { let sum = 0; for (const value of words.values()) sum += value; return sum }
  return visit(depth - 1) + depth
}
console.log('ready')
while (true) for (let depth = 0; depth < 20; depth++) visit(depth)
"""


def started(programs, name, mode):
    """A `Target` of this language; `mode` is `wait` or `spin`."""
    return {
        "node": node,
        "Python": lambda _, mode: Target([sys.executable, "-c", PYTHON, mode]),
        "Swift": lambda programs, mode: Target([swift(programs), mode]),
        "Rust": lambda programs, mode: Target([rust(programs), mode]),
        "C++": lambda programs, mode: Target([cpp(programs), mode]),
        "Redis": redis,
        "JVM": lambda programs, mode: Target([programs.peer("java"), "-cp", java(programs), "Runtime", mode]),
    }[name](programs, mode)


NAMES = ["node", "Python", "Swift", "Rust", "C++", "Redis", "JVM"]
# Their code is made while they run, and parts of it say nothing of their frames.
GENERATING = {"node", "JVM"}


def node(programs, mode):
    program = programs.peer("node")
    if mode == "spin":
        return Target([program, "-e", NODE])
    return Target([program, REPOSITORY / "Docs/examples/node-server.js", "0"])


def compiled(programs, compiler, source, *words):
    path = programs.peer(compiler)

    def make(output):
        subprocess.run([str(word) for word in [path, *words, source, "-o", output]], check=True)

    return programs.made(f"runtime-{Path(source).suffix[1:]}", [FOLDER / "targets" / source], make)


def swift(programs):
    return compiled(programs, "swiftc", FOLDER / "targets/runtime.swift", "-O", "-g", "-swift-version", "6")


def rust(programs):
    return compiled(programs, "rustc", FOLDER / "targets/runtime.rs", "-O", "-g")


def cpp(programs):
    return compiled(programs, "g++", FOLDER / "targets/runtime.cpp", "-O2", "-g", "-std=c++17", "-pthread")


def java(programs):
    source = FOLDER / "targets/Runtime.java"

    def make(folder):
        shutil.rmtree(programs.cache / "runtime-java", ignore_errors=True)
        subprocess.run([programs.peer("javac"), "-d", folder, source], check=True)

    return programs.made("runtime-java", [source], make)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Server:
    """A redis-server that keeps nothing, and that clients keep busy if it is to compute."""

    def __init__(self, programs, mode="wait", cpu=None):
        self.port, self.folder = free_port(), tempfile.TemporaryDirectory()
        words = [programs.peer("redis-server"), "--port", self.port, "--bind", "127.0.0.1"]
        words += ["--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", self.folder.name]
        words = [str(word) for word in words]
        words = ["taskset", "-c", str(cpu), *words] if cpu is not None else words
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        self.client = None
        try:
            self.wait_until_ready()
            if mode == "spin":
                words = [programs.peer("redis-benchmark"), "-p", self.port, "-l", "-q", "-t", "get,set,lpush,sadd"]
                self.client = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
        except CannotRun:
            self.__exit__()
            raise

    def wait_until_ready(self):
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                if connection.recv(16).startswith(b"+PONG"):
                    return
            time.sleep(0.02)
        raise CannotRun("redis-server does not answer")

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.client, self.process):
            if process:
                process.send_signal(signal.SIGKILL)
                process.wait()
        self.folder.cleanup()


def redis(programs, mode):
    return Server(programs, mode)
