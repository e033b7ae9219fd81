"""Converts protocol messages to plain values, and words to enum values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, NamedTuple, TypeVar, cast

from google.protobuf.message import Message as Proto
from google.protobuf.timestamp_pb2 import Timestamp

from utterd import _model as model
from utterd._proto import capacity_pb2, conversation_pb2, message_pb2, transfer_pb2, utterance_pb2
from utterd._text import escaped

E = TypeVar("E", bound=int)

BATCH = 1000
"""The most utterances of one call, with the server's default limits."""
BATCH_BYTES = 8 * 1024 * 1024
"""The most bytes of the messages of one call, if it has more than one: half of what a server accepts by default."""

FORMATS: Mapping[str, transfer_pb2.ConversationFormat] = {
    "openai": transfer_pb2.CONVERSATION_FORMAT_OPENAI_CHAT,
    "responses": transfer_pb2.CONVERSATION_FORMAT_OPENAI_RESPONSES,
    "anthropic": transfer_pb2.CONVERSATION_FORMAT_ANTHROPIC_MESSAGES,
}
ROLES: Mapping[str, utterance_pb2.Role] = {
    "system": utterance_pb2.ROLE_SYSTEM,
    "user": utterance_pb2.ROLE_USER,
    "assistant": utterance_pb2.ROLE_ASSISTANT,
    "tool": utterance_pb2.ROLE_TOOL,
}
STATUSES: Mapping[str, conversation_pb2.ConversationStatus] = {
    "active": conversation_pb2.CONVERSATION_STATUS_ACTIVE,
    "awaiting_answer": conversation_pb2.CONVERSATION_STATUS_AWAITING_ANSWER,
    "idle": conversation_pb2.CONVERSATION_STATUS_IDLE,
    "closed": conversation_pb2.CONVERSATION_STATUS_CLOSED,
}
PRESETS: Mapping[str, conversation_pb2.PolicyPreset] = {
    "rolling": conversation_pb2.POLICY_PRESET_ROLLING,
    "turns": conversation_pb2.POLICY_PRESET_TURNS,
    "session": conversation_pb2.POLICY_PRESET_SESSION,
}


def chosen(field: str, word: str, words: Mapping[str, E]) -> E:
    """The value for a word; ValueError for any other word, with the accepted ones."""
    if word not in words:
        raise ValueError(f"{field}: {word!r}; accepted: {', '.join(words)}")
    return words[word]


def _words(values: Mapping[str, int]) -> Mapping[int, str]:
    """The word for each value; unspecified and unknown values have none."""
    return {value: word for word, value in values.items()}


_FORMAT_WORDS, _ROLE_WORDS, _STATUS_WORDS = _words(FORMATS), _words(ROLES), _words(STATUSES)


def time(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(tzinfo=timezone.utc)


def given(message: Proto, field: str) -> int | None:
    """A number with explicit presence; None if it is absent."""
    return cast(int, getattr(message, field)) if message.HasField(field) else None


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are not None, which are those to send."""
    return {name: value for name, value in fields.items() if value is not None}


def capacity(it: capacity_pb2.Capacity) -> model.Capacity:
    return model.Capacity(
        conversation_id=it.conversation_id,
        recipient_id=it.recipient_id,
        revision=it.revision,
        status=cast("model.Status | None", _STATUS_WORDS.get(it.status)),
        utterances=it.utterance_count,
        tokens=it.token_count,
        turns=it.turn_count,
        archived=it.archived_utterance_count,
        max_utterances=given(it, "max_utterances"),
        max_tokens=given(it, "max_tokens"),
        max_turns=given(it, "max_turns"),
        available_utterances=given(it, "available_utterances"),
        available_tokens=given(it, "available_tokens"),
        over_limit=it.over_limit,
        summary_tokens=it.summary.token_count,
        total_tokens=it.total_token_count,
        compaction_advised=it.HasField("compaction_advice"),
    )


def role(value: int) -> model.Role:
    return cast("model.Role", _ROLE_WORDS.get(value, "user"))


def references(them: Iterable[utterance_pb2.UtteranceRef]) -> tuple[model.Reference, ...]:
    roles = cast("Mapping[int, model.Role]", _ROLE_WORDS)
    return tuple(
        # positional arguments: a long answer has thousands of these
        model.Reference(it.utterance_id, it.sequence, roles.get(it.role), it.turn_number, it.token_count)
        for it in them
    )


def plain_messages(them: Iterable[message_pb2.Message]) -> list[dict[str, Any]]:
    """The messages themselves, without facts about them. Parsing them as one text takes half the time."""
    return cast("list[dict[str, Any]]", json.loads(f"[{','.join(it.message_json for it in them)}]"))


def message(it: message_pb2.Message) -> model.StoredMessage:
    return model.StoredMessage(
        message=json.loads(it.message_json),
        json=it.message_json,
        format=cast("model.Format", _FORMAT_WORDS.get(it.format, "openai")),
        utterance_id=it.utterance_id,
        sequence=it.sequence,
        utterance_count=it.utterance_count,
        role=role(it.role),
        turn=it.turn_number,
        time=time(it.create_time),
        archived=it.state == utterance_pb2.UTTERANCE_STATE_EVICTED,
    )


def utterance(it: utterance_pb2.Utterance) -> model.Utterance:
    return model.Utterance(
        utterance_id=it.utterance_id,
        sequence=it.sequence,
        role=role(it.role),
        name=it.name,
        content=it.content,
        turn=it.turn_number,
        time=time(it.create_time),
        tokens=it.token_count,
        pinned=it.pinned,
        tool_call_id=it.tool_call_id,
        metadata=dict(it.metadata),
    )


def policy(it: conversation_pb2.Policy) -> model.Policy:
    return model.Policy(
        max_utterances=given(it, "max_utterances"),
        keep_utterances=given(it, "keep_utterances"),
        max_tokens=given(it, "max_tokens"),
        keep_tokens=given(it, "keep_tokens"),
        max_turns=given(it, "max_turns"),
        keep_turns=given(it, "keep_turns"),
        summaries=it.summarization_enabled,
        summary_token_limit=given(it, "summary_token_limit"),
        archive_limit=given(it, "archive_limit"),
    )


def policy_of(limits: model.Policy | None) -> conversation_pb2.Policy | None:
    """The policy to send."""
    if limits is None:
        return None
    preset = None if limits.preset is None else chosen("policy.preset", limits.preset, PRESETS)
    return conversation_pb2.Policy(
        preset=preset,
        max_utterances=limits.max_utterances,
        keep_utterances=limits.keep_utterances,
        max_tokens=limits.max_tokens,
        keep_tokens=limits.keep_tokens,
        max_turns=limits.max_turns,
        keep_turns=limits.keep_turns,
        **present(summarization_enabled=limits.summaries),
        summary_token_limit=limits.summary_token_limit,
        archive_limit=limits.archive_limit,
    )


def conversation(it: conversation_pb2.Conversation) -> model.ConversationRecord:
    return model.ConversationRecord(
        conversation_id=it.conversation_id,
        recipient_id=it.recipient_id,
        title=it.title,
        start_time=time(it.start_time),
        update_time=time(it.update_time),
        end_time=time(it.end_time) if it.HasField("end_time") else None,
        ended_reason=it.ended_reason,
        closing_summary=it.closing_summary,
        status=cast("model.Status | None", _STATUS_WORDS.get(it.status)),
        active=it.active,
        encoding=it.encoding,
        policy=policy(it.policy),
        labels=dict(it.labels),
        revision=it.revision,
        utterances=it.utterance_count,
        forked_from=it.forked_from.conversation_id if it.HasField("forked_from") else None,
    )


def as_json(messages: model.Messages) -> str:
    """A JSON array of one message or several. A text with JSON is returned unchanged."""
    if isinstance(messages, str):
        return _given(messages)
    return _array(several(messages))


class Batch(NamedTuple):
    """What one call stores."""

    text: str
    """A JSON array of messages."""
    ids: Sequence[str]
    first: int
    """The place of its first message in the whole."""


def batches(messages: model.Messages, ids: Sequence[str]) -> list[Batch]:
    """The messages, as many at a time as one call can take."""
    if isinstance(messages, str):
        return [Batch(_given(messages), ids, 0)]
    plain = several(messages)
    text = _array(plain)
    if len(text.encode()) <= BATCH_BYTES and sum(map(_utterances, plain)) <= BATCH:
        return [Batch(text, ids, 0)]
    made: list[Batch] = []
    start = size = count = 0
    for end, message in enumerate(plain):
        its_size, its_count = len(one_as_json(message).encode()), _utterances(message)
        if end > start and (size + its_size > BATCH_BYTES or count + its_count > BATCH):
            made.append(Batch(_array(plain[start:end]), ids[start:end], start))
            start, size, count = end, 0, 0
        size, count = size + its_size, count + its_count
    return [*made, Batch(_array(plain[start:]), ids[start:], start)]


def _given(text: str) -> str:
    if not text.lstrip().startswith(("[", "{")):
        raise TypeError(f"messages: a text; accepted: messages, such as {_as_message(text)}")
    return escaped(text)


def _as_message(text: str) -> str:
    return f'{{"role": "user", "content": {one_as_json(text[:40])}}}'


def several(messages: model.Messages) -> list[dict[str, Any]]:
    """One message or several as mappings."""
    many = isinstance(messages, Iterable) and not isinstance(messages, Mapping) and not _is_model(messages)
    return [_plain(index, it) for index, it in enumerate(messages if many else [messages])]


def _array(plain: list[dict[str, Any]]) -> str:
    return escaped(_written.encode(plain))


def _utterances(message: dict[str, Any]) -> int:
    """How many utterances a message becomes, or one more: each tool result in it is one."""
    content = message.get("content")
    if type(content) is not list:
        return 1
    return 1 + sum(1 for it in content if isinstance(it, Mapping) and it.get("type") == "tool_result")


_written = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _is_model(value: Any) -> bool:
    return callable(getattr(value, "model_dump", None))


def _plain(index: int, message: Any) -> dict[str, Any]:
    if isinstance(message, dict):
        return message
    if not isinstance(message, Mapping) and _is_model(message):
        message = message.model_dump(mode="json", exclude_unset=True)
    if isinstance(message, str):
        raise TypeError(f"messages[{index}]: a text; accepted: mappings, such as {_as_message(message)}")
    if not isinstance(message, Mapping):
        kind = type(message).__name__
        raise TypeError(f"messages[{index}]: {kind}; accepted: mappings and objects with model_dump")
    return dict(message)


def one_as_json(value: Any) -> str:
    """A value as JSON."""
    return escaped(_written.encode(value))
