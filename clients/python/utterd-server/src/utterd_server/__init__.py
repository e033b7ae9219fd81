"""The binary of utterd, as a wheel carries it."""

from ._find import find_utterd_bin

__all__ = ["find_utterd_bin"]
