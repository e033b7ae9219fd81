"""ADK's events as messages in Anthropic's format, and messages as contents."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions.state import State
from google.genai import types

from utterd import StoredMessage
from utterd._blocks import blocks_of
from utterd._fold import fold, unfold

FIELD = "google_adk"
"""The field of a message that holds ADK's own data."""


def said(event: Event) -> dict[str, Any]:
    """The event as a message in Anthropic's format, with ADK's own data in an extra field."""
    parts = (event.content.parts or []) if event.content else []
    blocks = [block for part in parts if (block := _block(part)) is not None]
    answers = any(block["type"] == "tool_result" for block in blocks)
    role = "user" if answers or event.author == "user" else "assistant"
    return fold({"role": role, "content": blocks}, FIELD, dumped(event))


def dumped(event: Event) -> dict[str, Any]:
    """ADK's own data, without temporary state."""
    own: dict[str, Any] = json.loads(event.model_dump_json(exclude_none=True))
    delta = own.get("actions", {}).get("state_delta", {})
    for key in [key for key in delta if key.startswith(State.TEMP_PREFIX)]:
        del delta[key]
    return own


def _block(part: types.Part) -> dict[str, Any] | None:
    """A part in Anthropic's format; None unless it is a text, call or response."""
    if call := part.function_call:
        return {"type": "tool_use", "id": call.id or call.name, "name": call.name, "input": call.args or {}}
    if response := part.function_response:
        text = json.dumps(response.response, ensure_ascii=False, default=str)
        return {"type": "tool_result", "tool_use_id": response.id or response.name, "content": text}
    return {"type": "text", "text": part.text} if part.text and not part.thought else None


def event_of(stored: StoredMessage) -> Event:
    if FIELD in stored.message:
        return Event.model_validate_json(json.dumps(unfold(stored.message, FIELD)))
    # stored by another client
    content = contents([stored.message])[0]
    author = "user" if content.role == "user" else "model"
    return Event(id=stored.utterance_id, author=author, content=content, timestamp=stored.time.timestamp())


def contents(messages: Iterable[dict[str, Any]]) -> list[types.Content]:
    """Converts messages in Anthropic's format to contents."""
    names: dict[str, str] = {}
    contents = []
    for message in messages:
        blocks = blocks_of(message)
        names |= {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
        role = "model" if message["role"] == "assistant" else "user"
        contents.append(types.Content(role=role, parts=[_part(block, names) for block in blocks]))
    return contents


def _part(block: dict[str, Any], names: dict[str, str]) -> types.Part:
    if block["type"] == "tool_use":
        call = types.FunctionCall(id=block["id"], name=block["name"], args=block["input"])
        return types.Part(function_call=call)
    if block["type"] == "tool_result":
        id = block["tool_use_id"]
        response = types.FunctionResponse(id=id, name=names.get(id, id), response=_response(block.get("content")))
        return types.Part(function_response=response)
    return types.Part(text=block["text"])


def _response(content: Any) -> dict[str, Any]:
    """A function's response, parsed from its text."""
    try:
        response = json.loads(content or "")
    except ValueError:
        return {"result": content}
    return response if isinstance(response, dict) else {"result": response}
