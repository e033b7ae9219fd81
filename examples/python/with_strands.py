"""The same agent with Strands Agents: pip install './clients/python/utterd[strands]' openai."""

import json
import sys
from pathlib import Path

from strands import Agent, tool
from strands.models.openai import OpenAIModel

import utterd
from utterd.strands import UtterdConversationManager, UtterdSessionManager


@tool
def lookup_order(id: int) -> str:
    """Looks up an order."""
    return json.dumps(json.loads(Path("orders.json").read_text())[str(id)])


def main(session: str, question: str | None = None) -> None:
    model = OpenAIModel(client_args={}, model_id="gpt-4o-mini")
    sessions = UtterdSessionManager(session, utterd.connect(), budget=8000)
    agent = Agent(
        model,
        tools=[lookup_order],
        session_manager=sessions,
        conversation_manager=UtterdConversationManager(sessions),
        agent_id="shop",
        callback_handler=None,
    )
    print(agent(question))


main(*sys.argv[1:])
