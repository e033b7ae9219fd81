"""The same agent with the OpenAI Agents SDK: pip install './clients/python/utterd[openai-agents]'."""

import asyncio
import json
import sys
from pathlib import Path

from agents import Agent, Runner, function_tool

import utterd
from utterd.openai_agents import UtterdSession


@function_tool
def lookup_order(id: int) -> str:
    """Looks up an order."""
    return json.dumps(json.loads(Path("orders.json").read_text())[str(id)])


async def main(id: str, question: str | None = None) -> None:
    agent = Agent(name="shop", instructions="You help customers of a shop.", tools=[lookup_order], model="gpt-4o-mini")
    session = UtterdSession(id, utterd.connect_async(), budget=8000)
    result = await Runner.run(agent, question or [], session=session)
    print(result.final_output)


asyncio.run(main(*sys.argv[1:]))
