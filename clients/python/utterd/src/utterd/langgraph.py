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

from utterd import Client, Policy
from utterd._langchain_config import named
from utterd._langchain_messages import from_context
from utterd._langchain_mirror import mirror
from utterd._limits import limits

__all__ = ["build_context", "remember"]

State = Any
Node = Callable[[State, RunnableConfig], dict[str, Any]]


def remember(
    memory: Client, *, key: str = "thread_id", messages_key: str = "messages", keep_oldest: bool = False
) -> Node:
    """A node that stores what is new among the state's messages, replaces what changed, and forgets what was removed.

    Messages are identified by their ids, so that a repeated step stores nothing twice. What was removed is forgotten
    softly, and only if the state is known to have held it: what other runs say at the same time stays, and so does what
    was said before a state that starts anew, as each does without a checkpointer. With `keep_oldest`, what is missing
    at the head of the state stays, for a graph that trims it. `key` in the configuration's `configurable` names the
    conversation.
    """
    of = named(memory, key, limits(None))

    def node(state: State, config: RunnableConfig) -> dict[str, Any]:
        mirror(of(config), _messages(state, messages_key), config, keep_oldest=keep_oldest)
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
    keep_oldest: bool = False,
    **options: Any,
) -> Node:
    """A node that stores the state's messages like `remember`, and writes what goes to the model into the state.

    It forgets answers that were removed at the end of the state, too.

    That is a summary, and the newest messages in whole exchanges, within a token budget. `options` are those of
    `Conversation.context`; by default a call without a result is closed with a placeholder.
    """

    of = named(memory, key, limits(budget, policy))

    def node(state: State, config: RunnableConfig) -> dict[str, Any]:
        conversation = of(config)
        said = _messages(state, messages_key)
        mirror(conversation, said, config, keep_oldest=keep_oldest, keep_newest=False)
        return {into: from_context(conversation.filled(budget, stored_as="openai", **options))}

    return node


def _messages(state: State, key: str) -> list[BaseMessage]:
    return list(state[key] if isinstance(state, dict) else getattr(state, key))
