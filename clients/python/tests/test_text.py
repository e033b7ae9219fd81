"""Strings with halves of surrogate pairs, as programs write them that cut texts anywhere."""

import inspect
import json

import pytest

import utterd

TORN = "half \ud83d"
APART = ("close", "run", "stream", "watch", "with_timeout", "conversation", "recipient")
"""Methods that make no call, or none with texts."""
CALLS = [
    (owner, name)
    for owner in (utterd.Client, utterd.Conversation, utterd.AsyncClient, utterd.AsyncConversation)
    for name, method in vars(owner).items()
    if inspect.isfunction(method) and not name.startswith("_") and name not in APART
]


def torn(method):
    """Arguments for every parameter that takes texts."""
    kinds = {
        "str": TORN,
        "Sequence[str]": [TORN],
        "Iterable[str]": [TORN],
        "Mapping[str, str]": {TORN: TORN},
        "Mapping[str, Any]": {TORN: TORN},
    }
    arguments = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        taken = [kinds[kind] for kind in str(parameter.annotation).split(" | ") if kind in kinds]
        if name == "messages":
            arguments[name] = [{"role": "user", "content": TORN}]
        elif taken:
            arguments[name] = taken[0]
        elif parameter.default is inspect.Parameter.empty and name != "self":
            arguments[name] = "openai" if name == "format" else 0
    return arguments


@pytest.mark.parametrize(("owner", "name"), CALLS, ids=lambda it: getattr(it, "__name__", it))
async def test_every_call_takes_them(memory, memory_async, name, owner, caplog):
    client = memory if owner in (utterd.Client, utterd.Conversation) else memory_async
    of = client if owner in (utterd.Client, utterd.AsyncClient) else client.conversation(TORN)
    arguments = torn(getattr(owner, name))
    try:
        made = getattr(of, name)(**arguments)
        if inspect.isawaitable(made):
            await made
    except utterd.ServerError:
        pass
    if owner in (utterd.Conversation, utterd.AsyncConversation) or arguments:
        assert "U+FFFD" in caplog.text


def test_messages_keep_them(chat):
    chat.add({"role": "user", "content": TORN})
    chat.add(json.dumps([{"role": "user", "content": TORN}], ensure_ascii=False))
    assert [it["content"] for it in chat.messages()] == [TORN, TORN]
    assert chat.context(budget=1000)[-1]["content"] == "half \ufffd"


def test_a_pair_in_two_halves_is_its_character(memory, name, caplog):
    chat = memory.create(name, title="\ud83d\ude00 \ud83d")
    assert chat.record().title == "\U0001f600 \ufffd"
