"""The session for the OpenAI Agents SDK."""

import asyncio
import base64
from types import SimpleNamespace

import pytest

import utterd

pytest.importorskip("agents", reason="pip install './clients/python/utterd[openai-agents]'")

from agents import Agent, Model, ModelResponse, OpenAIResponsesCompactionSession, Runner, Usage
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from utterd.openai_agents import UtterdSession, items_of

EXCHANGE = [
    {"role": "user", "content": "Where is order 7?"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "zz"},
    {"type": "function_call", "call_id": "a", "name": "lookup", "arguments": '{"id": 7.10}', "id": "fc_1"},
    {"type": "function_call", "call_id": "b", "name": "lookup", "arguments": "not json"},
    {"type": "function_call_output", "call_id": "b", "output": "no such order"},
    {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "shipped"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It was shipped."}]},
]
ODD = [
    {"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64," + "A" * 4000}]},
    {"role": "user", "content": "\x00 lone \ud800 \U0001f600"},
    {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "item_reference", "id": "x"},
    {"type": "mcp_call", "id": "m", "server_label": "s", "name": "n", "arguments": "{}", "output": None},
    {"type": "compaction", "encrypted_content": base64.b64encode(bytes(999)).decode()},
    {"type": "computer_call", "call_id": "cc", "id": "q", "action": {"type": "click", "x": 1, "y": 2.5}},
    {"type": "function_call_output", "call_id": "orphan", "output": "no call"},
    {"role": "developer", "content": "d", "n": 12345678901234567890123, "f": 1e-7},
    {"role": "user", "content": ""},
    {"__enc__": 1, "payload": "an item that is encrypted"},
    {"role": "critic", "content": "a role of one's own"},
]


@pytest.fixture
async def session(memory_async, name):
    return UtterdSession(name, memory_async)


async def test_items_come_back(session):
    assert await session.get_items() == [] and await session.pop_item() is None
    await session.add_items(EXCHANGE)
    await session.add_items(ODD)
    items = EXCHANGE + ODD
    assert await session.get_items() == items
    assert await session.get_items(3) == items[-3:] and await session.get_items(0) == []
    assert [await session.pop_item() for _ in range(len(items) + 1)] == [*items[::-1], None]


async def test_calls_are_calls_for_the_server(session, memory_async, name):
    await session.add_items(EXCHANGE)
    roles = [it.role for it in (await memory_async.conversation(name).stored()).messages]
    assert roles == ["user", "assistant", "assistant", "assistant", "tool", "tool", "assistant"]
    context = await session.context(8000)
    calls = [it for it in context if it.get("type") == "function_call"]
    outputs = [it for it in context if it.get("type") == "function_call_output"]
    assert {it["call_id"] for it in calls} == {it["call_id"] for it in outputs} == {"a", "b"}
    assert context == EXCHANGE


async def test_with_a_budget_the_model_is_given_a_context(memory_async, name):
    policy = utterd.Policy(max_utterances=6)
    session = UtterdSession(name, memory_async, budget=400, recall=True, policy=policy)
    assert await session.get_items() == []
    for n in range(20):
        await session.add_items(
            [{"role": "user", "content": f"Lamp {n} is broken, error E{n:04}, the switch is dead."}]
        )
    given = await session.get_items()
    assert len(given) < 20 and given[-1]["content"].startswith("Lamp 19")
    assert len(await session.get_items(limit=100)) == 20


async def test_the_newest_items_are_replaced_if_nothing_was_said_since(session):
    await session.add_items(EXCHANGE)
    summary = {"type": "compaction", "encrypted_content": "zz"}
    snapshot = await session._get_compaction_snapshot(3)
    assert snapshot.items == EXCHANGE[-3:] and not snapshot.complete
    await session.add_items(ODD[:1])
    assert not await snapshot.replace_suffix(0, [summary])
    snapshot = await session._get_compaction_snapshot(20)
    assert snapshot.complete and await snapshot.replace_suffix(1, [summary])
    assert await session.get_items() == [EXCHANGE[0], summary]
    assert not await snapshot.replace_suffix(1, [summary])


async def test_what_is_said_during_a_compaction_of_the_sdk_is_kept(session, memory_async, name):
    """A model's compaction replaces what it was made from, or nothing (openai-agents 4679)."""
    summary = {"type": "compaction", "encrypted_content": "zz"}
    meanwhile = [{"role": "user", "content": "And where is order 8?"}]

    class Responses:
        async def compact(self, **request):
            if meanwhile:
                await UtterdSession(name, memory_async).add_items([meanwhile.pop()])
            return SimpleNamespace(output=[summary], usage=None)

    compacting = OpenAIResponsesCompactionSession(
        name, session, client=SimpleNamespace(responses=Responses()), should_trigger_compaction=lambda context: True
    )
    agent = Agent(name="shop", model=Answering())
    await Runner.run(agent, "Where is order 7?", session=compacting)
    assert [it.get("role") for it in await session.get_items()] == ["user", "assistant", "user"]
    assert (await session.get_items())[-1]["content"] == "And where is order 8?"
    await Runner.run(agent, "Where is order 9?", session=compacting)
    assert await session.get_items() == [summary]


class Answering(Model):
    """A model that says the same thing each time."""

    async def get_response(self, *given, **more):
        text = ResponseOutputText(type="output_text", text="It was shipped.", annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[said], usage=Usage(), response_id="r")

    def stream_response(self, *given, **more):
        raise NotImplementedError


async def test_a_cancelled_change_is_made_to_its_end(session):
    task = asyncio.ensure_future(session.add_items(EXCHANGE))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await session.get_items() == EXCHANGE


async def test_ids_that_are_none(memory_async, name):
    for odd in (name + "\n", name + "x" * 300):
        session = UtterdSession(odd, memory_async)
        await session.add_items(EXCHANGE[:1])
        assert await UtterdSession(odd, memory_async).get_items() == EXCHANGE[:1]
        await session.clear_session()
        assert await session.get_items() == []


async def test_items_of_a_context_are_known_to_the_sdk():
    """By Chat Completions, and by a run that was saved."""
    from agents.models.chatcmpl_converter import Converter
    from openai.types.responses import ResponseInputItemParam
    from pydantic import TypeAdapter

    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "A dot."},
        {"role": "assistant", "content": "It is a dot."},
    ]
    items = items_of(said)
    assert [it.get("type") for it in items] == [None, "message", "function_call", "function_call_output", "message"]
    roles = [it["role"] for it in Converter.items_to_messages(items)]
    assert roles == ["user", "assistant", "assistant", "tool", "assistant"]
    adapter = TypeAdapter(list[ResponseInputItemParam])
    assert adapter.dump_python(adapter.validate_python(items), mode="json", warnings=False)[4] == items[4]
