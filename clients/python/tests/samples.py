"""Values of the types of a provider's package, with every field that it knows."""

import types
import typing
from collections.abc import Iterable, Sequence
from enum import Enum

from typing_extensions import NotRequired, ReadOnly, Required, is_typeddict

DEEPEST = 7
"""Optional fields of deeper objects are left out: some types contain themselves."""
WIDEST = 3
"""Lists of deeper objects have only the first type that they allow."""
LISTS = (list, Iterable, Sequence)
OLD = {"function_call"}
"""Fields of older names, which a context writes by the newer ones."""


def options(type_):
    """The types that a type allows."""
    origin = typing.get_origin(type_)
    if origin in (typing.Annotated, Required, NotRequired, ReadOnly):
        return options(typing.get_args(type_)[0])
    if origin in (typing.Union, types.UnionType):
        return [it for part in typing.get_args(type_) for it in options(part)]
    return [type_]


def fields(type_):
    """The fields of an object's type, with theirs and whether they are optional; none if it is no object's."""
    if is_typeddict(type_):
        hints = typing.get_type_hints(type_)
        return {name: (hints[name], name in type_.__optional_keys__) for name in hints}
    known = getattr(type_, "model_fields", None) or {}
    return {name: (it.annotation, not it.is_required()) for name, it in known.items()}


def sample(type_, name="x", depth=0):
    """A value of a type."""
    wanted = [it for it in options(type_) if it is not type(None)]
    if not wanted:
        return None
    type_ = next((it for it in wanted if typing.get_origin(it) in LISTS), wanted[0])
    origin, args = typing.get_origin(type_), typing.get_args(type_)
    if origin is typing.Literal:
        return args[0]
    if origin is dict or type_ is dict:
        return {"k": "v"}
    if origin is not None:
        return [sample(it, name, depth + 1) for it in options(args[0])[: 1 if depth > WIDEST else None]]
    if fields(type_):
        return sample_object(type_, depth)
    if isinstance(type_, type) and issubclass(type_, Enum):
        return list(type_)[-1]
    plain = {str: text(name), int: 1, float: 1.5, bool: True, object: "v", bytes: b"\xff\x00"}
    return plain.get(type_, text(name))


def sample_object(type_, depth=0):
    given = fields(type_).items()
    return {
        name: sample(it, name, depth + 1)
        for name, (it, optional) in given
        if name not in OLD and not (optional and depth > DEEPEST)
    }


def text(name):
    if name in ("id", "name") or name.endswith("_id"):
        return f"{name}_1"
    return "https://example.org/a.png" if name in ("url", "image_url", "file_url") else f"some {name}"


def variants(type_):
    """A value of each object that a union allows, by the objects' names."""
    return {it.__name__: sample_object(it) for it in options(type_) if fields(it)}
