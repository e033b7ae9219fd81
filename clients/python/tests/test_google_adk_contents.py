"""What goes into ADK's session service comes out of it, and reaches the model within a budget."""

import pytest

pytest.importorskip("google.adk", reason="pip install 'utterd[google-adk]'")

from google.adk.agents import Agent
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from pydantic import Field
from samples import sample

from utterd import Policy
from utterd.google_adk import UtterdSessionService


def blob(data, mime_type):
    return types.Part(inline_data=types.Blob(data=data, mime_type=mime_type))


# Its header says 256 × 256: without one, it counts as a picture of 1024 × 1024.
SIZE = (256).to_bytes(4, "big") * 2
PHOTO = blob(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + SIZE + b"\x00\xff\xfe" * 1000, "image/png")
SOUND = blob(b"\x01\xff" * 500, "audio/l16; rate=24000")
LETTER = blob(b"%PDF-1.7", "application/pdf")
MAP = types.Part(file_data=types.FileData(file_uri="gs://shop/map.mp4", mime_type="video/mp4"))
ASKED = types.Part(text="What do you see here?")
THOUGHT = types.Part(text="Let me look.", thought=True)
CALL = types.Part(
    function_call=types.FunctionCall(id="c1", name="look", args={"at": 1.0, "how": {"far": None}}),
    thought_signature=b"\xffsignature",
)
ANSWER = types.Part(function_response=types.FunctionResponse(id="c1", name="look", response={"seen": ["a", 2.50]}))
CODE = types.Part(executable_code=types.ExecutableCode(code="print(1)", language="PYTHON"))
RESULT = types.Part(code_execution_result=types.CodeExecutionResult(outcome="OUTCOME_OK", output="1"))
DRAWN = blob(b"\x89PNG" * 300, "image/png")
SIGNED = types.Part(text="A photo, and what it sounds like.", thought_signature=b"\xfetoo")

SAID = [
    ("user", "user", [ASKED, PHOTO, LETTER, MAP, SOUND]),
    ("shop", "model", [THOUGHT, CALL]),
    ("shop", "user", [ANSWER]),
    ("shop", "model", [CODE, RESULT, DRAWN]),
    ("shop", "model", [SIGNED]),
    ("user", "user", [PHOTO]),
]


def event(author, role, parts, **more):
    return Event(author=author, content=types.Content(role=role, parts=parts), **more)


@pytest.fixture
async def sessions(memory_async, name):
    service = UtterdSessionService(memory_async)
    return service, await service.create_session(app_name=f"app-{name}", user_id="u", session_id="s")


async def stored(sessions):
    service, session = sessions
    return await service.get_session(app_name=session.app_name, user_id="u", session_id="s")


async def test_every_kind_of_part_comes_back(sessions):
    service, session = sessions
    events = [event(*it) for it in SAID]
    for it in events:
        await service.append_event(session, it)
    assert (await stored(sessions)).events == events


@pytest.mark.parametrize("field", types.Part.model_fields)
async def test_each_field_of_a_part_comes_back(sessions, field):
    """Also those that newer versions of `google-genai` add."""
    service, session = sessions
    part = types.Part(**{field: sample(types.Part.model_fields[field].annotation, field)})
    said = event("shop", "model", [types.Part(text="Here it is."), part])
    await service.append_event(session, said)
    assert (await stored(sessions)).events == [said]


async def test_what_belongs_to_an_event_comes_back(sessions):
    service, session = sessions
    actions = EventActions(
        state_delta={"a": {"$at": None}, "none": None, "temp:x": 1},
        artifact_delta={"photo.png": 3},
        transfer_to_agent="other",
        escalate=True,
        skip_summarization=True,
    )
    given = event(
        "shop",
        "model",
        [CALL],
        invocation_id="i1",
        branch="shop.other",
        actions=actions,
        long_running_tool_ids={"c1"},
        custom_metadata={"trace": [1, {"$at": ["content"]}]},
        usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=7),
        grounding_metadata=types.GroundingMetadata(search_entry_point=types.SearchEntryPoint(sdk_blob=b"\xff\x00")),
        error_code="E",
        interrupted=True,
        turn_complete=True,
        timestamp=1_730_613_600.123456,
    )
    await service.append_event(session, given)
    (got,) = (await stored(sessions)).events
    assert "temp:x" not in got.actions.state_delta
    given.actions.state_delta.pop("temp:x", None)
    assert got == given


async def test_half_of_a_surrogate_pair_comes_back(sessions):
    service, session = sessions
    said = [event("user", "user", [types.Part(text="cut within \ud83d"), PHOTO])]
    await service.append_event(session, said[0])
    assert (await stored(sessions)).events == said
    assert (await service.context(session, 8000))[1] == [said[0].content]


async def test_pictures_are_stored_once_and_as_pictures(sessions, memory_async):
    service, session = sessions
    await service.append_event(session, event("user", "user", [PHOTO, LETTER]))
    (message,) = (await memory_async.conversation(f"{session.app_name}/u/s").stored()).messages
    photo, letter = message.message["content"]
    assert photo["source"]["media_type"] == "image/png" and letter["source"]["media_type"] == "application/pdf"
    assert len(message.json) < 1.5 * len(photo["source"]["data"])


async def test_what_anthropics_format_cannot_say_is_named(sessions, memory_async):
    service, session = sessions
    await service.append_event(session, event("user", "user", [SOUND, MAP]))
    (message,) = await memory_async.conversation(f"{session.app_name}/u/s").messages()
    sound, video = [block["text"] for block in message["content"]]
    assert sound.startswith("[audio/l16; rate=24000 ") and video.startswith("[video/mp4 ")


async def test_contexts_contain_what_was_said(sessions):
    service, session = sessions
    for it in SAID:
        await service.append_event(session, event(*it))
    _, contents = await service.context(session, 8000)
    assert [(it.role, it.parts) for it in contents] == [(role, parts) for _, role, parts in SAID]


async def test_a_warning_says_that_pictures_are_left_out_of_a_context(sessions, caplog):
    service, session = sessions
    for n in range(4):
        await service.append_event(session, event("user", "user", [ASKED, blob(bytes([n]) * 700_000, "image/png")]))
        await service.append_event(session, event("shop", "model", [SIGNED]))
    _, contents = await service.context(session, 8000)
    kept = [part.inline_data.data[0] for content in contents for part in content.parts if part.inline_data]
    assert kept == [2, 3] and "left out" in caplog.text
    assert len((await stored(sessions)).events) == 8


async def test_pictures_of_other_clients_are_pictures(sessions, memory_async):
    service, session = sessions
    source = {"type": "base64", "media_type": "image/png", "data": "AP/+"}
    image = {"type": "image", "source": source}
    await memory_async.conversation(f"{session.app_name}/u/s").add(
        {"role": "user", "content": [image]}, format="anthropic"
    )
    _, contents = await service.context(session, 8000)
    (got,) = (await stored(sessions)).events
    assert contents[0].parts == got.content.parts == [blob(b"\x00\xff\xfe", "image/png")]


class Model(BaseLlm):
    """A model that answers each question, and remembers the requests."""

    model: str = "fake"
    requests: list = Field(default_factory=list)

    async def generate_content_async(self, llm_request, stream=False):
        self.requests.append(llm_request)
        answered = llm_request.contents[-1].parts[0].function_response
        parts = [types.Part(text="It is here. " * 40)] if answered else [types.Part(function_call=CALL.function_call)]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def look(at: float, how: dict) -> dict:
    """Looks."""
    return {"seen": at}


async def test_a_callback_trims_what_goes_to_the_model(sessions):
    service, session = sessions
    model = Model()
    callback = service.trimmed(1000)
    agent = Agent(name="shop", model=model, instruction="Help.", tools=[look], before_model_callback=callback)
    runner = Runner(agent=agent, app_name=session.app_name, session_service=service)

    async def ask(*parts):
        content = types.Content(role="user", parts=list(parts))
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=content):
            pass

    for n in range(12):
        await ask(types.Part(text=f"Question {n} is about the parcel {n}."))
    await ask(ASKED, PHOTO)
    events = (await stored(sessions)).events
    assert len(events) == 13 * 4
    first, last = model.requests[0], model.requests[-1]
    assert [part.text for content in first.contents for part in content.parts] == ["Question 0 is about the parcel 0."]
    assert first.config.system_instruction.count("parcel") == 0
    assert 3 < len(last.contents) < 20 and last.contents[0].parts[0].text.startswith("Question ")
    assert last.contents[-3].parts == [ASKED, PHOTO]
    assert last.contents[-2].parts[0].function_call and last.contents[-1].parts[0].function_response
    assert "parcel 0" in last.config.system_instruction and "Help." in last.config.system_instruction


class Scripted(BaseLlm):
    """A model that calls as the newest question says, and remembers what it was given."""

    model: str = "fake"
    requests: list = Field(default_factory=list)

    async def generate_content_async(self, llm_request, stream=False):
        said = [content.model_dump_json(exclude_none=True) for content in llm_request.contents]
        self.requests.append([said, llm_request.config.system_instruction])
        number, last = len(self.requests), llm_request.contents[-1].parts[0]
        call = types.FunctionCall(name="look", args={"at": number, "how": {"far": None}})
        parts = [types.Part(text="Let me think.", thought=True)]
        if last.text and "calls" in last.text:
            parts += [types.Part(function_call=call, thought_signature=b"\xff%d" % number)] * 2
        else:
            parts.append(types.Part(text=f"Answer {number}.", thought_signature=b"\xfe%d" % number))
        yield LlmResponse(content=types.Content(role="model", parts=parts))


async def requests(service, name, tools, questions, **options):
    model = Scripted()
    agent = Agent(name="shop", model=model, instruction="Help.", tools=tools, **options)
    runner = Runner(agent=agent, app_name=f"app-{name}", session_service=service)
    await service.create_session(app_name=f"app-{name}", user_id="u", session_id="s")
    for parts in questions:
        content = types.Content(role="user", parts=parts)
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=content):
            pass
    return model.requests


async def test_a_model_gets_what_it_would_get_without(memory_async, name):
    questions = [
        [types.Part(text=f"Question {n}: {('words', 'picture', 'calls')[n % 3]}"), *([PHOTO] if n % 3 == 1 else [])]
        for n in range(30)
    ]
    own = await requests(InMemorySessionService(), name, [look], questions)
    assert len(own) == 40
    service = UtterdSessionService(memory_async, policy=Policy(preset="session"))
    callback = service.trimmed(100_000)
    assert await requests(service, name, [look], questions, before_model_callback=callback) == own


async def test_a_response_that_is_too_long_is_cut(memory, memory_async, name):
    def look(at: float, how: dict) -> dict:
        """Looks."""
        return {"seen": "word " * 60_000}

    service = UtterdSessionService(memory_async)
    questions = [[types.Part(text=f"Question {n}: {'calls' * (n % 2)}")] for n in range(4)]
    given = await requests(service, name, [look], questions, before_model_callback=service.trimmed(2000))
    for said, instructions in given:
        assert sum(memory.count_tokens([*said, instructions]).counts) < 2500
    assert "Question 3: calls" in given[-1][0][-3] and given[-1][0][-1].count("function_response") == 2
    session = await service.get_session(app_name=f"app-{name}", user_id="u", session_id="s")
    responses = [part.function_response for it in session.events for part in it.content.parts if part.function_response]
    assert len(responses) == 4 and all(len(it.response["seen"]) == 300_000 for it in responses)
