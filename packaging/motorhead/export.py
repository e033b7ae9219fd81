"""Writes motorhead's sessions from Redis to stdout, one conversation per line, for `utterd import`.

    pip install redis
    python export.py redis://localhost:6379 > sessions.jsonl
    utterd import sessions.jsonl

Redis is only read. A session keeps its id and its messages; its context, which motorhead's model wrote, becomes a first
message of the system. What long-term memory holds besides (`motorhead:*`) are copies of messages with embeddings.
"""

import json
import sys

import redis

ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant", "system": "system"}
CONTEXT = "What was said before, in short: "


def message(line):
    """A message is stored as `ROLE: CONTENT`. An unknown role earns no more authority than the user's."""
    role, _, content = line.partition(": ")
    return {"role": ROLES.get(role.lower(), "user"), "content": content}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: export.py redis://HOST:PORT")
    server = redis.Redis.from_url(sys.argv[1], decode_responses=True)
    sessions = sorted(server.scan_iter(_type="LIST"))
    for session in sessions:
        # The newest message is the first of the list.
        messages = [message(line) for line in reversed(server.lrange(session, 0, -1))]
        context = server.get(f"{session}_context")
        if context:
            messages.insert(0, {"role": "system", "content": CONTEXT + context})
        print(json.dumps({"id": session, "messages": messages}, ensure_ascii=False))
    print(f"{len(sessions)} sessions", file=sys.stderr)


if __name__ == "__main__":
    main()
