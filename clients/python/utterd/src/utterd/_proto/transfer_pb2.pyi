from . import conversation_pb2 as _conversation_pb2
from . import utterance_pb2 as _utterance_pb2
from . import warning_pb2 as _warning_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ConversationFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONVERSATION_FORMAT_UNSPECIFIED: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_OPENAI_CHAT: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_OPENAI_RESPONSES: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_ANTHROPIC_MESSAGES: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_PERSISTED_CONVERSATIONS: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_LEGACY_HISTORY: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_CHATGPT: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_CLAUDE: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_CLAUDE_CODE: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_CODEX: _ClassVar[ConversationFormat]
    CONVERSATION_FORMAT_PI: _ClassVar[ConversationFormat]

class ExportLayout(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXPORT_LAYOUT_UNSPECIFIED: _ClassVar[ExportLayout]
    EXPORT_LAYOUT_JSON: _ClassVar[ExportLayout]
    EXPORT_LAYOUT_JSON_LINES: _ClassVar[ExportLayout]
CONVERSATION_FORMAT_UNSPECIFIED: ConversationFormat
CONVERSATION_FORMAT_OPENAI_CHAT: ConversationFormat
CONVERSATION_FORMAT_OPENAI_RESPONSES: ConversationFormat
CONVERSATION_FORMAT_ANTHROPIC_MESSAGES: ConversationFormat
CONVERSATION_FORMAT_PERSISTED_CONVERSATIONS: ConversationFormat
CONVERSATION_FORMAT_LEGACY_HISTORY: ConversationFormat
CONVERSATION_FORMAT_CHATGPT: ConversationFormat
CONVERSATION_FORMAT_CLAUDE: ConversationFormat
CONVERSATION_FORMAT_CLAUDE_CODE: ConversationFormat
CONVERSATION_FORMAT_CODEX: ConversationFormat
CONVERSATION_FORMAT_PI: ConversationFormat
EXPORT_LAYOUT_UNSPECIFIED: ExportLayout
EXPORT_LAYOUT_JSON: ExportLayout
EXPORT_LAYOUT_JSON_LINES: ExportLayout

class ExportConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "all_conversations", "format", "layout", "close_unanswered_calls", "repair_all")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    ALL_CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    CLOSE_UNANSWERED_CALLS_FIELD_NUMBER: _ClassVar[int]
    REPAIR_ALL_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    all_conversations: bool
    format: ConversationFormat
    layout: ExportLayout
    close_unanswered_calls: bool
    repair_all: bool
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., all_conversations: bool = ..., format: _Optional[_Union[ConversationFormat, str]] = ..., layout: _Optional[_Union[ExportLayout, str]] = ..., close_unanswered_calls: bool = ..., repair_all: bool = ...) -> None: ...

class ExportConversationResponse(_message.Message):
    __slots__ = ("chunk", "end")
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    end: ExportEnd
    def __init__(self, chunk: _Optional[bytes] = ..., end: _Optional[_Union[ExportEnd, _Mapping]] = ...) -> None: ...

class ExportEnd(_message.Message):
    __slots__ = ("conversation_count", "utterance_count", "losses", "omitted_loss_count")
    CONVERSATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    OMITTED_LOSS_COUNT_FIELD_NUMBER: _ClassVar[int]
    conversation_count: int
    utterance_count: int
    losses: _containers.RepeatedCompositeFieldContainer[ExportLoss]
    omitted_loss_count: int
    def __init__(self, conversation_count: _Optional[int] = ..., utterance_count: _Optional[int] = ..., losses: _Optional[_Iterable[_Union[ExportLoss, _Mapping]]] = ..., omitted_loss_count: _Optional[int] = ...) -> None: ...

class ExportLoss(_message.Message):
    __slots__ = ("conversation_id", "field", "reason", "sequences")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    field: str
    reason: str
    sequences: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    def __init__(self, conversation_id: _Optional[str] = ..., field: _Optional[str] = ..., reason: _Optional[str] = ..., sequences: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ...) -> None: ...

class ImportConversationRequest(_message.Message):
    __slots__ = ("header", "chunk")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    header: ImportHeader
    chunk: bytes
    def __init__(self, header: _Optional[_Union[ImportHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class ImportHeader(_message.Message):
    __slots__ = ("format", "conversation_id", "recipient_id", "policy", "encoding", "into_existing", "strict", "validate_only", "lenient")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    INTO_EXISTING_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    LENIENT_FIELD_NUMBER: _ClassVar[int]
    format: ConversationFormat
    conversation_id: str
    recipient_id: str
    policy: _conversation_pb2.Policy
    encoding: str
    into_existing: bool
    strict: bool
    validate_only: bool
    lenient: bool
    def __init__(self, format: _Optional[_Union[ConversationFormat, str]] = ..., conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., policy: _Optional[_Union[_conversation_pb2.Policy, _Mapping]] = ..., encoding: _Optional[str] = ..., into_existing: bool = ..., strict: bool = ..., validate_only: bool = ..., lenient: bool = ...) -> None: ...

class ImportConversationResponse(_message.Message):
    __slots__ = ("format", "conversations", "warnings", "omitted_conversation_count", "omitted_warning_count")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_CONVERSATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    OMITTED_WARNING_COUNT_FIELD_NUMBER: _ClassVar[int]
    format: ConversationFormat
    conversations: _containers.RepeatedCompositeFieldContainer[ImportedConversation]
    warnings: _containers.RepeatedCompositeFieldContainer[_warning_pb2.Warning]
    omitted_conversation_count: int
    omitted_warning_count: int
    def __init__(self, format: _Optional[_Union[ConversationFormat, str]] = ..., conversations: _Optional[_Iterable[_Union[ImportedConversation, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[_warning_pb2.Warning, _Mapping]]] = ..., omitted_conversation_count: _Optional[int] = ..., omitted_warning_count: _Optional[int] = ...) -> None: ...

class ImportedConversation(_message.Message):
    __slots__ = ("conversation_id", "started", "ended", "utterance_count", "skipped_count", "revision", "irregularities", "summary_count")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    IRREGULARITIES_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_COUNT_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    started: bool
    ended: bool
    utterance_count: int
    skipped_count: int
    revision: int
    irregularities: _containers.RepeatedCompositeFieldContainer[_warning_pb2.Warning]
    summary_count: int
    def __init__(self, conversation_id: _Optional[str] = ..., started: bool = ..., ended: bool = ..., utterance_count: _Optional[int] = ..., skipped_count: _Optional[int] = ..., revision: _Optional[int] = ..., irregularities: _Optional[_Iterable[_Union[_warning_pb2.Warning, _Mapping]]] = ..., summary_count: _Optional[int] = ...) -> None: ...
