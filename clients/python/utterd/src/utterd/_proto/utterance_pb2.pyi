from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    ROLE_SYSTEM: _ClassVar[Role]
    ROLE_USER: _ClassVar[Role]
    ROLE_ASSISTANT: _ClassVar[Role]
    ROLE_TOOL: _ClassVar[Role]

class UtteranceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    UTTERANCE_STATE_UNSPECIFIED: _ClassVar[UtteranceState]
    UTTERANCE_STATE_LIVE: _ClassVar[UtteranceState]
    UTTERANCE_STATE_FORGOTTEN: _ClassVar[UtteranceState]
    UTTERANCE_STATE_EVICTED: _ClassVar[UtteranceState]
ROLE_UNSPECIFIED: Role
ROLE_SYSTEM: Role
ROLE_USER: Role
ROLE_ASSISTANT: Role
ROLE_TOOL: Role
UTTERANCE_STATE_UNSPECIFIED: UtteranceState
UTTERANCE_STATE_LIVE: UtteranceState
UTTERANCE_STATE_FORGOTTEN: UtteranceState
UTTERANCE_STATE_EVICTED: UtteranceState

class ToolCall(_message.Message):
    __slots__ = ("id", "name", "arguments_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    arguments_json: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., arguments_json: _Optional[str] = ...) -> None: ...

class NewUtterance(_message.Message):
    __slots__ = ("utterance_id", "role", "name", "content", "tool_calls", "tool_call_id", "turn_number", "create_time", "pinned", "tools_used", "metadata", "awaits_answer", "extras_json", "extras_token_count")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    UTTERANCE_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_NUMBER_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    TOOLS_USED_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    AWAITS_ANSWER_FIELD_NUMBER: _ClassVar[int]
    EXTRAS_JSON_FIELD_NUMBER: _ClassVar[int]
    EXTRAS_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    utterance_id: str
    role: Role
    name: str
    content: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    tool_call_id: str
    turn_number: int
    create_time: _timestamp_pb2.Timestamp
    pinned: bool
    tools_used: _containers.RepeatedScalarFieldContainer[str]
    metadata: _containers.ScalarMap[str, str]
    awaits_answer: bool
    extras_json: str
    extras_token_count: int
    def __init__(self, utterance_id: _Optional[str] = ..., role: _Optional[_Union[Role, str]] = ..., name: _Optional[str] = ..., content: _Optional[str] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., tool_call_id: _Optional[str] = ..., turn_number: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., pinned: bool = ..., tools_used: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., awaits_answer: bool = ..., extras_json: _Optional[str] = ..., extras_token_count: _Optional[int] = ...) -> None: ...

class Utterance(_message.Message):
    __slots__ = ("utterance_id", "sequence", "position", "role", "name", "content", "tool_calls", "tool_call_id", "turn_number", "create_time", "token_count", "state", "pinned", "tools_used", "metadata", "awaits_answer", "extras_json", "aside", "original_content", "edit_time", "late", "late_tool")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    UTTERANCE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_NUMBER_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    TOOLS_USED_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    AWAITS_ANSWER_FIELD_NUMBER: _ClassVar[int]
    EXTRAS_JSON_FIELD_NUMBER: _ClassVar[int]
    ASIDE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    EDIT_TIME_FIELD_NUMBER: _ClassVar[int]
    LATE_FIELD_NUMBER: _ClassVar[int]
    LATE_TOOL_FIELD_NUMBER: _ClassVar[int]
    utterance_id: str
    sequence: int
    position: int
    role: Role
    name: str
    content: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    tool_call_id: str
    turn_number: int
    create_time: _timestamp_pb2.Timestamp
    token_count: int
    state: UtteranceState
    pinned: bool
    tools_used: _containers.RepeatedScalarFieldContainer[str]
    metadata: _containers.ScalarMap[str, str]
    awaits_answer: bool
    extras_json: str
    aside: bool
    original_content: str
    edit_time: _timestamp_pb2.Timestamp
    late: bool
    late_tool: str
    def __init__(self, utterance_id: _Optional[str] = ..., sequence: _Optional[int] = ..., position: _Optional[int] = ..., role: _Optional[_Union[Role, str]] = ..., name: _Optional[str] = ..., content: _Optional[str] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., tool_call_id: _Optional[str] = ..., turn_number: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., token_count: _Optional[int] = ..., state: _Optional[_Union[UtteranceState, str]] = ..., pinned: bool = ..., tools_used: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., awaits_answer: bool = ..., extras_json: _Optional[str] = ..., aside: bool = ..., original_content: _Optional[str] = ..., edit_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., late: bool = ..., late_tool: _Optional[str] = ...) -> None: ...

class UtteranceRef(_message.Message):
    __slots__ = ("utterance_id", "sequence", "position", "role", "turn_number", "token_count", "late")
    UTTERANCE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TURN_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    LATE_FIELD_NUMBER: _ClassVar[int]
    utterance_id: str
    sequence: int
    position: int
    role: Role
    turn_number: int
    token_count: int
    late: bool
    def __init__(self, utterance_id: _Optional[str] = ..., sequence: _Optional[int] = ..., position: _Optional[int] = ..., role: _Optional[_Union[Role, str]] = ..., turn_number: _Optional[int] = ..., token_count: _Optional[int] = ..., late: bool = ...) -> None: ...

class SequenceRange(_message.Message):
    __slots__ = ("first", "last")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    first: int
    last: int
    def __init__(self, first: _Optional[int] = ..., last: _Optional[int] = ...) -> None: ...
