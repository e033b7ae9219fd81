"""Chat history and contexts for LangChain.

    memory = utterd.connect()
    chain = build_context(memory, budget=8000) | model | remember(memory)
    chain.invoke("Where is my order?", {"configurable": {"session_id": "order-7"}})

or, as long as LangChain has the chat histories that it has deprecated:

    chain = RunnableWithMessageHistory(model, lambda id: UtterdChatMessageHistory(id, memory, budget=8000))

A message is stored as an OpenAI chat message, together with LangChain's own data, and is returned unchanged.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, cast

from langchain_core.messages import (
    BaseMessage,
    BaseMessageChunk,
    HumanMessage,
    message_chunk_to_message,
)
from langchain_core.runnables import Runnable, RunnableConfig, RunnableGenerator, RunnableLambda
from langchain_core.runnables.config import run_in_executor

from utterd import Client, Policy
from utterd._ids import fit
from utterd._langchain_config import named
from utterd._langchain_messages import from_chat, from_context, to_chat
from utterd._limits import limits

try:
    from langchain_core.chat_history import BaseChatMessageHistory
except ImportError:
    # LangChain has deprecated chat histories, and will remove them.
    BaseChatMessageHistory = object  # type: ignore[assignment,misc]

__all__ = ["UtterdChatMessageHistory", "build_context", "remember"]

Said = str | BaseMessage | Sequence[BaseMessage]


class UtterdChatMessageHistory(BaseChatMessageHistory):
    """The messages of a conversation on an utterd server."""

    def __init__(
        self,
        session_id: str,
        memory: Client,
        *,
        user: str | None = None,
        budget: int | None = None,
        policy: Policy | None = None,
    ) -> None:
        """
        - `session_id`: the conversation's id, or a digest of it if it is too long or has control characters.
        - `user`: the conversation's recipient.
        - `budget`: if given, `messages` is a context of at most this many tokens.
        - `policy`: limits for the conversation, if it starts here; by default everything stays stored, and the window
          fits the budget.
        """
        self.conversation = memory.conversation(fit(session_id), recipient=user, policy=limits(budget, policy))
        self._budget = budget

    @property
    def messages(self) -> list[BaseMessage]:
        """The stored messages; with a budget, the context."""
        if self._budget is not None:
            return self.context(self._budget)
        return self.stored()

    @messages.setter
    def messages(self, messages: list[BaseMessage]) -> None:
        """Replaces them, in one commit. Those at the head that are already the same stay."""
        self.conversation.replace(list(map(to_chat, messages)), format="openai")

    def stored(self) -> list[BaseMessage]:
        """Every stored message."""
        return list(map(from_chat, self.conversation.messages(format="openai", missing_ok=True)))

    def context(self, budget: int | None = None) -> list[BaseMessage]:
        """What goes to the model within a token budget: a summary, and the newest messages in whole exchanges."""
        return from_context(self.conversation.filled(budget, stored_as="openai"))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Stores messages, all or none."""
        if messages:
            self.conversation.store(list(map(to_chat, messages)), format="openai")

    def clear(self) -> None:
        """Removes all messages."""
        self.conversation.clear()


def build_context(
    memory: Client,
    *,
    budget: int | None = None,
    policy: Policy | None = None,
    key: str = "session_id",
    **options: Any,
) -> Runnable[Said, list[BaseMessage]]:
    """A runnable that stores what it is given and returns what goes to the model, within a token budget.

    `key` in the configuration's `configurable` names the conversation, and `policy` is for one that starts here.
    `options` are those of `Conversation.context`.
    """

    of = named(memory, key, limits(budget, policy))

    def build(said: Said, config: RunnableConfig) -> list[BaseMessage]:
        conversation = of(config)
        conversation.store(list(map(to_chat, _messages(said))), format="openai")
        return from_context(conversation.filled(budget, stored_as="openai", **options))

    return RunnableLambda(build)


def remember(memory: Client, *, key: str = "session_id") -> Runnable[BaseMessage, BaseMessage]:
    """A runnable that passes on the model's answer, streamed or not, and stores it."""

    of = named(memory, key, limits(None))

    def store(whole: BaseMessage | None, config: RunnableConfig) -> None:
        if isinstance(whole, BaseMessageChunk):
            whole = message_chunk_to_message(whole)
        if whole is not None:
            of(config).store(to_chat(whole), format="openai")

    def passed_on(parts: Iterator[Any], config: RunnableConfig) -> Iterator[Any]:
        whole = None
        for part in parts:
            whole = part if whole is None else whole + part
            yield part
        store(whole, config)

    async def passed_on_async(parts: AsyncIterator[Any], config: RunnableConfig) -> AsyncIterator[Any]:
        whole = None
        async for part in parts:
            whole = part if whole is None else whole + part
            yield part
        await run_in_executor(config, store, whole, config)

    # They get the configuration because they have a parameter for it, which the stubs do not say.
    return RunnableGenerator(cast(Any, passed_on), cast(Any, passed_on_async))


def _messages(said: Said) -> Sequence[BaseMessage]:
    if isinstance(said, str):
        return [HumanMessage(said)]
    return [said] if isinstance(said, BaseMessage) else said
