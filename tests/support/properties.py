"""How many examples a property test tries: a fifth in `./test`, all in `./test --all`, and twenty times as many to explore."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL = 100
"""Examples of a test that says nothing else, in `./test --all`."""
PROFILES = {"gate": USUAL // 5, "all": USUAL, "explore": USUAL * 20}
"""The examples of such a test in each profile; conftest.py registers them."""
_FEWEST = 5


def examples(number: int, **more: Any) -> settings:
    """Settings of a test whose examples cost more or less than usual: so many in `./test --all`, in proportion elsewhere."""
    chosen = settings.default
    assert chosen is not None
    return settings(max_examples=max(_FEWEST, number * chosen.max_examples // USUAL), **more)
