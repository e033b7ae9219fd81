"""Calls as values: the request, the response, and when to retry.

An operation is a generator that yields calls and is sent their responses. So each operation is written once for
the blocking client and the asyncio client, which only make the calls and wait.
"""

from __future__ import annotations

import functools
import inspect
import logging
import random
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from utterd._channel import Endpoint
from utterd._errors import KINDS, FieldProblem, ServerError, in_python

FIRST_PAUSE = 0.1
"""Seconds before the second attempt, at most; each further pause can be twice as long."""
LONGEST_PAUSE = 2.0
"""Seconds before any attempt, at most."""
SEARCH = 2.5
"""Seconds for which a server is looked for that was never reached: it may never have been started."""
UNREACHED = ("failed to connect", "DNS resolution failed", "errors resolving")
"""How gRPC begins to say that no server was reached."""
PATIENCE = 3
"""Failed attempts before a log entry says that the call still waits for the server."""

logger = logging.getLogger("utterd")

T = TypeVar("T")
Response = TypeVar("Response", bound=Message)
Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Call:
    """A call to make."""

    method: str
    """Its path, such as `/utterd.v1.MemoryService/Memorize`."""
    request: Message
    response: type[Message]

    def write(self, request: Message) -> bytes:
        """Serializes the request."""
        return request.SerializeToString()

    def read(self, bytes: bytes) -> Message:
        """Parses a response."""
        return self.response.FromString(bytes)


Steps: TypeAlias = Generator[Call, Any, T]
"""An operation with a result `T`."""


def call(service: str, name: str, request: Message, response: type[Response]) -> Steps[Response]:
    """One call of `service`, which can be repeated without effect: it reads, or has a request id, or removes."""
    answer: Response = yield Call(f"/utterd.v1.{service}/{name}", request, response)
    return answer


def request_id(given: str | None) -> str:
    """The id of an attempt: the caller's, or a new one."""
    return given or uuid.uuid4().hex


class Attempts:
    """Decides after each failed attempt of one call whether to retry: until the deadline, for what may pass."""

    def __init__(self, call: Call, timeout: float | None, endpoint: Endpoint) -> None:
        self._call = call
        self._begun = time.monotonic()
        self._deadline = None if timeout is None else self._begun + timeout
        self._endpoint = endpoint
        self._failed = 0

    def time_left(self) -> float | None:
        """Seconds that the next attempt may take."""
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)

    def pause_after(self, failure: grpc.RpcError) -> float:
        """Seconds to wait before the next attempt; raises the failure's error if there is none."""
        error = error_of(failure, self._endpoint.target, getattr(self._call.request, "request_id", ""))
        # A deadline also passes while no server is found.
        self._endpoint.contact.made |= error.code != "DEADLINE_EXCEEDED" and not _is_unreached(failure)
        self._failed += 1
        longest = min(FIRST_PAUSE * 2 ** min(self._failed - 1, 10), LONGEST_PAUSE)
        pause = random.uniform(0, longest) + (error.retry_after or 0.0)
        left = self.time_left()
        if left is not None and not self._endpoint.contact.made:
            left = min(left, self._begun + SEARCH - time.monotonic())
        if (left is not None and pause >= left) or not self._may_pass(error):
            raise error from failure
        if self._failed == PATIENCE and error.code == "UNAVAILABLE":
            limit = "" if left is None else f" for up to {left:.0f} seconds"
            logger.warning("%s; trying again%s", error, limit)
        return pause

    def _may_pass(self, error: ServerError) -> bool:
        if error.code == "UNAVAILABLE":
            return True
        if error.code == "ABORTED":
            # A caller that pinned a revision, or versions of the state, must look at the current state first.
            return error.reason != "STALE_STATE" and not _pinned(self._call.request)
        # Rejected before it was processed, with the time to try again.
        return error.code == "RESOURCE_EXHAUSTED" and error.retry_after is not None


def _pinned(request: Message) -> bool:
    return "expected_revision" in request.DESCRIPTOR.fields_by_name and request.HasField("expected_revision")


def error_of(failure: grpc.RpcError, target: str, request_id: str = "") -> ServerError:
    """The error for a failed call to a server."""
    code = failure.code().name
    kind = KINDS.get(code, ServerError)
    details = {type(detail): detail for detail in _details(failure)}
    info = details.get(error_details_pb2.ErrorInfo, error_details_pb2.ErrorInfo())
    bad = details.get(error_details_pb2.BadRequest, error_details_pb2.BadRequest())
    retry = details.get(error_details_pb2.RetryInfo)
    return kind(
        _message(failure, info, target),
        code=code,
        reason=info.reason,
        fields=tuple(FieldProblem(in_python(it.field), in_python(it.description)) for it in bad.field_violations),
        metadata=dict(info.metadata),
        retry_after=None if retry is None else _seconds(retry.retry_delay),
        request_id=request_id,
    )


def _message(failure: grpc.RpcError, info: error_details_pb2.ErrorInfo, target: str) -> str:
    text = in_python(failure.details() or failure.code().name)
    if info.reason == "CONTENT_TOO_LARGE":
        return f"{text}; connect(oversize='cut') cuts texts"
    if _is_unreached(failure) and "SSL" not in text:
        return f"there is no server at {target}: start it with `utterd serve` ({text})"
    return text


def _is_unreached(failure: grpc.RpcError) -> bool:
    return (failure.details() or "").startswith(UNREACHED)


def _seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / 1e9


def _details(failure: grpc.RpcError) -> list[Any]:
    """The known details of a rich status."""
    metadata: Any = failure.trailing_metadata() or ()
    # Those of asyncio are a mapping in newer versions of gRPC only; all of them are pairs.
    packed = next((value for key, value in tuple(metadata) if key == "grpc-status-details-bin"), None)
    if packed is None:
        return []
    try:
        status = status_pb2.Status.FromString(packed)
    except DecodeError:
        return []
    kinds = (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo)
    known = []
    for detail in status.details:
        for kind in kinds:
            message = kind()
            if detail.Is(kind.DESCRIPTOR) and detail.Unpack(message):
                known.append(message)
    return known


def named_as(operation: Callable[..., Any], method: Method, *, of_address: bool) -> Method:
    """`method`, with the name, documentation and parameters of the operation that it runs.

    `of_address`: the operation's first parameter is an address, which the object provides.
    """
    functools.update_wrapper(method, operation)
    signature = inspect.signature(operation)
    parameters = list(signature.parameters.values())[of_address:]
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    positional = [it for it in parameters if it.kind is not inspect.Parameter.POSITIONAL_ONLY]
    result = str(signature.return_annotation).removeprefix("Steps[").removesuffix("]")
    method.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[itself, *positional], return_annotation=result
    )
    return method
