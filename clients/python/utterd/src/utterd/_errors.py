"""What goes wrong, with what the server says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A field that a request was refused for."""

    field: str
    """The field of the request, such as `messages_json[2].role`."""
    description: str
    """What is wrong with it, and what is accepted."""


class UtterdError(Exception):
    """The base of everything that this package raises by itself."""


class ServerError(UtterdError):
    """A call that did not succeed. The subclass says what kind of failure it is."""

    code: str
    """The gRPC status, such as `NOT_FOUND`."""
    reason: str
    """The server's stable reason, such as `STALE_REVISION`; empty when it was not the server that failed the call."""
    fields: tuple[FieldProblem, ...]
    """The fields that are to blame."""
    metadata: Mapping[str, str]
    """What the reason comes with, such as the `actual` revision."""
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

    def __str__(self) -> str:
        return f"{super().__str__()} ({self.reason or self.code})"


class InvalidRequestError(ServerError):
    """The request is wrong; `fields` say where. Nothing was changed."""


class NotFoundError(ServerError):
    """What the request names does not exist."""


class ExistsError(ServerError):
    """What the request would make exists already."""


class ConflictError(ServerError):
    """The conversation is not at the revision that was expected, or too many write to it at once."""


class PreconditionError(ServerError):
    """The conversation is in no state for this, such as one that has ended."""


class ExhaustedError(ServerError):
    """A limit of the server is reached: a quota, its disk, or what it can serve at a time."""


class DeniedError(ServerError):
    """The caller is not known, or may not do this."""


class UnavailableError(ServerError):
    """The server cannot be reached, or cannot answer now."""


class DeadlineError(ServerError):
    """The call took longer than its deadline. It may have taken effect."""


class StartError(UtterdError):
    """A server of one's own did not start."""


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
