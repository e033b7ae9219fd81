"""The same agent with Pydantic AI: pip install './clients/python/utterd[pydantic-ai]' openai."""

import asyncio
import json
import sys
from pathlib import Path

from pydantic_ai import Agent

import utterd
from utterd.pydantic_ai import UtterdHistory

agent = Agent("openai-chat:gpt-4o-mini", instructions="You help customers of a shop.")


@agent.tool_plain
def lookup_order(id: int) -> str:
    """Looks up an order."""
    return json.dumps(json.loads(Path("orders.json").read_text())[str(id)])


async def main(id: str, question: str | None = None) -> None:
    history = UtterdHistory(id, utterd.connect_async(), budget=8000)
    # A question comes after all calls are closed; to resume, a run needs the one that waits for its result.
    before = await history.context(unanswered="placeholder" if question else "open")
    async with agent.iter(question, message_history=before) as run:
        saved = 0
        async for _ in run:
            new = run.new_messages()[saved:]
            await history.save(new)
            saved += len(new)
    print(run.result.output)


asyncio.run(main(*sys.argv[1:]))
