"""A session service for Google's Agent Development Kit.

    memory = utterd.connect_async()
    runner = Runner(agent=agent, app_name="shop", session_service=UtterdSessionService(memory))

An event is a message of the session's conversation: texts, pictures, function calls and their responses in Anthropic's
format, so that the server knows which response answers which call, together with ADK's own data. A session's state
belongs to its conversation, and a user's (`user:`) to the recipient: an event and its changes to both are stored in
one commit. An app's state (`app:`) belongs to a recipient of its own, and is changed just before. Each has at most
1 MiB: an event that would exceed it is not stored.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import takewhile
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from google.adk.events.event import Event
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from google.adk.sessions.session import Session
from google.genai import types
from pydantic import PrivateAttr

from utterd import (
    AsyncClient,
    AsyncConversation,
    AsyncRecipient,
    ConflictError,
    ConversationRecord,
    ExistsError,
    InvalidRequestError,
    NotFoundError,
    Policy,
    Shown,
    StateValue,
    Stored,
)
from utterd._blocks import block_messages, text_of
from utterd._google_adk_events import contents, cut_to, dumped, event_of, said, same
from utterd._google_adk_state import STAMP, Place, apart, is_of_state, keys_of, parted, prefixed, put, together
from utterd._ids import fit

__all__ = ["UtterdSessionService"]

logger = logging.getLogger("utterd")
T = TypeVar("T")
R = TypeVar("R")

LABEL = "google_adk_session"
"""The label for the session of a conversation."""
APP, USER = "google_adk_app", "google_adk_user"
"""The labels for its app and its user."""
AT_ONCE = 32
"""How many sessions of a list are read at the same time."""


def _error(module: str, name: str) -> type[Exception]:
    """An error of ADK's, as a ValueError, which is what versions without it raise."""
    try:
        its: type[Exception] = getattr(import_module(f"google.adk.errors.{module}"), name)
    except ImportError:
        return ValueError
    return its if issubclass(its, ValueError) else type(name, (its, ValueError), {})


AlreadyExists = _error("already_exists_error", "AlreadyExistsError")
SessionNotFound = _error("session_not_found_error", "SessionNotFoundError")
StaleSession = _error("_stale_session_error", "StaleSessionError")


class _Session(Session):
    """A session that knows what it is a copy of."""

    _version: int = PrivateAttr(default=0)
    """The version of the stored session's `STAMP`; 0 if it has none."""


class UtterdSessionService(BaseSessionService):
    """Sessions, their events and state, and the state of users and apps, on an utterd server."""

    def __init__(self, memory: AsyncClient, *, policy: Policy | None = None) -> None:
        """`policy`: limits for each session's conversation; by default the server's."""
        self._memory = memory
        self._policy = policy
        self._turns: WeakValueDictionary[tuple[int, str | None], asyncio.Lock] = WeakValueDictionary()

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
        **kwargs: Any,
    ) -> Session:
        """Creates a session; ADK's AlreadyExistsError, which is also a ValueError, if there is one with its id."""
        session_id, now = (session_id or "").strip() or str(uuid.uuid4()), time.time()
        app, user, own = parted(state or {})
        at = self._session(app_name, user_id, session_id)
        labels = {APP: app_name, USER: user_id, LABEL: session_id}
        try:
            await self._memory.create(at.id, recipient=at.recipient, policy=self._policy, labels=labels)
        except ExistsError as error:
            raise AlreadyExists(f"session {session_id} of {user_id} already exists") from error
        try:
            version = await put(at, {**own, STAMP: now})
            await put(self._user(app_name, user_id), user)
            await put(self._app(app_name), app)
        except Exception:
            await at.delete()
            raise
        shared = await self._shared(app_name, user_id)
        return _made(app_name, user_id, session_id, {**own, **shared}, now, version)

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """The session with its events, or the newest of them; None if there is no session."""
        session_id = session_id.strip()
        at = self._session(app_name, user_id, session_id)
        try:
            (stored, state), shared = await asyncio.gather(
                _read(at, config.num_recent_events if config else None), self._shared(app_name, user_id)
            )
            updated, version = await _stamp(at, state)
        except NotFoundError:
            return None
        session = _made(app_name, user_id, session_id, {**keys_of(state), **shared}, updated, version)
        since = (config and config.after_timestamp) or 0
        session.events = [event for it in stored.messages if (event := event_of(it)).timestamp >= since]
        return session

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """A user's sessions, or everybody's, without events, the one that was updated last at the end."""
        recipient = "" if user_id is None else self._session(app_name, user_id, "").recipient or ""
        records = await self._memory.conversations(recipient, all_recipients=user_id is None)
        records = [record for record in records if record.labels.get(APP) == app_name and LABEL in record.labels]
        users = {record.labels[USER] for record in records}
        shared = dict(zip(users, await _each(users, lambda user: self._shared(app_name, user)), strict=True))
        sessions: list[Session] = [it for it in await _each(records, self._listed) if it is not None]
        for session in sessions:
            session.state.update(shared[session.user_id])
        sessions.sort(key=lambda it: (it.last_update_time, it.user_id, it.id))
        return ListSessionsResponse(sessions=sessions)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """A user's state; its keys have no prefix."""
        return await _keys(self._user(app_name, user_id))

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Removes a session with its events and state. The user's and the app's stay."""
        await self._session(app_name, user_id, session_id.strip()).delete()

    async def append_event(self, session: Session, event: Event) -> Event:
        """Stores an event, and in the same commit its changes to the session's and the user's state.

        ADK's SessionNotFoundError if the session was deleted, and its StaleSessionError if others have appended since
        `session` was read; both are ValueErrors. An event that cannot be stored changes neither the stored session nor
        `session`, and one that is already stored is not stored again.
        """
        if event.partial:
            return event
        at = self._session(session.app_name, session.user_id, session.id)
        async with self._turns.setdefault((id(asyncio.get_running_loop()), at.id), asyncio.Lock()):
            version = await self._store(at, session, event)
            if version is None:
                return event
            if isinstance(session, _Session):
                session._version = version
            session.last_update_time = event.timestamp
            return await super().append_event(session=session, event=event)

    async def _store(self, at: AsyncConversation, session: Session, event: Event) -> int | None:
        """Stores an event. Returns the version of the session; None if the event was already stored."""
        app, user, own = parted(event.actions.state_delta if event.actions else {})
        own[STAMP], message = event.timestamp, said(event)
        version = session._version if isinstance(session, _Session) else 0
        if app or not version:
            version = await _basis(at, session)
            await put(self._app(session.app_name), app)
        ids, change = [event.id], apart
        while True:
            try:
                state = await change(at, own)
                added = await at.add(
                    message,
                    ids=ids,
                    format="anthropic",
                    lenient=True,
                    oversize=at.address.oversize or "cut",
                    state=replace(state, expected_versions={**state.expected_versions, STAMP: version}),
                    recipient_state=await change(self._user(session.app_name, session.user_id), user) if user else None,
                )
                return added.revision
            except ExistsError:
                if await _has(at, event):
                    return None
                # This is another event with the same id.
                ids = []
            except InvalidRequestError as refusal:
                if change is together or not is_of_state(refusal):
                    raise
                change = together
            except (ConflictError, NotFoundError):
                await _basis(at, session)

    async def context(self, session: Session, budget: int | None = None) -> tuple[str, list[types.Content]]:
        """What goes to the model within a token budget: a text for the system prompt, and contents.

        The text summarises what is not among the contents. What is shown whole is as the events said it. Large messages
        have 2 MiB in all; if pictures and files of older ones are left out, a warning is logged.
        """
        head, shown = await self._shown(session, budget)
        return "\n".join(head), contents(block_messages(shown))

    def trimmed(self, budget: int | None = None) -> Callable[..., Awaitable[None]]:
        """A `before_model_callback` for agents: cuts what a session adds to a request down to a token budget.

        The oldest turns are left out, and a summary of them is appended to the instructions. What is larger than the
        budget allows, such as a long response of a function, is cut to its head and tail.
        """

        async def trim(callback_context: Any, llm_request: Any) -> None:
            # Older versions of ADK have no public name for it.
            session: Session = (
                getattr(callback_context, "session", None) or callback_context._invocation_context.session
            )
            head, shown = await self._shown(session, budget)
            events = [(it, event_of(it.stored)) for it in shown if it.stored]
            oldest = next((it for it in events if it[1].content), None)
            if oldest is None:
                return
            said = llm_request.contents[_place(llm_request.contents, session.events, oldest[1]) :]
            for it, event in events:
                if it.cut:
                    said = cut_to(said, event, it)
            if len(said) < len(llm_request.contents):
                # Such as the question that the newest steps are about.
                said = contents(block_messages(shown[: shown.index(oldest[0])])) + said
                llm_request.append_instructions(head)
            llm_request.contents = said

        return trim

    async def _shown(self, session: Session, budget: int | None) -> tuple[list[str], Sequence[Shown]]:
        """The texts for the system prompt, and what else a context shows."""
        at = self._session(session.app_name, session.user_id, session.id)
        context = await at.context(budget, unanswered="placeholder", stored_as="anthropic")
        for warning in context.warnings:
            logger.warning("context of session %s: %s", session.id, warning)
        head = list(takewhile(lambda it: it.message.get("role") == "system", context.shown))
        return [text_of(it.message["content"]) for it in head], context.shown[len(head) :]

    async def _listed(self, record: ConversationRecord) -> _Session | None:
        """A session with its own state; None if it was deleted meanwhile."""
        at = self._memory.conversation(record.conversation_id)
        try:
            state = await at.state()
            updated, version = await _stamp(at, state)
        except NotFoundError:
            return None
        names = record.labels[APP], record.labels[USER], record.labels[LABEL]
        return _made(*names, keys_of(state), updated, version)

    async def _shared(self, app_name: str, user_id: str) -> dict[str, Any]:
        app, user = await asyncio.gather(_keys(self._app(app_name)), _keys(self._user(app_name, user_id)))
        return prefixed(app, user)

    def _session(self, app_name: str, user_id: str, session_id: str) -> AsyncConversation:
        return self._memory.conversation(fit(app_name, user_id, session_id), recipient=fit(app_name, user_id))

    def _user(self, app_name: str, user_id: str) -> AsyncRecipient:
        return self._memory.recipient(fit(app_name, user_id))

    def _app(self, app_name: str) -> AsyncRecipient:
        return self._memory.recipient(fit("state", app_name))


def _made(app_name: str, user_id: str, id: str, state: dict[str, Any], updated: float, version: int) -> _Session:
    session = _Session(app_name=app_name, user_id=user_id, id=id, state=state, last_update_time=updated)
    session._version = version
    return session


async def _keys(place: Place) -> dict[str, Any]:
    return keys_of(await place.state())


async def _read(at: AsyncConversation, last: int | None) -> tuple[Stored, dict[str, StateValue]]:
    """Messages and state, the messages at least as new."""
    if last == 0:
        return Stored("", 0, ()), await at.state()
    while True:
        stored, state = await asyncio.gather(at.stored(last=last), at.state())
        if STAMP not in state or state[STAMP].version <= stored.revision:
            return stored, state


async def _stamp(at: AsyncConversation, state: dict[str, StateValue]) -> tuple[float, int]:
    """When a session was updated, in seconds, and the version of its `STAMP`."""
    if STAMP in state:
        return state[STAMP].value, state[STAMP].version
    # Older versions of this package stored none.
    return (await at.record()).update_time.timestamp(), 0


async def _basis(at: AsyncConversation, session: Session) -> int:
    """The version of the stored session, if that is what `session` is a copy of."""
    try:
        updated, version = await _stamp(at, await at.state(STAMP))
    except NotFoundError as error:
        raise SessionNotFound(f"there is no session {session.id} of {session.user_id}") from error
    # One that comes from elsewhere, such as JSON, has only its time.
    if version != session._version if isinstance(session, _Session) else updated > session.last_update_time:
        raise StaleSession(f"session {session.id} was modified in storage after it was read: get it again")
    return version


async def _has(at: AsyncConversation, event: Event) -> bool:
    stored = await at.stored(ids=[event.id])
    return any(dumped(event_of(it)) == dumped(event) for it in stored.messages)


async def _each(items: Collection[T], do: Callable[[T], Awaitable[R]]) -> list[R]:
    """What a function returns for each item, a few at a time."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(item: T) -> R:
        async with gate:
            return await do(item)

    return await asyncio.gather(*map(one, items))


def _place(contents: list[types.Content], events: list[Event], oldest: Event) -> int:
    """Where what an event said begins in what ADK made of `events`; 0 if it is not there."""
    ids = [event.id for event in events]
    if oldest.id not in ids:
        return 0
    said_again = sum(same(event.content, oldest.content) for event in events[ids.index(oldest.id) :])
    places = [place for place, content in enumerate(contents) if same(content, oldest.content)]
    return places[-said_again] if said_again <= len(places) else 0
