"""Errors, with what the server says about them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

NAMES = {
    "CompactConversation": "compact",
    "CreateConversation": "create",
    "DeleteConversation": "delete",
    "EndConversation": "end",
    "GetState": "state",
    "ListMessages": "messages",
    "Memorize": "add",
    "UpdateState": "update_state",
    "after_sequence": "after",
    "at_sequence": "after",
    "before_sequence": "before",
    "conversation_id": "id",
    "conversation_id_prefix": "prefix",
    "end_time": "until",
    "focus_areas": "focus",
    "include_archive": "archive",
    "mask_tool_results_after_turns": "mask_results_after_turns",
    "message_ids": "ids",
    "messages_json": "messages",
    "new_conversation_id": "id",
    "newest_messages": "newest",
    "page_size": "limit",
    "recent_count": "recent",
    "recipient_id": "recipient",
    "replace_after": "sequence",
    "start_time": "since",
    "summarization_enabled": "summaries",
    "summary_placement": "summary",
    "to_recipient_id": "recipient",
    "token_budget": "budget",
    "token_limit": "tokens",
    "unanswered_calls": "unanswered",
    "utterance_ids": "ids",
    "wait_for_llm": "wait_for_model",
}
"""What this package calls calls and fields of the protocol that have other names there."""
_NAME = re.compile(rf"\b({'|'.join(NAMES)})\b|\b(?:selector|filter)\.(?=\w)")
_PLACE = re.compile(r"\bmessages\[(\d+)\]")


def in_python(text: str) -> str:
    """What the server says, with the names of this package's arguments."""
    return _NAME.sub(lambda found: NAMES.get(found[1], ""), text)


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A field because of which a request was refused."""

    field: str
    """The argument, or the part of it, such as `messages[2].role`."""
    description: str
    """What is wrong with it, and what is accepted."""


class UtterdError(Exception):
    """The base class of this package's own errors."""


class ServerError(UtterdError):
    """A call that did not succeed. The subclass says what kind of failure it is."""

    code: str
    """The gRPC status, such as `NOT_FOUND`."""
    reason: str
    """The server's stable reason, such as `STALE_REVISION`; empty if the call failed elsewhere."""
    fields: tuple[FieldProblem, ...]
    """The fields that are to blame."""
    metadata: Mapping[str, str]
    """Details of the reason, such as the `actual` revision."""
    retry_after: float | None
    """Seconds after which the server asks to be called again."""
    request_id: str
    """The request id of the attempt. To repeat the call with it does nothing twice. Empty for calls without one."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        reason: str = "",
        fields: tuple[FieldProblem, ...] = (),
        metadata: Mapping[str, str] = MappingProxyType({}),
        retry_after: float | None = None,
        request_id: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.fields = fields
        self.metadata = metadata
        self.retry_after = retry_after
        self.request_id = request_id

    def moved(self, by: int) -> ServerError:
        """This, with the places of messages `by` further behind: those in a whole of which only a part was sent."""

        def further(text: str) -> str:
            return _PLACE.sub(lambda found: f"messages[{int(found[1]) + by}]", text)

        self.args = (further(self.args[0]),)
        self.fields = tuple(FieldProblem(further(it.field), further(it.description)) for it in self.fields)
        return self

    def __str__(self) -> str:
        return f"{super().__str__()} ({self.reason or self.code})"


class InvalidRequestError(ServerError):
    """The request is wrong; `fields` says where. Nothing was changed."""


class NotFoundError(ServerError):
    """Something that the request names does not exist."""


class ExistsError(ServerError):
    """What the request would create already exists."""


class ConflictError(ServerError):
    """The conversation is not at the expected revision, or too many callers write to it at the same time."""


class PreconditionError(ServerError):
    """The conversation's state does not allow this, for example because it has ended."""


class ExhaustedError(ServerError):
    """A limit of the server is reached: a quota, its disk, or its load."""


class DeniedError(ServerError):
    """The caller is unknown, or is not allowed to do this."""


class UnavailableError(ServerError):
    """The server cannot be reached, or cannot answer at the moment."""


class DeadlineError(ServerError):
    """The call took longer than its deadline. It may have taken effect."""


class StartError(UtterdError):
    """A local server did not start."""


KINDS: Mapping[str, type[ServerError]] = MappingProxyType(
    {
        "INVALID_ARGUMENT": InvalidRequestError,
        "OUT_OF_RANGE": InvalidRequestError,
        "NOT_FOUND": NotFoundError,
        "ALREADY_EXISTS": ExistsError,
        "ABORTED": ConflictError,
        "FAILED_PRECONDITION": PreconditionError,
        "RESOURCE_EXHAUSTED": ExhaustedError,
        "PERMISSION_DENIED": DeniedError,
        "UNAUTHENTICATED": DeniedError,
        "UNAVAILABLE": UnavailableError,
        "DEADLINE_EXCEEDED": DeadlineError,
    }
)
"""The error of each gRPC status; any other is a plain `ServerError`."""
