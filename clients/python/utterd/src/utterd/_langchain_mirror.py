"""Makes a conversation contain the messages of a graph's state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from utterd import ConflictError, Conversation, NotFoundError, Stored, StoredMessage
from utterd._address import PAGE
from utterd._langchain_messages import to_chat
from utterd._messages import LAST

OTHERS = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}-\d+")
"""The ids that the server gives to messages: they were not stored from a state, so that they stay."""


def mirror(
    conversation: Conversation,
    messages: Sequence[BaseMessage],
    *,
    keep_oldest: bool = True,
    keep_newest: bool = True,
) -> None:
    """Stores what is new, replaces what changed, and removes for good what is missing.

    - `keep_oldest`: what is missing before the first message that is stored stays: without a checkpointer, a state has
      only the messages of its own run.
    - `keep_newest`: what is missing after the last one stays, unless something new follows it: the state might be that
      of an earlier step.
    """
    if any(message.id is None for message in messages):
        _append(conversation, list(map(to_chat, messages)))
        return
    state = {str(message.id): to_chat(message) for message in messages}
    while True:
        stored = _stored(conversation, after=_before(conversation, list(state)) if keep_oldest else None)
        known = {it.utterance_id: it for it in stored.messages if not OTHERS.fullmatch(it.utterance_id)}
        kept = _in_order(list(state), list(known))
        new = [id for id in state if id not in kept]
        shared = [known[id].sequence for id in state if id in known] or [LAST if keep_oldest else 0]
        first = min(shared) if keep_oldest else 0
        end = max(shared) if keep_newest and not new else LAST
        # What is in another place in the state is stored there anew.
        gone = [it for id, it in known.items() if id not in kept and (id in state or first < it.sequence < end)]
        changed = [id for id in kept if known[id].message != state[id]]
        try:
            _change(conversation, stored.revision, gone, {id: state[id] for id in changed + new})
            return
        except ConflictError:
            continue


def _append(conversation: Conversation, said: list[dict[str, Any]]) -> None:
    """Stores messages without ids, except for those at their head that are the newest already."""
    newest = [it.message for it in _stored(conversation, last=len(said)).messages]
    known = next(count for count in range(len(said), -1, -1) if newest[len(newest) - count :] == said[:count])
    if said[known:]:
        conversation._store(said[known:], format="openai")


def _change(conversation: Conversation, revision: int, gone: list[StoredMessage], said: dict[str, Any]) -> None:
    """Removes and stores messages; ConflictError if the conversation is not at the revision."""
    if gone:
        sequences = [range(it.sequence, it.last_sequence + 1) for it in gone]
        revision = conversation.forget(sequences=sequences, hard=True, exact=True, expected_revision=revision).revision
    if said:
        conversation._store(
            list(said.values()),
            format="openai",
            ids=list(said),
            upsert=True,
            # If this starts the conversation, there is no revision to pin.
            expected_revision=revision or None,
        )


def _before(conversation: Conversation, ids: list[str]) -> int:
    """The sequence before the first stored message that has one of these ids; the largest if there is none."""
    parts = [ids[start : start + PAGE] for start in range(0, len(ids), PAGE)]
    first = [it.sequence for part in parts for it in _stored(conversation, ids=part, limit=1).messages]
    return min(first, default=LAST) - 1


def _stored(conversation: Conversation, **which: Any) -> Stored:
    try:
        return conversation.stored(format="openai", **which)
    except NotFoundError:
        return Stored("", 0, ())


def _in_order(state: list[str], known: list[str]) -> list[str]:
    """The ids at the head of the state that are known, in the same order. What comes after them is stored anew."""
    places = {id: place for place, id in enumerate(known)}
    kept: list[str] = []
    for id in state:
        if id not in places or (kept and places[id] < places[kept[-1]]):
            break
        kept.append(id)
    return kept
