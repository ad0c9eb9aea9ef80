"""The Markdown that a site offers itself: found in each place it may be, and taken only when it holds what the page holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs import site_markdown
from tadoru.jobs.docs.bundle.markdown_blocks import split_blocks
from tests.support.exchange import Exchange, Reply
from tests.support.handbook import PROSE, Handbook, doc, entries, read
from tests.support.site import Site

CODE = '<pre><code class="language-sh">kettle --on\n</code></pre>'
TABLE = "<table><thead><tr><th>Size</th><th>Litres</th></tr></thead><tbody><tr><td>small</td><td>1</td></tr></tbody></table>"
HTML = f"<p>{PROSE * 3}</p>{CODE}{TABLE}"
WHOLE = f"{PROSE * 3}\n\n```sh\nkettle --on\n```\n\n| Size | Litres |\n| --- | --- |\n| small | 1 |\n"


def markdown(title: str, text: str = WHOLE) -> str:
    return f"---\ntitle: {title}\n---\n\n# {title}\n\nWritten by hand. {text}"


def sources(out: Path, site: Site) -> dict[str, str]:
    return {path: page["source"] for path, page in entries(out, site).items()}


def body(out: Path, site: Site, path: str) -> str:
    return (out / entries(out, site)[path]["file"]).read_text("utf-8").partition("\n---\n\n")[2]


@pytest.fixture
def pages(book: Handbook) -> Handbook:
    """A site of three pages, each with code and a table."""
    menu = ["/", "/a", "/b/"]
    for path, title in zip(menu, ("Start", "A", "B"), strict=True):
        book.page(path, title, HTML, links=menu)
    return book


def test_the_file_beside_each_page_is_taken(site: Site, pages: Handbook, out: Path) -> None:
    for path, title in (("/index.md", "Start"), ("/a.md", "A"), ("/b.md", "B")):
        pages.file(path, markdown(title), "text/markdown; charset=utf-8")
    read(site, out)
    assert sources(out, site) == {"/": "markdown", "/a": "markdown", "/b/": "markdown"}
    assert body(out, site, "/a") == markdown("A").partition("---\n\n")[2]
    assert entries(out, site)["/a"]["metadata"]["title"] == "A"


def test_one_page_that_has_it_among_the_first_is_enough_and_the_others_are_read_as_they_are(
    site: Site, pages: Handbook, out: Path
) -> None:
    pages.file("/b.md", markdown("B"), "text/plain; charset=utf-8")
    read(site, out)
    assert sources(out, site) == {"/": "html", "/a": "html", "/b/": "markdown"}
    assert "kettle --on" in body(out, site, "/a")


def test_a_site_that_has_none_is_asked_on_a_few_pages_only(site: Site, book: Handbook, out: Path) -> None:
    book.write(12)
    read(site, out)
    assert len([path for path in site.paths if path.endswith(".md")]) == 3
    assert set(sources(out, site).values()) == {"html"}


def test_markdown_is_not_looked_for_on_pages_that_are_not_included(site: Site, book: Handbook, out: Path) -> None:
    book.write(4)
    read(site, out, include=["/part-2"])
    assert [path for path in site.paths if path.endswith(".md")] == ["/index.md", "/part-2.md"]


def test_a_page_for_everything_that_is_not_there_is_no_markdown(site: Site, pages: Handbook, out: Path) -> None:
    site.handle("/*", lambda exchange, _: exchange.send(Reply(200, doc("Not here").encode(), "text/markdown")))
    site.reply("/robots.txt", status=404)
    read(site, out, sitemap="off")
    assert set(sources(out, site).values()) == {"html"}


def test_a_page_that_names_its_markdown_is_taken_at_its_word(site: Site, book: Handbook, out: Path) -> None:
    def head(name: str) -> str:
        return f'<link rel="alternate" type="text/markdown" href="/raw/{name}.txt">'

    book.page("/", "Start", HTML, links=["/a"], head=head("start"))
    book.page("/a", "A", HTML, head=head("a"))
    for name, title in (("start", "Start"), ("a", "A")):
        book.file(f"/raw/{name}.txt", markdown(title), "text/plain")
    read(site, out)
    assert sources(out, site) == {"/": "markdown", "/a": "markdown"}


def test_a_server_that_speaks_markdown_is_asked_for_it(site: Site, out: Path) -> None:
    async def answer(exchange: Exchange, rest: str) -> None:
        title = rest or "Start"
        wants = exchange.seen.headers.get("accept", "").startswith("text/markdown")
        page = markdown(title) if wants else doc(title, HTML, ["/", "/a"])
        await exchange.send(Reply(200, page.encode(), "text/markdown" if wants else "text/html", (("Vary", "Accept"),)))

    site.reply("/robots.txt", status=404)
    site.handle("/", lambda exchange, _: answer(exchange, ""))
    site.handle("/a", lambda exchange, _: answer(exchange, "A"))
    read(site, out)
    assert sources(out, site) == {"/": "markdown", "/a": "markdown"}
    assert body(out, site, "/a").startswith("# A\n\nWritten by hand.")
    assert not [path for path in site.paths if path.endswith(".md")], "nothing is guessed when it is known"


LOSING = {
    "code": WHOLE.replace("```sh\nkettle --on\n```\n\n", "kettle --on\n\n"),
    "a table": WHOLE.partition("| Size")[0] + "Size Litres small 1\n",
    "most words": "Short.\n\n" + WHOLE.partition(PROSE * 3)[2],
}


@pytest.mark.parametrize("text", LOSING.values(), ids=LOSING)
def test_markdown_that_lost_something_is_not_taken(text: str, site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", HTML, links=["/a"])
    book.page("/a", "A", HTML)
    book.file("/index.md", markdown("Start"), "text/markdown")
    book.file("/a.md", f"# A\n\n{text}", "text/markdown")
    read(site, out)
    assert sources(out, site) == {"/": "markdown", "/a": "html"}
    assert "```sh\nkettle --on\n```" in body(out, site, "/a")
    assert "| small" in body(out, site, "/a")


def test_own_markdown_is_left_alone_on_request(site: Site, pages: Handbook, out: Path) -> None:
    pages.file("/index.md", markdown("Start"), "text/markdown")
    pages.file("/llms.txt", "# Site\n\n- [Other](/only-there)\n", "text/plain")
    read(site, out, own_markdown=False)
    assert set(sources(out, site).values()) == {"html"}
    assert not [path for path in site.paths if path.endswith(".md")]


def test_what_llms_txt_names_is_read_too(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/a"])
    book.page("/a", "A")
    book.page("/only-there", "Only there")
    book.file("/written.md", "# Written\n\nAs Markdown only.\n", "text/markdown")
    listing = f"# Site\n\n> About.\n\n## Docs\n\n- [Only]({site.url('/only-there')}): a note\n- [Written](/written.md)\n"
    book.file("/llms.txt", listing, "text/plain; charset=utf-8")
    read(site, out)
    assert set(entries(out, site)) == {"/", "/a", "/only-there", "/written.md"}
    assert entries(out, site)["/written.md"]["title"] == "Written"
    assert "> About." not in (out / "full.md").read_text("utf-8"), "the list itself is no page"


def test_llms_txt_is_not_asked_for_if_no_pattern_admits_it(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/guide/a"])
    book.page("/guide/a", "A")
    book.file("/llms.txt", "# Site\n\n- [Other](/guide/b)\n", "text/plain")
    read(site, out, include=("/guide/",))
    assert not [path for path in site.paths if "llms" in path]


def test_pages_that_llms_full_txt_holds_are_taken_when_they_are_whole(site: Site, pages: Handbook, out: Path) -> None:
    parts = [
        f"# A\nSource: {site.url('/a')}\n\nWritten by hand. {WHOLE}",
        f"# B\nSource: {site.url('/b/')}\n\nOnly this.\n",
    ]
    pages.file("/llms-full.txt", "\n\n".join(parts), "text/plain")
    read(site, out)
    assert sources(out, site) == {"/": "html", "/a": "llms-full", "/b/": "html"}
    assert body(out, site, "/a") == f"# A\n\nWritten by hand. {WHOLE}"
    assert "```sh\nkettle --on\n```" in body(out, site, "/b/")


def test_links_in_own_markdown_lead_somewhere_from_anywhere(site: Site, book: Handbook, out: Path) -> None:
    text = (
        "[near](./install.md), [up](../x), [top](#top), [far](https://other.example/y), ![picture](img/k.png), `[code](./z)`\n\n"
        "[named][ref]\n\n[ref]: guide\n\n```md\n[code](./install.md)\n```\n"
    )
    book.page("/docs/start", "Start", "<p>Read [code] here.</p><pre><code>[code](./install.md)\n</code></pre>")
    book.file("/docs/start.md", f"# Start\n\n{text}", "text/markdown")
    read(site, out, "/docs/start")
    at = site.url("/docs")
    assert body(out, site, "/docs/start") == (
        f"# Start\n\n[near]({at}/install.md), [up]({site.base}/x), [top](#top), [far](https://other.example/y), "
        f"![picture]({at}/img/k.png), `[code](./z)`\n\n[named][ref]\n\n[ref]: {at}/guide\n\n```md\n[code](./install.md)\n```\n"
    )


@given(
    st.lists(st.sampled_from(["```\n", "~~~\n", "[a](b)", "[a]: b\n", "`", "x ", "\n\n", "    ", "> ", "[a](<b>)", "](", "#"]))
)
def test_only_links_change_and_code_never_does(pieces: list[str]) -> None:
    text = "".join(pieces)
    kept = site_markdown.normalise_markdown(text, "https://example.com/docs/")
    assert list(_code(kept)) == list(_code(site_markdown.strip_frontmatter(text)))
    assert kept.replace("https://example.com/docs/", "") == site_markdown.strip_frontmatter(text)


def _code(text: str) -> Iterator[str]:
    """The blocks of code without a line of another kind before it."""
    fences = ("```", "~~~")
    for block in split_blocks(text):
        is_mixed = not block.text.startswith(fences) and any(fence in block.text for fence in fences)
        if block.kind == "code" and not is_mixed:
            yield block.text


@pytest.mark.parametrize(
    "url, twin",
    [
        ("https://e.example/", "https://e.example/index.md"),
        ("https://e.example/a/", "https://e.example/a.md"),
        ("https://e.example/a/b.html?x=1", "https://e.example/a/b.md"),
        ("https://e.example/v1.2", "https://e.example/v1.2.md"),
        ("https://e.example/a.pdf", None),
        ("https://e.example/a.md", None),
    ],
)
def test_where_the_markdown_of_a_page_would_be(url: str, twin: str | None) -> None:
    assert site_markdown.markdown_url(url) == twin
