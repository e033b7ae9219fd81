"""The arguments and results of calls: plain immutable values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
"""The speaker of a message."""
Format: TypeAlias = Literal["openai", "responses", "anthropic"]
"""A provider's format of messages: OpenAI's chat, items of OpenAI's Responses, or Anthropic's messages."""
Status: TypeAlias = Literal["active", "awaiting_answer", "idle", "closed"]
"""A conversation's status."""
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
    """Empty if the recipient has no conversation; the limits are then the server's defaults."""
    recipient_id: str
    revision: int
    status: Status | None
    utterances: int
    """Utterances in the window."""
    tokens: int
    """Tokens of the window."""
    turns: int
    archived: int
    """Utterances that left the window and are still stored."""
    max_utterances: int | None
    """None means unlimited, here and for the other maxima."""
    max_tokens: int | None
    max_turns: int | None
    available_utterances: int | None
    available_tokens: int | None
    over_limit: bool
    """Whether the window exceeds a limit because what is in it cannot leave."""
    summary_tokens: int
    total_tokens: int
    """Tokens of the window and the summary."""
    compaction_advised: bool
    """Whether the window has become long enough to be compacted."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Points to an utterance, without its text."""

    utterance_id: str
    """Empty for references far down a long list."""
    sequence: int
    role: Role | None
    turn: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Irregularity:
    """Something irregular that was accepted."""

    index: int
    """The utterance's place in the request, from 0."""
    sequence: int
    description: str


@dataclass(frozen=True, slots=True)
class Added:
    """The result of adding messages."""

    conversation_id: str
    revision: int
    memorized: tuple[Reference, ...]
    """The utterances that were stored, in order: a message with several tool results is several utterances."""
    evicted: tuple[Reference, ...]
    """What left the window to make room; it is in the archive and in the summary."""
    removed: tuple[Reference, ...]
    """What they replaced."""
    capacity: Capacity
    started: bool
    """Whether the conversation started with them."""
    replayed: bool
    """Whether an earlier call with the same request id did this."""
    irregularities: tuple[Irregularity, ...]
    ended_conversation_id: str | None
    """The recipient's previous conversation, which had been idle and ended so that this one could start."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change to the values of a conversation or a recipient. Values that are not named stay."""

    set: Mapping[str, Any] = field(default_factory=dict)
    """Values to set, by name: bytes, or what JSON can represent."""
    delete: Sequence[str] = ()
    """Names to delete; missing ones are ignored."""
    expected_versions: Mapping[str, int] = field(default_factory=dict)
    """`ConflictError` if a named value is at another version; 0 means that it must not exist."""


@dataclass(frozen=True, slots=True)
class StateValue:
    """A value of a conversation or a recipient."""

    value: Any
    """Bytes, or a value parsed from JSON."""
    version: int
    """The revision, of the conversation or the recipient's values, at which it was written."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as it is stored."""

    message: dict[str, Any]
    json: str
    """The message as text: byte for byte as it was given, unless it has been edited since."""
    format: Format
    utterance_id: str
    """The id of its first utterance: the caller's, or else the server's."""
    sequence: int
    """The sequence of its first utterance."""
    utterance_count: int
    """How many utterances it is: more than one if it has several tool results."""
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
    """The `expected_revision` for a change that builds on these messages; 0 if nothing is stored yet."""
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
    """Ranks the matches of one search."""
    relevance: float
    """How much of the prompt it covers, from 0 to 1; 0 without a prompt."""
    terms: tuple[str, ...]
    """The words of the prompt that it contains."""
    neighbors: tuple[Utterance, ...]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, or would be."""

    conversation_id: str
    revision: int
    forgotten: tuple[Reference, ...]
    messages: tuple[StoredMessage, ...]
    """The messages themselves, if requested."""
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
    """The model that wrote it; empty if its sentences are quoted from what was said."""
    warnings: tuple[str, ...] = ()
    """Why the text is empty, if it is."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did or would do, or what undoing one did."""

    conversation_id: str
    revision: int
    utterances: int
    """Utterances that left the window, or returned to it; 0 if nothing was left to compact."""
    tokens_before: int
    """Tokens of window and summary together."""
    tokens_after: int
    summary: str
    capacity: Capacity


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A conversation as the server records it."""

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
    """Whether messages addressed to its recipient without an id go here."""
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
    """What to recall from the rest of the conversation, or of the recipient's conversations."""

    prompt: str
    limit: int | None = None
    """The most matches, 1 to 50; by default as many as fit."""
    scope: Literal["conversation", "recipient"] | None = None
    """By default a conversation that was addressed by its id, else all of the recipient's."""
    max_percent: int | None = None
    """The largest share of the budget, in per cent; 50 by default."""
    min_relevance: float | None = None
    """The least relevance of a match, 0 to 1; 0.1 by default."""


@dataclass(frozen=True, slots=True)
class Omission:
    """Utterances that a context leaves out for one reason."""

    reason: str
    """Such as `evicted` (the summary covers them), `budget`, `unanswered_call`."""
    sequences: tuple[range, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A message of a context, and what it shows."""

    message: dict[str, Any]
    """The context's message; empty for a stored message without words, which the context itself leaves out."""
    stored: StoredMessage | None
    """The stored message; None for a summary, a placeholder, what is recalled, a message in another format, and what a
    context shows from before the messages that it leaves out."""
    whole: bool
    """Whether `stored` can go to the model in the place of `message`, because all of it is shown, unchanged."""
    cut: bool = False
    """Whether `message` is only a part of what is stored, because all of it is too long or too large."""

    @property
    def said(self) -> dict[str, Any]:
        """What goes to the model: the stored message if it is shown whole, else the context's."""
        return self.stored.message if self.whole and self.stored else self.message


class Context(list[dict[str, Any]]):
    """What goes to a model: a list of messages, ready to be sent, with facts about it."""

    conversation_id: str
    """Empty if the recipient has no conversation."""
    revision: int
    system: list[dict[str, Any]]
    """With Anthropic's format: the request's `system`; empty if there is none."""
    text: str
    """With the format `text`: the text. There are then no messages."""
    tokens: int
    """The total tokens, never more than the budget."""
    budget: int | None
    sequences: tuple[int, ...]
    """The utterances that it was built from, in the order of the messages."""
    whole: Mapping[int, int]
    """Which message shows an utterance unchanged and in its place: its index, by the utterance's sequence."""
    shown: tuple[Shown, ...]
    """With `stored_as`: the messages, with the stored ones that they show."""
    omitted: tuple[Omission, ...]
    stable_messages: int
    """How many messages at the head stay the same while messages are only added: a cache mark can follow them."""
    uncovered: int
    """Utterances that are left out and not covered by a summary."""
    warnings: tuple[str, ...]
    media_left_out: bool
    """Whether images, files or thinking of older messages are left out, because together they are too large."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A history that was made fit for a model."""

    messages: list[dict[str, Any]]
    system: str
    """With Anthropic's format: the request's `system`."""
    tokens: int
    summary: str
    """The summary in `messages` or `system`, by itself; empty if there is none."""
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
"""A message in a provider's format: a mapping, or an object of a provider's package (with `model_dump`)."""
Messages: TypeAlias = Message | Sequence[Message]
"""One message or several."""
