"""A small module for the reference: it heats water, and says so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

BOILING: Final = 100.0
"""Degrees at which water boils."""


class Kettle:
    """A kettle that holds water.

    :param capacity: litres it holds
    :param keep_warm: whether it heats again after boiling

    Example::

        kettle = Kettle(1.7)
        kettle.fill(1.0)

    .. versionadded:: 1.2
    """

    limit: int = 3

    def __init__(self, capacity: float = 1.7, *, keep_warm: bool = False) -> None:
        self.capacity = capacity
        self.keep_warm = keep_warm

    def fill(self, litres: float, /) -> float:
        """Add water.

        Args:
            litres: how much to add
        Returns:
            How much is in it now.
        Raises:
            OverflowError: when it does not fit

        >>> Kettle().fill(0.5)
        0.5
        """
        if litres > self.capacity:
            raise OverflowError(litres)
        return litres

    @property
    def hot(self) -> bool:
        """Whether the water is hot."""
        return self.keep_warm

    @classmethod
    def of(cls, names: Iterable[str], sizes: dict[str, tuple[int, ...]] | None = None) -> list[Kettle]:
        """Kettles by their names.

        .. note:: Names are not checked.
        """
        return [cls(float(len(name))) for name in names if sizes is None or name in sizes]


async def boil(kettle: Kettle, degrees: float = BOILING, *args: str, **more: object) -> bool:
    """Boil the water.

    .. code-block:: python

       await boil(Kettle(), 96.5)

    :returns: whether it boils
    """
    return degrees >= BOILING and not args and not more and kettle.hot
