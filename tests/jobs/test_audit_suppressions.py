from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.audit.suppressions import FindingSuppression, FindingSuppressions, find_suppression
from tadoru.jobs.suppressions import url_pattern

URL = "https://garden.example/blog/1"


def covers(text: str, check: str, url: str) -> bool:
    return find_suppression(FindingSuppressions.parse(text).about(check), url) is not None


@pytest.mark.parametrize(
    "line, check, url, covered",
    [
        pytest.param(f"title-missing {URL} # known", "title-missing", URL, True, id="a check and a URL"),
        pytest.param(f"title-missing {URL} # known", "title-missing", URL + "2", False, id="a longer URL"),
        pytest.param(f"title-missing {URL} # known", "title-missing", "x" + URL, False, id="a URL with something before it"),
        pytest.param(f"title-missing {URL} # known", "title-too-long", URL, False, id="another check"),
        pytest.param(f"title-* {URL} # known", "title-too-long", URL, True, id="several checks"),
        pytest.param(f"* {URL} # known", "anything", URL, True, id="every check"),
        pytest.param(f"title-too-wide {URL} # known", "title-too-long", URL, True, id="a check that is merged into it"),
        pytest.param(f"title-too-long {URL} # known", "title-too-wide", URL, False, id="a check that it is merged into"),
        pytest.param("title-missing https://garden.example/blog/* # known", "title-missing", URL, True, id="several URLs"),
        pytest.param("title-missing https://*.example/* # known", "title-missing", URL, True, id="several hosts"),
        pytest.param(
            "title-missing https://garden.example/?q=* # known", "title-missing", URL, False, id="a mark is no wildcard"
        ),
        pytest.param("title-missing /blog.[0-9]$/ # known", "title-missing", URL, True, id="a regular expression"),
        pytest.param("title-missing /^blog/ # known", "title-missing", URL, False, id="one that does not match"),
        pytest.param("title-missing * # known", "title-missing", URL, True, id="every URL"),
        pytest.param("x https://garden.example # known", "x", "https://garden.example/", True, id="a host without its slash"),
        pytest.param("# title-missing * # known", "title-missing", URL, False, id="a comment"),
    ],
)
def test_an_entry_covers_what_it_names_and_nothing_else(line: str, check: str, url: str, covered: bool) -> None:
    assert covers(line, check, url) is covered


@pytest.mark.parametrize(
    "line, words",
    [
        pytest.param("title-missing", "no URL after title-missing; write a URL, a /regular expression/, or *", id="no URL"),
        pytest.param("title-missing *", "the reason is missing; write it after “ # ”", id="no reason"),
        pytest.param("title-missing * #", "the reason is missing", id="an empty reason"),
        pytest.param(f"{URL} # known", f"“{URL}” is not a check id; write the id", id="no check"),
        pytest.param("Title * # known", "“Title” is not a check id", id="capital letters"),
        pytest.param("title-missing /x # known", "without its closing slash", id="half a regular expression"),
        pytest.param("title-missing /(/ # known", "missing ), unterminated subpattern", id="a broken regular expression"),
        pytest.param("title-missing garden.example # known", "is neither a URL nor a /regular expression/", id="no scheme"),
    ],
)
def test_what_cannot_be_read_is_reported_with_its_line(line: str, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)) as caught:
        FindingSuppressions.parse(f"# first\n{line}", "known.txt")
    assert str(caught.value).startswith("known.txt, line 2: ")


def test_entries_that_covered_nothing_are_reported() -> None:
    suppressions = FindingSuppressions.parse("a * # one\n\nb * # two")
    first, second = suppressions.entries
    assert suppressions.unused([first]) == (second,)
    assert (second.line, second.text, second.reason) == (3, "b * # two", "two")


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Cannot read .*/none \(No such file or directory\)"):
        FindingSuppressions.read(str(tmp_path / "none"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8 text"):
        FindingSuppressions.read(str(tmp_path / "bytes"))


def test_no_file_suppresses_nothing() -> None:
    assert FindingSuppressions.read(None).entries == ()


@given(st.text())
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    try:
        entries = FindingSuppressions.parse(text, "known.txt").entries
    except UsageError as error:
        sentence = str(error)
    else:
        sentence = "known.txt, line 0: all well."
        assert all(isinstance(entry, FindingSuppression) and entry.reason for entry in entries)
    assert re.fullmatch(r"known\.txt, line \d+: .+\.", sentence, re.DOTALL)


@given(st.text(alphabet="abc?[].+(*", min_size=1), st.text(alphabet="abc/"))
def test_an_asterisk_is_the_only_letter_with_a_meaning(path: str, filling: str) -> None:
    pattern = url_pattern(f"https://x.example/{path}")
    assert pattern.search("https://x.example/" + path.replace("*", filling))
    assert not pattern.search("https://x.example/" + path.replace("*", filling) + "!") or path.endswith("*")
