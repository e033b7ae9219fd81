"""The same agent with LangGraph: pip install './clients/python/utterd[langgraph]' langchain-openai."""

import json
import sys
from pathlib import Path

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

import utterd
from utterd.langchain import UtterdChatMessageHistory
from utterd.langgraph import build_context, remember


class State(MessagesState):
    llm_input_messages: list[AnyMessage]


def lookup_order(id: int) -> str:
    """Looks up an order."""
    return json.dumps(json.loads(Path("orders.json").read_text())[str(id)])


def main(id: str, question: str | None = None) -> None:
    memory, model = utterd.connect(), ChatOpenAI(model="gpt-4o-mini").bind_tools([lookup_order])
    graph = StateGraph(State).add_node("tools", ToolNode([lookup_order]))
    graph.add_node("context", build_context(memory, budget=8000, instructions="You help customers of a shop."))
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["llm_input_messages"])]})
    graph.add_node("remember", remember(memory))
    graph.add_edge("context", "model").add_edge("model", "remember").add_edge("tools", "context")
    graph.add_conditional_edges("remember", tools_condition)
    # An unanswered call is answered first.
    graph.set_conditional_entry_point(tools_condition, {"tools": "tools", "__end__": "context"})
    said = [HumanMessage(question)] if question else UtterdChatMessageHistory(id, memory).stored()
    print(graph.compile().invoke({"messages": said}, {"configurable": {"thread_id": id}})["messages"][-1].content)


main(*sys.argv[1:])
