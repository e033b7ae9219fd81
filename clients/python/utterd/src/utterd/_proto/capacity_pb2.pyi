from . import conversation_pb2 as _conversation_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OverLimitCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OVER_LIMIT_CAUSE_UNSPECIFIED: _ClassVar[OverLimitCause]
    OVER_LIMIT_CAUSE_NEWEST_UNIT: _ClassVar[OverLimitCause]
    OVER_LIMIT_CAUSE_OPEN_EXCHANGE: _ClassVar[OverLimitCause]
    OVER_LIMIT_CAUSE_INSTRUCTIONS: _ClassVar[OverLimitCause]
    OVER_LIMIT_CAUSE_PINNED: _ClassVar[OverLimitCause]
OVER_LIMIT_CAUSE_UNSPECIFIED: OverLimitCause
OVER_LIMIT_CAUSE_NEWEST_UNIT: OverLimitCause
OVER_LIMIT_CAUSE_OPEN_EXCHANGE: OverLimitCause
OVER_LIMIT_CAUSE_INSTRUCTIONS: OverLimitCause
OVER_LIMIT_CAUSE_PINNED: OverLimitCause

class Capacity(_message.Message):
    __slots__ = ("conversation_id", "revision", "status", "utterance_count", "soft_deleted_count", "turn_count", "token_count", "max_utterances", "max_tokens", "max_turns", "available_utterances", "available_tokens", "over_limit", "over_limit_causes", "archived_utterance_count", "summary", "total_token_count", "compaction_advice", "recipient_id", "live_utterance_count", "keep_utterances", "keep_tokens", "keep_turns")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOFT_DELETED_COUNT_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_TURNS_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OVER_LIMIT_FIELD_NUMBER: _ClassVar[int]
    OVER_LIMIT_CAUSES_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TOTAL_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_ADVICE_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    LIVE_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    KEEP_UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    KEEP_TOKENS_FIELD_NUMBER: _ClassVar[int]
    KEEP_TURNS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    revision: int
    status: _conversation_pb2.ConversationStatus
    utterance_count: int
    soft_deleted_count: int
    turn_count: int
    token_count: int
    max_utterances: int
    max_tokens: int
    max_turns: int
    available_utterances: int
    available_tokens: int
    over_limit: bool
    over_limit_causes: _containers.RepeatedScalarFieldContainer[OverLimitCause]
    archived_utterance_count: int
    summary: SummaryCapacity
    total_token_count: int
    compaction_advice: CompactionAdvice
    recipient_id: str
    live_utterance_count: int
    keep_utterances: int
    keep_tokens: int
    keep_turns: int
    def __init__(self, conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., status: _Optional[_Union[_conversation_pb2.ConversationStatus, str]] = ..., utterance_count: _Optional[int] = ..., soft_deleted_count: _Optional[int] = ..., turn_count: _Optional[int] = ..., token_count: _Optional[int] = ..., max_utterances: _Optional[int] = ..., max_tokens: _Optional[int] = ..., max_turns: _Optional[int] = ..., available_utterances: _Optional[int] = ..., available_tokens: _Optional[int] = ..., over_limit: bool = ..., over_limit_causes: _Optional[_Iterable[_Union[OverLimitCause, str]]] = ..., archived_utterance_count: _Optional[int] = ..., summary: _Optional[_Union[SummaryCapacity, _Mapping]] = ..., total_token_count: _Optional[int] = ..., compaction_advice: _Optional[_Union[CompactionAdvice, _Mapping]] = ..., recipient_id: _Optional[str] = ..., live_utterance_count: _Optional[int] = ..., keep_utterances: _Optional[int] = ..., keep_tokens: _Optional[int] = ..., keep_turns: _Optional[int] = ...) -> None: ...

class CompactionAdvice(_message.Message):
    __slots__ = ("threshold", "utterance_count", "keep_recent")
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    KEEP_RECENT_FIELD_NUMBER: _ClassVar[int]
    threshold: int
    utterance_count: int
    keep_recent: int
    def __init__(self, threshold: _Optional[int] = ..., utterance_count: _Optional[int] = ..., keep_recent: _Optional[int] = ...) -> None: ...

class SummaryCapacity(_message.Message):
    __slots__ = ("token_count", "token_limit", "segment_count", "covered_utterance_count", "provisional_segment_count")
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_LIMIT_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    COVERED_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PROVISIONAL_SEGMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    token_count: int
    token_limit: int
    segment_count: int
    covered_utterance_count: int
    provisional_segment_count: int
    def __init__(self, token_count: _Optional[int] = ..., token_limit: _Optional[int] = ..., segment_count: _Optional[int] = ..., covered_utterance_count: _Optional[int] = ..., provisional_segment_count: _Optional[int] = ...) -> None: ...
