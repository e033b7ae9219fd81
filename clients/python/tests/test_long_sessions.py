"""A message costs the same in a long session (agent-memory-server 195, adk-python 4673)."""

import time
from statistics import median

import utterd

ROUNDS = 40
LONG = 20_000
MOST = 4
"""Times as long as in a short one: what rewrites or reads a whole session takes hundreds of times as long."""


def test_adding_and_reading_the_end_take_as_long_in_a_long_session(memory, name):
    short, long = (memory.conversation(f"{name}-{kind}", policy=utterd.Policy(preset="session")) for kind in "sl")
    short.add([question(number) for number in range(20)])
    for start in range(0, LONG, 1000):
        long.add([question(number) for number in range(start, start + 1000)])
    taken = {short: [], long: []}
    for number in range(ROUNDS):
        for conversation, times in taken.items():
            began = time.perf_counter()
            conversation.add(question(number))
            assert len(conversation.messages(last=20)) == 20
            times.append(time.perf_counter() - began)
    assert median(taken[long]) < MOST * median(taken[short])


def question(number):
    return {"role": "user", "content": f"Where is my order {number}? It was to come this week."}
