from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.links.result import BrokenLink, LinkSource
from tadoru.jobs.links.suppressions import LinkSuppressions, add_suppressions

PAGE, ARCHIVE = "https://garden.example/page", "https://garden.example/archive/1"


def link(url: str, *pages: str) -> BrokenLink:
    return BrokenLink(url, 404, "404 Not Found", "broken", tuple(LinkSource(page, "here") for page in pages))


GONE, OTHER = link("https://x.example/gone", PAGE, ARCHIVE), link("https://y.example/", PAGE)


def test_a_url_takes_away_its_link_and_no_other() -> None:
    outcome = LinkSuppressions.parse("https://x.example/gone # we know").apply([GONE, OTHER])
    assert outcome.kept == (OTHER,)
    assert outcome.suppressed == 1
    assert outcome.unused == ()


def test_a_url_is_compared_whole() -> None:
    outcome = LinkSuppressions.parse("https://x.example/go").apply([GONE])
    assert outcome.kept == (GONE,)


def test_a_host_without_its_slash_is_the_same_url() -> None:
    assert LinkSuppressions.parse("https://y.example").apply([OTHER]).kept == ()


def test_a_url_may_have_a_fragment() -> None:
    fragment = BrokenLink("https://x.example/#a", None, "", "fragment")
    assert LinkSuppressions.parse("https://x.example/#a # a reason").apply([fragment]).kept == ()


def test_a_regular_expression_is_searched_in_the_url() -> None:
    assert LinkSuppressions.parse("/^https://x\\./").apply([GONE, OTHER]).kept == (OTHER,)


def test_from_takes_away_only_the_places_it_names() -> None:
    outcome = LinkSuppressions.parse("https://x.example/gone from=/archive/").apply([GONE])
    assert outcome.kept == (link(GONE.url, PAGE),)
    assert outcome.suppressed == 0
    assert outcome.unused == ()


def test_a_link_without_places_left_is_gone() -> None:
    text = "https://x.example/gone from=/archive/\nhttps://x.example/gone from=/page$"
    outcome = LinkSuppressions.parse(text).apply([GONE])
    assert outcome.kept == ()
    assert outcome.suppressed == 1


def test_a_link_found_on_no_page_is_not_taken_away_by_from() -> None:
    assert LinkSuppressions.parse("/x/ from=/").apply([link("https://x.example/")]).kept == (link("https://x.example/"),)


def test_entries_that_did_nothing_are_told_with_their_line() -> None:
    text = "# known\n\nhttps://x.example/gone\nhttps://old.example/ # fixed long ago\nhttps://y.example/ from=/nowhere/\n"
    unused = LinkSuppressions.parse(text).apply([GONE, OTHER]).unused
    assert [(entry.line, entry.reason) for entry in unused] == [(4, "fixed long ago"), (5, "")]


def test_every_entry_that_covers_a_link_counts_as_used() -> None:
    assert LinkSuppressions.parse("https://x.example/gone\n/gone$/").apply([GONE]).unused == ()


@pytest.mark.parametrize(
    "line, words",
    [
        pytest.param("not a url", "neither a URL nor", id="words"),
        pytest.param("/open", "closing slash", id="no closing slash"),
        pytest.param("//", "closing slash", id="empty expression"),
        pytest.param("/(/", "unterminated subpattern", id="bad expression"),
        pytest.param("https://x.example/ from=", "after from=", id="from without a page"),
        pytest.param("https://x.example/ from=[", "unterminated character set", id="bad page expression"),
        pytest.param("https://x.example/ extra", "neither a URL nor", id="two words"),
    ],
)
def test_a_bad_line_is_named_by_file_and_number(line: str, words: str) -> None:
    with pytest.raises(UsageError, match=rf"known\.txt, line 3: .*{words}"):
        LinkSuppressions.parse(f"# first\nhttps://fine.example/\n{line}\n", "known.txt")


@given(st.text())
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    refused = ""
    try:
        LinkSuppressions.parse(text, "known")
    except UsageError as problem:
        refused = str(problem)
    assert re.match(r"(known, line \d+: .+\.)?$", refused, re.DOTALL)


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_what_is_kept_is_what_no_entry_names(links: set[int], entries: set[int]) -> None:
    suppressions = LinkSuppressions.parse("\n".join(f"https://x.example/{number}" for number in sorted(entries)))
    outcome = suppressions.apply([link(f"https://x.example/{number}", PAGE) for number in sorted(links)])
    assert {kept.url[-1] for kept in outcome.kept} == {str(number) for number in links - entries}
    assert {entry.text[-1] for entry in outcome.unused} == {str(number) for number in entries - links}


def test_entries_are_added_with_a_reason_to_fill_in(tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_text("# ours\nhttps://y.example/ from=/archive/ # old\nhttps://*.z.example/* # theirs", encoding="utf-8")
    theirs = link("https://a.z.example/b", PAGE)
    assert add_suppressions(str(path), [GONE, OTHER, theirs]) == 2
    text = path.read_text(encoding="utf-8")
    assert text.splitlines()[2:] == [
        "https://*.z.example/* # theirs",
        "https://x.example/gone  # reason? 404 Not Found",
        "https://y.example/  # reason? 404 Not Found",
    ]
    entries = LinkSuppressions.parse(text)
    assert entries.apply([GONE, OTHER, theirs]).kept == ()
    assert [entry.lacks_reason for entry in entries.entries] == [False, False, True, True]
    assert add_suppressions(str(path), [GONE, OTHER, theirs]) == 0
    assert path.read_text(encoding="utf-8") == text


def test_no_file_is_written_for_no_link(tmp_path: Path) -> None:
    assert add_suppressions(str(tmp_path / "known.txt"), []) == 0
    assert not (tmp_path / "known.txt").exists()


@given(st.text(min_size=1), st.text())
def test_an_entry_that_is_written_suppresses_its_link(tmp_path_factory: pytest.TempPathFactory, url: str, error: str) -> None:
    path = tmp_path_factory.mktemp("known") / "known.txt"
    broken = BrokenLink(url, None, error, "broken", (LinkSource(PAGE, ""),))
    add_suppressions(str(path), [broken])
    text = path.read_text(encoding="utf-8")
    assert LinkSuppressions.parse(text).apply([broken]).kept == ()
    assert len(text.splitlines()) == 1


def test_an_entry_for_a_local_file_fits_on_every_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    add_suppressions("known.txt", [link(f"{tmp_path.as_uri()}/docs/gone.md")])
    text = Path("known.txt").read_text(encoding="utf-8")
    assert text == "file://*/docs/gone.md  # reason? 404 Not Found\n"
    assert LinkSuppressions.parse(text).apply([link("file:///home/somebody/docs/gone.md")]).kept == ()
