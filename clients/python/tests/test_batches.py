"""More messages, and larger ones, than a call takes."""

import pytest

import utterd
from utterd import _read

QUESTION = {"role": "user", "content": "When does flight HAT136 leave?"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "flight", "arguments": '{"id": "HAT136"}'}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": '{"leaves": "May 23"}'}


@pytest.mark.parametrize("upsert", [False, True])
def test_more_messages_than_a_call_takes(memory, name, upsert):
    chat = memory.create(name, policy=utterd.Policy(preset="session", summaries=False))
    said = [{"role": "user", "content": str(index)} for index in range(2300)]
    ids = [f"id-{index}" for index in range(2300)]
    added = chat.add(said, ids=ids, upsert=upsert, state={"step": 1}, expected_revision=chat.record().revision)
    assert added.capacity.utterances == 2300 and added.revision == chat.record().revision
    assert [it.utterance_id for it in added.memorized] == ids and chat.state("step")["step"].version == added.revision
    assert chat.messages() == said
    replaced = chat.replace_after(1000, said[:1500])
    assert (len(replaced.removed), len(replaced.memorized)) == (1300, 1500)
    assert chat.messages() == said[:1000] + said[:1500]


def test_more_bytes_than_a_call_takes(chat, monkeypatch):
    assert 2 * _read.BATCH_BYTES <= 16 * 1024 * 1024
    monkeypatch.setattr(_read, "BATCH_BYTES", 2500)
    said = [{"role": "user", "content": "ä" * 400} for _ in range(20)]
    assert chat.add(said).revision == 7
    said.append({"role": "user", "content": "ä" * 4000})
    chat.add(said[-1])
    assert chat.messages() == said


def test_tool_results_count_for_what_a_call_takes(chat):
    ids = [f"c{index}" for index in range(600)]
    calls = [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids]
    results = [{"type": "tool_result", "tool_use_id": id, "content": "x"} for id in ids]
    said = [QUESTION]
    for start in range(0, 600, 200):
        said.append({"role": "assistant", "content": calls[start : start + 200]})
        said.append({"role": "user", "content": results[start : start + 200]})
    said *= 3
    chat.add(said, format="anthropic", lenient=True)
    assert chat.messages() == said


def test_of_several_calls_nothing_stays_if_one_is_refused(chat):
    chat.add(QUESTION)
    said = [{"role": "user", "content": str(index)} for index in range(1500)]
    with pytest.raises(utterd.InvalidRequestError) as wrong:
        chat.add([*said, {"role": "user", "content": 3}])
    assert wrong.value.fields[0].field == "messages[1500].content" and str(wrong.value).startswith("messages[1500].")
    stale = utterd.StateChange(set={"step": 1}, expected_versions={"step": 7})
    with pytest.raises(utterd.ConflictError):
        chat.add(said, state=stale)
    assert chat.messages() == [QUESTION] and chat.state() == {}


def test_several_calls_go_on_where_they_ended(chat, name, monkeypatch):
    said = [{"role": "user", "content": str(index)} for index in range(2500)]
    answer, calls = chat.client._answer, []

    def lost(call):
        if call.method.endswith("/Memorize"):
            calls.append(call.request.request_id)
            if len(calls) == 3:
                raise utterd.UnavailableError("lost", code="UNAVAILABLE", request_id=calls[-1])
        return answer(call)

    monkeypatch.setattr(chat.client, "_answer", lost)
    with pytest.raises(utterd.UnavailableError) as error:
        chat.add(said, request_id=name)
    assert error.value.request_id == name and len(chat.messages()) == 2000
    assert len(chat.add(said, request_id=error.value.request_id).memorized) == 2500
    assert chat.messages() == said


LARGE = 1_200_000


def test_a_photo_and_a_large_result_come_back(chat):
    photo = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 15_000_000}}
    said = [{"role": "user", "content": [photo]}, CALL, {**RESULT, "content": "row " * 2_000_000}]
    chat.add(said)
    assert chat.messages() == said
    assert [it["role"] for it in chat.context(budget=8_000)] == ["user", "assistant", "tool"]


def test_a_text_that_is_too_large(name):
    small = {"max_content_bytes": "1MiB"}
    with utterd.local(settings=small) as memory, utterd.connect(memory.address, oversize="cut") as cutting:
        large = {**RESULT, "content": "head " + "x" * LARGE + " tail"}
        with pytest.raises(utterd.InvalidRequestError, match="oversize='cut'") as refused:
            memory.conversation(name).add([QUESTION, CALL, large])
        assert refused.value.metadata["limit_bytes"] == str(1024 * 1024)
        chat = cutting.conversation(name)
        chat.add([QUESTION, CALL, large])
        stored = chat.messages()
        assert stored[:2] == [QUESTION, CALL]
        assert stored[2]["content"].startswith("head xxx") and stored[2]["content"].endswith("xxx tail")
        assert "characters are left out here" in stored[2]["content"]
        assert 900_000 < len(stored[2]["content"].encode()) < 1024 * 1024
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * LARGE}}
        with pytest.raises(utterd.InvalidRequestError, match="accepted: at most"):
            chat.add({"role": "user", "content": [image]})
        # This one is larger than a whole request.
        chat.add([CALL, {**large, "content": "x" * (18 << 20)}])
        assert 900_000 < len(chat.messages()[-1]["content"]) < 1024 * 1024
        # What a framework says is cut by default.
        memory.conversation(name).store([CALL, large], format="openai")
        assert 900_000 < len(memory.conversation(name).messages()[-1]["content"]) < 1024 * 1024
        with (
            utterd.connect(memory.address, oversize="refuse") as refusing,
            pytest.raises(utterd.InvalidRequestError, match="accepted: at most"),
        ):
            refusing.conversation(name).store([CALL, large], format="openai")
    with pytest.raises(ValueError, match="accepted: refuse, cut"):
        utterd.connect(oversize="shorten")
