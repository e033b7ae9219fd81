"""Operations on whole conversations. Each is defined once, for both clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from google.protobuf.field_mask_pb2 import FieldMask

from utterd import _model as model
from utterd import _read as read
from utterd._address import CONVERSATIONS, PAGE, Address
from utterd._calls import Steps, call
from utterd._calls import request_id as attempt
from utterd._errors import ExistsError, NotFoundError
from utterd._proto import compaction_service_pb2 as compactions
from utterd._proto import conversation_service_pb2 as conversations

COMPACTIONS = "CompactionService"
ORDERS = {
    "newest_start": conversations.CONVERSATION_ORDER_NEWEST_START,
    "oldest_start": conversations.CONVERSATION_ORDER_OLDEST_START,
    "newest_update": conversations.CONVERSATION_ORDER_NEWEST_UPDATE,
    "oldest_update": conversations.CONVERSATION_ORDER_OLDEST_UPDATE,
}


def create(
    at: Address,
    *,
    title: str = "",
    policy: model.Policy | None = None,
    labels: Mapping[str, str] | None = None,
    encoding: str = "",
    exist_ok: bool = False,
) -> Steps[str]:
    """Creates a conversation with limits of its own. Returns its id."""
    request = conversations.CreateConversationRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        title=title,
        policy=read.policy_of(policy),
        labels=labels or {},
        encoding=encoding,
        request_id=attempt(None),
    )
    try:
        it = yield from call(CONVERSATIONS, "CreateConversation", request, conversations.CreateConversationResponse)
    except ExistsError:
        if not exist_ok:
            raise
        return at.conversation_id
    at.found()
    return it.conversation.conversation_id


def record(at: Address) -> Steps[model.ConversationRecord]:
    """What the server records about the conversation; `NotFoundError` if there is none."""
    request = conversations.GetConversationRequest(conversation_id=at.conversation_id, recipient_id=at.recipient_id)
    it = yield from call(CONVERSATIONS, "GetConversation", request, conversations.GetConversationResponse)
    return read.conversation(it.conversation)


def conversation_records(
    recipient: str = "",
    *,
    all_recipients: bool = False,
    prefix: str = "",
    status: model.Status | None = None,
    order: Literal["newest_start", "oldest_start", "newest_update", "oldest_update"] = "newest_start",
    limit: int | None = None,
) -> Steps[list[model.ConversationRecord]]:
    """A recipient's conversations, or those of all recipients, sorted, and at most `limit`.

    `prefix` and `status`: only conversations with this prefix of the id, and this status.
    """
    found: list[model.ConversationRecord] = []
    token = ""
    while limit is None or len(found) < limit:
        request = conversations.ListConversationsRequest(
            recipient_id=recipient,
            all_recipients=all_recipients,
            conversation_id_prefix=prefix,
            order=read.chosen("order", order, ORDERS),
            status=None if status is None else read.chosen("status", status, read.STATUSES),
            page_size=PAGE if limit is None else min(limit, PAGE),
            page_token=token,
        )
        page = yield from call(CONVERSATIONS, "ListConversations", request, conversations.ListConversationsResponse)
        found.extend(map(read.conversation, page.conversations))
        token = page.next_page_token
        if not token:
            break
    return found[:limit]


def update(
    at: Address,
    *,
    title: str | None = None,
    policy: model.Policy | None = None,
    labels: Mapping[str, str] | None = None,
    expected_revision: int | None = None,
) -> Steps[model.ConversationRecord]:
    """Changes the title, limits or labels; None leaves a value unchanged. A smaller limit evicts immediately."""
    paths = {"title": title, "policy": policy, "labels": labels}
    request = conversations.UpdateConversationRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        title=title,
        policy=read.policy_of(policy),
        labels=labels or {},
        update_mask=FieldMask(paths=[path for path, value in paths.items() if value is not None]),
        expected_revision=expected_revision,
        request_id=attempt(None),
    )
    it = yield from call(CONVERSATIONS, "UpdateConversation", request, conversations.UpdateConversationResponse)
    return read.conversation(it.conversation)


def edit(
    at: Address,
    utterance_id: str,
    *,
    content: str | None = None,
    pinned: bool | None = None,
    metadata: Mapping[str, str] | None = None,
    expected_revision: int | None = None,
) -> Steps[model.Utterance]:
    """Changes an utterance's content, pin or metadata, in place; None leaves a value unchanged."""
    paths = {"content": content, "pinned": pinned, "metadata": metadata}
    request = conversations.UpdateUtteranceRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        utterance_id=utterance_id,
        content=content,
        metadata=metadata or {},
        update_mask=FieldMask(paths=[path for path, value in paths.items() if value is not None]),
        expected_revision=expected_revision,
        request_id=attempt(None),
        **read.present(pinned=pinned),
    )
    it = yield from call(CONVERSATIONS, "UpdateUtterance", request, conversations.UpdateUtteranceResponse)
    return read.utterance(it.utterance)


def end(
    at: Address,
    reason: str = "",
    *,
    wait_for_model: bool = False,
    expected_revision: int | None = None,
) -> Steps[model.ConversationRecord]:
    """Ends the conversation: it gets a title and a closing summary, and accepts no more messages.

    With `wait_for_model`, waits until the server's model has written them, if there is one.
    """
    request = conversations.EndConversationRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        reason=reason,
        wait_for_llm=wait_for_model,
        expected_revision=expected_revision,
        request_id=attempt(None),
    )
    it = yield from call(CONVERSATIONS, "EndConversation", request, conversations.EndConversationResponse)
    return read.conversation(it.conversation)


def fork(
    at: Address,
    *,
    after: int | None,
    id: str,
    recipient: str,
    title: str,
    expected_revision: int | None,
) -> Steps[str]:
    """Starts a conversation with what was said in this one. Returns its id."""
    request = conversations.ForkConversationRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        at_sequence=after,
        new_conversation_id=id,
        to_recipient_id=recipient,
        title=title,
        expected_revision=expected_revision,
        request_id=attempt(None),
    )
    it = yield from call(CONVERSATIONS, "ForkConversation", request, conversations.ForkConversationResponse)
    return it.conversation.conversation_id


def delete(at: Address) -> Steps[bool]:
    """Removes the conversation and everything in it. Returns whether there was one."""
    conversation_id = at.conversation_id
    try:
        if not conversation_id:
            conversation_id = (yield from record(at)).conversation_id
        request = conversations.DeleteConversationRequest(conversation_id=conversation_id)
        yield from call(CONVERSATIONS, "DeleteConversation", request, conversations.DeleteConversationResponse)
    except NotFoundError:
        return False
    finally:
        at.found(False)
    return True


def delete_recipient(recipient: str) -> Steps[int]:
    """Removes all of a recipient's conversations and everything in them. Returns how many there were."""
    request = conversations.DeleteRecipientRequest(recipient_id=recipient)
    it = yield from call(CONVERSATIONS, "DeleteRecipient", request, conversations.DeleteRecipientResponse)
    return it.conversation_count


def compact(
    at: Address,
    *,
    keep_recent: int | None = None,
    count: int | None = None,
    summarize: bool = True,
    focus: Iterable[str] = (),
    preview: bool = False,
    wait_for_model: bool = False,
    expected_revision: int | None = None,
) -> Steps[model.Compacted]:
    """Folds all but the last `keep_recent` (15) utterances of the window into the summary, or the `count` oldest.

    Without `summarize`, they are only archived. If nothing is left to compact, `utterances` of the result is 0.
    `PreconditionError` if fewer than 30 are stored that were not compacted before, or the window would not
    become smaller. `preview` shows what would happen, and changes nothing.
    """
    request = compactions.CompactConversationRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        keep_recent=keep_recent,
        count=count,
        no_summary=not summarize,
        focus_areas=focus,
        preview=preview,
        wait_for_llm=wait_for_model,
        expected_revision=expected_revision,
        request_id=attempt(None),
    )
    it = yield from call(COMPACTIONS, "CompactConversation", request, compactions.CompactConversationResponse)
    return _compacted(it, it.summary)


def undo_compaction(at: Address, *, expected_revision: int | None = None) -> Steps[model.Compacted]:
    """Undoes the last compaction that is not undone yet: its utterances return to the window."""
    request = compactions.UndoCompactionRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        expected_revision=expected_revision,
        request_id=attempt(None),
    )
    it = yield from call(COMPACTIONS, "UndoCompaction", request, compactions.UndoCompactionResponse)
    return _compacted(it, "")


def _compacted(
    it: compactions.CompactConversationResponse | compactions.UndoCompactionResponse, summary: str
) -> model.Compacted:
    made, total = it.HasField("compaction"), it.capacity.total_token_count
    return model.Compacted(
        conversation_id=it.conversation_id,
        revision=it.revision,
        utterances=it.compaction.compacted_utterance_count,
        tokens_before=it.compaction.token_count_before if made else total,
        tokens_after=it.compaction.token_count_after if made else total,
        summary=summary,
        capacity=read.capacity(it.capacity),
    )
