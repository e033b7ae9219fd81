"""A middleware for LangChain's agents.

    agent = create_agent(model, tools, middleware=[UtterdMiddleware(memory, budget=8000)])
    agent.invoke({"messages": "Where is my order?"}, {"configurable": {"thread_id": "order-7"}})

The agent's messages are stored, and the model gets a context of them. The state of the agent stays as it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.messages import SystemMessage
from langchain_core.runnables.config import run_in_executor
from langgraph.config import get_config

from utterd import Client, Policy
from utterd._langchain_config import named
from utterd._langchain_messages import from_context
from utterd._langchain_mirror import mirror
from utterd._limits import limits

__all__ = ["UtterdMiddleware"]


class UtterdMiddleware(AgentMiddleware[AgentState[Any], Any]):
    """Stores an agent's messages, and gives the model a context of at most a budget of tokens."""

    def __init__(
        self,
        memory: Client,
        *,
        budget: int | None = None,
        policy: Policy | None = None,
        key: str = "thread_id",
        keep_oldest: bool = False,
        **options: Any,
    ) -> None:
        """
        - `budget`: the most tokens of the messages and the summary, which goes into the system prompt.
        - `policy`: limits for a conversation that starts here; by default everything stays stored, and the window fits
          the budget.
        - `key`: what names the conversation in the configuration's `configurable`.
        - `keep_oldest`: as for the nodes of `utterd.langgraph`.
        - `options`: those of `Conversation.context`.
        """
        super().__init__()
        self._of = named(memory, key, limits(budget, policy))
        self._budget = budget
        self._keep_oldest = keep_oldest
        self._options = options

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Gives the model a context instead of all messages."""
        return handler(self._with_context(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The same for asyncio."""
        return await handler(await run_in_executor(get_config(), self._with_context, request))

    def after_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """Stores the answer."""
        self._mirror(state, keep_newest=True)

    def _with_context(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        self._mirror(request.state, keep_newest=False)
        conversation = self._of(get_config())
        context = from_context(conversation.filled(self._budget, stored_as="openai", **self._options))
        messages: list[Any] = [it for it in context if not isinstance(it, SystemMessage)]
        summary = [str(it.text) for it in context if isinstance(it, SystemMessage)]
        return request.override(messages=messages, system_message=_with_summary(request.system_message, summary))

    def _mirror(self, state: AgentState[Any], *, keep_newest: bool) -> None:
        config = get_config()
        mirror(self._of(config), state["messages"], config, keep_oldest=self._keep_oldest, keep_newest=keep_newest)


def _with_summary(prompt: SystemMessage | None, summary: list[str]) -> SystemMessage | None:
    """The system prompt, with the blocks that it has, such as those marked for a provider's cache."""
    if prompt is None or not summary:
        return SystemMessage("\n\n".join(summary)) if summary else prompt
    if isinstance(prompt.content, str):
        return prompt.model_copy(update={"content": "\n\n".join([prompt.content, *summary])})
    blocks = [{"type": "text", "text": text} for text in summary]
    return prompt.model_copy(update={"content": [*prompt.content, *blocks]})
