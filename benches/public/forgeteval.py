"""What is forgotten, and whether it is gone from the files too, in the cases of ForgetEval-Adv.

Source: https://github.com/deeplethe/lethe, MIT: `bench/forgeteval/adversarial.py` and `adversarial_generated.py`, 385
cases. They are in no package: `UTTERD_FORGETEVAL` names a checkout. None of them is in this repository.

A case memorizes some statements, forgets or replaces some of them, each by a query, and asks a question. The kit passes
it if the ten best texts of a search for the question have all of some strings, and none of others. The adapter has a
conversation for each case, with a message of the user for each statement, and answers queries in two ways:

- *search*: `Remember` finds what the query is about, and `Forget` names it by its id. As in the kit's own adapters,
  `purge` takes the best match with its equals, `release` all above the widest gap between scores, and `supersede` the
  best match, before the new statement is memorized;
- *about*: the query is the instruction, `about:"…"`, so that nothing is forgotten that has not all of its words. No
  model reads it, and most queries of the kit are descriptions: "everything about Frank the engineer".

`release` forgets softly, the others for good. Then the server ends, its files are scrubbed, and each text that was
forgotten for good is looked for in them, byte for byte: *left in the files*.

Seed: none, nothing is drawn.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import utterd

MODULES = ("adversarial", "adversarial_generated")
BEST = 10
SEARCHED = 20
LEAST_GAP = 0.05


class Outcome(NamedTuple):
    category: str
    passed: bool


class Searching:
    """Forgets what a search finds."""

    def __init__(self, conversation: utterd.Conversation, gone: list[str]) -> None:
        self.conversation = conversation
        self.gone = gone

    def supersede(self, query: str, text: str) -> None:
        self._forget(self._found(query)[:1], hard=True)
        self.conversation.add({"role": "user", "content": text})

    def purge(self, query: str) -> None:
        found = self._found(query)
        self._forget([it for it in found if it.utterance.content == found[0].utterance.content], hard=True)

    def release(self, query: str) -> None:
        found = self._found(query)
        least = threshold([it.score / found[0].score for it in found])
        self._forget([it for it in found if it.score / found[0].score >= least], hard=False)

    def _found(self, query: str) -> list[utterd.Match]:
        return self.conversation.remember(query, limit=SEARCHED)

    def _forget(self, found: list[utterd.Match], *, hard: bool) -> None:
        if found:
            self.conversation.forget(ids=[it.utterance.utterance_id for it in found], hard=hard)
            self.gone.extend(it.utterance.content for it in found if hard)


class Asking(Searching):
    """Forgets what has all words of a query."""

    def supersede(self, query: str, text: str) -> None:
        self._about(query, hard=True)
        self.conversation.add({"role": "user", "content": text})

    def purge(self, query: str) -> None:
        self._about(query, hard=True)

    def release(self, query: str) -> None:
        self._about(query, hard=False)

    def _about(self, query: str, *, hard: bool) -> None:
        quoted = query.replace('"', " ")
        try:
            gone = self.conversation.forget(f'about:"{quoted}"', hard=hard, return_messages=hard)
        except utterd.InvalidRequestError:
            return
        self.gone.extend(it.message["content"] for it in gone.messages)


def threshold(scores: list[float]) -> float:
    """The middle of the widest gap, or just below the best, as the kit's adapters have it."""
    gaps = [(above - below, (above + below) / 2) for above, below in pairwise(scores)]
    widest, middle = max(gaps, default=(0.0, 0.0))
    return middle if widest >= LEAST_GAP else 0.95


def main() -> None:
    cases = list(read())
    print(f"ForgetEval-Adv, {len(cases)} of its 385 cases: passed, and texts left in the files:\n")
    columns: dict[str, tuple[list[Outcome], str]] = {"search": run(cases, Searching), "about": run(cases, Asking)}
    print("| | cases | " + " | ".join(columns) + " |\n|---|" + "--:|" * (len(columns) + 1))
    for name in dict.fromkeys(category(case) for case in cases):
        asked = sum(category(case) == name for case in cases)
        passed = [sum(it.passed for it in outcomes if it.category == name) for outcomes, _ in columns.values()]
        print(f"| {name.replace('_', ' ')} | {asked} | " + " | ".join(map(str, passed)) + " |")
    shares = [100 * sum(it.passed for it in outcomes) / len(outcomes) for outcomes, _ in columns.values()]
    print(f"| all | {len(cases)} | " + " | ".join(f"{share:.0f} %" for share in shares) + " |")
    print("| left in the files | | " + " | ".join(left for _, left in columns.values()) + " |")


def read() -> Iterator[Any]:
    """The cases of both modules, each once."""
    folder = os.environ.get("UTTERD_FORGETEVAL", "")
    if not (Path(folder) / "bench/forgeteval/adversarial.py").is_file():
        sys.exit("UTTERD_FORGETEVAL names no checkout of ForgetEval")
    sys.path.insert(0, folder)
    seen = set()
    for name in MODULES:
        try:
            module = importlib.import_module(f"bench.forgeteval.{name}")
        except ImportError:
            continue
        for key, cases in vars(module).items():
            for case in cases if key.startswith("ADV") and isinstance(cases, list) else ():
                if case.id not in seen:
                    seen.add(case.id)
                    yield case


def category(case: Any) -> str:
    return case.id.removeprefix("adv_").rsplit("_", 1)[0]


def run(cases: list[Any], way: Callable[[utterd.Conversation, list[str]], Searching]) -> tuple[list[Outcome], str]:
    """Whether each case passes, and how many of the texts that are gone are in the files."""
    gone: dict[str, list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="utterd-") as directory:
        with utterd.local(directory) as memory:
            outcomes = [
                Outcome(category(case), passes(case, way(memory.conversation(case.id), gone[case.id])))
                for case in cases
            ]
            kept = {it.message["content"] for case in cases for it in memory.conversation(case.id).stored().messages}
        subprocess.run([utterd.find_utterd_bin(), "scrub", f"fjall:{directory}"], check=True, stdout=subprocess.DEVNULL)
        files = b"".join(path.read_bytes() for path in Path(directory).rglob("*") if path.is_file())
    texts = {text for its in gone.values() for text in its} - kept
    left = [text for text in texts if text.encode() in files]
    return outcomes, f"{len(left)} of {len(texts)}"


def passes(case: Any, way: Searching) -> bool:
    for statement in case.setup_facts:
        way.conversation.add({"role": "user", "content": statement})
    for operation, *arguments in case.mutations:
        getattr(way, operation)(*arguments)
    found = way.conversation.remember(case.final_query, limit=BEST)
    blob = " ".join(it.utterance.content for it in found).lower()
    wanted, unwanted = case.must_contain, case.must_not_contain
    return all(it.lower() in blob for it in wanted) and not any(it.lower() in blob for it in unwanted)


if __name__ == "__main__":
    main()
