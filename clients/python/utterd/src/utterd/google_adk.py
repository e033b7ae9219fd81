"""A session service for Google's Agent Development Kit.

    memory = utterd.connect_async()
    runner = Runner(agent=agent, app_name="shop", session_service=UtterdSessionService(memory))

An event is a message of the session's conversation: texts, function calls and their responses in Anthropic's format,
so that the server knows which response answers which call, together with ADK's own data. A session's state belongs to
its conversation, and a user's (`user:`) to the recipient: an event and its changes to both are stored in one commit.
An app's state (`app:`) belongs to a recipient of its own. Each has at most 256 keys, of 256 bytes, and 1 MiB.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from google.adk.sessions.session import Session
from google.adk.sessions.state import State
from google.genai import types

from utterd import (
    AsyncClient,
    AsyncConversation,
    AsyncRecipient,
    ExistsError,
    NotFoundError,
    Policy,
    StateChange,
    StoredMessage,
)
from utterd._blocks import blocks_of
from utterd._fold import fold, unfold
from utterd._ids import fit

__all__ = ["UtterdSessionService"]

FIELD = "google_adk"
"""The field of a message that holds ADK's own data."""
LABEL = "google_adk_session"
"""The label for the session of a conversation."""
APP, USER, START = "google_adk_app", "google_adk_user", "google_adk_start"
"""The labels for its app, its user, and when it was created, in seconds."""


class UtterdSessionService(BaseSessionService):
    """Sessions, their events and state, and the state of users and apps, on an utterd server."""

    def __init__(self, memory: AsyncClient, *, policy: Policy | None = None) -> None:
        """`policy`: limits for each session's conversation; by default the server's."""
        self._memory = memory
        self._policy = policy

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
        **kwargs: Any,
    ) -> Session:
        """Creates a session; ValueError if there is one with its id."""
        session_id, now = (session_id or "").strip() or str(uuid.uuid4()), time.time()
        at = self._session(app_name, user_id, session_id)
        try:
            await self._memory.create(
                at.id,
                recipient=at.recipient,
                policy=self._policy,
                labels={APP: app_name, USER: user_id, LABEL: session_id, START: repr(now)},
            )
        except ExistsError as error:
            raise ValueError(f"session {session_id} of {user_id} already exists") from error
        app, user, own = _parted(state or {})
        places = (at, own), (self._user(app_name, user_id), user), (self._app(app_name), app)
        await asyncio.gather(*(place.update_state(set=values) for place, values in places if values))
        return Session(
            app_name=app_name,
            user_id=user_id,
            id=session_id,
            state={**own, **await self._shared(app_name, user_id)},
            last_update_time=now,
        )

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """The session with its events, or the newest of them; None if there is no session."""
        at = self._session(app_name, user_id, session_id)
        last = config.num_recent_events if config else None
        try:
            record, stored, own, shared = await asyncio.gather(
                at.record(), at.stored(last=last or None), _values(at), self._shared(app_name, user_id)
            )
        except NotFoundError:
            return None
        events = [_event(it) for it in stored.messages]
        updated = max([float(record.labels.get(START, 0)), *(event.timestamp for event in events)])
        if config and config.after_timestamp:
            events = [event for event in events if event.timestamp >= config.after_timestamp]
        return Session(
            app_name=app_name,
            user_id=user_id,
            id=session_id,
            state={**own, **shared},
            events=events,
            last_update_time=updated,
        )

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """A user's sessions, or everybody's, without events and state, the oldest first."""
        recipient = "" if user_id is None else self._session(app_name, user_id, "").recipient or ""
        records = await self._memory.conversations(recipient, all_recipients=user_id is None, order="oldest_start")
        return ListSessionsResponse(
            sessions=[
                Session(
                    app_name=app_name,
                    user_id=record.labels[USER],
                    id=record.labels[LABEL],
                    last_update_time=record.update_time.timestamp(),
                )
                for record in records
                if record.labels.get(APP) == app_name and LABEL in record.labels
            ]
        )

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Removes a session with its events and state. The user's and the app's stay."""
        await self._session(app_name, user_id, session_id).delete()

    async def append_event(self, session: Session, event: Event) -> Event:
        """Stores an event, and in the same commit its changes to the session's and the user's state."""
        event = await super().append_event(session=session, event=event)
        if event.partial:
            return event
        session.last_update_time = event.timestamp
        app, user, own = _parted(event.actions.state_delta if event.actions else {})
        await self._session(session.app_name, session.user_id, session.id).add(
            _said(event),
            ids=[event.id],
            upsert=True,
            format="anthropic",
            lenient=True,
            state=StateChange(set=own) if own else None,
            recipient_state=StateChange(set=user) if user else None,
        )
        if app:
            await self._app(session.app_name).update_state(set=app)
        return event

    async def context(self, session: Session, budget: int | None = None) -> tuple[str, list[types.Content]]:
        """What goes to the model within a token budget: a text for the system prompt, and contents.

        The text summarises what is not among the contents.
        """
        at = self._session(session.app_name, session.user_id, session.id)
        context = await at.context(budget, "anthropic", unanswered="placeholder")
        return "\n".join(block["text"] for block in context.system), _contents(context)

    async def _shared(self, app_name: str, user_id: str) -> dict[str, Any]:
        app, user = await asyncio.gather(_values(self._app(app_name)), _values(self._user(app_name, user_id)))
        prefixed = {State.APP_PREFIX + key: value for key, value in app.items()}
        return prefixed | {State.USER_PREFIX + key: value for key, value in user.items()}

    def _session(self, app_name: str, user_id: str, session_id: str) -> AsyncConversation:
        return self._memory.conversation(fit(app_name, user_id, session_id), recipient=fit(app_name, user_id))

    def _user(self, app_name: str, user_id: str) -> AsyncRecipient:
        return self._memory.recipient(fit(app_name, user_id))

    def _app(self, app_name: str) -> AsyncRecipient:
        return self._memory.recipient(fit("state", app_name))


async def _values(place: AsyncConversation | AsyncRecipient) -> dict[str, Any]:
    return {name: it.value for name, it in (await place.state()).items()}


def _parted(state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The parts of a state that belong to the app, the user and the session; temporary keys are dropped."""
    app, user, own = {}, {}, {}
    for key, value in state.items():
        if key.startswith(State.APP_PREFIX):
            app[key.removeprefix(State.APP_PREFIX)] = value
        elif key.startswith(State.USER_PREFIX):
            user[key.removeprefix(State.USER_PREFIX)] = value
        elif not key.startswith(State.TEMP_PREFIX):
            own[key] = value
    return app, user, own


def _said(event: Event) -> dict[str, Any]:
    """The event as a message in Anthropic's format, with ADK's own data in an extra field."""
    parts = (event.content.parts or []) if event.content else []
    blocks = [block for part in parts if (block := _block(part)) is not None]
    answers = any(block["type"] == "tool_result" for block in blocks)
    said = {"role": "user" if answers or event.author == "user" else "assistant", "content": blocks}
    return fold(said, FIELD, json.loads(event.model_dump_json(exclude_none=True)))


def _block(part: types.Part) -> dict[str, Any] | None:
    """A part in Anthropic's format; None unless it is a text, call or response."""
    if call := part.function_call:
        return {"type": "tool_use", "id": call.id or call.name, "name": call.name, "input": call.args or {}}
    if response := part.function_response:
        text = json.dumps(response.response, ensure_ascii=False, default=str)
        return {"type": "tool_result", "tool_use_id": response.id or response.name, "content": text}
    return {"type": "text", "text": part.text} if part.text and not part.thought else None


def _event(stored: StoredMessage) -> Event:
    if FIELD in stored.message:
        return Event.model_validate_json(json.dumps(unfold(stored.message, FIELD)))
    # stored by another client
    content = _contents([stored.message])[0]
    author = "user" if content.role == "user" else "model"
    return Event(id=stored.utterance_id, author=author, content=content, timestamp=stored.time.timestamp())


def _contents(messages: list[dict[str, Any]]) -> list[types.Content]:
    """Converts messages in Anthropic's format to contents."""
    names: dict[str, str] = {}
    contents = []
    for message in messages:
        blocks = blocks_of(message)
        names |= {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
        role = "model" if message["role"] == "assistant" else "user"
        contents.append(types.Content(role=role, parts=[_part(block, names) for block in blocks]))
    return contents


def _part(block: dict[str, Any], names: dict[str, str]) -> types.Part:
    if block["type"] == "tool_use":
        call = types.FunctionCall(id=block["id"], name=block["name"], args=block["input"])
        return types.Part(function_call=call)
    if block["type"] == "tool_result":
        id = block["tool_use_id"]
        response = types.FunctionResponse(id=id, name=names.get(id, id), response=_response(block.get("content")))
        return types.Part(function_response=response)
    return types.Part(text=block["text"])


def _response(content: Any) -> dict[str, Any]:
    """A function's response, parsed from its text."""
    try:
        response = json.loads(content or "")
    except ValueError:
        return {"result": content}
    return response if isinstance(response, dict) else {"result": response}
