"""Message histories for Pydantic AI, which gets them from its caller.

    history = UtterdHistory("order-7", utterd.connect_async(), budget=8000)
    result = await agent.run("Where is my order?", message_history=await history.context())
    await history.save(result.new_messages())

A message is stored in Anthropic's format, together with Pydantic AI's own data, and is returned unchanged.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Literal, cast

from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    DocumentUrl,
    FileUrl,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
    VideoUrl,
)
from pydantic_core import ValidationError

from utterd import AsyncClient, Policy
from utterd._blocks import block_messages, blocks_of, thinking
from utterd._fold import fold, unfold
from utterd._ids import fit
from utterd._limits import limits
from utterd._media import Media, media_of

__all__ = ["UtterdHistory"]

FIELD = "pydantic_ai"
"""The field of a message that holds Pydantic AI's own data."""
URLS: Mapping[str, type[Any]] = {"image": ImageUrl, "audio": AudioUrl, "video": VideoUrl, "document": DocumentUrl}
"""What is known by its address, by its kind."""


class UtterdHistory:
    """The messages of a conversation on an utterd server."""

    def __init__(
        self,
        session_id: str,
        memory: AsyncClient,
        *,
        user: str | None = None,
        budget: int | None = None,
        policy: Policy | None = None,
    ) -> None:
        """
        - `session_id`: the conversation's id, or a digest of it if it is too long or has control characters.
        - `user`: the conversation's recipient.
        - `budget`: the tokens of a context, unless it is asked for with others.
        - `policy`: limits for the conversation, if it starts here; by default everything stays stored, and the window
          fits the budget.
        """
        self.conversation = memory.conversation(fit(session_id), recipient=user, policy=limits(budget, policy))
        self._budget = budget

    async def load(self, last: int | None = None) -> list[ModelMessage]:
        """Every stored message, or the newest `last`."""
        said = await self.conversation.messages(last=last, format="anthropic", missing_ok=True)
        return list(map(_message, said))

    async def save(self, messages: Sequence[ModelMessage]) -> None:
        """Stores messages, such as a run's `new_messages()`, all or none."""
        if messages:
            await self.conversation.store(list(map(_said, messages)), format="anthropic")

    async def context(
        self,
        budget: int | None = None,
        *,
        recall: str | None = None,
        unanswered: Literal["open", "placeholder"] = "open",
    ) -> list[ModelMessage]:
        """What goes to the model within a token budget: a summary, and the newest messages in whole exchanges.

        System prompts of the first message stay, and count towards the budget. `recall` adds what a search for it finds
        in the rest. Calls at the end that are not answered yet stay open, so that a run without a prompt makes them, or
        takes `deferred_tool_results`. Before a new prompt, `unanswered="placeholder"` closes them.
        """
        first = await self.conversation.stored(limit=1, format="anthropic", missing_ok=True)
        prompts = [prompt for it in first.messages for prompt in _prompts(_message(it.message))]
        context = await self.conversation.filled(
            budget or self._budget,
            instructions="\n\n".join(prompts),
            recall=recall,
            unanswered=unanswered,
            stored_as="anthropic",
        )
        # The first message has its prompts itself.
        whole = bool(prompts) and any(it.whole and it.stored == first.messages[0] for it in context.shown)
        said = block_messages(context.shown[1 if whole else 0 :])
        names = {block["id"]: block["name"] for block in _calls(said)}
        head = list(takewhile(lambda it: it["role"] == "system", said))
        messages = [_message(it, names) for it in said[len(head) :]]
        return [ModelRequest(parts=[_prompt(it) for it in head]), *messages] if head else messages

    async def clear(self) -> None:
        """Removes all messages."""
        await self.conversation.clear()


def _prompt(said: dict[str, Any]) -> SystemPromptPart:
    return SystemPromptPart("\n".join(block["text"] for block in blocks_of(said) if block["type"] == "text"))


def _prompts(message: ModelMessage) -> list[str]:
    return [part.content for part in message.parts if isinstance(part, SystemPromptPart)]


def _said(message: ModelMessage) -> dict[str, Any]:
    """The message in Anthropic's format, with Pydantic AI's own data in an extra field."""
    blocks = [block for part in message.parts for block in _blocks(part)]
    said = {"role": "assistant" if isinstance(message, ModelResponse) else "user", "content": blocks}
    return fold(said, FIELD, ModelMessagesTypeAdapter.dump_python([message], mode="json")[0])


def _blocks(part: Any) -> list[dict[str, Any]]:
    """The blocks of a part in Anthropic's format: none unless it is a text, thought, call or return."""
    if isinstance(part, TextPart):
        return [{"type": "text", "text": part.content}] if part.content else []
    if isinstance(part, ThinkingPart):
        return [block] if (block := thinking(part.content, part.signature)) else []
    if isinstance(part, UserPromptPart):
        contents = [part.content] if isinstance(part.content, str) else part.content
        return [block for content in contents if (block := _block(content)) is not None]
    if isinstance(part, ToolCallPart):
        name, input = part.tool_name, part.args_as_dict()
        return [{"type": "tool_use", "id": part.tool_call_id, "name": name, "input": input}]
    if isinstance(part, ToolReturnPart):
        text, files = part.model_response_str(), getattr(part, "files", ())
        content = [it for it in (_block(text), *map(_block, files)) if it is not None] if files else text
        return [{"type": "tool_result", "tool_use_id": part.tool_call_id, "content": content}]
    if isinstance(part, RetryPromptPart):
        text = part.model_response()
        if part.tool_name is None:
            return [{"type": "text", "text": text}]
        return [{"type": "tool_result", "tool_use_id": part.tool_call_id, "content": text, "is_error": True}]
    return []


def _block(content: Any) -> dict[str, Any] | None:
    """The block of what a user or a tool says or shows."""
    if isinstance(content, BinaryContent):
        return Media(content.media_type, data=base64.b64encode(content.data).decode()).block()
    if isinstance(content, FileUrl):
        return Media(_media_type(content), url=content.url).block()
    text = content if isinstance(content, str) else getattr(content, "content", None)
    return {"type": "text", "text": text} if isinstance(text, str) and text else None


def _media_type(content: FileUrl) -> str:
    try:
        return content.media_type
    except ValueError:
        # The URL has no known extension.
        return next((f"{kind}/*" for kind, url in URLS.items() if isinstance(content, url)), "document/*")


def _shown(block: dict[str, Any]) -> UserContent:
    """What a user or a tool said or showed in a block."""
    media = media_of(block)
    if media is None:
        return str(block.get("text") or f"[{block['type']}]")
    if media.data:
        return BinaryContent(base64.b64decode(media.data), media_type=media.type)
    url: FileUrl = URLS[media.kind](media.url, media_type=None if media.type.endswith("*") else media.type)
    return cast("UserContent", url)


def _message(said: dict[str, Any], names: Mapping[str, str] = MappingProxyType({})) -> ModelMessage:
    if FIELD not in said:
        return _said_by_others(said, names)
    own = [unfold(said, FIELD)]
    try:
        # From objects, some versions do not make the pictures of results.
        return ModelMessagesTypeAdapter.validate_json(json.dumps(own))[0]
    except ValidationError:
        # Their JSON refuses halves of surrogate pairs.
        return ModelMessagesTypeAdapter.validate_python(own)[0]


def _calls(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls in messages in Anthropic's format."""
    contents = [said["content"] for said in messages if isinstance(said["content"], list)]
    return [block for content in contents for block in content if block["type"] == "tool_use"]


def _said_by_others(said: dict[str, Any], names: Mapping[str, str]) -> ModelMessage:
    """Converts a message in Anthropic's format, such as a context's, to Pydantic AI's; `names`: the tools of calls."""
    blocks = blocks_of(said, media=True)
    if said["role"] == "assistant":
        return ModelResponse(parts=[_answer(block) for block in blocks])
    results = [_returned(block, names) for block in blocks if block["type"] == "tool_result"]
    shown = [_shown(block) for block in blocks if block["type"] != "tool_result"]
    texts = [it for it in shown if isinstance(it, str)]
    together = [UserPromptPart(shown)] if len(texts) < len(shown) else [UserPromptPart(text) for text in texts]
    return ModelRequest(parts=[*results, *together])


def _answer(block: dict[str, Any]) -> TextPart | ToolCallPart:
    if block["type"] == "tool_use":
        return ToolCallPart(tool_name=block["name"], args=block["input"], tool_call_id=block["id"])
    return TextPart(str(block.get("text") or f"[{block['type']}]"))


def _returned(block: dict[str, Any], names: Mapping[str, str]) -> ToolReturnPart:
    id, content = block["tool_use_id"], block.get("content") or ""
    returned: Any = content if isinstance(content, str) else list(map(_shown, content))
    return ToolReturnPart(tool_name=names.get(id, id), content=returned, tool_call_id=id)
