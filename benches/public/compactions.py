"""Compactions that models wrote in sessions of coding agents, beside summaries of the same messages at the same length.

Sources: sessions of Claude Code in public repositories, which `compactions.tsv` names with their commits and licences
(MIT, Apache 2.0). `bash benches/public/run collect` fetches them; `UTTERD_SESSIONS` names another folder, such as
`~/.claude/projects` or sessions of pi. The texts stay there. A compaction that several files have counts once, with the
longest rest; at most `MOST` are taken.

For each: what was said since the one before is memorized, and summarised in as many tokens as the model's text has. The
model also had its own text of the time before. What came next decides what was needed: the rest of the session, up to
the next compaction. Shares in %, means over the compactions that have any:

- *needed*: of the names (paths, identifiers, codes, numbers of three digits) that later arguments have and that were
  there before, those that the text has. *Literal*: it favours quoting, as do the next two.
- *words*: of the user's words of at least four letters, those that the text has.
- *rare words*: of the words of later messages that fewer than three messages before had, those that the text has.
- *facts*: of the pairs of a name and a number that a line of the user's or the assistant's words has before, and one
  has later, those that a line of the text has, in whatever words. Few sessions have any.
- *last check*: whether the last line of the text about the last test, lint or build has its outcome; a line about what
  was solved is not about the last one.
- *files changed*: of the files that an edit or a write named, those that the text names.
- *of use*: of the names and numbers of the text, those that anything later has.

Below it, `pairs.tsv`: pairs read by hand, three of them in full or nearly, of the others the beginning and the end of
utterd's text, the end of the model's, and what came next, by one reader who knew which is whose, since their form tells
it: from which text the work goes on better, and why.
`bash benches/public/run pairs` writes such pairs to files.

Seed: none, nothing is drawn.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import charts

import utterd

NAME = re.compile(r"[\w./~-]*\w\.[A-Za-z]{1,6}\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z]+-?\d+\w*\b|\b\d{3,}\b")
WORD = re.compile(r"[^\W\d_]{4,}")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?%?(?![\w.]*\w)")
CHECK = re.compile(r"\b(test|lint|build|vet|clippy|typecheck|check)\w*\b")
GOOD = r"pass|succe|\bclean\b|\bok\b|\bgreen\b|✓|✅|\b(?:0|no) (?:errors|issues|failures)"
BAD = r"fail|\berrors?\b|broken|✗|❌|exit code [1-9]"
OUTCOME = re.compile(f"(?P<good>{GOOD})|(?P<bad>{BAD})", re.IGNORECASE)
FAILED = re.compile(r"(?m)\bFAIL(?:ED)?\b|^error|\berror:|\b[1-9]\d* (?:failed|failing)|^panic|[Ee]xit code [1-9]")
SOLVED = re.compile(r"\b(?:solved|fixed|resolved)\b", re.IGNORECASE)
COLUMNS = ("needed", "words", "rare words", "facts", "last check", "files changed", "of use")
LITERAL = 3
"""How many of the columns favour quoting: the first."""
MOST = 60
PAIRS = 20
LEAST_MESSAGES = 12
MOST_BYTES = 2_000_000

T = TypeVar("T")

Message = dict


class Compaction(NamedTuple):
    """Its session and number there, what was said before it, its text, and what came next."""

    name: str
    before: list[Message]
    text: str
    after: list[Message]


def main() -> None:
    folder = Path(os.environ["UTTERD_SESSIONS"])
    found = list(itertools.islice(different(folder), MOST))
    if not found:
        sys.exit(f"{folder} has no sessions that were compacted")
    with utterd.local() as memory:
        texts = [summary(memory, at, one) for at, one in enumerate(found)]
    if "pairs" in sys.argv:
        write_pairs(found, texts)
        return
    rows = {
        "the model": [shares(one, one.text) for one in found],
        "utterd": [shares(one, text) for one, text in zip(found, texts, strict=True)],
    }
    columns = [f"{column}{' (literal)' if at < LITERAL else ''}" for at, column in enumerate(COLUMNS)]
    characters = sum(len(one.text) for one in found) // len(found)
    print(f"{len(found)} compactions of {characters:,} characters, %:\n")
    print("| | " + " | ".join(columns) + " |\n|---|" + "--:|" * len(COLUMNS))
    means = {name: [mean(measured, column) for column in COLUMNS] for name, measured in rows.items()}
    for name, values in means.items():
        print(f"| {name} | " + " | ".join(f"{value:.0f}" for value in values) + " |")
    starred = [f"{column}*" if at < LITERAL else column for at, column in enumerate(COLUMNS)]
    title = "Compactions by models, and utterd's of the same length, % (* favours quoting)"
    charts.write("compactions", charts.bars(title, starred, means))
    print_readings()


def different(folder: Path) -> Iterator[Compaction]:
    """Each compaction once, from the file in which most came after it."""
    best: dict[str, Compaction] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        for one in compactions(path):
            if one.text not in best or len(one.after) > len(best[one.text].after):
                best[one.text] = one
    yield from best.values()


def summary(memory: utterd.Client, at: int, one: Compaction) -> str:
    conversation = memory.create(f"compaction-{at}", policy=utterd.Policy(preset="session"))
    conversation.add(one.before, lenient=True)
    return conversation.summarize(tokens=memory.count_tokens(one.text).counts[0]).text


def write_pairs(found: list[Compaction], texts: list[str]) -> None:
    """Pairs from all over, with what came next, each in a file."""
    folder = Path(os.environ["UTTERD_PUBLIC"]) / "pairs"
    folder.mkdir(exist_ok=True)
    for number, at in enumerate(range(0, len(found), max(len(found) // PAIRS, 1))[:PAIRS], start=1):
        one = found[at]
        later = "\n".join(f"[{message['role']}] {said(message)[:600]}" for message in one.after[:14])
        parts = {one.name: "", "The model": one.text, "utterd": texts[at], "What came next": later}
        text = "\n\n".join(f"# {title}\n\n{part}" for title, part in parts.items())
        (folder / f"{number:02}.md").write_text(text)


def print_readings() -> None:
    with (Path(__file__).parent / "pairs.tsv").open() as file:
        read = list(csv.DictReader(file, delimiter="\t"))
    counts = Counter(row["better"] for row in read)
    told = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    when = "with summaries that had less room beside names"
    print(f"\n{len(read)} pairs read by hand, {when}, by the text from which the work goes on better: {told}.\n")
    print("| session | better | why |\n|---|---|---|")
    for row in read:
        print(f"| {row['session']} | {row['better']} | {row['why']} |")


def mean(rows: list[dict[str, float]], column: str) -> float:
    known = [row[column] for row in rows if column in row]
    return 100 * sum(known) / max(len(known), 1)


def shares(one: Compaction, text: str) -> dict[str, float]:
    before, after = [said(message) for message in one.before], [said(message) for message in one.after]
    known = set(NAME.findall("\n".join(before)))
    needed = {name for message in one.after for name in NAME.findall(arguments(message))} & known
    users = " ".join(message["content"] for message in one.before if message["role"] == "user")
    counts = Counter(word for message in before for word in set(words(message)))
    later = " ".join(after)
    rare = {word for word in words(later) if 0 < counts[word] < 3}
    changed = {Path(path).name for message in one.before for path in files_changed(message)}
    told = set(NAME.findall(text))
    in_text = set(words(text))
    measured = {
        "needed": share(needed, lambda name: name in text),
        "words": share(set(words(users)), in_text.__contains__),
        "rare words": share(rare, in_text.__contains__),
        "facts": share(facts(spoken(one.before)) & facts(spoken(one.after)), facts([text]).__contains__),
        "last check": tells_check(text, one.before),
        "files changed": share(changed, lambda name: name in text),
        "of use": share(told, lambda name: name in later),
    }
    return {column: value for column, value in measured.items() if value is not None}


def share(all: Collection[T], has: Callable[[T], bool]) -> float | None:
    return sum(map(has, all)) / len(all) if all else None


def facts(texts: list[str]) -> set[tuple[str, str]]:
    """The pairs of a name and a number in a line."""
    lines = (line for text in texts for line in text.splitlines())
    return {pair for line in lines for pair in itertools.product(names(line), NUMBER.findall(line))}


def names(line: str) -> list[str]:
    return [name for name in NAME.findall(line) if not name.isdigit()]


def spoken(messages: list[Message]) -> list[str]:
    """What the user and the assistant said; the results of tools have numbers in most lines."""
    return [message["content"] or "" for message in messages if message["role"] != "tool"]


def tells_check(text: str, before: list[Message]) -> float | None:
    """1 if the last line about the last check has its outcome; None if nothing was checked."""
    results = {message["tool_call_id"]: message["content"] for message in before if message["role"] == "tool"}
    calls = [call for message in before for call in message.get("tool_calls", ()) if call["id"] in results]
    for call in reversed(calls):
        command = json.loads(call["function"]["arguments"]).get("command")
        kind = CHECK.search(command) if isinstance(command, str) else None
        if kind and not re.match(r"\s*(grep|rg|cat|ls|git|sed|find|head)\b", command):
            outcome = "bad" if FAILED.search(results[call["id"]]) else "good"
            lines = [line for line in text.splitlines() if kind[1] in line.lower() and not SOLVED.search(line)]
            told = [list(OUTCOME.finditer(line)) for line in lines]
            last = next((its[-1].lastgroup for its in reversed(told) if its), None)
            return float(last == outcome)
    return None


def words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def said(message: Message) -> str:
    return f"{message['content'] or ''}\n{arguments(message)}"


def arguments(message: Message) -> str:
    return "\n".join(call["function"]["arguments"] for call in message.get("tool_calls", ()))


def files_changed(message: Message) -> Iterator[str]:
    for call in message.get("tool_calls", ()):
        if re.match(r"(?i)(multi)?edit|write|create", call["function"]["name"]):
            given = json.loads(call["function"]["arguments"])
            yield from (
                value for key, value in given.items() if key in ("path", "file_path") and isinstance(value, str)
            )


def compactions(path: Path) -> Iterator[Compaction]:
    """Each compaction of a session with what was said since the one before, and until the next."""
    parts: list[list[Message]] = [[]]
    texts: list[str] = []
    for line in path.read_text(errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        text = compaction_text(entry)
        if text is not None:
            texts.append(text)
            parts.append([])
        elif entry.get("type") in ("user", "assistant", "message") and not is_aside(entry):
            parts[-1].extend(messages(entry.get("message") or {}))
    for number, (text, before, after) in enumerate(zip(texts, parts, parts[1:], strict=False), start=1):
        if len(before) >= LEAST_MESSAGES and after and sum(len(said(message)) for message in before) <= MOST_BYTES:
            yield Compaction(f"{'/'.join(path.parts[-5:-1])} {number}", before, text, after)


def is_aside(entry: dict) -> bool:
    """Whether a subagent said it, or the program wrote it in the user's name: a skill's text, a hook's."""
    return bool(entry.get("isSidechain") or entry.get("isMeta"))


def compaction_text(entry: dict) -> str | None:
    if entry.get("type") == "compaction":
        return entry["summary"]
    if not entry.get("isCompactSummary"):
        return None
    return "\n".join(message["content"] for message in messages(entry["message"]))


def messages(message: dict) -> Iterator[Message]:
    """A message of Anthropic's or pi's as messages of OpenAI chat."""
    content = message.get("content") or ""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    role = message.get("role", "user")
    if role == "toolResult":
        yield {"role": "tool", "tool_call_id": message.get("toolCallId", ""), "content": texts_of(blocks)}
        return
    for block in blocks:
        if block.get("type") == "tool_result":
            inside = block.get("content") or ""
            text = inside if isinstance(inside, str) else texts_of(inside)
            yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": text}
    calls = [call(block) for block in blocks if block.get("type") in ("tool_use", "toolCall")]
    text = texts_of(blocks)
    if role in ("user", "assistant") and (text or calls):
        yield {"role": role, "content": text, **({"tool_calls": calls} if calls else {})}


def texts_of(blocks: list) -> str:
    return "\n".join(block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text")


def call(block: dict) -> dict:
    given = json.dumps(block.get("input", block.get("arguments", {})))
    return {"id": block["id"], "type": "function", "function": {"name": block["name"], "arguments": given}}


if __name__ == "__main__":
    main()
