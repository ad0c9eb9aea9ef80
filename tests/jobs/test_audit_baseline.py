"""Baselines as lists of findings: every form that Tadoru writes them in, of any size, and what is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.audit import criteria
from tadoru.jobs.audit.criteria import BaselineFindings, is_database
from tests.store.audited import SITE, audited

FOUND: list[dict[str, Any]] = [
    {"check": "title-missing", "url": "https://a.example/", "subject": "", "detail": 'a "findings": [ in a text ]'},
    {"check": "links-broken", "url": "https://a.example/b", "subject": "https://a.example/c", "data": {"examples": ["x", "]"]}},
    {"check": "sitemap-missing", "url": "https://a.example/s.xml", "subject": "https://a.example/s.xml"},
]
KEYS = [
    ("https://a.example/", "title-missing", ""),
    ("https://a.example/b", "links-broken", "https://a.example/c"),
    ("https://a.example/s.xml", "sitemap-missing", ""),
]
FORMS = {
    "a report": json.dumps({"schema": "x", "totals": {"findings": 3}, "findings": FOUND}),
    "a report with lines": json.dumps({"totals": {"findings": 3}, "findings": FOUND, "more": [1]}, indent=2),
    "a list": json.dumps(FOUND),
    "one a line": "".join(json.dumps(one) + "\n" for one in FOUND),
    "one a line, no end": "\n".join(json.dumps(one) for one in FOUND),
    "an export": "".join(json.dumps({"check_id": one["check"], **one, "check": None}) + "\n" for one in FOUND),
    "a list on its own line": f"\n  {json.dumps(FOUND, indent=1)}\n",
    "with a mark": "\ufeff" + json.dumps({"findings": FOUND}),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("chunk", [1 << 20, 150], ids=["at once", "in pieces"])
def test_every_form_is_read(text: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(criteria, "_CHUNK", chunk)
    (tmp_path / "list.json").write_text(text, "utf-8")
    known = BaselineFindings(str(tmp_path / "list.json"))
    assert all(key in known for key in KEYS)
    assert ("https://a.example/", "title-missing", "x") not in known
    assert ("https://a.example/b", "title-missing", "") not in known


@pytest.mark.parametrize("text", ["", "[]", '{"findings": []}', "\n"], ids=["empty", "list", "report", "a line"])
def test_a_list_without_findings_has_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text(text)
    assert KEYS[0] not in BaselineFindings(str(tmp_path / "list.json"))


@pytest.mark.parametrize(
    "data",
    [b"hello", b"{}", b'{"findings": [', b'{"findings": [{"url": "x"}]}', b"[1]", b'["x"]', b'[{"check": "a", "url": "b"}',
     b"\xff\xfe\x00",
     b'{"findings": [{"check": "a", "url": "b"}', b"null"],
    ids=repr,
)  # fmt: skip
def test_what_is_no_list_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"is neither a crawl nor a list of findings\. Give a database or the output of"):
        BaselineFindings(str(path))


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    for ask in (BaselineFindings, is_database):
        with pytest.raises(UsageError, match=r"Cannot read --baseline .*none\.json: No such file.*\. Check the file name\."):
            ask(str(tmp_path / "none.json"))


async def test_a_crawl_is_reported_from_a_list_by_its_content(tmp_path: Path) -> None:
    name = await audited(tmp_path / "odd.json", SITE)
    (tmp_path / "odd.db").write_text("[]")
    assert is_database(name)
    assert is_database(f"{name}@1")
    assert not is_database(str(tmp_path / "odd.db"))


@given(
    st.lists(st.tuples(st.text(max_size=9), st.text(min_size=1, max_size=9), st.text(max_size=9)), max_size=9),
    st.integers(60, 200),
)
def test_whatever_was_written_is_found_again(
    tmp_path_factory: pytest.TempPathFactory, keys: list[tuple[str, str, str]], chunk: int
) -> None:
    path = tmp_path_factory.mktemp("lists") / "list.json"
    found = [{"url": address, "check": check, "subject": subject} for address, check, subject in keys]
    path.write_text(json.dumps({"findings": found}), "utf-8")
    before, criteria._CHUNK = criteria._CHUNK, chunk
    try:
        known = BaselineFindings(str(path))
    finally:
        criteria._CHUNK = before
    assert all(key in known for key in keys)
