"""The examples, against aimock: each is killed while its tool runs, and resumes."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import utterd

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "python"
NEEDS = {
    "plain": "openai",
    "with_google_adk": "google.adk",
    "with_langgraph": "langchain_openai",
    "with_llama_index": "llama_index.llms.google_genai",
    "with_openai_agents": "agents",
    "with_pydantic_ai": "pydantic_ai",
    "with_strands": "strands",
}
CALL = {"name": "lookup_order", "arguments": {"id": 7}}
ASKED = {"userMessage": "order 7", "hasToolResult": False}
FIXTURES = {
    "fixtures": [
        # Gemini ends an answer with the same word whether it calls or not.
        {
            "match": {**ASKED, "model": "gemini-2.5-flash"},
            "response": {"toolCalls": [{"id": "call_7", **CALL}], "finishReason": "stop"},
        },
        {"match": ASKED, "response": {"toolCalls": [{"id": "call_7", **CALL}]}},
        # A framework that does not run the tool itself when it resumes asks the model again.
        {"match": {"toolResultContains": "no result"}, "response": {"toolCalls": [{"id": "call_8", **CALL}]}},
        {"match": {"toolResultContains": "DHL"}, "response": {"content": "Order 7 was shipped with DHL."}},
    ]
}

pytestmark = pytest.mark.skipif(shutil.which("llmock") is None, reason="npm install -g @copilotkit/aimock")


@pytest.fixture
def models(tmp_path):
    fixtures = tmp_path / "fixtures.json"
    fixtures.write_text(json.dumps(FIXTURES))
    command = ["llmock", "-p", "0", "-f", str(fixtures)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        listening = next(line for line in process.stdout if "http://" in line)
        yield "http://" + listening.split("http://")[1].split()[0].rstrip("/")
        process.kill()


@pytest.fixture
def server():
    with utterd.local() as memory:
        yield memory


def run(example, server, models, tmp_path, *arguments):
    environment = {
        **os.environ,
        "UTTERD_SERVER": server.address,
        "OPENAI_BASE_URL": f"{models}/v1",
        "OPENAI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": models,
        "GOOGLE_API_KEY": "none",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }
    command = [sys.executable, EXAMPLES / f"{example}.py", "order-7", *arguments]
    return subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("example", sorted(file.stem for file in EXAMPLES.glob("*.py")))
def test_an_agent_that_is_killed_goes_on(example, server, models, tmp_path):
    pytest.importorskip(NEEDS[example])
    orders = tmp_path / "orders.json"
    # The tool blocks until somebody writes.
    os.mkfifo(orders)
    # This open succeeds once the tool has opened its end.
    with run(example, server, models, tmp_path, "Where is my order 7?") as agent, open(orders, "w"):
        agent.send_signal(signal.SIGKILL)
        agent.wait()
    orders.unlink()
    orders.write_text(json.dumps({"7": {"state": "shipped", "carrier": "DHL"}}))
    with run(example, server, models, tmp_path) as agent:
        assert agent.stdout.read().strip() == "Order 7 was shipped with DHL."
        assert agent.wait() == 0
    conversations = [server.conversation(it.conversation_id) for it in server.conversations(all_recipients=True)]
    stored = [json.dumps(message) for conversation in conversations for message in conversation.messages()]
    for said in ("Where is my order 7?", "shipped with DHL"):
        assert len([message for message in stored if said in message]) == 1


def test_the_examples_are_short():
    assert [file.name for file in EXAMPLES.glob("*.py") if len(file.read_text().splitlines()) > 40] == []
