"""Messages in Anthropic's format, as adapters use them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from utterd._media import media_of
from utterd._model import Shown

T = TypeVar("T")


def block_messages(shown: Iterable[Shown]) -> list[dict[str, Any]]:
    """What a context shows: the stored messages, and the context's own chat messages, in Anthropic's format.

    Results of one exchange that are not shown whole are one message. The role `system` stays.
    """
    said: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for it in shown:
        if it.whole:
            results = []
            said.append(it.said)
        elif it.message["role"] == "tool":
            if not results:
                said.append({"role": "user", "content": results})
            results.append(_result(it.message))
        else:
            results = []
            said.append(_blocked(it.message))
    return said


def _result(said: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": said["tool_call_id"], "content": _contents(said["content"])}


def _blocked(said: dict[str, Any]) -> dict[str, Any]:
    calls = [_call(call["id"], call["function"]) for call in said.get("tool_calls") or ()]
    content = _contents(said.get("content") or "")
    texts = [{"type": "text", "text": content}] * bool(content) if isinstance(content, str) else content
    return {"role": said["role"], "content": [*texts, *calls] if calls else content}


def _contents(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    return [media.block() if (media := media_of(part)) else part for part in content]


def _call(id: str, function: dict[str, Any]) -> dict[str, Any]:
    try:
        input = json.loads(function["arguments"])
    except ValueError:
        input = {}
    return {"type": "tool_use", "id": id, "name": function["name"], "input": input}


def thinking(text: str | None, signature: str | None) -> dict[str, Any] | None:
    """A model's thought, which counts in contexts; None if it has no words."""
    return {"type": "thinking", "thinking": text, "signature": signature or ""} if text else None


def text_of(content: str | list[dict[str, Any]]) -> str:
    """The text of a content, in any format."""
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content if part.get("text"))


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


def in_place(parts: Sequence[T], is_said: Callable[[T], bool], shown: Iterable[T]) -> list[T]:
    """`parts` with what is shown in the place of those that are said; the others, such as calls, stay."""
    place = next((place for place, part in enumerate(parts) if is_said(part)), len(parts))
    return [*parts[:place], *shown, *(part for part in parts[place:] if not is_said(part))]
