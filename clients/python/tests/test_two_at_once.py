"""Two requests at once to one conversation, such as by a double click: nothing that either said is lost."""

import asyncio
import importlib.util
from concurrent.futures import ThreadPoolExecutor
from itertools import count, pairwise
from threading import Barrier

import pytest

import utterd

ROUNDS = 15


def needs(module):
    """Skips a test if a framework is not installed."""
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"needs {module}")


def openai_agents(memory, name):
    from utterd.openai_agents import UtterdSession

    async def said(question, answer):
        async with utterd.connect_async(memory.address) as client:
            session = UtterdSession(name, client, budget=4000)
            await session.get_items()
            await session.add_items([{"role": "user", "content": question}])
            await session.add_items([{"type": "message", "role": "assistant", "content": answer}])

    return lambda question, answer: asyncio.run(said(question, answer))


def pydantic_ai(memory, name):
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    from utterd.pydantic_ai import UtterdHistory

    async def said(question, answer):
        async with utterd.connect_async(memory.address) as client:
            history = UtterdHistory(name, client, budget=4000)
            await history.context()
            await history.save([ModelRequest([UserPromptPart(question)]), ModelResponse([TextPart(answer)])])

    return lambda question, answer: asyncio.run(said(question, answer))


def agent_framework(memory, name):
    from agent_framework import Message

    from utterd.agent_framework import UtterdHistoryProvider

    async def said(question, answer):
        async with utterd.connect_async(memory.address) as client:
            history = UtterdHistoryProvider(client, budget=4000)
            await history.get_messages(name)
            await history.save_messages(name, [Message("user", [question]), Message("assistant", [answer])])

    return lambda question, answer: asyncio.run(said(question, answer))


def llama_index(memory, name):
    from llama_index.core.base.llms.types import ChatMessage

    from utterd.llama_index import UtterdMemory

    def said(question, answer):
        remembered = UtterdMemory(memory, name, budget=4000)
        remembered.put(ChatMessage(role="user", content=question))
        remembered.get()
        remembered.put(ChatMessage(role="assistant", content=answer))

    return said


def langchain(memory, name):
    from langchain_core.messages import AIMessage

    from utterd.langchain import build_context, remember

    def said(question, answer):
        chain = build_context(memory, budget=4000) | (lambda given: AIMessage(answer)) | remember(memory)
        chain.invoke(question, {"configurable": {"session_id": name}})

    return said


def langgraph(memory, name, checkpointer=None):
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph

    from utterd.langgraph import build_context, remember

    class State(MessagesState):
        llm_input_messages: list
        answer: str

    graph = StateGraph(State)
    graph.add_node("context", build_context(memory, budget=4000))
    graph.add_node("call", lambda state: {"messages": [AIMessage("Let me see.")]})
    graph.add_node("again", build_context(memory, budget=4000))
    graph.add_node("answer", lambda state: {"messages": [AIMessage(state["answer"])]})
    graph.add_node("remember", remember(memory))
    steps = [START, "context", "call", "again", "answer", "remember"]
    for before, after in pairwise(steps):
        graph.add_edge(before, after)
    compiled = graph.compile(checkpointer)

    def said(question, answer):
        state = {"messages": [("user", question)], "answer": answer}
        compiled.invoke(state, {"configurable": {"thread_id": name}})

    return said


def langgraph_with_a_checkpointer(memory, name):
    from langgraph.checkpoint.memory import InMemorySaver

    return langgraph(memory, name, InMemorySaver())


def langchain_agents(memory, name, checkpointer=None):
    from langchain.agents import create_agent
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    from utterd.langchain_agents import UtterdMiddleware

    def said(question, answer):
        model = GenericFakeChatModel(messages=iter([AIMessage(answer)]))
        agent = create_agent(model, middleware=[UtterdMiddleware(memory, budget=4000)], checkpointer=checkpointer)
        agent.invoke({"messages": [("user", question)]}, {"configurable": {"thread_id": name}})

    return said


def langchain_agents_with_a_checkpointer(memory, name):
    from langgraph.checkpoint.memory import InMemorySaver

    return langchain_agents(memory, name, InMemorySaver())


@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param(openai_agents, marks=needs("agents")),
        pytest.param(pydantic_ai, marks=needs("pydantic_ai")),
        pytest.param(agent_framework, marks=needs("agent_framework")),
        pytest.param(llama_index, marks=needs("llama_index")),
        pytest.param(langchain, marks=needs("langchain_core")),
        pytest.param(langgraph, marks=needs("langgraph")),
        pytest.param(langgraph_with_a_checkpointer, marks=needs("langgraph")),
        pytest.param(langchain_agents, marks=needs("langchain")),
        pytest.param(langchain_agents_with_a_checkpointer, marks=needs("langchain")),
    ],
)
def test_nothing_is_lost(memory, name, adapter):
    turn, numbers, both = adapter(memory, name), count(), Barrier(2)
    expected = set()

    def request(number):
        both.wait()
        turn(f"Question {number}?", f"Answer {number}.")

    with ThreadPoolExecutor(2) as threads:
        for _ in range(ROUNDS):
            two = [next(numbers), next(numbers)]
            list(threads.map(request, two))
            expected |= {text for number in two for text in (f"Question {number}?", f"Answer {number}.")}
            listed = [it.utterance.content for it in memory.conversation(name).remember(limit=1000)]
            assert expected <= set(listed)
            assert all(listed.count(text) == 1 for text in expected)
