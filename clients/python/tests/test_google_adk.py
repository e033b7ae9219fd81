"""The session service for Google's ADK."""

import asyncio

import pytest

pytest.importorskip("google.adk", reason="pip install 'utterd[google-adk]'")

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from utterd.google_adk import UtterdSessionService

CALL = types.Part(function_call=types.FunctionCall(id="c1", name="lookup", args={"id": 7}))
RESPONSE = types.Part(function_response=types.FunctionResponse(id="c1", name="lookup", response={"state": "shipped"}))


def event(author, *parts, **delta):
    role = "user" if author == "user" or RESPONSE in parts else "model"
    content = types.Content(role=role, parts=[types.Part(text=it) if isinstance(it, str) else it for it in parts])
    return Event(author=author, content=content, actions=EventActions(state_delta=delta))


@pytest.fixture
def service(memory_async):
    return UtterdSessionService(memory_async)


async def fill(service, session):
    image = types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png"))
    events = [
        event("user", "Where is order 7, please?", image),
        event("shop", CALL, step=1),
        event("shop", RESPONSE, step=2),
        event("shop", "It was shipped."),
    ]
    for it in events:
        await service.append_event(session, it)
    return events


async def test_events_and_state_come_back(service, name):
    session = await service.create_session(app_name=name, user_id="u", session_id="s", state={"a": 1, "user:b": 2})
    events = await fill(service, session)
    got = await service.get_session(app_name=name, user_id="u", session_id="s")
    assert got.events == events and got.last_update_time == events[-1].timestamp
    assert got.state == {"a": 1, "user:b": 2, "step": 2}
    recent = GetSessionConfig(num_recent_events=2)
    got = await service.get_session(app_name=name, user_id="u", session_id="s", config=recent)
    assert got.events == events[-2:] and got.state["step"] == 2


async def test_contexts_keep_exchanges_whole(service, name):
    session = await service.create_session(app_name=name, user_id="u", session_id="s")
    await fill(service, session)
    system, contents = await service.context(session, 4000)
    assert system == "" and [it.role for it in contents] == ["user", "model", "user", "model"]
    assert contents[1].parts == [CALL] and contents[2].parts == [RESPONSE]


async def test_a_users_state_outlives_sessions(service, name):
    session = await service.create_session(app_name=name, user_id="u", session_id="s")
    delta = {"user:diet": "vegan", "temp:x": 1, "app:open": True}
    await service.append_event(session, event("shop", "Noted.", **delta))
    await service.delete_session(app_name=name, user_id="u", session_id="s")
    again = await service.create_session(app_name=name, user_id="u", session_id="s")
    assert again.state == {"user:diet": "vegan", "app:open": True}
    other = await service.create_session(app_name=name, user_id="v", session_id="s")
    assert other.state == {"app:open": True}


async def test_two_writers_of_one_state_lose_nothing(service, name):
    session = await service.create_session(app_name=name, user_id="u", session_id="s")
    await asyncio.gather(*(service.append_event(session, event("shop", "x", **{f"k{n}": n})) for n in range(8)))
    got = await service.get_session(app_name=name, user_id="u", session_id="s")
    assert got.state == {f"k{n}": n for n in range(8)} and len(got.events) == 8


async def test_sessions_of_a_user(service, name):
    for id in ("s1", "s2"):
        await service.create_session(app_name=name, user_id="u", session_id=id, state={"app:x": id})
    with pytest.raises(ValueError, match="already exists"):
        await service.create_session(app_name=name, user_id="u", session_id="s1")
    listed = await service.list_sessions(app_name=name, user_id="u")
    assert [it.id for it in listed.sessions] == ["s1", "s2"]
    await service.delete_session(app_name=name, user_id="u", session_id="s1")
    assert await service.get_session(app_name=name, user_id="u", session_id="s1") is None
    other = await service.create_session(app_name=name, user_id="v")
    listed = await service.list_sessions(app_name=name, user_id=None)
    assert [(it.user_id, it.id) for it in listed.sessions] == [("u", "s2"), ("v", other.id)]
    assert other.state == {"app:x": "s2"}
