"""Adding messages to a conversation. Each operation is defined once, for both clients."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, TypeAlias

from utterd import _model as model
from utterd import _read as read
from utterd._address import MEMORY, Address, Start
from utterd._calls import Steps, call, logger, request_id
from utterd._conversations import create, update
from utterd._errors import ConflictError, ExistsError, ServerError
from utterd._limits import KEEP, LONG
from utterd._messages import stored
from utterd._oversize import Oversize, cut, too_large
from utterd._proto import conversation_service_pb2 as conversations
from utterd._proto import memory_service_pb2 as memory
from utterd._proto import utterance_pb2

Change: TypeAlias = model.StateChange | Mapping[str, Any] | None


def add(
    at: Address,
    messages: model.Messages,
    *,
    format: model.Format | None = None,
    ids: Sequence[str] = (),
    upsert: bool = False,
    lenient: bool = False,
    state: model.StateChange | Mapping[str, Any] | None = None,
    recipient_state: model.StateChange | Mapping[str, Any] | None = None,
    expected_revision: int | None = None,
    request_id: str | None = None,
    oversize: Oversize | None = None,
) -> Steps[model.Added]:
    """Stores one message or several, all or none; starts the conversation if necessary.

    A message is a mapping in the format of OpenAI's chat, OpenAI's Responses or Anthropic, or an object of their
    packages; unknown fields are kept and returned. What is too much for a call, above 1,000 messages or 8 MiB, is
    stored by several: if one is refused, what those before it stored is removed again.

    - `format`: by default detected from the messages.
    - `ids`: the caller's own ids, one for each message, unique in the conversation.
    - `upsert`: a message replaces a stored one with the same id; by default `ExistsError`.
    - `lenient`: also stores a result that answers no call, and a message without content and calls.
    - `state`: values to set, or a `StateChange` of the conversation's values, in the same commit: if one is refused,
      neither is done.
    - `recipient_state`: the same for the recipient's own values.
    - `expected_revision`: `ConflictError` if the conversation is at another; 0 means that it must not exist yet.
    - `request_id`: identifies this attempt; a repetition stores nothing twice. By default a new one.
    - `oversize`: as for `connect`; by default what was given there.
    """
    request = _request(at, format, lenient, upsert=upsert)
    changes, cuts = (state, recipient_state), (oversize or at.oversize) == "cut"
    done = yield from _memorize(at, request, messages, ids, changes, expected_revision, request_id, cuts=cuts)
    return _together(list(map(_added, done)))


def store(
    at: Address,
    messages: model.Messages,
    *,
    format: model.Format,
    ids: Sequence[str] = (),
    upsert: bool = False,
    state: Change = None,
    expected_revision: int | None = None,
) -> Steps[None]:
    """Stores what an adapter was given, whatever it is, and does not read the result, which takes time.

    Of a text that is larger than the server accepts, head and tail are stored, unless the client was connected with
    `oversize="refuse"`.
    """
    request = _request(at, format, True, upsert=upsert, lean=True)
    cuts = at.oversize != "refuse"
    yield from _memorize(at, request, messages, ids, (state, None), expected_revision, None, cuts=cuts)


def replace_after(
    at: Address,
    sequence: int,
    messages: model.Messages = (),
    *,
    format: model.Format | None = None,
    ids: Sequence[str] = (),
    lenient: bool = False,
    state: model.StateChange | Mapping[str, Any] | None = None,
    recipient_state: model.StateChange | Mapping[str, Any] | None = None,
    expected_revision: int | None = None,
    request_id: str | None = None,
) -> Steps[model.Added]:
    """Removes everything after a sequence, 0 for everything stored, and stores messages instead.

    Both are one commit, with up to 1,000 messages. The removal is final, and includes the summary. The other arguments
    are those of `add`.
    """
    request = _request(at, format, lenient, replace_after=sequence)
    changes, cuts = (state, recipient_state), at.oversize == "cut"
    done = yield from _memorize(at, request, messages, ids, changes, expected_revision, request_id, cuts=cuts)
    return _together(list(map(_added, done)))


def replace(at: Address, messages: model.Messages, *, format: model.Format | None = None) -> Steps[None]:
    """Makes the conversation contain exactly these messages, for a framework that always stores its whole list.

    Those at the head that are stored already stay, with their ids, times and summary. The rest is replaced in one
    commit, with up to 1,000 messages, whatever it is, as `store` would.
    """
    wanted = read.several(messages)
    while True:
        now = yield from stored(at, format=format, missing_ok=True)
        pairs = zip(now.messages, wanted, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0].message == json.loads(read.one_as_json(pair[1])), pairs))
        if same == len(now.messages) == len(wanted):
            return
        after = now.messages[same - 1].last_sequence if same else 0
        # If this starts the conversation, there is no revision to pin.
        revision = now.revision if same else None
        try:
            request = _request(at, format, True, replace_after=after)
            cuts = at.oversize != "refuse"
            yield from _memorize(at, request, wanted[same:], (), (None, None), revision, None, cuts=cuts)
            return
        except ConflictError:
            continue


def _request(at: Address, format: model.Format | None, lenient: bool, **fields: Any) -> memory.MemorizeRequest:
    return memory.MemorizeRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        format=None if format is None else read.chosen("format", format, read.FORMATS),
        lenient=lenient,
        **fields,
    )


def _memorize(
    at: Address,
    request: memory.MemorizeRequest,
    messages: model.Messages,
    ids: Sequence[str],
    changes: tuple[Change, Change],
    expected_revision: int | None,
    attempt: str | None,
    *,
    cuts: bool,
) -> Steps[list[memory.MemorizeResponse]]:
    """Makes one call, or a call for each batch. The last one changes the state."""
    written = read.batches(messages, ids)
    if at.start is not None and not at.start.exists and (at.start.labels or at.start.policy is not KEEP):
        created = yield from _create(at, at.start)
        # It does not exist before this, as is expected.
        expected_revision = 1 if created and expected_revision == 0 else expected_revision
    request.MergeFrom(_state(*changes))
    attempt = request_id(attempt)
    try:
        return (yield from _in_batches(at, request, written, expected_revision, attempt))
    except ServerError as error:
        most = too_large(error)
        if most is None or not cuts or isinstance(messages, str):
            raise
        logger.warning("%s; of texts, only head and tail are stored", error)
    smaller = [cut(it, most) for it in read.several(messages)]
    return (yield from _in_batches(at, request, read.batches(smaller, ids), expected_revision, f"{attempt}-cut"))


def _create(at: Address, start: Start) -> Steps[bool]:
    """Creates the conversation; returns whether there was none."""
    try:
        yield from create(at, policy=start.policy, labels=start.labels)
    except ExistsError:
        at.found()
        return False
    return True


def _in_batches(
    at: Address,
    whole: memory.MemorizeRequest,
    batches: list[read.Batch],
    expected_revision: int | None,
    attempt: str,
) -> Steps[list[memory.MemorizeResponse]]:
    """Makes a call for each batch. The first one removes what is replaced, and the last one changes the state."""
    done: list[memory.MemorizeResponse] = []
    for number, batch in enumerate(batches):
        request = memory.MemorizeRequest()
        request.CopyFrom(whole)
        request.messages_json = batch.text
        request.message_ids.extend(batch.ids)
        request.request_id = f"{attempt}-{number}" if number else attempt
        if expected_revision is not None:
            request.expected_revision = expected_revision
        if number > 0:
            request.ClearField("replace_after")
        if number < len(batches) - 1:
            request.ClearField("state")
            request.ClearField("recipient_state")
        try:
            it = yield from call(MEMORY, "Memorize", request, memory.MemorizeResponse)
        except ServerError as error:
            error.request_id = attempt
            # After any other failure, a repetition with the request id goes on where this ended.
            if not request.upsert and error.code not in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
                yield from _remove(at, done)
            raise error.moved(batch.first) from error.__cause__
        done.append(it)
        if expected_revision is not None:
            expected_revision = it.revision
        else:
            yield from _keep(at, it)
    return done


def _keep(at: Address, it: memory.MemorizeResponse) -> Steps[None]:
    """Lets everything stay stored, once a conversation has become long."""
    start = at.start
    if start and start.policy is KEEP and not start.kept and it.memorized and it.memorized[-1].sequence >= LONG:
        try:
            yield from update(at, policy=KEEP)
            start.kept = True
        except ServerError as error:
            # The messages are stored; the next ones try again.
            logger.warning("the limits of a conversation could not be raised: %s", error)


def _state(state: Change, recipient_state: Change) -> memory.MemorizeRequest:
    """The changes of state in the form of a request."""
    return memory.MemorizeRequest(
        state=None if state is None else state_change(state),
        recipient_state=None if recipient_state is None else state_change(recipient_state),
    )


def _remove(at: Address, done: Sequence[memory.MemorizeResponse]) -> Steps[None]:
    """Removes what the batches before a refused one added."""
    added = [it.sequence for batch in done for it in batch.memorized]
    if added:
        them = [utterance_pb2.SequenceRange(first=it, last=it) for it in added]
        request = memory.ForgetRequest(
            conversation_id=done[0].conversation_id,
            selector=memory.ForgetSelector(sequences=them),
            mode=memory.FORGET_MODE_HARD,
            exact=True,
            request_id=request_id(None),
        )
        yield from call(MEMORY, "Forget", request, memory.ForgetResponse)


def _added(it: memory.MemorizeResponse) -> model.Added:
    return model.Added(
        conversation_id=it.conversation_id,
        revision=it.revision,
        memorized=read.references(it.memorized),
        evicted=read.references(it.evicted),
        removed=read.references(it.removed),
        capacity=read.capacity(it.capacity),
        started=it.started_conversation,
        replayed=it.replayed,
        irregularities=tuple(model.Irregularity(its.index, its.sequence, its.description) for its in it.irregularities),
        ended_conversation_id=it.ended_conversation_id or None,
    )


def _together(done: list[model.Added]) -> model.Added:
    """The result of several calls as that of one."""
    if len(done) == 1:
        return done[0]
    irregularities: list[model.Irregularity] = []
    before = 0
    for batch in done:
        irregularities += [dataclasses.replace(it, index=it.index + before) for it in batch.irregularities]
        before += len(batch.memorized)
    return dataclasses.replace(
        done[-1],
        memorized=tuple(it for batch in done for it in batch.memorized),
        evicted=tuple(it for batch in done for it in batch.evicted),
        removed=done[0].removed,
        started=done[0].started,
        replayed=all(batch.replayed for batch in done),
        irregularities=tuple(irregularities),
        ended_conversation_id=done[0].ended_conversation_id,
    )


def state_change(given: model.StateChange | Mapping[str, Any]) -> conversations.StateChange:
    """A change of the state, or values to set, in the form of a request."""
    change = model.StateChange(set=given) if isinstance(given, Mapping) else given

    def value(name: str, value: Any) -> conversations.StateValue:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return conversations.StateValue(name=name, data=bytes(value))
        return conversations.StateValue(name=name, json=read.one_as_json(value))

    return conversations.StateChange(
        set=[value(*named) for named in change.set.items()],
        delete=change.delete,
        expected_versions=change.expected_versions,
    )
