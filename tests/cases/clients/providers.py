"""Whether what goes to a model is accepted by the providers' own Python packages.

The types of their messages (`openai`, `anthropic`) are checked by pydantic. They tell roles, fields,
blocks and their types; the rules of order are checked elsewhere (tests/it/contexts).

Usage: providers.py ADDRESS CHECK
"""

import json
import os
import pathlib
import sys

from anthropic.types import MessageParam, TextBlockParam
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter, ValidationError

from checks import Client

CONTEXT = "utterd.v1.ContextService"
OPENAI = TypeAdapter(list[ChatCompletionMessageParam])
ANTHROPIC = TypeAdapter(list[MessageParam])
SYSTEM = TypeAdapter(str | list[TextBlockParam])


def take(adapter, value):
    """Refuses values of another type; fully evaluates what is checked lazily."""
    exhaust(adapter.validate_python(value))


def exhaust(value):
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, str) or not hasattr(value, "__iter__"):
        return
    for part in value:
        exhaust(part)


def call(id):
    return {"id": id, "type": "function", "function": {"name": "find", "arguments": '{"q": 1}'}}


HISTORY = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Where is my order?"}], "name": "Ann Lee"},
    {"role": "assistant", "content": None, "tool_calls": [call("a:1"), call("a:2")]},
    {"role": "tool", "tool_call_id": "a:2", "content": ""},
    {"role": "tool", "tool_call_id": "a:1", "content": "shipped", "name": "find"},
    {"role": "user", "content": 5},
    {"role": "assistant", "content": "It is on its way.", "tool_calls": [call("lost")]},
    {"role": "user", "content": "Thanks."},
    {"role": "assistant", "content": "Anything else?", "tool_calls": [call("a:1")]},
    {"role": "tool", "tool_call_id": "a:1", "content": "no"},
]


def types_tell_good_from_bad(_):
    """A check that accepts everything would show nothing."""
    take(OPENAI, [{"role": "assistant", "content": None, "tool_calls": [call("a")]}])
    use = {"type": "tool_use", "id": "a", "name": "find", "input": {}}
    take(ANTHROPIC, [{"role": "assistant", "content": [use]}])
    bad = [
        (OPENAI, [{"role": "tool", "content": "x"}]),
        (OPENAI, [{"role": "root", "content": "x"}]),
        (OPENAI, [{"role": "user", "content": 5}]),
        (OPENAI, [{"role": "assistant", "tool_calls": [{**call("a"), "function": {"name": "find"}}]}]),
        (ANTHROPIC, [{"role": "root", "content": "x"}]),
        (ANTHROPIC, [{"role": "assistant", "content": [{**use, "input": "{}"}]}]),
        (ANTHROPIC, [{"role": "user", "content": [{"type": "tool_result", "content": "x"}]}]),
        (SYSTEM, [{"type": "text"}]),
    ]
    for adapter, messages in bad:
        try:
            take(adapter, messages)
        except ValidationError:
            continue
        raise AssertionError(f"taken: {messages}")


def prepare_history(address):
    client = Client(address)
    histories = [HISTORY[:end] for end in range(len(HISTORY) + 1)]
    for messages in transcripts():
        histories += [messages[:end] for end in range(1, len(messages), 7)]
    for messages in histories:
        for alternation in ["ALTERNATION_MERGE", "ALTERNATION_DROP"]:
            request = {"messages_json": json.dumps(messages), "prompt": "And now?", "alternation": alternation}
            response = client.call("PrepareHistory", request, CONTEXT)
            take(OPENAI, json.loads(response.messages_json))
            request["format"] = "CONTEXT_FORMAT_ANTHROPIC_MESSAGES"
            response = client.call("PrepareHistory", request, CONTEXT)
            take(ANTHROPIC, json.loads(response.messages_json))
            take(SYSTEM, response.system)


def build_context(address):
    client = Client(address)
    formats = [("CONTEXT_FORMAT_OPENAI_CHAT", OPENAI), ("CONTEXT_FORMAT_ANTHROPIC_MESSAGES", ANTHROPIC)]
    for number, messages in enumerate([HISTORY, *transcripts()]):
        conversation = {"conversation_id": f"providers-{number}"}
        for place, message in enumerate(messages):
            request = {**conversation, "utterances": [utterance(message)], "lenient": True}
            client.call("Memorize", request)
            if place % 7 != 6 and place + 1 < len(messages):
                continue
            for name, adapter in formats:
                context = client.call("BuildContext", {**conversation, "format": name}, CONTEXT)
                take(adapter, json.loads(context.messages_json))
                if context.system_json:
                    take(SYSTEM, json.loads(context.system_json))


def utterance(message):
    """An OpenAI message as the server accepts it."""
    role = message["role"].upper()
    said = {"role": f"ROLE_{role if role in ['SYSTEM', 'ASSISTANT', 'TOOL'] else 'USER'}"}
    if isinstance(message["content"], str):
        said["content"] = message["content"]
    calls = message.get("tool_calls") or []
    said["tool_calls"] = [
        {"id": call["id"], "name": call["function"]["name"], "arguments_json": call["function"]["arguments"]}
        for call in calls
    ]
    if "tool_call_id" in message:
        said["tool_call_id"] = message["tool_call_id"]
    return said


def transcripts():
    """The first real transcripts of each kind, if there are any."""
    folder = pathlib.Path(os.environ.get("UTTERD_DATA", "../shared/data")) / "transcripts"
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines()[:3]:
            yield json.loads(line)["messages"][:120]


CHECKS = [types_tell_good_from_bad, prepare_history, build_context]

if __name__ == "__main__":
    address, name = sys.argv[1:]
    {check.__name__: check for check in CHECKS}[name](address)
