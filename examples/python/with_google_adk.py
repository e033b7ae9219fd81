"""The same agent with Google's ADK: pip install 'utterd[google-adk]'."""

import asyncio
import json
import sys
from pathlib import Path

from google.adk.agents import Agent
from google.adk.apps import App, ResumabilityConfig
from google.adk.runners import Runner
from google.genai.types import UserContent

import utterd
from utterd.google_adk import UtterdSessionService


def lookup_order(id: int) -> str:
    """Looks up an order."""
    return json.dumps(json.loads(Path("orders.json").read_text())[str(id)])


async def main(id: str, question: str | None = None) -> None:
    instruction = "You help customers of a shop."
    agent = Agent(name="shop", model="gemini-2.5-flash", instruction=instruction, tools=[lookup_order])
    app = App(name="shop", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True))
    sessions = UtterdSessionService(utterd.connect_async())
    names = {"app_name": app.name, "user_id": "alice", "session_id": id}
    session = await sessions.get_session(**names) or await sessions.create_session(**names)
    run = {"new_message": UserContent(question)} if question else {"invocation_id": session.events[-1].invocation_id}
    async for event in Runner(app=app, session_service=sessions).run_async(user_id="alice", session_id=id, **run):
        if event.is_final_response() and event.content:
            print(event.content.parts[0].text)


asyncio.run(main(*sys.argv[1:]))
