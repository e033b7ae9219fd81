"""Errors, with what the server says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A field because of which a request was refused."""

    field: str
    """The field of the request, such as `messages_json[2].role`."""
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
