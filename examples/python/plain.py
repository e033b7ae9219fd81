"""An agent with a tool: python plain.py order-7 "Where is my order 7?". Resumes if killed: python plain.py order-7."""

import json
import sys
from pathlib import Path

from openai import OpenAI

import utterd

PARAMETERS = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
TOOL = {"type": "function", "function": {"name": "lookup_order", "parameters": PARAMETERS}}


def lookup_order(id: int) -> str:
    return json.dumps(json.loads(Path("orders.json").read_text())[str(id)])


def main(session: str, question: str | None = None) -> None:
    model, chat = OpenAI(), utterd.connect().conversation(session)
    if question:
        chat.add({"role": "user", "content": question})
    while True:
        recent = chat.messages(last=20)
        answered = {message.get("tool_call_id") for message in recent}
        calls = next((it.get("tool_calls") for it in reversed(recent) if it["role"] == "assistant"), None) or []
        waiting = [call for call in calls if call["id"] not in answered]
        for call in waiting:
            result = lookup_order(**json.loads(call["function"]["arguments"]))
            chat.add({"role": "tool", "tool_call_id": call["id"], "content": result})
        if recent[-1]["role"] == "assistant" and not calls:
            return print(recent[-1]["content"])
        if not waiting:
            messages = chat.context(budget=8000, instructions="You help customers of a shop.")
            answer = model.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=[TOOL])
            chat.add(answer.choices[0].message)


main(*sys.argv[1:])
