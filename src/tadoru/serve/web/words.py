"""The words of all pages in one catalogue, each in every language, and how a template asks for them.

A key that is not in the catalogue is a defect and raises: a test renders every page and reads every template.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tadoru.serve.web.words_cluster import CLUSTER
from tadoru.serve.web.words_crawled import CRAWLED
from tadoru.serve.web.words_crawls import CRAWLS
from tadoru.serve.web.words_desk import DESK
from tadoru.serve.web.words_docs import DOCS
from tadoru.serve.web.words_embed import EMBED
from tadoru.serve.web.words_interface import INTERFACE
from tadoru.serve.web.words_live import LIVE
from tadoru.serve.web.words_public import PUBLIC
from tadoru.serve.web.words_sorting import SORTING

LANGUAGES = ("en", "ja")
CATALOGUE: dict[str, tuple[str, str]] = PUBLIC | DESK | LIVE | INTERFACE | CRAWLS | CRAWLED | DOCS | EMBED | SORTING | CLUSTER
Say = Callable[..., str]


class _Counted(str):
    """A value in a sentence. `{count:event|events}` is the word that goes with it, when it is a number."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        one, bar, many = spec.partition("|")
        return (one if self == "1" else many) if bar else super().__format__(spec)


def teller(lang: str) -> Say:
    """`t(key, name=value)` of one language."""
    column = LANGUAGES.index(lang)

    def say(key: str, **values: Any) -> str:
        words = CATALOGUE[key][column]
        return words.format(**{name: _Counted(value) for name, value in values.items()}) if values else words

    return say
