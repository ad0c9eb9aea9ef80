"""The catalogue of words: whole in both languages, and nothing in it that no page says."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import tadoru.serve
from tadoru.serve.web.words import CATALOGUE, LANGUAGES, teller
from tadoru.serve.web.words_crawled import CRAWLED
from tadoru.serve.web.words_crawls import CRAWLS
from tadoru.serve.web.words_desk import DESK
from tadoru.serve.web.words_public import PUBLIC

ROOT = Path(tadoru.serve.__file__).parent
_MADE = (
    "sort.",
    "status.",
    "type.",
    "frequency.",
    "reason.",
    "question.",
    "answer.",
    "role.",
    "error.",
    "done.",
    "span.",
    "run.",
    "subscribe.",
    "crawl.job.",
    "crawl.state.",
    "crawl.tab.",
    "crawl.progress.",
    "crawl.every.",
    "severity.",
    "choice.",
    "figure.",
    "fact.",
    "pages.answer.",
    "pages.sort.",
    "page.status.",
    "links.",
    "exports.",
    "docs.state.",
    "docs.callout.",
    "docs.kind.",
    "live.",
)
"""Keys that are put together from a value: `status.hidden`."""


def _written() -> str:
    files = [*(ROOT / "templates").glob("*.html"), *(ROOT / "pages").glob("*.py")]
    return "\n".join(file.read_text("utf-8") for file in files if not file.name.startswith("words_"))


def test_every_word_that_a_template_asks_for_is_there() -> None:
    asked = set(re.findall(r"\bt\('([a-z0-9_.]+)'", _written())) | set(re.findall(r"\bsay\(\"([a-z0-9_.]+)\"", _written()))
    assert sorted(key for key in asked if key not in CATALOGUE and not key.endswith(".")) == []


def test_every_word_is_asked_for() -> None:
    text = _written()
    unused = [key for key in CATALOGUE if f"'{key}'" not in text and f'"{key}"' not in text and not key.startswith(_MADE)]
    assert unused == []
    done = [key for key in CATALOGUE if key.startswith("done.") and f'"{key.removeprefix("done.")}"' not in text]
    assert done == []


def test_no_word_is_in_two_parts() -> None:
    parts = (PUBLIC, DESK, CRAWLS, CRAWLED)
    assert sum(len(part) for part in parts) == len(set().union(*parts))


@pytest.mark.parametrize("key", CATALOGUE)
def test_both_languages_have_the_same_gaps(key: str) -> None:
    english, japanese = ({name for _, name, _, _ in Formatter().parse(words) if name} for words in CATALOGUE[key])
    assert english == japanese
    assert all(words.strip() for words in CATALOGUE[key])


def test_a_word_goes_with_its_number() -> None:
    say = teller("en")
    assert [say("month.count", count=count) for count in (0, 1, "1", 2, "1,001")] == [
        "0 events", "1 event", "1 event", "2 events", "1,001 events",
    ]  # fmt: skip
    line = say("trial.line", good=3, bad="1", documents=1)
    assert line == "3 events, 1 that lacks something, in 1 document. Nothing was stored."
    assert teller("ja")("month.count", count=1) == "イベント1件"


def test_a_gap_is_filled_and_an_unknown_word_is_a_defect() -> None:
    assert [teller(lang)("month.more", count=3) for lang in LANGUAGES] == ["3 more", "ほか3件"]
    with pytest.raises(KeyError):
        teller("en")("no.such.word")
