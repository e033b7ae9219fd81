"""Makes a conversation contain the messages of a graph's state.

Several states can share a conversation: those of runs at the same time, and of runs without a checkpointer. So a
message is stored with its branch: messages that one state held, one after the other. What a state lacks goes only if
the state is known to have held it: if a later message of its branch, or of one that left it later, is in the state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from utterd import (
    ConflictError,
    Conversation,
    InvalidRequestError,
    ServerError,
    Stored,
    StoredMessage,
)
from utterd._address import PAGE
from utterd._langchain_messages import to_chat

BRANCH = "langgraph_branch"
"""The field of a message for its branch, which is named by the last sequence before it. If it left another branch, that
one's name and the last sequence that they share come first, and so on."""

ID = re.compile(r"ids\[(\d+)\]")
"""An id of a message that the server refuses."""

State = dict[str, dict[str, Any]]
"""The messages of a state, by their ids."""
Known = dict[str, StoredMessage]


def mirror(
    conversation: Conversation,
    messages: Sequence[BaseMessage],
    config: RunnableConfig,
    *,
    keep_oldest: bool = False,
    keep_newest: bool = True,
) -> None:
    """Stores what is new, replaces what changed, and forgets what was removed.

    - `keep_oldest`: what is missing before the first message that the state shares with the conversation stays.
    - `keep_newest`: what is missing at the end stays, because the state might be that of an earlier step. Otherwise
      answers there go.

    What somebody said meanwhile stays, unless the run began at an earlier checkpoint: then what came after it goes.
    """
    if any(message.id is None for message in messages):
        _append(conversation, list(map(to_chat, messages)))
        return
    state = {str(message.id): to_chat(message) for message in messages}
    rewound = "checkpoint_id" in (config.get("metadata") or {})
    while True:
        stored = _shared(conversation, list(state), keep_oldest)
        known = {it.utterance_id: it for it in stored.messages if it.utterance_id in state or BRANCH in it.message}
        kept = _in_order(list(state), [id for id in known if id in state])
        moved = [known[id] for id in state if id in known and id not in kept]
        tail = _tail(known, state)
        answers = len(kept) == len(state) and all(it.role != "user" for it in tail)
        ends = rewound or (answers and not keep_newest)
        branch = _branch(known, state, stored, fork=bool(tail) and not ends)
        said = {id: _on(_branch_of(known[id]) if id in kept else branch, it) for id, it in state.items()}
        changed = {id: it for id, it in said.items() if id not in kept or known[id].message != it}
        try:
            revision = _remove(conversation, stored, moved, _held(known, state) + (tail if ends else []))
            _store(conversation, changed, revision)
            return
        except ConflictError:
            continue
        except InvalidRequestError as error:
            _restore(conversation, list(changed), error)


def _append(conversation: Conversation, said: list[dict[str, Any]]) -> None:
    """Stores messages without ids, except for those at their head that are the newest already."""
    newest = [it.message for it in _stored(conversation, last=len(said)).messages]
    known = next(count for count in range(len(said), -1, -1) if newest[len(newest) - count :] == said[:count])
    if said[known:]:
        conversation.store(said[known:], format="openai")


def _shared(conversation: Conversation, ids: list[str], keep_oldest: bool) -> Stored:
    """What is stored since the state's branch began, or with `keep_oldest` since its first message that is stored."""
    parts = [ids[start : start + PAGE] for start in range(0, len(ids), PAGE)]
    found = [it for part in parts for it in _stored(conversation, ids=part, limit=1).messages]
    first = min(found, key=_sequence, default=None)
    if first is None:
        return _stored(conversation, last=1)
    before, began = first.sequence - 1, _branch_of(first)[:1]
    return _stored(conversation, after=before if keep_oldest else min([before, *began]))


def _in_order(state: list[str], known: list[str]) -> list[str]:
    """The ids at the head of the state that are known, in the same order. What comes after them is stored anew."""
    places = {id: place for place, id in enumerate(known)}
    kept: list[str] = []
    for id in state:
        if id not in places or (kept and places[id] < places[kept[-1]]):
            break
        kept.append(id)
    return kept


def _held(known: Known, state: State) -> list[StoredMessage]:
    """What is missing, and is before a message of the state on the same branch."""
    reached: dict[int, int] = {}
    for path, sequence in ((_branch_of(it), it.sequence) for id, it in known.items() if id in state):
        for branch, last in zip(path[::2], [*path[1::2], sequence], strict=False):
            reached[branch] = max(reached.get(branch, 0), last)
    missing = [it for id, it in known.items() if id not in state]
    return [it for it in missing if it.sequence <= reached.get(_branch_of(it)[-1], 0)]


def _tail(known: Known, state: State) -> list[StoredMessage]:
    """What is missing after the last message of the state that is stored, on the same branch."""
    tip = _tip(known, state)
    return [it for it in known.values() if tip and it.sequence > tip.sequence and _branch_of(it) == _branch_of(tip)]


def _tip(known: Known, state: State) -> StoredMessage | None:
    return max((it for id, it in known.items() if id in state), key=_sequence, default=None)


def _branch(known: Known, state: State, stored: Stored, *, fork: bool) -> list[int]:
    """The branch of what is new: that of the message before it, unless others have said something after that."""
    tip = _tip(known, state)
    path = _branch_of(tip) if tip else []
    if path and not fork:
        return path
    end = stored.messages[-1].last_sequence if stored.messages else 0
    return [*path, tip.sequence, end] if tip and path else [end]


def _branch_of(it: StoredMessage) -> list[int]:
    """Its branch; nothing if another client stored it."""
    branch: list[int] = it.message.get(BRANCH, [])
    return branch


def _on(branch: list[int], said: dict[str, Any]) -> dict[str, Any]:
    return {**said, BRANCH: branch} if branch else said


def _sequence(it: StoredMessage) -> int:
    return it.sequence


def _remove(conversation: Conversation, stored: Stored, moved: list[StoredMessage], gone: list[StoredMessage]) -> int:
    """Forgets softly what is gone, and makes room for what is stored anew in another place. Returns the revision."""
    parts = _in_part(stored.messages, gone)
    revision = stored.revision
    for hard, them in (True, moved + parts), (False, [it for it in gone if it not in parts]):
        if them:
            sequences = [range(it.sequence, it.last_sequence + 1) for it in them]
            revision = conversation.forget(
                sequences=sequences, hard=hard, exact=hard, expected_revision=revision
            ).revision
    return revision


def _in_part(messages: Iterable[StoredMessage], gone: list[StoredMessage]) -> list[StoredMessage]:
    """What is gone of exchanges of which something stays: only a whole exchange can be forgotten softly."""
    caller: dict[str, int] = {}
    exchanges: dict[int, list[StoredMessage]] = {}
    for it in messages:
        caller |= {call["id"]: it.sequence for call in it.message.get("tool_calls") or ()}
        exchanges.setdefault(caller.get(it.message.get("tool_call_id", ""), it.sequence), []).append(it)
    parted = [them for them in exchanges.values() if any(it not in gone for it in them)]
    return [it for them in parted for it in them if it in gone]


def _store(conversation: Conversation, said: State, revision: int) -> None:
    """Stores messages; ConflictError if the conversation is not at the revision."""
    if said:
        conversation.store(
            list(said.values()), format="openai", ids=list(said), upsert=True, expected_revision=revision
        )


def _restore(conversation: Conversation, ids: list[str], refusal: InvalidRequestError) -> None:
    """Restores what was forgotten and is in a state again; the refusal itself if it has another cause."""
    forgotten = [ids[int(place[1])] for it in refusal.fields if (place := ID.fullmatch(it.field))]
    try:
        conversation.restore(forgotten)
    except ServerError:
        raise refusal from None


def _stored(conversation: Conversation, **which: Any) -> Stored:
    return conversation.stored(format="openai", missing_ok=True, **which)
