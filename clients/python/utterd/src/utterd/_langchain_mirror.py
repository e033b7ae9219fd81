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
BEFORE = "langgraph_state_after"
"""The name of a value: the sequence after which the messages of the state begin. Those before are of other states."""


def mirror(
    conversation: Conversation,
    messages: Sequence[BaseMessage],
    *,
    keep_oldest: bool = False,
    keep_newest: bool = True,
) -> None:
    """Stores what is new, replaces what changed, and removes for good what is missing.

    A state that shares no message with the conversation starts anew, as each run does without a checkpointer: what was
    stored before it stays.

    - `keep_oldest`: what is missing before the first message that the state shares with the conversation stays.
    - `keep_newest`: what is missing after the last one stays, unless something new follows it: the state might be that
      of an earlier step.
    """
    if any(message.id is None for message in messages):
        _append(conversation, list(map(to_chat, messages)))
        return
    state = {str(message.id): to_chat(message) for message in messages}
    while True:
        shared = _first(conversation, list(state))
        marked = None if keep_oldest or shared is None else _marked(conversation)
        before = _end(conversation) if shared is None else shared - 1
        stored = _stored(conversation, after=before if marked is None else min(before, marked))
        mark = {} if keep_oldest or marked is not None else {BEFORE: before}
        known = {it.utterance_id: it for it in stored.messages if not OTHERS.fullmatch(it.utterance_id)}
        kept = _in_order(list(state), list(known))
        new = [id for id in state if id not in kept]
        last = max((known[id].sequence for id in state if id in known), default=0)
        end = last if keep_newest and not new else LAST
        # What is in another place in the state is stored there anew.
        gone = [it for id, it in known.items() if id not in kept and (id in state or it.sequence < end)]
        changed = [id for id in kept if known[id].message != state[id]]
        try:
            _change(conversation, stored.revision, gone, {id: state[id] for id in changed + new}, mark)
            return
        except ConflictError:
            continue


def _append(conversation: Conversation, said: list[dict[str, Any]]) -> None:
    """Stores messages without ids, except for those at their head that are the newest already."""
    newest = [it.message for it in _stored(conversation, last=len(said)).messages]
    known = next(count for count in range(len(said), -1, -1) if newest[len(newest) - count :] == said[:count])
    if said[known:]:
        conversation._store(said[known:], format="openai")


def _change(
    conversation: Conversation, revision: int, gone: list[StoredMessage], said: dict[str, Any], mark: dict[str, int]
) -> None:
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
            state=mark or None,
            # If this starts the conversation, there is no revision to pin.
            expected_revision=revision or None,
        )


def _first(conversation: Conversation, ids: list[str]) -> int | None:
    """The sequence of the first stored message that has one of these ids."""
    parts = [ids[start : start + PAGE] for start in range(0, len(ids), PAGE)]
    found = [it.sequence for part in parts for it in _stored(conversation, ids=part, limit=1).messages]
    return min(found, default=None)


def _marked(conversation: Conversation) -> int | None:
    value = conversation.state(BEFORE).get(BEFORE)
    return None if value is None else int(value.value)


def _end(conversation: Conversation) -> int:
    newest = _stored(conversation, last=1).messages
    return newest[-1].last_sequence if newest else 0


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
