"""Checks of `utterd mcp` with the protocol's own Python client.

Usage: model_context.py ADDRESS UTTERD CHECK
"""

import asyncio
import os
import re
import subprocess
import sys

from mcp import Client, StdioServerParameters

TALK = [
    {"role": "user", "content": "My flight HAT136 leaves on May 23."},
    {"role": "assistant", "tool_calls": [{"id": "c1", "name": "find_flight", "arguments": "{}"}]},
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
    {"role": "assistant", "content": "I found it."},
]


async def talk(client, recipient):
    """Every tool, once."""

    async def call(name, **arguments):
        result = await client.call_tool(name, {"recipient_id": recipient, **arguments})
        assert not result.is_error, result
        return result.structured_content

    names = {tool.name for tool in (await client.list_tools()).tools}
    assert {"memorize", "remember", "forget", "end_conversation", "get_conversation"} <= names, names
    stored = await call("memorize", messages=TALK)
    conversation = stored["conversationId"]
    assert [it["sequence"] for it in stored["memorized"]] == ["1", "2", "3", "4"], stored
    found = await call("remember", prompt="when does the flight leave?")
    assert found["matches"][0]["conversationId"] == conversation, found
    assert "HAT136" in (await call("build_context"))["text"]
    assert (await call("build_context", format="openai_chat"))["messagesJson"]
    assert (await call("build_context", format="anthropic_messages"))["messagesJson"]
    assert (await call("summarize"))["tokenCount"] > 0
    assert (await call("get_capacity_info"))["capacity"]["utteranceCount"] == 4
    told = await call("forget", instructions="turn:1")
    assert len(told["forgotten"]) == 4, told
    ended = await call("end_conversation", reason="task completed")
    assert ended["conversation"]["conversationId"] == conversation, ended
    listed = await call("get_conversation")
    assert [it["id"] for it in listed["conversations"]] == [conversation], listed
    read = await call("get_conversation", conversation_id=conversation)
    assert read["messages"][1]["toolsUsed"] == ["find_flight"], read
    result = await client.call_tool("get_conversation", {"conversation_id": "nowhere"})
    assert result.is_error and "CONVERSATION_NOT_FOUND" in result.content[0].text, result


async def over_stdio(address, utterd):
    process = StdioServerParameters(command=utterd, args=["mcp", "--all-tools", "--server", address])
    for mode in ["auto", "legacy"]:
        async with Client(process, mode=mode) as client:
            await talk(client, f"stdio-{mode}")


async def over_http(address, utterd):
    arguments = [utterd, "mcp", "--all-tools", "--server", address, "--http", "127.0.0.1:0"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = re.search(r"http://\S+", process.stdout.readline()).group()
            for mode in ["auto", "legacy"]:
                async with Client(url, mode=mode) as client:
                    await talk(client, f"http-{mode}")
        finally:
            process.terminate()
    assert process.returncode == 0, process.returncode


CHECKS = [over_stdio, over_http]

if __name__ == "__main__":
    address, utterd, name = sys.argv[1:]
    for variable in [it for it in os.environ if it.startswith("UTTERD_")]:
        del os.environ[variable]
    asyncio.run({check.__name__: check for check in CHECKS}[name](address, utterd))
