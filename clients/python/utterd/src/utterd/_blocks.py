"""The parts of a message in Anthropic's format that adapters use."""

from __future__ import annotations

from typing import Any


def blocks_of(said: dict[str, Any], *, media: bool = False) -> list[dict[str, Any]]:
    """The texts, calls and results of a message, and with `media` its images and documents.

    Without it, a text takes their place. A model's thinking is left out: it is only for the provider that signed it.
    """
    content = said["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block for it in blocks if (block := _plain(it, media)) is not None]


def _plain(block: dict[str, Any], media: bool) -> dict[str, Any] | None:
    if block["type"] in ("text", "tool_use"):
        return block
    if block["type"] == "tool_result":
        content = block.get("content") or ""
        if isinstance(content, list):
            parts = [it for part in content if (it := _plain(part, media)) is not None]
            if any(part["type"] != "text" for part in parts):
                return {**block, "content": parts}
            return {**block, "content": "\n".join(part["text"] for part in parts)}
        return block
    if block["type"] in ("image", "document"):
        return block if media else {"type": "text", "text": f"[{block['type']}]"}
    return None
