"""Commands to a GitHub workflow: lines that become annotations of a run, for commands that find GITHUB_ACTIONS to be true."""

from __future__ import annotations

SHOWN = 10
"""GitHub shows ten errors and ten warnings of a step and drops the rest silently."""


def command(level: str, title: str, message: str) -> str:
    """One workflow command with its own escapes."""
    return f"::{level} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
