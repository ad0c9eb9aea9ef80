"""A small module for the reference."""

from __future__ import annotations


def boil(degrees: float = 100.0, *, keep_warm: bool = False) -> bool:
    """Boil the water.

    Args:
        degrees: how hot
        keep_warm: whether it heats again

    Returns:
        Whether it boils.

    Examples:
        >>> boil(100.0)
        True
    """
    return degrees >= 100.0 or keep_warm


class Kettle:
    """A kettle that holds water."""

    def fill(self, litres: float, *, names: dict[str, list[int]] | None = None) -> float:
        """Add water, and tell how much there is."""
        return litres if names is None else 0.0
