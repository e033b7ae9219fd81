"""Ids of frameworks as ids of conversations and messages."""

from __future__ import annotations

import hashlib

MAX_BYTES = 256
"""The most that an id has."""


def fit(*parts: str) -> str:
    """An id of these parts, joined by `/`: as they are where that is an id, or else a digest of them."""
    joined = "/".join(parts)
    plain = all(part and "/" not in part for part in parts[1:]) and bool(parts[0])
    try:
        if plain and len(joined.encode()) <= MAX_BYTES and joined.isprintable():
            return joined
    except UnicodeEncodeError:
        pass
    # Lengths part the parts, so that no two lists of them come to one text.
    exact = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(exact.encode(errors="surrogatepass")).hexdigest()
