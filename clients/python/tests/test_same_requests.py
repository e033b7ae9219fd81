"""With a budget that holds everything, a model gets exactly what it would get with the framework's own memory."""

import base64
import importlib.util
import json

import pytest

TURNS = 30
BUDGET = 100_000
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PICTURE = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


def needs(module):
    """Skips a test if a framework is not installed."""
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"needs {module}")


def kind(turn):
    """What happens in a turn: the user shows a picture, calls are made, or one of them needs an approval."""
    return ("words", "picture", "calls", "approval")[turn % 4]


@needs("agents")
@pytest.mark.parametrize("api", ["responses", "chat"])
async def test_openai_agents(memory_async, name, api):
    from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, function_tool
    from agents.models.chatcmpl_converter import Converter
    from agents.models.interface import Model
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
        ResponseReasoningItem,
    )

    from utterd.openai_agents import UtterdSession

    def said(id, text):
        part = ResponseOutputText(type="output_text", text=text, annotations=[])
        return ResponseOutputMessage(id=id, type="message", role="assistant", status="completed", content=[part])

    def called(id, name):
        return ResponseFunctionToolCall(
            id=f"fc_{id}", type="function_call", call_id=id, name=name, arguments='{"city": "Oslo"}'
        )

    class Scripted(Model):
        def __init__(self):
            self.requests = []

        async def get_response(self, system_instructions, input, *more, **options):
            self.requests.append(json.dumps(Converter.items_to_messages(input) if api == "chat" else input))
            number, asked = len(self.requests), json.dumps(input[-1])
            thought = ResponseReasoningItem(id=f"rs_{number}", type="reasoning", summary=[], encrypted_content="z")
            output = [thought] if api == "responses" else []
            if "calls" in asked:
                output += [called(f"c{number}a", "weather"), called(f"c{number}b", "weather")]
            elif "approval" in asked:
                output += [said(f"msg_{number}", "Let me book it."), called(f"c{number}", "book")]
            else:
                output += [said(f"msg_{number}", f"Answer {number}.")]
            return ModelResponse(output=output, usage=Usage(), response_id=None)

        def stream_response(self, *more, **options):
            raise NotImplementedError

    @function_tool
    def weather(city: str) -> str:
        return f"It rains in {city}."

    @function_tool(needs_approval=True)
    def book(city: str) -> str:
        return f"A room in {city}."

    async def requests(session):
        model = Scripted()
        agent = Agent(name="a", model=model, tools=[weather, book])
        for turn in range(TURNS):
            text = f"Question {turn}: {kind(turn)}"
            picture = {"type": "input_image", "image_url": PICTURE, "detail": "auto"}
            shown = [{"role": "user", "content": [{"type": "input_text", "text": text}, picture]}]
            result = await Runner.run(agent, shown if kind(turn) == "picture" else text, session=session)
            while result.interruptions:
                state = result.to_state()
                for interruption in result.interruptions:
                    state.approve(interruption)
                result = await Runner.run(agent, state, session=session)
        return model.requests

    own = await requests(SQLiteSession(name))
    assert len(own) > TURNS
    assert await requests(UtterdSession(name, memory_async, budget=BUDGET)) == own


@needs("pydantic_ai")
async def test_pydantic_ai(memory_async, name):
    from pydantic_ai import Agent, BinaryContent, DeferredToolRequests, DeferredToolResults
    from pydantic_ai.messages import (
        ModelMessagesTypeAdapter,
        ModelResponse,
        TextPart,
        ThinkingPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models.function import FunctionModel

    from utterd.pydantic_ai import UtterdHistory

    async def requests(history):
        seen = []

        def answer(messages, info):
            seen.append(plain(messages))
            number, last = len(seen), messages[-1].parts[-1]
            thought = ThinkingPart(f"Thought {number}.", signature=f"s{number}", provider_name="anthropic")
            if isinstance(last, ToolReturnPart) or not isinstance(last, UserPromptPart):
                return ModelResponse([thought, TextPart(f"Answer {number}.")])
            if "calls" in str(last.content):
                calls = [ToolCallPart("weather", {"city": city}, f"c{number}{city}") for city in ("Oslo", "Rome")]
                return ModelResponse([thought, TextPart("Let me see."), *calls])
            if "approval" in str(last.content):
                return ModelResponse([thought, ToolCallPart("book", {"city": "Oslo"}, f"c{number}")])
            return ModelResponse([TextPart(f"Answer {number}.")])

        def plain(messages):
            """Without what differs between two runs."""
            said = json.loads(ModelMessagesTypeAdapter.dump_json(messages))
            dropped = ("timestamp", "run_id", "conversation_id")
            return json.dumps([without(it, dropped) for it in said])

        agent = Agent(FunctionModel(answer), output_type=[str, DeferredToolRequests], system_prompt="Be kind.")

        @agent.tool_plain
        def weather(city: str) -> str:
            return f"It rains in {city}."

        @agent.tool_plain(requires_approval=True)
        def book(city: str) -> str:
            return f"A room in {city}."

        for turn in range(TURNS):
            text = f"Question {turn}: {kind(turn)}"
            shown = [text, BinaryContent(PNG, media_type="image/png")] if kind(turn) == "picture" else text
            result = await agent.run(shown, message_history=await history.context())
            await history.save(result.new_messages())
            if isinstance(result.output, DeferredToolRequests):
                approved = DeferredToolResults(approvals={it.tool_call_id: True for it in result.output.approvals})
                result = await agent.run(message_history=await history.context(), deferred_tool_results=approved)
                await history.save(result.new_messages())
        return seen

    class Own:
        def __init__(self):
            self.messages = []

        async def context(self):
            return list(self.messages)

        async def save(self, messages):
            self.messages += messages

    own = await requests(Own())
    assert len(own) > TURNS
    assert await requests(UtterdHistory(name, memory_async, budget=BUDGET)) == own


def without(value, keys):
    if isinstance(value, dict):
        return {key: without(part, keys) for key, part in value.items() if key not in keys}
    return [without(part, keys) for part in value] if isinstance(value, list) else value


@needs("langchain")
@pytest.mark.parametrize("checkpointed", [True, False])
def test_langchain_agents(memory, name, checkpointed):
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, SystemMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver

    from utterd.langchain_agents import UtterdMiddleware

    class Scripted(BaseChatModel):
        requests: list

        @property
        def _llm_type(self):
            return "scripted"

        def bind_tools(self, tools, **more):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **more):
            self.requests.append([without(it.model_dump(), ("id",)) for it in messages])
            number = len(self.requests)
            thought = {"type": "thinking", "thinking": f"Thought {number}.", "signature": f"s{number}"}
            more = {"additional_kwargs": {"reasoning_content": f"Reason {number}."}}
            if messages[-1].type == "human" and "calls" in str(messages[-1].content):
                calls = [{"id": f"c{number}{city}", "name": "weather", "args": {"city": city}} for city in ("O", "R")]
                content = [thought, {"type": "text", "text": "Let me see."}]
                return ChatResult(generations=[ChatGeneration(message=AIMessage(content, tool_calls=calls, **more))])
            return ChatResult(generations=[ChatGeneration(message=AIMessage(f"Answer {number}.", **more))])

    @tool
    def weather(city: str) -> str:
        """The weather."""
        return f"It rains in {city}."

    cached = {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}

    def requests(middleware, saver):
        model = Scripted(requests=[])
        agent = create_agent(
            model, [weather], system_prompt=SystemMessage([cached]), middleware=middleware, checkpointer=saver
        )
        for turn in range(TURNS):
            text = f"Question {turn}: {kind(turn)}"
            shown = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": PICTURE}}]
            content = shown if kind(turn) == "picture" else text
            agent.invoke({"messages": [("user", content)]}, {"configurable": {"thread_id": name}})
        return model.requests

    own = requests([], InMemorySaver())
    assert len(own) > TURNS
    saver = InMemorySaver() if checkpointed else None
    assert requests([UtterdMiddleware(memory, budget=BUDGET)], saver) == own


@needs("strands")
def test_strands(memory, name):
    from strands import Agent, tool
    from strands.agent.conversation_manager import NullConversationManager
    from strands.models import Model

    from utterd.strands import UtterdConversationManager, UtterdSessionManager

    class Scripted(Model):
        def __init__(self):
            self.requests = []

        def update_config(self, **options):
            pass

        def get_config(self):
            return {}

        def structured_output(self, *more, **options):
            raise NotImplementedError

        async def stream(self, messages, tool_specs=None, system_prompt=None, **options):
            self.requests.append(json.dumps([system_prompt, messages], default=str))
            number, last = len(self.requests), messages[-1]["content"]
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockDelta": {"delta": {"reasoningContent": {"text": f"Thought {number}."}}}}
            yield {"contentBlockDelta": {"delta": {"reasoningContent": {"signature": f"s{number}"}}}}
            yield {"contentBlockStop": {}}
            calls = "text" in last[0] and "calls" in last[0]["text"]
            if calls:
                use = {"toolUse": {"toolUseId": f"t{number}", "name": "weather"}}
                yield {"contentBlockStart": {"start": use}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"city": "Oslo"}'}}}}
            else:
                yield {"contentBlockDelta": {"delta": {"text": f"Answer {number}."}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}

    @tool
    def weather(city: str) -> str:
        """The weather."""
        return f"It rains in {city}."

    def requests(**options):
        model = Scripted()
        agent = Agent(model=model, tools=[weather], system_prompt="Be kind.", callback_handler=None, **options)
        for turn in range(TURNS):
            content = [{"text": f"Question {turn}: {kind(turn)}"}]
            if kind(turn) == "picture":
                content.append({"image": {"format": "png", "source": {"bytes": PNG}}})
            agent(content)
        return model.requests

    own = requests(conversation_manager=NullConversationManager())
    assert len(own) > TURNS
    sessions = UtterdSessionManager(name, memory, budget=BUDGET)
    assert requests(session_manager=sessions, conversation_manager=UtterdConversationManager(sessions)) == own
