"""History and contexts for LangChain, and nodes for LangGraph."""

import pytest

pytest.importorskip("langchain_core", reason="pip install 'utterd[langchain]'")

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
    pytest.importorskip("langgraph", reason="pip install 'utterd[langgraph]'")
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
