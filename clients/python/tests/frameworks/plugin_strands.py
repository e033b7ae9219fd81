"""Replaces the mock in Strands' tests with the repository over utterd: pytest -p plugin_strands."""

import sys
import uuid

sys.path.insert(0, ".")
import tests.fixtures.mock_session_repository as mock

import utterd
from utterd.strands import UtterdSessionRepository

memory = utterd.local()


class Repository(UtterdSessionRepository):
    """Each instance has sessions of its own."""

    def __init__(self):
        self.namespace = uuid.uuid4().hex
        super().__init__(memory, user=self.namespace)

    def _of_session(self, session_id):
        return super()._of_session(f"{self.namespace}-{session_id}")

    def _of_agent(self, session_id, agent_id):
        return super()._of_agent(f"{self.namespace}-{session_id}", agent_id)


mock.MockedSessionRepository = Repository
