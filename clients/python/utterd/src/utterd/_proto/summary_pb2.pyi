from google.protobuf import timestamp_pb2 as _timestamp_pb2
from . import utterance_pb2 as _utterance_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SummaryMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUMMARY_METHOD_UNSPECIFIED: _ClassVar[SummaryMethod]
    SUMMARY_METHOD_EXTRACTIVE: _ClassVar[SummaryMethod]
    SUMMARY_METHOD_LLM: _ClassVar[SummaryMethod]
    SUMMARY_METHOD_IMPORTED: _ClassVar[SummaryMethod]

class SegmentState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEGMENT_STATE_UNSPECIFIED: _ClassVar[SegmentState]
    SEGMENT_STATE_FINAL: _ClassVar[SegmentState]
    SEGMENT_STATE_PROVISIONAL: _ClassVar[SegmentState]
SUMMARY_METHOD_UNSPECIFIED: SummaryMethod
SUMMARY_METHOD_EXTRACTIVE: SummaryMethod
SUMMARY_METHOD_LLM: SummaryMethod
SUMMARY_METHOD_IMPORTED: SummaryMethod
SEGMENT_STATE_UNSPECIFIED: SegmentState
SEGMENT_STATE_FINAL: SegmentState
SEGMENT_STATE_PROVISIONAL: SegmentState

class Segment(_message.Message):
    __slots__ = ("segment_number", "level", "covers", "text", "token_count", "method", "state", "model", "imported")
    SEGMENT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    COVERS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    IMPORTED_FIELD_NUMBER: _ClassVar[int]
    segment_number: int
    level: int
    covers: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    text: str
    token_count: int
    method: SummaryMethod
    state: SegmentState
    model: str
    imported: ImportedPeriod
    def __init__(self, segment_number: _Optional[int] = ..., level: _Optional[int] = ..., covers: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., text: _Optional[str] = ..., token_count: _Optional[int] = ..., method: _Optional[_Union[SummaryMethod, str]] = ..., state: _Optional[_Union[SegmentState, str]] = ..., model: _Optional[str] = ..., imported: _Optional[_Union[ImportedPeriod, _Mapping]] = ...) -> None: ...

class ImportedPeriod(_message.Message):
    __slots__ = ("start_time", "end_time", "conversation_count")
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    conversation_count: int
    def __init__(self, start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., conversation_count: _Optional[int] = ...) -> None: ...

class SummaryUpdate(_message.Message):
    __slots__ = ("written", "replaced_segment_numbers", "token_count")
    WRITTEN_FIELD_NUMBER: _ClassVar[int]
    REPLACED_SEGMENT_NUMBERS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    written: _containers.RepeatedCompositeFieldContainer[Segment]
    replaced_segment_numbers: _containers.RepeatedScalarFieldContainer[int]
    token_count: int
    def __init__(self, written: _Optional[_Iterable[_Union[Segment, _Mapping]]] = ..., replaced_segment_numbers: _Optional[_Iterable[int]] = ..., token_count: _Optional[int] = ...) -> None: ...
