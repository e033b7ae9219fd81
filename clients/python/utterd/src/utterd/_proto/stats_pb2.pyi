from google.protobuf import timestamp_pb2 as _timestamp_pb2
from . import conversation_pb2 as _conversation_pb2
from . import utterance_pb2 as _utterance_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StatsScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATS_SCOPE_UNSPECIFIED: _ClassVar[StatsScope]
    STATS_SCOPE_CONVERSATION: _ClassVar[StatsScope]
    STATS_SCOPE_RECIPIENT: _ClassVar[StatsScope]

class TimeBucket(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIME_BUCKET_UNSPECIFIED: _ClassVar[TimeBucket]
    TIME_BUCKET_HOUR: _ClassVar[TimeBucket]
    TIME_BUCKET_DAY: _ClassVar[TimeBucket]
    TIME_BUCKET_WEEK: _ClassVar[TimeBucket]
    TIME_BUCKET_MONTH: _ClassVar[TimeBucket]
STATS_SCOPE_UNSPECIFIED: StatsScope
STATS_SCOPE_CONVERSATION: StatsScope
STATS_SCOPE_RECIPIENT: StatsScope
TIME_BUCKET_UNSPECIFIED: TimeBucket
TIME_BUCKET_HOUR: TimeBucket
TIME_BUCKET_DAY: TimeBucket
TIME_BUCKET_WEEK: TimeBucket
TIME_BUCKET_MONTH: TimeBucket

class Stats(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "revision", "total", "roles", "spans", "forgotten_utterance_count", "aside_utterance_count", "tools", "omitted_tool_count", "evictions", "compression", "levels", "conversations", "llm", "embedding")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    FORGOTTEN_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ASIDE_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_TOOL_COUNT_FIELD_NUMBER: _ClassVar[int]
    EVICTIONS_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    LLM_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    revision: int
    total: UtteranceCount
    roles: _containers.RepeatedCompositeFieldContainer[RoleCount]
    spans: _containers.RepeatedCompositeFieldContainer[SpanCount]
    forgotten_utterance_count: int
    aside_utterance_count: int
    tools: _containers.RepeatedCompositeFieldContainer[ToolCount]
    omitted_tool_count: int
    evictions: EvictionCount
    compression: Compression
    levels: _containers.RepeatedCompositeFieldContainer[LevelCompression]
    conversations: _containers.RepeatedCompositeFieldContainer[StatusCount]
    llm: LlmStats
    embedding: EmbeddingStats
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., revision: _Optional[int] = ..., total: _Optional[_Union[UtteranceCount, _Mapping]] = ..., roles: _Optional[_Iterable[_Union[RoleCount, _Mapping]]] = ..., spans: _Optional[_Iterable[_Union[SpanCount, _Mapping]]] = ..., forgotten_utterance_count: _Optional[int] = ..., aside_utterance_count: _Optional[int] = ..., tools: _Optional[_Iterable[_Union[ToolCount, _Mapping]]] = ..., omitted_tool_count: _Optional[int] = ..., evictions: _Optional[_Union[EvictionCount, _Mapping]] = ..., compression: _Optional[_Union[Compression, _Mapping]] = ..., levels: _Optional[_Iterable[_Union[LevelCompression, _Mapping]]] = ..., conversations: _Optional[_Iterable[_Union[StatusCount, _Mapping]]] = ..., llm: _Optional[_Union[LlmStats, _Mapping]] = ..., embedding: _Optional[_Union[EmbeddingStats, _Mapping]] = ...) -> None: ...

class UtteranceCount(_message.Message):
    __slots__ = ("utterance_count", "token_count", "turn_count")
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    utterance_count: int
    token_count: int
    turn_count: int
    def __init__(self, utterance_count: _Optional[int] = ..., token_count: _Optional[int] = ..., turn_count: _Optional[int] = ...) -> None: ...

class RoleCount(_message.Message):
    __slots__ = ("role", "count")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    role: _utterance_pb2.Role
    count: UtteranceCount
    def __init__(self, role: _Optional[_Union[_utterance_pb2.Role, str]] = ..., count: _Optional[_Union[UtteranceCount, _Mapping]] = ...) -> None: ...

class SpanCount(_message.Message):
    __slots__ = ("start_time", "total", "roles")
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    start_time: _timestamp_pb2.Timestamp
    total: UtteranceCount
    roles: _containers.RepeatedCompositeFieldContainer[RoleCount]
    def __init__(self, start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., total: _Optional[_Union[UtteranceCount, _Mapping]] = ..., roles: _Optional[_Iterable[_Union[RoleCount, _Mapping]]] = ...) -> None: ...

class ToolCount(_message.Message):
    __slots__ = ("name", "call_count", "answered_count", "unanswered_count", "result_token_count", "mention_count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CALL_COUNT_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNANSWERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    RESULT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MENTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    call_count: int
    answered_count: int
    unanswered_count: int
    result_token_count: int
    mention_count: int
    def __init__(self, name: _Optional[str] = ..., call_count: _Optional[int] = ..., answered_count: _Optional[int] = ..., unanswered_count: _Optional[int] = ..., result_token_count: _Optional[int] = ..., mention_count: _Optional[int] = ...) -> None: ...

class EvictionCount(_message.Message):
    __slots__ = ("evicted_utterance_count", "archived_utterance_count", "dropped_utterance_count")
    EVICTED_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    DROPPED_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    evicted_utterance_count: int
    archived_utterance_count: int
    dropped_utterance_count: int
    def __init__(self, evicted_utterance_count: _Optional[int] = ..., archived_utterance_count: _Optional[int] = ..., dropped_utterance_count: _Optional[int] = ...) -> None: ...

class Compression(_message.Message):
    __slots__ = ("segment_count", "covered_utterance_count", "source_token_count", "summary_token_count", "ratio")
    SEGMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    COVERED_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    RATIO_FIELD_NUMBER: _ClassVar[int]
    segment_count: int
    covered_utterance_count: int
    source_token_count: int
    summary_token_count: int
    ratio: float
    def __init__(self, segment_count: _Optional[int] = ..., covered_utterance_count: _Optional[int] = ..., source_token_count: _Optional[int] = ..., summary_token_count: _Optional[int] = ..., ratio: _Optional[float] = ...) -> None: ...

class LevelCompression(_message.Message):
    __slots__ = ("level", "compression")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_FIELD_NUMBER: _ClassVar[int]
    level: int
    compression: Compression
    def __init__(self, level: _Optional[int] = ..., compression: _Optional[_Union[Compression, _Mapping]] = ...) -> None: ...

class StatusCount(_message.Message):
    __slots__ = ("status", "conversation_count")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    status: _conversation_pb2.ConversationStatus
    conversation_count: int
    def __init__(self, status: _Optional[_Union[_conversation_pb2.ConversationStatus, str]] = ..., conversation_count: _Optional[int] = ...) -> None: ...

class LlmStats(_message.Message):
    __slots__ = ("in_flight_count", "stored_count", "dropped_count", "failed_count", "held_back", "waiting_since")
    IN_FLIGHT_COUNT_FIELD_NUMBER: _ClassVar[int]
    STORED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DROPPED_COUNT_FIELD_NUMBER: _ClassVar[int]
    FAILED_COUNT_FIELD_NUMBER: _ClassVar[int]
    HELD_BACK_FIELD_NUMBER: _ClassVar[int]
    WAITING_SINCE_FIELD_NUMBER: _ClassVar[int]
    in_flight_count: int
    stored_count: int
    dropped_count: int
    failed_count: int
    held_back: bool
    waiting_since: _timestamp_pb2.Timestamp
    def __init__(self, in_flight_count: _Optional[int] = ..., stored_count: _Optional[int] = ..., dropped_count: _Optional[int] = ..., failed_count: _Optional[int] = ..., held_back: bool = ..., waiting_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class EmbeddingStats(_message.Message):
    __slots__ = ("embedded_count", "dropped_count", "failed_count", "hybrid_search_count", "lexical_search_count", "waiting_conversation_count", "held_back")
    EMBEDDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DROPPED_COUNT_FIELD_NUMBER: _ClassVar[int]
    FAILED_COUNT_FIELD_NUMBER: _ClassVar[int]
    HYBRID_SEARCH_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SEARCH_COUNT_FIELD_NUMBER: _ClassVar[int]
    WAITING_CONVERSATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    HELD_BACK_FIELD_NUMBER: _ClassVar[int]
    embedded_count: int
    dropped_count: int
    failed_count: int
    hybrid_search_count: int
    lexical_search_count: int
    waiting_conversation_count: int
    held_back: bool
    def __init__(self, embedded_count: _Optional[int] = ..., dropped_count: _Optional[int] = ..., failed_count: _Optional[int] = ..., hybrid_search_count: _Optional[int] = ..., lexical_search_count: _Optional[int] = ..., waiting_conversation_count: _Optional[int] = ..., held_back: bool = ...) -> None: ...
