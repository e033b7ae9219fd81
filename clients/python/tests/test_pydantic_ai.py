"""Histories for Pydantic AI."""

import pytest

pytest.importorskip("pydantic_ai", reason="pip install './clients/python/utterd[pydantic-ai]'")

from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.test import TestModel

from utterd.pydantic_ai import UtterdHistory


def agent():
    agent = Agent(TestModel(), system_prompt="You are kind, and you know the weather.")

    @agent.tool_plain
    def weather(city: str) -> dict:
        return {"degrees": 1.5, "city": city}

    return agent


async def test_messages_come_back(memory_async, name):
    history, it = UtterdHistory(name, memory_async), agent()
    assert await history.load() == [] and await history.context(4000) == []
    for _ in range(3):
        prompt = ["And this one?", BinaryContent(bytes(range(256)), media_type="image/png")]
        result = await it.run(prompt, message_history=await history.load())
        await history.save(result.new_messages())
    dumped = ModelMessagesTypeAdapter.dump_json
    assert dumped(await history.load()) == dumped(result.all_messages())
    assert dumped(await history.load(last=2)) == dumped(result.all_messages()[-2:])
    await history.clear()
    assert await history.load() == []


async def test_contexts_are_histories(memory_async, name):
    history, it = UtterdHistory(name, memory_async), agent()
    for _ in range(3):
        result = await it.run("How is it in Rome?", message_history=await history.context(budget=2000))
        await history.save(result.new_messages())
    parts = [part for message in await history.context(budget=2000) for part in message.parts]
    assert [part.content for part in parts if isinstance(part, SystemPromptPart)] == [
        "You are kind, and you know the weather."
    ]
    calls = [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)]
    returns = [(part.tool_call_id, part.tool_name) for part in parts if isinstance(part, ToolReturnPart)]
    assert calls and returns == [(call, "weather") for call in calls]


async def test_an_image_that_another_program_stored_is_shown(memory_async, name):
    history = UtterdHistory(name, memory_async)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AP8="}}
    said = {"role": "user", "content": [image, {"type": "text", "text": "What is this?"}]}
    await history.conversation.add(said, format="anthropic")
    for messages in (await history.load(), await history.context(2000)):
        asked = [BinaryContent(b"\x00\xff", media_type="image/png"), "What is this?"]
        assert [part.content for message in messages for part in message.parts] == [asked]


async def test_half_of_a_surrogate_pair_comes_back(memory_async, name):
    history = UtterdHistory(name, memory_async)
    said = [ModelRequest([UserPromptPart("cut within \ud83d")]), ModelResponse([TextPart("\udc00 too")])]
    await history.save(said)
    assert [it.parts[0].content for it in await history.load()] == ["cut within \ud83d", "\udc00 too"]
    assert len(await history.context(1000)) == 2
