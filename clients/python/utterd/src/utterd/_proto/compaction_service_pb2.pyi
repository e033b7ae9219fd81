from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from . import capacity_pb2 as _capacity_pb2
from . import summary_pb2 as _summary_pb2
from . import utterance_pb2 as _utterance_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CompactionCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPACTION_CAUSE_UNSPECIFIED: _ClassVar[CompactionCause]
    COMPACTION_CAUSE_ASKED: _ClassVar[CompactionCause]
    COMPACTION_CAUSE_ADVISED: _ClassVar[CompactionCause]
    COMPACTION_CAUSE_POLICY: _ClassVar[CompactionCause]

class CompactionAnswer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPACTION_ANSWER_UNSPECIFIED: _ClassVar[CompactionAnswer]
    COMPACTION_ANSWER_COMPACT_NOW: _ClassVar[CompactionAnswer]
    COMPACTION_ANSWER_NOT_NOW: _ClassVar[CompactionAnswer]
    COMPACTION_ANSWER_NEVER_THIS_SESSION: _ClassVar[CompactionAnswer]
COMPACTION_CAUSE_UNSPECIFIED: CompactionCause
COMPACTION_CAUSE_ASKED: CompactionCause
COMPACTION_CAUSE_ADVISED: CompactionCause
COMPACTION_CAUSE_POLICY: CompactionCause
COMPACTION_ANSWER_UNSPECIFIED: CompactionAnswer
COMPACTION_ANSWER_COMPACT_NOW: CompactionAnswer
COMPACTION_ANSWER_NOT_NOW: CompactionAnswer
COMPACTION_ANSWER_NEVER_THIS_SESSION: CompactionAnswer

class Compaction(_message.Message):
    __slots__ = ("compaction_number", "time", "cause", "compacted", "compacted_utterance_count", "kept_utterance_count", "source_token_count", "token_count_before", "token_count_after", "compression_ratio", "method", "model", "undo_time", "undoable", "keep_recent")
    COMPACTION_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    COMPACTED_FIELD_NUMBER: _ClassVar[int]
    COMPACTED_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    KEPT_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_AFTER_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_RATIO_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    UNDO_TIME_FIELD_NUMBER: _ClassVar[int]
    UNDOABLE_FIELD_NUMBER: _ClassVar[int]
    KEEP_RECENT_FIELD_NUMBER: _ClassVar[int]
    compaction_number: int
    time: _timestamp_pb2.Timestamp
    cause: CompactionCause
    compacted: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    compacted_utterance_count: int
    kept_utterance_count: int
    source_token_count: int
    token_count_before: int
    token_count_after: int
    compression_ratio: float
    method: _summary_pb2.SummaryMethod
    model: str
    undo_time: _timestamp_pb2.Timestamp
    undoable: bool
    keep_recent: int
    def __init__(self, compaction_number: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cause: _Optional[_Union[CompactionCause, str]] = ..., compacted: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., compacted_utterance_count: _Optional[int] = ..., kept_utterance_count: _Optional[int] = ..., source_token_count: _Optional[int] = ..., token_count_before: _Optional[int] = ..., token_count_after: _Optional[int] = ..., compression_ratio: _Optional[float] = ..., method: _Optional[_Union[_summary_pb2.SummaryMethod, str]] = ..., model: _Optional[str] = ..., undo_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., undoable: bool = ..., keep_recent: _Optional[int] = ...) -> None: ...

class CompactConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "keep_recent", "focus_areas", "preview", "wait_for_llm", "request_id", "expected_revision", "count", "no_summary")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    KEEP_RECENT_FIELD_NUMBER: _ClassVar[int]
    FOCUS_AREAS_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    WAIT_FOR_LLM_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    NO_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    keep_recent: int
    focus_areas: _containers.RepeatedScalarFieldContainer[str]
    preview: bool
    wait_for_llm: bool
    request_id: str
    expected_revision: int
    count: int
    no_summary: bool
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., keep_recent: _Optional[int] = ..., focus_areas: _Optional[_Iterable[str]] = ..., preview: bool = ..., wait_for_llm: bool = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ..., count: _Optional[int] = ..., no_summary: bool = ...) -> None: ...

class CompactConversationResponse(_message.Message):
    __slots__ = ("conversation_id", "revision", "compaction", "summary", "capacity", "replayed", "nothing_to_compact")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    NOTHING_TO_COMPACT_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    revision: int
    compaction: Compaction
    summary: str
    capacity: _capacity_pb2.Capacity
    replayed: bool
    nothing_to_compact: bool
    def __init__(self, conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., compaction: _Optional[_Union[Compaction, _Mapping]] = ..., summary: _Optional[str] = ..., capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ..., replayed: bool = ..., nothing_to_compact: bool = ...) -> None: ...

class UndoCompactionRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "request_id", "expected_revision")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    request_id: str
    expected_revision: int
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class UndoCompactionResponse(_message.Message):
    __slots__ = ("conversation_id", "revision", "compaction", "restored", "capacity", "replayed")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_FIELD_NUMBER: _ClassVar[int]
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    revision: int
    compaction: Compaction
    restored: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    capacity: _capacity_pb2.Capacity
    replayed: bool
    def __init__(self, conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., compaction: _Optional[_Union[Compaction, _Mapping]] = ..., restored: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ..., replayed: bool = ...) -> None: ...

class ListCompactionsRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "page_size", "page_token", "max_staleness")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    page_size: int
    page_token: str
    max_staleness: _duration_pb2.Duration
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ListCompactionsResponse(_message.Message):
    __slots__ = ("compactions", "next_page_token")
    COMPACTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    compactions: _containers.RepeatedCompositeFieldContainer[Compaction]
    next_page_token: str
    def __init__(self, compactions: _Optional[_Iterable[_Union[Compaction, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class AnswerCompactionPromptRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "answer", "session_id", "keep_recent", "request_id")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    KEEP_RECENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    answer: CompactionAnswer
    session_id: str
    keep_recent: int
    request_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., answer: _Optional[_Union[CompactionAnswer, str]] = ..., session_id: _Optional[str] = ..., keep_recent: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class AnswerCompactionPromptResponse(_message.Message):
    __slots__ = ("conversation_id", "revision", "compaction", "summary", "capacity", "replayed", "nothing_to_compact")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    NOTHING_TO_COMPACT_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    revision: int
    compaction: Compaction
    summary: str
    capacity: _capacity_pb2.Capacity
    replayed: bool
    nothing_to_compact: bool
    def __init__(self, conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., compaction: _Optional[_Union[Compaction, _Mapping]] = ..., summary: _Optional[str] = ..., capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ..., replayed: bool = ..., nothing_to_compact: bool = ...) -> None: ...
