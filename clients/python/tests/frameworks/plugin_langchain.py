"""Replaces LangChain's in-memory history with the one over utterd: pytest -p plugin_langchain."""

import uuid

import langchain_core.chat_history

import utterd
from utterd.langchain import UtterdChatMessageHistory

memory = utterd.local()


class History(UtterdChatMessageHistory):
    """Like InMemoryChatMessageHistory: each instance has a conversation of its own.

    https://docs.langchain.com/oss/python/langchain/short-term-memory: deprecated, like the class that it replaces.
    """

    def __init__(self, messages=()):
        super().__init__(uuid.uuid4().hex, memory)
        self.add_messages(messages)

    def __eq__(self, other):
        return isinstance(other, History) and self.messages == other.messages

    __hash__ = None


langchain_core.chat_history.InMemoryChatMessageHistory = History
