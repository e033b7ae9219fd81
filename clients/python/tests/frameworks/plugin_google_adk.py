"""Replaces ADK's in-memory service with the one over utterd: pytest -p plugin_google_adk."""

import uuid

from google.adk import sessions
from google.adk.sessions import in_memory_session_service

import utterd
from utterd.google_adk import UtterdSessionService

memory = utterd.local_async()


class Service(UtterdSessionService):
    """Each instance has sessions of its own."""

    def __init__(self):
        super().__init__(memory)
        self.namespace = uuid.uuid4().hex
        with utterd.connect(memory.address) as client:
            for record in client.conversations(all_recipients=True):
                client.conversation(record.conversation_id).delete()

    def _session(self, app_name, user_id, session_id):
        return super()._session(self.namespace + app_name, user_id, session_id)

    def _user(self, app_name, user_id):
        return super()._user(self.namespace + app_name, user_id)

    def _app(self, app_name):
        return super()._app(self.namespace + app_name)


sessions.InMemorySessionService = in_memory_session_service.InMemorySessionService = Service
