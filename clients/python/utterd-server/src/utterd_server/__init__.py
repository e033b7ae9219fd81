"""The utterd binary that the wheel contains."""

from ._find import find_utterd_bin

__all__ = ["find_utterd_bin"]
