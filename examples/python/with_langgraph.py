"""The same agent with LangGraph: pip install 'utterd[langgraph]' langchain-openai."""

import json
import sys
from pathlib import Path

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

import utterd
from utterd.langchain import UtterdChatMessageHistory
from utterd.langgraph import build_context, remember


def lookup_order(id: int) -> str:
    """Looks an order up."""
    return json.dumps(json.loads(Path("orders.json").read_text())[str(id)])


def main(id: str, question: str | None = None) -> None:
    memory = utterd.connect()
    agent = create_react_agent(
        ChatOpenAI(model="gpt-4o-mini"),
        [lookup_order],
        pre_model_hook=build_context(memory, budget=8000, instructions="You help customers of a shop."),
        post_model_hook=remember(memory),
    )
    said = [HumanMessage(question)] if question else UtterdChatMessageHistory(id, memory).stored()
    result = agent.invoke({"messages": said}, {"configurable": {"thread_id": id}})
    print(result["messages"][-1].content)


main(*sys.argv[1:])
