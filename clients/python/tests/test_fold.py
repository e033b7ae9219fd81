"""A framework's message inside a provider's is returned unchanged, whatever it contains."""

import json
import random

import pytest

from utterd._fold import AT, fold, unfold
from utterd._ids import fit

LONG = "a text that is long enough to be told once only"


def test_a_text_is_held_once_and_follows_an_edit():
    own = {"parts": [{"text": LONG}], "short": "hi"}
    said = fold({"role": "user", "content": [{"text": LONG}, {"text": "hi"}]}, "own", own)
    assert json.dumps(said).count(LONG) == 1
    assert unfold(said, "own") == own
    said["content"][0]["text"] = "edited"
    assert unfold(said, "own")["parts"] == [{"text": "edited"}]


@pytest.mark.parametrize("own", [{AT: ["content"]}, {AT: None, "is": {AT: LONG}}, [{AT: {AT: 1}}], LONG, None, 1.5])
def test_what_looks_like_a_pointer_is_none(own):
    said = json.loads(json.dumps(fold({"content": LONG}, "own", own)))
    assert unfold(said, "own") == own


def value(chance, depth=0):
    kind = chance.randrange(7 if depth < 4 else 4)
    if kind < 2:
        return chance.choice([LONG, LONG + "!", "x", "", AT])
    if kind < 4:
        return chance.choice([1, 1.5, True, None])
    if kind == 4:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice([AT, "is", "a", LONG]): value(chance, depth + 1) for _ in range(chance.randrange(4))}


def test_whatever_is_folded_comes_back():
    chance = random.Random(7)
    for _ in range(2000):
        own, said = value(chance), {"content": value(chance), "more": value(chance)}
        assert unfold(json.loads(json.dumps(fold(said, "own", own))), "own") == own


def test_ids_that_are_none_get_a_digest_of_their_own():
    assert fit("order-7") == "order-7"
    assert fit("app", "user", "1") == "app/user/1"
    odd = ["", "x" * 257, "a\nb", "\ud800", "ü" * 129]
    digests = {fit(it) for it in odd} | {fit("a/b", "c"), fit("a", "b/c"), fit("a", "b", "")}
    assert all(len(it.encode()) <= 256 and it.isprintable() for it in digests)
    assert len(digests) == 8
