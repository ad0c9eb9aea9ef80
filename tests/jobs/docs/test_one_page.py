"""Each page once and by its own name: copies at other URLs, titles that most pages share, and links to its file."""

from __future__ import annotations

from pathlib import Path

from tadoru.jobs.docs.job import read_doc_page
from tadoru.rules.url import UrlResolver
from tests.support.handbook import PROSE, Handbook, entries, index, read
from tests.support.site import Site


def page(title: str, body: str, head: str = "") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body><main>{body}</main></body></html>"


def test_a_page_that_is_served_with_and_without_a_slash_or_html_is_one(site: Site, out: Path) -> None:
    links = "".join(f'<p><a href="{path}">{path}</a></p>' for path in ("/intro", "/intro/", "/intro.html", "/other"))
    site.html("/", page("Start", f"<h1>Start</h1><p>{PROSE}</p>{links}"))
    for path in ("/intro", "/intro/", "/intro.html"):
        site.html(path, page("Intro", f'<h1>Intro</h1><p>{PROSE}</p><p>See <a href="#pots">pots</a>.</p><h2 id="pots">Pots</h2>'))
    site.html("/other", page("Other", f"<h1>Other</h1><p>{PROSE}</p>"))

    read(site, out, local_links=True)

    assert list(entries(out, site)) == ["/", "/intro/", "/other"]
    start = next(file for file in (out / "pages").iterdir() if "# Start" in file.read_text())
    file = entries(out, site)["/intro/"]["file"].rpartition("/")[2]
    assert start.read_text().count(f"]({file})") == 3


def test_a_page_that_declares_to_be_a_copy_is_one(site: Site, out: Path) -> None:
    site.html("/", page("Start", f'<h1>Start</h1><p>{PROSE}</p><a href="/tea">a</a> <a href="/tea/">b</a>'))
    for path in ("/tea", "/tea/"):  # The link leads elsewhere from each.
        head = f'<link rel="canonical" href="{site.url("/tea")}">'
        site.html(path, page("Tea", f'<h1>Tea</h1><p>{PROSE}</p><p><a href="pots">Pots</a></p>', head))

    read(site, out, depth=1)

    assert set(entries(out, site)) == {"/", "/tea"}


def test_pages_of_a_folder_and_a_file_with_other_text_are_two(site: Site, out: Path) -> None:
    site.html("/", page("Start", f'<h1>Start</h1><p>{PROSE}</p><a href="/tea">a</a> <a href="/tea/">b</a>'))
    site.html("/tea", page("Tea", f"<h1>Tea</h1><p>{PROSE}</p>"))
    site.html("/tea/", page("All teas", f"<h1>All teas</h1><p>Black, green. {PROSE}</p>"))

    read(site, out)

    assert set(entries(out, site)) == {"/", "/tea", "/tea/"}


def test_a_title_that_most_pages_share_is_not_the_title_of_a_page(site: Site, out: Path) -> None:
    names = {"/33": "33. Boiling water", "/34": "34. Choosing a pot", "/35": "35. Pouring"}
    links = "".join(f'<a href="{path}">{name}</a> ' for path, name in names.items())
    site.html("/", page("The Kettle Manual", f"<h1>The Kettle Manual</h1><p>{PROSE}</p><p>{links}</p>"))
    for path, name in names.items():
        site.html(path, page(f"{name} - Kettle", f"<h1>The Kettle Manual</h1><p>{PROSE} {name}</p><h2>About</h2><p>{PROSE}</p>"))

    read(site, out)

    found = entries(out, site)
    assert [found[path]["title"] for path in ("/", *names)] == ["The Kettle Manual", *names.values()]
    assert (out / found["/33"]["file"]).read_text().split("---\n\n", 1)[1].startswith("# 33. Boiling water\n")


def test_a_heading_that_some_pages_share_gives_way_to_their_own_names(site: Site, out: Path) -> None:
    names = {"/a": "Boiling", "/b": "Pouring", "/c": "Waiting"}
    others = {f"/o{at}": f"Page {at}" for at in range(4)}
    links = "".join(f'<a href="{path}">{name}</a> ' for path, name in (names | others).items())
    site.html("/", page("Start", f"<h1>Start</h1><p>{PROSE}</p><p>{links}</p>"))
    for path, name in names.items():
        site.html(path, page(f"{name} - Kettle", f"<h1>The Kettle</h1><p>{PROSE} {name}</p>"))
    for path, name in others.items():
        site.html(path, page("Manual", f"<h1>{name}</h1><p>{PROSE} {name}</p>"))

    read(site, out)

    found = entries(out, site)
    assert [found[path]["title"] for path in (*names, *others)] == [*names.values(), *others.values()]


def test_pages_that_share_their_title_and_their_name_keep_both(site: Site, out: Path) -> None:
    paths = ["/a", "/b", "/c"]
    links = "".join(f'<a href="{path}">x</a> ' for path in paths)
    site.html("/", page("Start", f"<h1>Start</h1><p>{PROSE}</p><p>{links}</p>"))
    for path in paths:
        site.html(path, page("Kettle docs", f"<h1>Examples</h1><p>{PROSE} {path}</p>"))

    read(site, out)

    assert [entries(out, site)[path]["title"] for path in paths] == ["Examples"] * 3


def test_local_links_lead_to_the_headings_of_the_files(site: Site, out: Path) -> None:
    site.html("/", page("Start", f'<h1>Start</h1><p>{PROSE}</p><a href="/pots#s2">a</a> <a href="/pots#gone">b</a>'))
    site.html(
        "/pots", page("Pots", f'<h1>Pots</h1><p>{PROSE}</p><h2 id="s1">The lid</h2><p>x</p><h2 id="s2">The lid</h2><p>y</p>')
    )

    read(site, out, local_links=True)

    file = entries(out, site)["/pots"]["file"].rpartition("/")[2]
    text = (out / entries(out, site)["/"]["file"]).read_text()
    assert f"[a]({file}#the-lid-1)" in text
    assert f"[b]({file})" in text


def test_local_links_lead_to_pages_through_redirects(site: Site, out: Path) -> None:
    site.html("/", page("Start", f'<h1>Start</h1><p>{PROSE}</p><a href="/pot#lid">a</a>'))
    site.redirect("/pot", "/pots/")
    site.html("/pots/", page("Pots", f'<h1>Pots</h1><p>{PROSE}</p><h2 id="lid">The lid</h2><p>x</p>'))

    read(site, out, local_links=True)

    file = entries(out, site)["/pots/"]["file"].rpartition("/")[2]
    assert f"[a]({file}#the-lid)" in (out / entries(out, site)["/"]["file"]).read_text()


def test_local_links_lead_to_pages_through_all_redirects_that_the_crawl_follows(site: Site, out: Path) -> None:
    site.html("/", page("Start", f'<h1>Start</h1><p>{PROSE}</p><a href="/pot-1">a</a>'))
    for number in range(1, 10):
        site.redirect(f"/pot-{number}", f"/pot-{number + 1}")
    site.html("/pot-10", page("Pots", f"<h1>Pots</h1><p>{PROSE}</p>"))

    read(site, out, local_links=True)

    file = entries(out, site)["/pot-10"]["file"].rpartition("/")[2]
    assert f"[a]({file})" in (out / entries(out, site)["/"]["file"]).read_text()


def test_without_page_files_the_index_lists_none(site: Site, book: Handbook, out: Path) -> None:
    book.write(2)

    read(site, out, pages=False)

    assert [entry["file"] for entry in index(out)["pages"]] == [None, None]


def test_the_keywords_of_a_page_are_in_its_file(site: Site, out: Path) -> None:
    site.html("/", page("Start", f"<h1>Start</h1><p>{PROSE}</p>", '<meta name="keywords" content="tea, pots">'))

    read(site, out)

    assert '\nkeywords: "tea, pots"\n' in next((out / "pages").iterdir()).read_text()


def title_of(html: str) -> tuple[str, str]:
    doc = read_doc_page(html.encode(), "text/html; charset=utf-8", "https://docs.example/a", UrlResolver())
    return doc.main.title, doc.markdown.text.partition("\n")[0]


def test_a_heading_that_names_the_site_is_not_the_title_of_a_chapter() -> None:
    body = f"<h1>Kettle Internet Boiler</h1><h2>Chapter 33 - Boiling water</h2><p>{PROSE}</p><h3>The lid</h3><p>{PROSE}</p>"

    assert title_of(page("33. Boiling water", body)) == ("Chapter 33 - Boiling water", "# Chapter 33 - Boiling water")


def test_the_name_and_the_claim_of_a_product_are_not_glued_together() -> None:
    body = f'<h1 class="heading"><span class="name clip">Kettle</span><span class="text">Boils water</span></h1><p>{PROSE}</p>'

    assert title_of(page("Kettle", body)) == ("Kettle Boils water", "# Kettle Boils water")
