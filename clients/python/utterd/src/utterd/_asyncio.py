"""The asyncio client: the same calls as the blocking one, each a coroutine."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import grpc
import grpc.aio

from utterd import _adding, _contexts, _conversations, _messages, _state
from utterd import _model as model
from utterd._address import Address, Addressed, address
from utterd._calls import Attempts, Call, Steps, named_as
from utterd._channel import Endpoint, Owned, Tls, endpoint
from utterd._errors import ServerError, UtterdError
from utterd._oversize import Oversize
from utterd._text import tolerant

P = ParamSpec("P")
T = TypeVar("T")


def connect_async(
    address: str | None = None,
    *,
    token: str | None = None,
    namespace: str | None = None,
    tls: Tls | None = None,
    timeout: float | None = 30.0,
    oversize: Oversize | None = None,
) -> AsyncClient:
    """An asyncio client of the server at an address. The arguments are those of `connect`."""
    return AsyncClient(endpoint(address, token, namespace, tls, oversize), timeout)


def _of_client(
    operation: Callable[P, Steps[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    steps = tolerant(operation)

    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.run(steps(*args, **kwargs))

    return named_as(operation, method, of_address=False)


def _of_address(
    operation: Callable[Concatenate[Address, P], Steps[T]],
) -> Callable[Concatenate[_AsyncAddressed, P], Coroutine[Any, Any, T]]:
    steps = tolerant(operation)

    async def method(self: _AsyncAddressed, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.client.run(steps(self.address, *args, **kwargs))

    return named_as(operation, method, of_address=True)


class Channels:
    """The channels of a client: one for each event loop that uses it, as gRPC requires."""

    process: int | None = None
    """The process in which gRPC serves event loops: with a thread that a forked process does not have."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, grpc.aio.Channel] = (
            weakref.WeakKeyDictionary()
        )

    def here(self) -> grpc.aio.Channel:
        """The channel of the running loop; UtterdError in a process that gRPC cannot serve."""
        Channels.process = Channels.process or os.getpid()
        if Channels.process != os.getpid():
            raise UtterdError(
                "this process was forked from one that had used an asyncio client, so that none works in it: "
                "fork before the first call, or start the process with `spawn`"
            )
        loop = asyncio.get_running_loop()
        if loop not in self._of_loops:
            self._of_loops[loop] = self._open()
        return self._of_loops[loop]

    def _open(self) -> grpc.aio.Channel:
        to = self._endpoint
        if to.credentials is None:
            return grpc.aio.insecure_channel(to.target, options=to.options)
        return grpc.aio.secure_channel(to.target, to.credentials, options=to.options)

    async def close(self) -> None:
        """Closes the channel of the running loop. The others ended with their loops."""
        channel = self._of_loops.pop(asyncio.get_running_loop(), None)
        if channel is not None:
            await channel.close(None)


class AsyncClient:
    """A connection to a server, for asyncio."""

    def __init__(
        self,
        endpoint: Endpoint,
        timeout: float | None,
        channels: Channels | None = None,
        owned: Owned | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._timeout = timeout
        self._channels = channels or Channels(endpoint)
        self._owned = owned

    @property
    def address(self) -> str:
        """The server's address."""
        return self._endpoint.target

    def with_timeout(self, timeout: float | None) -> AsyncClient:
        """The same connection with another timeout."""
        return AsyncClient(self._endpoint, timeout, self._channels)

    def conversation(
        self,
        id: str | None = None,
        *,
        recipient: str | None = None,
        policy: model.Policy | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> AsyncConversation:
        """A conversation: the one with an id, or a recipient's active one; by default that of the recipient `default`.

        This makes no call: a conversation starts with the first message that is added. `policy` and `labels` are for
        one with an id that starts so; if it exists, they change nothing.
        """
        return AsyncConversation(self, address(id, recipient, policy, labels, self._endpoint.oversize))

    def recipient(self, id: str = "default") -> AsyncRecipient:
        """A recipient, with values of its own. This makes no call."""
        return AsyncRecipient(self, id)

    async def create(
        self,
        id: str | None = None,
        *,
        recipient: str | None = None,
        title: str = "",
        policy: model.Policy | None = None,
        labels: Mapping[str, str] | None = None,
        encoding: str = "",
        exist_ok: bool = False,
    ) -> AsyncConversation:
        """Creates a conversation with limits of its own; `ExistsError` if the id is taken, unless `exist_ok`."""
        made = tolerant(_conversations.create)(
            Address(id or "", recipient or ""),
            title=title,
            policy=policy,
            labels=labels,
            encoding=encoding,
            exist_ok=exist_ok,
        )
        return self.conversation(await self.run(made), recipient=recipient)

    conversations = _of_client(_conversations.conversation_records)
    delete_recipient = _of_client(_conversations.delete_recipient)
    prepare = _of_client(_contexts.prepare)
    count_tokens = _of_client(_contexts.count_tokens)

    async def close(self) -> None:
        """Closes the connection of the running event loop, and ends the server if it is a local one."""
        await self._channels.close()
        if self._owned is not None:
            await asyncio.to_thread(self._owned.close)

    async def run(self, steps: Steps[T]) -> T:
        """Makes the calls of an operation, and waits for them."""
        try:
            call = next(steps)
            while True:
                try:
                    answer = await self._answer(call)
                except ServerError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _answer(self, call: Call) -> object:
        method = self._channels.here().unary_unary(call.method, call.write, call.read)
        attempts = Attempts(call, self._timeout, self._endpoint)
        while True:
            try:
                answer = await method(call.request, timeout=attempts.time_left(), metadata=self._endpoint.metadata)
            except grpc.aio.AioRpcError as failure:
                await asyncio.sleep(attempts.pause_after(failure))
            else:
                self._endpoint.contact.made = True
                return answer

    async def stream(self, call: Call) -> AsyncIterator[object]:
        """The responses of a stream, which is reopened if the connection is lost, as long as a call is retried."""
        method = self._channels.here().unary_stream(call.method, call.write, call.read)
        attempts: Attempts | None = None
        while True:
            responses = method(call.request, metadata=self._endpoint.metadata)
            try:
                async for response in responses:
                    attempts, self._endpoint.contact.made = None, True
                    yield response
                return
            except grpc.aio.AioRpcError as failure:
                # Its deadline begins when the stream is lost.
                attempts = attempts or Attempts(call, self._timeout, self._endpoint)
                await asyncio.sleep(attempts.pause_after(failure))
            finally:
                responses.cancel()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<utterd.AsyncClient of {self._endpoint.target}>"


class _AsyncAddressed(Addressed):
    """Something at an address."""

    client: AsyncClient


class AsyncConversation(_AsyncAddressed):
    """A conversation of a server, for asyncio. It holds only an address."""

    def __init__(self, client: AsyncClient, address: Address) -> None:
        self.client = client
        self.address = address

    def with_timeout(self, timeout: float | None) -> AsyncConversation:
        """The same conversation with another timeout."""
        return AsyncConversation(self.client.with_timeout(timeout), self.address)

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

    async def fork(
        self,
        *,
        after: int | None = None,
        id: str | None = None,
        recipient: str | None = None,
        title: str = "",
        expected_revision: int | None = None,
    ) -> AsyncConversation:
        """Starts another conversation with what was said in this one; see `Conversation.fork`."""
        made = tolerant(_conversations.fork)(
            self.address,
            after=after,
            id=id or "",
            recipient=recipient or "",
            title=title,
            expected_revision=expected_revision,
        )
        return self.client.conversation(await self.client.run(made), recipient=recipient)

    async def watch(self) -> AsyncIterator[model.Capacity]:
        """How full the window is: now, and after each change, endlessly."""
        async for response in self.client.stream(_messages.watched(self.address)):
            yield _messages.capacity_of(response)

    def __repr__(self) -> str:
        return f"<utterd.AsyncConversation {self.id or 'of ' + (self.recipient or 'default')}>"


class AsyncRecipient(_AsyncAddressed):
    """A recipient of conversations, for asyncio. It has values of its own, which outlive its conversations."""

    def __init__(self, client: AsyncClient, id: str) -> None:
        self.client = client
        self.address = Address("", id, of_recipient=True)

    @property
    def id(self) -> str:
        """Its id."""
        return self.address.recipient_id

    state = _of_address(_state.state)
    update_state = _of_address(_state.update_state)

    def __repr__(self) -> str:
        return f"<utterd.AsyncRecipient {self.id}>"
