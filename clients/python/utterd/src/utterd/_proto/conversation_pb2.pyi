from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PolicyPreset(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POLICY_PRESET_UNSPECIFIED: _ClassVar[PolicyPreset]
    POLICY_PRESET_ROLLING: _ClassVar[PolicyPreset]
    POLICY_PRESET_TURNS: _ClassVar[PolicyPreset]
    POLICY_PRESET_SESSION: _ClassVar[PolicyPreset]

class Oversize(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OVERSIZE_UNSPECIFIED: _ClassVar[Oversize]
    OVERSIZE_KEEP: _ClassVar[Oversize]
    OVERSIZE_REJECT: _ClassVar[Oversize]

class ConversationStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONVERSATION_STATUS_UNSPECIFIED: _ClassVar[ConversationStatus]
    CONVERSATION_STATUS_ACTIVE: _ClassVar[ConversationStatus]
    CONVERSATION_STATUS_AWAITING_ANSWER: _ClassVar[ConversationStatus]
    CONVERSATION_STATUS_IDLE: _ClassVar[ConversationStatus]
    CONVERSATION_STATUS_CLOSED: _ClassVar[ConversationStatus]

class ConversationView(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONVERSATION_VIEW_UNSPECIFIED: _ClassVar[ConversationView]
    CONVERSATION_VIEW_BASIC: _ClassVar[ConversationView]
    CONVERSATION_VIEW_FULL: _ClassVar[ConversationView]
POLICY_PRESET_UNSPECIFIED: PolicyPreset
POLICY_PRESET_ROLLING: PolicyPreset
POLICY_PRESET_TURNS: PolicyPreset
POLICY_PRESET_SESSION: PolicyPreset
OVERSIZE_UNSPECIFIED: Oversize
OVERSIZE_KEEP: Oversize
OVERSIZE_REJECT: Oversize
CONVERSATION_STATUS_UNSPECIFIED: ConversationStatus
CONVERSATION_STATUS_ACTIVE: ConversationStatus
CONVERSATION_STATUS_AWAITING_ANSWER: ConversationStatus
CONVERSATION_STATUS_IDLE: ConversationStatus
CONVERSATION_STATUS_CLOSED: ConversationStatus
CONVERSATION_VIEW_UNSPECIFIED: ConversationView
CONVERSATION_VIEW_BASIC: ConversationView
CONVERSATION_VIEW_FULL: ConversationView

class Policy(_message.Message):
    __slots__ = ("preset", "max_utterances", "keep_utterances", "max_tokens", "keep_tokens", "max_turns", "keep_turns", "summarization_enabled", "summary_token_limit", "oversize", "archive_limit", "expire_after", "llm_summaries", "summary_model")
    PRESET_FIELD_NUMBER: _ClassVar[int]
    MAX_UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    KEEP_UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    KEEP_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_TURNS_FIELD_NUMBER: _ClassVar[int]
    KEEP_TURNS_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZATION_ENABLED_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_TOKEN_LIMIT_FIELD_NUMBER: _ClassVar[int]
    OVERSIZE_FIELD_NUMBER: _ClassVar[int]
    ARCHIVE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_AFTER_FIELD_NUMBER: _ClassVar[int]
    LLM_SUMMARIES_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_MODEL_FIELD_NUMBER: _ClassVar[int]
    preset: PolicyPreset
    max_utterances: int
    keep_utterances: int
    max_tokens: int
    keep_tokens: int
    max_turns: int
    keep_turns: int
    summarization_enabled: bool
    summary_token_limit: int
    oversize: Oversize
    archive_limit: int
    expire_after: _duration_pb2.Duration
    llm_summaries: bool
    summary_model: str
    def __init__(self, preset: _Optional[_Union[PolicyPreset, str]] = ..., max_utterances: _Optional[int] = ..., keep_utterances: _Optional[int] = ..., max_tokens: _Optional[int] = ..., keep_tokens: _Optional[int] = ..., max_turns: _Optional[int] = ..., keep_turns: _Optional[int] = ..., summarization_enabled: bool = ..., summary_token_limit: _Optional[int] = ..., oversize: _Optional[_Union[Oversize, str]] = ..., archive_limit: _Optional[int] = ..., expire_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., llm_summaries: bool = ..., summary_model: _Optional[str] = ...) -> None: ...

class Conversation(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "title", "start_time", "update_time", "status", "encoding", "policy", "labels", "revision", "utterance_count", "active", "summary", "end_time", "ended_reason", "closing_summary", "forked_from", "forks", "window_token_count", "closing_model", "is_compacted")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ENDED_REASON_FIELD_NUMBER: _ClassVar[int]
    CLOSING_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    FORKED_FROM_FIELD_NUMBER: _ClassVar[int]
    FORKS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CLOSING_MODEL_FIELD_NUMBER: _ClassVar[int]
    IS_COMPACTED_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    title: str
    start_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    status: ConversationStatus
    encoding: str
    policy: Policy
    labels: _containers.ScalarMap[str, str]
    revision: int
    utterance_count: int
    active: bool
    summary: str
    end_time: _timestamp_pb2.Timestamp
    ended_reason: str
    closing_summary: str
    forked_from: ForkedFrom
    forks: _containers.RepeatedCompositeFieldContainer[ForkPoint]
    window_token_count: int
    closing_model: str
    is_compacted: bool
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., title: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., status: _Optional[_Union[ConversationStatus, str]] = ..., encoding: _Optional[str] = ..., policy: _Optional[_Union[Policy, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., revision: _Optional[int] = ..., utterance_count: _Optional[int] = ..., active: bool = ..., summary: _Optional[str] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_reason: _Optional[str] = ..., closing_summary: _Optional[str] = ..., forked_from: _Optional[_Union[ForkedFrom, _Mapping]] = ..., forks: _Optional[_Iterable[_Union[ForkPoint, _Mapping]]] = ..., window_token_count: _Optional[int] = ..., closing_model: _Optional[str] = ..., is_compacted: bool = ...) -> None: ...

class ForkedFrom(_message.Message):
    __slots__ = ("conversation_id", "sequence", "approximate")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    sequence: int
    approximate: bool
    def __init__(self, conversation_id: _Optional[str] = ..., sequence: _Optional[int] = ..., approximate: bool = ...) -> None: ...

class ForkPoint(_message.Message):
    __slots__ = ("conversation_id", "sequence")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    sequence: int
    def __init__(self, conversation_id: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...
