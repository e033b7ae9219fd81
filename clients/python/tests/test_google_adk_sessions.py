"""What ADK expects of a session service: states, times, order, and errors."""

import asyncio
import datetime
import json

import pytest

pytest.importorskip("google.adk", reason="pip install 'utterd[google-adk]'")

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.session import Session

import utterd
from utterd.google_adk import UtterdSessionService

try:
    from google.adk.errors._stale_session_error import StaleSessionError
    from google.adk.errors.already_exists_error import AlreadyExistsError
    from google.adk.errors.session_not_found_error import SessionNotFoundError
except ImportError:
    AlreadyExistsError = SessionNotFoundError = StaleSessionError = ValueError


class Sessions:
    """The sessions of an app."""

    def __init__(self, service, app):
        self.service, self.app = service, app

    async def create(self, id=None, user="u", **state):
        return await self.service.create_session(app_name=self.app, user_id=user, session_id=id, state=state)

    async def get(self, id="s", user="u", **config):
        config = GetSessionConfig(**config) if config else None
        return await self.service.get_session(app_name=self.app, user_id=user, session_id=id, config=config)

    async def delete(self, id="s", user="u"):
        await self.service.delete_session(app_name=self.app, user_id=user, session_id=id)

    async def list(self, user="u"):
        return (await self.service.list_sessions(app_name=self.app, user_id=user)).sessions

    async def append(self, session, time=None, **delta):
        event = Event(author="shop", actions=EventActions(state_delta=delta))
        if time is not None:
            event.timestamp = time
        return await self.service.append_event(session, event)

    async def user_state(self, user="u"):
        return await self.service.get_user_state(app_name=self.app, user_id=user)


@pytest.fixture
def sessions(memory_async, name):
    return Sessions(UtterdSessionService(memory_async), name)


async def test_a_new_session_is_the_stored_one(sessions):
    session = await sessions.create("s", a=1)
    assert await sessions.get() == session
    assert await sessions.get("t") is None
    assert await sessions.get(user="v") is None


async def test_an_id_is_taken_only_once(sessions):
    await sessions.create("s", keep="first")
    for id in ("s", " s\t"):
        with pytest.raises(AlreadyExistsError, match="already exists"):
            await sessions.create(id, keep="second")
    assert (await sessions.get()).state == {"keep": "first"}


async def test_an_id_has_no_space_around_it(sessions):
    assert (await sessions.create("  s ")).id == "s"
    assert (await sessions.create("   ")).id.strip()
    assert (await sessions.get(" s ")).id == "s"
    await sessions.delete("\ts")
    assert await sessions.get() is None


async def test_sessions_are_listed_with_their_states_the_newest_update_last(sessions):
    for id, user in (("a", "u"), ("b", "u"), ("c", "v")):
        await sessions.create(id, user, n=id)
    session = await sessions.get("a")
    await sessions.append(session, session.last_update_time + 10, **{"user:x": 1, "app:y": 2})
    of_u = await sessions.list()
    assert [(it.id, it.state) for it in of_u] == [
        ("b", {"n": "b", "user:x": 1, "app:y": 2}),
        ("a", {"n": "a", "user:x": 1, "app:y": 2}),
    ]
    of_all = await sessions.list(user=None)
    assert [(it.id, it.user_id) for it in of_all] == [("b", "u"), ("c", "v"), ("a", "u")]
    assert of_all[1].state == {"n": "c", "app:y": 2}
    assert [it.last_update_time for it in of_u] == [(await sessions.get(it.id)).last_update_time for it in of_u]
    assert not any(it.events for it in of_all)


async def test_a_session_was_updated_when_its_newest_event_happened(sessions):
    session = await sessions.create("s")
    assert session.last_update_time > 1
    for time in (3.5, 1.25):
        await sessions.append(session, time)
        assert session.last_update_time == time
        assert (await sessions.get()).last_update_time == time
        assert (await sessions.get(num_recent_events=0)).last_update_time == time


async def test_events_by_number_and_time(sessions):
    session = await sessions.create("s", a=1)
    for time in range(1, 6):
        await sessions.append(session, time)

    async def times(**config):
        got = await sessions.get(**config)
        assert got.state == {"a": 1}
        return [event.timestamp for event in got.events]

    assert await times(num_recent_events=0) == []
    assert await times(num_recent_events=3) == [3, 4, 5]
    assert await times(after_timestamp=4) == [4, 5]
    assert await times(after_timestamp=50) == []
    assert await times(num_recent_events=3, after_timestamp=2) == [3, 4, 5]


async def test_the_state_of_a_user_without_a_session(sessions):
    assert await sessions.user_state() == {}
    session = await sessions.create("s", **{"user:a": {"b": 1}, "own": 1, "app:all": 1})
    await sessions.append(session, **{"user:n": 1})
    await sessions.append(session, **{"user:n": 2})
    assert await sessions.user_state() == {"a": {"b": 1}, "n": 2}
    assert await sessions.user_state("v") == {}


async def test_values_replace_values(sessions):
    session = await sessions.create("s", flag=True, profile={"name": "ada", "role": "admin"}, off=False)
    await sessions.append(session, flag=None, profile={"name": "bob"})
    want = {"flag": None, "profile": {"name": "bob"}, "off": False}
    assert session.state == want and (await sessions.get()).state == want


async def test_values_that_are_not_json(sessions):
    when = datetime.datetime(2026, 11, 27, tzinfo=datetime.timezone.utc)
    session = await sessions.create("s", when=when, many={1, 2}, call=print)
    assert session.state == {"when": "2026-11-27T00:00:00Z", "many": [1, 2], "call": repr(print)}
    assert await sessions.get() == session
    with pytest.raises(ValueError):
        await sessions.append(session, bad=float("nan"))
    assert await sessions.get() == session and session.events == []


async def test_partial_events_are_not_stored(sessions):
    session = await sessions.create("s")
    await sessions.service.append_event(session, Event(author="shop", partial=True))
    assert session.events == [] and await sessions.get() == session


async def test_a_stale_session_is_refused(sessions):
    session = await sessions.create("s")
    stale = session.model_copy(deep=True)
    elsewhere = Session.model_validate(session.model_dump())
    await sessions.append(session, session.last_update_time + 1, a=1)
    for copy in (stale, elsewhere):
        with pytest.raises(StaleSessionError, match="modified in storage"):
            await sessions.append(copy, **{"b": 1, "user:b": 1, "app:b": 1})
        assert copy.events == [] and copy.state == {}
    got = await sessions.get()
    assert got == session and got.state == {"a": 1}
    await sessions.append(got, got.last_update_time + 1, c=1)
    elsewhere = Session.model_validate(got.model_dump())
    await sessions.append(elsewhere, d=1)
    assert (await sessions.get()).state == elsewhere.state == {"a": 1, "c": 1, "d": 1}


async def test_one_of_two_writers_wins(sessions):
    await sessions.create("s")
    for n in range(5):
        copies = [await sessions.get(), await sessions.get()]
        writes = [sessions.append(copy, **{f"k{n}": i}) for i, copy in enumerate(copies)]
        outcomes = await asyncio.gather(*writes, return_exceptions=True)
        (refused,) = [it for it in outcomes if isinstance(it, Exception)]
        assert isinstance(refused, StaleSessionError)
        got = await sessions.get()
        assert len(got.events) == n + 1 and len(got.state) == n + 1


async def test_a_deleted_session_stays_deleted(sessions, memory_async):
    session = await sessions.create("s")
    await sessions.append(session, a=1)
    await sessions.delete()
    never = Session(app_name=sessions.app, user_id="u", id="never")
    for gone in (session, Session.model_validate(session.model_dump()), never):
        with pytest.raises(SessionNotFoundError, match="no session"):
            await sessions.append(gone, **{"b": 1, "user:b": 1, "app:b": 1})
    assert await sessions.get() is None and await sessions.list() == []
    assert await memory_async.conversations(f"{sessions.app}/u") == []
    assert (await sessions.create("t")).state == {}
    await sessions.delete()


async def test_an_event_that_comes_again_is_stored_once(sessions):
    session = await sessions.create("s")
    event = await sessions.append(session, n=1)
    await sessions.append(session, n=2)
    for again in (event, event.model_copy(deep=True)):
        await sessions.service.append_event(session, again)
    assert len(session.events) == 2 and session.state == {"n": 2}
    assert await sessions.get() == session


async def test_other_events_with_the_same_id_are_all_stored(sessions):
    session = await sessions.create("s")
    for author in ("user", "shop", "shop"):
        await sessions.service.append_event(session, Event(id="e", author=author, timestamp=len(session.events)))
    assert [event.author for event in (await sessions.get()).events] == ["user", "shop", "shop"]


@pytest.mark.parametrize("scope", ["", "user:", "app:"])
async def test_a_state_has_any_number_of_keys(sessions, scope):
    keys = {f"{scope}k{n}": n for n in range(300)}
    session = await sessions.create("s", **keys)
    assert session.state == keys
    for n in range(0, 600, 200):
        delta = {f"{scope}k{n + m}": -m for m in range(200)}
        keys |= delta
        await sessions.append(session, **delta)
        await sessions.append(session, **{f"{scope}k0": "again"})
        keys[f"{scope}k0"] = "again"
    got = await sessions.get()
    assert got.state == session.state == keys and len(keys) == 600
    assert got == session


@pytest.mark.parametrize("scope", ["", "user:", "app:"])
async def test_any_text_is_a_key(sessions, scope):
    keys = {scope + key: key for key in ("", "a\nb", "long" * 100, "temp:x", "$at")}
    # Without a prefix, this key is temporary.
    keys.pop("temp:x", None)
    session = await sessions.create("s")
    await sessions.append(session, **keys)
    assert (await sessions.get()).state == keys


async def test_secrets_are_never_stored(sessions, memory_async):
    session = await sessions.create("s", **{"secret:a": "s3cr3t", "b": 1})
    await sessions.append(session, **{"secret:c": "s3cr3t", "temp:d": "s3cr3t", "e": 2})
    assert session.state["secret:c"] == "s3cr3t"
    got = await sessions.get()
    assert got.state == {"b": 1, "e": 2} and "s3cr3t" not in got.model_dump_json()
    at = memory_async.conversation(f"{sessions.app}/u/s")
    assert "s3cr3t" not in str([await at.state(), [it.json for it in (await at.stored()).messages]])


@pytest.mark.parametrize("scope", ["", "user:", "app:"])
async def test_a_state_that_is_too_large_is_refused_as_a_whole(sessions, scope):
    too_large = "the state would have .* bytes"
    with pytest.raises(utterd.InvalidRequestError, match=too_large):
        await sessions.create("t", **{scope + "large": "x" * (1 << 20)})
    assert await sessions.get("t") is None
    session = await sessions.create("s", **{scope + "half": "x" * 600_000})
    with pytest.raises(utterd.InvalidRequestError, match=too_large):
        await sessions.append(session, **{scope + "more": "x" * 600_000, "own": 1})
    assert session.events == [] and session.state == {scope + "half": "x" * 600_000}
    assert await sessions.get() == session
    await sessions.append(session, **{scope + "half": "less", scope + "more": "x" * 600_000})
    assert await sessions.get() == session
    assert session.state == {scope + "half": "less", scope + "more": "x" * 600_000}


async def test_two_sessions_of_a_user_fill_its_state(sessions):
    both = [await sessions.create(id) for id in ("s", "t")]

    async def fill(session):
        for n in range(20):
            await sessions.append(session, **{f"user:{session.id}{n}-{m}": m for m in range(20)})

    await asyncio.gather(*map(fill, both))
    assert len(await sessions.user_state()) == 800


async def test_sessions_of_earlier_versions_of_this_package(sessions, memory_async):
    """They have no value with the time of their newest event."""
    labels = {"google_adk_app": sessions.app, "google_adk_user": "u", "google_adk_session": "s"}
    old = await memory_async.create(f"{sessions.app}/u/s", recipient=f"{sessions.app}/u", labels=labels)
    event = Event(author="user", timestamp=5.0)
    message = {"role": "user", "content": [], "google_adk": json.loads(event.model_dump_json(exclude_none=True))}
    await old.add(message, ids=[event.id], format="anthropic", lenient=True, state=utterd.StateChange(set={"a": 1}))
    session = await sessions.get()
    assert session.events == [event] and session.state == {"a": 1}
    assert [it.last_update_time for it in await sessions.list()] == [session.last_update_time]
    stale = await sessions.get()
    await sessions.append(session, b=2)
    assert await sessions.get() == session
    with pytest.raises(StaleSessionError):
        await sessions.append(stale, b=3)
