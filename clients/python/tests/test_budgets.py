"""With a budget, an adapter's context has a summary and uses the budget, however long the conversation is."""

import importlib.util

import pytest

import utterd
from utterd import _adding, _read

BUDGET = 20_000
TURNS = 1250
WORDS = ["lamp", "order", "invoice", "error", "window", "report", "customer", "parcel", "refund", "street", "green"]


def needs(module):
    """Skips a test if a framework is not installed."""
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"needs {module}")


def words(number, count):
    return " ".join(WORDS[(number * 7 + place * place) % len(WORDS)] for place in range(count))


def exchange(turn):
    """A question and an answer, of 20 to 180 tokens."""
    return [
        {"role": "user", "content": f"Question {turn}: {words(turn, 10 + turn % 60)}?"},
        {"role": "assistant", "content": f"Answer {turn}: order E{turn:05} has {words(turn, 20 + turn * 13 % 120)}."},
    ]


def messages():
    return [message for turn in range(TURNS) for message in exchange(turn)]


def check(memory, name, texts):
    """The texts have a summary at their head, end with the newest message, and use the budget; all is stored."""
    assert "Summary" in texts[0] and f"Answer {TURNS - 1}:" in texts[-1]
    assert 0.85 <= sum(memory.count_tokens(texts).counts) / BUDGET <= 1
    assert memory.conversation(name).context(BUDGET, archive=False).tokens >= 0.9 * BUDGET
    assert memory.conversation(name).record().policy.archive_limit > 1_000_000
    assert memory.conversation(name).stored(limit=1).messages[0].sequence == 1


def fill(add):
    """Stores 2,500 messages, in calls of 500."""
    said = messages()
    for start in range(0, len(said), 500):
        add(said[start : start + 500])


@needs("agents")
async def test_openai_agents(memory, memory_async, name):
    from utterd.openai_agents import UtterdSession

    session = UtterdSession(name, memory_async, budget=BUDGET)
    said = messages()
    for start in range(0, len(said), 500):
        await session.add_items(said[start : start + 500])
    check(memory, name, [it["content"] for it in await session.get_items()])
    assert len(await session.get_items(limit=10_000)) == 2 * TURNS


@needs("langchain_core")
def test_langchain(memory, name):
    from langchain_core.messages import convert_to_messages

    from utterd.langchain import UtterdChatMessageHistory

    history = UtterdChatMessageHistory(name, memory, budget=BUDGET)
    fill(lambda said: history.add_messages(convert_to_messages(said)))
    check(memory, name, [it.text for it in history.messages])


@needs("langgraph")
def test_langgraph(memory, name):
    from langchain_core.messages import convert_to_messages

    from utterd.langgraph import build_context

    node, configuration = build_context(memory, budget=BUDGET), {"configurable": {"thread_id": name}}
    said = [message.model_copy(update={"id": str(n)}) for n, message in enumerate(convert_to_messages(messages()))]
    for end in range(500, len(said) + 1, 500):
        given = node({"messages": said[:end]}, configuration)["llm_input_messages"]
    check(memory, name, [it.text for it in given])


@needs("llama_index")
def test_llama_index(memory, name):
    from llama_index.core.base.llms.types import ChatMessage

    from utterd.llama_index import UtterdMemory

    remembered = UtterdMemory.from_defaults(memory=memory, session_id=name, budget=BUDGET)
    fill(lambda said: remembered.put_messages([ChatMessage(**it) for it in said]))
    check(memory, name, [it.content for it in remembered.get()])


@needs("pydantic_ai")
async def test_pydantic_ai(memory, memory_async, name):
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    from utterd.pydantic_ai import UtterdHistory

    history = UtterdHistory(name, memory_async, budget=BUDGET)
    for start in range(0, TURNS, 250):
        pairs = [exchange(turn) for turn in range(start, start + 250)]
        await history.save(
            [
                message
                for asked, answered in pairs
                for message in (
                    ModelRequest([UserPromptPart(asked["content"])]),
                    ModelResponse([TextPart(answered["content"])]),
                )
            ]
        )
    check(memory, name, [part.content for message in await history.context() for part in message.parts])


@needs("llama_index")
def test_a_window_that_someone_else_limited_is_filled_from_the_archive(memory, name):
    from utterd.llama_index import UtterdMemory

    fill(memory.conversation(name).add)
    texts = [it.content for it in UtterdMemory(memory, name, budget=BUDGET).get()]
    assert "Summary" in texts[0] and f"Answer {TURNS - 1}:" in texts[-1]
    assert 0.85 <= sum(memory.count_tokens(texts).counts) / BUDGET <= 1


@needs("llama_index")
def test_contexts_begin_alike_between_two_evictions(memory, name):
    from llama_index.core.base.llms.types import ChatMessage

    from utterd.llama_index import UtterdMemory

    remembered = UtterdMemory(memory, name, budget=BUDGET)
    fill(lambda said: remembered.put_messages([ChatMessage(**it) for it in said]))
    alike, before = 0, remembered.get()
    for turn in range(TURNS, TURNS + 60):
        remembered.put_messages([ChatMessage(**it) for it in exchange(turn)])
        after = remembered.get()
        alike += after[: len(before)] == before
        before = after
    assert alike >= 40


@needs("llama_index")
def test_a_policy_of_ones_own(memory, name):
    from llama_index.core.base.llms.types import ChatMessage

    from utterd.llama_index import UtterdMemory

    remembered = UtterdMemory(memory, name, budget=BUDGET, policy=utterd.Policy(max_utterances=6))
    remembered.put(ChatMessage(role="user", content="Hello."))
    assert memory.conversation(name).record().policy.max_utterances == 6


def test_limits_are_for_a_conversation_that_starts(memory, name):
    limited = utterd.Policy(max_utterances=6)
    with pytest.raises(ValueError, match="accepted: with an id"):
        memory.conversation(recipient=name, policy=limited)
    chat = memory.conversation(name, policy=limited, labels={"a": "b"})
    chat.add({"role": "user", "content": "Hello."})
    assert (chat.record().policy.max_utterances, chat.record().labels) == (6, {"a": "b"})
    memory.conversation(name, policy=utterd.Policy(max_utterances=9)).add({"role": "user", "content": "And?"})
    assert chat.record().policy.max_utterances == 6
    assert chat.delete()
    chat.add({"role": "user", "content": "Once more."}, expected_revision=0)
    with pytest.raises(utterd.ConflictError):
        memory.conversation(name, policy=limited).add({"role": "user", "content": "No."}, expected_revision=0)
    assert chat.record().policy.max_utterances == 6


@needs("agents")
@pytest.mark.parametrize("size", [25, 250])
async def test_everything_stays_stored_without_a_budget(name, monkeypatch, size):
    from utterd.openai_agents import UtterdSession

    monkeypatch.setattr(_adding, "LONG", 60)
    monkeypatch.setattr(_read, "BATCH", 40)
    settings = {"archive_limit": 100, "buffer_size": 20}
    said = [{"role": "user", "content": str(number)} for number in range(500)]
    async with utterd.local_async(settings=settings) as memory:
        for start in range(0, 500, size):
            session = UtterdSession(name, memory)
            await session.add_items(said[start : start + size])
        assert await session.get_items() == said
        assert (await session.conversation.record()).policy.max_utterances == 20


@needs("llama_index")
def test_messages_are_stored_even_if_the_limits_cannot_be_raised(memory, name, monkeypatch, caplog):
    from llama_index.core.base.llms.types import ChatMessage

    from utterd.llama_index import UtterdMemory

    monkeypatch.setattr(_adding, "LONG", 1)
    remembered = UtterdMemory(memory, name)
    answer = memory._answer

    def denied(call):
        if call.method.endswith("/UpdateConversation"):
            raise utterd.DeniedError("no", code="PERMISSION_DENIED")
        return answer(call)

    monkeypatch.setattr(memory, "_answer", denied)
    remembered.put(ChatMessage(role="user", content="Hello."))
    assert len(remembered.get_all()) == 1 and "could not be raised: no" in caplog.text
