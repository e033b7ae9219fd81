"""Nodes for LangGraph: one stores a graph's messages, one builds what goes to the model.

    graph.add_node("remember", remember(memory))
    graph.add_node("context", build_context(memory, budget=8000))   # writes the state's `llm_input_messages`

A checkpointer keeps a graph's state; this keeps the conversation: searchable, summarised, and within a budget.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from utterd import Client, Conversation, NotFoundError, Policy
from utterd._langchain_config import named
from utterd._langchain_messages import from_context, to_chat
from utterd._limits import limits

__all__ = ["build_context", "remember"]

State = Any
Node = Callable[[State, RunnableConfig], dict[str, Any]]


def remember(memory: Client, *, key: str = "thread_id", messages_key: str = "messages") -> Node:
    """A node that stores the state's messages that are not stored yet.

    Messages are identified by their ids, so that a repeated step stores nothing twice. `key` in the configuration's
    `configurable` names the conversation.
    """

    of = named(memory, key, limits(None))

    def node(state: State, config: RunnableConfig) -> dict[str, Any]:
        _store(of(config), _messages(state, messages_key))
        return {}

    return node


def build_context(
    memory: Client,
    *,
    budget: int | None = None,
    policy: Policy | None = None,
    key: str = "thread_id",
    messages_key: str = "messages",
    into: str = "llm_input_messages",
    **options: Any,
) -> Node:
    """A node that stores the state's messages like `remember`, and writes what goes to the model into the state.

    That is a summary, and the newest messages in whole exchanges, within a token budget. `options` are those of
    `Conversation.context`; by default a call without a result is closed with a placeholder.
    """

    of = named(memory, key, limits(budget, policy))

    def node(state: State, config: RunnableConfig) -> dict[str, Any]:
        conversation = of(config)
        _store(conversation, _messages(state, messages_key))
        return {into: from_context(conversation._filled(budget, **options))}

    return node


def _store(conversation: Conversation, messages: list[BaseMessage]) -> None:
    try:
        newest = [it.utterance_id for it in conversation.stored(last=1).messages]
    except NotFoundError:
        newest = []
    known = [index for index, message in enumerate(messages) if message.id is not None and message.id in newest]
    new = messages[known[-1] + 1 :] if known else messages
    if new:
        conversation.add(
            list(map(to_chat, new)),
            format="openai",
            ids=[message.id or "" for message in new],
            upsert=True,
            lenient=True,
        )


def _messages(state: State, key: str) -> list[BaseMessage]:
    return list(state[key] if isinstance(state, dict) else getattr(state, key))
