"""What a context shows of the stored messages."""

import base64
import struct

import pytest

from utterd.adapters import Media, block_messages, limits

QUESTION = {"role": "user", "content": "Where is it?", "own": {"n": 1.50}}
ANSWER = {"role": "assistant", "content": "In Oslo.", "reasoning_content": "I was told."}


def call(*ids, name="find", **more):
    calls = [{"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def result(id, content="It is in Oslo."):
    return {"role": "tool", "tool_call_id": id, "content": content, "artifact": [1]}


def shown(chat, budget=4000, stored_as="openai", **options):
    return chat.filled(budget, stored_as=stored_as, **options).shown


def test_what_is_shown_whole_is_what_is_stored(chat):
    said = [QUESTION, call("a", "b", reasoning_content="Let me see."), result("b"), result("a"), ANSWER, QUESTION]
    chat.store(said, format="openai")
    made = shown(chat)
    assert all(it.whole for it in made)
    assert [it.said for it in made] == [it.stored.message for it in made] == said
    assert [it.stored.json for it in made] == [it.json for it in chat.stored().messages]


def test_ids_that_recur_are_replaced(chat):
    chat.store([QUESTION, call("f:0"), result("f:0"), ANSWER], format="openai")
    chat.store([QUESTION, call("f:0", "f:1"), result("f:0"), result("f:1")], format="openai")
    made = shown(chat)
    assert [it.whole for it in made] == [True, True, True, True, True, False, False, True]
    ids = [it["id"] for it in made[5].said["tool_calls"]]
    assert ids[0] != "f:0" and [it.said["tool_call_id"] for it in made[6:]] == ids


def test_a_result_that_is_too_long_is_cut(chat):
    chat.store([QUESTION, call("a", "b"), result("a", "word " * 9000), result("b")], format="openai")
    made = [it for it in shown(chat, budget=1000) if it.stored]
    assert [it.whole for it in made] == [True, True, False, True]
    assert len(made[2].said["content"]) < 9000 and made[2].stored.message == result("a", "word " * 9000)


def test_a_summary_shows_no_stored_message(chat):
    for number in range(200):
        chat.store([{**QUESTION, "number": number}, ANSWER], format="openai")
    made = shown(chat, budget=1000)
    assert made[0].said["role"] == "system" and made[0].stored is None and not made[0].whole
    assert [it.said for it in made[1:]] == chat.messages(last=len(made) - 1)


def test_an_exchange_that_is_not_answered(chat):
    chat.store([QUESTION, call("x"), QUESTION, call("a", "b"), result("b")], format="openai")
    closed = [it.said for it in shown(chat)]
    assert [it["tool_call_id"] for it in closed if it["role"] == "tool"] == ["x", "a", "b"]
    opened = [it.said for it in shown(chat, unanswered="open")]
    assert opened[3:] == [QUESTION, call("a", "b"), result("b")]
    assert opened[2]["tool_call_id"] == "x" and "no result" in opened[2]["content"]
    chat.store(QUESTION, format="openai")
    assert [it.said for it in shown(chat, unanswered="open")] == [it.said for it in shown(chat)]


def test_calls_of_one_answer_in_several_messages(chat):
    ask = {"role": "user", "content": "?"}
    calls = [{"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"} for id in "ab"]
    output = {"type": "function_call_output", "call_id": "b", "output": "x"}
    chat.store([ask, *calls, output], format="responses")
    assert [it.said for it in shown(chat, stored_as="responses", unanswered="open")] == [ask, *calls, output]


def test_reasoning_stays_with_what_it_led_to(chat):
    ask = {"role": "user", "content": "?"}
    reasoning = {"type": "reasoning", "id": "rs", "summary": []}
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    chat.store([ask, reasoning, call], format="responses")
    output = {"type": "function_call_output", "call_id": "a", "output": "x"}
    assert [it.said for it in shown(chat, stored_as="responses", unanswered="open")] == [ask, reasoning, call]
    chat.store([output], format="responses")
    assert [it.said for it in shown(chat, stored_as="responses")] == [ask, reasoning, call, output]
    chat.forget(sequences=[3])
    assert [it.said for it in shown(chat, stored_as="responses")] == [ask]


def test_a_late_result_is_a_note(chat):
    chat.store([QUESTION, call("a"), {"role": "user", "content": "Hurry!"}], format="openai")
    chat.store(result("a"), format="openai")
    made = shown(chat)
    assert [it.said["role"] for it in made] == ["user", "assistant", "tool", "user", "user"]
    assert [it.whole for it in made] == [True, True, False, True, False]


def test_a_name_that_providers_refuse_is_replaced(chat):
    chat.store([QUESTION, call("a", name="find it"), result("a")], format="openai")
    made = shown(chat)
    assert [it.whole for it in made] == [True, False, True]
    assert made[1].said["tool_calls"][0]["function"]["name"] != "find it"
    assert made[1].said["tool_calls"][0]["id"] == "a"


def test_messages_with_several_results(chat):
    blocks = [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in "ab"]
    answers = [{"type": "tool_result", "tool_use_id": id, "content": "x"} for id in "ab"]
    said = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": answers},
    ]
    chat.store(said, format="anthropic")
    assert [it.said for it in shown(chat, stored_as="anthropic")] == said


def test_it_needs_chat_messages(chat):
    chat.store(QUESTION, format="openai")
    with pytest.raises(ValueError, match="accepted with stored_as"):
        chat.context(format="anthropic", stored_as="anthropic")
    with pytest.raises(ValueError, match="unanswered='open'"):
        chat.context(format="anthropic", unanswered="open")
    assert chat.context().shown == ()


def test_a_list_replaces_another(chat):
    chat.replace([QUESTION, ANSWER], format="openai")
    before = chat.stored().messages
    chat.replace([QUESTION, ANSWER, QUESTION], format="openai")
    assert chat.stored().messages[:2] == before and len(chat.messages()) == 3
    revision = chat.stored().revision
    chat.replace([QUESTION, ANSWER, QUESTION], format="openai")
    assert chat.stored().revision == revision
    chat.replace([QUESTION, QUESTION], format="openai")
    assert chat.messages() == [QUESTION, QUESTION] and chat.stored().messages[0] == before[0]
    chat.replace([], format="openai")
    assert chat.messages() == []


@pytest.mark.parametrize(("budget", "whole"), [(20_000, True), (2000, False)])
def test_pictures_of_results_count(chat, budget, whole):
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480)
    block = Media("image/png", data=base64.b64encode(png).decode()).block()
    use = [{"type": "tool_use", "id": id, "name": "look", "input": {}} for id in "ab"]
    results = [{"type": "tool_result", "tool_use_id": id, "content": [block] * 10} for id in "ab"]
    said = [QUESTION, {"role": "assistant", "content": use}, {"role": "user", "content": results}]
    chat.store(said, format="anthropic")
    made = chat.filled(budget, stored_as="anthropic")
    assert [it.whole for it in made.shown if it.stored][-1] == whole
    assert any("image" in it for it in made.warnings) != whole
    assert [it["tool_use_id"] for it in block_messages(made.shown)[-1]["content"]] == ["a", "b"]


def test_reasoning_that_left_the_window_before_its_call(memory, name):
    reasoning = {"type": "reasoning", "id": "rs", "summary": []}
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "a", "output": "word " * 9000}
    chat = memory.conversation(name, policy=limits(1000))
    chat.store([QUESTION, reasoning, call, output], format="responses")
    made = [it.stored for it in shown(chat, budget=1000, stored_as="responses") if it.stored]
    assert [it.message for it in made][-3:] == [reasoning, call, output]
