"""Agents of LangChain and LangGraph whose models get contexts."""

import pytest

pytest.importorskip("langchain.agents", reason="pip install langchain")

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from utterd.langchain_agents import UtterdMiddleware

BUDGET = 1000


@tool
def order(number: int) -> str:
    """Where an order is."""
    return f"Order {number} was shipped with the first parcel on Monday, and should arrive on Wednesday."


class Recorder(BaseChatModel):
    """A model that calls the tool once for each question, and records what it is given."""

    given: list

    @property
    def _llm_type(self):
        return "recorder"

    def bind_tools(self, tools, **more):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **more):
        self.given.append(messages)
        if messages[-1].type == "tool":
            answer = AIMessage("It was shipped on Monday. Do you want me to tell you when it has arrived?")
        else:
            answer = AIMessage("", tool_calls=[{"id": f"c{len(self.given)}", "name": "order", "args": {"number": 7}}])
        return ChatResult(generations=[ChatGeneration(message=answer)])


def check(memory, name, given, turns):
    """The model got contexts, and everything is stored."""
    for messages in given:
        assert sum(it.type == "system" for it in messages) == 1 and messages[0].text.startswith("Be kind.")
        assert sum(memory.count_tokens([it.text for it in messages if it.text]).counts) <= BUDGET
        calls = [call["id"] for it in messages if it.type == "ai" for call in it.tool_calls]
        assert calls == [it.tool_call_id for it in messages if it.type == "tool"]
    assert "Summary of the conversation so far" in given[-1][0].text
    assert memory.conversation(name).filled(BUDGET).tokens >= 0.85 * BUDGET
    stored = memory.conversation(name).messages()
    assert [it["role"] for it in stored] == ["user", "assistant", "tool", "assistant"] * turns
    assert [it["content"] for it in stored[::4]] == [f"Where is order {turn}?" for turn in range(turns)]


@pytest.mark.parametrize("saver", [InMemorySaver, lambda: None])
def test_an_agent(memory, name, saver):
    model = Recorder(given=[])
    middleware = [UtterdMiddleware(memory, budget=BUDGET)]
    agent = create_agent(model, [order], system_prompt="Be kind.", middleware=middleware, checkpointer=saver())
    for turn in range(20):
        said = {"messages": [("user", f"Where is order {turn}?")]}
        agent.invoke(said, {"configurable": {"thread_id": name}})
    check(memory, name, model.given, 20)


async def test_an_agent_for_asyncio(memory, name):
    model = Recorder(given=[])
    middleware = [UtterdMiddleware(memory, budget=BUDGET)]
    agent = create_agent(model, [order], system_prompt="Be kind.", middleware=middleware)
    for turn in range(20):
        said = {"messages": [("user", f"Where is order {turn}?")]}
        await agent.ainvoke(said, {"configurable": {"thread_id": name}})
    check(memory, name, model.given, 20)


def test_a_short_conversation_is_given_whole(memory, name):
    model = Recorder(given=[])
    agent = create_agent(model, [order], middleware=[UtterdMiddleware(memory, budget=BUDGET)])
    state = agent.invoke({"messages": [("user", "Where is order 7?")]}, {"configurable": {"thread_id": name}})
    assert [it.text for it in model.given[-1]] == [it.text for it in state["messages"][:-1]]
    assert [it["content"] or "" for it in memory.conversation(name).messages()] == [it.text for it in state["messages"]]
    with pytest.raises(ValueError, match="configurable.thread_id is missing"):
        agent.invoke({"messages": [("user", "Where is order 7?")]})


def test_marks_of_the_system_prompt_stay_beside_a_summary(memory, name):
    model = Recorder(given=[])
    prompt = {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}
    middleware = [UtterdMiddleware(memory, budget=BUDGET)]
    agent = create_agent(model, [order], system_prompt=SystemMessage([prompt]), middleware=middleware)
    for turn in range(20):
        agent.invoke({"messages": [("user", f"Where is order {turn}?")]}, {"configurable": {"thread_id": name}})
    blocks = model.given[-1][0].content
    assert blocks[0] == prompt and "Summary of the conversation so far" in blocks[1]["text"]


def test_an_agent_within_a_tool_can_have_a_thread_of_its_own(memory, name):
    inner, outer = Recorder(given=[]), Recorder(given=[])
    helper = create_agent(inner, [], middleware=[UtterdMiddleware(memory, budget=BUDGET)])

    @tool("order")
    def asked(number: int) -> str:
        """Where an order is."""
        thread = {"configurable": {"thread_id": f"{name}/helper"}}
        return helper.invoke({"messages": [("user", f"Find order {number}.")]}, thread)["messages"][-1].text or "Found."

    agent = create_agent(outer, [asked], middleware=[UtterdMiddleware(memory, budget=BUDGET)])
    agent.invoke({"messages": [("user", "Where is order 7?")]}, {"configurable": {"thread_id": name}})
    assert [[it.text for it in given] for given in inner.given] == [["Find order 7."]]
    assert "Find order 7." not in str(memory.conversation(name).messages())


@pytest.mark.filterwarnings("ignore:create_react_agent")
def test_hooks_of_langgraph(memory, name):
    from langgraph.prebuilt import create_react_agent

    from utterd.langgraph import build_context, remember

    model = Recorder(given=[])
    agent = create_react_agent(
        model,
        [order],
        prompt=lambda state: [SystemMessage("Be kind."), *state["llm_input_messages"]],
        pre_model_hook=build_context(memory, budget=BUDGET),
        post_model_hook=remember(memory),
        checkpointer=InMemorySaver(),
    )
    for turn in range(20):
        agent.invoke({"messages": [("user", f"Where is order {turn}?")]}, {"configurable": {"thread_id": name}})
    texts = [it.text for it in model.given[-1]]
    assert texts[0] == "Be kind." and texts[1].startswith("Summary of the conversation so far")
    assert len(memory.conversation(name).messages()) == 80
