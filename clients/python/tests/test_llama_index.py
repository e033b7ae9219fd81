"""Chat stores and the memory for LlamaIndex."""

import pytest

pytest.importorskip("llama_index.core", reason="pip install './clients/python/utterd[llama-index]'")

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock
from llama_index.core.storage.chat_store.base_db import MessageStatus

from utterd.llama_index import UtterdChatStore, UtterdDBChatStore, UtterdMemory

CALL = ToolCallBlock(tool_call_id="a", tool_name="lookup", tool_kwargs={"id": 7})
EXCHANGE = [
    ChatMessage(role="user", content="Where is order 7, please?"),
    ChatMessage(role="assistant", blocks=[CALL]),
    ChatMessage(role="tool", content="shipped", additional_kwargs={"tool_call_id": "a"}),
    ChatMessage(role="assistant", content="It was shipped.", additional_kwargs={"x": [1, "y"]}),
    ChatMessage(role="user", blocks=[TextBlock(text="And this?"), ImageBlock(url="https://example.org/a.png")]),
]


def plain(*texts):
    return [ChatMessage(role="user", content=text) for text in texts]


def test_messages_come_back(memory, name):
    store = UtterdChatStore(memory, user=name)
    store.set_messages(name, EXCHANGE)
    assert store.get_messages(name) == EXCHANGE
    assert store.get_keys() == [name] and store.get_messages("none of these") == []
    store.set_messages(name, EXCHANGE[:1])
    assert store.delete_messages(name) == EXCHANGE[:1] and store.delete_messages(name) is None
    assert store.get_keys() == []


def test_messages_by_their_place(memory, name):
    store = UtterdChatStore(memory, user=name)
    for message in plain("b", "d"):
        store.add_message(name, message)
    store.add_message(name, *plain("c"), idx=1)
    store.add_message(name, *plain("a"), idx=0)
    store.add_message(name, *plain("e"), idx=4)
    assert store.get_messages(name) == plain("a", "b", "c", "d", "e")
    assert store.delete_message(name, 1) == plain("b")[0] and store.delete_message(name, -1) == plain("e")[0]
    assert store.delete_message(name, 3) is None and store.delete_message(name, -4) is None
    assert store.delete_last_message(name) == plain("d")[0]
    assert store.get_messages(name) == plain("a", "c")
    assert [store.delete_last_message(name) for _ in range(3)] == [*plain("c", "a"), None]


def test_keys_that_are_no_ids(memory, name):
    store = UtterdChatStore(memory, user=name)
    store.add_message(name + "/" + "x" * 300, *plain("a"))
    assert store.get_keys() == [name + "/" + "x" * 300]


def test_each_user_has_keys_of_their_own(memory, name):
    """LlamaIndex's memories have the same key unless they are given one."""
    stores = [UtterdChatStore(memory, user=f"{name}-{user}") for user in "ab"]
    for store, text in zip(stores, "ab", strict=True):
        store.add_message("chat_history", *plain(text))
    assert [store.get_messages("chat_history") for store in stores] == [plain("a"), plain("b")]
    assert [store.get_keys() for store in stores] == [["chat_history"]] * 2


async def test_messages_have_a_status(memory_async, name):
    store = UtterdDBChatStore(memory_async, user=name)
    await store.add_messages(name, plain("a", "b", "c", "d", "e"))
    assert await store.archive_oldest_messages(name, 2) == plain("a", "b")
    assert await store.get_messages(name) == plain("c", "d", "e")
    assert await store.get_messages(name, status=MessageStatus.ARCHIVED) == plain("a", "b")
    assert await store.get_messages(name, status=None, limit=2, offset=1) == plain("b", "c")
    assert await store.count_messages(name) == 3 and await store.count_messages("none") == 0
    assert await store.delete_oldest_messages(name, 1) == plain("c")
    assert await store.delete_message(name, 4) == plain("d")[0] and await store.delete_message(name, 99) is None
    await store.delete_messages(name, MessageStatus.ARCHIVED)
    assert await store.get_messages(name, status=None) == plain("e")
    await store.set_messages(name, plain("z"))
    assert await store.get_messages(name) == plain("z") and await store.get_keys() == [name]
    assert await store.context(name, 4000) == plain("z")
    await store.delete_messages(name)
    assert await store.get_keys() == []


def test_a_memory_gives_contexts(memory, name):
    remembered = UtterdMemory.from_defaults(memory=memory, session_id=name, budget=4000, recall=True)
    assert remembered.get("order") == [] and remembered.get_all() == []
    remembered.put_messages(EXCHANGE)
    assert remembered.get_all() == EXCHANGE
    given = remembered.get("where is my order?")
    assert given[1].blocks[0].tool_call_id == given[2].additional_kwargs["tool_call_id"] == "a"
    assert given[0] == EXCHANGE[0]
    stored = memory.conversation(name).stored().messages
    remembered.set(EXCHANGE)
    assert memory.conversation(name).stored().messages == stored
    remembered.set([*EXCHANGE[:3], *plain("Thanks.")])
    assert remembered.get_all() == [*EXCHANGE[:3], *plain("Thanks.")]
    assert memory.conversation(name).stored().messages[:3] == stored[:3]
    remembered.set(EXCHANGE[:1])
    assert remembered.get_all() == EXCHANGE[:1]
    remembered.set(plain("Anew."))
    assert remembered.get_all() == plain("Anew.")
    remembered.reset()
    assert remembered.get_all() == []
