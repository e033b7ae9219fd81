from google.protobuf import timestamp_pb2 as _timestamp_pb2
from . import transfer_pb2 as _transfer_pb2
from . import utterance_pb2 as _utterance_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Message(_message.Message):
    __slots__ = ("message_json", "format", "utterance_id", "sequence", "utterance_count", "role", "turn_number", "create_time", "state")
    MESSAGE_JSON_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TURN_NUMBER_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    message_json: str
    format: _transfer_pb2.ConversationFormat
    utterance_id: str
    sequence: int
    utterance_count: int
    role: _utterance_pb2.Role
    turn_number: int
    create_time: _timestamp_pb2.Timestamp
    state: _utterance_pb2.UtteranceState
    def __init__(self, message_json: _Optional[str] = ..., format: _Optional[_Union[_transfer_pb2.ConversationFormat, str]] = ..., utterance_id: _Optional[str] = ..., sequence: _Optional[int] = ..., utterance_count: _Optional[int] = ..., role: _Optional[_Union[_utterance_pb2.Role, str]] = ..., turn_number: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., state: _Optional[_Union[_utterance_pb2.UtteranceState, str]] = ...) -> None: ...
