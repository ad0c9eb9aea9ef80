"""What the rooms below say, on pages in Japanese."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tadoru
from tadoru.serve.web.words_sentences import JAPANESE, told
from tests.support.serving import Desk

SOURCES = "\n".join(
    file.read_text("utf-8") for file in Path(tadoru.__file__).parent.rglob("*.py") if not file.name.startswith("words_")
)


@pytest.mark.parametrize("english", JAPANESE)
def test_every_sentence_of_the_table_is_one_that_somebody_says(english: str) -> None:
    pieces = (re.escape(piece) for piece in english.split("{}"))
    assert re.search(r"\{[^{}]+\}".join(pieces), SOURCES), english
    assert JAPANESE[english].count("{}") == english.count("{}")


SPEAKING = (
    "serve/auth", "serve/crawl_runner/crawl_options.py", "serve/crawl_runner/control.py", "serve/crawl_runner/dispatcher.py",
    "serve/crawl_runner/notifier.py", "serve/docs_sites", "serve/middleware.py", "serve/pages", "serve/problems.py",
    "serve/api/source_actions.py", "store/accounts", "store/served_crawls", "store/events/hand.py",
    "store/events/listing.py", "store/events/merging.py", "store/events/reviewing.py", "store/events/search_rank.py",
    "store/events/sources.py", "store/events/story.py", "jobs/events/by_hand.py", "jobs/events/settings.py",
    "jobs/events/sources.py", "rules/url.py",
)  # fmt: skip
"""The rooms whose refusals a page may show."""
ERRORS = frozenset({"UsageError", "ConfigError", "HttpProblem", "CrawlBusy", "CrawlNotFound", "AlreadyThere"})
IN_ENGLISH = frozenset({
    # Parts of sentences, of which the whole is not known here.
    "{} {}.", "must be a list of texts", "must be at most {} texts of at most {} characters", "must be a single value",
    "must be addresses of sitemaps ({})", "must be status codes and ranges such as 200..299,403", "timezone {} {}.",
    "The time zone {}.", "A crawl of the job {} starts from {}{}.",
    # Only a form that was changed by hand, or a program, gets to hear these.
    "A crawl of the job {} has no option “{}”: choose among {}.", "A source has no field {}: it has {}.",
    "An event has no field {} that can be set: {}", "{} of an event cannot be edited: choose from {}.",
    "The URL {} is not UTF-8 text: write it with percent-escapes, or {}.",
    "{} is not a valid IPv6 address: write it as in http://[2001:db8::1]/.",
    "{} has several colons: put an IPv6 address in brackets, as in http://[2001:db8::1]/.",
    "The site {} never had a page {}.", "The site {} has no such file: there are {} once it was crawled with them.",
    "The site {} has no chunk {}.", "The site {} has no page {}.",
    # What is said on the command line only.
    "--set {} cannot be read: write it as field=value, such as --set venue=市民会館.",
    "Event {} is in quarantine: answer its review with `tadoru events review fix`.",
    "The setting {} cannot be read: write it as key=value, such as --set items=events.",
    "The setting {} cannot be set: {} holds a value already.",
    "The secret is the name of a variable, such as TOWN_TOKEN, and never the secret itself.",
    # Settings of a source are in the words of its format, which are English.
    "The setting auth needs a secret: name the variable that holds it with --secret.",
    "The setting auth.type is missing; it must be one of {}.",
    "The setting headers.{} cannot be sent; sign in with the setting auth and --secret.",
    "The setting auth.{} is missing; {} needs it.",
    "The setting {} cannot be used. {}",
})  # fmt: skip
"""What is not translated, and why. A new sentence of these rooms gets a line in `words_sentences`, or one here."""


def _said() -> Iterator[str]:
    """Every sentence that one of these rooms refuses something with; `{}` for what changes."""
    root = Path(tadoru.__file__).parent
    for room in SPEAKING:
        place = root / room
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS:
                    yield from filter(None, map(_text, node.args))


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_what_a_page_can_say_is_translated_or_stands_on_the_list_of_what_is_not() -> None:
    said = set(_said())
    assert len(said) > 80
    assert said - JAPANESE.keys() - IN_ENGLISH == set(), "translate these in words_sentences.py"
    assert IN_ENGLISH - said == set(), "nobody says these any more"
    assert JAPANESE.keys() & IN_ENGLISH == set()


@pytest.mark.parametrize("english", JAPANESE)
def test_a_sentence_is_told_by_its_own_words_and_by_no_others(english: str) -> None:
    pieces = [f"x{number}" for number in range(english.count("{}"))]
    assert told(english.format(*pieces), "ja") == JAPANESE[english].format(*pieces)
    assert told(english.format(*pieces), "en") == english.format(*pieces)


@given(st.text(), st.sampled_from(["en", "ja"]))
def test_what_is_not_in_the_table_stays_as_it_is(sentence: str, lang: str) -> None:
    assert told(sentence, lang) == sentence


@given(st.text(min_size=1, alphabet=st.characters(codec="utf-8")))
def test_what_changes_in_a_sentence_is_kept_as_it_is(name: str) -> None:
    assert name in told(f"There is a user {name} already: choose another name.", "ja")


def test_a_page_in_japanese_says_it_in_japanese(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "events.db", lang="ja")
    text = desk.anybody.get("/?cursor=nothing&lang=ja", headers={"accept": "text/html"}).text
    assert "一覧の続きが見つかりません。" in text
    assert "This place in the list" not in text
    desk.close()
