"""What calls take and come to: plain values that do not change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
"""Who speaks."""
Format: TypeAlias = Literal["openai", "responses", "anthropic"]
"""A provider's format of messages: OpenAI's chat, items of OpenAI's Responses, or Anthropic's messages."""
Status: TypeAlias = Literal["active", "awaiting_answer", "idle", "closed"]
"""What a conversation is doing."""
Scope: TypeAlias = Literal["window", "conversation", "recipient"]
"""What a search covers: the window, the conversation with its archive, or all conversations of its recipient."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A conversation's limits.

    To a call, None leaves a limit as it is and 0 means unlimited. From a call, None means unlimited.
    """

    preset: Literal["rolling", "turns", "session"] | None = None
    """Resets every limit to the preset's before the others apply. Never from a call."""
    max_utterances: int | None = None
    keep_utterances: int | None = None
    max_tokens: int | None = None
    keep_tokens: int | None = None
    max_turns: int | None = None
    keep_turns: int | None = None
    summaries: bool | None = None
    """Whether what leaves the window is summarised."""
    summary_token_limit: int | None = None
    archive_limit: int | None = None
    """Utterances that are kept outside the window; here 0 keeps none."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """How full a window is."""

    conversation_id: str
    """Empty where a recipient has no conversation; the limits are the server's defaults then."""
    recipient_id: str
    revision: int
    status: Status | None
    utterances: int
    """Slots of the window that are taken."""
    tokens: int
    """Tokens of the window."""
    turns: int
    archived: int
    """Utterances that left the window and are still stored."""
    max_utterances: int | None
    """None: unlimited; so it is of the other maxima."""
    max_tokens: int | None
    max_turns: int | None
    available_utterances: int | None
    available_tokens: int | None
    over_limit: bool
    """Whether what may not leave the window is more than it should hold."""
    summary_tokens: int
    total_tokens: int
    """Tokens of the window and the summary."""
    compaction_advised: bool
    """Whether the window has grown so long that it should be compacted."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Points to an utterance, without its text."""

    utterance_id: str
    """Empty of a reference far down a long list."""
    sequence: int
    role: Role | None
    turn: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Irregularity:
    """Something that was let pass."""

    index: int
    """The utterance's place in the request, from 0."""
    sequence: int
    description: str


@dataclass(frozen=True, slots=True)
class Added:
    """What became of messages that were added."""

    conversation_id: str
    revision: int
    memorized: tuple[Reference, ...]
    """The utterances that were stored, in order: a message that holds results of tools is several."""
    evicted: tuple[Reference, ...]
    """What left the window for them; it is in the archive and in the summary."""
    removed: tuple[Reference, ...]
    """What they replaced."""
    capacity: Capacity
    started: bool
    """Whether the conversation started with them."""
    replayed: bool
    """Whether an earlier call with the same request id did this."""
    irregularities: tuple[Irregularity, ...]
    ended_conversation_id: str | None
    """The recipient's conversation that had been left idle, and ended for this one to start."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """What to change of the values that are kept beside a conversation, or of a recipient. What is not named stays."""

    set: Mapping[str, Any] = field(default_factory=dict)
    """Values to set, by name: bytes, or what JSON can hold."""
    delete: Sequence[str] = ()
    """Names to delete; one that there is not is passed over."""
    expected_versions: Mapping[str, int] = field(default_factory=dict)
    """`ConflictError` when a named value is at another version; 0 when there must be none."""


@dataclass(frozen=True, slots=True)
class StateValue:
    """A value that is kept beside a conversation, or of a recipient."""

    value: Any
    """Bytes, or what was read of JSON."""
    version: int
    """The revision, of the conversation or of the recipient's values, that wrote it."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as it is stored."""

    message: dict[str, Any]
    json: str
    """The message as text: byte for byte as it came, unless it was edited since."""
    format: Format
    utterance_id: str
    """The id of its first utterance: the one that it was given, or the server's."""
    sequence: int
    """The sequence of its first utterance."""
    utterance_count: int
    """How many utterances it is: more than one when it holds several results of tools."""
    role: Role
    turn: int
    time: datetime
    archived: bool

    @property
    def last_sequence(self) -> int:
        """The sequence of its last utterance."""
        return self.sequence + self.utterance_count - 1


@dataclass(frozen=True, slots=True)
class Stored:
    """Messages, and the revision of the conversation at which they were read."""

    conversation_id: str
    """Empty for a recipient without a conversation."""
    revision: int
    """What a change that builds on these messages names as `expected_revision`; 0 when nothing is stored yet."""
    messages: tuple[StoredMessage, ...]


@dataclass(frozen=True, slots=True)
class Utterance:
    """An utterance as it is stored."""

    utterance_id: str
    sequence: int
    role: Role
    name: str
    content: str
    turn: int
    time: datetime
    tokens: int
    pinned: bool
    tool_call_id: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Match:
    """An utterance that was found."""

    utterance: Utterance
    conversation_id: str
    score: float
    """Orders the matches of one search."""
    relevance: float
    """How much of the prompt it covers, from 0 to 1; 0 without a prompt."""
    terms: tuple[str, ...]
    """The words of the prompt that it holds."""
    neighbors: tuple[Utterance, ...]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, or would be."""

    conversation_id: str
    revision: int
    forgotten: tuple[Reference, ...]
    messages: tuple[StoredMessage, ...]
    """The messages themselves, where they were asked for."""
    capacity: Capacity
    understood_as: str
    """The instructions as they were understood, in their short form."""
    replayed: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Restored:
    """What was brought back."""

    conversation_id: str
    revision: int
    restored: tuple[Reference, ...]
    evicted: tuple[Reference, ...]
    capacity: Capacity
    replayed: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary."""

    text: str
    tokens: int
    """Tokens of the text, exactly."""
    conversation_id: str
    model: str
    """The model that told it; empty when its sentences are taken from what was said."""
    warnings: tuple[str, ...] = ()
    """Why the text is empty, when it is."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did, or would do, or what undoing it did."""

    conversation_id: str
    revision: int
    utterances: int
    """Utterances that left the window, or came back."""
    tokens_before: int
    """Tokens of window and summary together."""
    tokens_after: int
    summary: str
    capacity: Capacity


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A conversation as the server knows it."""

    conversation_id: str
    recipient_id: str
    title: str
    start_time: datetime
    update_time: datetime
    end_time: datetime | None
    ended_reason: str
    closing_summary: str
    """Once it has ended: what it was about and what came of it, in 2 to 3 sentences."""
    status: Status | None
    active: bool
    """Whether a message to its recipient alone goes here."""
    encoding: str
    policy: Policy
    labels: Mapping[str, str]
    revision: int
    utterances: int
    """Utterances stored, in the window and the archive."""
    forked_from: str | None
    """The conversation that it was forked from."""


@dataclass(frozen=True, slots=True)
class Recall:
    """What to recall of what a context does not hold."""

    prompt: str
    limit: int | None = None
    """Matches at most, 1 to 50; as many as fit by default."""
    scope: Literal["conversation", "recipient"] | None = None
    max_percent: int | None = None
    """The most of the budget, in per cent; 50 by default."""


@dataclass(frozen=True, slots=True)
class Omission:
    """Utterances that a context leaves out for one reason."""

    reason: str
    """Such as `evicted` (the summary stands for them), `budget`, `unanswered_call`."""
    sequences: tuple[range, ...]


class Context(list[dict[str, Any]]):
    """What goes to a model: a list of messages, ready to be sent, and what is to be known of it."""

    conversation_id: str
    """Empty where the recipient has no conversation."""
    revision: int
    system: list[dict[str, Any]]
    """Of Anthropic's format: the request's `system`; empty when there is none."""
    text: str
    """Of the format `text`: the text. There are no messages then."""
    tokens: int
    """Tokens of it all, never more than the budget."""
    budget: int | None
    sequences: tuple[int, ...]
    """The utterances that it is made of, in the order of the messages."""
    omitted: tuple[Omission, ...]
    stable_messages: int
    """So many messages at the head stay the same while messages are only added: a cache mark may stand behind them."""
    uncovered: int
    """Utterances left out of which no summary tells."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A history that was made fit for a model."""

    messages: list[dict[str, Any]]
    system: str
    """Of Anthropic's format: the request's `system`."""
    tokens: int
    dropped: tuple[str, ...]
    """What was left out, and why."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts of texts."""

    counts: tuple[int, ...]
    encoding: str

    def __int__(self) -> int:
        return sum(self.counts)


Message: TypeAlias = Mapping[str, Any] | Any
"""A message as a provider's API writes it: a mapping, or an object of a provider's package (with `model_dump`)."""
Messages: TypeAlias = Message | Sequence[Message]
"""One message or several."""
