"""Replaces the SDK's SQLite sessions with the session over utterd: pytest -p plugin_openai_agents."""

import hashlib
import uuid

import agents
import agents.extensions.memory
import agents.extensions.memory.async_sqlite_session
import agents.memory

import utterd
from utterd._ids import fit
from utterd.openai_agents import UtterdSession

# Without deadlines, because the tests move the clock.
memory = utterd.local_async(timeout=None)


class Session(UtterdSession):
    """Like SQLiteSession: a database's path names a namespace, and one in memory has a namespace of its own."""

    def __init__(self, session_id, db_path=":memory:", *tables, session_settings=None, **names):
        super().__init__(session_id, memory, session_settings=session_settings)
        path = str(db_path)
        self.namespace = uuid.uuid4().hex if path == ":memory:" else hashlib.sha256(path.encode()).hexdigest()[:16]
        self.conversation = memory.conversation(fit(self.namespace, session_id), recipient=self.namespace)
        self.closed = False

    def close(self):
        self.closed = True


class AsyncSession(Session):
    async def close(self):
        self.closed = True


def closed(name):
    inherited = getattr(UtterdSession, name)

    async def method(self, *arguments, **named):
        if self.closed:
            raise RuntimeError("SQLiteSession is closed")
        return await inherited(self, *arguments, **named)

    return method


for name in ("get_items", "add_items", "pop_item", "clear_session"):
    setattr(Session, name, closed(name))

agents.SQLiteSession = agents.memory.SQLiteSession = Session
agents.extensions.memory.async_sqlite_session.AsyncSQLiteSession = AsyncSession
agents.extensions.memory.AsyncSQLiteSession = AsyncSession
