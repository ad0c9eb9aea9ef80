"""The public corpora that lie beside a checkout where they are to be had.

They are not ours to commit, so that tests over them are skipped elsewhere; what must always hold is held by files of our own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "corpora"


def corpus(name: str) -> Path:
    """Where a corpus would be."""
    return _FOLDER / name


def needs_corpus(name: str) -> pytest.MarkDecorator:
    """Runs a test only where the corpus is."""
    return pytest.mark.skipif(not corpus(name).is_dir(), reason=f"the corpus {name} is not beside the project")
