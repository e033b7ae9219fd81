"""The conversation that a runnable's configuration names."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from langchain_core.runnables import RunnableConfig

from utterd import Client, Conversation, Policy
from utterd._ids import fit

KNOWN = 10_000
"""Conversations that are remembered to exist."""


def named(memory: Client, key: str, policy: Policy) -> Callable[[RunnableConfig], Conversation]:
    """A function that returns the conversation named by `key` in a configuration's `configurable`."""

    @lru_cache(KNOWN)
    def conversation(id: str) -> Conversation:
        return memory.conversation(fit(id), policy=policy)

    def of(config: RunnableConfig) -> Conversation:
        configurable = config.get("configurable") or {}
        if key not in configurable:
            raise ValueError(f'configurable.{key} is missing; accepted: {{"configurable": {{"{key}": "…"}}}}')
        return conversation(str(configurable[key]))

    return of
