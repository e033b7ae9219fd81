"""The same agent with LlamaIndex: pip install './clients/python/utterd[llama-index]' llama-index-llms-google-genai."""

import asyncio
import json
import sys
from pathlib import Path

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.google_genai import GoogleGenAI

import utterd
from utterd.llama_index import UtterdMemory


def lookup_order(id: int) -> str:
    """Looks up an order."""
    return json.dumps(json.loads(Path("orders.json").read_text())[str(id)])


async def main(id: str, question: str | None = None) -> None:
    model = GoogleGenAI("gemini-2.5-flash", max_tokens=8192, context_window=1_000_000)
    agent = FunctionAgent(llm=model, system_prompt="You help customers of a shop.", tools=[lookup_order])
    memory = UtterdMemory(utterd.connect(), id, budget=8000)
    # Without a question, it answers the last one stored.
    print(await agent.run(question, chat_history=None if question else memory.get_all(), memory=memory))


asyncio.run(main(*sys.argv[1:]))
