"""Converts LlamaIndex' messages to OpenAI's chat messages, and back."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import Any

from llama_index.core.base.llms.types import (
    AudioBlock,
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.storage.chat_store.base_db import MessageStatus
from pydantic import ValidationError

from utterd import Context
from utterd._fold import fold, unfold
from utterd._media import Media, media_of

FIELD = "llama_index"
"""The field of a message that holds LlamaIndex' own data."""
MEDIA = (ImageBlock, AudioBlock, VideoBlock, DocumentBlock)
BLOCKS: dict[str, tuple[type[Any], str, str]] = {
    "image": (ImageBlock, "image", "image_mimetype"),
    "audio": (AudioBlock, "audio", "format"),
    "video": (VideoBlock, "video", "video_mimetype"),
    "document": (DocumentBlock, "data", "document_mimetype"),
}
"""The block of each kind of media, and its fields for the data and the type."""
ROLES = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.TOOL: "tool",
}


def to_chat(message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> dict[str, Any]:
    """The message as an OpenAI chat message, with whatever that cannot express in an extra field."""
    said: dict[str, Any] = {"role": ROLES.get(message.role, "user"), "content": message.content or ""}
    if said["role"] == "user" and (parts := _parts(message)):
        said["content"] = parts
    if said["role"] == "assistant" and (calls := _calls(message)):
        said["tool_calls"] = calls
    if thoughts := [block.content for block in message.blocks if block.block_type == "thinking" and block.content]:
        said["reasoning_content"] = "\n".join(thoughts)
    if said["role"] == "tool":
        said["tool_call_id"] = str(message.additional_kwargs.get("tool_call_id") or "unknown")
    own: dict[str, Any] = {}
    if from_chat(said) != message:
        own["message"] = json.loads(message.model_dump_json())
    if status != MessageStatus.ACTIVE:
        own["status"] = status.value
    return fold(said, FIELD, own) if own else said


def _parts(message: ChatMessage) -> list[dict[str, Any]]:
    """The parts of a message that contains more than text; none if it does not."""
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        if isinstance(block, TextBlock):
            parts.append({"type": "text", "text": block.text})
        elif isinstance(block, MEDIA):
            parts.append(_media(block).part())
    return parts if any(part["type"] != "text" for part in parts) else []


def _media(block: ImageBlock | AudioBlock | VideoBlock | DocumentBlock) -> Media:
    kind = block.block_type
    type = getattr(block, f"{kind}_mimetype", None)
    if isinstance(block, AudioBlock) and block.format:
        type = f"audio/{block.format}"
    more = {"name": getattr(block, "title", None) or "", "detail": getattr(block, "detail", None) or ""}
    if block.url:
        return Media(type or f"{kind}/*", url=str(block.url), **more)
    resolved = getattr(block, f"resolve_{kind}")()
    return Media(type or f"{kind}/*", data=base64.b64encode(resolved.read()).decode(), **more)


def _shown(part: dict[str, Any]) -> Any:
    """The block of a part."""
    if part["type"] == "text":
        return TextBlock(text=part["text"])
    media = media_of(part)
    if media is None:
        return TextBlock(text=f"[{part['type']}]")
    type = "" if media.type.endswith("*") else media.type
    block, data_field, type_field = BLOCKS[media.kind]
    where = {"url": media.url} if media.url else {data_field: media.data.encode()}
    more = {type_field: type.removeprefix("audio/"), "title": media.name, "detail": media.detail}
    return block(**where, **{key: value for key, value in more.items() if value and key in block.model_fields})


def _calls(message: ChatMessage) -> list[dict[str, Any]]:
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if blocks:
        return [_call(block.tool_call_id or block.tool_name, block.tool_name, block.tool_kwargs) for block in blocks]
    # from integrations that keep what the provider sent
    given = json.loads(message.model_dump_json(include={"additional_kwargs"}))["additional_kwargs"].get("tool_calls")
    return [call for call in given or () if isinstance(call, dict) and "function" in call]


def _call(id: str, name: str, arguments: dict[str, Any] | str) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def from_context(context: Context) -> list[ChatMessage]:
    """The messages of a context: those that were stored, or the context's own."""
    return [from_chat(it.said) for it in context.shown]


def from_chat(said: dict[str, Any]) -> ChatMessage:
    """The message that was stored; one from another client or a context, as one of LlamaIndex'."""
    if "message" in said.get(FIELD, {}):
        # LlamaIndex refuses a picture whose file is gone. The rest of the message has its data.
        with suppress(ValidationError):
            return ChatMessage.model_validate(unfold(said, FIELD)["message"])
    content = said.get("content") or []
    blocks = [TextBlock(text=content)] if isinstance(content, str) else list(map(_shown, content))
    extra: dict[str, Any] = {}
    if said["role"] == "tool":
        extra["tool_call_id"] = said["tool_call_id"]
    for call in said.get("tool_calls") or ():
        function = call["function"]
        blocks.append(
            ToolCallBlock(tool_call_id=call["id"], tool_name=function["name"], tool_kwargs=function["arguments"])
        )
    return ChatMessage(role=said["role"], blocks=blocks, additional_kwargs=extra)
