"""Which conversation or recipient an operation is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from utterd import _model as model
from utterd._oversize import Oversize
from utterd._text import whole

MEMORY, CONVERSATIONS = "MemoryService", "ConversationService"
PAGE = 1000
"""The most items on a page."""


@dataclass(slots=True)
class Start:
    """What a conversation starts with, if its first message starts it."""

    policy: model.Policy | None
    labels: Mapping[str, str] = field(default_factory=dict)
    exists: bool = False
    """Whether the conversation is known to exist."""
    kept: bool = False
    """Whether it is known that everything stays stored."""


@dataclass(frozen=True, slots=True)
class Address:
    """Which conversation: one by its id; or else a recipient's active one, by default that of `default`."""

    conversation_id: str
    recipient_id: str
    of_recipient: bool = False
    """Whether the recipient itself is meant, not a conversation."""
    start: Start | None = None
    oversize: Oversize | None = None

    def found(self, exists: bool = True) -> None:
        """Notes whether the conversation exists."""
        if self.start is not None:
            self.start.exists = exists
            self.start.kept = self.start.kept and exists


def address(
    id: str | None,
    recipient: str | None,
    policy: model.Policy | None,
    labels: Mapping[str, str] | None,
    oversize: Oversize | None,
) -> Address:
    """The address of a conversation; ValueError for limits or labels without an id."""
    wanted = policy is not None or bool(labels)
    if wanted and not id:
        raise ValueError("policy, labels: of a conversation without an id; accepted: with an id, or create(…)")
    id, recipient = whole(id or ""), whole(recipient or "")
    return Address(id, recipient, start=Start(policy, labels or {}) if wanted else None, oversize=oversize)


class Addressed:
    """Something with an address, such as a conversation."""

    address: Address

    @property
    def id(self) -> str | None:
        """Its id; None for a recipient's active one."""
        return self.address.conversation_id or None

    @property
    def recipient(self) -> str | None:
        """Its recipient, if one was given."""
        return self.address.recipient_id or None
