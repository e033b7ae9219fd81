"""Turns frameworks' ids into ids of conversations and messages."""

from __future__ import annotations

import hashlib

MAX_BYTES = 256
"""The most bytes of an id."""


def fit(*parts: str) -> str:
    """An id from these parts: joined by `/` if that is a valid id, or else a digest."""
    joined = "/".join(parts)
    plain = all(part and "/" not in part for part in parts[1:]) and bool(parts[0])
    try:
        if plain and len(joined.encode()) <= MAX_BYTES and joined.isprintable():
            return joined
    except UnicodeEncodeError:
        pass
    # With the lengths, different lists of parts never give the same text.
    exact = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(exact.encode(errors="surrogatepass")).hexdigest()
