"""Finds sections by meaning: with the word vectors of wordllama (`pip install 'tadoru[semantic]'`), which carries its weights.

A vector is the mean of the vectors of a text's words. Those of a page are computed once and kept in the search index. Nothing is
downloaded; without the package everything else works as with it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from tadoru.errors import TadoruError
from tadoru.store.docs_search import DocsSearchIndex, SearchHitRow, VectorSource, opened

_HEADING, _TEXT = 0.7, 0.3
"""What heading and text count in the vector of a section."""
_SECTION_LENGTH, _PAGE_LENGTH = 1_500, 2_000
"""Characters that a vector is made of."""
_MAX_SECTIONS = 200
"""Sections of a page that have vectors."""
_NEAREST = 60
_LEAST_SIMILARITY = 0.2
"""The cosine below which a text is not about the query."""
_TEXTS_AT_ONCE = 8
"""Texts that are embedded together: as matrices of 1,500 tokens, 64 of them would take 98 MB."""
_PAGES_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class NearestPages:
    """The pages that are nearest to a query, by URL."""

    rows: dict[str, SearchHitRow]
    """The nearest section of each."""
    by_section: list[str]
    """In the order of their nearest sections."""
    by_page: list[str]
    """In the order of the pages themselves."""


def is_available() -> bool:
    """Whether the package is installed."""
    return _found()


@lru_cache(1)
def _found() -> bool:
    return find_spec("wordllama") is not None


@lru_cache(1)
def _model() -> Any:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    wordllama: Any = import_module("wordllama")
    # It configures logging for the whole process when it is imported.
    root.handlers[:] = handlers
    root.setLevel(level)
    # It would look for its tokenizer, which it carries, in a cache only, and download it.
    return wordllama.WordLlama.load(cache_dir=Path(str(wordllama.__file__)).parent, disable_download=True)


def _embed(texts: Sequence[str]) -> Any:
    """The vectors of texts, of length 1, one per row."""
    import numpy

    found = _model().embed([text or " " for text in texts], batch_size=_TEXTS_AT_ONCE)
    return found / numpy.maximum(numpy.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def add_vectors(path: Path) -> None:
    """Compute the vectors of the pages of an index that have none."""
    with opened(path, writable=True) as index:
        missing = iter(index.without_vectors())
        while sources := list(islice(missing, _PAGES_AT_ONCE)):
            with index.changing():
                for source in sources:
                    index.put_vectors(source.page_id, _page_vectors(source))


def _page_vectors(source: VectorSource) -> bytes:
    """The vector of a page, then those of its sections, as floats."""
    import numpy

    sections = source.sections[:_MAX_SECTIONS]
    headings = [f"{source.title}. {' '.join(json.loads(path)[-2:])}" for path, _ in sections]
    texts = [text[:_SECTION_LENGTH] for _, text in sections]
    whole = f"{source.title}. {' '.join(text for _, text in sections)}"[:_PAGE_LENGTH]
    found = _embed([whole, *headings, *texts])
    count = len(sections)
    vectors = numpy.vstack([found[:1], _HEADING * found[1 : count + 1] + _TEXT * found[count + 1 :]])
    return bytes(vectors.astype(numpy.float32).tobytes())


def ensure_vectors(path: Path, index: DocsSearchIndex) -> None:
    """Compute the vectors that are missing in an index, if the file can be written."""
    with suppress(TadoruError):
        if index.lacks_vectors():
            add_vectors(path)


def nearest(index: DocsSearchIndex, query: str) -> NearestPages:
    """The nearest pages of an index."""
    import numpy

    wanted = _embed([query])[0].astype(numpy.float32)
    numbers: list[int] = []
    parts: list[tuple[Any, Any, Any]] = []
    vectors = index.vectors()
    while rows := list(islice(vectors, _PAGES_AT_ONCE)):
        numbers += [page_id for page_id, _ in rows]
        parts.append(_similarities(wanted, [data for _, data in rows]))
    if not parts:
        return NearestPages({}, [], [])
    by_page, by_section, places = (numpy.concatenate(scores) for scores in zip(*parts, strict=True))
    near = [
        [at for at in numpy.argsort(-scores)[:_NEAREST].tolist() if scores[at] >= _LEAST_SIMILARITY]
        for scores in (by_section, by_page)
    ]
    found = index.sections_at({numbers[at]: int(places[at]) for order in near for at in order})
    in_order = [[found[numbers[at]].url for at in order if numbers[at] in found] for order in near]
    return NearestPages({row.url: row for row in found.values()}, *in_order)


def _similarities(wanted: Any, pages: list[bytes]) -> tuple[Any, Any, Any]:
    """The cosines of pages and of their nearest sections with the query, and the places of these sections."""
    import numpy

    scores = numpy.frombuffer(b"".join(pages), dtype=numpy.float32).reshape(-1, len(wanted)) @ wanted
    lengths = numpy.array([len(data) // (4 * len(wanted)) for data in pages])
    starts = numpy.concatenate([[0], numpy.cumsum(lengths)[:-1]])
    by_page = scores[starts]
    scores[starts[lengths > 1]] = -1.0  # What follows is about sections; a page without any is its own.
    by_section = numpy.maximum.reduceat(scores, starts)
    nearest_row = numpy.flatnonzero(scores == numpy.repeat(by_section, lengths))
    page_of = numpy.searchsorted(starts, nearest_row, side="right") - 1
    first = numpy.unique(page_of, return_index=True)[1]
    return by_page, by_section, numpy.maximum(nearest_row[first] - starts - 1, 0)
