"""Contexts for models. Each operation is defined once, for both clients."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from utterd import _model as model
from utterd import _read as read
from utterd._address import Address
from utterd._calls import Steps, call, logger
from utterd._errors import NotFoundError
from utterd._messages import SCOPES
from utterd._proto import context_service_pb2 as contexts
from utterd._proto import warning_pb2
from utterd._shown import shown

CONTEXTS = "ContextService"
FORMATS = {
    "openai": contexts.CONTEXT_FORMAT_OPENAI_CHAT,
    "anthropic": contexts.CONTEXT_FORMAT_ANTHROPIC_MESSAGES,
    "text": contexts.CONTEXT_FORMAT_TEXT,
}
PLACES = {
    "system": contexts.SUMMARY_PLACEMENT_SYSTEM,
    "user": contexts.SUMMARY_PLACEMENT_USER_MESSAGE,
}
FULL = 0.9
"""The least share of a budget that an adapter's context uses, if enough is stored."""
UNANSWERED = {
    "omit": contexts.UNANSWERED_CALLS_OMIT,
    "placeholder": contexts.UNANSWERED_CALLS_PLACEHOLDER,
    "open": contexts.UNANSWERED_CALLS_PLACEHOLDER,
}
EARLIER = {
    None: contexts.EARLIER_UNSPECIFIED,
    False: contexts.EARLIER_NONE,
    True: contexts.EARLIER_ENDED,
}


def context(
    at: Address,
    budget: int | None = None,
    format: Literal["openai", "anthropic", "text"] = "openai",
    *,
    instructions: str = "",
    recall: str | model.Recall | None = None,
    max_turns: int | None = None,
    summary: Literal["system", "user"] = "system",
    unanswered: Literal["omit", "placeholder", "open"] = "omit",
    mask_results_after_turns: int | None = None,
    mask_images_after_turns: int | None = None,
    whole_messages: bool = False,
    stable_steps: bool | None = None,
    archive: bool | None = None,
    earlier: bool | None = None,
    stored_as: model.Format | None = None,
) -> Steps[model.Context]:
    """Builds what goes to the model, in at most `budget` tokens: instructions, summary, pinned and recent messages.

    Never contains a tool result without its call, or a call without its results.

    - `budget`: by default what the conversation's policy allows for the window and the summary.
    - `format`: OpenAI's chat, Anthropic's messages (with a separate `system`), or `text`.
    - `instructions`: a system prompt that is not stored.
    - `recall`: a prompt or a `Recall`; adds what a search for it finds in the rest.
    - `max_turns`: exactly this many of the newest turns.
    - `summary`: whether it goes into a system message or a user message.
    - `unanswered`: whether a call without a result is left out, or closed with a placeholder; with `open`, `shown` has
      no placeholders in the newest exchange, which its caller is about to answer.
    - `mask_results_after_turns`: replaces tool results of older turns with a line.
    - `mask_images_after_turns`: replaces images of older turns with a text, or with 0 all images.
    - `whole_messages`: only cuts tool results, and refuses a budget that has no room for the newest message.
    - `stable_steps`: whether messages drop out in steps, so that a provider's prompt cache hits.
    - `archive`: whether stored turns that left the window fill the rest of the budget; by default if one is given.
    - `earlier`: whether a message says how the recipient's other conversations ended; by default if this one was
      not addressed by its id.
    - `stored_as`: with the format `openai`: the context's `shown` has the stored messages that are in this format. What
      is shown whole counts as it is stored, with its pictures and thoughts.
    """
    if format != "openai" and (stored_as is not None or unanswered == "open"):
        raise ValueError(f"format: {format}; accepted with stored_as, and with unanswered='open': openai")
    wanted = model.Recall(recall) if isinstance(recall, str) else recall
    request = contexts.BuildContextRequest(
        conversation_id=at.conversation_id,
        recipient_id=at.recipient_id,
        format=read.chosen("format", format, FORMATS),
        token_budget=budget,
        max_turns=max_turns,
        summary_placement=read.chosen("summary", summary, PLACES),
        recall=None if wanted is None else _recall(wanted),
        mask_tool_results_after_turns=mask_results_after_turns,
        mask_images_after_turns=mask_images_after_turns,
        whole_messages=whole_messages,
        unanswered_calls=read.chosen("unanswered", unanswered, UNANSWERED),
        instructions=instructions,
        include_archive=budget is not None if archive is None else archive,
        earlier=EARLIER[earlier],
        count_as_stored=stored_as is not None,
        **read.present(stable_steps=stable_steps),
    )
    it = yield from call(CONTEXTS, "BuildContext", request, contexts.BuildContextResponse)
    at.found()
    made = _context(it)
    if stored_as is not None:
        made.shown = yield from shown(at, it, made, stored_as, open=unanswered == "open")
    return made


def filled(
    at: Address, /, budget: int | None = None, format: Literal["openai", "anthropic"] = "openai", **options: Any
) -> Steps[model.Context]:
    """What an adapter gives to the model: a context that uses the budget, if enough is stored; empty if nothing is.

    The window alone fills it if it has an adapter's limits, and such contexts begin alike until the next eviction. A
    window with smaller limits is filled up from the archive.
    """
    options = {"unanswered": "placeholder", **options}
    window = {"archive": False, **options} if budget is not None else options
    try:
        made = yield from context(at, budget, format, **window)
    except NotFoundError:
        return _context(contexts.BuildContextResponse())
    evicted = any(it.reason == "evicted" for it in made.omitted)
    if budget is not None and "archive" not in options and evicted and made.tokens < FULL * budget:
        made = yield from context(at, budget, format, **{"archive": True, "stable_steps": False, **options})
    if made.media_left_out:
        logger.warning("pictures and files of older messages are left out of a context: together they are too large")
    return made


def _recall(wanted: model.Recall) -> contexts.ContextRecall:
    return contexts.ContextRecall(
        prompt=wanted.prompt,
        limit=wanted.limit,
        scope=None if wanted.scope is None else read.chosen("recall.scope", wanted.scope, SCOPES),
        max_percent=wanted.max_percent,
        min_relevance=wanted.min_relevance,
    )


def _context(it: contexts.BuildContextResponse) -> model.Context:
    made = model.Context(json.loads(it.messages_json or "[]"))
    made.conversation_id = it.conversation_id
    made.revision = it.revision
    made.system = json.loads(it.system_json or "[]")
    made.text = it.text
    made.tokens = it.token_count
    made.budget = read.given(it, "token_budget")
    made.sequences = tuple(utterance.sequence for utterance in it.utterances)
    made.whole = {
        utterance.sequence: utterance.message_index
        for utterance in it.utterances
        if utterance.rendered_as == contexts.RENDERED_AS_WHOLE and utterance.HasField("message_index")
    }
    made.shown = ()
    made.omitted = tuple(
        model.Omission(
            contexts.OmissionReason.Name(omitted.reason).removeprefix("OMISSION_REASON_").lower(),
            tuple(range(its.first, its.last + 1) for its in omitted.sequences),
        )
        for omitted in it.omitted
    )
    made.stable_messages = it.stable_prefix_messages
    made.uncovered = it.uncovered_utterance_count
    made.warnings = tuple(warning.text for warning in it.warnings)
    made.media_left_out = any(its.kind == warning_pb2.WARNING_KIND_PARTS_LEFT_OUT for its in it.warnings)
    return made


def prepare(
    messages: model.Messages,
    prompt: str = "",
    *,
    max_messages: int | None = None,
    max_bytes: int | None = None,
    budget: int | None = None,
    format: Literal["openai", "anthropic"] = "openai",
    model_name: str = "",
    whole_messages: bool = False,
    summary_token_limit: int = 0,
    summary: Literal["system", "user"] = "system",
    keep_recent: int = 0,
    focus: Iterable[str] = (),
) -> Steps[model.Prepared]:
    """Makes a history that the caller holds fit for a model. Stores nothing.

    Keeps the newest messages within the limits, whole exchanges only, and drops what is malformed. `prompt` is the
    user's next message, and is cut to its head and tail if it exceeds a limit by itself; with `whole_messages`, it is
    refused. By default 20 messages and 102,400 bytes.

    With a `summary_token_limit`, what does not fit is summarised, and messages and bytes are unlimited by default.
    Everything but at least `keep_recent` of the newest messages is then summarised; words of `focus` matter more. A
    history that begins with such a summary continues it.
    """
    request = contexts.PrepareHistoryRequest(
        messages_json=read.as_json(messages),
        prompt=prompt,
        max_messages=max_messages,
        max_bytes=max_bytes,
        token_budget=budget,
        format=read.chosen("format", format, FORMATS),
        model=model_name,
        whole_messages=whole_messages,
        summary_token_limit=summary_token_limit,
        summary_placement=read.chosen("summary", summary, PLACES),
        keep_recent=keep_recent,
        focus_areas=focus,
    )
    it = yield from call(CONTEXTS, "PrepareHistory", request, contexts.PrepareHistoryResponse)
    return model.Prepared(
        messages=json.loads(it.messages_json or "[]"),
        system=it.system,
        tokens=it.token_count,
        summary=it.summary,
        dropped=tuple(f"messages[{its.index}]: {its.text}" for its in it.dropped),
        warnings=tuple(warning.text for warning in it.warnings),
    )


def count_tokens(texts: str | Sequence[str], *, model_name: str = "") -> Steps[model.Tokens]:
    """Counts the tokens of texts exactly, for an encoding or an OpenAI model; by default the server's encoding."""
    request = contexts.CountTokensRequest(texts=[texts] if isinstance(texts, str) else texts, model=model_name)
    it = yield from call(CONTEXTS, "CountTokens", request, contexts.CountTokensResponse)
    return model.Tokens(tuple(it.token_counts), it.encoding)
