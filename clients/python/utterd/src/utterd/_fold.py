"""A framework's own message inside a provider's message, without storing a text twice.

Whatever a provider's format has no place for goes into an extra field of the message, which the server keeps and
returns. Texts that are already in the provider's part become pointers there, so that an edit of the text also applies
to the framework's message, and texts count only once towards the server's size limits.
"""

from __future__ import annotations

from typing import Any

AT = "$at"
"""The key of a pointer: `{"$at": [key or index, …]}` points to a text of the message."""
SHORTEST = 24
"""Shorter texts are stored in place: a pointer would be longer."""

Json = Any


def fold(message: dict[str, Any], field: str, own: Json) -> dict[str, Any]:
    """`message` with `own` as its field `field`."""
    texts: dict[str, list[str | int]] = {}
    _collect(message, [], texts)
    return {**message, field: _fold(own, texts)}


def unfold(message: dict[str, Any], field: str) -> Json:
    """What was folded into the field of `message`; KeyError if there is no such field."""
    return _unfold(message[field], message)


def _collect(value: Json, path: list[str | int], texts: dict[str, list[str | int]]) -> None:
    if isinstance(value, str):
        if len(value) >= SHORTEST:
            texts.setdefault(value, path)
    else:
        for key, part in _parts(value):
            _collect(part, [*path, key], texts)


def _parts(value: Json) -> list[tuple[str | int, Json]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _fold(value: Json, texts: dict[str, list[str | int]]) -> Json:
    if isinstance(value, str):
        return {AT: texts[value]} if value in texts else value
    if isinstance(value, list):
        return [_fold(part, texts) for part in value]
    if isinstance(value, dict):
        folded = {key: _fold(part, texts) for key, part in value.items()}
        # An object that looks like a pointer, or like this, is marked by one more key.
        return {AT: None, "is": folded} if AT in value else folded
    return value


def _unfold(value: Json, message: dict[str, Any]) -> Json:
    if isinstance(value, list):
        return [_unfold(part, message) for part in value]
    if not isinstance(value, dict):
        return value
    if AT not in value:
        return {key: _unfold(part, message) for key, part in value.items()}
    if value[AT] is None:
        return {key: _unfold(part, message) for key, part in value["is"].items()}
    text: Json = message
    for step in value[AT]:
        text = text[step]
    return text
