"""A history provider for Microsoft's Agent Framework.

    history = UtterdHistoryProvider(utterd.connect_async(), budget=8000)
    agent = Agent(client=client, context_providers=[history])
    await agent.run("Where is my order?", session=agent.create_session(session_id="order-7"))

A message is stored in Anthropic's format, together with Agent Framework's own data, and is returned unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from agent_framework import Content, HistoryProvider, Message

from utterd import AsyncClient, AsyncConversation, Policy
from utterd.adapters import Media, block_messages, blocks_of, fit, fold, limits, media_of, thinking, unfold

__all__ = ["UtterdHistoryProvider"]

FIELD = "agent_framework"
"""The field of a message that holds Agent Framework's own data."""
ROLES = {"system": "system", "assistant": "assistant"}
"""The roles that are not the user's."""
KNOWN = 10_000
"""Sessions that are remembered to exist."""


class UtterdHistoryProvider(HistoryProvider):
    """A history whose sessions are conversations on an utterd server."""

    def __init__(
        self,
        memory: AsyncClient,
        *,
        source_id: str = "utterd",
        user: str | None = None,
        budget: int | None = None,
        policy: Policy | None = None,
        **kwargs: Any,
    ) -> None:
        """
        - `user`: the conversations' recipient.
        - `budget`: the most tokens of the history that goes to the model. Without a budget, all of it does.
        - `policy`: limits for a conversation that starts here; by default everything stays stored, and the window fits
          the budget.
        - `kwargs`: the other arguments of Agent Framework's history providers.

        A session's id is the conversation's id, or a digest of it if it is too long or has control characters.
        """
        super().__init__(source_id, **kwargs)
        self._budget = budget
        self._at: Callable[[str], AsyncConversation] = lru_cache(KNOWN)(
            lambda id: memory.conversation(fit(id), recipient=user, policy=limits(budget, policy))
        )

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """The stored messages of a session; with a budget, the context."""
        if self._budget is not None:
            return await self.context(session_id, self._budget)
        said = await self._of(session_id).messages(format="anthropic", missing_ok=True)
        return list(map(_message, said))

    async def context(self, session_id: str | None, budget: int | None = None) -> list[Message]:
        """What goes to the model within a token budget: a summary, and the newest messages in whole exchanges.

        Calls of the newest exchange can be without results, for an agent that is about to answer them.
        """
        context = await self._of(session_id).filled(budget, unanswered="open", stored_as="anthropic")
        return list(map(_message, block_messages(context.shown)))

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Stores messages, all or none."""
        if messages:
            await self._of(session_id).store(list(map(_said, messages)), format="anthropic")

    def _of(self, session_id: str | None) -> AsyncConversation:
        if session_id is None:
            raise ValueError("session_id: None; accepted: the id of a session, such as AgentSession.session_id")
        return self._at(session_id)


def _said(message: Message) -> dict[str, Any]:
    """The message in Anthropic's format, with Agent Framework's own data in an extra field."""
    blocks = [block for content in message.contents if (block := _block(content)) is not None]
    # What says nothing, such as an approval, comes between no call and its result.
    role = ROLES.get(message.role, "user") if blocks else "assistant"
    said = {"role": role, "content": blocks}
    return fold(said, FIELD, json.loads(message.to_json()))


def _block(content: Content) -> dict[str, Any] | None:
    """A block in Anthropic's format; None unless it is a text, a thought, media, a call or its result."""
    if content.type == "text":
        return {"type": "text", "text": content.text} if content.text else None
    if content.type == "text_reasoning":
        return thinking(content.text, content.protected_data)
    if content.type in ("data", "uri"):
        return Media.at(content.uri or "", content.media_type or "application/octet-stream").block()
    if content.type == "function_call":
        return {"type": "tool_use", "id": content.call_id, "name": content.name, "input": _arguments(content)}
    if content.type == "function_result":
        items = [block for item in content.items or () if (block := _block(item)) is not None]
        result = content.result
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
        error = {"is_error": True} if content.exception else {}
        return {"type": "tool_result", "tool_use_id": content.call_id, "content": items or text, **error}
    return None


def _arguments(content: Content) -> Mapping[str, Any]:
    given = content.arguments or {}
    try:
        parsed = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        return {}
    return parsed if isinstance(parsed, Mapping) else {}


def _message(said: dict[str, Any]) -> Message:
    """The message that was stored; one from another client or a context, as one of Agent Framework's."""
    if FIELD in said:
        return Message.from_dict(unfold(said, FIELD))
    blocks = blocks_of(said, media=True)
    answers = any(block["type"] == "tool_result" for block in blocks)
    return Message("tool" if answers else said["role"], [_content(block) for block in blocks])


def _result(content: str | list[dict[str, Any]]) -> str | list[Content]:
    return content if isinstance(content, str) else list(map(_content, content))


def _content(block: dict[str, Any]) -> Content:
    if block["type"] == "tool_use":
        return Content.from_function_call(block["id"], block["name"], arguments=block["input"])
    if block["type"] == "tool_result":
        return Content.from_function_result(block["tool_use_id"], result=_result(block.get("content") or ""))
    if media := media_of(block):
        return Content.from_uri(media.uri, media_type=media.type)
    return Content.from_text(str(block.get("text") or f"[{block['type']}]"))
