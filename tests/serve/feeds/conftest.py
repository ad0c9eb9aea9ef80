"""The calendar of the tests of the API, for who subscribes to it."""

from __future__ import annotations

from tests.serve.api.conftest import harness

__all__ = ["harness"]
