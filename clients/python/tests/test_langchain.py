"""History and contexts for LangChain, and nodes for LangGraph."""

import subprocess
import sys

import pytest

pytest.importorskip("langchain_core", reason="pip install './clients/python/utterd[langchain]'")

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

import utterd
from utterd.langchain import UtterdChatMessageHistory, build_context, remember

EXCHANGE = [
    SystemMessage("Be brief."),
    HumanMessage("Where is order 7?", name="alice"),
    AIMessage("", id="run-1", tool_calls=[{"id": "a", "name": "lookup", "args": {"id": 7, "note": "é" * 40}}]),
    ToolMessage('{"state": "shipped, with DHL, on Monday"}', tool_call_id="a", name="lookup", status="error"),
    AIMessage("It was shipped.", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
    HumanMessage([{"type": "text", "text": "And this?"}, {"type": "image_url", "image_url": {"url": "data:,AAAA"}}]),
    ChatMessage(role="critic", content="Wrong."),
]


def test_messages_come_back(memory, name):
    history = UtterdChatMessageHistory(name, memory)
    assert history.messages == []
    history.add_messages(EXCHANGE)
    assert history.messages == EXCHANGE
    history.messages = EXCHANGE[:2]
    assert history.messages == EXCHANGE[:2]
    history.clear()
    assert history.messages == []


def test_a_plain_message_is_a_message_of_the_provider(memory, name):
    UtterdChatMessageHistory(name, memory).add_messages(EXCHANGE[:1])
    assert memory.conversation(name).messages() == [{"role": "system", "content": "Be brief."}]


def test_what_another_client_stored_is_a_message_too(memory, name):
    memory.conversation(name).add({"role": "user", "content": "Hello."})
    assert UtterdChatMessageHistory(name, memory).messages == [HumanMessage("Hello.")]


def test_contexts_are_messages(memory, name):
    history = UtterdChatMessageHistory(name, memory, budget=4000, policy=utterd.Policy(preset="session"))
    history.add_messages(EXCHANGE)
    assert history.messages == history.context(4000)
    call, result = history.messages[2:4]
    assert call.tool_calls[0]["id"] == result.tool_call_id == "a" and call.tool_calls[0]["args"]["id"] == 7
    assert history.stored() == EXCHANGE


def said(memory, name):
    return [(it["role"], it["content"]) for it in memory.conversation(name).messages()]


def test_a_chain_remembers(memory, name):
    model = GenericFakeChatModel(messages=iter(["Hello.", "Once more."]))
    chain = build_context(memory, budget=4000) | model | remember(memory)
    configuration = {"configurable": {"session_id": name}}
    assert chain.invoke("Hi", configuration).content == "Hello."
    assert "".join(part.content for part in chain.stream([HumanMessage("Again")], configuration)) == "Once more."
    assert said(memory, name) == [
        ("user", "Hi"),
        ("assistant", "Hello."),
        ("user", "Again"),
        ("assistant", "Once more."),
    ]
    with pytest.raises(ValueError, match="configurable.session_id is missing"):
        chain.invoke("Hi")


async def test_a_chain_remembers_for_asyncio(memory, name):
    model = GenericFakeChatModel(messages=iter(["Hello.", "Once more."]))
    chain = build_context(memory, budget=4000) | model | remember(memory)
    configuration = {"configurable": {"session_id": name}}
    assert (await chain.ainvoke("Hi", configuration)).content == "Hello."
    assert "".join([part.content async for part in chain.astream("Again", configuration)]) == "Once more."
    assert len(said(memory, name)) == 4


def test_nodes_store_each_message_once(memory, name):
    pytest.importorskip("langgraph", reason="pip install './clients/python/utterd[langgraph]'")
    from utterd import langgraph

    configuration = {"configurable": {"thread_id": name}}
    messages = [message.model_copy(update={"id": f"m{n}"}) for n, message in enumerate(EXCHANGE[:5])]
    store, build = langgraph.remember(memory), langgraph.build_context(memory, budget=4000)
    for count in (1, 2, 2, 4):
        assert store({"messages": messages[:count]}, configuration) == {}
    given = build({"messages": messages}, configuration)["llm_input_messages"]
    assert [message.content for message in given] == [message.content for message in messages]
    store({"messages": messages[:3]}, configuration)
    assert UtterdChatMessageHistory(name, memory).messages == messages


@pytest.fixture
def graph(memory, name):
    """A function that stores a state, given as the numbers and the texts of its messages; and what is stored then."""
    pytest.importorskip("langgraph", reason="pip install './clients/python/utterd[langgraph]'")
    from utterd import langgraph

    def state(*said, node=langgraph.remember, **options):
        messages = [HumanMessage(text or str(n), id=f"m{n}") for n, text in said]
        node(memory, **options)({"messages": messages}, {"configurable": {"thread_id": name}})
        return [(it.utterance_id, it.message["content"]) for it in memory.conversation(name).stored().messages]

    return state


def numbered(*numbers):
    return [(n, "") for n in numbers]


def listed(*numbers):
    return [(f"m{n}", str(n)) for n in numbers]


def test_what_was_removed_from_a_state_is_removed(graph):
    assert graph(*numbered(0, 1, 2, 3)) == listed(0, 1, 2, 3)
    assert graph(*numbered(0, 2, 3)) == listed(0, 2, 3)
    assert graph(*numbered(2)) == listed(2, 3)
    assert graph(*numbered(2, 3, 4)) == listed(2, 3, 4)
    assert graph(*numbered(4, 5)) == listed(4, 5)


def test_what_was_removed_can_be_restored_and_can_come_back(graph, memory, name):
    graph(*numbered(0, 1, 2))
    assert graph(*numbered(0, 2)) == listed(0, 2)
    memory.conversation(name).restore(["m1"])
    assert len(memory.conversation(name).messages()) == 3
    assert graph(*numbered(0, 2)) == listed(0, 2)
    assert graph(*numbered(0, 1, 2)) == listed(0, 1, 2)


def test_what_others_said_at_the_same_time_stays(graph):
    """Two runs from one checkpoint, or from none: neither state ever held what the other one says."""
    graph(*numbered(0, 1))
    assert graph(*numbered(0, 1, 2)) == listed(0, 1, 2)
    assert graph(*numbered(0, 1, 3)) == listed(0, 1, 2, 3)
    assert graph(*numbered(0, 1, 2, 4)) == listed(0, 1, 2, 3, 4)
    assert graph(*numbered(0, 1, 3, 5)) == listed(0, 1, 2, 3, 4, 5)
    assert graph(*numbered(0, 3, 5, 6)) == listed(0, 2, 3, 4, 5, 6)


def test_exchanges_of_which_something_was_removed(memory, name):
    pytest.importorskip("langgraph", reason="pip install './clients/python/utterd[langgraph]'")
    from utterd import langgraph

    said = [it.model_copy(update={"id": f"m{n}"}) for n, it in enumerate([*EXCHANGE, *EXCHANGE[:1]])]
    node, configuration = langgraph.remember(memory), {"configurable": {"thread_id": name}}

    def stored(*places):
        node({"messages": [said[place] for place in places]}, configuration)
        return [int(it.utterance_id[1:]) for it in memory.conversation(name).stored().messages]

    everything = range(len(said))
    calling = next(n for n, it in enumerate(said) if getattr(it, "tool_calls", None))
    assert stored(*everything) == list(everything)
    without = [n for n in everything if n != calling + 1]
    assert stored(*without) == without
    assert stored(*[n for n in without if n != calling]) == [n for n in without if n != calling]


def test_a_state_that_starts_anew_removes_nothing_of_others(graph):
    assert graph(*numbered(0, 1)) == listed(0, 1)
    assert graph(*numbered(2)) == listed(0, 1, 2)
    assert graph(*numbered(2, 3)) == listed(0, 1, 2, 3)
    assert graph(*numbered(3, 4)) == listed(0, 1, 3, 4)
    assert graph(*numbered(5)) == listed(0, 1, 3, 4, 5)
    assert graph(*numbered(5, 6)) == listed(0, 1, 3, 4, 5, 6)


def test_what_other_clients_stored_stays(graph, memory, name):
    said = [{"role": "user", "content": str(n)} for n in range(4)]
    memory.conversation(name).add(said, ids=[f"m{n}" for n in range(4)])
    assert graph(*numbered(2, 3, 4)) == listed(0, 1, 2, 3, 4)
    assert graph(*numbered(3, 4)) == listed(0, 1, 2, 3, 4)


def test_the_oldest_stay_if_that_is_wanted(graph):
    assert graph(*numbered(0, 1, 2, 3), keep_oldest=True) == listed(0, 1, 2, 3)
    assert graph(*numbered(2, 3, 4), keep_oldest=True) == listed(0, 1, 2, 3, 4)
    assert graph(*numbered(2, 4), keep_oldest=True) == listed(0, 1, 2, 4)
    assert graph(*numbered(9, 4), keep_oldest=True) == listed(0, 1, 2, 9, 4)


def test_what_changed_in_a_state_changes_in_its_place(graph, memory, name):
    graph(*numbered(0, 1, 2))
    before = memory.conversation(name).stored().messages[1]
    assert graph((0, ""), (1, "edited"), (2, ""), (3, "")) == [("m0", "0"), ("m1", "edited"), *listed(2, 3)]
    assert memory.conversation(name).stored().messages[1].sequence == before.sequence
    revision = memory.conversation(name).record().revision
    graph((0, ""), (1, "edited"), (2, ""), (3, ""))
    assert memory.conversation(name).record().revision == revision


def test_what_comes_before_what_is_stored_is_stored_before_it(graph):
    graph(*numbered(0, 1, 2, 3))
    assert graph(*numbered(0, 1, 9, 2, 3)) == listed(0, 1, 9, 2, 3)
    assert graph(*numbered(8, 2, 3)) == listed(8, 2, 3)
    assert graph(*numbered(3, 2)) == listed(3, 2)


def test_a_context_is_that_of_its_state(memory, name):
    pytest.importorskip("langgraph", reason="pip install './clients/python/utterd[langgraph]'")
    from utterd import langgraph

    asked, answered, again = HumanMessage("q", id="0"), AIMessage("a", id="1"), AIMessage("b", id="2")
    node, configuration = langgraph.build_context(memory), {"configurable": {"thread_id": name}}
    for said in [asked], [asked, answered], [asked], [asked, again]:
        assert node({"messages": said}, configuration)["llm_input_messages"] == said


def test_what_others_stored_stays(graph, memory, name):
    memory.conversation(name).add({"role": "system", "content": "Be brief."})
    graph(*numbered(0, 1, 2))
    assert [content for _, content in graph(*numbered(0, 2))] == ["Be brief.", "0", "2"]


def test_a_run_from_an_earlier_checkpoint_replaces_what_came_after_it(memory, name):
    pytest.importorskip("langgraph", reason="pip install './clients/python/utterd[langgraph]'")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph

    from utterd import langgraph

    graph = StateGraph(MessagesState).add_node("remember", langgraph.remember(memory)).add_edge(START, "remember")
    compiled, configuration = graph.compile(InMemorySaver()), {"configurable": {"thread_id": name}}
    for text in "abc":
        compiled.invoke({"messages": [HumanMessage(text)]}, configuration)
    history = compiled.get_state_history(configuration)
    earlier = next(it for it in history if [said.content for said in it.values["messages"]] == ["a"] and not it.next)
    compiled.invoke({"messages": [HumanMessage("d")]}, earlier.config)
    assert [content for _, content in said(memory, name)] == ["a", "d"]
    compiled.invoke({"messages": [HumanMessage("e")]}, configuration)
    assert [content for _, content in said(memory, name)] == ["a", "d", "e"]


def test_messages_without_ids_are_known_by_what_they_say(memory, name):
    pytest.importorskip("langgraph", reason="pip install './clients/python/utterd[langgraph]'")
    from utterd import langgraph

    node, configuration = langgraph.remember(memory), {"configurable": {"thread_id": name}}
    for texts in (["a"], ["a", "b"], ["a", "b"], ["c"], ["c", "d"]):
        node({"messages": [HumanMessage(text) for text in texts]}, configuration)
    assert [content for _, content in said(memory, name)] == ["a", "b", "c", "d"]


async def test_a_graph_that_removes_and_edits(memory, name):
    pytest.importorskip("langgraph", reason="pip install './clients/python/utterd[langgraph]'")
    from langchain_core.messages import RemoveMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph

    from utterd import langgraph

    graph = StateGraph(MessagesState).add_node("remember", langgraph.remember(memory)).add_edge(START, "remember")
    compiled, configuration = graph.compile(InMemorySaver()), {"configurable": {"thread_id": name}}
    await compiled.ainvoke({"messages": [HumanMessage(str(n), id=str(n)) for n in range(4)]}, configuration)
    change = [RemoveMessage("0"), RemoveMessage("2"), HumanMessage("three", id="3"), HumanMessage("4", id="4")]
    await compiled.ainvoke({"messages": change}, configuration)
    assert [content for _, content in said(memory, name)] == ["1", "three", "4"]


def test_contexts_have_one_system_message(memory, name):
    limits = utterd.Policy(max_utterances=6)
    history = UtterdChatMessageHistory(name, memory, policy=limits)
    history.add_messages([SystemMessage("Be brief."), HumanMessage("I like the blue lamp E77.")])
    history.add_messages([HumanMessage(f"Question {n} is about order {n}.") for n in range(20)])
    build = build_context(memory, budget=300, recall="lamp E77")
    given = build.invoke("Which lamp?", {"configurable": {"session_id": name}})
    assert [it.type for it in given].index("human") == 1 and {it.type for it in given[1:]} == {"human"}
    assert given[0].text.startswith("Be brief.") and "Summary of the conversation" in given[0].text
    assert any(it.text.startswith("[Recalled") for it in given[1:])


def test_without_the_histories_that_are_deprecated(memory, name):
    script = """
import sys
sys.modules["langchain_core.chat_history"] = None
import utterd
from utterd.langchain import UtterdChatMessageHistory, build_context
memory = utterd.connect(sys.argv[1])
build_context(memory, budget=4000).invoke("Hello.", {"configurable": {"session_id": sys.argv[2]}})
print(UtterdChatMessageHistory(sys.argv[2], memory).messages[0].text)
"""
    command = [sys.executable, "-c", script, memory.address, name]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "Hello.\n"
