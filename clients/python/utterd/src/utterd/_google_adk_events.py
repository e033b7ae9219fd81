"""ADK's events as messages in Anthropic's format, and messages as contents."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions.state import State
from google.genai import types

from utterd import StoredMessage
from utterd._blocks import blocks_of
from utterd._fold import fold, unfold

FIELD = "google_adk"
"""The field of a message that holds ADK's own data."""
PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""What Anthropic's format accepts as an image."""
MEDIUM = re.compile(r"(\[[^\[\]]+ [0-9a-f]{16}\])")
"""The text in the place of what Anthropic's format cannot say: its type, and a digest of it."""


def said(event: Event) -> dict[str, Any]:
    """The event as a message in Anthropic's format, with ADK's own data in an extra field."""
    role = _role(event)
    blocks = [block for part in _parts_of(event) if (block := _block(part, role)) is not None]
    return fold({"role": role, "content": blocks}, FIELD, dumped(event))


def dumped(event: Event) -> dict[str, Any]:
    """ADK's own data, without temporary state."""
    own: dict[str, Any] = json.loads(event.model_dump_json(exclude_none=True))
    delta = own.get("actions", {}).get("state_delta", {})
    for key in [key for key in delta if key.startswith(State.TEMP_PREFIX)]:
        del delta[key]
    for part in own.get("content", {}).get("parts", ()):
        if blob := part.get("inline_data"):
            # The same text as in the block, so that it is stored once.
            blob["data"] = _base64(base64.urlsafe_b64decode(blob["data"]))
    return own


def event_of(stored: StoredMessage) -> Event:
    """The event that was stored, or one for what another client said."""
    if FIELD in stored.message:
        return Event.model_validate_json(json.dumps(unfold(stored.message, FIELD)))
    content = contents([stored.message])[0]
    author = "user" if content.role == "user" else "model"
    return Event(id=stored.utterance_id, author=author, content=content, timestamp=stored.time.timestamp())


def contents(messages: Iterable[Mapping[str, Any]], events: Iterable[Event] = ()) -> list[types.Content]:
    """Converts messages in Anthropic's format to contents. What `events` contain is as it was there."""
    known = _known(events)
    names: dict[str, str] = {}
    converted = []
    for message in messages:
        content, role = message["content"], message["role"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        names |= {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
        parts = [part for block in blocks for part in _parts(block, known[role], names)]
        converted.append(types.Content(role="model" if role == "assistant" else "user", parts=parts))
    return converted


def _known(events: Iterable[Event]) -> dict[str, dict[str, types.Part]]:
    """The parts of events, by the role and the block that stand for them."""
    known: dict[str, dict[str, types.Part]] = defaultdict(dict)
    for event in events:
        role = _role(event)
        for part in _parts_of(event):
            if (block := _block(part, role)) is not None:
                known[role][_key(block)] = part
    return known


def _role(event: Event) -> str:
    answers = any(part.function_response for part in _parts_of(event))
    return "user" if answers or event.author == "user" else "assistant"


def _parts_of(event: Event) -> list[types.Part]:
    return (event.content.parts or []) if event.content else []


def _key(block: Mapping[str, Any]) -> str:
    return block["text"] if block["type"] == "text" else json.dumps(block, sort_keys=True)


def _block(part: types.Part, role: str) -> dict[str, Any] | None:
    """A part in Anthropic's format; None for a thought, and for a part without content."""
    if call := part.function_call:
        return {"type": "tool_use", "id": call.id or call.name, "name": call.name, "input": call.args or {}}
    if response := part.function_response:
        text = json.dumps(response.response, ensure_ascii=False, default=str)
        return {"type": "tool_result", "tool_use_id": response.id or response.name, "content": text}
    if part.thought:
        return None
    if part.text:
        return {"type": "text", "text": part.text}
    blob = part.inline_data
    if role == "user" and blob and blob.mime_type in (*PICTURES, "application/pdf"):
        source = {"type": "base64", "media_type": blob.mime_type, "data": _base64(blob.data or b"")}
        return {"type": "image" if blob.mime_type in PICTURES else "document", "source": source}
    return _medium(part)


def _medium(part: types.Part) -> dict[str, Any] | None:
    """A text for what Anthropic's format cannot say."""
    own = part.model_dump_json(exclude_none=True, exclude={"text", "thought", "thought_signature"})
    if own == "{}":
        return None
    medium = part.inline_data or part.file_data
    kind = (medium and medium.mime_type) or "part"
    return {"type": "text", "text": f"[{kind} {hashlib.sha256(own.encode()).hexdigest()[:16]}]"}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _parts(block: dict[str, Any], known: Mapping[str, types.Part], names: Mapping[str, str]) -> list[types.Part]:
    if (part := known.get(_key(block))) is not None:
        return [part]
    if block["type"] == "text":
        # The server joins texts by line breaks.
        pieces = [piece.strip("\n") for piece in MEDIUM.split(block["text"])]
        if known.keys().isdisjoint(pieces):
            return [types.Part(text=block["text"])]
        return [known.get(piece) or types.Part(text=piece) for piece in pieces if piece]
    if (source := block.get("source")) and source["type"] == "base64":
        return [types.Part.from_bytes(data=base64.b64decode(source["data"]), mime_type=source["media_type"])]
    return [_part(it, names) for it in blocks_of({"content": [block]})]


def _part(block: dict[str, Any], names: Mapping[str, str]) -> types.Part:
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
