"""Servers as Debian packages them: stripped, each with a loop of its own making."""

import os
import signal

import program
from program import Outlet, children_of, connect, free_port, request, unwritten


@program.program("redis-server redis-tools")
def redis(run):
    """DEBUG SLEEP"""
    path = run.folder / "redis.sock"
    words = ["--port", 0, "--unixsocket", path, "--save", "", "--dir", run.folder, "--enable-debug-command", "yes"]
    child = run.start("redis-server", *words)
    run.wait_until(path.exists, "the socket")
    yield child.pid
    run.run("redis-cli", "-s", path, "DEBUG", "SLEEP", program.STALL)


@program.program("nginx-light")
def nginx(run):
    """an access log that goes to a full pipe"""
    port, log = free_port(), run.folder / "access"
    outlet = Outlet(run, log)
    (run.folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {run.folder}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log {log}; client_body_temp_path {run.folder}/1; proxy_temp_path {run.folder}/2;\n"
        f"fastcgi_temp_path {run.folder}/3; uwsgi_temp_path {run.folder}/4; scgi_temp_path {run.folder}/5;\n"
        f"server {{ listen 127.0.0.1:{port}; return 204; }} }}\n"
    )
    child = run.start("nginx", "-e", "stderr", "-c", run.folder / "nginx.conf")
    run.wait_for_port(port)
    yield child.pid
    with outlet.held(), connect(port) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")


def postgres_server(run):
    """A new cluster; its postmaster, what it writes to, and how its tools are called. It refuses to be root."""
    data = run.folder / "data"
    account = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    run.run("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", **account)
    outlet = Outlet(run)
    words = ["-D", data, "-k", run.folder, "-c", "listen_addresses="]
    child = run.start("postgres", *words, stderr=outlet.writing, **account)
    run.wait_for_text("ready to accept connections")
    return child, outlet


@program.program("postgresql")
def postmaster(run):
    """a log line (of a reload) that goes to a full pipe"""
    child, outlet = postgres_server(run)
    yield child.pid
    with outlet.held():
        child.send_signal(signal.SIGHUP)


@program.program("postgresql postgresql-client")
def postgres_backend(run):
    """select pg_sleep(0.8)"""
    postmaster_process, _ = postgres_server(run)
    before = set(children_of(postmaster_process.pid))
    session = run.start("psql", "-h", run.folder, "-U", "postgres", "-q", stdin=program.subprocess.PIPE)
    is_backend = lambda pid: b" idle" in open(f"/proc/{pid}/cmdline", "rb").read()  # noqa: E731
    new = lambda: set(filter(is_backend, set(children_of(postmaster_process.pid)) - before))  # noqa: E731
    run.wait_until(new, "a backend")
    yield new().pop()
    session.stdin.write(b"select pg_sleep(0.8); \\echo done\n")
    session.stdin.flush()
    run.wait_for_text("done")


@program.program("memcached")
def memcached(run):
    """a reload of its password file, which is a pipe that nobody writes to"""
    passwords = run.folder / "passwords"
    passwords.write_text("user:word\n")
    words = ["-s", run.folder / "socket", "-Y", passwords, *(["-u", "nobody"] if os.geteuid() == 0 else [])]
    child = run.start("memcached", *words)
    run.wait_until((run.folder / "socket").exists, "the socket")
    yield child.pid
    with unwritten(passwords, child):
        child.send_signal(signal.SIGHUP)
    # It began with a tick of its clock, not with the signal.
    return program.STALL


@program.program("mosquitto")
def mosquitto(run):
    """a log line (of a client) that goes to a full pipe"""
    port, outlet = free_port(), Outlet(run)
    (run.folder / "conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nlog_dest stderr\n")
    child = run.start("mosquitto", "-c", run.folder / "conf", stderr=outlet.writing)
    run.wait_for_port(port)
    yield child.pid
    with outlet.held(), connect(port):
        pass


@program.program("dbus")
def dbus_daemon(run):
    """a reload of its configuration, which is a pipe that nobody writes to"""
    configuration = run.folder / "session.conf"
    configuration.write_text(
        f"<busconfig><type>session</type><listen>unix:path={run.folder}/bus</listen>"
        '<policy context="default"><allow send_destination="*"/></policy></busconfig>'
    )
    child = run.start("dbus-daemon", "--config-file", configuration, "--nofork", "--nopidfile")
    run.wait_until((run.folder / "bus").exists, "the socket")
    yield child.pid
    with unwritten(configuration, child):
        child.send_signal(signal.SIGHUP)


@program.program("openssh-server")
def sshd(run):
    """a log line (of a connection) that goes to a full pipe"""
    port, key, outlet = free_port(), run.folder / "key", Outlet(run)
    run.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)
    words = ["-D", "-e", "-f", "/dev/null", "-h", key, "-o", f"ListenAddress=127.0.0.1:{port}", "-o", "PidFile=none"]
    child = run.start("sshd", *words, "-o", "LogLevel=DEBUG1", stderr=outlet.writing)
    run.wait_for_port(port)
    yield child.pid
    with outlet.held(), connect(port):
        pass


@program.program("dnsmasq-base")
def dnsmasq(run):
    """a reload of its hosts file, which is a pipe that nobody writes to"""
    port, hosts = free_port(), run.folder / "hosts"
    hosts.write_text("127.0.0.2 somewhere\n")
    words = ["--keep-in-foreground", "--conf-file=/dev/null", f"--port={port}", "--listen-address=127.0.0.1"]
    words += ["--bind-interfaces", "--no-resolv", "--no-hosts", f"--addn-hosts={hosts}", "--pid-file="]
    child = run.start("dnsmasq", *words, "--log-facility=-", *(["--user=root"] if os.geteuid() == 0 else []))
    run.wait_for_text("read ")
    yield child.pid
    with unwritten(hosts, child):
        child.send_signal(signal.SIGHUP)


@program.program("socat")
def socat(run):
    """a log line (of a connection) that goes to a full pipe"""
    port, outlet = free_port(), Outlet(run)
    words = ["-d", "-d", f"TCP-LISTEN:{port},bind=127.0.0.1,fork,reuseaddr", "/dev/null"]
    child = run.start("socat", *words, stderr=outlet.writing)
    run.wait_for_text("listening")
    yield child.pid
    with outlet.held(), connect(port):
        pass


@program.program("haproxy")
def haproxy(run):
    """a request whose Lua handler computes"""
    port = free_port()
    (run.folder / "compute.lua").write_text(
        'core.register_service("compute", "http", function(reply)\n'
        "  local clock = os.clock() + 0.8\n"
        "  while os.clock() < clock do end\n"
        '  reply:set_status(204); reply:start_response()\n'
        "end)\n"
    )
    (run.folder / "conf").write_text(
        f"global\n  nbthread 1\n  lua-load {run.folder}/compute.lua\n"
        "  tune.lua.forced-yield 1000000000\n"
        "defaults\n  mode http\n  timeout client 9s\n  timeout server 9s\n  timeout connect 9s\n"
        f"frontend all\n  bind 127.0.0.1:{port}\n  http-request use-service lua.compute if {{ path /compute }}\n"
    )
    child = run.start("haproxy", "-db", "-f", run.folder / "conf")
    run.wait_for_port(port)
    yield child.pid
    request(port, "/compute")
