from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from . import capacity_pb2 as _capacity_pb2
from . import conversation_pb2 as _conversation_pb2
from . import message_pb2 as _message_pb2
from . import stats_pb2 as _stats_pb2
from . import summary_pb2 as _summary_pb2
from . import transfer_pb2 as _transfer_pb2
from . import utterance_pb2 as _utterance_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ConversationOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONVERSATION_ORDER_UNSPECIFIED: _ClassVar[ConversationOrder]
    CONVERSATION_ORDER_NEWEST_START: _ClassVar[ConversationOrder]
    CONVERSATION_ORDER_OLDEST_START: _ClassVar[ConversationOrder]
    CONVERSATION_ORDER_NEWEST_UPDATE: _ClassVar[ConversationOrder]
    CONVERSATION_ORDER_OLDEST_UPDATE: _ClassVar[ConversationOrder]

class ListOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LIST_ORDER_UNSPECIFIED: _ClassVar[ListOrder]
    LIST_ORDER_OLDEST_FIRST: _ClassVar[ListOrder]
    LIST_ORDER_NEWEST_FIRST: _ClassVar[ListOrder]

class EditMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EDIT_MODE_UNSPECIFIED: _ClassVar[EditMode]
    EDIT_MODE_IN_PLACE: _ClassVar[EditMode]
    EDIT_MODE_FORK: _ClassVar[EditMode]

class StateScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATE_SCOPE_UNSPECIFIED: _ClassVar[StateScope]
    STATE_SCOPE_CONVERSATION: _ClassVar[StateScope]
    STATE_SCOPE_RECIPIENT: _ClassVar[StateScope]
CONVERSATION_ORDER_UNSPECIFIED: ConversationOrder
CONVERSATION_ORDER_NEWEST_START: ConversationOrder
CONVERSATION_ORDER_OLDEST_START: ConversationOrder
CONVERSATION_ORDER_NEWEST_UPDATE: ConversationOrder
CONVERSATION_ORDER_OLDEST_UPDATE: ConversationOrder
LIST_ORDER_UNSPECIFIED: ListOrder
LIST_ORDER_OLDEST_FIRST: ListOrder
LIST_ORDER_NEWEST_FIRST: ListOrder
EDIT_MODE_UNSPECIFIED: EditMode
EDIT_MODE_IN_PLACE: EditMode
EDIT_MODE_FORK: EditMode
STATE_SCOPE_UNSPECIFIED: StateScope
STATE_SCOPE_CONVERSATION: StateScope
STATE_SCOPE_RECIPIENT: StateScope

class CreateConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "title", "policy", "labels", "encoding", "request_id", "inactive")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    INACTIVE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    title: str
    policy: _conversation_pb2.Policy
    labels: _containers.ScalarMap[str, str]
    encoding: str
    request_id: str
    inactive: bool
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., title: _Optional[str] = ..., policy: _Optional[_Union[_conversation_pb2.Policy, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., encoding: _Optional[str] = ..., request_id: _Optional[str] = ..., inactive: bool = ...) -> None: ...

class CreateConversationResponse(_message.Message):
    __slots__ = ("conversation", "replayed")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    replayed: bool
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., replayed: bool = ...) -> None: ...

class GetConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "view", "max_staleness")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    view: _conversation_pb2.ConversationView
    max_staleness: _duration_pb2.Duration
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., view: _Optional[_Union[_conversation_pb2.ConversationView, str]] = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetConversationResponse(_message.Message):
    __slots__ = ("conversation", "shares")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    SHARES_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    shares: _containers.RepeatedCompositeFieldContainer[ConversationShare]
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., shares: _Optional[_Iterable[_Union[ConversationShare, _Mapping]]] = ...) -> None: ...

class ListConversationsRequest(_message.Message):
    __slots__ = ("recipient_id", "status", "page_size", "page_token", "all_recipients", "conversation_id_prefix", "order")
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ALL_RECIPIENTS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_PREFIX_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    recipient_id: str
    status: _conversation_pb2.ConversationStatus
    page_size: int
    page_token: str
    all_recipients: bool
    conversation_id_prefix: str
    order: ConversationOrder
    def __init__(self, recipient_id: _Optional[str] = ..., status: _Optional[_Union[_conversation_pb2.ConversationStatus, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., all_recipients: bool = ..., conversation_id_prefix: _Optional[str] = ..., order: _Optional[_Union[ConversationOrder, str]] = ...) -> None: ...

class ListConversationsResponse(_message.Message):
    __slots__ = ("conversations", "next_page_token")
    CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    conversations: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Conversation]
    next_page_token: str
    def __init__(self, conversations: _Optional[_Iterable[_Union[_conversation_pb2.Conversation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "title", "policy", "labels", "update_mask", "request_id", "expected_revision")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    title: str
    policy: _conversation_pb2.Policy
    labels: _containers.ScalarMap[str, str]
    update_mask: _field_mask_pb2.FieldMask
    request_id: str
    expected_revision: int
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., title: _Optional[str] = ..., policy: _Optional[_Union[_conversation_pb2.Policy, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class UpdateConversationResponse(_message.Message):
    __slots__ = ("conversation", "evicted", "summary", "capacity", "replayed")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    EVICTED_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    evicted: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    summary: _summary_pb2.SummaryUpdate
    capacity: _capacity_pb2.Capacity
    replayed: bool
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., evicted: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., summary: _Optional[_Union[_summary_pb2.SummaryUpdate, _Mapping]] = ..., capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ..., replayed: bool = ...) -> None: ...

class EndConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "reason", "request_id", "expected_revision", "wait_for_llm")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    WAIT_FOR_LLM_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    reason: str
    request_id: str
    expected_revision: int
    wait_for_llm: bool
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ..., wait_for_llm: bool = ...) -> None: ...

class EndConversationResponse(_message.Message):
    __slots__ = ("conversation", "replayed")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    replayed: bool
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., replayed: bool = ...) -> None: ...

class DeleteConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "expected_revision")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    expected_revision: int
    def __init__(self, conversation_id: _Optional[str] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class DeleteConversationResponse(_message.Message):
    __slots__ = ("utterance_count",)
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    utterance_count: int
    def __init__(self, utterance_count: _Optional[int] = ...) -> None: ...

class ListUtterancesRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "last", "order", "include_archive", "include_forgotten", "page_size", "page_token", "max_staleness", "after_sequence", "before_sequence")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ARCHIVE_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_FORGOTTEN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    last: int
    order: ListOrder
    include_archive: bool
    include_forgotten: bool
    page_size: int
    page_token: str
    max_staleness: _duration_pb2.Duration
    after_sequence: int
    before_sequence: int
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., last: _Optional[int] = ..., order: _Optional[_Union[ListOrder, str]] = ..., include_archive: bool = ..., include_forgotten: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., after_sequence: _Optional[int] = ..., before_sequence: _Optional[int] = ...) -> None: ...

class ListUtterancesResponse(_message.Message):
    __slots__ = ("utterances", "next_page_token")
    UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    utterances: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.Utterance]
    next_page_token: str
    def __init__(self, utterances: _Optional[_Iterable[_Union[_utterance_pb2.Utterance, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListMessagesRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "format", "last", "after_sequence", "before_sequence", "utterance_ids", "roles", "order", "skip", "page_size", "page_token", "max_staleness")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_IDS_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    SKIP_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    format: _transfer_pb2.ConversationFormat
    last: int
    after_sequence: int
    before_sequence: int
    utterance_ids: _containers.RepeatedScalarFieldContainer[str]
    roles: _containers.RepeatedScalarFieldContainer[_utterance_pb2.Role]
    order: ListOrder
    skip: int
    page_size: int
    page_token: str
    max_staleness: _duration_pb2.Duration
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., format: _Optional[_Union[_transfer_pb2.ConversationFormat, str]] = ..., last: _Optional[int] = ..., after_sequence: _Optional[int] = ..., before_sequence: _Optional[int] = ..., utterance_ids: _Optional[_Iterable[str]] = ..., roles: _Optional[_Iterable[_Union[_utterance_pb2.Role, str]]] = ..., order: _Optional[_Union[ListOrder, str]] = ..., skip: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ListMessagesResponse(_message.Message):
    __slots__ = ("messages", "next_page_token", "conversation_id", "revision")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    next_page_token: str
    conversation_id: str
    revision: int
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., conversation_id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class GetSummaryRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "max_staleness")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    max_staleness: _duration_pb2.Duration
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetSummaryResponse(_message.Message):
    __slots__ = ("conversation_id", "text", "token_count", "segments", "revision")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    text: str
    token_count: int
    segments: _containers.RepeatedCompositeFieldContainer[_summary_pb2.Segment]
    revision: int
    def __init__(self, conversation_id: _Optional[str] = ..., text: _Optional[str] = ..., token_count: _Optional[int] = ..., segments: _Optional[_Iterable[_Union[_summary_pb2.Segment, _Mapping]]] = ..., revision: _Optional[int] = ...) -> None: ...

class UpdateUtteranceRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "utterance_id", "pinned", "metadata", "update_mask", "request_id", "expected_revision", "content", "edit_mode")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_ID_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    EDIT_MODE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    utterance_id: str
    pinned: bool
    metadata: _containers.ScalarMap[str, str]
    update_mask: _field_mask_pb2.FieldMask
    request_id: str
    expected_revision: int
    content: str
    edit_mode: EditMode
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., utterance_id: _Optional[str] = ..., pinned: bool = ..., metadata: _Optional[_Mapping[str, str]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ..., content: _Optional[str] = ..., edit_mode: _Optional[_Union[EditMode, str]] = ...) -> None: ...

class UpdateUtteranceResponse(_message.Message):
    __slots__ = ("utterance", "revision", "evicted", "replayed", "forked_conversation_id")
    UTTERANCE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    EVICTED_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    FORKED_CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    utterance: _utterance_pb2.Utterance
    revision: int
    evicted: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.UtteranceRef]
    replayed: bool
    forked_conversation_id: str
    def __init__(self, utterance: _Optional[_Union[_utterance_pb2.Utterance, _Mapping]] = ..., revision: _Optional[int] = ..., evicted: _Optional[_Iterable[_Union[_utterance_pb2.UtteranceRef, _Mapping]]] = ..., replayed: bool = ..., forked_conversation_id: _Optional[str] = ...) -> None: ...

class ForkConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "at_sequence", "new_conversation_id", "to_recipient_id", "title", "activate", "request_id", "expected_revision")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    AT_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    NEW_CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TO_RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    ACTIVATE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    at_sequence: int
    new_conversation_id: str
    to_recipient_id: str
    title: str
    activate: bool
    request_id: str
    expected_revision: int
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., at_sequence: _Optional[int] = ..., new_conversation_id: _Optional[str] = ..., to_recipient_id: _Optional[str] = ..., title: _Optional[str] = ..., activate: bool = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class ForkConversationResponse(_message.Message):
    __slots__ = ("conversation", "capacity", "replayed")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    capacity: _capacity_pb2.Capacity
    replayed: bool
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., capacity: _Optional[_Union[_capacity_pb2.Capacity, _Mapping]] = ..., replayed: bool = ...) -> None: ...

class GetStatsRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "scope", "bucket", "max_staleness")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    MAX_STALENESS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    scope: _stats_pb2.StatsScope
    bucket: _stats_pb2.TimeBucket
    max_staleness: _duration_pb2.Duration
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., scope: _Optional[_Union[_stats_pb2.StatsScope, str]] = ..., bucket: _Optional[_Union[_stats_pb2.TimeBucket, str]] = ..., max_staleness: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetStatsResponse(_message.Message):
    __slots__ = ("stats",)
    STATS_FIELD_NUMBER: _ClassVar[int]
    stats: _stats_pb2.Stats
    def __init__(self, stats: _Optional[_Union[_stats_pb2.Stats, _Mapping]] = ...) -> None: ...

class DeleteRecipientRequest(_message.Message):
    __slots__ = ("recipient_id",)
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    recipient_id: str
    def __init__(self, recipient_id: _Optional[str] = ...) -> None: ...

class DeleteRecipientResponse(_message.Message):
    __slots__ = ("conversation_count", "utterance_count")
    CONVERSATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    UTTERANCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    conversation_count: int
    utterance_count: int
    def __init__(self, conversation_count: _Optional[int] = ..., utterance_count: _Optional[int] = ...) -> None: ...

class ShareConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "ttl", "include_archive")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ARCHIVE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    ttl: _duration_pb2.Duration
    include_archive: bool
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., include_archive: bool = ...) -> None: ...

class ShareConversationResponse(_message.Message):
    __slots__ = ("token", "share", "conversation_id", "revision")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    token: str
    share: ConversationShare
    conversation_id: str
    revision: int
    def __init__(self, token: _Optional[str] = ..., share: _Optional[_Union[ConversationShare, _Mapping]] = ..., conversation_id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class ConversationShare(_message.Message):
    __slots__ = ("share_id", "create_time", "expire_time", "include_archive")
    SHARE_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ARCHIVE_FIELD_NUMBER: _ClassVar[int]
    share_id: str
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    include_archive: bool
    def __init__(self, share_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., include_archive: bool = ...) -> None: ...

class RevokeShareRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "share_id")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SHARE_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    share_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., share_id: _Optional[str] = ...) -> None: ...

class RevokeShareResponse(_message.Message):
    __slots__ = ("revision",)
    REVISION_FIELD_NUMBER: _ClassVar[int]
    revision: int
    def __init__(self, revision: _Optional[int] = ...) -> None: ...

class ReadSharedRequest(_message.Message):
    __slots__ = ("token", "page_size", "page_token")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    page_size: int
    page_token: str
    def __init__(self, token: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ReadSharedResponse(_message.Message):
    __slots__ = ("conversation", "utterances", "next_page_token", "expire_time")
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    UTTERANCES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    conversation: _conversation_pb2.Conversation
    utterances: _containers.RepeatedCompositeFieldContainer[_utterance_pb2.Utterance]
    next_page_token: str
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, conversation: _Optional[_Union[_conversation_pb2.Conversation, _Mapping]] = ..., utterances: _Optional[_Iterable[_Union[_utterance_pb2.Utterance, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class StateValue(_message.Message):
    __slots__ = ("name", "data", "json", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    data: bytes
    json: str
    version: int
    def __init__(self, name: _Optional[str] = ..., data: _Optional[bytes] = ..., json: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class StateChange(_message.Message):
    __slots__ = ("set", "delete", "expected_versions")
    class ExpectedVersionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    SET_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    set: _containers.RepeatedCompositeFieldContainer[StateValue]
    delete: _containers.RepeatedScalarFieldContainer[str]
    expected_versions: _containers.ScalarMap[str, int]
    def __init__(self, set: _Optional[_Iterable[_Union[StateValue, _Mapping]]] = ..., delete: _Optional[_Iterable[str]] = ..., expected_versions: _Optional[_Mapping[str, int]] = ...) -> None: ...

class GetStateRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "names", "scope")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    names: _containers.RepeatedScalarFieldContainer[str]
    scope: StateScope
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., names: _Optional[_Iterable[str]] = ..., scope: _Optional[_Union[StateScope, str]] = ...) -> None: ...

class GetStateResponse(_message.Message):
    __slots__ = ("conversation_id", "values", "revision")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    values: _containers.RepeatedCompositeFieldContainer[StateValue]
    revision: int
    def __init__(self, conversation_id: _Optional[str] = ..., values: _Optional[_Iterable[_Union[StateValue, _Mapping]]] = ..., revision: _Optional[int] = ...) -> None: ...

class UpdateStateRequest(_message.Message):
    __slots__ = ("conversation_id", "recipient_id", "change", "request_id", "expected_revision", "scope")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    recipient_id: str
    change: StateChange
    request_id: str
    expected_revision: int
    scope: StateScope
    def __init__(self, conversation_id: _Optional[str] = ..., recipient_id: _Optional[str] = ..., change: _Optional[_Union[StateChange, _Mapping]] = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ..., scope: _Optional[_Union[StateScope, str]] = ...) -> None: ...

class UpdateStateResponse(_message.Message):
    __slots__ = ("conversation_id", "revision", "replayed")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    revision: int
    replayed: bool
    def __init__(self, conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., replayed: bool = ...) -> None: ...
