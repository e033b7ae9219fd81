"""Sessions for Strands Agents."""

import pytest

pytest.importorskip("strands", reason="pip install 'utterd[strands]'")

from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from utterd.strands import UtterdSessionManager, UtterdSessionRepository

EXCHANGE = [
    {"role": "user", "content": [{"text": "Where are the orders 7 and 8, which I ordered on Monday?"}]},
    {
        "role": "assistant",
        "content": [
            {"text": "I look."},
            {"toolUse": {"toolUseId": "a", "name": "lookup", "input": {"id": 7}}},
            {"toolUse": {"toolUseId": "b", "name": "lookup", "input": {"id": 8}}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "toolResult": {
                    "toolUseId": "a",
                    "status": "success",
                    "content": [{"text": "shipped"}, {"json": {"x": 1}}],
                }
            },
            {"toolResult": {"toolUseId": "b", "status": "error", "content": [{"text": "no such order"}]}},
        ],
    },
    {
        "role": "assistant",
        "content": [{"text": "7 was shipped."}, {"reasoningContent": {"redactedContent": b"\x00\xff"}}],
    },
]


@pytest.fixture
def repository(memory, name):
    repository = UtterdSessionRepository(memory, user=name)
    repository.create_session(Session(name, SessionType.AGENT))
    repository.create_agent(name, SessionAgent("a", {"n": 1}, {}))
    return repository


def test_messages_come_back(repository, name):
    stored = [SessionMessage(message, index) for index, message in enumerate(EXCHANGE)]
    for message in stored:
        repository.create_message(name, "a", message)
    assert repository.list_messages(name, "a") == stored
    assert repository.list_messages(name, "a", limit=2, offset=1) == stored[1:3]
    assert repository.read_message(name, "a", 2) == stored[2] and repository.read_message(name, "a", 9) is None
    with pytest.raises(SessionException, match="already exists"):
        repository.create_message(name, "a", stored[0])


@pytest.mark.parametrize("index", range(4))
def test_a_message_is_replaced_in_its_place(repository, name, index):
    for number, message in enumerate(EXCHANGE):
        repository.create_message(name, "a", SessionMessage(message, number))
    before = repository.read_message(name, "a", index)
    other = {"role": EXCHANGE[index]["role"], "content": [{"text": "[redacted, as it was asked for]"}]}
    changed = SessionMessage(EXCHANGE[index], index, redact_message=other)
    repository.update_message(name, "a", changed)
    assert changed.created_at == before.created_at
    listed = repository.list_messages(name, "a")
    assert [it.message_id for it in listed] == [0, 1, 2, 3] and listed[index] == changed
    assert listed[index].to_message() == other


def test_contexts_keep_exchanges_whole(repository, name):
    for number, message in enumerate(EXCHANGE):
        repository.create_message(name, "a", SessionMessage(message, number))
    system, messages = repository.context(name, "a", 4000)
    assert system == "" and [it["role"] for it in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[0] == EXCHANGE[0] and messages[1] == EXCHANGE[1]
    assert [it["toolResult"]["toolUseId"] for it in messages[2]["content"]] == ["a", "b"]
    assert messages[2]["content"][1]["toolResult"]["content"] == [{"text": "no such order"}]


def test_state_is_replaced(repository, name):
    repository.update_agent(name, SessionAgent("a", {"n": 2, "long": "x" * 100_000}, {"m": b"\x00"}))
    agent = repository.read_agent(name, "a")
    assert agent.state["n"] == 2 and agent.conversation_manager_state == {"m": b"\x00"}
    assert repository.list_messages(name, "a") == []
    with pytest.raises(SessionException, match="does not exist"):
        repository.update_agent(name, SessionAgent("b", {}, {}))


def test_a_session_is_deleted_with_its_agents(memory, repository, name):
    repository.create_agent(name, SessionAgent("b", {}, {}))
    repository.delete_session(name)
    assert repository.read_session(name) is None and repository.read_agent(name, "a") is None
    assert memory.conversations(name) == []


def test_a_manager_restores_an_agent(memory, name):
    from strands import Agent

    agent = Agent(session_manager=UtterdSessionManager(name, memory), agent_id="a")
    for message in EXCHANGE[:2]:
        agent.messages.append(message)
        agent._session_manager.append_message(message, agent)
    again = Agent(session_manager=UtterdSessionManager(name, memory), agent_id="a")
    assert again.messages[:2] == EXCHANGE[:2]
