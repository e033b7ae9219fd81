"""Replaces Strands' files with the session manager over utterd: pytest -p plugin_strands_file."""

import hashlib

import strands.session.file_session_manager

import utterd
from utterd.strands import UtterdSessionManager

memory = utterd.local()


class Manager(UtterdSessionManager):
    """A directory names a namespace."""

    def __init__(self, session_id, storage_dir=None, **named):
        self.namespace = hashlib.sha256(str(storage_dir).encode()).hexdigest()[:16]
        self.storage_dir = storage_dir
        super().__init__(session_id, memory, user=self.namespace, **named)

    def _of_session(self, session_id):
        return super()._of_session(f"{self.namespace}-{session_id}")

    def _of_agent(self, session_id, agent_id):
        return super()._of_agent(f"{self.namespace}-{session_id}", agent_id)


strands.session.file_session_manager.FileSessionManager = Manager
