"""The limits of conversations that adapters start."""

from __future__ import annotations

from utterd._model import Policy

EVERYTHING = 2**31 - 1
"""More utterances than an archive ever has."""
SUMMARY = 1000
"""The most tokens of a summary; with a small budget, an eighth of it."""
RENDERED = 64
"""Tokens for the words that a context adds to what was said."""


KEEP = Policy(archive_limit=EVERYTHING)
"""Everything stays stored. A conversation needs that only once it is long, so that it can start without a call."""
LONG = 5000
"""Utterances of a conversation that is long: half of what an archive keeps by default."""


def limits(budget: int | None, given: Policy | None = None) -> Policy:
    """The given limits; or else such that everything stays stored, and window and summary together fill a budget."""
    if given is not None:
        return given
    if budget is None:
        return KEEP
    summary = min(SUMMARY, budget // 8)
    window = max(budget - summary - RENDERED, 2)
    return Policy(
        max_utterances=0,
        max_turns=0,
        max_tokens=window,
        # Contexts stay full, and begin alike between two evictions.
        keep_tokens=window - window // 16,
        summary_token_limit=max(summary, 1),
        archive_limit=EVERYTHING,
    )
