"""A local server: a process that ends with its client, or with this process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path

from utterd._asyncio import AsyncClient
from utterd._channel import endpoint
from utterd._errors import StartError
from utterd._oversize import Oversize
from utterd._sync import Client

START_SECONDS = 60.0
"""How long a server may take to start. One with files might have a lot to read."""
LONGEST_SOCKET = 103
"""The most bytes that every system allows for the path of a socket."""
END_SECONDS = 30.0
"""How long a server may take to end by itself."""

NO_PROGRAM = (
    "there is no program utterd: set UTTERD_BIN to one, or build it in a checkout of utterd, "
    "with `cargo install --path .` or `pip install ./clients/python/utterd-server`"
)


def local(
    path: str | os.PathLike[str] | None = None,
    *,
    settings: Mapping[str, str | int | bool] | None = None,
    timeout: float | None = 30.0,
    oversize: Oversize | None = None,
) -> Client:
    """A client with a local server, which ends with the client: `with utterd.local() as memory: …`.

    - `path`: the directory of the server's files; it is created if necessary, and only one server at a time can use
      it. Without one, everything is in memory, and lost when the client is closed.
    - `settings`: keys of the configuration, such as `{"preset": "session"}`. Environment variables and configuration
      files are ignored.

    `timeout` and `oversize` are those of `connect`. Raises `StartError` if there is no program, or it does not start.
    """
    server = Server(path, settings or {})
    return Client(endpoint(server.address, oversize=oversize), timeout, owned=server)


def local_async(
    path: str | os.PathLike[str] | None = None,
    *,
    settings: Mapping[str, str | int | bool] | None = None,
    timeout: float | None = 30.0,
    oversize: Oversize | None = None,
) -> AsyncClient:
    """An asyncio client with a local server; see `local`. Starting the server blocks for a moment."""
    server = Server(path, settings or {})
    return AsyncClient(endpoint(server.address, oversize=oversize), timeout, owned=server)


def find_utterd_bin() -> str:
    """The program `utterd`: from the variable `UTTERD_BIN`, the package `utterd-server`, or PATH.

    Raises `StartError` if there is none.
    """
    if named := os.environ.get("UTTERD_BIN"):
        return named
    try:
        from utterd_server import find_utterd_bin as find
    except ImportError:
        found = shutil.which("utterd")
    else:
        found = os.fspath(find())
    if found is None:
        raise StartError(NO_PROGRAM)
    return found


class Server:
    """A server process on a Unix socket in a private directory."""

    address: str
    """The address that it listens on."""

    def __init__(self, path: str | os.PathLike[str] | None, settings: Mapping[str, str | int | bool]) -> None:
        program = find_utterd_bin()
        flags = _flags(path, settings)
        self._directory = _private_directory()
        self._remove = weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)
        try:
            self._process = self._start(program, flags)
            self._end = weakref.finalize(self, _end, self._process)
            self.address = self._announced()
        except BaseException:
            self._remove()
            raise

    def _start(self, program: str, flags: list[str]) -> subprocess.Popen[bytes]:
        listen = ["--listen", f"unix:{self._directory}/socket", "--announce", "json", "--exit-with-parent"]
        try:
            with open(self._directory / "log", "wb") as log:
                return subprocess.Popen(
                    [program, "serve", *listen, *flags],
                    # The server ends when this pipe closes, however this process ends.
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    # No configuration from this directory or from the environment.
                    cwd=self._directory,
                    env={name: value for name, value in os.environ.items() if not name.startswith("UTTERD_")},
                )
        except OSError as error:
            raise StartError(f"{program} cannot be run: {error}") from error

    def _announced(self) -> str:
        """The address in the first line of its output."""
        assert self._process.stdout is not None
        impatience = threading.Timer(START_SECONDS, self._process.kill)
        impatience.start()
        try:
            line = self._process.stdout.readline()
        finally:
            impatience.cancel()
        if not line:
            self._end()
            log = (self._directory / "log").read_text(errors="replace").strip()
            raise StartError(f"the server did not start: {log or f'exit code {self._process.returncode}'}")
        return str(json.loads(line)["address"])

    def close(self) -> None:
        """Ends the server, and waits until it has ended. A second call does nothing."""
        self._end()
        self._remove()


def _private_directory() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="utterd-"))
    if len(os.fsencode(directory / "socket")) <= LONGEST_SOCKET:
        return directory
    directory.rmdir()
    return Path(tempfile.mkdtemp(prefix="utterd-", dir="/tmp"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Closes the pipe that keeps a server alive, and waits until it ends."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def _flags(path: str | os.PathLike[str] | None, settings: Mapping[str, str | int | bool]) -> list[str]:
    flags = []
    if path is not None:
        directory = Path(path).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        flags += ["--backend", "fjall", "--data-dir", str(directory)]
    for key, value in settings.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        flags.append(f"--{key.replace('_', '-')}={text}")
    return flags
