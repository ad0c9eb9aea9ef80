"""Local input of `tadoru links`: folders, files and patterns are checked without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import tadoru
from tadoru.config.options import LinksOptions
from tadoru.errors import UsageError
from tadoru.jobs.links.local_input import find_local_input
from tadoru.jobs.links.report import LinksReport, write_links_report
from tadoru.jobs.links.result import CrawlResult
from tadoru.jobs.links.run import LinksCrawl
from tests.support.site import Site

Place = tuple[str, str | None, int | None, int | None]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def broken(result: CrawlResult, root: Path) -> list[Place]:
    """The end of each broken URL, and the places where it is linked."""
    start = root.resolve().as_uri() + "/"
    return [(link.url.removeprefix(start), at.file, at.line, at.column) for link in result.bad_links for at in link.sources]


def check(*names: str, **options: Any) -> CrawlResult:
    return tadoru.links(*names, delay=5.0, **options)


def test_a_folder_is_checked_with_file_line_and_column(folder: Path) -> None:
    write(
        folder,
        public__index_html="<a href='a.html'>A</a>\n  <a href=/b.html>B</a> <a href=no>N</a>",
        public__a_html="<a href=./>x</a>",
    )
    assert broken(check("public"), folder / "public") == [
        ("b.html", "public/index.html", 2, 11),
        ("no", "public/index.html", 2, 33),
    ]


def test_every_file_of_a_folder_is_read_although_nothing_links_to_it(folder: Path) -> None:
    write(folder, index_html="<p>", deep__er__alone_html="<a href=gone>x</a>", _hidden__x_html="<a href=gone>x</a>")
    assert [place[:2] for place in broken(check("."), folder)] == [("deep/er/gone", "deep/er/alone.html")]


def test_a_folder_has_the_rules_of_a_web_server(folder: Path) -> None:
    links = "".join(
        f"<a href='{link}'>x</a>"
        for link in ("/sub", "/sub/", "sub/index.html", "/about", "/empty/", "/a%20b.html", "/robots.txt")
    )
    write(
        folder,
        index_html=links,
        sub__index_html="<p>",
        about_html="<p>",
        empty__x_txt="",
        robots_txt="User-agent: *\nDisallow: /",
    )
    (folder / "a b.html").write_text("<p>")
    assert {place[0] for place in broken(check("."), folder)} == {"about", "empty/"}
    assert {place[0] for place in broken(check(".", extensionless=True), folder)} == {"empty/"}


def test_only_the_given_files_are_read(folder: Path) -> None:
    write(folder, README_md="# T\n\n[a](docs/a.md) [b](b.md)", docs__a_md="[gone](gone.md)")
    assert broken(check("README.md"), folder) == [("b.md", "README.md", 3, 20)]
    assert [place[:2] for place in broken(check("**/*.md"), folder)] == [("b.md", "README.md"), ("docs/gone.md", "docs/a.md")]


def test_files_and_folders_are_checked_together(folder: Path) -> None:
    write(folder, README_md="[a](/docs/a.md) [no](no.md)", docs__a_md="[readme](/README.md)", docs__b_html="<a href=no>x</a>")
    local = find_local_input(["README.md", "docs"], LinksOptions())
    assert local is not None
    assert [local.file_name(url) for url in local.documents] == ["README.md", "docs/a.md", "docs/b.html"]


def test_a_link_may_leave_the_working_folder_within_the_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, README_md="x", docs__a_md="[up](../README.md) [root](/README.md) [folder](../docs)")
    (folder / ".git").mkdir()
    monkeypatch.chdir(folder / "docs")
    assert broken(check("a.md"), folder) == []


def test_fragments_of_markdown_and_html_are_checked_in_other_files_too(folder: Path) -> None:
    write(
        folder,
        a_md="# One\n\n[x](#one) [x](#two) [x](b.md#three) [x](b.md#four) [x](c.html#id)",
        b_md="## Three",
        c_html="<p id=id>",
    )
    places = broken(check("a.md", fragments=True), folder)
    assert places == [("a.md#two", "a.md", 3, 15), ("b.md#four", "a.md", 3, 41)]


def test_external_urls_of_files_are_requested_politely_when_they_are_checked(folder: Path, site: Site) -> None:
    site.page("/here")
    write(folder, a_md=f"[x]({site.url('/here')})\n\n<{site.url('/gone')}>")
    assert broken(check("a.md"), folder) == []
    assert site.paths == []
    result = tadoru.links("a.md", check=True, delay=0, allow_private=True)
    assert broken(result, folder) == [(site.url("/gone"), "a.md", 3, 2)]
    assert "/robots.txt" in site.paths


def test_a_folder_may_have_a_url_of_its_own(folder: Path) -> None:
    write(folder, index_html="<a href=https://example.com/site/a.html>A</a> <a href=/site/b.html>B</a>", a_html="<p>")
    result = check(".", base_url="https://example.com/site/")
    assert [(link.url, link.sources[0].file) for link in result.bad_links] == [("https://example.com/site/b.html", "index.html")]


def test_what_is_beside_the_url_of_a_folder_is_requested_like_other_sites(folder: Path, site: Site) -> None:
    site.page("/blog")
    write(folder, index_html=f"<a href=/blog>x</a>\n<a href=/gone>x</a><img src=/gone.png><a href={site.url('/site/no')}>x</a>")
    result = tadoru.links(".", base_url=site.url("/site"), check=True, delay=0.1, allow_private=True)
    assert broken(result, folder) == [
        (site.url("/gone"), "index.html", 2, 9),
        (site.url("/gone.png"), "index.html", 2, 29),
        (site.url("/site/no"), "index.html", 2, 47),
    ]
    assert set(site.paths) == {"/robots.txt", "/blog", "/gone", "/gone.png"}
    times = [seen.at for seen in site.requests if seen.path != "/robots.txt"]
    assert min(after - before for before, after in pairwise(times)) > 0.09, "only files need no delay"


def test_a_pattern_follows_no_links_to_folders(folder: Path) -> None:
    write(folder, docs__a_md="[x](no.md)", docs__deep__b_md="x", docs___hidden__c_md="x")
    (folder / "docs" / "node_modules").mkdir()
    (folder / "docs" / "node_modules" / "d.md").write_text("x")
    (folder / "docs" / "deep" / "back").symlink_to(folder / "docs")
    (folder / "docs" / "deep" / "again").symlink_to(folder / "docs")
    assert {info.url.rpartition("/")[2] for info in check("docs/**/*.md").internal_urls} == {"a.md", "b.md", "no.md"}
    assert broken(check("**/[ab].md"), folder) == [("docs/no.md", "docs/a.md", 1, 5)]
    assert broken(check("./docs/*.?d"), folder) == [("docs/no.md", "docs/a.md", 1, 5)]


def test_a_malformed_reference_has_its_place(folder: Path) -> None:
    write(folder, a_html="\n<a href='htp://example.com/'>A</a>")
    assert broken(check("a.html"), folder) == [("htp://example.com/", "a.html", 2, 10)]


@pytest.mark.parametrize(
    "argument, message",
    [
        ("./no", "was not found"),
        ("index.html", "was not found"),
        ("docs/no.md", "was not found"),
        ("docs/**/*.md", "No file matches"),
        ("empty", "no HTML and no Markdown"),
    ],
)
def test_what_does_not_exist_is_refused(argument: str, message: str, folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(UsageError, match=message):
        check(argument)


def test_a_file_that_exists_wins_over_a_host_name_and_urls_stay_urls(folder: Path, site: Site) -> None:
    site.page("/")
    write(folder, README_md="x")
    assert check("README.md").start_url == (folder.resolve() / "README.md").as_uri()
    assert tadoru.links(site.url("/?a[]=*"), depth=0).start_url.startswith("http://127.0.0.1")


@pytest.mark.parametrize("fragments", [True, False])
def test_every_link_of_a_file_to_what_is_missing_has_its_place_and_text(fragments: bool, folder: Path) -> None:
    write(folder, a_html="<base href=/sub/>\n<a href=no>one</a><a href='no#x'>two</a>\n<a href='/sub/no'>three</a>")
    result = check("a.html", fragments=fragments)
    assert [(at.line, at.anchor_text) for link in result.broken_links for at in link.sources] == [
        (2, "one"),
        (2, "two"),
        (3, "three"),
    ]


def test_what_a_file_needs_is_checked_with_its_place(folder: Path) -> None:
    write(
        folder,
        index_html="<img src=no.png>\n<link rel=stylesheet href=a.css><p style='background:url(no.jpg)'>",
        a_css="p {\n  background: url('img/no.gif') }",
        b_md="![x](no.svg)",
    )
    assert broken(check("."), folder) == [
        ("img/no.gif", "a.css", 2, 20), ("no.jpg", "index.html", 2, 58),
        ("no.png", "index.html", 1, 10), ("no.svg", "b.md", 1, 6),
    ]  # fmt: skip


def test_a_link_cannot_name_a_file_outside_the_folder(folder: Path) -> None:
    write(folder, outside_html="<p>", public__index_html=f"<a href='./{(folder / 'outside.html').as_posix()}'>x</a>")
    assert len(check("public").bad_links) == 1


def test_links_to_folders_are_not_followed_so_that_none_leads_out_or_on_without_end(folder: Path) -> None:
    write(folder, public__index_html="<a href='one/index.html'>x</a>", outside__a_html="<a href=gone>x</a>")
    for name, target in (("one", "."), ("two", "."), ("out", "../outside")):
        (folder / "public" / name).symlink_to(target, target_is_directory=True)
    assert check("public").bad_links == ()


def test_a_name_that_is_too_long_for_a_file_is_not_found(folder: Path) -> None:
    with pytest.raises(UsageError, match="was not found"):
        find_local_input(["./" + "a" * 300], LinksOptions())
    assert find_local_input(["example.com/" + "a" * 300], LinksOptions()) is None


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_markdown_with_other_line_breaks_has_the_same_links_and_places(end: str, folder: Path) -> None:
    text = end.join(["---", "see: '[a](gone.md)'", "---", "", "[x](missing.md) [y]", "", "[y]: lost.md"])
    (folder / "a.md").write_bytes(text.encode())
    assert broken(check("a.md"), folder) == [("lost.md", "a.md", 7, 6), ("missing.md", "a.md", 5, 5)]


@pytest.mark.parametrize("form", ["text", "html", "sarif", "junit", "markdown", "codequality"])
def test_a_report_says_that_a_file_was_not_found_in_its_language(form: str, folder: Path) -> None:
    write(folder, a_md="[x](gone.md)")
    result = check("a.md")
    assert [link.error for link in result.bad_links] == ["file not found"]
    assert [failure.error_message for failure in result.failed_urls] == ["file not found"]
    for lang, text in (("en", "file not found"), ("ja", "ファイルが見つかりません")):
        out = StringIO()
        write_links_report(LinksReport(result, lambda: iter(()), result.bad_links, lang=lang), form, out)
        assert text in out.getvalue()
        assert form == "html" or "404 Not Found" not in out.getvalue()


def test_a_stored_check_of_files_is_resumed_with_the_same_files_only(folder: Path) -> None:
    write(folder, a_md="[x](gone.md)", b_md="[x](gone.md)")
    check("a.md", state="links.db")
    assert len(check("a.md", state="links.db").bad_links) == 1
    for options, urls, local in (
        (LinksOptions(), (), None),
        (LinksOptions(), ("b.md",), find_local_input(["b.md"], LinksOptions())),
    ):
        with pytest.raises(UsageError, match="contains a check of local files"):
            asyncio.run(LinksCrawl(options, urls, "links.db", local=local).prepare())


def test_links_of_files_may_be_remapped_to_a_private_address(folder: Path, site: Site) -> None:
    site.page("/ok")
    write(folder, a_md="[x](https://example.com/ok)")
    result = tadoru.links("a.md", check=True, delay=0, remap=(f"https://example.com={site.url('')}",))
    assert (result.bad_links, [info.status_code for info in result.external_urls]) == ((), [200])
