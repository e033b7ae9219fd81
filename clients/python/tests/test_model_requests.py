"""What a model gets from a framework and its adapter: signed thoughts as they came, and no more than the budget.

In each adapter, the history is read again before each request, as after a restart.
"""

import base64
import importlib.util
import struct
from dataclasses import dataclass
from threading import Thread

import pytest
from model_server import ALL, DONE, PICTURE_TOKENS, STEPS, THIRTY, TOOL, Provider, parts_of

import utterd
from utterd.adapters import Media

SCHEMA = {"type": "object", "properties": {"number": {"type": "integer"}}}
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\x08\x02\0\0\0" + bytes(40)
PICTURE = Media("image/png", data=base64.b64encode(PNG).decode())


@dataclass
class Setting:
    """What an adapter is tried with: the clients, the conversation's name, the model server's address, and more."""

    memory: utterd.Client
    memory_async: utterd.AsyncClient
    name: str
    url: str
    budget: int
    result: str


async def anthropic(at):
    import anthropic

    model, chat = anthropic.Anthropic(base_url=at.url, api_key="x"), at.memory.conversation(at.name)

    async def ask(question, pictures=0):
        chat.add({"role": "user", "content": [{"type": "text", "text": question}, *[PICTURE.block()] * pictures]})
        calls = answer = None
        while answer is None or calls:
            said = chat.context(at.budget, format="anthropic")
            answer = model.messages.create(model="claude", max_tokens=9, system=said.system, messages=said)
            chat.add(answer)
            calls = [block for block in answer.content if block.type == "tool_use"]
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": at.result} for call in calls]
            if results:
                chat.add({"role": "user", "content": results})
        return answer.content[0].text

    return ask


async def openai_chat(at):
    import openai

    model, chat = openai.OpenAI(base_url=at.url, api_key="x"), at.memory.conversation(at.name)

    async def ask(question, pictures=0):
        chat.add({"role": "user", "content": [{"type": "text", "text": question}, *[PICTURE.part()] * pictures]})
        answer = None
        while answer is None or answer.tool_calls:
            messages = chat.context(at.budget)
            answer = model.chat.completions.create(model="m", messages=messages).choices[0].message
            chat.add(answer)
            for call in answer.tool_calls or []:
                chat.add({"role": "tool", "tool_call_id": call.id, "content": at.result})
        return answer.content

    return ask


def item(question, pictures):
    shown = [{"type": "input_image", "image_url": PICTURE.uri, "detail": "auto"}] * pictures
    return {"role": "user", "content": [{"type": "input_text", "text": question}, *shown]}


async def openai_responses(at):
    import openai

    from utterd.openai_agents import items_of

    model, chat = openai.OpenAI(base_url=at.url, api_key="x"), at.memory.conversation(at.name)

    async def ask(question, pictures=0):
        chat.add(item(question, pictures), format="responses")
        calls = answer = None
        while answer is None or calls:
            shown = chat.context(at.budget, stored_as="responses").shown
            input = [said for it in shown for said in ([it.said] if it.whole else items_of([it.message]))]
            answer = model.responses.create(model="m", input=input, store=False)
            chat.add(answer.output, format="responses")
            calls = [item.call_id for item in answer.output if item.type == "function_call"]
            for call in calls:
                chat.add({"type": "function_call_output", "call_id": call, "output": at.result}, format="responses")
        return answer.output_text

    return ask


async def openai_agents(at, api="responses"):
    from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
    from openai import AsyncOpenAI

    from utterd.openai_agents import UtterdSession

    @function_tool(name_override=TOOL)
    def step(number: int) -> str:
        return at.result

    client = AsyncOpenAI(base_url=at.url, api_key="x")
    model = OpenAIResponsesModel("gpt", client)
    if api == "chat":
        model = OpenAIChatCompletionsModel("gemini", client, should_replay_reasoning_content=lambda context: True)
    agent = Agent(name="a", model=model, tools=[step], tool_use_behavior="stop_on_first_tool")
    session = UtterdSession(at.name, at.memory_async, budget=at.budget)

    async def ask(question, pictures=0):
        result = await Runner.run(agent, [item(question, pictures)], session=session)
        while result.new_items[-1].type == "tool_call_output_item":
            result = await Runner.run(agent, [], session=session)
        return result.final_output

    return ask


async def openai_agents_chat(at):
    return await openai_agents(at, "chat")


async def pydantic_ai(at):
    from pydantic_ai import Agent, BinaryContent, DeferredToolRequests, DeferredToolResults, ToolDefinition
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.toolsets import ExternalToolset

    from utterd.pydantic_ai import UtterdHistory

    model = AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(api_key="x", base_url=at.url))
    tools = ExternalToolset([ToolDefinition(name=TOOL, parameters_json_schema=SCHEMA)])
    agent = Agent(model, toolsets=[tools], output_type=[str, DeferredToolRequests])
    history = UtterdHistory(at.name, at.memory_async, budget=at.budget)

    async def ask(question, pictures=0):
        said = [question, *[BinaryContent(PNG, media_type="image/png")] * pictures]
        result = await agent.run(said, message_history=await history.context())
        await history.save(result.new_messages())
        while isinstance(result.output, DeferredToolRequests):
            results = DeferredToolResults(calls={it.tool_call_id: at.result for it in result.output.calls})
            result = await agent.run(message_history=await history.context(), deferred_tool_results=results)
            await history.save(result.new_messages())
        return result.output

    return ask


def langchain_parts(at):
    """A model, a tool, and what makes a question."""
    from langchain_anthropic import ChatAnthropic
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool

    @tool(TOOL)
    def step(number: int) -> str:
        """A step."""
        return at.result

    def said(question, pictures):
        return HumanMessage([{"type": "text", "text": question}, *[PICTURE.part()] * pictures])

    return ChatAnthropic(model="claude-sonnet-4-5", base_url=at.url, api_key="x", max_retries=0), step, said


async def langchain(at):
    from langchain_core.messages import ToolMessage

    from utterd.langchain import build_context, remember

    model, step, said = langchain_parts(at)
    chain = build_context(at.memory, budget=at.budget) | model.bind_tools([step]) | remember(at.memory)
    config = {"configurable": {"session_id": at.name}}

    async def ask(question, pictures=0):
        answer = chain.invoke(said(question, pictures), config)
        while answer.tool_calls:
            answer = chain.invoke([ToolMessage(at.result, tool_call_id=it["id"]) for it in answer.tool_calls], config)
        return answer.text

    return ask


async def langchain_agents(at):
    from langchain.agents import create_agent

    from utterd.langchain_agents import UtterdMiddleware

    model, step, said = langchain_parts(at)
    return invoked(create_agent(model, [step], middleware=[UtterdMiddleware(at.memory, budget=at.budget)]), at, said)


async def langgraph(at):
    from langgraph.prebuilt import create_react_agent

    from utterd.langgraph import build_context, remember

    model, step, said = langchain_parts(at)
    hooks = {"pre_model_hook": build_context(at.memory, budget=at.budget), "post_model_hook": remember(at.memory)}
    return invoked(create_react_agent(model, [step], **hooks), at, said)


def invoked(agent, at, said):
    config = {"configurable": {"thread_id": at.name}, "recursion_limit": 500}

    async def ask(question, pictures=0):
        return agent.invoke({"messages": [said(question, pictures)]}, config)["messages"][-1].text

    return ask


async def strands(at):
    from strands import Agent, tool
    from strands.models.anthropic import AnthropicModel

    from utterd.strands import UtterdConversationManager, UtterdSessionManager

    @tool(name=TOOL)
    def step(number: int) -> str:
        """A step."""
        return at.result

    model = AnthropicModel(client_args={"base_url": at.url, "api_key": "x"}, model_id="claude", max_tokens=9)
    sessions = UtterdSessionManager(at.name, at.memory, budget=at.budget)
    manager = UtterdConversationManager(sessions)
    agent = Agent(
        model=model, tools=[step], session_manager=sessions, conversation_manager=manager, callback_handler=None
    )

    async def ask(question, pictures=0):
        shown = [{"image": {"format": "png", "source": {"bytes": PNG}}}] * pictures
        return str(await agent.invoke_async([{"text": question}, *shown])).strip()

    return ask


async def google_adk(at):
    from functools import cached_property

    from google import genai
    from google.adk.agents import Agent
    from google.adk.models import Gemini
    from google.adk.runners import Runner
    from google.genai import types

    from utterd.google_adk import UtterdSessionService

    class Local(Gemini):
        @cached_property
        def api_client(self):
            return genai.Client(api_key="x", http_options=types.HttpOptions(base_url=at.url))

    def step(number: int, thought: str) -> str:
        return at.result

    sessions = UtterdSessionService(at.memory_async)
    model = Local(model="gemini-2.5-pro")
    agent = Agent(name="a", model=model, tools=[step], before_model_callback=sessions.trimmed(at.budget))
    runner = Runner(agent=agent, app_name="a", session_service=sessions)
    await sessions.create_session(app_name="a", user_id=at.name, session_id=at.name)

    async def ask(question, pictures=0):
        parts = [types.Part(text=question), *[types.Part.from_bytes(data=PNG, mime_type="image/png")] * pictures]
        said = types.Content(role="user", parts=parts)
        async for event in runner.run_async(user_id=at.name, session_id=at.name, new_message=said):
            answer = event
        return answer.content.parts[0].text

    return ask


async def llama_index(at):
    import anthropic
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock

    from utterd.llama_index import UtterdMemory

    def said(message):
        """As LlamaIndex' package for Anthropic says it, which needs an older one of Anthropic's."""
        blocks = list(map(block, message.blocks))
        if message.role == "tool":
            result = {"tool_use_id": message.additional_kwargs["tool_call_id"], "content": blocks}
            return {"role": "user", "content": [{"type": "tool_result", **result}]}
        return {"role": "user" if message.role == "system" else message.role.value, "content": blocks}

    def block(it):
        if isinstance(it, ThinkingBlock):
            return {"type": "thinking", "thinking": it.content, **it.additional_information}
        if isinstance(it, ToolCallBlock):
            return {"type": "tool_use", "id": it.tool_call_id, "name": it.tool_name, "input": it.tool_kwargs}
        return PICTURE.block() if isinstance(it, ImageBlock) else {"type": "text", "text": it.text}

    def answered(it):
        if it.type == "thinking":
            return ThinkingBlock(content=it.thinking, additional_information={"signature": it.signature})
        if it.type == "tool_use":
            return ToolCallBlock(tool_call_id=it.id, tool_name=it.name, tool_kwargs=it.input)
        return TextBlock(text=it.text)

    model = anthropic.Anthropic(base_url=at.url, api_key="x")
    remembered = UtterdMemory(at.memory, at.name, budget=at.budget)

    async def ask(question, pictures=0):
        asked = ChatMessage(role="user", blocks=[TextBlock(text=question), *[ImageBlock(image=PNG)] * pictures])
        calls = None
        while calls is None or calls:
            remembered.put(asked)
            answer = model.messages.create(model="claude", max_tokens=9, messages=list(map(said, remembered.get())))
            remembered.put(ChatMessage(role="assistant", blocks=list(map(answered, answer.content))))
            calls = [it.id for it in answer.content if it.type == "tool_use"]
            for call in calls:
                asked = ChatMessage(role="tool", content=at.result, additional_kwargs={"tool_call_id": call})
        return answer.content[0].text

    return ask


async def agent_framework(at):
    from agent_framework import Agent, Content, Message, tool
    from agent_framework.anthropic import AnthropicClient
    from anthropic import AsyncAnthropic

    from utterd.agent_framework import UtterdHistoryProvider

    @tool(name=TOOL, approval_mode="always_require")
    def step(number: int) -> str:
        """A step."""
        return at.result

    client = AnthropicClient(model="claude", anthropic_client=AsyncAnthropic(base_url=at.url, api_key="x"))
    history = UtterdHistoryProvider(at.memory_async, budget=at.budget)
    agent = Agent(client=client, tools=[step], context_providers=[history])
    session = agent.create_session(session_id=at.name)

    async def ask(question, pictures=0):
        shown = [Content.from_uri(PICTURE.uri, media_type="image/png")] * pictures
        response = await agent.run([Message("user", [question, *shown])], session=session)
        while asked := response.user_input_requests:
            approved = [it.to_function_approval_response(approved=True) for it in asked]
            response = await agent.run([Message("user", approved)], session=session)
        return response.text

    return ask


ADAPTERS = {
    anthropic: "anthropic",
    openai_chat: "openai",
    openai_responses: "agents",
    openai_agents: "agents",
    openai_agents_chat: "agents",
    pydantic_ai: "pydantic_ai anthropic",
    langchain: "langchain_anthropic",
    langchain_agents: "langchain langchain_anthropic",
    langgraph: "langgraph langchain_anthropic",
    strands: "strands anthropic",
    google_adk: "google.adk",
    llama_index: "llama_index anthropic",
    agent_framework: "agent_framework_anthropic",
}
"""What each needs."""
APART = (openai_agents, openai_agents_chat, pydantic_ai, agent_framework)
"""What a user or a person says goes to the model beside their history, which has it from the next request on."""


def is_there(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


@pytest.fixture(scope="module")
def memory():
    """In memory only: what goes to a model does not depend on the store."""
    with utterd.local() as client:
        yield client


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.__name__)
def adapter(request):
    missing = [module for module in ADAPTERS[request.param].split() if not is_there(module)]
    if missing:
        pytest.skip(f"needs {missing}")
    return request.param


@pytest.fixture
def provider():
    with Provider() as provider:
        Thread(target=provider.serve_forever, daemon=True).start()
        yield provider
        provider.shutdown()


@pytest.fixture
def asking(memory, memory_async, name, provider, adapter):
    """Makes what asks the model by an adapter."""

    def asking(budget, result="ok"):
        return adapter(Setting(memory, memory_async, name, provider.url, budget, result))

    return asking


@pytest.fixture
def check(memory, provider, adapter):
    """Checks the tokens of the requests by the provider's rule."""

    def size(request):
        parts = parts_of(request)
        rule = next(it for field, it in PICTURE_TOKENS.items() if field in request)
        return sum(memory.count_tokens([it for it in parts if it]).counts) + parts.count(None) * rule

    def check(budget):
        sizes = list(map(size, provider.requests))
        assert max(sizes[-1:] if adapter in APART else sizes) <= budget

    return check


@pytest.mark.parametrize("budget", [4000, 500])
async def test_signed_thoughts_of_thirty_steps(asking, provider, budget):
    ask = await asking(budget)
    provider.lenient = budget < 4000
    for number in range(3):
        assert await ask(f"Note {number}: " + "a long text about a lamp. " * 200) == DONE
    assert await ask(THIRTY) == DONE
    assert provider.steps == STEPS[THIRTY]


async def test_long_thoughts(asking, check, provider):
    ask = await asking(8000)
    provider.lenient, provider.thinks = True, " I wonder." * 700
    assert await ask(THIRTY) == DONE
    assert provider.steps == STEPS[THIRTY]
    check(8000)


async def test_a_message_above_the_budget(asking, check, provider):
    ask = await asking(8000)
    for question in ("This is a contract: " + "word " * 10_400 + "Signed.", "What is it?", "And who signed it?"):
        assert await ask(question) == DONE
    assert all("This is a contract" in str(it) and "Signed." in str(it) for it in provider.requests)
    check(8000)


async def test_a_result_above_the_budget(asking, check):
    ask = await asking(2000, "Found: " + "word " * 60_000)
    assert await ask(ALL) == DONE
    assert await ask("And now?") == DONE
    check(2000)


@pytest.mark.parametrize("at_once", [1, 20])
async def test_pictures_above_the_budget(asking, check, provider, at_once):
    ask = await asking(2000)
    for number in range(20 // at_once):
        assert await ask(f"This is picture {number}.", pictures=at_once) == DONE
    assert await ask("And now?") == DONE
    assert None in parts_of(provider.requests[-1]) or at_once > 1
    check(2000)
