"""Libraries that only some exports need: a sentence on how to get one when it is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tadoru.errors import UsageError
from tadoru.extras import not_installed


@contextmanager
def needed_for(form: str) -> Iterator[None]:
    """Around the import of a library that comes with the extra of the form's name. Raises UsageError."""
    try:
        yield
    except ImportError:
        raise UsageError(not_installed(f"--format {form}", form)) from None
