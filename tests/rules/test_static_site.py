from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.static_site import StaticSite, content_type

SITE = StaticSite("http://files.invalid")


@pytest.mark.parametrize(
    "path, names",
    [
        ("", ("index.html", "index.htm", "index.xhtml")),
        ("docs/", ("docs/index.html", "docs/index.htm", "docs/index.xhtml")),
        ("about", ("about",)),
        ("about.html", ("about.html",)),
    ],
)
def test_a_path_means_a_file_or_the_index_of_a_folder(path: str, names: tuple[str, ...]) -> None:
    assert SITE.candidates(path) == names


def test_an_extensionless_path_may_also_mean_a_page() -> None:
    assert StaticSite("http://files.invalid", extensionless=True).candidates("about") == ("about", "about.html")


@pytest.mark.parametrize(
    "name, url",
    [
        ("index.html", "http://files.invalid/"),
        ("docs/index.html", "http://files.invalid/docs/"),
        ("docs/a b.md", "http://files.invalid/docs/a%20b.md"),
        ("日本.html", "http://files.invalid/%E6%97%A5%E6%9C%AC.html"),
        ("100%.html", "http://files.invalid/100%25.html"),
    ],
)
def test_a_file_has_a_url_and_an_index_file_that_of_its_folder(name: str, url: str) -> None:
    assert SITE.url(name) == url


@given(
    st.text(st.characters(blacklist_characters="/\\\0", blacklist_categories=("Cs",)), min_size=1).filter(
        lambda name: name.strip(".")
    )
)
def test_the_url_of_a_file_leads_back_to_it(name: str) -> None:
    path = SITE.path(SITE.url(name))
    assert path is not None
    assert name in SITE.candidates(path)


@pytest.mark.parametrize("path", ["%2e%2e/etc/passwd", "a%2fb", "..%5cb", "a%00b"])
def test_no_path_leads_out_of_the_folder(path: str) -> None:
    assert SITE.path(f"http://files.invalid/{path}") is None


def test_slashes_at_the_start_of_a_path_do_not_lead_out_of_the_folder() -> None:
    assert SITE.path("http://files.invalid//etc/passwd") == "etc/passwd"
    assert SITE.path("http://files.invalid///") == ""


def test_a_folder_with_a_url_of_its_own_holds_what_is_below_it() -> None:
    site = StaticSite("https://example.com/project")
    assert site.holds("https://example.com/project/a.html")
    assert site.path("https://example.com/project/a.html?v=1") == "a.html"
    assert not site.holds("https://example.com/projects/a.html")
    assert not site.holds("https://example.com/")


@pytest.mark.parametrize(
    "name, media_type",
    [
        ("a.HTML", "text/html"), ("a.md", "text/markdown"), ("a.css", "text/css"),
        ("a.png", "application/octet-stream"), ("v1.2/a", "application/octet-stream"),
    ],
)  # fmt: skip
def test_the_ending_of_a_name_gives_the_media_type(name: str, media_type: str) -> None:
    assert content_type(name) == media_type
