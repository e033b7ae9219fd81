"""What is forgotten, and whether it is gone from the files too, in the cases of ForgetEval-Adv.

Source: https://github.com/deeplethe/lethe at commit b6053b7, MIT: `bench/forgeteval/adversarial.py` and
`adversarial_generated.py`, 385 cases. They are in no package: `bash benches/public/run collect` fetches them, or
`UTTERD_FORGETEVAL` names a checkout. None of them is in this repository.

A case memorizes some statements, forgets or replaces some of them, each by a query, and asks a question. The kit passes
it if the ten best texts of a search for the question have all of some strings, and none of others. The adapter has a
conversation for each case, with a message of the user for each statement, and answers queries in three ways:

- *search*: `Remember` finds what the query is about, and `Forget` names it by its id. As in the kit's own adapters,
  `purge` takes the best match with its equals, `release` all above the widest gap between scores, and `supersede` the
  best match, before the new statement is memorized; and a search gives the best texts, however bad they are;
- *default search*: the same, but a search gives only what is relevant, as `Remember` does unless told otherwise;
- *about*: the query is the instruction, `about:"…"`, so that nothing is forgotten that has not all of its words. No
  model reads it, and most queries of the kit are descriptions: "everything about Frank the engineer". The search for
  the question is that of *search*.

A control, *all forgotten*, is no server: it forgets every statement each time, so that what it passes needs no memory.

`release` forgets softly, the others for good. Then the server ends, its files are scrubbed, and each text that was
forgotten for good, and that no case has kept or forgotten softly, is looked for in them, byte for byte: *left in the
files*.

Seed: none, nothing is drawn.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
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

    least: float | None = 0.0
    """The least relevance of what a search finds; None: the default."""

    def __init__(self, conversation: utterd.Conversation) -> None:
        self.conversation = conversation
        self.gone: list[str] = []
        self.hidden: list[str] = []

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

    def find(self, query: str, limit: int) -> list[utterd.Match]:
        return self.conversation.remember(query, limit=limit, min_relevance=self.least)

    def _found(self, query: str) -> list[utterd.Match]:
        return self.find(query, SEARCHED)

    def _forget(self, found: list[utterd.Match], *, hard: bool) -> None:
        if found:
            self.conversation.forget(ids=[it.utterance.utterance_id for it in found], hard=hard)
            self._forgotten([it.utterance.content for it in found], hard=hard)

    def _forgotten(self, texts: list[str], *, hard: bool) -> None:
        (self.gone if hard else self.hidden).extend(texts)


class ByDefault(Searching):
    """Finds only what is relevant."""

    least = None


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
            gone = self.conversation.forget(f'about:"{quoted}"', hard=hard, return_messages=True)
        except utterd.InvalidRequestError:
            return
        self._forgotten([it.message["content"] for it in gone.messages], hard=hard)


def threshold(scores: list[float]) -> float:
    """The middle of the widest gap, or just below the best, as the kit's adapters have it."""
    gaps = [(above - below, (above + below) / 2) for above, below in pairwise(scores)]
    widest, middle = max(gaps, default=(0.0, 0.0))
    return middle if widest >= LEAST_GAP else 0.95


def main() -> None:
    cases = list(read())
    print(f"ForgetEval-Adv, {len(cases)} of its 385 cases: passed, and texts left in the files:\n")
    ways = {"search": Searching, "default search": ByDefault, "about": Asking}
    columns = {name: run(cases, way) for name, way in ways.items()}
    columns["all forgotten"] = [Outcome(category(case), holds(case, left_of(case))) for case in cases], ""
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
        sys.exit("ForgetEval is not here: bash benches/public/run collect")
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


def run(cases: list[Any], way: type[Searching]) -> tuple[list[Outcome], str]:
    """Whether each case passes, and how many of the texts that are gone are in the files."""
    with tempfile.TemporaryDirectory(prefix="utterd-") as directory:
        with utterd.local(directory) as memory:
            ways = [way(memory.conversation(case.id)) for case in cases]
            outcomes = [Outcome(category(case), passes(case, it)) for case, it in zip(cases, ways, strict=True)]
            kept = {said.message["content"] for it in ways for said in it.conversation.stored().messages}
        scrub = [utterd.find_utterd_bin(), "scrub", f"fjall:{directory}"]
        subprocess.run(scrub, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        files = b"".join(path.read_bytes() for path in Path(directory).rglob("*") if path.is_file())
    texts = {text for it in ways for text in it.gone} - kept - {text for it in ways for text in it.hidden}
    left = [text for text in texts if text.encode() in files]
    return outcomes, f"{len(left)} of {len(texts)}"


def passes(case: Any, way: Searching) -> bool:
    for statement in case.setup_facts:
        way.conversation.add({"role": "user", "content": statement})
    for operation, *arguments in case.mutations:
        getattr(way, operation)(*arguments)
    return holds(case, [it.utterance.content for it in way.find(case.final_query, BEST)])


def left_of(case: Any) -> list[str]:
    """What is left if each operation forgets all that was said before it."""
    operation, *arguments = case.mutations[-1]
    return arguments[1:] if operation == "supersede" else []


def holds(case: Any, texts: list[str]) -> bool:
    blob = " ".join(texts).lower()
    wanted, unwanted = case.must_contain, case.must_not_contain
    return all(it.lower() in blob for it in wanted) and not any(it.lower() in blob for it in unwanted)


if __name__ == "__main__":
    main()
