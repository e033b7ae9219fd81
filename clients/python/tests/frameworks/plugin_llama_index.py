"""Replaces LlamaIndex' own stores with those over utterd: pytest -p plugin_llama_index.

Its tests are not in its package, only in a checkout.
"""

import json
import uuid

import llama_index.core.storage.chat_store
import llama_index.core.storage.chat_store.sql
from llama_index.core.llms import ChatMessage

import utterd
from utterd.llama_index import UtterdChatStore, UtterdDBChatStore

memory = utterd.local()
memory_async = utterd.connect_async(memory.address)


class Store(UtterdChatStore):
    """Like SimpleChatStore: each instance has keys of its own, which a file can hold."""

    def __init__(self):
        super().__init__(memory, user=uuid.uuid4().hex)

    def _at(self, key):
        return self._memory.conversation(f"{self._user}/{key}", recipient=self._user)

    def persist(self, persist_path):
        with open(persist_path, "w", encoding="utf-8") as file:
            messages = {key: [it.model_dump(mode="json") for it in self.get_messages(key)] for key in self.get_keys()}
            json.dump(messages, file, ensure_ascii=False)

    @classmethod
    def from_persist_path(cls, persist_path):
        store = cls()
        with open(persist_path, encoding="utf-8") as file:
            for key, messages in json.load(file).items():
                store.set_messages(key, [ChatMessage.model_validate(message) for message in messages])
        return store


class DBStore(UtterdDBChatStore):
    def __init__(self, **database):
        super().__init__(memory_async, user=uuid.uuid4().hex)

    def _at(self, key):
        return self._memory.conversation(f"{self._user}/{key}", recipient=self._user)


llama_index.core.storage.chat_store.SimpleChatStore = Store
llama_index.core.storage.chat_store.sql.SQLAlchemyChatStore = DBStore
