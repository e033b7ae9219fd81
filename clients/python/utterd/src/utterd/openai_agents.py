"""A session for the OpenAI Agents SDK.

    memory = utterd.connect_async()
    session = UtterdSession("order-7", memory, budget=8000)
    result = await Runner.run(agent, "Where is my order?", session=session)

An item of the SDK is a message of the conversation, and is returned byte for byte. Function calls and their results
are calls and results for the server too. With a `budget`, the model gets a context of at most this many tokens, with a
summary of what does not fit, instead of everything that was said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from utterd import AsyncClient, ConflictError, Policy, Recall, Shown, Stored
from utterd._ids import fit
from utterd._limits import limits

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory.session import _CompactionSnapshot

__all__ = ["UtterdSession", "items_of"]

T = TypeVar("T")

FIELD = "openai_agents"
"""The field of a message that holds an item that is not one of OpenAI's, such as an encrypted one."""
ROLES = ("system", "developer", "user", "assistant")


class UtterdSession(SessionABC):
    """A session whose items are a conversation on an utterd server. Several sessions and processes can share one."""

    def __init__(
        self,
        session_id: str,
        memory: AsyncClient,
        *,
        user: str | None = None,
        budget: int | None = None,
        recall: bool = False,
        policy: Policy | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        """
        - `session_id`: the conversation's id, or a digest of it if it is too long or has control characters.
        - `user`: the conversation's recipient.
        - `budget`: the most tokens of the history that goes to the model. Without a budget, all of it does.
        - `recall`: with a budget, adds what a search for the user's last message finds in the rest.
        - `policy`: limits for the conversation, if it starts with this session; by default everything stays stored,
          and the window fits the budget.
        """
        self.session_id = session_id
        self.session_settings = (
            SessionSettings() if session_settings is None else coerce_session_settings(session_settings)
        )
        self.conversation = memory.conversation(fit(session_id), recipient=user, policy=limits(budget, policy))
        self._budget = budget
        self._recall = recall

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The stored items, or the newest `limit` of them; with a budget and no limit, the context."""
        limit = resolve_session_limit(limit, self.session_settings)
        if limit is None and self._budget is not None:
            return await self.context(self._budget)
        if limit == 0:
            return []
        last = limit if limit is not None and limit > 0 else None
        return list(map(_item, await self.conversation.messages(last=last, format="responses", missing_ok=True)))

    async def context(self, budget: int | None = None) -> list[TResponseInputItem]:
        """The history within a token budget, as items: a summary, and the newest messages in whole exchanges.

        A message that is shown whole is the item that was stored. Calls of the newest exchange can be without results.
        """
        recall = None
        if self._recall:
            asked = await self._stored(last=1, roles=["user"])
            prompt = "".join(_texts(message.message.get("content")) for message in asked.messages)
            recall = Recall(prompt[:10_000]) if prompt.strip() else None
        context = await self.conversation.filled(budget, recall=recall, stored_as="responses", unanswered="open")
        return [item for it in context.shown for item in _items(it)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Stores items, all or none."""
        if items:
            await _to_its_end(self.conversation.store(list(map(_said, items)), format="responses"))

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the newest item and returns it; None if there is none."""
        popped = await _to_its_end(self.conversation.pop(format="responses"))
        return None if popped is None else _item(popped)

    async def clear_session(self) -> None:
        """Removes all items."""
        await _to_its_end(self.conversation.clear())

    async def _stored(self, **which: Any) -> Stored:
        return await self.conversation.stored(format="responses", missing_ok=True, **which)

    async def _get_compaction_snapshot(
        self, limit: int, *, prune_prefix: Callable[[TResponseInputItem], bool] | None = None
    ) -> _CompactionSnapshot:
        """The newest items, and a function that replaces them if nothing has been said since."""
        # Private to the SDK: its compacting sessions ask for it, in versions that have it.
        from agents.memory.session import _CompactionSnapshot

        stored = await self._stored(last=limit + 1)
        complete = len(stored.messages) <= limit
        rows = stored.messages[-limit:]

        async def replace_suffix(start: int, output: list[TResponseInputItem]) -> bool:
            if not rows[start:]:
                return False
            revision = stored.revision
            try:
                if prune_prefix is not None:
                    revision = await self._prune(rows[start].sequence, prune_prefix, revision)
                await self.conversation.replace_after(
                    rows[start].sequence - 1,
                    list(map(_said, output)),
                    format="responses",
                    lenient=True,
                    expected_revision=revision,
                )
            except ConflictError:
                return False
            return True

        async def replaced(start: int, output: list[TResponseInputItem]) -> bool:
            return await _to_its_end(replace_suffix(start, output))

        return _CompactionSnapshot([_item(row.message) for row in rows], complete, replaced)

    async def _prune(self, before: int, expired: Callable[[TResponseInputItem], bool], revision: int) -> int:
        """Removes the oldest items as long as they are expired. Returns the revision after that."""
        end = 0
        for message in (await self._stored(before=before)).messages:
            if not expired(_item(message.message)):
                break
            end = message.last_sequence
        if not end:
            return revision
        gone = await self.conversation.forget(
            sequences=[range(1, end + 1)], hard=True, exact=True, expected_revision=revision
        )
        return gone.revision


def _said(item: Any) -> dict[str, Any]:
    """The item itself, or an empty message around an item that is not one of OpenAI's."""
    kind, role = item.get("type"), item.get("role")
    message = kind in (None, "message")
    if (message and role in ROLES) or (not message and isinstance(kind, str)):
        return cast(dict[str, Any], item)
    return {"role": "assistant", "content": "", FIELD: item}


def _item(message: dict[str, Any]) -> TResponseInputItem:
    return cast("TResponseInputItem", message.get(FIELD, message))


async def _to_its_end(change: Coroutine[Any, Any, T]) -> T:
    """Waits for a change even if the caller is cancelled, so that its outcome is known when that is raised."""
    task = asyncio.ensure_future(change)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        task.exception()
        raise cancelled
    return task.result()


def _items(shown: Shown) -> list[TResponseInputItem]:
    """What was stored, if it is shown whole."""
    return [_item(shown.said)] if shown.whole else items_of([shown.message])


def items_of(messages: list[dict[str, Any]]) -> list[TResponseInputItem]:
    """Chat messages, such as a context's, as items."""
    items: list[dict[str, Any]] = []
    for message in messages:
        role, content = message["role"], message.get("content")
        if role == "tool":
            items.append(
                {"type": "function_call_output", "call_id": message["tool_call_id"], "output": _texts(content)}
            )
            continue
        if said := _content(content):
            # A saved run and Chat Completions know an answer by its type.
            typed = {"type": "message"} if role == "assistant" else {}
            items.append({**typed, "role": role, "content": said})
        for call in message.get("tool_calls") or ():
            function = call["function"]
            items.append(
                {
                    "type": "function_call",
                    "call_id": call["id"],
                    "name": function["name"],
                    "arguments": function["arguments"],
                }
            )
    return cast("list[TResponseInputItem]", items)


def _content(content: Any) -> str | list[dict[str, Any]]:
    """A text, or parts if there are pictures."""
    shown = [part["image_url"] for part in content if part["type"] == "image_url"] if isinstance(content, list) else []
    texts = _texts(content)
    if not shown:
        return texts
    pictures = [{"type": "input_image", "image_url": it["url"], "detail": it.get("detail", "auto")} for it in shown]
    return [*([{"type": "input_text", "text": texts}] if texts else []), *pictures]


def _texts(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if isinstance(part, dict) and part.get("text"))
    return content or ""
