"""ADK's state in states of the server: as many keys as fit, and any text as a key.

A state of the server has at most 256 names, and not every text is a name. So a key has a value of its own while it
can. A change that the server refuses moves all keys into one value, `REST`; those that are set later have values of
their own again, which count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.adk.sessions.state import State
from pydantic_core import to_jsonable_python

from utterd import AsyncConversation, AsyncRecipient, ConflictError, InvalidRequestError, StateChange, StateValue

NEVER_STORED = (State.TEMP_PREFIX, "secret:")
"""What the keys begin with that are only in the session in the program."""
Place = AsyncConversation | AsyncRecipient

STAMP = "temp:google_adk"
"""The value with the time of a session's newest event, which every event sets. ADK never stores such a key."""
REST = "temp:google_adk_rest"
"""The value with the keys that have none of their own."""


def parted(state: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The parts of a state that belong to the app, the user and the session, as JSON, without what is never stored."""
    app, user, own = {}, {}, {}
    for key, value in to_jsonable_python(dict(state), serialize_unknown=True).items():
        if key.startswith(State.APP_PREFIX):
            app[key.removeprefix(State.APP_PREFIX)] = value
        elif key.startswith(State.USER_PREFIX):
            user[key.removeprefix(State.USER_PREFIX)] = value
        elif not key.startswith(NEVER_STORED):
            own[key] = value
    return app, user, own


def prefixed(app: Mapping[str, Any], user: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of an app and a user as they are called in a session."""
    keys = {State.APP_PREFIX + key: value for key, value in app.items()}
    return keys | {State.USER_PREFIX + key: value for key, value in user.items()}


def keys_of(state: Mapping[str, StateValue]) -> dict[str, Any]:
    """The keys in a state of the server."""
    values = {name: it.value for name, it in state.items() if name != STAMP}
    return {**values.pop(REST, {}), **values}


async def put(place: Place, keys: Mapping[str, Any]) -> int:
    """Sets keys. Returns the version of what was set; 0 if there are none."""
    change = apart
    while keys:
        try:
            it = await change(place, keys)
            return await place.update_state(set=it.set, delete=it.delete, expected_versions=it.expected_versions)
        except InvalidRequestError as refusal:
            if change is together or not is_of_state(refusal):
                raise
            change = together
        except ConflictError:
            if change is apart:
                raise
    return 0


def is_of_state(refusal: InvalidRequestError) -> bool:
    """Whether the server refused keys: their number, their names or their size."""
    return any(problem.field.endswith(".set") for problem in refusal.fields)


async def apart(place: Place, keys: Mapping[str, Any]) -> StateChange:
    """A change that sets keys, each as a value of its own."""
    return StateChange(set=keys)


async def together(place: Place, keys: Mapping[str, Any]) -> StateChange:
    """A change that sets keys and moves all into `REST`, unless others change them meanwhile."""
    state = await place.state()
    values = {REST: keys_of(state) | {key: value for key, value in keys.items() if key != STAMP}}
    if STAMP in keys:
        values[STAMP] = keys[STAMP]
    return StateChange(
        set=values,
        delete=[name for name in state if name not in (STAMP, REST)],
        expected_versions={name: it.version for name, it in state.items()} or {REST: 0},
    )
