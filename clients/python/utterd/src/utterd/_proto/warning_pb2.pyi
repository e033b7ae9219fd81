from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WarningKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WARNING_KIND_UNSPECIFIED: _ClassVar[WarningKind]
    WARNING_KIND_UNCOVERED_LEFT_OUT: _ClassVar[WarningKind]
    WARNING_KIND_SUMMARY_CUT: _ClassVar[WarningKind]
    WARNING_KIND_PARTS_LEFT_OUT: _ClassVar[WarningKind]
    WARNING_KIND_NOTHING_FORGOTTEN: _ClassVar[WarningKind]
    WARNING_KIND_WOULD_BE_REFUSED: _ClassVar[WarningKind]
    WARNING_KIND_NOTHING_SELECTED: _ClassVar[WarningKind]
    WARNING_KIND_TOKEN_LIMIT_TOO_SMALL: _ClassVar[WarningKind]
    WARNING_KIND_NOTHING_TO_SUMMARISE: _ClassVar[WarningKind]
    WARNING_KIND_MANY_MESSAGES: _ClassVar[WarningKind]
    WARNING_KIND_LARGE_REQUEST: _ClassVar[WarningKind]
    WARNING_KIND_NEAR_TOKEN_BUDGET: _ClassVar[WarningKind]
    WARNING_KIND_RESULTS_MOVED: _ClassVar[WarningKind]
    WARNING_KIND_MESSAGES_MERGED: _ClassVar[WarningKind]
    WARNING_KIND_CALL_IDS_CHANGED: _ClassVar[WarningKind]
    WARNING_KIND_PLACEHOLDER_ADDED: _ClassVar[WarningKind]
    WARNING_KIND_CONTENT_CHANGED: _ClassVar[WarningKind]
    WARNING_KIND_IRREGULARITY: _ClassVar[WarningKind]
    WARNING_KIND_MESSAGES_TRIMMED: _ClassVar[WarningKind]
    WARNING_KIND_NOT_SENT: _ClassVar[WarningKind]
WARNING_KIND_UNSPECIFIED: WarningKind
WARNING_KIND_UNCOVERED_LEFT_OUT: WarningKind
WARNING_KIND_SUMMARY_CUT: WarningKind
WARNING_KIND_PARTS_LEFT_OUT: WarningKind
WARNING_KIND_NOTHING_FORGOTTEN: WarningKind
WARNING_KIND_WOULD_BE_REFUSED: WarningKind
WARNING_KIND_NOTHING_SELECTED: WarningKind
WARNING_KIND_TOKEN_LIMIT_TOO_SMALL: WarningKind
WARNING_KIND_NOTHING_TO_SUMMARISE: WarningKind
WARNING_KIND_MANY_MESSAGES: WarningKind
WARNING_KIND_LARGE_REQUEST: WarningKind
WARNING_KIND_NEAR_TOKEN_BUDGET: WarningKind
WARNING_KIND_RESULTS_MOVED: WarningKind
WARNING_KIND_MESSAGES_MERGED: WarningKind
WARNING_KIND_CALL_IDS_CHANGED: WarningKind
WARNING_KIND_PLACEHOLDER_ADDED: WarningKind
WARNING_KIND_CONTENT_CHANGED: WarningKind
WARNING_KIND_IRREGULARITY: WarningKind
WARNING_KIND_MESSAGES_TRIMMED: WarningKind
WARNING_KIND_NOT_SENT: WarningKind

class Warning(_message.Message):
    __slots__ = ("kind", "text", "place")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    kind: WarningKind
    text: str
    place: str
    def __init__(self, kind: _Optional[_Union[WarningKind, str]] = ..., text: _Optional[str] = ..., place: _Optional[str] = ...) -> None: ...
