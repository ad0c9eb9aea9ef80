"""The version, for the metadata of the package and for `--version`, which imports nothing else."""

from __future__ import annotations

VERSION = "0.1.0"

PROJECT_URL = "https://github.com/tadoru/tadoru"
"""The page in the User-Agent header, for owners of crawled sites."""
