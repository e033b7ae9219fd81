"""LangChain's client of motorhead, with only the address changed."""

import asyncio
import sys
import warnings

warnings.simplefilter("ignore")

from langchain_community.memory.motorhead_memory import MotorheadMemory  # noqa: E402


async def remembered(url):
    memory = MotorheadMemory(session_id="ana", url=url)
    await memory.init()
    return memory


async def main(url):
    memory = await remembered(url)
    assert memory.load_memory_variables({}) == {"history": ""}, memory
    memory.save_context({"input": "Where is the salt cathedral?"}, {"output": "In Zipaquirá."})
    memory.save_context({"input": "Thanks"}, {"output": "You are welcome."})
    later = await remembered(url)
    expected = "Human: Where is the salt cathedral?\nAI: In Zipaquirá.\nHuman: Thanks\nAI: You are welcome."
    assert later.load_memory_variables({}) == {"history": expected}, later
    assert later.context is None, later.context
    for turn in range(20):
        later.save_context({"input": f"Day {turn}"}, {"output": "It rains in Bogotá."})
    summarized = await remembered(url)
    assert "Zipaquirá" in summarized.context, summarized.context
    summarized.delete_session()
    assert (await remembered(url)).load_memory_variables({}) == {"history": ""}


asyncio.run(main(sys.argv[1]))
