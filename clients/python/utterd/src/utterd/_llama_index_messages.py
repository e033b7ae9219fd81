"""Converts LlamaIndex' messages to OpenAI's chat messages, and back."""

from __future__ import annotations

import json
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.storage.chat_store.base_db import MessageStatus

from utterd._fold import fold, unfold

FIELD = "llama_index"
"""The field of a message that holds LlamaIndex' own data."""
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
    if said["role"] == "assistant" and (calls := _calls(message)):
        said["tool_calls"] = calls
    if said["role"] == "tool":
        said["tool_call_id"] = str(message.additional_kwargs.get("tool_call_id") or "unknown")
    own: dict[str, Any] = {}
    if from_chat(said) != message:
        own["message"] = json.loads(message.model_dump_json())
    if status != MessageStatus.ACTIVE:
        own["status"] = status.value
    return fold(said, FIELD, own) if own else said


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


def from_chat(said: dict[str, Any]) -> ChatMessage:
    """The message that was stored; one from another client or a context, as one of LlamaIndex'."""
    if "message" in said.get(FIELD, {}):
        return ChatMessage.model_validate(unfold(said, FIELD)["message"])
    content = said.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if part.get("text"))
    blocks: list[Any] = [TextBlock(text=content)] if content else []
    extra: dict[str, Any] = {}
    if said["role"] == "tool":
        extra["tool_call_id"] = said["tool_call_id"]
    for call in said.get("tool_calls") or ():
        function = call["function"]
        blocks.append(
            ToolCallBlock(tool_call_id=call["id"], tool_name=function["name"], tool_kwargs=function["arguments"])
        )
    return ChatMessage(role=said["role"], blocks=blocks, additional_kwargs=extra)
