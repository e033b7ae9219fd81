"""Converts LangChain's messages to OpenAI's chat messages, and back."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    messages_from_dict,
)

from utterd import Context, Shown
from utterd._fold import fold, unfold
from utterd._media import Media, media_of

FIELD = "langchain"
"""The field of a message that holds LangChain's own data."""
ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "system": "system", "tool": "tool"}

KINDS = {"image": "image/*", "audio": "audio/*", "video": "video/*", "file": "application/pdf"}
"""LangChain's blocks for pictures and files, with the media types of those that have none."""


def to_chat(message: BaseMessage) -> dict[str, Any]:
    """The message as an OpenAI chat message, with whatever that cannot express in an extra field."""
    said: dict[str, Any] = {"role": ROLES.get(message.type, "user"), "content": _content(message.content)}
    if message.name:
        said["name"] = message.name
    if isinstance(message, AIMessage) and message.tool_calls:
        said["tool_calls"] = [
            {
                "id": call["id"] or call["name"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)},
            }
            for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        said["tool_call_id"] = message.tool_call_id
    if convert_to_messages([said])[0] == message:
        return said
    data = message.model_dump(mode="json", exclude_defaults=True)
    if isinstance(message.content, str):
        data.pop("content", None)
    return fold(said, FIELD, {"type": message.type, "data": data})


def _content(content: str | list[Any]) -> str | list[Any]:
    if isinstance(content, str):
        return content
    return [{"type": "text", "text": part} if isinstance(part, str) else _part(part) for part in content]


def _part(block: dict[str, Any]) -> dict[str, Any]:
    """A block of LangChain's for pictures and files as a part of OpenAI's chat; any other as it is."""
    if block.get("type") not in KINDS or not block.keys() & {"base64", "url", "data"}:
        return block
    kind, more = block["type"], block.get("extras") or block.get("metadata") or {}
    type = block.get("mime_type") or KINDS[kind]
    data = block.get("base64") or block.get("data") or ""
    return Media(type, data=data, url=block.get("url") or "", name=more.get("filename") or "").part()


def _parts(said: dict[str, Any]) -> list[dict[str, Any]]:
    return said["content"] if isinstance(said["content"], list) else []


def from_context(context: Context) -> list[BaseMessage]:
    """The messages of a context: those that were stored, and the context's own in forms that every model reads.

    System messages at the head are one; a later one of the context's, with what was recalled, is the user's.
    """
    head = list(takewhile(lambda it: it.message.get("role") == "system", context.shown))
    said = [_message(it) for it in context.shown[len(head) :]]
    if len(head) < 2:
        return [*(from_chat(it.said) for it in head), *said]
    return [SystemMessage("\n\n".join(from_chat(it.said).text for it in head)), *said]


def _message(it: Shown) -> BaseMessage:
    if it.whole:
        return from_chat(it.said)
    said = {**it.message, "role": "user"} if it.message["role"] == "system" else it.message
    return convert_to_messages([{**said, "content": _blocks(said)} if _parts(said) else said])[0]


def _blocks(said: dict[str, Any]) -> list[dict[str, Any]]:
    return [_block(part) for part in said["content"]]


def _block(part: dict[str, Any]) -> dict[str, Any]:
    media = media_of(part)
    if media is None or part["type"] == "image_url":
        return part
    kind = media.kind.replace("document", "file")
    where = {"base64": media.data} if media.data else {"url": media.url}
    named = {"extras": {"filename": media.name}} if media.name and media.name != media.kind else {}
    return {"type": kind, "mime_type": media.type, **where, **named}


def from_chat(said: dict[str, Any]) -> BaseMessage:
    """The message that was stored; one stored by another client, as one of LangChain's."""
    if FIELD not in said:
        return convert_to_messages([said])[0]
    own = unfold(said, FIELD)
    own["data"].setdefault("content", said.get("content") or "")
    return messages_from_dict([own])[0]
