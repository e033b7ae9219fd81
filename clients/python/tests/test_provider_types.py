"""Whatever the packages of OpenAI and Anthropic can build comes back in its own format, or a warning names it."""

import json

import pytest
from samples import variants

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

from anthropic.types.content_block import ContentBlock
from anthropic.types.content_block_param import ContentBlockParam
from openai.types import chat as chats
from openai.types import responses


def lacks(came, sent, name=""):
    """The names of what `came` has and `sent` has not."""
    if isinstance(came, dict) and isinstance(sent, dict):
        missing = [it for it in came if it not in sent and came[it] is not None]
        return missing + [it for key in came.keys() & sent.keys() for it in lacks(came[key], sent[key], key)]
    if isinstance(came, list) and isinstance(sent, list):
        missing, rest = [], list(sent)
        for it in came:
            kind = it.get("type", name) if isinstance(it, dict) else name
            if rest and (not isinstance(it, dict) or rest[0].get("type") == it.get("type")):
                missing += lacks(it, rest.pop(0), kind)
            else:
                missing.append(kind)
        return missing + [f"more than came: {it}" for it in rest]
    return [] if came == sent else [name]


def check(conversation, said, format, place):
    """Whether the message at `place` of those said is in a context as it came."""
    conversation.add(said, format=format)
    context = conversation.context(100_000, format=format)
    warnings = " ".join(context.warnings)
    assert len(context) == len(said), (said, list(context), warnings)
    missing = [it for it in lacks(said[place], context[place]) if it not in warnings]
    assert not missing, (said[place], context[place], warnings)


ANSWERS = variants(ContentBlock)
BLOCKS = variants(ContentBlockParam)
ASKS = {"role": "user", "content": [{"type": "text", "text": "go"}]}
ASSISTANTS = {it["type"] for it in ANSWERS.values()} | {"thinking", "redacted_thinking"}


def server_call(block):
    """The call that a result of a server's tool needs before it."""
    return {"type": "server_tool_use", "id": block["tool_use_id"], "name": "web_search", "input": {}}


@pytest.mark.parametrize("block", [*ANSWERS.values(), *BLOCKS.values()], ids=[*ANSWERS, *BLOCKS])
def test_blocks_of_anthropic(chat, block):
    kind = block["type"]
    if kind == "tool_result":
        call = {"type": "tool_use", "id": block["tool_use_id"], "name": "look", "input": {}}
        said = [ASKS, {"role": "assistant", "content": [call]}, {"role": "user", "content": [block]}]
        return check(chat, said, "anthropic", 2)
    if kind not in ASSISTANTS:
        return check(chat, [{"role": "user", "content": [block]}], "anthropic", 0)
    before = [server_call(block)] if kind.endswith("_tool_result") else []
    after = [] if kind.endswith("tool_use") else [{"type": "text", "text": "done"}]
    said = [ASKS, {"role": "assistant", "content": [*before, block, *after]}]
    if kind == "tool_use":
        result = {"type": "tool_result", "tool_use_id": block["id"], "content": "found"}
        said.append({"role": "user", "content": [result]})
    return check(chat, said, "anthropic", 1)


CHATS = {name: it for name, it in variants(chats.ChatCompletionMessageParam).items() if it["role"] != "function"}
PARTS = variants(chats.ChatCompletionContentPartParam)
CALLS = variants(chats.ChatCompletionMessageToolCallUnionParam)


@pytest.mark.parametrize("message", CHATS.values(), ids=CHATS)
def test_messages_of_openai(chat, message):
    asks, result = {"role": "user", "content": "go"}, {"role": "tool", "tool_call_id": "id_1", "content": "found"}
    call = {"id": "tool_call_id_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    if "tool_calls" in message:
        message["tool_calls"] = [it for it in message["tool_calls"] if "function" in it]
        message["tool_calls"][0]["function"]["arguments"] = "{}"
    said = {
        "assistant": [asks, message, result],
        "tool": [asks, {"role": "assistant", "content": None, "tool_calls": [call]}, message],
        "user": [message],
    }.get(message["role"], [message, asks])
    check(chat, said, "openai", said.index(message))


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_parts_of_openai(chat, part):
    check(chat, [{"role": "user", "content": [part]}], "openai", 0)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_of_openai(chat, call):
    if "function" in call:
        call["function"]["arguments"] = "{}"
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    check(chat, [*said, {"role": "tool", "tool_call_id": call["id"], "content": "found"}], "openai", 1)


def test_an_answer_of_openai_as_its_object(chat):
    answer = chats.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "refusal": "I will not.", "annotations": []}
    )
    chat.add([{"role": "user", "content": "go"}, answer])
    assert chat.context(1000)[1]["refusal"] == "I will not."


def test_an_answer_of_anthropic_as_its_object(chat):
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "Oslo"}}
    answer = anthropic.types.Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [{"type": "thinking", "thinking": "hm", "signature": "EqRk"}, call],
        }
    )
    chat.add({"role": "user", "content": "Is it raining?"})
    chat.add(answer)
    chat.add({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"}]})
    context = chat.context(1000, format="anthropic")
    assert [it["type"] for it in context[1]["content"]] == ["thinking", "tool_use"]


INPUTS = variants(responses.ResponseInputItemParam)
OUTPUTS = variants(responses.ResponseOutputItem)


@pytest.mark.parametrize("item", [*INPUTS.values(), *OUTPUTS.values()], ids=[*INPUTS, *OUTPUTS])
def test_items_come_back(chat, item):
    """In the list, where their format is; a context has their words or names them."""
    if str(item.get("type")).endswith("_output"):
        id = item.get("call_id") or item["id"]
        chat.add([{"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}, item], format="responses")
    else:
        chat.add([item], format="responses")
    assert json.loads(json.dumps(chat.messages()[-1])) == item
    if item.get("call_id") and not item["type"].endswith("_output"):
        output = {"type": "function_call_output", "call_id": item["call_id"], "output": "found"}
        chat.add([output], format="responses")
    context = chat.context(100_000)
    shown = [it for it in context if it["content"] or it.get("tool_calls")]
    assert shown or context.warnings, (item, list(context))
