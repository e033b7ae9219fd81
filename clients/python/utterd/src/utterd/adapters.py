"""What adapters for agent frameworks are made of, for one of your own.

    said = adapters.fold({"role": "user", "content": message.text}, "my_framework", message.to_dict())
    conversation = memory.conversation(adapters.fit(session_id), policy=adapters.limits(budget))
    conversation.store(said, format="openai")
    context = conversation.filled(budget, stored_as="openai")
    messages = [own(it.said) if it.whole else from_chat(it.message) for it in context.shown]

where `own` makes a message from `adapters.unfold(said, "my_framework")`, and `from_chat` one from a chat message.
`Conversation.store` takes whatever a framework says. `Conversation.filled` is a context that uses its budget, and its
`shown` names the stored message for each that is shown whole. What these have beside their text counts if the server
sees it: pictures, and thoughts as `thinking` blocks. `Conversation.replace` is for a framework that always
stores its whole list.
"""

from __future__ import annotations

from utterd._blocks import block_messages, blocks_of, thinking
from utterd._fold import fold, unfold
from utterd._ids import fit
from utterd._limits import limits
from utterd._media import Media, media_of

__all__ = ["Media", "block_messages", "blocks_of", "fit", "fold", "limits", "media_of", "thinking", "unfold"]
