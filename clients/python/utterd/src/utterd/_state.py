"""Named values of a conversation or a recipient. Each operation is defined once, for both clients."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from utterd import _model as model
from utterd._adding import state_change
from utterd._address import CONVERSATIONS, Address
from utterd._calls import Steps, call
from utterd._calls import request_id as attempt
from utterd._proto import conversation_service_pb2 as conversations


class Values(dict[str, model.StateValue]):
    """Values by name."""

    def __missing__(self, name: str) -> model.StateValue:
        raise KeyError(f"there is no value {name!r}; state.get({name!r}) is None then")


def state(at: Address, *names: str) -> Steps[dict[str, model.StateValue]]:
    """The values of the conversation or the recipient, by name: those with these names, or all.

    They are read at one moment. A name that does not exist is left out.
    """
    request = conversations.GetStateRequest(
        conversation_id=at.conversation_id, recipient_id=at.recipient_id, scope=_scope(at), names=names
    )
    it = yield from call(CONVERSATIONS, "GetState", request, conversations.GetStateResponse)
    return Values({value.name: _value(value) for value in it.values})


def update_state(
    at: Address,
    *,
    set: Mapping[str, Any] | None = None,
    delete: Iterable[str] = (),
    expected_versions: Mapping[str, int] | None = None,
    expected_revision: int | None = None,
    request_id: str | None = None,
) -> Steps[int]:
    """Sets and deletes values of the conversation or the recipient, all or none; other values stay.

    The conversation must exist; `add` with a `state` starts one. Returns the revision of the conversation, or of the
    recipient's values, after the change, which is the version of each value that was set.

    - `set`: values by name: bytes, or what JSON can represent.
    - `expected_versions`: `ConflictError` if a named value is at another version; 0 means that it must not exist.
    """
    change = model.StateChange(set=set or {}, delete=tuple(delete), expected_versions=expected_versions or {})
    written = state_change(change)
    request = conversations.UpdateStateRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        scope=_scope(at),
        change=written,
        expected_revision=expected_revision,
        request_id=attempt(request_id),
    )
    it = yield from call(CONVERSATIONS, "UpdateState", request, conversations.UpdateStateResponse)
    return it.revision


def _scope(at: Address) -> conversations.StateScope:
    return conversations.STATE_SCOPE_RECIPIENT if at.of_recipient else conversations.STATE_SCOPE_CONVERSATION


def _value(it: conversations.StateValue) -> model.StateValue:
    value = it.data if it.HasField("data") else json.loads(it.json)
    return model.StateValue(value=value, version=it.version)
