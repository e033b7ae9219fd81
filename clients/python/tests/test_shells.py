"""The two clients are the same, and expose nothing of the protocol."""

import dataclasses
import inspect

import pytest

import utterd
from utterd import _model

PAIRS = [(utterd.Client, utterd.AsyncClient), (utterd.Conversation, utterd.AsyncConversation)]


def methods(kind):
    return {name: it for name, it in vars(kind).items() if callable(it) and not name.startswith("_")}


@pytest.mark.parametrize(("blocking", "asynchronous"), PAIRS)
def test_both_have_the_same_methods(blocking, asynchronous):
    ours, theirs = methods(blocking), methods(asynchronous)
    assert ours.keys() == theirs.keys()
    for name, method in ours.items():
        assert list(inspect.signature(method).parameters) == list(inspect.signature(theirs[name]).parameters), name


@pytest.mark.parametrize("kind", [kind for pair in PAIRS for kind in pair])
def test_every_method_is_documented(kind):
    assert [name for name, method in methods(kind).items() if not inspect.getdoc(method)] == []


def test_no_signature_has_a_message_of_the_protocol():
    for kind in [kind for pair in PAIRS for kind in pair]:
        for name, method in methods(kind).items():
            assert "pb2" not in str(inspect.signature(method)), name
    for name in utterd.__all__:
        value = getattr(utterd, name)
        if dataclasses.is_dataclass(value):
            assert value.__dataclass_params__.frozen, name
            assert "pb2" not in "".join(str(field.type) for field in dataclasses.fields(value)), name


def test_every_value_is_exported():
    named = {name for name, it in vars(_model).items() if dataclasses.is_dataclass(it)}
    assert named <= set(utterd.__all__)
