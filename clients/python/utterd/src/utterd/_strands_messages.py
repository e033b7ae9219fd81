"""Converts Strands' messages to Anthropic's format, and back."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from strands.types.session import SessionMessage

from utterd import Shown, StoredMessage
from utterd._blocks import block_messages, blocks_of, in_place, text_of, thinking
from utterd._fold import fold, unfold
from utterd._media import Media, media_of

if TYPE_CHECKING:
    from strands.types.content import Message

FIELD = "strands"
"""The field of a message that holds Strands' own data."""
DOCUMENTS = {
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""The media types of documents that are not named like their format."""
FORMATS = {type: format for format, type in DOCUMENTS.items()}


def said_of(message: SessionMessage) -> dict[str, Any]:
    """The message in Anthropic's format, with Strands' own data in an extra field."""
    seen = message.to_message()
    blocks = [_block(dict(block)) for block in seen.get("content", ())]
    said = {"role": seen["role"], "content": [block for block in blocks if block is not None]}
    return fold(said, FIELD, message.to_dict())


def _block(block: dict[str, Any]) -> dict[str, Any] | None:
    """A block in Anthropic's format; None unless it is a text, a thought, media, a tool use or its result."""
    if media := _media(block):
        return media.block()
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    if thought := _thought(block):
        return thinking(thought.get("text"), thought.get("signature"))
    if use := block.get("toolUse"):
        return {"type": "tool_use", "id": use["toolUseId"], "name": use["name"], "input": use["input"]}
    if result := block.get("toolResult"):
        parts: list[dict[str, Any]] = [
            {"text": json.dumps(part["json"])} if "json" in part else part for part in result["content"]
        ]
        said: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": result["toolUseId"],
            "content": [it for part in parts if (it := _block(part)) is not None],
        }
        return {**said, "is_error": True} if result.get("status") == "error" else said
    return None


def _media(block: dict[str, Any]) -> Media | None:
    for kind in ("image", "document", "audio", "video"):
        if shown := block.get(kind):
            source, format = shown["source"], shown["format"]
            type = DOCUMENTS.get(format, f"application/{format}") if kind == "document" else f"{kind}/{format}"
            if "bytes" in source:
                return Media(type, data=base64.b64encode(source["bytes"]).decode(), name=shown.get("name", ""))
            return Media(type, url=source["location"]["uri"], name=shown.get("name", ""))
    return None


def _shown(media: Media) -> dict[str, Any]:
    format = FORMATS.get(media.type, media.type.partition("/")[2])
    location = {"location": {"type": "s3", "uri": media.url}}
    source = {"bytes": base64.b64decode(media.data)} if media.data else location
    name = {"name": media.name or "document"} if media.kind == "document" else {}
    return {media.kind: {"format": format, **name, "source": source}}


def _thought(block: dict[str, Any]) -> dict[str, Any] | None:
    thought: dict[str, Any] | None = block.get("reasoningContent", {}).get("reasoningText")
    return thought


def results_in(said: dict[str, Any]) -> int:
    return sum(block["type"] == "tool_result" for block in said["content"])


def message_of(stored: StoredMessage) -> SessionMessage:
    if FIELD in stored.message:
        return SessionMessage.from_dict(unfold(stored.message, FIELD))
    # stored by another client
    return SessionMessage(strands_message(stored.message), stored.sequence)


def strands_message(said: dict[str, Any]) -> Message:
    """The message that was stored, or one in Anthropic's format as one of Strands'."""
    if FIELD in said:
        return SessionMessage.from_dict(unfold(said, FIELD)).to_message()
    blocks = map(_strands_block, blocks_of(said, media=True))
    role = "assistant" if said["role"] == "assistant" else "user"
    return cast("Message", {"role": role, "content": list(blocks)})


def is_system(it: Shown) -> bool:
    """Whether it is at the head: a system message of the context, or the agent's state."""
    return bool(it.message.get("role", "system") == "system")


def texts_of(head: Sequence[Shown]) -> list[str]:
    return [text_of(it.message["content"]) for it in head if it.message]


def cut_to(message: Message, it: Shown) -> Message:
    """The message with the texts and media, or the result, to which a context cuts it."""
    shown = cast("list[dict[str, Any]]", strands_message(block_messages([it])[0])["content"])
    blocks = cast("list[dict[str, Any]]", message["content"])
    result = shown[0].get("toolResult") if shown else None
    if result:
        cut = [_with_result(block, result, only=len(blocks) == 1) for block in blocks]
    else:
        blocks = [block for block in blocks if not _thought(block)]
        cut = in_place(blocks, _is_said, filter(_is_said, shown))
    return cast("Message", {**message, "content": cut})


def _is_said(block: dict[str, Any]) -> bool:
    return "text" in block or _media(block) is not None


def _with_result(block: dict[str, Any], shown: dict[str, Any], *, only: bool) -> dict[str, Any]:
    result = block.get("toolResult") or {}
    meant = only or result.get("toolUseId") == shown["toolUseId"]
    return {"toolResult": {**result, "content": shown["content"]}} if meant else block


def _strands_block(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "tool_use":
        return {"toolUse": {"toolUseId": block["id"], "name": block["name"], "input": block["input"]}}
    if block["type"] == "tool_result":
        content = block.get("content")
        parts = list(map(_strands_block, content)) if isinstance(content, list) else [{"text": content}] * bool(content)
        status = "error" if block.get("is_error") else "success"
        return {"toolResult": {"toolUseId": block["tool_use_id"], "content": parts, "status": status}}
    media = media_of(block)
    # Strands takes pictures as their data, or from S3.
    if media is None or not (media.data or media.url.startswith("s3:")):
        return {"text": block.get("text") or (media.url if media and media.url else f"[{block['type']}]")}
    return _shown(media)
