from google.protobuf import duration_pb2 as _duration_pb2
from . import memory_service_pb2 as _memory_service_pb2
from . import utterance_pb2 as _utterance_pb2
from . import warning_pb2 as _warning_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ContextFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_FORMAT_UNSPECIFIED: _ClassVar[ContextFormat]
    CONTEXT_FORMAT_OPENAI_CHAT: _ClassVar[ContextFormat]
    CONTEXT_FORMAT_ANTHROPIC_MESSAGES: _ClassVar[ContextFormat]
    CONTEXT_FORMAT_TEXT: _ClassVar[ContextFormat]

class SummaryPlacement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUMMARY_PLACEMENT_UNSPECIFIED: _ClassVar[SummaryPlacement]
    SUMMARY_PLACEMENT_SYSTEM: _ClassVar[SummaryPlacement]
    SUMMARY_PLACEMENT_USER_MESSAGE: _ClassVar[SummaryPlacement]

class UnansweredCalls(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    UNANSWERED_CALLS_UNSPECIFIED: _ClassVar[UnansweredCalls]
    UNANSWERED_CALLS_OMIT: _ClassVar[UnansweredCalls]
    UNANSWERED_CALLS_PLACEHOLDER: _ClassVar[UnansweredCalls]

class RenderedAs(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RENDERED_AS_UNSPECIFIED: _ClassVar[RenderedAs]
    RENDERED_AS_WHOLE: _ClassVar[RenderedAs]
    RENDERED_AS_INSTRUCTION: _ClassVar[RenderedAs]
    RENDERED_AS_PINNED: _ClassVar[RenderedAs]
    RENDERED_AS_MASKED: _ClassVar[RenderedAs]
    RENDERED_AS_TRIMMED: _ClassVar[RenderedAs]
    RENDERED_AS_RECALLED: _ClassVar[RenderedAs]

class Earlier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EARLIER_UNSPECIFIED: _ClassVar[Earlier]
    EARLIER_NONE: _ClassVar[Earlier]
    EARLIER_ENDED: _ClassVar[Earlier]

class OmissionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OMISSION_REASON_UNSPECIFIED: _ClassVar[OmissionReason]
    OMISSION_REASON_EVICTED: _ClassVar[OmissionReason]
    OMISSION_REASON_BUDGET: _ClassVar[OmissionReason]
    OMISSION_REASON_MAX_TURNS: _ClassVar[OmissionReason]
    OMISSION_REASON_UNANSWERED_CALL: _ClassVar[OmissionReason]
    OMISSION_REASON_FORGOTTEN: _ClassVar[OmissionReason]
    OMISSION_REASON_ASIDE: _ClassVar[OmissionReason]
    OMISSION_REASON_EMPTY: _ClassVar[OmissionReason]
    OMISSION_REASON_FORMAT: _ClassVar[OmissionReason]

class Alternation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ALTERNATION_UNSPECIFIED: _ClassVar[Alternation]
    ALTERNATION_MERGE: _ClassVar[Alternation]
    ALTERNATION_DROP: _ClassVar[Alternation]
    ALTERNATION_REJECT: _ClassVar[Alternation]

class DropReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DROP_REASON_UNSPECIFIED: _ClassVar[DropReason]
    DROP_REASON_NOT_A_MESSAGE: _ClassVar[DropReason]
    DROP_REASON_UNKNOWN_ROLE: _ClassVar[DropReason]
    DROP_REASON_INVALID_CONTENT: _ClassVar[DropReason]
    DROP_REASON_EMPTY: _ClassVar[DropReason]
    DROP_REASON_INVALID_TOOL_CALL: _ClassVar[DropReason]
    DROP_REASON_INVALID_FIELD: _ClassVar[DropReason]
    DROP_REASON_TOO_LARGE: _ClassVar[DropReason]
    DROP_REASON_ORPHANED_RESULT: _ClassVar[DropReason]
    DROP_REASON_UNANSWERED_CALL: _ClassVar[DropReason]
    DROP_REASON_ALTERNATION: _ClassVar[DropReason]
    DROP_REASON_MAX_MESSAGES: _ClassVar[DropReason]
    DROP_REASON_MAX_BYTES: _ClassVar[DropReason]
    DROP_REASON_TOKEN_BUDGET: _ClassVar[DropReason]
    DROP_REASON_SUMMARISED: _ClassVar[DropReason]
CONTEXT_FORMAT_UNSPECIFIED: ContextFormat
CONTEXT_FORMAT_OPENAI_CHAT: ContextFormat
CONTEXT_FORMAT_ANTHROPIC_MESSAGES: ContextFormat
CONTEXT_FORMAT_TEXT: ContextFormat
SUMMARY_PLACEMENT_UNSPECIFIED: SummaryPlacement
SUMMARY_PLACEMENT_SYSTEM: SummaryPlacement
SUMMARY_PLACEMENT_USER_MESSAGE: SummaryPlacement
UNANSWERED_CALLS_UNSPECIFIED: UnansweredCalls
UNANSWERED_CALLS_OMIT: UnansweredCalls
UNANSWERED_CALLS_PLACEHOLDER: UnansweredCalls
RENDERED_AS_UNSPECIFIED: RenderedAs
RENDERED_AS_WHOLE: RenderedAs
RENDERED_AS_INSTRUCTION: RenderedAs
RENDERED_AS_PINNED: RenderedAs
RENDERED_AS_MASKED: RenderedAs
RENDERED_AS_TRIMMED: RenderedAs
RENDERED_AS_RECALLED: RenderedAs
EARLIER_UNSPECIFIED: Earlier
EARLIER_NONE: Earlier
EARLIER_ENDED: Earlier
OMISSION_REASON_UNSPECIFIED: OmissionReason
OMISSION_REASON_EVICTED: OmissionReason
OMISSION_REASON_BUDGET: OmissionReason
OMISSION_REASON_MAX_TURNS: OmissionReason
OMISSION_REASON_UNANSWERED_CALL: OmissionReason
OMISSION_REASON_FORGOTTEN: OmissionReason
OMISSION_REASON_ASIDE: OmissionReason
OMISSION_REASON_EMPTY: OmissionReason
OMISSION_REASON_FORMAT: OmissionReason
ALTERNATION_UNSPECIFIED: Alternation
ALTERNATION_MERGE: Alternation
ALTERNATION_DROP: Alternation
ALTERNATION_REJECT: Alternation
DROP_REASON_UNSPECIFIED: DropReason
DROP_REASON_NOT_A_MESSAGE: DropReason
DROP_REASON_UNKNOWN_ROLE: DropReason
DROP_REASON_INVALID_CONTENT: DropReason
DROP_REASON_EMPTY: DropReason
DROP_REASON_INVALID_TOOL_CALL: DropReason
DROP_REASON_INVALID_FIELD: DropReason
DROP_REASON_TOO_LARGE: DropReason
DROP_REASON_ORPHANED_RESULT: DropReason
DROP_REASON_UNANSWERED_CALL: DropReason
DROP_REASON_ALTERNATION: DropReason
DROP_REASON_MAX_MESSAGES: DropReason
DROP_REASON_MAX_BYTES: DropReason
DROP_REASON_TOKEN_BUDGET: DropReason
DROP_REASON_SUMMARISED: DropReason

class CountTokensRequest(_message.Message):
    __slots__ = ("texts", "utterances", "model")
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    utterances: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.NewUtterance]
    model: str
    def __init__(self, texts: _Optional[_Iterable[str]] = ..., utterances: _Optional[_Iterable[_Union[_utterance_pb2.NewUtterance, _Mapping]]] = ..., model: _Optional[str] = ...) -> None: ...

class CountTokensResponse(_message.Message):
    __slots__ = ("token_counts", "exact", "encoding")
    TOKEN_COUNTS_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    token_counts: _containers.RepeatedScalarFieldContainer[int]
    exact: bool
    encoding: str
    def __init__(self, token_counts: _Optional[_Iterable[int]] = ..., exact: bool = ..., encoding: _Optional[str] = ...) -> None: ...

class ContextRecall(_message.Message):
    __slots__ = ("prompt", "limit", "scope", "max_percent", "min_relevance")
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    MAX_PERCENT_FIELD_NUMBER: _ClassVar[int]
    MIN_RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    prompt: str
    limit: int
    scope: _memory_service_pb2.RememberScope
    max_percent: int
    min_relevance: float
    def __init__(self, prompt: _Optional[str] = ..., limit: _Optional[int] = ..., scope: _Optional[_Union[_memory_service_pb2.RememberScope, str]] = ..., max_percent: _Optional[int] = ..., min_relevance: _Optional[float] = ...) -> None: ...

class BuildContextRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "format", "token_budget", "max_turns", "summary_placement", "recall", "mask_tool_results_after_turns", "unanswered_calls", "stable_steps", "instructions", "max_staleness", "earlier", "include_archive", "whole_messages", "mask_images_after_turns", "count_as_stored")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    MAX_TURNS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    RECALL_FIELD_NUMBER: _ClassVar[int]
    MASK_TOOL_RESULTS_AFTER_TURNS_FIELD_NUMBER: _ClassVar[int]
    UNANSWERED_CALLS_FIELD_NUMBER: _ClassVar[int]
    STABLE_STEPS_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    EARLIER_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ARCHIVE_FIELD_NUMBER: _ClassVar[int]
    WHOLE_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MASK_IMAGES_AFTER_TURNS_FIELD_NUMBER: _ClassVar[int]
    COUNT_AS_STORED_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    format: ContextFormat
    token_budget: int
    max_turns: int
    summary_placement: SummaryPlacement
    recall: ContextRecall
    mask_tool_results_after_turns: int
    unanswered_calls: UnansweredCalls
    stable_steps: bool
    instructions: str
    max_staleness: _duration_pb2.Duration
    earlier: Earlier
    include_archive: bool
    whole_messages: bool
    mask_images_after_turns: int
    count_as_stored: bool
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., format: _Optional[_Union[ContextFormat, str]] = ..., token_budget: _Optional[int] = ..., max_turns: _Optional[int] = ..., summary_placement: _Optional[_Union[SummaryPlacement, str]] = ..., recall: _Optional[_Union[ContextRecall, _Mapping]] = ..., mask_tool_results_after_turns: _Optional[int] = ..., unanswered_calls: _Optional[_Union[UnansweredCalls, str]] = ..., stable_steps: bool = ..., instructions: _Optional[str] = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., earlier: _Optional[_Union[Earlier, str]] = ..., include_archive: bool = ..., whole_messages: bool = ..., mask_images_after_turns: _Optional[int] = ..., count_as_stored: bool = ...) -> None: ...

class BuildContextResponse(_message.Message):
    __slots__ = ("conversation_id", "revision", "messages_json", "system_json", "text", "token_count", "token_budget", "utterances", "omitted", "stable_prefix_messages", "uncovered_utterance_count", "uncovered_turn_count", "warnings", "earlier_conversation_ids")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_JSON_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_JSON_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    OMITTED_FIELD_NUMBER: _ClassVar[int]
    STABLE_PREFIX_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    EARLIER_CONVERSATION_IDS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    revision: int
    messages_json: str
    system_json: str
    text: str
    token_count: int
    token_budget: int
    utterances: _containers.RepeatedCompositeFieldContainer[RenderedUtterance]
    omitted: _containers.RepeatedCompositeFieldContainer[OmittedUtterances]
    stable_prefix_messages: int
    uncovered_utterance_count: int
    uncovered_turn_count: int
    warnings: _containers.RepeatedCompositeFieldContainer[_warning_pb2.Warning]
    earlier_conversation_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., messages_json: _Optional[str] = ..., system_json: _Optional[str] = ..., text: _Optional[str] = ..., token_count: _Optional[int] = ..., token_budget: _Optional[int] = ..., utterances: _Optional[_Iterable[_Union[RenderedUtterance, _Mapping]]] = ..., omitted: _Optional[_Iterable[_Union[OmittedUtterances, _Mapping]]] = ..., stable_prefix_messages: _Optional[int] = ..., uncovered_utterance_count: _Optional[int] = ..., uncovered_turn_count: _Optional[int] = ..., warnings: _Optional[_Iterable[_Union[_warning_pb2.Warning, _Mapping]]] = ..., earlier_conversation_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RenderedUtterance(_message.Message):
    __slots__ = ("utterance_id", "sequence", "role", "rendered_as", "token_count", "conversation_id", "message_index", "quoted_ranges")
    UTTERANCE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    RENDERED_AS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    QUOTED_RANGES_FIELD_NUMBER: _ClassVar[int]
    utterance_id: str
    sequence: int
    role: _utterance_pb2.Role
    rendered_as: RenderedAs
    token_count: int
    conversation_id: str
    message_index: int
    quoted_ranges: _containers.RepeatedCompositeFieldContainer[_memory_service_pb2.MatchedRange]
    def __init__(self, utterance_id: _Optional[str] = ..., sequence: _Optional[int] = ..., role: _Optional[_Union[_utterance_pb2.Role, str]] = ..., rendered_as: _Optional[_Union[RenderedAs, str]] = ..., token_count: _Optional[int] = ..., conversation_id: _Optional[str] = ..., message_index: _Optional[int] = ..., quoted_ranges: _Optional[_Iterable[_Union[_memory_service_pb2.MatchedRange, _Mapping]]] = ...) -> None: ...

class OmittedUtterances(_message.Message):
    __slots__ = ("reason", "sequences")
    REASON_FIELD_NUMBER: _ClassVar[int]
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    reason: OmissionReason
    sequences: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    def __init__(self, reason: _Optional[_Union[OmissionReason, str]] = ..., sequences: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ...) -> None: ...

class PrepareHistoryRequest(_message.Message):
    __slots__ = ("messages_json", "utterances", "prompt", "max_messages", "max_bytes", "token_budget", "alternation", "format", "model", "recall", "whole_messages", "summary_token_limit", "summary_placement", "keep_recent", "focus_areas")
    MESSAGES_JSON_FIELD_NUMBER: _ClassVar[int]
    UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    MAX_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    ALTERNATION_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    RECALL_FIELD_NUMBER: _ClassVar[int]
    WHOLE_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_TOKEN_LIMIT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    KEEP_RECENT_FIELD_NUMBER: _ClassVar[int]
    FOCUS_AREAS_FIELD_NUMBER: _ClassVar[int]
    messages_json: str
    utterances: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.NewUtterance]
    prompt: str
    max_messages: int
    max_bytes: int
    token_budget: int
    alternation: Alternation
    format: ContextFormat
    model: str
    recall: HistoryRecall
    whole_messages: bool
    summary_token_limit: int
    summary_placement: SummaryPlacement
    keep_recent: int
    focus_areas: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, messages_json: _Optional[str] = ..., utterances: _Optional[_Iterable[_Union[_utterance_pb2.NewUtterance, _Mapping]]] = ..., prompt: _Optional[str] = ..., max_messages: _Optional[int] = ..., max_bytes: _Optional[int] = ..., token_budget: _Optional[int] = ..., alternation: _Optional[_Union[Alternation, str]] = ..., format: _Optional[_Union[ContextFormat, str]] = ..., model: _Optional[str] = ..., recall: _Optional[_Union[HistoryRecall, _Mapping]] = ..., whole_messages: bool = ..., summary_token_limit: _Optional[int] = ..., summary_placement: _Optional[_Union[SummaryPlacement, str]] = ..., keep_recent: _Optional[int] = ..., focus_areas: _Optional[_Iterable[str]] = ...) -> None: ...

class HistoryRecall(_message.Message):
    __slots__ = ("prompt", "limit", "max_percent", "min_relevance")
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MAX_PERCENT_FIELD_NUMBER: _ClassVar[int]
    MIN_RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    prompt: str
    limit: int
    max_percent: int
    min_relevance: float
    def __init__(self, prompt: _Optional[str] = ..., limit: _Optional[int] = ..., max_percent: _Optional[int] = ..., min_relevance: _Optional[float] = ...) -> None: ...

class PrepareHistoryResponse(_message.Message):
    __slots__ = ("messages_json", "system", "message_count", "token_count", "dropped", "warnings", "recalled", "summary", "history_token_count")
    MESSAGES_JSON_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    RECALLED_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    HISTORY_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    messages_json: str
    system: str
    message_count: int
    token_count: int
    dropped: _containers.RepeatedCompositeFieldContainer[DroppedMessage]
    warnings: _containers.RepeatedCompositeFieldContainer[_warning_pb2.Warning]
    recalled: _containers.RepeatedScalarFieldContainer[int]
    summary: str
    history_token_count: int
    def __init__(self, messages_json: _Optional[str] = ..., system: _Optional[str] = ..., message_count: _Optional[int] = ..., token_count: _Optional[int] = ..., dropped: _Optional[_Iterable[_Union[DroppedMessage, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[_warning_pb2.Warning, _Mapping]]] = ..., recalled: _Optional[_Iterable[int]] = ..., summary: _Optional[str] = ..., history_token_count: _Optional[int] = ...) -> None: ...

class DroppedMessage(_message.Message):
    __slots__ = ("index", "reason", "text")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    index: int
    reason: DropReason
    text: str
    def __init__(self, index: _Optional[int] = ..., reason: _Optional[_Union[DropReason, str]] = ..., text: _Optional[str] = ...) -> None: ...
