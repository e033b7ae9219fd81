"""What is done with one conversation's messages. Each operation stands here once, for both clients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from google.protobuf.timestamp_pb2 import Timestamp

from utterd import _model as model
from utterd import _read as read
from utterd._calls import Call, Steps, call, request_id
from utterd._errors import NotFoundError, UnavailableError
from utterd._proto import conversation_service_pb2 as conversations
from utterd._proto import memory_service_pb2 as memory
from utterd._proto import message_pb2, utterance_pb2

MEMORY, CONVERSATIONS = "MemoryService", "ConversationService"
PAGE = 1000
"""The most that a page holds."""
LAST = 2**63 - 1
"""The last sequence that there can be."""

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


@dataclass(frozen=True, slots=True)
class Address:
    """Which conversation: one by its id; or else the active one of a recipient, by default of `default`."""

    conversation_id: str
    recipient_id: str
    of_recipient: bool = False
    """The recipient itself is meant, and no conversation."""


class Addressed:
    """What has an address: a conversation, for threads or for asyncio."""

    address: Address

    @property
    def id(self) -> str | None:
        """Its id; None of a recipient's active one."""
        return self.address.conversation_id or None

    @property
    def recipient(self) -> str | None:
        """Whose it is, as far as that was said."""
        return self.address.recipient_id or None


def add(
    at: Address,
    messages: model.Messages,
    *,
    format: model.Format | None = None,
    ids: Sequence[str] = (),
    upsert: bool = False,
    lenient: bool = False,
    state: model.StateChange | None = None,
    recipient_state: model.StateChange | None = None,
    expected_revision: int | None = None,
    request_id: str | None = None,
) -> Steps[model.Added]:
    """Stores one message or several, all or none; starts the conversation if need be.

    A message is a mapping as OpenAI's chat, OpenAI's Responses or Anthropic write it, or an object of their
    packages; fields that they do not know are kept and come back.

    - `format`: told by the looks of the messages by default.
    - `ids`: ids of the caller's, one for each message, unique in the conversation.
    - `upsert`: a message with an id that is stored already takes its place; by default `ExistsError`.
    - `lenient`: stores also a result that answers no call, and a message that says and calls nothing.
    - `state`: changes the values beside the conversation in the same commit: when either is refused, neither is done.
    - `recipient_state`: the same with the recipient's own values.
    - `expected_revision`: `ConflictError` when the conversation is at another; 0 when it must not exist yet.
    - `request_id`: names this attempt; to repeat it stores nothing twice. By default a new one.
    """
    changes = (state, recipient_state)
    return _memorize(at, messages, None, format, ids, upsert, lenient, changes, expected_revision, request_id)


def replace_after(
    at: Address,
    sequence: int,
    messages: model.Messages = (),
    *,
    format: model.Format | None = None,
    ids: Sequence[str] = (),
    lenient: bool = False,
    state: model.StateChange | None = None,
    recipient_state: model.StateChange | None = None,
    expected_revision: int | None = None,
    request_id: str | None = None,
) -> Steps[model.Added]:
    """Removes everything behind a sequence, 0 for everything stored, and stores messages in its place.

    Both are one commit. What is removed is gone for good, from the summary too. The other arguments are those of
    `add`.
    """
    changes = (state, recipient_state)
    return _memorize(at, messages, sequence, format, ids, False, lenient, changes, expected_revision, request_id)


def _memorize(
    at: Address,
    messages: model.Messages,
    sequence: int | None,
    format: model.Format | None,
    ids: Sequence[str],
    upsert: bool,
    lenient: bool,
    changes: tuple[model.StateChange | None, model.StateChange | None],
    expected_revision: int | None,
    attempt: str | None,
) -> Steps[model.Added]:
    state, recipient_state = (None if it is None else state_change(it) for it in changes)
    request = memory.MemorizeRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        messages_json=read.as_json(messages),
        format=None if format is None else read.chosen("format", format, read.FORMATS),
        message_ids=ids,
        upsert=upsert,
        lenient=lenient,
        replace_after=sequence,
        state=state,
        recipient_state=recipient_state,
        expected_revision=expected_revision,
        request_id=request_id(attempt),
    )
    it = yield from call(MEMORY, "Memorize", request, memory.MemorizeResponse)
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


def state_change(change: model.StateChange) -> conversations.StateChange:
    """A change of the state as a request has it."""

    def value(name: str, value: Any) -> conversations.StateValue:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return conversations.StateValue(name=name, data=bytes(value))
        return conversations.StateValue(name=name, json=read.one_as_json(value))

    return conversations.StateChange(
        set=[value(*named) for named in change.set.items()],
        delete=change.delete,
        expected_versions=change.expected_versions,
    )


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
) -> Steps[model.Stored]:
    """The messages that are stored, in the window and the archive, with what is known of each.

    Several conditions must all hold:

    - `last`: only the newest so many of what would be listed.
    - `after`, `before`: only messages that begin behind, or before, this sequence.
    - `ids`: only messages that begin with one of these utterances, at most 1,000.
    - `roles`: only what these say.
    - `offset`, `limit`: so many of the list are passed over, so many are returned at most.
    - `format`: every message in this format; by default each as it came.
    """
    page, them = yield from _listed(at, last, after, before, ids, roles, offset, limit, newest_first, format)
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
) -> Steps[list[dict[str, Any]]]:
    """The messages that are stored, as they came. The arguments are those of `stored`."""
    _, them = yield from _listed(at, last, after, before, ids, roles, offset, limit, newest_first, format)
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
) -> Steps[tuple[conversations.ListMessagesResponse, list[message_pb2.Message]]]:
    """The first page, whose revision shows a change between two pages to who pins it; and the messages of all."""
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
            offset=offset,
            # the same on every page, as a token asks for
            page_size=PAGE if limit is None else min(limit, PAGE),
            page_token=token,
        )
        page = yield from call(CONVERSATIONS, "ListMessages", request, conversations.ListMessagesResponse)
        if not token:
            first = page
        them.extend(page.messages)
        token = page.next_page_token
        if not token:
            break
    return first, them[:limit]


def pop(at: Address, *, format: model.Format | None = None) -> Steps[dict[str, Any] | None]:
    """Removes the newest message for good, and returns it; None when nothing is stored.

    One call, so that no two callers get the same message. Where it is made again, as the server was lost amid it, and
    turns out to have happened, `UnavailableError` says so: the message is gone, and outcomes keep no text.
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
        text = "the newest message was removed, but the server was lost before it was received"
        raise UnavailableError(text, code="UNAVAILABLE", request_id=request.request_id)
    return read.message(it.messages[-1]).message if it.messages else None


def clear(at: Address, *, expected_revision: int | None = None) -> Steps[None]:
    """Removes everything that was said, for good, with what the summary tells of it.

    The conversation stays, with its title, labels and limits. One that does not exist is clear.
    """
    request = memory.ForgetRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        # The word `all` would spare the instructions at the head.
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
    """Forgets what instructions select, such as `last:3` or "what I said yesterday", or what is named.

    - `ids`, `sequences`, `newest`: in the place of instructions: these utterances, these sequences (numbers, or
      ranges with a step of 1), the newest so many messages; all that any of them names.
    - `hard`: for good. By default `restore` brings it back.
    - `exact`: with `hard` and without instructions: this and nothing else, where otherwise an exchange is forgotten
      whole.
    - `dry_run`: tells what would be forgotten, and changes nothing.
    - `return_messages`: the response holds the messages, unless it is `replayed`.
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
        raise ValueError(f"sequences: {them}; accepted are numbers, and ranges with a step of 1 that are not empty")
    return utterance_pb2.SequenceRange(first=them[0], last=them[-1])


def restore(
    at: Address, ids: Sequence[str], *, expected_revision: int | None = None, request_id: str | None = None
) -> Steps[model.Restored]:
    """Brings back what was forgotten softly: 1 to 1,000 utterances by their ids, each with its exchange."""
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
    scope: model.Scope = "conversation",
    neighbors: int = 0,
    roles: Iterable[model.Role] = (),
    names: Iterable[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    min_relevance: float | None = None,
) -> Steps[list[model.Match]]:
    """Finds utterances by a prompt, the best first; without one the newest that the filters let through.

    - `limit`: how many, at most.
    - `neighbors`: how many utterances before and after each match come along, 0 to 10.
    - `roles`, `names`: only what these say.
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
            scope=read.chosen("scope", scope, SCOPES),
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
    """Summarises a conversation, or a part of it, and stores nothing.

    - `part`: all of it; the last `recent` utterances; what left the window (`evicted`); or the `turns`, a range.
    - `tokens`: how long it may be; by default the policy's limit.
    - `focus`: words that make a sentence matter more.
    - `wait_for_model`: has the server's model tell it, where it has one.
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
    """The summary of what left the window, as it is stored."""
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
    """The call whose responses tell how full the window is."""
    request = memory.WatchCapacityRequest(conversation_id=at.conversation_id, recipient_id=at.recipient_id)
    return Call("/utterd.v1.MemoryService/WatchCapacity", request, memory.WatchCapacityResponse)


def capacity_of(response: object) -> model.Capacity:
    """What a response of that call says."""
    return read.capacity(cast(memory.WatchCapacityResponse, response).capacity)
