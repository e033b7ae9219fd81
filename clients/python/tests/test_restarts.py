"""Adds go on while the server is away: all succeed, none is stored twice, and they are in order."""

import asyncio
import json
import subprocess
import threading
import time

import pytest

import utterd

AWAY = 4
"""Seconds that the server is away: more than two pauses between attempts."""


class Restarted:
    """A server on files, at an address that it keeps."""

    def __init__(self, files):
        self._files = files
        self.address = "127.0.0.1:0"
        self.start()

    def start(self):
        flags = ["--listen", self.address, "--announce", "json", "--exit-with-parent", "--log", "error"]
        store = ["--backend", "fjall", "--data-dir", str(self._files)]
        command = [utterd.find_utterd_bin(), "serve", *flags, *store]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.address = json.loads(self._process.stdout.readline())["address"].removeprefix("http://")

    def end(self, how):
        getattr(self._process, how)()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


@pytest.fixture
def server(tmp_path):
    server = Restarted(tmp_path / "store")
    yield server
    server.end("kill")


def said(number):
    return {"role": "user", "content": f"message {number}"}


@pytest.mark.parametrize("how", ["terminate", "kill"])
def test_adds_outlast_a_restart(server, how):
    back, counts = threading.Event(), [0, 0, 0]

    def add_until_it_is_back(place, chat):
        while not back.is_set() or counts[place] < 50:
            chat.add(said(counts[place]))
            counts[place] += 1

    with utterd.connect(server.address) as memory:
        chats = [memory.create(f"chat-{place}", policy=utterd.Policy(preset="session")) for place in range(3)]
        adding = [threading.Thread(target=add_until_it_is_back, args=it) for it in enumerate(chats)]
        for thread in adding:
            thread.start()
        while min(counts) < 10:
            time.sleep(0.001)
        server.end(how)
        time.sleep(AWAY)
        server.start()
        back.set()
        for thread in adding:
            thread.join()
        for place, chat in enumerate(chats):
            assert counts[place] >= 50
            assert chat.messages() == list(map(said, range(counts[place])))


async def test_adds_outlast_a_restart_for_asyncio(server):
    async with utterd.connect_async(server.address) as memory:
        chat = await memory.create("chat", policy=utterd.Policy(preset="session"))
        await chat.add(said(0))
        server.end("kill")
        adding = asyncio.create_task(chat.add(said(1)))
        await asyncio.sleep(AWAY)
        assert not adding.done()
        server.start()
        assert not (await adding).replayed
        assert await chat.messages() == [said(0), said(1)]
