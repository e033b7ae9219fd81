"""What works in a process that was forked from one that had used a client."""

import asyncio
import os
import subprocess
import sys

import pytest

import utterd

SCRIPT = """
import asyncio, os, sys, utterd

SAID = {"role": "user", "content": "hi"}

async def add(client):
    await client.conversation("chat").add(SAID)
    return len(await client.conversation("chat").messages())

def forked(work):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)
    try:
        print(work(), flush=True)
    except utterd.UtterdError as error:
        print(error, flush=True)
    os._exit(0)

address, order = sys.argv[1:]
shared = utterd.connect_async(address)
if order == "used":
    asyncio.run(add(shared))
forked(lambda: asyncio.run(add(shared)))
forked(lambda: asyncio.run(add(utterd.connect_async(address))))
print(asyncio.run(add(shared)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("order", ["used", "unused"])
def test_forked_processes(tmp_path, order):
    with utterd.local() as memory:
        command = [sys.executable, "-c", SCRIPT, memory.address, order]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    first, second, *rest = ended.stdout.splitlines()
    if order == "used":
        assert "this process was forked" in first and first == second and rest == ["2"]
    else:
        assert [first, second, *rest] == ["1", "2", "3"]


async def test_event_loops_of_one_process(address, name):
    """A process can have several event loops, one after the other and at once."""
    client = utterd.connect_async(address)
    await client.conversation(name).add({"role": "user", "content": "hi"})
    there = await asyncio.to_thread(lambda: asyncio.run(client.conversation(name).messages()))
    assert there == await client.conversation(name).messages()
    await client.close()
