"""Sessions for Strands Agents."""

import copy

import pytest

pytest.importorskip("strands", reason="pip install './clients/python/utterd[strands]'")

from strands import Agent, tool
from strands.models import Model
from strands.types.exceptions import ContextWindowOverflowException, SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from utterd.strands import UtterdConversationManager, UtterdSessionManager, UtterdSessionRepository

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
    agent = Agent(session_manager=UtterdSessionManager(name, memory), agent_id="a")
    for message in EXCHANGE[:2]:
        agent.messages.append(message)
        agent._session_manager.append_message(message, agent)
    again = Agent(session_manager=UtterdSessionManager(name, memory), agent_id="a")
    assert again.messages[:2] == EXCHANGE[:2]


BUDGET = 2000


class Recorder(Model):
    """A model that answers, records what it is given, and refuses more messages than it takes."""

    def __init__(self):
        self.given, self.most = [], 10_000

    def update_config(self, **config):
        raise NotImplementedError

    def get_config(self):
        return {}

    def structured_output(self, *arguments, **more):
        raise NotImplementedError

    async def stream(self, messages, tools=None, system_prompt=None, *, system_prompt_content=None, **more):
        self.given.append((copy.deepcopy(messages), [block["text"] for block in system_prompt_content or ()]))
        if len(messages) > self.most:
            raise ContextWindowOverflowException("too many messages")
        yield {"messageStart": {"role": "assistant"}}
        text = f"Answer {len(self.given)}: " + "the order was shipped with the first parcel on Monday. " * 3
        yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def agent(memory, name, model, tools=(), **options):
    sessions = UtterdSessionManager(name, memory, budget=BUDGET)
    manager = UtterdConversationManager(sessions, **options)
    return Agent(
        model,
        tools=list(tools),
        session_manager=sessions,
        conversation_manager=manager,
        agent_id="a",
        system_prompt="Be kind.",
    )


def tokens(memory, given):
    messages, prompts = given
    texts = [block["text"] for message in messages for block in message["content"]]
    return sum(memory.count_tokens([*prompts, *texts]).counts)


def test_a_model_is_given_contexts(memory, name):
    model = Recorder()
    one = agent(memory, name, model)
    for turn in range(60):
        one(f"Question {turn}: where is order {turn}, which I ordered on Monday?")
    messages, prompts = model.given[-1]
    assert prompts[0] == "Be kind." and len(prompts) == 2
    assert prompts[1].startswith("Summary of the conversation so far")
    assert messages[0]["role"] == "user" and messages[-1]["content"][0]["text"].startswith("Question 59")
    # Each message counts four tokens besides its text.
    assert 0.85 * BUDGET <= tokens(memory, model.given[-1]) + 4 * len(messages) <= BUDGET
    assert all(tokens(memory, given) <= BUDGET for given in model.given)
    assert len(one._session_manager.list_messages(name, "a")) == 120
    again = agent(memory, name, model)
    assert again.messages == one.messages
    again("And the last one?")
    assert tokens(memory, model.given[-1]) <= BUDGET
    assert model.given[-1][0][-1]["content"][0]["text"] == "And the last one?"


def test_what_another_client_stored_is_no_message_of_the_agent(memory, name):
    model = Recorder()
    one = agent(memory, name, model)
    for turn in range(40):
        memory.conversation(f"{name}/a").add({"role": "user", "content": f"A note on order {turn}."})
        one(f"Question {turn}: where is order {turn}, which I ordered on Monday?")
    assert tokens(memory, model.given[-1]) <= BUDGET
    assert model.given[-1][0][-1]["content"][0]["text"].startswith("Question 39")


def test_a_short_conversation_is_given_whole(memory, name):
    model = Recorder()
    one = agent(memory, name, model)
    one("Hello.")
    one.system_prompt = "Be brief."
    one("And now?")
    messages, prompts = model.given[-1]
    assert [it["content"] for it in messages] == [it["content"] for it in one.messages[:3]]
    assert prompts == ["Be brief."]


def test_a_model_that_refuses_a_context_is_given_half(memory, name):
    model = Recorder()
    one = agent(memory, name, model)
    for turn in range(30):
        one(f"Question {turn}: where is order {turn}, which I ordered on Monday?")
    model.most = 8
    one("Question 30: where is it?")
    assert len(model.given[-1][0]) <= 8 and model.given[-1][0][-1]["content"][0]["text"].startswith("Question 30")
    model.most = 0
    with pytest.raises(ContextWindowOverflowException):
        one("Question 31?")


class Caller(Recorder):
    """A model that calls a tool a number of times before it answers."""

    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    async def stream(self, messages, tool_specs=None, system_prompt=None, **options):
        self.given.append((copy.deepcopy(messages), [block["text"] for block in options["system_prompt_content"]]))
        number = sum("toolUse" in block for message in messages for block in message["content"])
        calling = len(self.given) <= self.calls
        yield {"messageStart": {"role": "assistant"}}
        if calling:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": f"t{len(self.given)}", "name": "fetch"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
        else:
            yield {"contentBlockDelta": {"delta": {"text": f"Done after {number}."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calling else "end_turn"}}


@pytest.mark.parametrize(("calls", "words"), [(1, 60_000), (12, 400), (3, 60_000)])
def test_results_are_cut_and_steps_left_out(memory, name, calls, words):
    @tool
    def fetch() -> str:
        """Fetches a page."""
        return "word " * words

    model = Caller(calls)
    one = agent(memory, name, model, tools=[fetch])
    one("What is on the page?")
    for messages, prompts in model.given:
        results = [block["toolResult"] for message in messages for block in message["content"] if "toolResult" in block]
        texts = [*prompts, *(part["text"] for result in results for part in result["content"])]
        assert sum(memory.count_tokens(texts).counts) <= BUDGET
        assert messages[0]["content"] == [{"text": "What is on the page?"}]
        uses = [block["toolUse"] for message in messages for block in message["content"] if "toolUse" in block]
        assert [it["toolUseId"] for it in uses] == [it["toolUseId"] for it in results]
        assert all(it["status"] == "success" for it in results)
    stored = one._session_manager.list_messages(name, "a")
    assert sum(str(it.message).count("word") for it in stored) == calls * words
    again = agent(memory, name, Caller(0), tools=[fetch])
    again("And now?")
    assert again.messages[-2]["content"] == [{"text": "And now?"}]
