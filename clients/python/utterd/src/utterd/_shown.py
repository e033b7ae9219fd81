"""What the messages of a context show of what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile
from typing import Any

from utterd import _model as model
from utterd._address import Address
from utterd._calls import Steps
from utterd._messages import stored
from utterd._proto import context_service_pb2 as contexts
from utterd._proto import utterance_pb2

MEDIA_BYTES = 2 * 1024 * 1024
"""The most bytes of large messages that are given back, unless a single one has more: the server's limit for media."""
LARGE = 16 * 1024
"""Bytes of a message that might contain a picture or a file."""
UNCHANGED = (contexts.RENDERED_AS_WHOLE, contexts.RENDERED_AS_INSTRUCTION, contexts.RENDERED_AS_PINNED)
CUT = (contexts.RENDERED_AS_TRIMMED, contexts.RENDERED_AS_MASKED)
LIMITS = ("evicted", "budget", "max_turns")
"""Why the oldest messages are left out."""


def shown(
    at: Address, it: contexts.BuildContextResponse, context: model.Context, format: model.Format, *, open: bool
) -> Steps[tuple[model.Shown, ...]]:
    """The messages of a context of chat messages, each with the stored message that it shows.

    Only messages in the format are shown whole, in the order in which they were stored. A message without words, such
    as a model's reasoning, is there if the one after it is. With `open`, the newest exchange is not closed by
    placeholders.
    """
    # What is shown from before that, such as pinned messages, is little: the context's own messages will do.
    cut = max((its.stop - 1 for its in _omitted(context, *LIMITS)), default=0)
    listed = [it for it in (yield from stored(at, after=cut)).messages if it.format == format]
    empty = {sequence for its in _omitted(context, "empty") for sequence in its}
    forgotten = {sequence for its in _omitted(context, "forgotten") for sequence in its}
    unchanged = empty | _unchanged(it, context, listed)
    whole = [message for message in listed if unchanged.issuperset(_sequences(message))]
    large = _too_large(whole)
    if large:
        listed = [message for message in listed if not (empty & large).issuperset(_sequences(message))]
        context.media_left_out = True
        context.warnings += ("pictures and files of older messages are left out: together they are too large",)
    made = list(_shown(it, context, listed, unchanged - large, large))
    if open:
        made = _opened(made)
    return tuple(_with_empty(_in_order(made), listed, empty, forgotten))


def _omitted(context: model.Context, *reasons: str) -> list[range]:
    return [its for it in context.omitted if it.reason in reasons for its in it.sequences]


def _unchanged(
    it: contexts.BuildContextResponse, context: model.Context, listed: Iterable[model.StoredMessage]
) -> set[int]:
    """The sequences of the utterances that the context has as they are stored."""
    them = {sequence: message for message in listed for sequence in _sequences(message)}
    return {
        its.sequence
        for index, its in _utterances(it).items()
        if its.sequence in them and _is_unchanged(its, context[index], them[its.sequence])
    }


def _utterances(it: contexts.BuildContextResponse) -> dict[int, contexts.RenderedUtterance]:
    """The utterance that each message of a context shows."""
    quoted = contexts.RENDERED_AS_RECALLED
    return {its.message_index: its for its in it.utterances if its.rendered_as != quoted}


def _shown(
    it: contexts.BuildContextResponse,
    context: model.Context,
    listed: Iterable[model.StoredMessage],
    unchanged: set[int],
    large: set[int],
) -> Iterator[model.Shown]:
    them = {sequence: message for message in listed for sequence in _sequences(message)}
    utterances = _utterances(it)
    given: set[int] = set()
    for index, message in enumerate(context):
        source = them.get(utterances[index].sequence) if index in utterances else None
        if source is None or not unchanged.issuperset(_sequences(source)):
            cut = source is not None and (utterances[index].rendered_as in CUT or source.sequence in large)
            yield model.Shown(message, source, False, cut)
        elif source.sequence not in given:
            given.add(source.sequence)
            yield model.Shown(message, source, True)


def _sequences(message: model.StoredMessage) -> range:
    return range(message.sequence, message.last_sequence + 1)


def _is_unchanged(utterance: contexts.RenderedUtterance, message: dict[str, Any], source: model.StoredMessage) -> bool:
    # A result that came late is not one any more, but a note of the user's.
    late = utterance.role == utterance_pb2.ROLE_TOOL and message["role"] != "tool"
    # A context replaces ids that recur, and names that a provider refuses.
    replaced = not _links(message) <= _links(source.message)
    return utterance.rendered_as in UNCHANGED and not late and not replaced


def _opened(made: list[model.Shown]) -> list[model.Shown]:
    """Without the placeholders of the newest exchange, if nothing follows it."""
    end = list(takewhile(lambda it: _is_result(it) or it.message.get("tool_calls"), reversed(made)))
    calls = [it.stored.sequence for it in end if it.stored and not _is_result(it)]
    results = [it.stored.sequence for it in end if it.stored and _is_result(it)]
    # Calls of one answer can be several messages, with no result stored between them.
    before = max((it for it in results if calls and it < calls[0]), default=0)
    opened: list[model.Shown] = []
    newest = False
    for it in made:
        newest = newest if _is_result(it) else it.stored is not None and before < it.stored.sequence in calls
        if not (newest and _is_result(it) and it.stored is None):
            opened.append(it)
    return opened


def _is_result(it: model.Shown) -> bool:
    return bool(it.message["role"] == "tool")


def _in_order(made: Iterable[model.Shown]) -> Iterator[model.Shown]:
    """What is shown whole, in the order of storing: a context has the results of each call directly behind it."""
    for whole, run in groupby(made, lambda it: it.whole):
        them = list(run)
        yield from sorted(them, key=lambda it: it.stored.sequence if it.stored else 0) if whole else them


def _with_empty(
    made: Iterable[model.Shown], listed: Sequence[model.StoredMessage], empty: set[int], forgotten: set[int]
) -> Iterator[model.Shown]:
    """Adds the messages without words before those that follow them, or at the end."""
    made = list(made)
    whole = {it.stored.sequence: it.whole for it in made if it.stored}
    before: dict[int, list[model.Shown]] = {}
    following = 0
    for message in reversed(listed):
        if not empty.issuperset(_sequences(message)):
            following = message.sequence
        # Reasoning is nothing without the answer that it led to.
        elif message.last_sequence + 1 in forgotten:
            continue
        elif not following or whole.get(following, message.role == "user" and following in whole):
            before.setdefault(following, []).insert(0, model.Shown({}, message, True))
    for it in made:
        yield from before.pop(it.stored.sequence, ()) if it.stored else ()
        yield it
    yield from before.pop(0, ())


def _links(message: dict[str, Any]) -> set[tuple[str, ...]]:
    """The ids and names of a message's calls, and the ids of its results, in any format."""
    content = message.get("content")
    blocks = [it for it in content if isinstance(it, dict)] if isinstance(content, list) else []
    calls = [it for it in message.get("tool_calls") or () if "function" in it]
    links = [
        (message.get("call_id"), message.get("name")),
        (message.get("tool_call_id"),),
        *((it["id"], it["function"]["name"]) for it in calls),
        *((it.get("id"), it.get("name")) for it in blocks if it.get("type") == "tool_use"),
        *((it.get("tool_use_id"),) for it in blocks),
    ]
    return {tuple(it for it in link if it is not None) for link in links if link[0] is not None}


def _too_large(whole: Sequence[model.StoredMessage]) -> set[int]:
    """The sequences of large messages of which the context's own are shown: together they would be too large."""
    large: set[int] = set()
    size = 0
    for message in reversed(whole):
        size += len(message.json) if len(message.json) >= LARGE else 0
        if LARGE <= len(message.json) < size > MEDIA_BYTES:
            large.update(_sequences(message))
    return large
