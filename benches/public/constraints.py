"""Standing instructions that are put into real conversations: how many a summary keeps, word for word.

Source: https://pypi.org/project/conpact, 0.1.0, MIT: the 15 side constraints of COMPINT and the sentence before them,
"For the rest of this session." (its default). Its own histories are on Hugging Face, and its judges are models; here
the histories are real transcripts of `UTTERD_DATA`, the limits are in tokens, and an instruction counts only if all its
words are in the summary as they were written. So the figures are no answer to the paper's, where texts are longer and a
model judges the meaning.

The adapter memorizes each transcript with one instruction before the words of its middle user message, as the kit's
`inject` does (*alone*: the first; most of these runs have only one), and reads

- *at once*: a summary of all of it in 300, 600 and 1,000 tokens;
- *rolling*: the summary of a window of the default limits that everything has left, so that it was folded as it grew.

The first 8 transcripts of each file that have at least 12 messages; seed: none, nothing is drawn.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import utterd

FILES = ("tau-airline", "sgd", "pi-coding", "mini-swe")
TRANSCRIPTS = 8
LEAST_MESSAGES = 12
MOST_MESSAGES = 100
LIMITS = (300, 600, 1000)
DATA = Path(os.environ.get("UTTERD_DATA", Path(__file__).parents[3] / "shared/data"))

Message = dict


def main() -> None:
    kit = constraints()
    said = [kit.render_sc(one["sc"], strict=False, direct=True) for one in kit.SCS]
    print("conpact 0.1.0, kept word for word, %:\n")
    print(
        "| transcripts | " + " | ".join(f"{way}, {limit}" for way in ("at once", "rolling") for limit in LIMITS) + " |"
    )
    print("|---|" + "---|" * (2 * len(LIMITS)))
    with utterd.local() as memory:
        ids = itertools.count()
        for file in FILES:
            counts = [0] * (2 * len(LIMITS))
            chosen = list(itertools.islice(transcripts(file), TRANSCRIPTS))
            for messages, instruction in itertools.product(chosen, said):
                told = summaries(memory, f"conpact-{next(ids)}", injected(messages, instruction))
                for at, text in enumerate(told):
                    counts[at] += instruction.split(". ", 1)[1] in text or instruction in text
            asked = len(chosen) * len(said)
            print(f"| {file} ({asked}) | " + " | ".join(f"{100 * count / asked:.0f}" for count in counts) + " |")


def constraints() -> ModuleType:
    """The kit's module of constraints. The package itself needs the clients of models and of Hugging Face to load."""
    package = importlib.util.find_spec("conpact")
    if package is None or package.origin is None:
        raise SystemExit("conpact is not installed")
    path = Path(package.origin).parent / "constraints.py"
    spec = importlib.util.spec_from_file_location("conpact_constraints", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def transcripts(file: str) -> Iterator[list[Message]]:
    path = DATA / "transcripts" / f"{file}.jsonl"
    for line in path.read_text().splitlines():
        messages = [one for one in json.loads(line)["messages"] if one["role"] != "system"]
        for start in range(0, len(messages), MOST_MESSAGES):
            piece = messages[start : start + MOST_MESSAGES]
            if len(piece) >= LEAST_MESSAGES and any(one["role"] == "user" for one in piece):
                yield piece


def injected(messages: list[Message], instruction: str) -> list[Message]:
    users = [at for at, message in enumerate(messages) if message["role"] == "user"]
    at = users[len(users) // 2]
    changed = {**messages[at], "content": f"{instruction}\n{messages[at]['content']}"}
    return [*messages[:at], changed, *messages[at + 1 :]]


def summaries(memory: utterd.Client, id: str, messages: list[Message]) -> list[str]:
    """At once, and rolling, at each limit."""
    whole = memory.create(id, policy=utterd.Policy(preset="session"))
    whole.add(messages, lenient=True)
    told = [whole.summarize(tokens=limit).text for limit in LIMITS]
    for limit in LIMITS:
        rolling = memory.create(f"{id}-{limit}", policy=utterd.Policy(preset="rolling", summary_token_limit=limit))
        for message in messages:
            rolling.add(message, lenient=True)
        rolling.update(policy=utterd.Policy(max_utterances=1, keep_utterances=1))
        told.append(rolling.summary().text)
    return told


if __name__ == "__main__":
    main()
