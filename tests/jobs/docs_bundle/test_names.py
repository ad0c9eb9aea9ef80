"""Names of files: good on every file system, whatever the URL; the same every time."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.bundle.output_folder import page_file_name, skill_name, slugify, spec_file_name


@pytest.mark.parametrize(
    "url, expected",
    [
        ("https://x.example/", "pages/page-007-index.md"),
        ("https://x.example/guide/", "pages/page-007-guide.md"),
        ("https://x.example/guide/index.html", "pages/page-007-guide.md"),
        ("https://x.example/Guide/Install.HTML", "pages/page-007-guide-install.md"),
        ("https://x.example/a%2F..%2F..%5Cetc/pass wd", "pages/page-007-a-etc-pass-wd.md"),
        ("https://x.example/%E8%A8%AD%E5%AE%9A", "pages/page-007-設定.md"),
        ("https://x.example/ＡＢＣ", "pages/page-007-abc.md"),
        ("https://x.example/page?id=3&v=2", "pages/page-007-page-id-3-v-2.md"),
        ("https://x.example/con", "pages/page-007-con.md"),
        ("https://x.example/%00%1b[31m", "pages/page-007-31m.md"),
        ("https://x.example/!!!", "pages/page-007-index.md"),
    ],
)
def test_a_page_is_named_by_its_number_and_its_path(url: str, expected: str) -> None:
    assert page_file_name(7, url) == expected


def test_numbers_beyond_999_have_more_digits() -> None:
    assert page_file_name(12_345, "https://x.example/") == "pages/page-12345-index.md"


@given(st.text(max_size=300))
def test_a_slug_is_safe_whatever_it_is_made_of(text: str) -> None:
    name = slugify(text)
    assert len(name.encode()) <= 72
    assert not re.search(r'[\x00-\x1f\x7f<>:"/\\|?*. ]', name)
    assert name == name.strip("-")
    assert unicodedata.is_normalized("NFC", name)
    assert slugify(name) == name


@pytest.mark.parametrize(
    "url, ending, taken, expected",
    [
        ("https://x.example/api/openapi.yaml", "yaml", (), "specs/openapi.yaml"),
        ("https://x.example/api/v2/openapi.json", "json", ("specs/openapi.yaml",), "specs/openapi.json"),
        ("https://x.example/v2/openapi.yaml", "yaml", ("specs/openapi.yaml",), "specs/openapi-54542961.yaml"),
        ("https://x.example/con.json", "json", (), "specs/spec-con.json"),
        ("https://x.example/", "json", (), "specs/spec.json"),
    ],
)  # fmt: skip
def test_a_specification_keeps_its_own_name_where_that_is_free(
    url: str, ending: str, taken: tuple[str, ...], expected: str
) -> None:
    assert spec_file_name(url, ending, frozenset(taken)) == expected


@given(st.text())
def test_a_skill_has_a_name_that_skills_may_have(folder: str) -> None:
    assert re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?", skill_name(folder))
    assert "--" not in skill_name(folder)
