"""Pictures and files that a user or a tool showed are in the next contexts, in each framework's own types."""

import base64
import importlib.util

import pytest

from utterd._media import Media, media_of

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
PDF = b"%PDF-1.4 an invoice"
LARGE = 800_000
"""Characters of a picture of which three are too large for one context."""


def needs(module):
    """Skips a test if a framework is not installed."""
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"needs {module}")


@pytest.mark.parametrize(
    "media",
    [
        Media("image/png", data="AAAA", detail="low"),
        Media("image/*", url="https://example.org/a"),
        Media("application/pdf", data="AAAA", name="a.pdf"),
        Media("application/pdf", url="https://example.org/a.pdf", name="a.pdf"),
        Media("audio/wav", data="AAAA"),
        Media("audio/flac", data="AAAA", name="a"),
        Media("video/mp4", data="AAAA", name="b"),
    ],
)
def test_media_have_a_form_in_each_format(media):
    assert media_of(media.part()) == media
    in_a_block = media_of(media.block())
    assert (in_a_block.type, in_a_block.data, in_a_block.url) == (media.type, media.data, media.url)


def test_what_is_no_media():
    for block in ({"type": "text", "text": "a"}, {"type": "file", "file": {"file_id": "x"}}, {"type": "image"}):
        assert media_of(block) is None


@needs("agents")
async def test_openai_agents(memory_async, name):
    from utterd.openai_agents import UtterdSession

    items = [
        {"role": "user", "content": [{"type": "input_image", "image_url": URL, "detail": "low"}]},
        {"role": "user", "content": "What is this?"},
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_image", "image_url": URL}]},
        {"role": "assistant", "content": "A dot."},
        {"role": "user", "content": [{"type": "input_text", "text": "And?"}, {"type": "input_file", "file_id": "f"}]},
        {"role": "user", "content": [{"type": "input_image", "file_id": "g"}]},
    ]
    session = UtterdSession(name, memory_async, budget=4000)
    for item in items:
        await session.add_items([item])
    assert await session.get_items() == items


@needs("agents")
async def test_openai_agents_only_the_newest_of_large_ones(memory_async, name, caplog):
    from utterd.openai_agents import UtterdSession

    def item(n):
        image = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * LARGE}
        return {"role": "user", "content": [{"type": "input_text", "text": f"This is {n}."}, image]}

    session = UtterdSession(name, memory_async, budget=4000)
    for n in range(4):
        await session.add_items([item(n)])
    assert await session.get_items() == [
        *({"role": "user", "content": f"This is {n}."} for n in range(2)),
        item(2),
        item(3),
    ]
    assert "pictures and files of older messages are left out" in caplog.text


@needs("langchain_core")
def test_langchain(memory, name):
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    from utterd.langchain import UtterdChatMessageHistory

    inline = base64.b64encode(PDF).decode()
    invoice = {"type": "file", "base64": inline, "mime_type": "application/pdf", "extras": {"filename": "i.pdf"}}
    talk = {"type": "audio", "base64": inline, "mime_type": "audio/wav"}
    film = {"type": "video", "base64": inline, "mime_type": "video/mp4"}
    picture = {"type": "image_url", "image_url": {"url": URL, "detail": "low"}}
    own = {"type": "image", "base64": base64.b64encode(PNG).decode(), "mime_type": "image/png"}
    history = UtterdChatMessageHistory(name, memory, budget=4000)
    question = HumanMessage([{"type": "text", "text": "What are these?"}, picture, own, invoice, talk, film])
    history.add_messages([question, AIMessage("A dot and more.")])
    given = history.messages[0].content
    assert given == question.content
    assert history.stored() == [question, AIMessage("A dot and more.")]
    call = AIMessage("", tool_calls=[{"id": "a", "name": "look", "args": {}}])
    result = ToolMessage([picture], tool_call_id="a")
    history.add_messages([call, result])
    assert history.messages[-2:] == [call, result]


@needs("langgraph")
def test_langgraph(memory, name):
    from langchain_core.messages import HumanMessage

    from utterd.langgraph import build_context

    question = HumanMessage([{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": URL}}])
    node, configuration = build_context(memory, budget=4000), {"configurable": {"thread_id": name}}
    messages = [question, HumanMessage("And now?")]
    state = {"messages": [message.model_copy(update={"id": message.text}) for message in messages]}
    assert node({"messages": state["messages"][:1]}, configuration)["llm_input_messages"] == state["messages"][:1]
    assert node(state, configuration)["llm_input_messages"] == state["messages"]


@needs("llama_index")
def test_llama_index(memory, name):
    from llama_index.core.base.llms.types import (
        AudioBlock,
        ChatMessage,
        DocumentBlock,
        ImageBlock,
        TextBlock,
        VideoBlock,
    )

    from utterd.llama_index import UtterdMemory

    remembered = UtterdMemory(memory, name, budget=4000)
    question = ChatMessage(
        role="user",
        blocks=[
            TextBlock(text="What are these?"),
            ImageBlock(image=PNG, detail="low"),
            ImageBlock(url="https://example.org/a.png"),
            DocumentBlock(data=PDF, title="invoice", document_mimetype="application/pdf"),
            AudioBlock(audio=b"RIFF", format="wav"),
            VideoBlock(video=b"film", video_mimetype="video/mp4"),
        ],
    )
    remembered.put_messages([question, ChatMessage(role="assistant", content="A dot and more.")])
    assert remembered.get()[0] == remembered.get_all()[0] == question
    remembered.put(ChatMessage(role="tool", blocks=[ImageBlock(image=PNG)]))
    assert remembered.get_all()[-1].blocks == [ImageBlock(image=PNG)]


@needs("llama_index")
def test_llama_index_reads_a_picture_where_it_is(memory, name, tmp_path):
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock

    from utterd.llama_index import UtterdMemory

    (tmp_path / "a.png").write_bytes(PNG)
    remembered = UtterdMemory(memory, name, budget=4000)
    remembered.put(ChatMessage(role="user", blocks=[ImageBlock(path=tmp_path / "a.png")]))
    assert remembered.get_all()[0].blocks[0].path == tmp_path / "a.png"
    (tmp_path / "a.png").unlink()
    assert remembered.get()[0].blocks == [ImageBlock(image=PNG)]


@needs("pydantic_ai")
async def test_pydantic_ai(memory_async, name):
    from pydantic_ai import AudioUrl, BinaryContent, DocumentUrl, ImageUrl, VideoUrl
    from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart

    from utterd.pydantic_ai import UtterdHistory

    shown = [
        BinaryContent(PNG, media_type="image/png"),
        BinaryContent(PDF, media_type="application/pdf"),
        BinaryContent(b"RIFF", media_type="audio/wav"),
        ImageUrl("https://example.org/a.png"),
        DocumentUrl("https://example.org/a.pdf"),
        AudioUrl("https://example.org/a.mp3"),
        VideoUrl("https://example.org/a.mp4"),
    ]
    history = UtterdHistory(name, memory_async, budget=4000)
    await history.save(
        [
            ModelRequest([UserPromptPart(["What are these?", *shown])]),
            ModelResponse([ToolCallPart("look", {}, "a")]),
            ModelRequest([ToolReturnPart("look", ["a dot", shown[0]], "a")]),
        ]
    )
    question, _, result = await history.context()
    assert [question, result] == (await history.load())[::2]
    (asked,) = question.parts
    assert [getattr(it, "url", None) for it in asked.content[4:]] == [it.url for it in shown[3:]]
    assert [it.data for it in asked.content[1:4]] == [it.data for it in shown[:3]]
    assert result.parts[0].content[1].data == PNG


@needs("pydantic_ai")
def test_pydantic_ai_without_a_media_type():
    from pydantic_ai import AudioUrl, ImageUrl

    from utterd.pydantic_ai import _block, _shown

    for url in (ImageUrl("https://example.org/picture"), AudioUrl("https://example.org/talk")):
        assert _shown(_block(url)) == url


@needs("pydantic_ai")
async def test_pydantic_ai_shows_what_no_provider_format_can_say(memory_async, name):
    from pydantic_ai.messages import ModelRequest, UploadedFile, UserPromptPart

    from utterd.pydantic_ai import UtterdHistory

    history = UtterdHistory(name, memory_async, budget=4000)
    said = [ModelRequest([UserPromptPart(["This?", UploadedFile("x", "openai")])])]
    await history.save(said)
    assert (await history.context())[0].parts[0].content == said[0].parts[0].content


@needs("strands")
def test_strands(memory, name):
    from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

    from utterd.strands import UtterdSessionRepository

    picture = {"image": {"format": "png", "source": {"bytes": PNG}}}
    exchange = [
        {
            "role": "user",
            "content": [
                {"text": "What are these?"},
                picture,
                {"document": {"format": "pdf", "name": "invoice", "source": {"bytes": PDF}}},
                {"document": {"format": "docx", "name": "letter", "source": {"bytes": PDF}}},
                {"video": {"format": "mp4", "source": {"location": {"type": "s3", "uri": "s3://films/a.mp4"}}}},
            ],
        },
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "look", "input": {}}}]},
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "a", "status": "success", "content": [{"text": "x"}, picture]}}],
        },
    ]
    repository = UtterdSessionRepository(memory, user=name, budget=4000)
    repository.create_session(Session(name, SessionType.AGENT))
    repository.create_agent(name, SessionAgent("a", {}, {}))
    for number, message in enumerate(exchange):
        repository.create_message(name, "a", SessionMessage(message, number))
    assert repository.context(name, "a") == ("", exchange)


@needs("strands")
def test_pictures_that_are_left_out_are_told_of(memory, name, caplog):
    from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

    from utterd.strands import UtterdSessionRepository

    repository = UtterdSessionRepository(memory, user=name, budget=4000)
    repository.create_session(Session(name, SessionType.AGENT))
    repository.create_agent(name, SessionAgent("a", {}, {}))
    for number in range(4):
        picture = {"image": {"format": "png", "source": {"bytes": bytes(LARGE * 3 // 4)}}}
        said = {"role": "user", "content": [{"text": f"This is {number}."}, picture]}
        repository.create_message(name, "a", SessionMessage(said, number))
    blocks = [block for message in repository.context(name, "a")[1] for block in message["content"]]
    assert blocks.count(picture) == 2 and blocks[-1] == picture
    assert "pictures and files of older messages are left out" in caplog.text
