"""Strings that are no text: Python's can contain halves of surrogate pairs, which no protobuf text can hold."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Generator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")

IN_JSON = "messages"
"""The parameter whose texts are sent as JSON, which can contain anything."""

logger = logging.getLogger("utterd")


def whole(text: str) -> str:
    """A text that can be sent: a pair of surrogates becomes its character, and half of one U+FFFD, with a warning."""
    made = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if made != text:
        logger.warning("a text has halves of surrogate pairs, which cannot be sent: they become U+FFFD")
    return made


def escaped(json: str) -> str:
    """JSON that can be sent: halves of surrogate pairs become their escapes, and come back."""
    return json.encode(errors="backslashreplace").decode()


def all_whole(value: V) -> V:
    """A value with every text in it whole: one in lists, in mappings, and in this package's own values."""
    made: Any = value
    if isinstance(value, str):
        made = whole(value)
    elif isinstance(value, Mapping):
        made = {all_whole(key): all_whole(it) for key, it in value.items()}
    elif isinstance(value, list | tuple | set | frozenset):
        made = [all_whole(it) for it in value]
    elif is_dataclass(value) and not isinstance(value, type):
        made = replace(value, **{it.name: all_whole(getattr(value, it.name)) for it in fields(value) if it.init})
    return made  # type: ignore[no-any-return]


def tolerant(operation: Callable[P, Generator[Any, Any, T]]) -> Callable[P, Generator[Any, Any, T]]:
    """`operation`, which also takes strings that are no text."""

    @functools.wraps(operation)
    def steps(*args: P.args, **kwargs: P.kwargs) -> Generator[Any, Any, T]:
        try:
            return (yield from operation(*args, **kwargs))
        except UnicodeEncodeError:
            pass
        given = inspect.signature(operation).bind(*args, **kwargs)
        for name, value in given.arguments.items():
            given.arguments[name] = value if name == IN_JSON else all_whole(value)
        return (yield from operation(*given.args, **given.kwargs))

    return steps
