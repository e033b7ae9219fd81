"""Chat stores and a memory for LlamaIndex.

    memory = UtterdMemory.from_defaults(memory=utterd.connect(), session_id="order-7", budget=8000)
    response = await agent.run("Where is my order?", memory=memory)

A message is stored as an OpenAI chat message, together with LlamaIndex' own data, and is returned unchanged. A key of a
store is a conversation, with the id `USER/KEY`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory.types import BaseMemory
from llama_index.core.storage.chat_store.base import BaseChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from pydantic import PrivateAttr

from utterd import (
    AsyncClient,
    AsyncConversation,
    Client,
    ConflictError,
    Conversation,
    ConversationRecord,
    Policy,
    Stored,
    StoredMessage,
)
from utterd._ids import fit
from utterd._limits import limits
from utterd._llama_index_messages import FIELD, from_chat, from_context, to_chat

__all__ = ["UtterdChatStore", "UtterdDBChatStore", "UtterdMemory"]

T = TypeVar("T")

KNOWN = 10_000
"""Keys that are remembered to exist."""
LABEL = "llama_index_key"
"""The label for the key of a conversation whose id does not contain it."""


class UtterdChatStore(BaseChatStore):
    """The messages of keys, each key a conversation on an utterd server."""

    _memory: Client = PrivateAttr()
    _user: str = PrivateAttr()
    _at: Callable[[str], Conversation] = PrivateAttr()

    def __init__(self, memory: Client, *, user: str = "llama-index", **kwargs: Any) -> None:
        """`user`: the conversations' recipient; its keys are the store's."""
        super().__init__(**kwargs)
        self._memory = memory
        self._user = user
        self._at = lru_cache(KNOWN)(lambda key: memory.conversation(**_started(user, key)))

    @classmethod
    def class_name(cls) -> str:
        return "UtterdChatStore"

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Replaces a key's messages, in one commit. Those at the head that are already the same stay."""
        self._at(key).replace(list(map(to_chat, messages)), format="openai")

    def get_messages(self, key: str) -> list[ChatMessage]:
        """A key's messages; none if there is no such key."""
        return [from_chat(it.message) for it in _stored(self._at(key)).messages]

    def add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """Adds a message at the end, or before the one at an index."""
        if idx is None:
            self._at(key).store(to_chat(message), format="openai")
            return
        while True:
            at = self._at(key)
            stored = _stored(at)
            behind = stored.messages[idx:]
            after = behind[0].sequence - 1 if behind else _end(stored)
            said = [to_chat(message), *(it.message for it in behind)]
            try:
                at.replace_after(after, said, format="openai", lenient=True, expected_revision=stored.revision)
                return
            except ConflictError:
                continue

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """Removes a key, and returns its messages; None if there is no such key."""
        messages = self.get_messages(key)
        return messages if self._at(key).delete() else None

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Removes the message at an index, and returns it; None if there is none."""
        while True:
            stored = _stored(self._at(key))
            if not -len(stored.messages) <= idx < len(stored.messages):
                return None
            message = stored.messages[idx]
            try:
                self._at(key).forget(
                    sequences=[_places(message)], hard=True, exact=True, expected_revision=stored.revision
                )
            except ConflictError:
                continue
            return from_chat(message.message)

    def delete_last_message(self, key: str) -> ChatMessage | None:
        """Removes the newest message, and returns it; None if there is none."""
        popped = self._at(key).pop(format="openai")
        return None if popped is None else from_chat(popped)

    def get_keys(self) -> list[str]:
        """The keys, the oldest first."""
        records = self._memory.conversations(self._user, order="oldest_start")
        return [_key(record, self._user) for record in records]

    def context(self, key: str, budget: int | None = None) -> list[ChatMessage]:
        """What goes to the model of a key's messages within a token budget: a summary, and the newest messages."""
        return from_context(self._at(key).filled(budget, stored_as="openai"))


class UtterdDBChatStore(AsyncDBChatStore):
    """The messages of keys with a status, each key a conversation on an utterd server."""

    _memory: AsyncClient = PrivateAttr()
    _user: str = PrivateAttr()
    _at: Callable[[str], AsyncConversation] = PrivateAttr()

    def __init__(self, memory: AsyncClient, *, user: str = "llama-index", **kwargs: Any) -> None:
        """`user`: the conversations' recipient; its keys are the store's."""
        super().__init__(**kwargs)
        self._memory = memory
        self._user = user
        self._at = lru_cache(KNOWN)(lambda key: memory.conversation(**_started(user, key)))

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """A key's messages with a status, at most `limit` after the first `offset`."""
        found = _of_status(await self._stored(key), status)[offset or 0 :]
        return [from_chat(it.message) for it in found[:limit]]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """How many messages with a status a key has."""
        return len(_of_status(await self._stored(key), status))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Adds a message."""
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Adds messages, all or none."""
        if messages:
            at = self._at(key)
            await at.store([to_chat(message, status) for message in messages], format="openai")

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Replaces all of a key's messages, in one commit. Those at the head that are already the same stay."""
        await self._at(key).replace([to_chat(message, status) for message in messages], format="openai")

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Removes the message with a sequence, and returns it; None if there is none."""

        async def remove() -> ChatMessage | None:
            stored = await self._stored(key)
            gone = [it for it in stored.messages if it.sequence == idx]
            await self._remove(key, gone, stored.revision)
            return from_chat(gone[0].message) if gone else None

        return await _until_settled(remove)

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Removes a key, or its messages with a status."""
        if status is None:
            await self._at(key).delete()
            return

        async def remove() -> None:
            stored = await self._stored(key)
            await self._remove(key, _of_status(stored, status), stored.revision)

        await _until_settled(remove)

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Removes the oldest `n` active messages, and returns them."""

        async def remove() -> list[ChatMessage]:
            stored = await self._stored(key)
            oldest = _of_status(stored, MessageStatus.ACTIVE)[:n]
            await self._remove(key, oldest, stored.revision)
            return [from_chat(it.message) for it in oldest]

        return await _until_settled(remove)

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Gives the oldest `n` active messages the status `archived`, and returns them."""

        async def archive() -> list[ChatMessage]:
            stored = await self._stored(key)
            oldest = _of_status(stored, MessageStatus.ACTIVE)[:n]
            messages = [from_chat(it.message) for it in oldest]
            if oldest:
                await self._at(key).store(
                    [to_chat(message, MessageStatus.ARCHIVED) for message in messages],
                    format="openai",
                    ids=[it.utterance_id for it in oldest],
                    upsert=True,
                    expected_revision=stored.revision,
                )
            return messages

        return await _until_settled(archive)

    async def get_keys(self) -> list[str]:
        """The keys, the oldest first."""
        records = await self._memory.conversations(self._user, order="oldest_start")
        return [_key(record, self._user) for record in records]

    async def context(self, key: str, budget: int | None = None) -> list[ChatMessage]:
        """What goes to the model of a key's messages within a token budget: a summary, and the newest messages."""
        return from_context(await self._at(key).filled(budget, stored_as="openai"))

    @classmethod
    def class_name(cls) -> str:
        return "UtterdDBChatStore"

    async def _stored(self, key: str) -> Stored:
        return await self._at(key).stored(format="openai", missing_ok=True)

    async def _remove(self, key: str, messages: Sequence[StoredMessage], revision: int) -> None:
        if messages:
            await self._at(key).forget(
                sequences=list(map(_places, messages)), hard=True, exact=True, expected_revision=revision
            )


class UtterdMemory(BaseMemory):
    """A memory whose history is a conversation on an utterd server, and which gives the model a context from it."""

    _conversation: Conversation = PrivateAttr()
    _budget: int | None = PrivateAttr()
    _recall: bool = PrivateAttr()

    def __init__(
        self,
        memory: Client,
        session_id: str,
        *,
        user: str | None = None,
        budget: int | None = None,
        recall: bool = False,
        policy: Policy | None = None,
    ) -> None:
        """
        - `session_id`: the conversation's id, or a digest of it if it is too long or has control characters.
        - `user`: the conversation's recipient.
        - `budget`: the tokens that `get` returns; by default what the conversation's limits allow.
        - `recall`: `get` adds what a search for its input finds in the rest.
        - `policy`: limits for the conversation, if it starts here; by default everything stays stored, and the window
          fits the budget.
        """
        super().__init__()
        self._conversation = memory.conversation(fit(session_id), recipient=user, policy=limits(budget, policy))
        self._budget = budget
        self._recall = recall

    @classmethod
    def class_name(cls) -> str:
        return "UtterdMemory"

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> UtterdMemory:
        """A memory; the arguments are those of the class."""
        return cls(**kwargs)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """What goes to the model: a summary, and the newest messages in whole exchanges, within the budget."""
        recall = input if self._recall and input and input.strip() else None
        return from_context(self._conversation.filled(self._budget, recall=recall, stored_as="openai"))

    def get_all(self) -> list[ChatMessage]:
        """Every stored message."""
        return [from_chat(it.message) for it in _stored(self._conversation).messages]

    def put(self, message: ChatMessage) -> None:
        """Adds a message."""
        self.put_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Adds messages, all or none."""
        if messages:
            self._conversation.store(list(map(to_chat, messages)), format="openai")

    def set(self, messages: list[ChatMessage]) -> None:
        """Replaces all messages, in one commit. Those at the head that are already the same stay."""
        self._conversation.replace(list(map(to_chat, messages)), format="openai")

    def reset(self) -> None:
        """Removes all messages."""
        self._conversation.clear()


def _started(user: str, key: str) -> dict[str, Any]:
    """The conversation of a user's key, and what it starts with: a label if its id does not end with the key."""
    id = fit(user, key)
    labels = {} if id == f"{user}/{key}" else {LABEL: key[:1000]}
    return {"id": id, "recipient": user, "policy": limits(None), "labels": labels}


def _key(record: ConversationRecord, user: str) -> str:
    return record.labels.get(LABEL, record.conversation_id.removeprefix(f"{user}/"))


async def _until_settled(change: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Repeats a change that depends on what it reads until nothing interferes."""
    while True:
        try:
            return await change()
        except ConflictError:
            continue


def _stored(at: Conversation) -> Stored:
    return at.stored(format="openai", missing_ok=True)


def _end(stored: Stored) -> int:
    return stored.messages[-1].last_sequence if stored.messages else 0


def _places(message: StoredMessage) -> range:
    return range(message.sequence, message.last_sequence + 1)


def _of_status(stored: Stored, status: MessageStatus | None) -> list[StoredMessage]:
    return [it for it in stored.messages if status is None or _status(it.message) == status]


def _status(said: dict[str, Any]) -> MessageStatus:
    return MessageStatus(said.get(FIELD, {}).get("status", MessageStatus.ACTIVE))
