"""Servers for the tests: each has one in memory and one on files."""

import uuid

import pytest

import utterd


@pytest.fixture(scope="session", params=["in memory", "on files"])
def memory(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("store") if request.param == "on files" else None
    with utterd.local(path) as client:
        yield client


@pytest.fixture
def address(memory):
    return memory.address


@pytest.fixture
async def memory_async(address):
    async with utterd.connect_async(address) as client:
        yield client


@pytest.fixture
def name():
    """A unique id."""
    return uuid.uuid4().hex


@pytest.fixture
def chat(memory, name):
    return memory.conversation(name)
