"""Survival of planted statements over five rounds of compaction, by outsiders' kit, beside its own references.

Source: https://pypi.org/project/compaction-conformance-kit, 0.8.0, MIT. Seeds 1 to 4, budgets of 10, 20 and 30 % of the
transcript's characters, as its `benchmark` has them.

The kit calls a compactor once with a transcript, and then four times with what came out of the call before. A server
that keeps the conversation never reads its own summary again, so the adapter memorizes the transcript, exchange by
exchange, into a conversation of its own, and does not memorize the output when it comes back: a later round compacts
the conversation again (all but its newest message leaves the window) and reads its summary, which nothing new has
changed. What stands in for the rounds is the way
into the summary:

- *rolling*: the window holds at most 8 messages and keeps 4, so that a session is folded some 15 times before the
  kit's first look;
- *at once*: everything leaves the window in one compaction.

The server counts tokens and the kit characters: the limit is the highest of a few whose summary fits the kit's budget.
Nothing is cut or added by the adapter.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator

from compaction_kit.benchmark import DEFAULT_BUDGETS, run_budget_benchmark
from compaction_kit.cli import COMPACTORS
from compaction_kit.compacted import CompactedContext
from compaction_kit.session import Turn

import utterd

SEEDS = (1,) if "quick" in sys.argv else (1, 2, 3, 4)
ROUNDS = 5
CHARACTERS_PER_TOKEN = (3.2, 3.5, 3.8, 4.1, 4.4, 4.8, 5.3, 6.0, 7.0)
"""What a token may stand for, from the shortest; the first whose summary fits is taken."""


class Utterd:
    """A compactor whose transcript is a conversation of a server."""

    def __init__(self, memory: utterd.Client, name: str, window: utterd.Policy, ids: Iterator[int]) -> None:
        self.name = name
        self._memory = memory
        self._window = window
        self._ids = ids
        self._conversation: utterd.Conversation | None = None

    def compact(self, turns: list[Turn], round_num: int = 1, budget_chars: int | None = None) -> CompactedContext:
        if self._conversation is None:
            self._conversation = self._fitting(turns, budget_chars or 1 << 30)
        return CompactedContext(text=compacted(self._conversation), compactor_name=self.name, round_num=round_num)

    def _fitting(self, turns: list[Turn], characters: int) -> utterd.Conversation:
        for ratio in CHARACTERS_PER_TOKEN:
            conversation = self._memorized(turns, int(characters / ratio))
            if len(compacted(conversation)) <= characters:
                break
        return conversation

    def _memorized(self, turns: list[Turn], tokens: int) -> utterd.Conversation:
        conversation = self._memory.create(f"{self.name.replace(' ', '-')}-{next(self._ids)}", policy=self._window)
        conversation.update(policy=utterd.Policy(summary_token_limit=tokens))
        for exchange in exchanges(turns):
            conversation.add([{"role": turn.role, "content": turn.text} for turn in exchange])
        return conversation


def compacted(conversation: utterd.Conversation) -> str:
    """The summary, and the newest message, which never leaves a window."""
    conversation.update(policy=utterd.Policy(max_utterances=1, keep_utterances=1))
    left = conversation.messages(last=conversation.capacity().utterances)
    return "\n".join([conversation.summary().text, *(message["content"] for message in left)])


def exchanges(turns: list[Turn]) -> Iterator[list[Turn]]:
    """Each message of the user with what follows it, without the system prompt, which is no part of a conversation."""
    begun: list[Turn] = []
    for turn in (turn for turn in turns if turn.role != "system"):
        if turn.role == "user" and begun:
            yield begun
            begun = []
        begun.append(turn)
    if begun:
        yield begun


def main() -> None:
    ids = itertools.count()
    rolling = utterd.Policy(preset="rolling", max_utterances=8, keep_utterances=4)
    with utterd.local() as memory:

        def ours(name: str, window: utterd.Policy) -> Callable[[], Utterd]:
            return lambda: Utterd(memory, name, window, ids)

        compactors = {
            "utterd rolling": ours("utterd rolling", rolling),
            "utterd at once": ours("utterd at once", utterd.Policy(preset="session", summaries=True)),
            **COMPACTORS,
        }
        measured = run_budget_benchmark(compactors, budgets=DEFAULT_BUDGETS, seeds=SEEDS, rounds=ROUNDS)
    seeds = ", ".join(map(str, SEEDS))
    print(f"compaction-conformance-kit {measured['kit_version']}, seeds {seeds}, after {ROUNDS} rounds:\n")
    print(
        "| budget | compactor | fits | survival | stale values kept | paraphrased updates resolved | pairs kept apart |"
    )
    print("|---|---|---|---|---|---|---|")
    for entry in measured["entries"]:
        print(row(entry))


def row(entry: dict) -> str:
    updates, paraphrased = entry["randomized"]["supersession"], entry["semantic"]["conflicts"]
    cells = [
        f"{entry['budget_fraction']:.0%}",
        entry["compactor"],
        "yes" if entry["budget_compliant"] else "no",
        f"{entry['randomized']['overall_final_survival']:.2f}",
        f"{updates['stale']} of {updates['n']}",
        f"{paraphrased['resolved']} of {paraphrased['n']} ({entry['semantic']['resolved_rate']:.0%})",
        f"{entry['semantic']['distinct_pair_rate']:.0%}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
