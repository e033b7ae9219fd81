from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from . import capacity_pb2 as _capacity_pb2
from . import conversation_pb2 as _conversation_pb2
from . import conversation_service_pb2 as _conversation_service_pb2
from . import message_pb2 as _message_pb2
from . import summary_pb2 as _summary_pb2
from . import transfer_pb2 as _transfer_pb2
from . import utterance_pb2 as _utterance_pb2
from . import warning_pb2 as _warning_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RememberScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REMEMBER_SCOPE_UNSPECIFIED: _ClassVar[RememberScope]
    REMEMBER_SCOPE_WINDOW: _ClassVar[RememberScope]
    REMEMBER_SCOPE_CONVERSATION: _ClassVar[RememberScope]
    REMEMBER_SCOPE_RECIPIENT: _ClassVar[RememberScope]

class RememberOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REMEMBER_ORDER_UNSPECIFIED: _ClassVar[RememberOrder]
    REMEMBER_ORDER_RELEVANCE: _ClassVar[RememberOrder]
    REMEMBER_ORDER_RECENCY: _ClassVar[RememberOrder]

class ForgetMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FORGET_MODE_UNSPECIFIED: _ClassVar[ForgetMode]
    FORGET_MODE_SOFT: _ClassVar[ForgetMode]
    FORGET_MODE_HARD: _ClassVar[ForgetMode]

class SummarizeScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUMMARIZE_SCOPE_UNSPECIFIED: _ClassVar[SummarizeScope]
    SUMMARIZE_SCOPE_ALL: _ClassVar[SummarizeScope]
    SUMMARIZE_SCOPE_RECENT: _ClassVar[SummarizeScope]
    SUMMARIZE_SCOPE_EVICTED: _ClassVar[SummarizeScope]
    SUMMARIZE_SCOPE_TURNS: _ClassVar[SummarizeScope]
REMEMBER_SCOPE_UNSPECIFIED: RememberScope
REMEMBER_SCOPE_WINDOW: RememberScope
REMEMBER_SCOPE_CONVERSATION: RememberScope
REMEMBER_SCOPE_RECIPIENT: RememberScope
REMEMBER_ORDER_UNSPECIFIED: RememberOrder
REMEMBER_ORDER_RELEVANCE: RememberOrder
REMEMBER_ORDER_RECENCY: RememberOrder
FORGET_MODE_UNSPECIFIED: ForgetMode
FORGET_MODE_SOFT: ForgetMode
FORGET_MODE_HARD: ForgetMode
SUMMARIZE_SCOPE_UNSPECIFIED: SummarizeScope
SUMMARIZE_SCOPE_ALL: SummarizeScope
SUMMARIZE_SCOPE_RECENT: SummarizeScope
SUMMARIZE_SCOPE_EVICTED: SummarizeScope
SUMMARIZE_SCOPE_TURNS: SummarizeScope

class MemorizeRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "utterances", "request_id", "expected_revision", "lenient", "session_id", "messages_json", "format", "message_ids", "replace_after", "upsert", "state", "recipient_state", "return_conversation", "lean")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    LENIENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_JSON_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLACE_AFTER_FIELD_NUMBER: _ClassVar[int]
    UPSERT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_STATE_FIELD_NUMBER: _ClassVar[int]
    RETURN_CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    LEAN_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    utterances: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.NewUtterance]
    request_id: str
    expected_revision: int
    lenient: bool
    session_id: str
    messages_json: str
    format: _transfer_pb2.ConversationFormat
    message_ids: _containers.RepeatedScalarFieldContainer[str]
    replace_after: int
    upsert: bool
    state: _conversation_service_pb2.StateChange
    recipient_state: _conversation_service_pb2.StateChange
    return_conversation: bool
    lean: bool
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., utterances: _Optional[_Iterable[_Union[_utterance_pb2.NewUtterance, _Mapping]]] = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ..., lenient: bool = ..., session_id: _Optional[str] = ..., messages_json: _Optional[str] = ..., format: _Optional[_Union[_transfer_pb2.ConversationFormat, str]] = ..., message_ids: _Optional[_Iterable[str]] = ..., replace_after: _Optional[int] = ..., upsert: bool = ..., state: _Optional[_Union[_conversation_service_pb2.StateChange, _Mapping]] = ..., recipient_state: _Optional[_Union[_conversation_service_pb2.StateChange, _Mapping]] = ..., return_conversation: bool = ..., lean: bool = ...) -> None: ...

class MemorizeResponse(_message.Message):
    __slots__ = ("conversation_id", "revision", "memorized", "evicted", "summary", "capacity", "started_conversation", "replayed", "irregularities", "ended_conversation_id", "removed", "conversation", "in_forks")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    MEMORIZED_FIELD_NUMBER: _ClassVar[int]
    EVICTED_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    STARTED_CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    IRREGULARITIES_FIELD_NUMBER: _ClassVar[int]
    ENDED_CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    IN_FORKS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    revision: int
    memorized: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    evicted: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    summary: _summary_pb2.SummaryUpdate
    capacity: _capacity_pb2.Capacity
    started_conversation: bool
    replayed: bool
    irregularities: _containers.RepeatedCompositeFieldContainer[Irregularity]
    ended_conversation_id: str
    removed: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    conversation: _conversation_pb2.Conversation
    in_forks: InForks
    def __init__(self, conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., memorized: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., evicted: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., summary: _Optional[_Union[_summary_pb2.SummaryUpdate, _Mapping]] = ..., capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ..., started_conversation: bool = ..., replayed: bool = ..., irregularities: _Optional[_Iterable[_Union[Irregularity, _Mapping]]] = ..., ended_conversation_id: _Optional[str] = ..., removed: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., in_forks: _Optional[_Union[InForks, _Mapping]] = ...) -> None: ...

class InForks(_message.Message):
    __slots__ = ("conversation_count", "utterance_count")
    CONVERSATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    conversation_count: int
    utterance_count: int
    def __init__(self, conversation_count: _Optional[int] = ..., utterance_count: _Optional[int] = ...) -> None: ...

class Irregularity(_message.Message):
    __slots__ = ("index", "sequence", "description")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    index: int
    sequence: int
    description: str
    def __init__(self, index: _Optional[int] = ..., sequence: _Optional[int] = ..., description: _Optional[str] = ...) -> None: ...

class MemorizeStreamRequest(_message.Message):
    __slots__ = ("memorize", "combine_responses")
    MEMORIZE_FIELD_NUMBER: _ClassVar[int]
    COMBINE_RESPONSES_FIELD_NUMBER: _ClassVar[int]
    memorize: MemorizeRequest
    combine_responses: bool
    def __init__(self, memorize: _Optional[_Union[MemorizeRequest, _Mapping]] = ..., combine_responses: bool = ...) -> None: ...

class MemorizeStreamResponse(_message.Message):
    __slots__ = ("memorized", "error", "answered_count")
    MEMORIZED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    memorized: MemorizeResponse
    error: _status_pb2.Status
    answered_count: int
    def __init__(self, memorized: _Optional[_Union[MemorizeResponse, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ..., answered_count: _Optional[int] = ...) -> None: ...

class RememberFilter(_message.Message):
    __slots__ = ("roles", "names", "min_turn", "max_turn", "min_sequence", "max_sequence", "start_time", "end_time", "pinned", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ROLES_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    MIN_TURN_FIELD_NUMBER: _ClassVar[int]
    MAX_TURN_FIELD_NUMBER: _ClassVar[int]
    MIN_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    MAX_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    roles: _containers.RepeatedScalarFieldContainer[_utterance_pb2.Role]
    names: _containers.RepeatedScalarFieldContainer[str]
    min_turn: int
    max_turn: int
    min_sequence: int
    max_sequence: int
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    pinned: bool
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, roles: _Optional[_Iterable[_Union[_utterance_pb2.Role, str]]] = ..., names: _Optional[_Iterable[str]] = ..., min_turn: _Optional[int] = ..., max_turn: _Optional[int] = ..., min_sequence: _Optional[int] = ..., max_sequence: _Optional[int] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., pinned: bool = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class RememberRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "prompt", "filter", "scope", "order", "neighbors", "page_size", "page_token", "min_relevance", "max_staleness")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    NEIGHBORS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MIN_RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    prompt: str
    filter: RememberFilter
    scope: RememberScope
    order: RememberOrder
    neighbors: int
    page_size: int
    page_token: str
    min_relevance: float
    max_staleness: _duration_pb2.Duration
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., prompt: _Optional[str] = ..., filter: _Optional[_Union[RememberFilter, _Mapping]] = ..., scope: _Optional[_Union[RememberScope, str]] = ..., order: _Optional[_Union[RememberOrder, str]] = ..., neighbors: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., min_relevance: _Optional[float] = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class RememberResponse(_message.Message):
    __slots__ = ("matches", "next_page_token")
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    matches: _containers.RepeatedCompositeFieldContainer[Match]
    next_page_token: str
    def __init__(self, matches: _Optional[_Iterable[_Union[Match, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Match(_message.Message):
    __slots__ = ("utterance", "conversation_id", "score", "relevance", "recency", "matched_terms", "neighbors", "matched_ranges")
    UTTERANCE_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    RECENCY_FIELD_NUMBER: _ClassVar[int]
    MATCHED_TERMS_FIELD_NUMBER: _ClassVar[int]
    NEIGHBORS_FIELD_NUMBER: _ClassVar[int]
    MATCHED_RANGES_FIELD_NUMBER: _ClassVar[int]
    utterance: _utterance_pb2.Utterance
    conversation_id: str
    score: float
    relevance: float
    recency: float
    matched_terms: _containers.RepeatedScalarFieldContainer[str]
    neighbors: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.Utterance]
    matched_ranges: _containers.RepeatedCompositeFieldContainer[MatchedRange]
    def __init__(self, utterance: _Optional[_Union[_utterance_pb2.Utterance, _Mapping]] = ..., conversation_id: _Optional[str] = ..., score: _Optional[float] = ..., relevance: _Optional[float] = ..., recency: _Optional[float] = ..., matched_terms: _Optional[_Iterable[str]] = ..., neighbors: _Optional[_Iterable[_Union[_utterance_pb2.Utterance, _Mapping]]] = ..., matched_ranges: _Optional[_Iterable[_Union[MatchedRange, _Mapping]]] = ...) -> None: ...

class MatchedRange(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class ForgetRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "instructions", "mode", "dry_run", "request_id", "expected_revision", "selector", "exact", "return_messages", "format")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    SELECTOR_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    RETURN_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    instructions: str
    mode: ForgetMode
    dry_run: bool
    request_id: str
    expected_revision: int
    selector: ForgetSelector
    exact: bool
    return_messages: bool
    format: _transfer_pb2.ConversationFormat
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., instructions: _Optional[str] = ..., mode: _Optional[_Union[ForgetMode, str]] = ..., dry_run: bool = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ..., selector: _Optional[_Union[ForgetSelector, _Mapping]] = ..., exact: bool = ..., return_messages: bool = ..., format: _Optional[_Union[_transfer_pb2.ConversationFormat, str]] = ...) -> None: ...

class ForgetSelector(_message.Message):
    __slots__ = ("utterance_ids", "sequences", "newest_messages")
    UTTERANCE_IDS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    NEWEST_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    utterance_ids: _containers.RepeatedScalarFieldContainer[str]
    sequences: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    newest_messages: int
    def __init__(self, utterance_ids: _Optional[_Iterable[str]] = ..., sequences: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., newest_messages: _Optional[int] = ...) -> None: ...

class ForgetResponse(_message.Message):
    __slots__ = ("conversation_id", "revision", "forgotten", "rebuilt_segments", "capacity", "understood_as", "replayed", "mode", "warnings", "still_summarised", "messages", "evicted", "in_forks")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    FORGOTTEN_FIELD_NUMBER: _ClassVar[int]
    REBUILT_SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    UNDERSTOOD_AS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    STILL_SUMMARISED_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    EVICTED_FIELD_NUMBER: _ClassVar[int]
    IN_FORKS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    revision: int
    forgotten: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    rebuilt_segments: int
    capacity: _capacity_pb2.Capacity
    understood_as: str
    replayed: bool
    mode: ForgetMode
    warnings: _containers.RepeatedCompositeFieldContainer[_warning_pb2.Warning]
    still_summarised: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    evicted: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    in_forks: InForks
    def __init__(self, conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., forgotten: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., rebuilt_segments: _Optional[int] = ..., capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ..., understood_as: _Optional[str] = ..., replayed: bool = ..., mode: _Optional[_Union[ForgetMode, str]] = ..., warnings: _Optional[_Iterable[_Union[_warning_pb2.Warning, _Mapping]]] = ..., still_summarised: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., evicted: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., in_forks: _Optional[_Union[InForks, _Mapping]] = ...) -> None: ...

class RestoreRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "utterance_ids", "request_id", "expected_revision")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_IDS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    utterance_ids: _containers.RepeatedScalarFieldContainer[str]
    request_id: str
    expected_revision: int
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., utterance_ids: _Optional[_Iterable[str]] = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class RestoreResponse(_message.Message):
    __slots__ = ("conversation_id", "revision", "restored", "evicted", "capacity", "replayed")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    EVICTED_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    revision: int
    restored: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    evicted: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    capacity: _capacity_pb2.Capacity
    replayed: bool
    def __init__(self, conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., restored: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., evicted: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ..., replayed: bool = ...) -> None: ...

class SummarizeRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "scope", "recent_count", "first_turn", "last_turn", "token_limit", "focus_areas", "wait_for_llm", "max_staleness")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    RECENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_TURN_FIELD_NUMBER: _ClassVar[int]
    LAST_TURN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_LIMIT_FIELD_NUMBER: _ClassVar[int]
    FOCUS_AREAS_FIELD_NUMBER: _ClassVar[int]
    WAIT_FOR_LLM_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    scope: SummarizeScope
    recent_count: int
    first_turn: int
    last_turn: int
    token_limit: int
    focus_areas: _containers.RepeatedScalarFieldContainer[str]
    wait_for_llm: bool
    max_staleness: _duration_pb2.Duration
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., scope: _Optional[_Union[SummarizeScope, str]] = ..., recent_count: _Optional[int] = ..., first_turn: _Optional[int] = ..., last_turn: _Optional[int] = ..., token_limit: _Optional[int] = ..., focus_areas: _Optional[_Iterable[str]] = ..., wait_for_llm: bool = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SummarizeResponse(_message.Message):
    __slots__ = ("conversation_id", "text", "token_count", "sources", "source_token_count", "method", "model", "llm_error", "warnings")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    LLM_ERROR_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    text: str
    token_count: int
    sources: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.SequenceRange]
    source_token_count: int
    method: _summary_pb2.SummaryMethod
    model: str
    llm_error: str
    warnings: _containers.RepeatedCompositeFieldContainer[_warning_pb2.Warning]
    def __init__(self, conversation_id: _Optional[str] = ..., text: _Optional[str] = ..., token_count: _Optional[int] = ..., sources: _Optional[_Iterable[_Union[_utterance_pb2.SequenceRange, _Mapping]]] = ..., source_token_count: _Optional[int] = ..., method: _Optional[_Union[_summary_pb2.SummaryMethod, str]] = ..., model: _Optional[str] = ..., llm_error: _Optional[str] = ..., warnings: _Optional[_Iterable[_Union[_warning_pb2.Warning, _Mapping]]] = ...) -> None: ...

class GetCapacityInfoRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "session_id", "max_staleness")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    session_id: str
    max_staleness: _duration_pb2.Duration
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., session_id: _Optional[str] = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetCapacityInfoResponse(_message.Message):
    __slots__ = ("capacity", "durable")
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    DURABLE_FIELD_NUMBER: _ClassVar[int]
    capacity: _capacity_pb2.Capacity
    durable: bool
    def __init__(self, capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ..., durable: bool = ...) -> None: ...

class WatchCapacityRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "session_id")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    session_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class WatchCapacityResponse(_message.Message):
    __slots__ = ("capacity",)
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    capacity: _capacity_pb2.Capacity
    def __init__(self, capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ...) -> None: ...
