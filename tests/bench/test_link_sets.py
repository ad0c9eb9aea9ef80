"""The comparison with LinkChecker: every difference has a cause, or is reported without one."""

from __future__ import annotations

import json
from pathlib import Path

from bench.link_sets import Comparison, read_linkchecker, read_tadoru, report

BASE = "/doc/"
PAGE = "http://127.0.0.1:8000/doc/a.md"
HEAD = "urlname;parentname;result;warningstring;valid;url"


def compare(tmp_path: Path, tadoru: list[tuple[str, str]], linkchecker: list[str], text: str = "") -> Comparison:
    links = [{"url": url, "sources": [{"page_url": PAGE, "kind": kind}]} for url, kind in tadoru]
    result = {"broken_links": links, "blocked_links": [], "internal_urls": [{"content_type": "text/html"}]}
    (tmp_path / "tadoru.json").write_text(json.dumps(result))
    rows = [f"x;{PAGE};404;;False;{url}" for url in linkchecker]
    (tmp_path / "lc.csv").write_text("\n".join(["# comment", HEAD, *rows, ""]))
    found, pages = read_tadoru(tmp_path / "tadoru.json", BASE)
    return Comparison("site", pages, False, read_linkchecker(tmp_path / "lc.csv", BASE), found, lambda page: text)


def test_the_same_links_are_no_difference_whatever_their_spelling(tmp_path: Path) -> None:
    both = compare(tmp_path, [("http://127.0.0.1:8000/doc/a b", "a")], ["http://127.0.0.1:9000/doc/a%20b"])
    assert (both.both, list(both.differences())) == (["a b"], [])


def test_a_difference_has_a_cause_or_is_counted_without_one(tmp_path: Path) -> None:
    alone = [('""', "a"), ("http://127.0.0.1:8000/other", "a"), ("file:///x", "link"), ("http://127.0.0.1:8000/doc/b", "a")]
    text = "See `[c](c.png)`.\n"
    found = compare(tmp_path, alone, ["http://127.0.0.1:8000/doc/c.png"], text)
    causes = {what: why for _, what, why in found.differences()}
    assert [what for what, why in causes.items() if why is None] == ["b"]
    assert "code block" in (causes["c.png"] or "")
    assert "| site | 1 | no | 4 | 1 | 0 | 4 | 1 |" in report([found], "10.6")
