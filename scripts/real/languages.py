"""Runtimes of languages, each with a loop of its own kind."""

import time

import program
from program import PYTHON, free_port, request, signalled

EXAMPLES = program.REPOSITORY / "Docs/examples"


def ready_port(run):
    run.wait_for_text("ready")
    return int((run.folder / "log").read_text().split("127.0.0.1:")[1].split("/")[0])


@program.program("nodejs")
def node(run):
    """a request whose handler computes"""
    yield run.start("node", EXAMPLES / "node-server.js").pid
    request(ready_port(run), "/report")


@program.program("nodejs")
def node_child(run):
    """execSync in a callback: a nested loop on another epoll"""
    script = (
        "process.on('SIGUSR1', () => require('child_process').execSync('sleep 0.8')); setInterval(() => 0, 9e8);"
        "console.log('ready')"
    )
    child = run.start("node", "-e", script)
    run.wait_for_text("ready")
    yield child.pid
    signalled(child)


@program.program("python3")
def asyncio(run):
    """time.sleep in a callback"""
    child = run.start(PYTHON, EXAMPLES / "asyncio-sleep.py")
    run.wait_for_text("ready")
    yield child.pid
    signalled(child)


@program.program("python3")
def python_http(run):
    """a request whose handler sleeps"""
    port = free_port()
    script = (
        "import http.server, time\n"
        "class Handler(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self): time.sleep(0.8); self.send_response(200); self.end_headers()\n"
        f"http.server.HTTPServer(('127.0.0.1', {port}), Handler).serve_forever()\n"
    )
    child = run.start(PYTHON, "-c", script)
    run.wait_for_port(port)
    yield child.pid
    request(port, "/")


@program.program("python3")
def python_sleeper(run):
    """a loop of work and sleep whose work computes for once"""
    script = (
        "import signal, time\n"
        "asked = []\n"
        "signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))\n"
        "def work():\n"
        "    end = time.monotonic() + (0.8 if asked else 0)\n"
        "    asked.clear()\n"
        "    while time.monotonic() < end: sum(range(1000))\n"
        "print('ready', flush=True)\n"
        "while True: work(); time.sleep(0.1)\n"
    )
    child = run.start(PYTHON, "-c", script)
    run.wait_for_text("ready")
    yield child.pid
    signalled(child)


def run_loop(run, strip):
    binary = run.folder / "RunLoopTimer"
    run.run("swiftc", "-swift-version", "6", EXAMPLES / "RunLoopTimer.swift", "-o", binary)
    if strip:
        run.run("strip", binary)
    child = run.start(binary)
    run.wait_for_text("ready")
    yield child.pid
    signalled(child)


@program.program("swift")
def RunLoop(run):  # noqa: N802 (the name of the class)
    """a timer whose callback sleeps"""
    yield from run_loop(run, strip=False)


@program.program("swift binutils")
def RunLoop_stripped(run):  # noqa: N802
    """a timer whose callback sleeps"""
    yield from run_loop(run, strip=True)


JAVA = """
import java.net.*;
public class Server {
    public static void main(String[] words) throws Exception {
        var server = new ServerSocket(Integer.parseInt(words[0]), 5, InetAddress.getLoopbackAddress());
        while (true) try (var connection = server.accept()) { answer(connection); }
    }
    static void answer(Socket connection) throws Exception {
        if (connection.getInputStream().read() == '?') Thread.sleep(800);
    }
}
"""


def java_server(run):
    source = run.folder / "Server.java"
    source.write_text(JAVA)
    port = free_port()
    child = run.start("java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", source, port)
    time.sleep(1)
    # Not by connecting: that would be a request.
    run.wait_until(lambda: listens(child.pid, port), f"port {port}")
    return child, port


def asked(port, byte):
    with program.connect(port) as connection:
        connection.sendall(byte)
        connection.recv(1)


def listens(pid, port):
    """In state 0A of /proc/net/tcp, see proc(5)."""
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}") as lines:
            if any(f":{port:04X} " in line and " 0A " in line for line in lines):
                return True
    return False


@program.program("default-jdk-headless")
def java(run):
    """a request whose handler sleeps, in the thread that runs main() (not the process's first)"""
    child, port = java_server(run)
    # The launcher makes a thread for main() and waits for it; it is the first one made.
    threads = sorted(int(path.name) for path in program.Path(f"/proc/{child.pid}/task").iterdir())
    run.meanwhile(lambda: asked(port, b"."))
    yield child.pid, threads[1]
    run.is_over.set()
    asked(port, b"?")


@program.program("default-jdk-headless", stalls=False)
def java_launcher(run):
    """Its first thread only waits for the one that runs main(): nothing can make it stall."""
    child, _ = java_server(run)
    yield child.pid


@program.program("erlang-base", stalls=False)
def erlang(run):
    """Its first thread only handles signals: nothing can make it stall."""
    child = run.start("erl", "-noshell", "-eval", "io:format(\"ready~n\").", env={**program.os.environ, "HOME": "/tmp"})
    run.wait_for_text("ready")
    yield child.pid


@program.program("ruby")
def ruby(run):
    """a request whose handler sleeps"""
    port = free_port()
    script = f"require 'socket'; s = TCPServer.new('127.0.0.1', {port}); puts 'ready'; $stdout.flush; " \
        "loop { c = s.accept; c.gets; sleep 0.8; c.close }"  # fmt: skip
    child = run.start("ruby", "-e", script)
    run.wait_for_text("ready")
    yield child.pid
    request(port, "/")


@program.program("php-cli")
def php(run):
    """a request whose script sleeps"""
    port = free_port()
    (run.folder / "index.php").write_text("<?php usleep(800000); ?>done")
    child = run.start("php", "-S", f"127.0.0.1:{port}", "-t", run.folder)
    run.wait_until(lambda: listens(child.pid, port), f"port {port}")
    yield child.pid
    request(port, "/index.php")


@program.program("perl")
def perl(run):
    """a line of input whose handler runs another program and waits for it"""
    script = "use IO::Select; $| = 1; my $s = IO::Select->new(\\*STDIN); print qq(ready\\n);" \
        "while ($s->can_read) { sysread STDIN, my $b, 99 or exit; system 'sleep 0.8' }"  # fmt: skip
    child = run.start("perl", "-e", script, stdin=program.subprocess.PIPE)
    run.wait_for_text("ready")
    yield child.pid
    child.stdin.write(b"go\n")
    child.stdin.flush()
    time.sleep(program.STALL)
