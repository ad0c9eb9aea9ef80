"""The version, in its one place: the package's metadata and `--version` both read it here."""

from __future__ import annotations

VERSION = "0.1.0"

PROJECT_URL = "https://github.com/tadoru/tadoru"
"""Where a site owner who sees our User-Agent finds out who we are."""
