"""Sessions for Strands Agents.

    memory = utterd.connect()
    sessions = UtterdSessionManager("order-7", memory, budget=8000)
    agent = Agent(session_manager=sessions, conversation_manager=UtterdConversationManager(sessions))

An agent's messages are a conversation: texts, tool uses and their results in Anthropic's format, so that the server
knows which result answers which call, together with Strands' own data. State is an empty message of its own, which is
replaced in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

from strands.agent.conversation_manager import ConversationManager
from strands.hooks import BeforeModelCallEvent, HookRegistry
from strands.session.repository_session_manager import RepositorySessionManager
from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage

from utterd import (
    Client,
    ConflictError,
    Context,
    Conversation,
    ExistsError,
    InvalidRequestError,
    Policy,
    PreconditionError,
    Shown,
    StoredMessage,
)
from utterd._blocks import block_messages
from utterd._ids import fit
from utterd._limits import limits
from utterd._strands_messages import (
    FIELD,
    cut_to,
    is_system,
    message_of,
    results_in,
    said_of,
    strands_message,
    texts_of,
)

if TYPE_CHECKING:
    from strands import Agent
    from strands.multiagent.base import MultiAgentBase
    from strands.types.content import Message, SystemContentBlock

__all__ = ["UtterdConversationManager", "UtterdSessionManager", "UtterdSessionRepository"]

SESSION, AGENT = "session", "agent"
"""The ids of the messages that hold a session's and an agent's state. Other ids have a prefix."""
LABEL = "strands_session"
"""The label for the session of an agent's conversation."""


class UtterdSessionRepository(SessionRepository):
    """Sessions, agents and their messages on an utterd server."""

    def __init__(
        self, memory: Client, *, user: str = "strands", budget: int | None = None, policy: Policy | None = None
    ) -> None:
        """
        - `user`: the conversations' recipient.
        - `budget`: the tokens of a context, unless it is asked for with others.
        - `policy`: limits for each agent's conversation; by default everything stays stored, and the window fits the
          budget.
        """
        self._memory = memory
        self._user = user
        self._budget = budget
        self._policy = limits(budget, policy)
        self._known: set[tuple[str, str]] = set()

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        """Stores a session; SessionException if there is one with its id."""
        try:
            # Never evicted and never summarised: nothing is said in it.
            self._memory.create(
                self._of_session(session.session_id).id,
                recipient=self._user,
                policy=Policy(preset="session", summaries=False),
                labels={LABEL: session.session_id},
            )
        except ExistsError as error:
            raise SessionException(f"Session {session.session_id} already exists") from error
        _put(self._of_session(session.session_id), SESSION, session.to_dict())
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        """The session; None if there is none."""
        state = _state(self._of_session(session_id), SESSION)
        return None if state is None else Session.from_dict(state)

    def delete_session(self, session_id: str, **kwargs: Any) -> None:
        """Removes a session with its agents and their messages."""
        found = [it for it in self._memory.conversations(self._user) if it.labels.get(LABEL) == session_id]
        if not found:
            raise SessionException(f"Session {session_id} does not exist")
        for record in found:
            self._memory.conversation(record.conversation_id).delete()
        self._known = {known for known in self._known if known[0] != session_id}

    def create_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Stores an agent; SessionException if there is one with its id, or no such session."""
        self._need_session(session_id)
        agent_id = session_agent.agent_id
        try:
            conversation = self._memory.create(
                self._of_agent(session_id, agent_id).id,
                recipient=self._user,
                policy=self._policy,
                labels={LABEL: session_id},
            )
        except ExistsError as error:
            raise SessionException(f"Agent {agent_id} already exists in session {session_id}") from error
        _put(conversation, AGENT, session_agent.to_dict())
        self._known.add((session_id, agent_id))

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> SessionAgent | None:
        """The agent; None if there is none."""
        state = _state(self._of_agent(session_id, agent_id), AGENT)
        return None if state is None else SessionAgent.from_dict(state)

    def update_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Replaces the agent with its id."""
        agent_id = session_agent.agent_id
        before = _state(self._of_agent(session_id, agent_id), AGENT)
        if before is None:
            raise SessionException(f"Agent {agent_id} in session {session_id} does not exist")
        session_agent.created_at = before["created_at"]
        _put(self._of_agent(session_id, agent_id), AGENT, session_agent.to_dict())

    def create_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any) -> None:
        """Stores a message; SessionException if there is one with its id, or no such agent."""
        self._need_agent(session_id, agent_id)
        try:
            self._of_agent(session_id, agent_id).store(
                said_of(session_message), format="anthropic", ids=[_id(session_message.message_id)]
            )
        except ExistsError as error:
            raise SessionException(f"Message {session_message.message_id} already exists") from error

    def read_message(self, session_id: str, agent_id: str, message_id: int, **kwargs: Any) -> SessionMessage | None:
        """The message; None if there is none."""
        stored = self._stored(session_id, agent_id, message_id)
        return None if stored is None else message_of(stored)

    def update_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any) -> None:
        """Replaces the message with its id."""
        while True:
            stored = self._stored(session_id, agent_id, session_message.message_id)
            if stored is None:
                raise SessionException(f"Message {session_message.message_id} does not exist")
            session_message.created_at = message_of(stored).created_at
            conversation = self._of_agent(session_id, agent_id)
            said = said_of(session_message)
            try:
                conversation.store(said, format="anthropic", ids=[stored.utterance_id], upsert=True)
                return
            except (InvalidRequestError, PreconditionError):
                if stored.utterance_count == 1 and results_in(said) < 2:
                    raise
            # Several tool results are several utterances, which cannot be replaced in place: the rest is stored again.
            behind = conversation.stored(after=stored.last_sequence, format="anthropic")
            try:
                conversation.replace_after(
                    stored.sequence - 1,
                    [said, *(it.message for it in behind.messages)],
                    format="anthropic",
                    ids=[stored.utterance_id, *(it.utterance_id for it in behind.messages)],
                    lenient=True,
                    expected_revision=behind.revision,
                )
                return
            except ConflictError:
                continue

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **kwargs: Any
    ) -> list[SessionMessage]:
        """The agent's messages in the order they were stored, at most `limit` after the first `offset`."""
        self._need_agent(session_id, agent_id)
        conversation = self._of_agent(session_id, agent_id)
        # The first sequence is the agent's state.
        stored = conversation.stored(after=1, offset=offset, limit=limit, format="anthropic")
        return list(map(message_of, stored.messages))

    def context(self, session_id: str, agent_id: str, budget: int | None = None) -> tuple[str, list[Message]]:
        """What goes to the model within a token budget: a text for the system prompt, and messages.

        The text summarises what is not among the messages.
        """
        shown = self.shown(session_id, agent_id, budget).shown
        head = list(takewhile(is_system, shown))
        said = block_messages(shown[len(head) :])
        return "\n".join(texts_of(head)), [strands_message(it) for it in said]

    def shown(self, session_id: str, agent_id: str, budget: int | None = None) -> Context:
        """The context of an agent's messages, with the stored ones that it shows."""
        conversation = self._of_agent(session_id, agent_id)
        return conversation.filled(budget or self._budget, stored_as="anthropic")

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Stores the state of several agents that work together."""
        self._need_session(session_id)
        _put(self._of_session(session_id), _multi(multi_agent.id), multi_agent.serialize_state())

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **kwargs: Any) -> dict[str, Any] | None:
        """That state; None if there is none."""
        return _state(self._of_session(session_id), _multi(multi_agent_id))

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Replaces that state."""
        if _state(self._of_session(session_id), _multi(multi_agent.id)) is None:
            raise SessionException(f"MultiAgent {multi_agent.id} does not exist in session {session_id}")
        _put(self._of_session(session_id), _multi(multi_agent.id), multi_agent.serialize_state())

    def _of_session(self, session_id: str) -> Conversation:
        return self._memory.conversation(fit(session_id))

    def _of_agent(self, session_id: str, agent_id: str) -> Conversation:
        return self._memory.conversation(fit(session_id, agent_id))

    def _need_session(self, session_id: str) -> None:
        if _state(self._of_session(session_id), SESSION) is None:
            raise SessionException(f"Session {session_id} does not exist")

    def _need_agent(self, session_id: str, agent_id: str) -> None:
        # Checked only once: every message would check it again.
        if (session_id, agent_id) in self._known:
            return
        if _state(self._of_agent(session_id, agent_id), AGENT) is None:
            raise SessionException(f"Agent {agent_id} does not exist in session {session_id}")
        self._known.add((session_id, agent_id))

    def _stored(self, session_id: str, agent_id: str, message_id: int) -> StoredMessage | None:
        conversation = self._of_agent(session_id, agent_id)
        stored = conversation.stored(ids=[_id(message_id)], format="anthropic", missing_ok=True)
        return stored.messages[0] if stored.messages else None


class UtterdSessionManager(RepositorySessionManager, UtterdSessionRepository):
    """A session manager over an utterd server, for one session."""

    def __init__(
        self,
        session_id: str,
        memory: Client,
        *,
        user: str = "strands",
        budget: int | None = None,
        policy: Policy | None = None,
        **kwargs: Any,
    ) -> None:
        """The arguments are those of `UtterdSessionRepository`."""
        UtterdSessionRepository.__init__(self, memory, user=user, budget=budget, policy=policy)
        RepositorySessionManager.__init__(self, session_id=session_id, session_repository=self, **kwargs)


class UtterdConversationManager(ConversationManager):
    """Gives the model what a session's context contains: the newest messages, and in the system prompt a summary."""

    def __init__(self, sessions: UtterdSessionManager, *, budget: int | None = None) -> None:
        """
        - `sessions`: the agent's session manager. Everything stays stored there.
        - `budget`: the most tokens of summary and messages; by default that of the session manager.
        """
        super().__init__()
        self._sessions = sessions
        self._budget = budget
        self._prompt: list[SystemContentBlock] = []
        self._summary: list[SystemContentBlock] = []
        self._before = 0
        """How many messages of the agent's are only the context's: they come before what is stored."""

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        super().register_hooks(registry, **kwargs)
        registry.add_callback(BeforeModelCallEvent, lambda event: self.apply_management(event.agent))

    def apply_management(self, agent: Agent, **kwargs: Any) -> None:
        """Leaves what the context contains."""
        self._trim(agent, self._budget)

    def reduce_context(self, agent: Agent, e: Exception | None = None, **kwargs: Any) -> None:
        """Leaves half of what the model refused as too long; raises its error if that is nothing less."""
        before = len(agent.messages)
        half = self._trim(agent, self._budget) // 2
        try:
            self._trim(agent, half)
        except InvalidRequestError as error:
            # The newest exchange has more tokens than this.
            raise e or error from error
        if e is not None and len(agent.messages) == before:
            raise e
        self._budget = half

    def _trim(self, agent: Agent, budget: int | None) -> int:
        """Returns the tokens of the context that the agent is left with."""
        context = self._sessions.shown(self._sessions.session_id, agent.agent_id, budget)
        head = list(takewhile(is_system, context.shown))
        self._keep(agent, context.shown[len(head) :])
        prompt = agent.system_prompt_content or []
        if prompt != self._prompt + self._summary:
            # Someone else set it.
            self._prompt = prompt
        self._summary = [{"text": text} for text in texts_of(head)]
        agent.system_prompt = self._prompt + self._summary or None
        return context.tokens

    def _keep(self, agent: Agent, shown: Sequence[Shown]) -> None:
        """Leaves what is shown. Messages that another client stored have ids of another form, and are not there."""
        ids = [_number(it) for it in shown]
        first = next((id for id in ids if id is not None), None)
        if first is None:
            return
        leaving = max(first - self.removed_message_count, 0)
        kept = agent.messages[self._before + leaving :]
        self.removed_message_count += leaving
        for id, it in zip(ids, shown, strict=True):
            place = -1 if id is None else id - self.removed_message_count
            if it.cut and 0 <= place < len(kept):
                kept[place] = cut_to(kept[place], it)
        before = shown[: ids.index(first)] if self.removed_message_count else []
        mine = [strands_message(said) for said in block_messages(before)]
        self._before = len(mine)
        agent.messages[:] = mine + kept


def _number(it: Shown) -> int | None:
    id = it.stored.utterance_id if it.stored else ""
    return int(id.removeprefix(_id(""))) if id.startswith(_id("")) else None


def _id(message_id: int | str) -> str:
    return f"message-{message_id}"


def _multi(multi_agent_id: str) -> str:
    return fit("multi-agent", multi_agent_id)


def _put(conversation: Conversation, id: str, state: dict[str, Any]) -> None:
    conversation.store({"role": "system", "content": "", FIELD: state}, format="openai", ids=[id], upsert=True)


def _state(conversation: Conversation, id: str) -> dict[str, Any] | None:
    stored = conversation.stored(ids=[id], missing_ok=True).messages
    return cast(dict[str, Any], stored[0].message[FIELD]) if stored else None
