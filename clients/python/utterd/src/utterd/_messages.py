"""Operations on one conversation's messages. Each is defined once, for both clients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, cast

from google.protobuf.timestamp_pb2 import Timestamp

from utterd import _model as model
from utterd import _read as read
from utterd._address import CONVERSATIONS, MEMORY, PAGE, Address
from utterd._calls import Call, Steps, call, request_id
from utterd._errors import NotFoundError, UnavailableError
from utterd._proto import conversation_service_pb2 as conversations
from utterd._proto import memory_service_pb2 as memory
from utterd._proto import message_pb2, utterance_pb2

LAST = 2**63 - 1
"""The largest possible sequence."""

SCOPES = {
    "window": memory.REMEMBER_SCOPE_WINDOW,
    "conversation": memory.REMEMBER_SCOPE_CONVERSATION,
    "recipient": memory.REMEMBER_SCOPE_RECIPIENT,
}
PARTS = {
    "all": memory.SUMMARIZE_SCOPE_ALL,
    "recent": memory.SUMMARIZE_SCOPE_RECENT,
    "evicted": memory.SUMMARIZE_SCOPE_EVICTED,
    "turns": memory.SUMMARIZE_SCOPE_TURNS,
}


def stored(
    at: Address,
    *,
    last: int | None = None,
    after: int | None = None,
    before: int | None = None,
    ids: Sequence[str] = (),
    roles: Iterable[model.Role] = (),
    offset: int = 0,
    limit: int | None = None,
    newest_first: bool = False,
    format: model.Format | None = None,
    missing_ok: bool = False,
) -> Steps[model.Stored]:
    """The stored messages, in the window and the archive, with facts about each.

    Several conditions must all hold:

    - `last`: only this many of the newest.
    - `after`, `before`: only messages that begin after, or before, this sequence.
    - `ids`: only messages that begin with one of these utterances, at most 1,000.
    - `roles`: only messages of these roles.
    - `offset`, `limit`: how many of the list to skip, and the most to return.
    - `format`: every message in this format; by default each as it was given.
    - `missing_ok`: lists nothing if there is no conversation; by default `NotFoundError`.
    """
    which = (last, after, before, ids, roles, offset, limit, newest_first, format, missing_ok)
    page, them = yield from _listed(at, *which)
    return model.Stored(page.conversation_id, page.revision, tuple(map(read.message, them)))


def messages(
    at: Address,
    *,
    last: int | None = None,
    after: int | None = None,
    before: int | None = None,
    ids: Sequence[str] = (),
    roles: Iterable[model.Role] = (),
    offset: int = 0,
    limit: int | None = None,
    newest_first: bool = False,
    format: model.Format | None = None,
    missing_ok: bool = False,
) -> Steps[list[dict[str, Any]]]:
    """The stored messages, as they were given. The arguments are those of `stored`."""
    which = (last, after, before, ids, roles, offset, limit, newest_first, format, missing_ok)
    _, them = yield from _listed(at, *which)
    return read.plain_messages(them)


def _listed(
    at: Address,
    last: int | None,
    after: int | None,
    before: int | None,
    ids: Sequence[str],
    roles: Iterable[model.Role],
    offset: int,
    limit: int | None,
    newest_first: bool,
    format: model.Format | None,
    missing_ok: bool,
) -> Steps[tuple[conversations.ListMessagesResponse, list[message_pb2.Message]]]:
    """The first page, and the messages of all pages. Pinning its revision reveals a change between two pages."""
    wanted = [read.chosen("roles", role, read.ROLES) for role in roles]
    written = None if format is None else read.chosen("format", format, read.FORMATS)
    order = conversations.LIST_ORDER_NEWEST_FIRST if newest_first else conversations.LIST_ORDER_OLDEST_FIRST
    first = conversations.ListMessagesResponse()
    them: list[message_pb2.Message] = []
    token = ""
    while limit is None or len(them) < limit:
        request = conversations.ListMessagesRequest(
            conversation_id=at.conversation_id,
            recipient_id=at.recipient_id,
            format=written,
            last=last,
            after_sequence=after,
            before_sequence=before,
            utterance_ids=ids,
            roles=wanted,
            order=order,
            skip=offset,
            # the same on every page, as a token requires
            page_size=PAGE if limit is None else min(limit, PAGE),
            page_token=token,
        )
        try:
            page = yield from call(CONVERSATIONS, "ListMessages", request, conversations.ListMessagesResponse)
        except NotFoundError:
            if missing_ok:
                break
            raise
        if not token:
            first = page
            at.found()
        them.extend(page.messages)
        token = page.next_page_token
        if not token:
            break
    return first, them[:limit]


def pop(at: Address, *, format: model.Format | None = None) -> Steps[dict[str, Any] | None]:
    """Removes the newest message for good, and returns it; None if nothing is stored.

    This is a single call, so that no two callers get the same message. If the connection is lost during the call, and
    a retry finds that it had taken effect, this raises `UnavailableError`: the message is lost, because outcomes keep
    no text.
    """
    request = memory.ForgetRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        selector=memory.ForgetSelector(newest_messages=1),
        mode=memory.FORGET_MODE_HARD,
        exact=True,
        return_messages=True,
        format=None if format is None else read.chosen("format", format, read.FORMATS),
        request_id=request_id(None),
    )
    try:
        it = yield from call(MEMORY, "Forget", request, memory.ForgetResponse)
    except NotFoundError:
        return None
    if it.replayed and it.forgotten:
        text = "the newest message was removed, but the connection was lost before it was received"
        raise UnavailableError(text, code="UNAVAILABLE", request_id=request.request_id)
    return read.message(it.messages[-1]).message if it.messages else None


def clear(at: Address, *, expected_revision: int | None = None) -> Steps[None]:
    """Removes everything that was said, for good, from the summary too.

    The conversation stays, with its title, labels and limits. If it does not exist, this does nothing.
    """
    request = memory.ForgetRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        # The word `all` would keep the instructions at the head.
        selector=memory.ForgetSelector(sequences=[utterance_pb2.SequenceRange(first=1, last=LAST)]),
        mode=memory.FORGET_MODE_HARD,
        exact=True,
        expected_revision=expected_revision,
        request_id=request_id(None),
    )
    try:
        yield from call(MEMORY, "Forget", request, memory.ForgetResponse)
    except NotFoundError:
        return


def forget(
    at: Address,
    instructions: str = "",
    *,
    ids: Sequence[str] = (),
    sequences: Iterable[int | range] = (),
    newest: int | None = None,
    hard: bool = False,
    exact: bool = False,
    dry_run: bool = False,
    return_messages: bool = False,
    format: model.Format | None = None,
    expected_revision: int | None = None,
    request_id: str | None = None,
) -> Steps[model.Forgotten]:
    """Forgets what instructions such as `last:3` or "what I said yesterday" select, or what is named.

    - `ids`, `sequences`, `newest`: instead of instructions: these utterances, these sequences (numbers, or ranges with
      a step of 1), this many of the newest messages; everything that any of them names.
    - `hard`: for good. By default `restore` brings it back.
    - `exact`: with `hard` and without instructions: exactly this; by default an exchange is forgotten as a whole.
    - `dry_run`: returns what would be forgotten, and changes nothing.
    - `return_messages`: the response contains the messages, unless it is `replayed`.
    """
    named = bool(ids) or bool(sequences) or newest is not None
    selector = memory.ForgetSelector(
        utterance_ids=ids, sequences=map(_sequence_range, sequences), newest_messages=newest
    )
    request = memory.ForgetRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        instructions=instructions,
        selector=selector if named else None,
        mode=memory.FORGET_MODE_HARD if hard else memory.FORGET_MODE_SOFT,
        exact=exact,
        dry_run=dry_run,
        return_messages=return_messages,
        format=None if format is None else read.chosen("format", format, read.FORMATS),
        expected_revision=expected_revision,
        request_id=_attempt(request_id),
    )
    it = yield from call(MEMORY, "Forget", request, memory.ForgetResponse)
    return model.Forgotten(
        conversation_id=it.conversation_id,
        revision=it.revision,
        forgotten=read.references(it.forgotten),
        messages=tuple(map(read.message, it.messages)),
        capacity=read.capacity(it.capacity),
        understood_as=it.understood_as,
        replayed=it.replayed,
        warnings=tuple(warning.text for warning in it.warnings),
    )


_attempt = request_id


def _sequence_range(them: int | range) -> utterance_pb2.SequenceRange:
    if isinstance(them, int):
        return utterance_pb2.SequenceRange(first=them, last=them)
    if them.step != 1 or not them:
        raise ValueError(f"sequences: {them}; accepted: numbers, and ranges with a step of 1 that are not empty")
    return utterance_pb2.SequenceRange(first=them[0], last=them[-1])


def restore(
    at: Address, ids: Sequence[str], *, expected_revision: int | None = None, request_id: str | None = None
) -> Steps[model.Restored]:
    """Brings back softly forgotten utterances: 1 to 1,000 by their ids, each with its exchange."""
    request = memory.RestoreRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        utterance_ids=ids,
        expected_revision=expected_revision,
        request_id=_attempt(request_id),
    )
    it = yield from call(MEMORY, "Restore", request, memory.RestoreResponse)
    return model.Restored(
        conversation_id=it.conversation_id,
        revision=it.revision,
        restored=read.references(it.restored),
        evicted=read.references(it.evicted),
        capacity=read.capacity(it.capacity),
        replayed=it.replayed,
    )


def remember(
    at: Address,
    prompt: str = "",
    *,
    limit: int = 10,
    scope: model.Scope | None = None,
    neighbors: int = 0,
    roles: Iterable[model.Role] = (),
    names: Iterable[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    min_relevance: float | None = None,
) -> Steps[list[model.Match]]:
    """Finds utterances by a prompt, the best first; without a prompt, the newest that pass the filters.

    - `limit`: the most matches.
    - `scope`: what to search; by default a conversation that was addressed by its id, else all of the recipient's.
    - `neighbors`: how many utterances before and after each match to include, 0 to 10.
    - `roles`, `names`: only utterances of these speakers.
    - `since`, `until`: only what was said then or later, and before then.
    - `min_relevance`: the least relevance, 0 to 1.
    """
    condition = memory.RememberFilter(
        roles=[read.chosen("roles", role, read.ROLES) for role in roles],
        names=names,
        start_time=_timestamp(since),
        end_time=_timestamp(until),
    )
    matches: list[model.Match] = []
    token = ""
    while len(matches) < limit:
        request = memory.RememberRequest(
            conversation_id=at.conversation_id,
            recipient_id=at.recipient_id,
            prompt=prompt,
            filter=condition if condition.ByteSize() else None,
            scope=None if scope is None else read.chosen("scope", scope, SCOPES),
            neighbors=neighbors,
            min_relevance=min_relevance,
            page_size=min(limit, PAGE),
            page_token=token,
        )
        page = yield from call(MEMORY, "Remember", request, memory.RememberResponse)
        matches.extend(map(_match, page.matches))
        token = page.next_page_token
        if not token:
            break
    return matches[:limit]


def _timestamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp


def _match(it: memory.Match) -> model.Match:
    return model.Match(
        utterance=read.utterance(it.utterance),
        conversation_id=it.conversation_id,
        score=it.score,
        relevance=it.relevance,
        terms=tuple(it.matched_terms),
        neighbors=tuple(map(read.utterance, it.neighbors)),
    )


def summarize(
    at: Address,
    part: Literal["all", "recent", "evicted", "turns"] = "all",
    *,
    recent: int | None = None,
    turns: range | None = None,
    tokens: int | None = None,
    focus: Iterable[str] = (),
    wait_for_model: bool = False,
) -> Steps[model.Summary]:
    """Summarises a conversation, or a part of it. Stores nothing.

    - `part`: all of it; the last `recent` utterances; what left the window (`evicted`); or the `turns`, a range.
    - `tokens`: how long it may be; by default the policy's limit.
    - `focus`: words that make a sentence matter more.
    - `wait_for_model`: has the server's model write it, if there is one.
    """
    request = memory.SummarizeRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        scope=read.chosen("part", part, PARTS),
        recent_count=recent,
        first_turn=None if turns is None else turns.start,
        last_turn=None if turns is None else turns.stop - 1,
        token_limit=tokens,
        focus_areas=focus,
        wait_for_llm=wait_for_model,
    )
    it = yield from call(MEMORY, "Summarize", request, memory.SummarizeResponse)
    warnings = [warning.text for warning in it.warnings] + [it.llm_error] * bool(it.llm_error)
    return model.Summary(it.text, it.token_count, it.conversation_id, it.model, tuple(warnings))


def summary(at: Address) -> Steps[model.Summary]:
    """The stored summary of what left the window."""
    request = conversations.GetSummaryRequest(conversation_id=at.conversation_id, recipient_id=at.recipient_id)
    it = yield from call(CONVERSATIONS, "GetSummary", request, conversations.GetSummaryResponse)
    models = {segment.model for segment in it.segments if segment.model}
    return model.Summary(it.text, it.token_count, it.conversation_id, ", ".join(sorted(models)))


def capacity(at: Address) -> Steps[model.Capacity]:
    """How full the window is."""
    request = memory.GetCapacityInfoRequest(conversation_id=at.conversation_id, recipient_id=at.recipient_id)
    it = yield from call(MEMORY, "GetCapacityInfo", request, memory.GetCapacityInfoResponse)
    return read.capacity(it.capacity)


def watched(at: Address) -> Call:
    """The call whose responses report how full the window is."""
    request = memory.WatchCapacityRequest(conversation_id=at.conversation_id, recipient_id=at.recipient_id)
    return Call("/utterd.v1.MemoryService/WatchCapacity", request, memory.WatchCapacityResponse)


def capacity_of(response: object) -> model.Capacity:
    """The capacity in a response of that call."""
    return read.capacity(cast(memory.WatchCapacityResponse, response).capacity)
