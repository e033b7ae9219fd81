"""Converts LangChain's messages to OpenAI's chat messages, and back."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages, messages_from_dict

from utterd._fold import fold, unfold

FIELD = "langchain"
"""The field of a message that holds LangChain's own data."""
ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "system": "system", "tool": "tool"}


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
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]


def from_chat(said: dict[str, Any]) -> BaseMessage:
    """The message that was stored; one stored by another client, as one of LangChain's."""
    if FIELD not in said:
        return convert_to_messages([said])[0]
    own = unfold(said, FIELD)
    own["data"].setdefault("content", said.get("content") or "")
    return messages_from_dict([own])[0]
