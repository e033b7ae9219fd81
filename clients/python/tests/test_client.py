"""What the README promises, against a real server."""

import dataclasses
import json

import pytest

import utterd

QUESTION = {"role": "user", "content": "When does flight HAT136 leave?"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "flight", "arguments": '{"id": "HAT136"}'}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": '{"leaves": "May 23"}'}
ANSWER = {"role": "assistant", "content": "It leaves on May 23."}
EXCHANGE = [QUESTION, CALL, RESULT, ANSWER]


def test_ten_lines(memory, name):
    chat = memory.conversation(recipient=name)
    chat.add({"role": "user", "content": "My flight HAT136 leaves on May 23."})
    messages = chat.context(budget=8000, format="openai")
    assert messages == [{"role": "user", "content": "My flight HAT136 leaves on May 23."}]
    assert json.loads(json.dumps(messages)) == messages
    assert 0 < messages.tokens <= messages.budget == 8000


def test_messages_come_back_as_they_came(chat):
    odd = '[{"content" : "a","role":"user", "x": 1.10,"y":12345678901234567890123,"e":"\\u00e9\\ud800","z":null}]'
    chat.add(odd, format="openai")
    assert chat.stored().messages[0].json == odd[1:-1]


@pytest.mark.parametrize("format", ["openai", "responses", "anthropic"])
def test_each_format_comes_back(chat, format):
    messages = {
        "openai": EXCHANGE,
        "responses": [
            {"role": "user", "content": "look"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c2", "output": "2"},
            {"type": "function_call_output", "call_id": "c1", "output": "1"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]},
        ],
        "anthropic": [
            {"role": "user", "content": "look"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look"},
                    {"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}},
                    {"type": "tool_use", "id": "c2", "name": "f", "input": {"x": 2}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "1"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "2"},
                    {"type": "text", "text": "and now?"},
                ],
            },
        ],
    }[format]
    chat.add(messages, format=format)
    assert chat.messages() == messages
    assert {it.format for it in chat.stored().messages} == {format}


def test_objects_of_a_provider_are_messages(chat):
    class Message:
        def model_dump(self, mode, exclude_unset):
            assert mode == "json" and exclude_unset
            return ANSWER

    chat.add([QUESTION, Message()])
    assert chat.messages() == [QUESTION, ANSWER]


def test_what_is_no_message_is_refused_before_it_is_sent(chat):
    with pytest.raises(TypeError, match="accepted: mappings"):
        chat.add([QUESTION, 3])
    with pytest.raises(ValueError):
        chat.add({"role": "user", "content": "x", "n": float("nan")})


def test_which_messages(chat):
    added = chat.add(EXCHANGE, ids=["q", "", "", "a"])
    assert [it.sequence for it in added.memorized] == [1, 2, 3, 4]
    assert chat.messages(last=2) == EXCHANGE[2:]
    assert chat.messages(after=1, before=4) == EXCHANGE[1:3]
    assert chat.messages(ids=["q", "a", "none"]) == [QUESTION, ANSWER]
    assert chat.messages(roles=["tool"]) == [RESULT]
    assert chat.messages(offset=1, limit=2) == EXCHANGE[1:3]
    assert chat.messages(limit=0) == []
    assert chat.messages(newest_first=True) == EXCHANGE[::-1]
    assert chat.stored().revision == added.revision


def test_more_messages_than_a_page_holds(memory, name):
    chat = memory.create(name, policy=utterd.Policy(preset="session", summaries=False))
    said = [{"role": "user", "content": str(index)} for index in range(2300)]
    for start in range(0, len(said), 1000):
        chat.add(said[start : start + 1000])
    assert chat.messages() == said
    assert chat.messages(last=1500) == said[-1500:]
    assert chat.messages(limit=1200, offset=100) == said[100:1300]


def test_pop_takes_one_message_at_a_time(chat):
    chat.add(EXCHANGE)
    assert [chat.pop() for _ in range(5)] == [*EXCHANGE[::-1], None]
    assert chat.messages() == []


def test_pop_of_nothing(memory, chat, name):
    assert chat.pop() is None
    assert memory.conversation(recipient=name).pop() is None


def test_an_id_is_replaced_only_where_that_is_said(chat):
    chat.add([QUESTION, ANSWER], ids=["q", "a"])
    with pytest.raises(utterd.ExistsError):
        chat.add(QUESTION, ids=["a"])
    changed = {"role": "assistant", "content": "It left."}
    chat.add([changed, QUESTION], ids=["a", "q2"], upsert=True)
    assert chat.messages() == [QUESTION, changed, QUESTION]


def test_replacing_needs_the_revision_that_was_read(chat):
    chat.add(EXCHANGE)
    stored = chat.stored()
    chat.add(QUESTION)
    with pytest.raises(utterd.ConflictError) as error:
        chat.replace_after(1, [ANSWER], expected_revision=stored.revision)
    assert error.value.reason == "STALE_REVISION"
    assert error.value.metadata["actual"] == str(stored.revision + 1)
    replaced = chat.replace_after(1, [ANSWER], expected_revision=stored.revision + 1)
    assert [it.sequence for it in replaced.removed] == [2, 3, 4, 5]
    assert chat.messages() == [QUESTION, ANSWER]
    chat.replace_after(0)
    assert chat.messages() == []


def test_a_conversation_that_must_not_exist_yet(chat):
    assert chat.add(QUESTION, expected_revision=0).started
    with pytest.raises(utterd.ConflictError):
        chat.add(QUESTION, expected_revision=0)


def test_a_request_id_stores_nothing_twice(chat, name):
    assert not chat.add(QUESTION, request_id=name).replayed
    assert chat.add(QUESTION, request_id=name).replayed
    assert len(chat.messages()) == 1


def test_clear_leaves_the_conversation(memory, name):
    chat = memory.create(name, title="Flights", labels={"a": "b"})
    chat.add(EXCHANGE)
    chat.clear()
    assert chat.messages() == [] and chat.context() == []
    assert chat.record().title == "Flights" and chat.record().labels == {"a": "b"}
    chat.add(QUESTION)
    assert chat.messages() == [QUESTION]
    memory.conversation(name + "-never").clear()


def test_what_is_forgotten_softly_comes_back(chat):
    chat.add(EXCHANGE)
    forgotten = chat.forget("sequence:2")
    assert [it.sequence for it in forgotten.forgotten] == [2, 3, 4] or [it.sequence for it in forgotten.forgotten] == [
        2,
        3,
    ]
    assert len(chat.messages()) < 4
    chat.restore([forgotten.forgotten[0].utterance_id])
    assert chat.messages() == EXCHANGE


def test_forgetting_what_is_named(chat):
    chat.add(EXCHANGE, ids=["q", "c", "r", "a"])
    forgotten = chat.forget(ids=["r"], hard=True, exact=True, return_messages=True)
    assert [it.message for it in forgotten.messages] == [RESULT]
    assert chat.messages() == [QUESTION, CALL, ANSWER]
    assert chat.forget(sequences=[range(1, 3)], dry_run=True, hard=True, exact=True).forgotten[0].sequence == 1
    chat.forget(newest=1, hard=True, exact=True)
    assert chat.messages() == [QUESTION, CALL]
    with pytest.raises(ValueError, match="step of 1"):
        chat.forget(sequences=[range(1, 5, 2)])


def test_remember(chat):
    chat.add(
        [QUESTION, {"role": "assistant", "content": "Do you like tea?"}, {"role": "user", "content": "Green tea."}]
    )
    found = {match.utterance.content: match for match in chat.remember("HAT136", limit=2)}
    assert found[QUESTION["content"]].terms == ("HAT136",)
    assert len(chat.remember("HAT136", limit=1)) == 1
    assert {match.utterance.role for match in chat.remember(roles=["assistant"])} == {"assistant"}


def test_summaries_and_capacity(memory, name):
    chat = memory.create(name, policy=utterd.Policy(max_utterances=4))
    chat.add([{"role": "user", "content": f"Order {n} of the blue lamp failed with error E05{n}."} for n in range(8)])
    capacity = chat.capacity()
    assert capacity.max_utterances == 4 and capacity.utterances <= 4 and capacity.archived >= 4
    assert "E050" in chat.summary().text and chat.summary().tokens == capacity.summary_tokens
    assert "E057" in str(chat.summarize("recent", recent=2, tokens=100))
    assert chat.messages(limit=1)[0]["content"].startswith("Order 0")


def test_watch_tells_of_each_change(chat):
    chat.add(QUESTION)
    seen = chat.watch()
    assert next(seen).utterances == 1
    chat.add(ANSWER)
    assert next(seen).utterances == 2
    seen.close()


def test_contexts(chat):
    chat.add([{"role": "system", "content": "Be brief."}, *EXCHANGE, *([QUESTION, ANSWER] * 3)])
    everything = chat.context(instructions="You know flights.")
    assert [it["role"] for it in everything[:2]] == ["system", "system"]
    assert everything[-1] == ANSWER and everything.sequences[-1] == 11
    for_anthropic = chat.context(8000, "anthropic", instructions="You know flights.")
    assert for_anthropic.system[0]["text"].startswith("You know flights.")
    assert for_anthropic[0]["role"] == "user"
    assert "Current Conversation" in chat.context(8000, "text").text
    assert len(chat.context(8000, max_turns=1)) < len(everything)
    assert chat.context(8000, recall="flight") and chat.context(8000, recall=utterd.Recall("flight", limit=1))
    with pytest.raises(utterd.ServerError, match="^budget: "):
        chat.context(1)
    with pytest.raises(ValueError, match="accepted: openai, anthropic, text"):
        chat.context(format="opneai")


def test_a_fork_parts(chat):
    chat.add(EXCHANGE)
    fork = chat.fork(after=1)
    fork.add(ANSWER)
    assert fork.messages() == [QUESTION, ANSWER] and chat.messages() == EXCHANGE
    assert fork.record().forked_from == chat.id


def test_conversations_of_a_recipient(memory, name):
    chats = [memory.create(recipient=name, title=f"n{n}") for n in range(3)]
    assert [it.title for it in memory.conversations(name)] == ["n2", "n1", "n0"]
    assert len(memory.conversations(name, limit=2)) == 2
    assert [it.title for it in memory.conversations(name, order="oldest_start")] == ["n0", "n1", "n2"]
    found = memory.conversations(all_recipients=True, prefix=chats[1].id)
    assert [it.recipient_id for it in found] == [name]
    assert chats[0].delete() and not chats[0].delete()
    ended = chats[1].end("done")
    assert ended.status == "closed" and memory.conversations(name, status="closed")[0].ended_reason == "done"
    with pytest.raises(utterd.PreconditionError):
        chats[1].add(QUESTION)
    assert memory.delete_recipient(name) == 2


def test_updates_and_edits(chat):
    chat.add(QUESTION, ids=["q"])
    assert chat.update(title="Flights", policy=utterd.Policy(max_turns=3)).policy.max_turns == 3
    assert chat.record().title == "Flights"
    assert chat.edit("q", content="Which flight?", pinned=True).pinned
    assert chat.messages() == [{"role": "user", "content": "Which flight?"}]


def test_compaction_can_be_undone(memory, name):
    chat = memory.create(name, policy=utterd.Policy(preset="session"))
    chat.add([{"role": "user", "content": f"Step {n}: file part_{n}.rs fails, what now?"} for n in range(40)])
    assert chat.compact(preview=True).utterances == 25
    assert chat.compact().capacity.utterances == 15
    assert chat.undo_compaction().capacity.utterances == 40
    assert chat.compact(count=3, summarize=False).capacity.utterances == 37
    assert chat.undo_compaction().capacity.utterances == 40
    with pytest.raises(utterd.PreconditionError) as error:
        chat.undo_compaction()
    assert error.value.reason == "NOTHING_TO_UNDO"


def test_without_a_conversation(memory):
    assert int(memory.count_tokens(["hello there", "you"])) == 3
    prepared = memory.prepare([RESULT, QUESTION], "And the next?")
    assert prepared.messages[-1]["content"].endswith("And the next?") and prepared.dropped


def test_a_history_is_summarised(memory):
    rule = "Always run `make check` before you say that something is done."
    history = [{"role": "user", "content": rule}, {"role": "assistant", "content": "I will."}]
    for n in range(20):
        history.append({"role": "user", "content": f"Step {n}: file part_{n}.rs fails, what now?"})
        history.append({"role": "assistant", "content": f"Step {n} is done."})
    limits = {"budget": 400, "summary_token_limit": 200, "summary": "user", "keep_recent": 2, "focus": ["part_7"]}
    once = memory.prepare(history, **limits)
    assert rule in once.summary and once.summary in once.messages[0]["content"] and once.tokens <= 400
    assert once.messages[-2:] == history[-2:]
    again = memory.prepare(once.messages + history[2:], **limits)
    assert rule in again.summary and again.messages[-2:] == history[-2:]
    assert not memory.prepare(history[:2], **limits).summary


def test_errors_say_what_is_wrong(chat):
    with pytest.raises(utterd.NotFoundError) as missing:
        chat.capacity()
    assert missing.value.code == "NOT_FOUND" and missing.value.reason == "CONVERSATION_NOT_FOUND"
    assert "add or create starts it" in str(missing.value)
    chat.add(QUESTION)
    with pytest.raises(utterd.InvalidRequestError) as wrong:
        chat.add([QUESTION, {"role": "user", "content": 3}])
    assert wrong.value.fields[0].field == "messages[1].content" and wrong.value.request_id
    assert str(wrong.value).startswith("messages[1].content: ")
    for refused, named in [
        (lambda: chat.add(QUESTION, ids=["a", "b"]), "ids"),
        (lambda: chat.replace_after(-1, QUESTION), "sequence"),
        (lambda: chat.messages(after=-1), "after"),
        (lambda: chat.summarize(tokens=-1), "tokens"),
    ]:
        with pytest.raises(utterd.InvalidRequestError) as wrong:
            refused()
        assert str(wrong.value).startswith(named) and wrong.value.fields[0].field.startswith(named)


def test_what_is_meant_otherwise_is_done_or_explained(chat):
    with pytest.raises(TypeError, match=r'messages: a text; .* such as {"role": "user", "content": "hello"}'):
        chat.add("hello")
    with pytest.raises(TypeError, match=r'messages\[1\]: a text; .* such as {"role": "user", "content": "hello"}'):
        chat.add([QUESTION, "hello"])
    chat.add(QUESTION, state={"step": 1}, recipient_state={"plan": [2]})
    assert chat.state("step")["step"].value == 1
    assert chat.client.recipient().state("plan")["plan"].value == [2]
    with pytest.raises(KeyError, match=r"there is no value 'stop'; state.get\('stop'\)"):
        chat.state()["stop"]
    assert chat.state().get("stop") is None


def test_a_result_without_its_call_is_refused_unless_lenient(chat):
    with pytest.raises(utterd.PreconditionError):
        chat.add([QUESTION, RESULT])
    added = chat.add([QUESTION, RESULT], lenient=True)
    assert added.irregularities[0].index == 1
    assert chat.messages() == [QUESTION, RESULT] and chat.context() == [QUESTION]


def test_values_beside_a_conversation(chat):
    started = chat.add(QUESTION, state=utterd.StateChange(set={"step": 1, "blob": b"\x00\xff"}))
    assert chat.state() == {
        "blob": utterd.StateValue(value=b"\x00\xff", version=started.revision),
        "step": utterd.StateValue(value=1, version=started.revision),
    }
    plan = {"city": "Zürich", "half": "\ud800", "none": None}
    revision = chat.update_state(set={"plan": plan}, delete=["blob"], expected_versions={"plan": 0})
    assert revision == started.revision + 1
    assert chat.state("plan", "blob") == {"plan": utterd.StateValue(value=plan, version=revision)}
    once = [chat.update_state(set={"step": 2}, request_id="once") for _ in range(2)]
    assert once == [revision + 1, revision + 1]


def test_a_message_and_its_change_of_state_are_kept_together(chat):
    chat.add(QUESTION, state=utterd.StateChange(set={"step": 1}))
    stale = utterd.StateChange(set={"step": 2}, expected_versions={"step": 0})
    for change in (lambda: chat.add(ANSWER, state=stale), lambda: chat.replace_after(0, ANSWER, state=stale)):
        with pytest.raises(utterd.ConflictError) as refused:
            change()
        assert refused.value.reason == "STALE_STATE"
        assert refused.value.fields[0].field == 'state.expected_versions["step"]'
    with pytest.raises(utterd.PreconditionError):
        chat.add(RESULT, state=utterd.StateChange(set={"step": 2}))
    assert chat.messages() == [QUESTION] and chat.state()["step"].value == 1
    with pytest.raises(TypeError):
        chat.update_state(set={"step": object()})


def test_a_recipient_has_values_of_its_own(memory, name):
    ann = memory.recipient(name)
    assert ann.state() == {} and ann.id == name
    assert ann.update_state(set={"plan": [1], "blob": b"\x00"}, expected_revision=0) == 1
    chat = memory.conversation(recipient=name)
    started = chat.add(QUESTION, recipient_state=utterd.StateChange(set={"plan": [2]}, delete=["blob"]))
    assert started.started and chat.state() == {}
    assert ann.state() == {"plan": utterd.StateValue(value=[2], version=2)}
    stale = utterd.StateChange(set={"plan": []}, expected_versions={"plan": 1})
    with pytest.raises(utterd.ConflictError, match="version 2") as refused:
        chat.replace_after(0, ANSWER, recipient_state=stale)
    assert refused.value.fields[0].field == 'recipient_state.expected_versions["plan"]'
    assert chat.delete() and ann.state("plan") == {"plan": utterd.StateValue(value=[2], version=2)}
    memory.delete_recipient(name)
    assert ann.state() == {}


async def test_a_recipients_values_for_asyncio(memory_async, name):
    ann = memory_async.recipient(name)
    version = await ann.update_state(set={"step": 1})
    assert await ann.state() == {"step": utterd.StateValue(value=1, version=version)}
    assert repr(ann) == f"<utterd.AsyncRecipient {name}>"


async def test_the_state_for_asyncio(memory_async, name):
    chat = memory_async.conversation(name)
    with pytest.raises(utterd.NotFoundError):
        await chat.update_state(set={"step": 1})
    await chat.add(QUESTION, state=utterd.StateChange(set={"step": 1}))
    version = await chat.update_state(set={"step": 2})
    assert await chat.state("step") == {"step": utterd.StateValue(value=2, version=version)}


async def test_the_same_for_asyncio(memory_async, name):
    chat = memory_async.conversation(name)
    await chat.add(EXCHANGE)
    assert await chat.messages() == EXCHANGE
    assert (await chat.context(8000))[-1] == ANSWER
    async for capacity in chat.watch():
        assert capacity.utterances == 4
        break
    fork = await chat.fork()
    assert await fork.pop() == ANSWER
    assert await fork.delete()
    with pytest.raises(utterd.NotFoundError):
        await fork.capacity()


def test_values_do_not_change(chat):
    added = chat.add(QUESTION)
    with pytest.raises(dataclasses.FrozenInstanceError):
        added.revision = 7
