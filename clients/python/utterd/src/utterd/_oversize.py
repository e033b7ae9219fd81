"""Shortens texts that are larger than the server accepts: head and tail stay."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from utterd._errors import ServerError

Oversize: TypeAlias = Literal["refuse", "cut"]
"""What becomes of a text that is larger than the server accepts."""
TEXTS = ("content", "text", "output")
"""The keys of texts that are not data of another form."""
SMALL = 1024 * 1024
"""Bytes of a message that every server accepts."""
LEAST = 1000
"""Texts of at most this many characters are not cut."""
MARK = 100
"""The most characters that say what is left out."""

Place: TypeAlias = tuple[Any, Any]
"""A dictionary or a list, and a key of it."""


def too_large(error: ServerError) -> int | None:
    """The most bytes of a message, if the error says that one is larger."""
    if error.reason == "MESSAGE_TOO_LARGE":
        return SMALL
    return int(error.metadata["limit_bytes"]) if error.reason == "CONTENT_TOO_LARGE" else None


def cut(message: Any, most: int) -> Any:
    """`message` with its longest texts cut until all of its texts together have at most `most` bytes.

    Pictures and other data stay as they are: there is no part of them to keep.
    """
    copy = _copy(message)
    # The rest is for what is not a text, such as keys.
    room = most * 9 // 10
    while (excess := _size(copy) - room) > 0:
        within, key = max(_texts(copy), key=lambda place: len(place[0][place[1]]), default=([""], 0))
        text = within[key]
        if len(text) <= LEAST:
            break
        within[key] = _shortened(text, max(len(text) - excess - MARK, LEAST - MARK))
    return copy


def _shortened(text: str, length: int) -> str:
    head, left_out = length * 2 // 3, len(text) - length
    return f"{text[:head]}\n[… {left_out:,} characters are left out here …]\n{text[head + left_out :]}"


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode(errors="surrogatepass"))
    return sum(map(_size, value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()))


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(part) for key, part in value.items()}
    return list(map(_copy, value)) if isinstance(value, list) else value


def _texts(value: Any, named: Any = None) -> list[Place]:
    """Where texts are: what contains each, and its key there."""
    found: list[Place] = []
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        name = key if isinstance(value, dict) else named
        if isinstance(part, str) and name in TEXTS and not part.startswith("data:"):
            found.append((value, key))
        found += _texts(part, name)
    return found
