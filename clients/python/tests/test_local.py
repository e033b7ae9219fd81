"""The local server: how it starts, what it leaves behind, and when it ends."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import utterd

SAID = {"role": "user", "content": "keep this"}


def test_nothing_is_left_of_one_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with utterd.local() as memory:
        (directory,) = tmp_path.iterdir()
        assert directory.stat().st_mode & 0o777 == 0o700
        memory.conversation("a").add(SAID)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError):
        memory.conversation("a").messages()


def test_a_directory_that_is_too_long_for_a_socket(tmp_path, monkeypatch):
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with utterd.local() as memory:
        memory.conversation("a").add(SAID)
    assert list(long.iterdir()) == []


def test_files_are_there_the_next_time(tmp_path):
    for times in (1, 2):
        with utterd.local(tmp_path / "store") as memory:
            memory.conversation("a").add(SAID)
            assert memory.conversation("a").messages() == [SAID] * times


def test_one_server_at_a_time_has_the_files(tmp_path):
    with utterd.local(tmp_path / "store"), pytest.raises(utterd.StartError, match="did not start: .+"):
        utterd.local(tmp_path / "store")


def test_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("UTTERD_BUFFER_SIZE", "3")
    monkeypatch.setenv("UTTERD_NONSENSE", "3")
    with utterd.local(settings={"max_tokens": 500, "summarization_enabled": False}) as memory:
        assert memory.conversation().capacity().max_tokens == 500
        assert memory.conversation().capacity().max_utterances == 20
    with pytest.raises(utterd.StartError, match="no-such-key"):
        utterd.local(settings={"no_such_key": 1})


async def test_one_for_asyncio():
    async with utterd.local_async() as memory:
        chat = memory.conversation(recipient="alice")
        await chat.add(SAID)
        assert await chat.messages() == [SAID]


def test_a_client_that_is_dropped_takes_its_server_along():
    memory = utterd.local()
    process = memory._owned._process
    del memory
    assert process.wait(30) is not None


def test_a_program_that_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("UTTERD_BIN", str(tmp_path / "none"))
    with pytest.raises(utterd.StartError, match="cannot be run"):
        utterd.local()
    monkeypatch.delenv("UTTERD_BIN")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "utterd_server", None)
    with pytest.raises(utterd.StartError, match="pip install ./clients/python/utterd-server"):
        utterd.find_utterd_bin()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="asks /proc whether a process is there")
def test_the_server_ends_with_a_process_that_is_killed(tmp_path):
    script = """
import sys, utterd
memory = utterd.local(sys.argv[1])
memory.conversation("a").add({"role": "user", "content": "keep this"})
print(memory._owned._process.pid, flush=True)
sys.stdin.read()
"""
    command = [sys.executable, "-c", script, str(tmp_path / "store")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as parent:
        server = int(parent.stdout.readline())
        watched = os.pidfd_open(server) if hasattr(os, "pidfd_open") else None
        parent.send_signal(signal.SIGKILL)
    if watched is not None:
        import select

        assert select.select([watched], [], [], 60)[0], "the server runs on"
    with utterd.local(tmp_path / "store") as memory:
        assert memory.conversation("a").messages() == [SAID]
