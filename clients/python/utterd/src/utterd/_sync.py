"""The blocking client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

import grpc

from utterd import _adding, _contexts, _conversations, _messages, _state
from utterd import _model as model
from utterd._address import Address, Addressed, address
from utterd._calls import Attempts, Call, Steps, named_as
from utterd._channel import Endpoint, Owned, Tls, endpoint
from utterd._errors import ServerError
from utterd._oversize import Oversize
from utterd._text import tolerant

P = ParamSpec("P")
T = TypeVar("T")


def connect(
    address: str | None = None,
    *,
    token: str | None = None,
    namespace: str | None = None,
    tls: Tls | None = None,
    timeout: float | None = 30.0,
    oversize: Oversize | None = None,
) -> Client:
    """A client of the server at an address: `HOST:PORT`, `https://…` or `unix:PATH`. It connects on its first call.

    - `address`: by default the variable `UTTERD_SERVER`, or else `127.0.0.1:50051`.
    - `token`: the credential; by default from `UTTERD_TOKEN`, or the file `UTTERD_TOKEN_FILE`.
    - `namespace`: the namespace to use, if the credential is an admin's.
    - `tls`: the authority and the certificate, for `https://…`.
    - `timeout`: seconds that a call may take with all its attempts; with None, it waits for the server endlessly.
    - `oversize`: whether a text that is larger than the server accepts is refused, or cut to its head and tail; by
      default, what adapters for frameworks store is cut, and the rest is refused.
    """
    return Client(endpoint(address, token, namespace, tls, oversize), timeout)


def _of_client(operation: Callable[P, Steps[T]]) -> Callable[Concatenate[Client, P], T]:
    steps = tolerant(operation)

    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.run(steps(*args, **kwargs))

    return named_as(operation, method, of_address=False)


def _of_address(
    operation: Callable[Concatenate[Address, P], Steps[T]],
) -> Callable[Concatenate[_Addressed, P], T]:
    steps = tolerant(operation)

    def method(self: _Addressed, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.client.run(steps(self.address, *args, **kwargs))

    return named_as(operation, method, of_address=True)


class Client:
    """A connection to a server. Several threads can use it at the same time."""

    def __init__(
        self,
        endpoint: Endpoint,
        timeout: float | None,
        channel: grpc.Channel | None = None,
        owned: Owned | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._timeout = timeout
        self._channel = channel or _channel(endpoint)
        self._owned = owned

    @property
    def address(self) -> str:
        """The server's address."""
        return self._endpoint.target

    def with_timeout(self, timeout: float | None) -> Client:
        """The same connection with another timeout."""
        return Client(self._endpoint, timeout, self._channel)

    def conversation(
        self,
        id: str | None = None,
        *,
        recipient: str | None = None,
        policy: model.Policy | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Conversation:
        """A conversation: the one with an id, or a recipient's active one; by default that of the recipient `default`.

        This makes no call: a conversation starts with the first message that is added. `policy` and `labels` are for
        one with an id that starts so; if it exists, they change nothing.
        """
        return Conversation(self, address(id, recipient, policy, labels, self._endpoint.oversize))

    def recipient(self, id: str = "default") -> Recipient:
        """A recipient, with values of its own. This makes no call."""
        return Recipient(self, id)

    def create(
        self,
        id: str | None = None,
        *,
        recipient: str | None = None,
        title: str = "",
        policy: model.Policy | None = None,
        labels: Mapping[str, str] | None = None,
        encoding: str = "",
        exist_ok: bool = False,
    ) -> Conversation:
        """Creates a conversation with limits of its own; `ExistsError` if the id is taken, unless `exist_ok`."""
        made = tolerant(_conversations.create)(
            Address(id or "", recipient or ""),
            title=title,
            policy=policy,
            labels=labels,
            encoding=encoding,
            exist_ok=exist_ok,
        )
        return self.conversation(self.run(made), recipient=recipient)

    conversations = _of_client(_conversations.conversation_records)
    delete_recipient = _of_client(_conversations.delete_recipient)
    prepare = _of_client(_contexts.prepare)
    count_tokens = _of_client(_contexts.count_tokens)

    def close(self) -> None:
        """Closes the connection, and ends the server if it is a local one."""
        self._channel.close()
        if self._owned is not None:
            self._owned.close()

    def run(self, steps: Steps[T]) -> T:
        """Makes the calls of an operation, and waits for them."""
        try:
            call = next(steps)
            while True:
                try:
                    answer = self._answer(call)
                except ServerError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    def _answer(self, call: Call) -> object:
        method = self._channel.unary_unary(call.method, call.write, call.read)
        attempts = Attempts(call, self._timeout, self._endpoint)
        while True:
            try:
                answer = method(call.request, timeout=attempts.time_left(), metadata=self._endpoint.metadata)
            except grpc.RpcError as failure:
                time.sleep(attempts.pause_after(failure))
            else:
                self._endpoint.contact.made = True
                return answer

    def stream(self, call: Call) -> Iterator[object]:
        """The responses of a stream, which is reopened if the connection is lost, as long as a call is retried."""
        method = self._channel.unary_stream(call.method, call.write, call.read)
        attempts: Attempts | None = None
        while True:
            responses = method(call.request, metadata=self._endpoint.metadata)
            try:
                for response in responses:
                    attempts, self._endpoint.contact.made = None, True
                    yield response
                return
            except grpc.RpcError as failure:
                # Its deadline begins when the stream is lost.
                attempts = attempts or Attempts(call, self._timeout, self._endpoint)
                time.sleep(attempts.pause_after(failure))
            finally:
                responses.cancel()  # type: ignore[no-untyped-call]

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<utterd.Client of {self._endpoint.target}>"


def _channel(endpoint: Endpoint) -> grpc.Channel:
    if endpoint.credentials is None:
        return grpc.insecure_channel(endpoint.target, options=endpoint.options)
    return grpc.secure_channel(endpoint.target, endpoint.credentials, options=endpoint.options)


class _Addressed(Addressed):
    """Something at an address."""

    client: Client


class Conversation(_Addressed):
    """A conversation of a server. It holds only an address; several objects can refer to the same conversation."""

    def __init__(self, client: Client, address: Address) -> None:
        self.client = client
        self.address = address

    def with_timeout(self, timeout: float | None) -> Conversation:
        """The same conversation with another timeout."""
        return Conversation(self.client.with_timeout(timeout), self.address)

    add = _of_address(_adding.add)
    messages = _of_address(_messages.messages)
    stored = _of_address(_messages.stored)
    pop = _of_address(_messages.pop)
    store = _of_address(_adding.store)
    replace = _of_address(_adding.replace)
    replace_after = _of_address(_adding.replace_after)
    clear = _of_address(_messages.clear)
    context = _of_address(_contexts.context)
    filled = _of_address(_contexts.filled)
    remember = _of_address(_messages.remember)
    forget = _of_address(_messages.forget)
    restore = _of_address(_messages.restore)
    summarize = _of_address(_messages.summarize)
    summary = _of_address(_messages.summary)
    capacity = _of_address(_messages.capacity)
    edit = _of_address(_conversations.edit)
    compact = _of_address(_conversations.compact)
    undo_compaction = _of_address(_conversations.undo_compaction)
    state = _of_address(_state.state)
    update_state = _of_address(_state.update_state)
    record = _of_address(_conversations.record)
    update = _of_address(_conversations.update)
    end = _of_address(_conversations.end)
    delete = _of_address(_conversations.delete)

    def fork(
        self,
        *,
        after: int | None = None,
        id: str | None = None,
        recipient: str | None = None,
        title: str = "",
        expected_revision: int | None = None,
    ) -> Conversation:
        """Starts another conversation with what was said in this one.

        `after` is the last sequence that they share, by default the newest. Nothing is copied, and neither sees what is
        said in the other from then on.
        """
        made = tolerant(_conversations.fork)(
            self.address,
            after=after,
            id=id or "",
            recipient=recipient or "",
            title=title,
            expected_revision=expected_revision,
        )
        return self.client.conversation(self.client.run(made), recipient=recipient)

    def watch(self) -> Iterator[model.Capacity]:
        """How full the window is: now, and after each change, endlessly."""
        for response in self.client.stream(_messages.watched(self.address)):
            yield _messages.capacity_of(response)

    def __repr__(self) -> str:
        return f"<utterd.Conversation {self.id or 'of ' + (self.recipient or 'default')}>"


class Recipient(_Addressed):
    """A recipient of conversations. It has values of its own, which outlive its conversations."""

    def __init__(self, client: Client, id: str) -> None:
        self.client = client
        self.address = Address("", id, of_recipient=True)

    @property
    def id(self) -> str:
        """Its id."""
        return self.address.recipient_id

    state = _of_address(_state.state)
    update_state = _of_address(_state.update_state)

    def __repr__(self) -> str:
        return f"<utterd.Recipient {self.id}>"
