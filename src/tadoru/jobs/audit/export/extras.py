"""Libraries that only some exports need: a sentence on how to get one when it is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tadoru.errors import UsageError


@contextmanager
def needed_for(form: str) -> Iterator[None]:
    """Around the import of a library that comes with the extra of the form's name. Raises UsageError."""
    try:
        yield
    except ImportError:
        raise UsageError(f"--format {form} needs a library that is not installed: pip install 'tadoru[{form}]'.") from None
