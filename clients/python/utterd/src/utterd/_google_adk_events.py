"""ADK's events as messages in Anthropic's format, and messages as contents."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from google.adk.events.event import Event
from google.genai import types

from utterd import Shown, StoredMessage
from utterd._blocks import block_messages, blocks_of, in_place, thinking
from utterd._fold import fold, unfold
from utterd._google_adk_state import NEVER_STORED
from utterd._media import media_of

FIELD = "google_adk"
"""The field of a message that holds ADK's own data."""
PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""What Anthropic's format accepts as an image."""


def said(event: Event) -> dict[str, Any]:
    """The event as a message in Anthropic's format, with ADK's own data in an extra field."""
    role = _role(event)
    blocks = [block for part in _parts_of(event) if (block := _block(part, role)) is not None]
    return fold({"role": role, "content": blocks}, FIELD, dumped(event))


def dumped(event: Event) -> dict[str, Any]:
    """ADK's own data, without state that is never stored."""
    own: dict[str, Any] = event.model_dump(mode="json", exclude_none=True)
    delta = own.get("actions", {}).get("state_delta", {})
    for key in [key for key in delta if key.startswith(NEVER_STORED)]:
        del delta[key]
    for part in own.get("content", {}).get("parts", ()):
        if blob := part.get("inline_data"):
            # The same text as in the block, so that it is stored once.
            blob["data"] = _base64(base64.urlsafe_b64decode(blob["data"]))
    return own


def event_of(stored: StoredMessage) -> Event:
    """The event that was stored, or one for what another client said."""
    if FIELD in stored.message:
        return _own(stored.message)
    content = contents([stored.message])[0]
    author = "user" if content.role == "user" else "model"
    return Event(id=stored.utterance_id, author=author, content=content, timestamp=stored.time.timestamp())


def _own(message: dict[str, Any]) -> Event:
    return Event.model_validate(unfold(message, FIELD))


def contents(messages: Iterable[dict[str, Any]]) -> list[types.Content]:
    """The contents of events that were stored as messages, and messages in Anthropic's format as contents."""
    names: dict[str, str] = {}
    converted = []
    for message in messages:
        blocks = blocks_of(message, media=True)
        names |= {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
        if FIELD not in message:
            parts = [_part(block, names) for block in blocks]
            converted.append(types.Content(role="model" if message["role"] == "assistant" else "user", parts=parts))
        elif (content := _own(message).content) is not None:
            converted.append(content)
    return converted


def same(one: types.Content | None, other: types.Content | None) -> bool:
    """Whether two contents are equal. ADK removes ids of its own from what goes to the model."""
    return bool(_without_ids(one) == _without_ids(other))


def _without_ids(content: types.Content | None) -> Any:
    ids: Any = {"parts": {"__all__": {"function_call": {"id"}, "function_response": {"id"}}}}
    return content.model_dump(mode="json", exclude=ids) if content else None


def cut_to(said: Iterable[types.Content], event: Event, it: Shown) -> list[types.Content]:
    """Contents in which an event has only the texts and media, or the response, that a context shows of it."""
    shown = contents(block_messages([it]))[0].parts or []
    response = shown[0].function_response if shown else None
    if response is None:
        return [_worded(content, shown) if same(content, event.content) else content for content in said]
    responses = [part.function_response for part in _parts_of(event) if part.function_response]
    cut = [its.response for its in responses if len(responses) == 1 or response.id in (its.id, its.name)]
    return [
        content.model_copy(update={"parts": [_responded(part, cut, response.response) for part in content.parts or ()]})
        for content in said
    ]


def _worded(content: types.Content, shown: Iterable[types.Part]) -> types.Content:
    parts = [part for part in content.parts or [] if not (part.thought and part.text)]
    return content.model_copy(update={"parts": in_place(parts, _is_said, filter(_is_said, shown))})


def _is_said(part: types.Part) -> bool:
    return bool(part.text or part.inline_data or part.file_data)


def _responded(part: types.Part, cut: list[Any], shown: Any) -> types.Part:
    response = part.function_response
    if response is None or response.response not in cut:
        return part
    return types.Part(function_response=response.model_copy(update={"response": shown}))


def _role(event: Event) -> str:
    answers = any(part.function_response for part in _parts_of(event))
    return "user" if answers or event.author == "user" else "assistant"


def _parts_of(event: Event) -> list[types.Part]:
    return (event.content.parts or []) if event.content else []


def _block(part: types.Part, role: str) -> dict[str, Any] | None:
    """A part in Anthropic's format; None for one without content."""
    if call := part.function_call:
        return {"type": "tool_use", "id": call.id or call.name, "name": call.name, "input": call.args or {}}
    if response := part.function_response:
        text = json.dumps(response.response, ensure_ascii=False, default=str)
        return {"type": "tool_result", "tool_use_id": response.id or response.name, "content": text}
    if part.thought:
        return thinking(part.text, _base64(part.thought_signature or b""))
    if part.text:
        return {"type": "text", "text": part.text}
    blob = part.inline_data
    if role == "user" and blob and blob.mime_type in (*PICTURES, "application/pdf"):
        source = {"type": "base64", "media_type": blob.mime_type, "data": _base64(blob.data or b"")}
        return {"type": "image" if blob.mime_type in PICTURES else "document", "source": source}
    return _medium(part)


def _medium(part: types.Part) -> dict[str, Any] | None:
    """A text for what Anthropic's format cannot say: its type, and a digest of it."""
    own = part.model_dump(mode="json", exclude_none=True, exclude={"text", "thought", "thought_signature"})
    if not own:
        return None
    medium = part.inline_data or part.file_data
    kind = (medium and medium.mime_type) or "part"
    return {"type": "text", "text": f"[{kind} {hashlib.sha256(json.dumps(own).encode()).hexdigest()[:16]}]"}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _part(block: dict[str, Any], names: Mapping[str, str]) -> types.Part:
    if block["type"] == "tool_use":
        call = types.FunctionCall(id=block["id"], name=block["name"], args=block["input"])
        return types.Part(function_call=call)
    if block["type"] == "tool_result":
        id = block["tool_use_id"]
        response = types.FunctionResponse(id=id, name=names.get(id, id), response=_response(block.get("content")))
        return types.Part(function_response=response)
    media = media_of(block)
    if media and media.data:
        return types.Part.from_bytes(data=base64.b64decode(media.data), mime_type=media.type)
    return types.Part(text=block.get("text") or f"[{block['type']}]")


def _response(content: Any) -> dict[str, Any]:
    """A function's response, parsed from its text."""
    try:
        response = json.loads(content or "")
    except ValueError:
        return {"result": content}
    return response if isinstance(response, dict) else {"result": response}
