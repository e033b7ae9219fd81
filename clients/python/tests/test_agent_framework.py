"""The history provider for Microsoft's Agent Framework."""

import base64
import json

import pytest

pytest.importorskip("agent_framework", reason="pip install './clients/python/utterd[agent-framework]'")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    tool,
)

from utterd.agent_framework import UtterdHistoryProvider

TURNS = 30
PICTURE = f"data:image/png;base64,{base64.b64encode(bytes(range(64))).decode()}"
SAID = [
    Message("system", ["Be kind."]),
    Message(
        "user",
        ["What is this?", Content.from_uri(PICTURE, media_type="image/png"), Content.from_text("And this?")],
        author_name="Zoë K",
        additional_properties={"n": [1, None]},
    ),
    Message(
        "assistant",
        [
            Content.from_text_reasoning(text="Let me look.", protected_data="c2ln"),
            Content.from_text("I look."),
            Content.from_function_call("c1", "look", arguments='{"at": 1.0}'),
            Content.from_function_call("c2", "look", arguments={"at": [2]}),
            Content.from_function_call("c3", "look", arguments='{"at": '),
        ],
        message_id="m1",
    ),
    Message(
        "tool",
        [
            Content.from_function_result("c1", result="A dot."),
            Content.from_function_result("c2", result={"seen": ["a dot"]}),
            Content.from_function_result("c3", result="", exception="refused"),
        ],
    ),
    Message("assistant", [Content.from_error(message="boom", error_code="E"), Content.from_text("")]),
    Message("user", [Content.from_uri("https://example.org/a.pdf", media_type="application/pdf")]),
    Message("user", []),
]


def plain(messages):
    """Without what differs between two runs, and between two providers."""

    def kept(value):
        if isinstance(value, dict):
            return {key: kept(part) for key, part in value.items() if key not in ("_attribution", "id", "message_id")}
        return [kept(part) for part in value] if isinstance(value, list) else value

    return [kept(json.loads(message.to_json())) for message in messages]


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """A client that calls tools as the newest message says, and records the requests."""

    def __init__(self):
        super().__init__()
        self.requests = []

    async def _inner_get_response(self, *, messages, stream, options, **more):
        self.requests.append(plain(messages))
        number, last = len(self.requests), messages[-1]
        contents = [Content.from_text_reasoning(text=f"Thought {number}.", protected_data=f"s{number}")]
        if last.role == "user" and "calls" in last.text:
            contents += [
                Content.from_function_call(f"c{number}{city}", "weather", arguments='{"city": "Oslo"}') for city in "ab"
            ]
        elif last.role == "user" and "approval" in last.text:
            contents.append(Content.from_function_call(f"c{number}", "book", arguments={"city": "Oslo"}))
        else:
            contents.append(Content.from_text(f"Answer {number}."))
        return ChatResponse(messages=[Message("assistant", contents)])


@tool(approval_mode="never_require")
def weather(city: str) -> str:
    """The weather."""
    return f"It rains in {city}."


@tool(approval_mode="always_require")
def book(city: str) -> str:
    """Books a room."""
    return f"A room in {city}."


async def requests(history, name):
    client = Scripted()
    agent = Agent(client=client, instructions="Be kind.", tools=[weather, book], context_providers=[history])
    session = agent.create_session(session_id=name)
    for turn in range(TURNS):
        kind = ("words", "picture", "calls", "approval")[turn % 4]
        shown = [Content.from_uri(PICTURE, media_type="image/png")] if kind == "picture" else []
        response = await agent.run([Message("user", [f"Question {turn}: {kind}", *shown])], session=session)
        if asked := response.user_input_requests:
            approved = [it.to_function_approval_response(approved=True) for it in asked]
            await agent.run([Message("user", approved)], session=session)
    return client.requests


@pytest.mark.parametrize("budget", [None, 100_000])
async def test_a_model_gets_what_it_would_get_without(memory_async, name, budget):
    own = await requests(InMemoryHistoryProvider(), name)
    assert len(own) > TURNS + TURNS // 4
    assert await requests(UtterdHistoryProvider(memory_async, budget=budget), name) == own


@pytest.mark.parametrize("budget", [None, 4000])
async def test_messages_come_back(memory_async, name, budget):
    history = UtterdHistoryProvider(memory_async, budget=budget)
    assert await history.get_messages(name) == []
    await history.save_messages(name, SAID)
    got = await history.get_messages(name)
    assert [it.to_json() for it in got] == [it.to_json() for it in SAID]
    with pytest.raises(ValueError, match="session_id: None"):
        await history.get_messages(None)


async def test_a_long_session_and_a_long_result(memory, memory_async, name):
    history = UtterdHistoryProvider(memory_async, budget=2000)
    for number in range(200):
        question = Message("user", [f"Question {number} is about the parcel {number}."])
        await history.save_messages(name, [question, Message("assistant", [f"Answer {number}."])])
    call = Content.from_function_call("c", "fetch", arguments="{}")
    result = Content.from_function_result("c", result="word " * 60_000)
    said = [Message("user", ["Fetch it."]), Message("assistant", [call]), Message("tool", [result])]
    await history.save_messages(name, said)
    got = await history.get_messages(name)
    assert got[0].role == "system" and got[0].text.startswith("Summary of the conversation so far")
    assert [it.role for it in got[-3:]] == ["user", "assistant", "tool"]
    assert plain(got[-3:-1]) == plain(said[:2])
    shown = got[-1].contents[0]
    assert shown.call_id == "c" and sum(memory.count_tokens([shown.result, got[0].text]).counts) <= 2000
    assert len(await UtterdHistoryProvider(memory_async).get_messages(name)) == 403


async def test_what_another_client_stored_is_a_message_too(memory, memory_async, name):
    picture = {"type": "image_url", "image_url": {"url": PICTURE}}
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    memory.conversation(name).add(
        [
            {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "A dot."},
        ]
    )
    asked, called, answered = await UtterdHistoryProvider(memory_async, budget=4000).get_messages(name)
    assert asked.text == "What is this?" and asked.contents[1].uri == PICTURE
    assert called.contents[0].name == "look"
    assert answered.role == "tool" and answered.contents[0].result == "A dot."
    listed = await UtterdHistoryProvider(memory_async).get_messages(name)
    assert [it.role for it in listed] == ["user", "assistant", "tool"] and listed[0].text == "What is this?"


async def test_with_a_compaction_each_question_is_stored_once_and_in_its_place(memory_async, name):
    """Also if a tool call follows it, and in a later run (agent-framework 6972, 8441, 4924)."""
    from agent_framework import CompactionProvider, SlidingWindowStrategy

    compaction = CompactionProvider(before_strategy=SlidingWindowStrategy(keep_last_groups=1))
    history = UtterdHistoryProvider(memory_async)
    agent = Agent(client=Scripted(), tools=[weather], context_providers=[history, compaction])
    questions = [f"Question {turn}: calls" for turn in range(3)]
    for question in questions:
        # A session that was restored, as between two requests.
        await agent.run(question, session=agent.create_session(session_id=name))
    stored = await UtterdHistoryProvider(memory_async).get_messages(name)
    assert [it.text for it in stored if it.role == "user"] == questions
    assert [it.role for it in stored] == ["user", "assistant", "tool", "assistant"] * len(questions)
