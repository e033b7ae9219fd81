"""The parts of a message in Anthropic's format that adapters use."""

from __future__ import annotations

from typing import Any


def blocks_of(said: dict[str, Any]) -> list[dict[str, Any]]:
    """The texts, calls and results of a message; a text takes the place of an image or a document.

    A model's thinking is left out: it is only for the provider that signed it.
    """
    content = said["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block for it in blocks if (block := _plain(it)) is not None]


def _plain(block: dict[str, Any]) -> dict[str, Any] | None:
    if block["type"] in ("text", "tool_use"):
        return block
    if block["type"] == "tool_result":
        content = block.get("content") or ""
        if isinstance(content, list):
            texts = [it["text"] for part in content if (it := _plain(part)) is not None]
            return {**block, "content": "\n".join(texts)}
        return block
    if block["type"] in ("image", "document"):
        return {"type": "text", "text": f"[{block['type']}]"}
    return None
