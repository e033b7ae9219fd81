"""Real transcripts against a plain list: what is stored, popped and replaced is the same, and every context is valid.

They are found through UTTERD_DATA; `UTTERD_TRANSCRIPTS=0` uses all of them, another number this many of each file.
"""

import json
import os
import random
from pathlib import Path

import pytest

DIRECTORY = Path(os.environ.get("UTTERD_DATA", "../shared/data")) / "transcripts"
OF_EACH = int(os.environ.get("UTTERD_TRANSCRIPTS", "2")) or None
BUDGETS = (None, 1500, 6000)


def transcripts():
    for file in sorted(DIRECTORY.glob("*.jsonl")):
        for line in file.read_text().splitlines()[:OF_EACH]:
            conversation = json.loads(line)
            yield pytest.param(conversation["messages"][:300], id=f"{file.stem}-{conversation['id']}")


TRANSCRIPTS = list(transcripts())
if not TRANSCRIPTS:
    pytestmark = pytest.mark.skip(f"no transcripts in {DIRECTORY}: UTTERD_DATA names no directory with them")


def invalid(messages):
    """What a provider would refuse in OpenAI's chat messages; None if nothing."""
    waiting = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return f"{index}: a result of {message['tool_call_id']}, which was not called just before"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"{index}: {waiting} have no result"
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        if len(set(waiting)) < len(waiting):
            return f"{index}: the same id twice"
        if not waiting and not message.get("content"):
            return f"{index}: says and calls nothing"
    return f"the end: {waiting} have no result" if waiting else None


def check(chat, plain, chance):
    assert chat.messages() == plain
    budget = chance.choice(BUDGETS)
    try:
        context = chat.context(budget)
    except Exception as error:
        # The newest exchange and its question might exceed the budget.
        assert str(error).startswith("budget: "), error
        context = chat.context()
    assert invalid(context) is None


@pytest.mark.parametrize("said", TRANSCRIPTS)
def test_beside_a_plain_list(memory, name, said):
    chat, plain, chance = memory.conversation(name), [], random.Random(name)
    position = 0
    while position < len(said):
        count = chance.randint(1, 12)
        batch = said[position : position + count]
        position += count
        chat.add(batch, format="openai", lenient=True)
        plain += batch
        change(chat, plain, chance)
        check(chat, plain, chance)
    while plain and len(plain) > 5:
        assert chat.pop() == plain.pop()
        assert invalid(chat.context()) is None
    chat.clear()
    check(chat, [], chance)


def change(chat, plain, chance):
    """Sometimes removes something, replaces something, or delivers a result late."""
    kind = chance.randrange(8)
    if kind == 0:
        for _ in range(chance.randint(1, 3)):
            expected = plain.pop() if plain else None
            assert chat.pop() == expected
    if kind == 1 and len(plain) > 4:
        keep = chance.randint(max(len(plain) - 6, 0), len(plain) - 1)
        stored = chat.stored(offset=keep)
        other = [{"role": "user", "content": "Let me say that in other words."}]
        chat.replace_after(stored.messages[0].sequence - 1, other, expected_revision=stored.revision)
        plain[keep:] = other
    if kind == 2:
        called = [call["id"] for message in plain for call in message.get("tool_calls") or ()]
        answered = [message["tool_call_id"] for message in plain if message["role"] == "tool"]
        late = [id for id in called if id not in answered]
        message = {"role": "user", "content": "And then?"}
        result = [{"role": "tool", "tool_call_id": late[-1], "content": "It took a while."}] if late else []
        chat.add([message, *result], lenient=True)
        plain += [message, *result]
    if kind == 3 and len(plain) > 2:
        index = chance.randrange(len(plain))
        stored = chat.stored(offset=index, limit=1).messages[0]
        gone = chat.forget(sequences=[stored.sequence], hard=True, exact=True, return_messages=True)
        assert [it.message for it in gone.messages] == [plain.pop(index)]


def test_what_is_invalid_is_told():
    call = {"role": "assistant", "tool_calls": [{"id": "a"}]}
    result = {"role": "tool", "tool_call_id": "a", "content": ""}
    user = {"role": "user", "content": "x"}
    assert invalid([user, call, result, user]) is None
    for wrong in ([result], [call], [call, user, result], [call, result, result], [{"role": "user", "content": ""}]):
        assert invalid(wrong)
