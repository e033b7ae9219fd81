from google.protobuf import timestamp_pb2 as _timestamp_pb2
from . import utterance_pb2 as _utterance_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Operation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPERATION_UNSPECIFIED: _ClassVar[Operation]
    OPERATION_MEMORIZE: _ClassVar[Operation]
    OPERATION_REMEMBER: _ClassVar[Operation]
    OPERATION_FORGET: _ClassVar[Operation]
    OPERATION_ERASE: _ClassVar[Operation]
    OPERATION_RESTORE: _ClassVar[Operation]
    OPERATION_SUMMARIZE: _ClassVar[Operation]
    OPERATION_GET_CAPACITY: _ClassVar[Operation]
    OPERATION_CREATE_CONVERSATION: _ClassVar[Operation]
    OPERATION_GET_CONVERSATION: _ClassVar[Operation]
    OPERATION_LIST_CONVERSATIONS: _ClassVar[Operation]
    OPERATION_UPDATE_CONVERSATION: _ClassVar[Operation]
    OPERATION_DELETE_CONVERSATION: _ClassVar[Operation]
    OPERATION_LIST_UTTERANCES: _ClassVar[Operation]
    OPERATION_GET_SUMMARY: _ClassVar[Operation]
    OPERATION_UPDATE_UTTERANCE: _ClassVar[Operation]
    OPERATION_EXPIRE_CONVERSATION: _ClassVar[Operation]
    OPERATION_COUNT_TOKENS: _ClassVar[Operation]
    OPERATION_END_CONVERSATION: _ClassVar[Operation]
    OPERATION_FORK_CONVERSATION: _ClassVar[Operation]
    OPERATION_EXPORT_CONVERSATION: _ClassVar[Operation]
    OPERATION_IMPORT_CONVERSATION: _ClassVar[Operation]
    OPERATION_GET_STATS: _ClassVar[Operation]
    OPERATION_DELETE_RECIPIENT: _ClassVar[Operation]
    OPERATION_SHARE_CONVERSATION: _ClassVar[Operation]
    OPERATION_REVOKE_SHARE: _ClassVar[Operation]
    OPERATION_READ_SHARED: _ClassVar[Operation]
    OPERATION_BUILD_CONTEXT: _ClassVar[Operation]
    OPERATION_PREPARE_HISTORY: _ClassVar[Operation]
    OPERATION_RETIRE_CONVERSATION: _ClassVar[Operation]
    OPERATION_COMPACT_CONVERSATION: _ClassVar[Operation]
    OPERATION_UNDO_COMPACTION: _ClassVar[Operation]
    OPERATION_LIST_COMPACTIONS: _ClassVar[Operation]
    OPERATION_ANSWER_COMPACTION_PROMPT: _ClassVar[Operation]
    OPERATION_SUMMARIZE_BY_LLM: _ClassVar[Operation]
    OPERATION_GET_STATE: _ClassVar[Operation]
    OPERATION_UPDATE_STATE: _ClassVar[Operation]
OPERATION_UNSPECIFIED: Operation
OPERATION_MEMORIZE: Operation
OPERATION_REMEMBER: Operation
OPERATION_FORGET: Operation
OPERATION_ERASE: Operation
OPERATION_RESTORE: Operation
OPERATION_SUMMARIZE: Operation
OPERATION_GET_CAPACITY: Operation
OPERATION_CREATE_CONVERSATION: Operation
OPERATION_GET_CONVERSATION: Operation
OPERATION_LIST_CONVERSATIONS: Operation
OPERATION_UPDATE_CONVERSATION: Operation
OPERATION_DELETE_CONVERSATION: Operation
OPERATION_LIST_UTTERANCES: Operation
OPERATION_GET_SUMMARY: Operation
OPERATION_UPDATE_UTTERANCE: Operation
OPERATION_EXPIRE_CONVERSATION: Operation
OPERATION_COUNT_TOKENS: Operation
OPERATION_END_CONVERSATION: Operation
OPERATION_FORK_CONVERSATION: Operation
OPERATION_EXPORT_CONVERSATION: Operation
OPERATION_IMPORT_CONVERSATION: Operation
OPERATION_GET_STATS: Operation
OPERATION_DELETE_RECIPIENT: Operation
OPERATION_SHARE_CONVERSATION: Operation
OPERATION_REVOKE_SHARE: Operation
OPERATION_READ_SHARED: Operation
OPERATION_BUILD_CONTEXT: Operation
OPERATION_PREPARE_HISTORY: Operation
OPERATION_RETIRE_CONVERSATION: Operation
OPERATION_COMPACT_CONVERSATION: Operation
OPERATION_UNDO_COMPACTION: Operation
OPERATION_LIST_COMPACTIONS: Operation
OPERATION_ANSWER_COMPACTION_PROMPT: Operation
OPERATION_SUMMARIZE_BY_LLM: Operation
OPERATION_GET_STATE: Operation
OPERATION_UPDATE_STATE: Operation

class WatchEventsRequest(_message.Message):
    __slots__ = ("after_event", "conversation_id", "recipient_id", "operations")
    AFTER_EVENT_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    after_event: str
    conversation_id: str
    recipient_id: str
    operations: _containers.RepeatedScalarFieldContainer[Operation]
    def __init__(self, after_event: _Optional[str] = ..., conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., operations: _Optional[_Iterable[_Union[Operation, str]]] = ...) -> None: ...

class WatchEventsResponse(_message.Message):
    __slots__ = ("event", "missed", "started")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    event: Event
    missed: MissedEvents
    started: WatchStarted
    def __init__(self, event: _Optional[_Union[Event, _Mapping]] = ..., missed: _Optional[_Union[MissedEvents, _Mapping]] = ..., started: _Optional[_Union[WatchStarted, _Mapping]] = ...) -> None: ...

class WatchStarted(_message.Message):
    __slots__ = ("event_id",)
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    def __init__(self, event_id: _Optional[str] = ...) -> None: ...

class MissedEvents(_message.Message):
    __slots__ = ("count", "last_event_id")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    count: int
    last_event_id: str
    def __init__(self, count: _Optional[int] = ..., last_event_id: _Optional[str] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("event_id", "time", "operation", "conversation_id", "recipient_id", "revision", "request_id", "started_conversation", "memorized", "evicted", "dropped", "forgotten", "erased", "restored", "updated", "written_segment_numbers", "removed_segment_numbers", "result_count", "returned", "compaction_number")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    MEMORIZED_FIELD_NUMBER: _ClassVar[int]
    EVICTED_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    FORGOTTEN_FIELD_NUMBER: _ClassVar[int]
    ERASED_FIELD_NUMBER: _ClassVar[int]
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    UPDATED_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_SEGMENT_NUMBERS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_SEGMENT_NUMBERS_FIELD_NUMBER: _ClassVar[int]
    RESULT_COUNT_FIELD_NUMBER: _ClassVar[int]
    RETURNED_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_NUMBER_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    time: _timestamp_pb2.Timestamp
    operation: Operation
    conversation_id: str
    recipient_id: str
    revision: int
    request_id: str
    started_conversation: bool
    memorized: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    evicted: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    dropped: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    forgotten: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    erased: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    restored: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    updated: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    written_segment_numbers: _containers.RepeatedScalarFieldContainer[int]
    removed_segment_numbers: _containers.RepeatedScalarFieldContainer[int]
    result_count: int
    returned: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    compaction_number: int
    def __init__(self, event_id: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., operation: _Optional[_Union[Operation, str]] = ..., conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., revision: _Optional[int] = ..., request_id: _Optional[str] = ..., started_conversation: bool = ..., memorized: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., evicted: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., dropped: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., forgotten: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., erased: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., restored: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., updated: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., written_segment_numbers: _Optional[_Iterable[int]] = ..., removed_segment_numbers: _Optional[_Iterable[int]] = ..., result_count: _Optional[int] = ..., returned: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., compaction_number: _Optional[int] = ...) -> None: ...
