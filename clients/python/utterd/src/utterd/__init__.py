"""Conversation memory for LLM agents: the client of an utterd server.

    import utterd

    memory = utterd.connect()                          # 127.0.0.1:50051; or utterd.local(), with a local server
    chat = memory.conversation(recipient="alice")
    chat.add({"role": "user", "content": "My flight HAT136 leaves on May 23."})
    messages = chat.context(budget=8000, format="openai")  # what goes to the model

`connect_async` and `local_async` do the same for asyncio: each method is a coroutine. Adapters for frameworks are
modules of this package: `utterd.openai_agents`, `utterd.langchain`, `utterd.langchain_agents`, `utterd.langgraph`,
`utterd.strands`, `utterd.google_adk`, `utterd.llama_index`, `utterd.pydantic_ai`.
"""

from utterd._asyncio import AsyncClient, AsyncConversation, AsyncRecipient, connect_async
from utterd._channel import Tls
from utterd._errors import (
    ConflictError,
    DeadlineError,
    DeniedError,
    ExhaustedError,
    ExistsError,
    FieldProblem,
    InvalidRequestError,
    NotFoundError,
    PreconditionError,
    ServerError,
    StartError,
    UnavailableError,
    UtterdError,
)
from utterd._model import (
    Added,
    Capacity,
    Compacted,
    Context,
    ConversationRecord,
    Forgotten,
    Format,
    Irregularity,
    Match,
    Message,
    Messages,
    Omission,
    Policy,
    Prepared,
    Recall,
    Reference,
    Restored,
    Role,
    Scope,
    Shown,
    StateChange,
    StateValue,
    Status,
    Stored,
    StoredMessage,
    Summary,
    Tokens,
    Utterance,
)
from utterd._oversize import Oversize
from utterd._server import find_utterd_bin, local, local_async
from utterd._sync import Client, Conversation, Recipient, connect

__version__ = "0.1.0"

__all__ = [
    "Added",
    "AsyncClient",
    "AsyncConversation",
    "AsyncRecipient",
    "Capacity",
    "Client",
    "Compacted",
    "ConflictError",
    "Context",
    "Conversation",
    "ConversationRecord",
    "DeadlineError",
    "DeniedError",
    "ExhaustedError",
    "ExistsError",
    "FieldProblem",
    "Forgotten",
    "Format",
    "InvalidRequestError",
    "Irregularity",
    "Match",
    "Message",
    "Messages",
    "NotFoundError",
    "Omission",
    "Oversize",
    "Policy",
    "PreconditionError",
    "Prepared",
    "Recall",
    "Recipient",
    "Reference",
    "Restored",
    "Role",
    "Scope",
    "ServerError",
    "Shown",
    "StartError",
    "StateChange",
    "StateValue",
    "Status",
    "Stored",
    "StoredMessage",
    "Summary",
    "Tls",
    "Tokens",
    "UnavailableError",
    "Utterance",
    "UtterdError",
    "connect",
    "connect_async",
    "find_utterd_bin",
    "local",
    "local_async",
]
