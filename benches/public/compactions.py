"""Compactions that models wrote in sessions of coding agents, beside summaries of the same messages at the same length.

Reads the session files (`*.jsonl`) of Claude Code and of pi below `UTTERD_SESSIONS`, such as `~/.claude/projects` or a
checkout of a repository that has some; the texts stay where they are. For each compaction: what was said since the one
before is memorized, and summarised in as many tokens as the model's text has (the model also had its own text of the
time before). What came next decides what was needed: the rest of the session, up to the next compaction. Shares in %:

- *needed*: of the names (paths, identifiers, codes, numbers of three digits) that later arguments have and that were
  there before, those that the text has. *Literal*: it favours quoting.
- *words*: of the user's words of at least four letters, those that the text has. Literal.
- *rare words*: of the words of later messages that fewer than three messages before had, those that the text has.
- *names alone*: of the names and numbers of the text, those that anything later has: how much of it was of use. It does
  not favour quoting.
- *files changed*: of the files that an edit or a write named, those that the text names.

Seed: none, nothing is drawn.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import utterd

NAME = re.compile(r"[\w./~-]*\w\.[A-Za-z]{1,6}\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z]+-?\d+\w*\b|\b\d{3,}\b")
WORD = re.compile(r"[^\W\d_]{4,}")
COLUMNS = ("needed", "words", "rare words", "names alone", "files changed")
LEAST_MESSAGES = 12
MOST_BYTES = 2_000_000

Message = dict


class Compaction(NamedTuple):
    """What was said before it, its text, and what came next."""

    before: list[Message]
    text: str
    after: list[Message]


def main() -> None:
    folder = os.environ.get("UTTERD_SESSIONS", "")
    found = [one for path in sorted(Path(folder).rglob("*.jsonl")) for one in compactions(path)] if folder else []
    if not found:
        sys.exit("UTTERD_SESSIONS names no folder with sessions that were compacted")
    rows: dict[str, list[dict[str, float]]] = {"the model": [], "utterd": []}
    tokens = 0
    with utterd.local() as memory:
        for at, one in enumerate(found):
            length = memory.count_tokens(one.text).counts[0]
            tokens += length
            conversation = memory.create(f"compaction-{at}", policy=utterd.Policy(preset="session"))
            conversation.add(one.before, lenient=True)
            rows["the model"].append(shares(one, one.text))
            rows["utterd"].append(shares(one, conversation.summarize(tokens=length).text))
    print(f"{len(found)} compactions of {tokens // len(found)} tokens:\n")
    print("| | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
    for name, measured in rows.items():
        print(f"| {name} | " + " | ".join(mean(measured, column) for column in COLUMNS) + " |")


def mean(rows: list[dict[str, float]], column: str) -> str:
    known = [row[column] for row in rows if column in row]
    return f"{100 * sum(known) / len(known):.0f}" if known else "–"


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
        "names alone": share(told, lambda name: name in later),
        "files changed": share(changed, lambda name: name in text),
    }
    return {column: value for column, value in measured.items() if value is not None}


def share(all: set[str], has) -> float | None:
    return sum(map(has, all)) / len(all) if all else None


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
        elif entry.get("type") in ("user", "assistant", "message") and not entry.get("isSidechain"):
            parts[-1].extend(messages(entry.get("message") or {}))
    for text, before, after in zip(texts, parts, parts[1:], strict=False):
        if len(before) >= LEAST_MESSAGES and after and sum(len(said(message)) for message in before) <= MOST_BYTES:
            yield Compaction(before, text, after)


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
