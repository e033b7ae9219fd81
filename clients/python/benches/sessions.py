"""How long a session of the OpenAI Agents SDK takes to add and get items: utterd's against the SDK's own in a file.

    pip install ./clients/python/utterd openai-agents
    UTTERD_BIN=target/release/utterd python clients/python/benches/sessions.py

Both are durable: each add waits for a flush to the same disk. In each round, both get a new session with items of a
typical conversation (questions, tool calls, results, answers), first one, then the other, and in the next round the
other way round. The times are medians; what counts is the ratio, since both ran on the same machine in the same minute.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from agents import SessionABC, SQLiteSession

import utterd
from utterd.openai_agents import UtterdSession

WARM_UP = 10
"""Rounds of each size that do not count."""

Open = Callable[[str], SessionABC]


class Times(NamedTuple):
    """Seconds of one round."""

    add: float
    get: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Times utterd sessions against SQLite sessions.")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of each size (default: 200)")
    parser.add_argument("--items", type=int, nargs="+", default=[1, 10, 100], help="sizes (default: 1 10 100)")
    parser.add_argument("--directory", help="where both keep their files (default: the temporary directory)")
    given = parser.parse_args()
    asyncio.run(compare(given.items, given.rounds, given.directory))


async def compare(sizes: list[int], rounds: int, directory: str | None) -> None:
    """Times each size, and prints a table row for it."""
    with tempfile.TemporaryDirectory(dir=directory) as files:
        async with utterd.local_async(Path(files) / "utterd") as memory:

            def sqlite(id: str) -> SessionABC:
                return SQLiteSession(id, Path(files) / "sessions.db")

            def ours(id: str) -> SessionABC:
                return UtterdSession(id, memory)

            print("| items | add: SQLite | utterd | ratio | get: SQLite | utterd | ratio |")
            print("|--:|--:|--:|--:|--:|--:|--:|")
            for size in sizes:
                print(row(size, *await timed(size, rounds, sqlite, ours)), flush=True)


async def timed(size: int, rounds: int, theirs: Open, ours: Open) -> tuple[list[Times], list[Times]]:
    """The rounds of one size, for both."""
    said = talk(size)
    them: list[Times] = []
    us: list[Times] = []
    for round in range(WARM_UP + rounds):
        both = [(theirs, them), (ours, us)]
        for open, times in both if round % 2 else reversed(both):
            times.append(await one_round(open, said))
    return them[WARM_UP:], us[WARM_UP:]


async def one_round(open: Open, said: list[Any]) -> Times:
    """Adds items to a new session, and gets them back."""
    session = open(uuid.uuid4().hex)
    # Files and connections are opened once in the life of a session.
    await session.get_items()
    start = time.perf_counter()
    await session.add_items(said)
    added = time.perf_counter()
    got = await session.get_items()
    end = time.perf_counter()
    if got != said:
        raise SystemExit(f"{type(session).__name__} returned other items than it was given")
    if isinstance(session, SQLiteSession):
        session.close()
    return Times(added - start, end - added)


def row(size: int, them: list[Times], us: list[Times]) -> str:
    """A line of the table, in milliseconds."""
    cells = [f"{size}"]
    for its, mine in zip(zip(*them, strict=True), zip(*us, strict=True), strict=True):
        theirs, ours = median(its), median(mine)
        cells += [f"{theirs * 1e3:.2f} ms", f"{ours * 1e3:.2f} ms", f"{ours / theirs:.2f}"]
    return f"| {' | '.join(cells)} |"


def talk(size: int) -> list[Any]:
    """`size` items: a question, a call, its result and an answer, over and over."""
    return [item for turn in range(size) for item in exchange(turn)][:size]


def exchange(turn: int) -> list[dict[str, Any]]:
    """The items of one turn."""
    order, call = f"{10_000 + turn}", f"call_{turn:024}"
    result = {"order": order, "state": "shipped", "carrier": "Post", "parcels": 1 + turn % 3, "due": "2026-05-23"}
    answer = (
        f"Your order {order} was shipped yesterday and should arrive on Saturday. There are {1 + turn % 3} parcels; "
        "you can follow them with the link in your mail. Shall I send it again?"
    )
    return [
        {"role": "user", "content": f"Where is my order {order}? It was to come this week, and I leave on Sunday."},
        {
            "type": "function_call",
            "id": f"fc_{turn:048}",
            "call_id": call,
            "name": "find_order",
            "arguments": json.dumps({"order": order, "with_parcels": True}),
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": call, "output": json.dumps(result)},
        {
            "type": "message",
            "id": f"msg_{turn:048}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": answer, "annotations": [], "logprobs": []}],
        },
    ]


if __name__ == "__main__":
    main()
