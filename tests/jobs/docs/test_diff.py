"""Reading a site again with --diff: what did not change costs nothing, what did is told, and nothing is lost to a bad day."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.errors import NothingToCrawl
from tests.support.handbook import PROSE, Handbook, changed, entries, index, marks, read, tree
from tests.support.site import Site

NEW = f"<p>Now with a whistle. {PROSE * 3}</p>"


def test_nothing_is_sent_and_nothing_written_when_nothing_changed(site: Site, book: Handbook, out: Path) -> None:
    book.write(6)
    first = read(site, out)
    before, files, checked = marks(out), tree(out, times=True), index(out)["lastChecked"]
    book.forget()
    again = read(site, out, diff=True)
    assert (book.sent, book.bytes) == ([], 0)
    assert sorted(site.paths) == sorted([*entries(out, site), "/robots.txt", "/sitemap.xml"]), "each page is asked once"
    assert changed(again, site) == {}
    assert (again.pages, again.tokens) == (first.pages, first.tokens)
    after, now = marks(out), tree(out, times=True)
    assert {name for name in after if after[name] != before[name]} == {"index.json"}
    assert now.keys() == files.keys()
    line = '"lastChecked": "{}"'.format
    assert now["index.json"].decode() == files["index.json"].decode().replace(line(checked), line(index(out)["lastChecked"]))
    assert index(out)["lastChecked"] > checked


@pytest.mark.parametrize("by", ["modified", "nothing"])
def test_other_validators_and_none_at_all_come_to_the_same_files(by: str, site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/a"], by=by)
    book.page("/a", "A", by=by)
    read(site, out)
    before = marks(out)
    book.forget()
    assert changed(read(site, out, diff=True), site) == {}
    assert sorted(book.sent) == ([] if by == "modified" else ["/", "/a"])
    after = marks(out)
    assert {name for name in after if after[name] != before[name]} == {"index.json"}


def test_exactly_what_changed_is_sent_written_and_told(site: Site, book: Handbook, out: Path) -> None:
    book.write(6)
    read(site, out)
    before, files = marks(out), {path: page["file"] for path, page in entries(out, site).items()}
    stamps = {path: page["crawledAt"] for path, page in entries(out, site).items()}
    menu = ["/", *(f"/part-{number}" for number in range(1, 6))]
    book.page("/part-3", "Part 3", NEW, links=menu)
    book.page("/part-4", "Part 4", links=[*menu, "/new"])
    book.page("/new", "New", links=menu)
    book.forget()
    done = read(site, out, diff=True)
    assert sorted(book.sent) == ["/new", "/part-3", "/part-4"]
    assert changed(done, site) == {"added": ["/new"], "changed": ["/part-3", "/part-4"]}
    told = (out / "changes.md").read_text("utf-8")
    assert [line for line in told.splitlines() if line.startswith("- [")] == [
        f"- [New]({site.url('/new')}) · pages/page-007-new.md",
        f"- [Part 3]({site.url('/part-3')}) · {files['/part-3']}",
        f"- [Part 4]({site.url('/part-4')}) · {files['/part-4']}",
    ]
    assert f"\n  - changed: [Part 3]({site.url('/part-3')})\n" in told
    after = marks(out)
    rewritten = {name for name in after if name.startswith("pages/") and after[name] != before.get(name)}
    assert rewritten == {files["/part-3"], files["/part-4"], "pages/page-007-new.md"}
    moved = {path for path, page in entries(out, site).items() if page["crawledAt"] != stamps.get(path)}
    assert moved == {"/part-3", "/part-4", "/new"}
    assert "Now with a whistle" in (out / "full.md").read_text("utf-8")


def test_the_changes_stay_told_until_there_are_others(site: Site, book: Handbook, out: Path) -> None:
    book.write(3)
    read(site, out)
    book.page("/part-1", "Part 1", NEW)
    read(site, out, diff=True)
    told = (out / "changes.md").read_bytes()
    assert changed(read(site, out, diff=True), site) == {}
    assert (out / "changes.md").read_bytes() == told


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_gone_is_removed_and_its_number_is_never_given_again(
    status: int, site: Site, book: Handbook, out: Path
) -> None:
    book.write(4)
    read(site, out)
    gone = entries(out, site)["/part-3"]
    assert gone["number"] == 4
    menu = ["/", "/part-1", "/part-2", "/part-3", "/later"]
    book.page("/", "The handbook", links=menu)
    book.page("/later", "Later", links=menu)
    site.reply("/part-3", status=status, body="gone")
    done = read(site, out, diff=True)
    assert changed(done, site) == {"added": ["/later"], "removed": ["/part-3"]}
    assert not (out / gone["file"]).exists()
    assert "Part 3 is about" not in (out / "full.md").read_text("utf-8")
    assert entries(out, site)["/later"]["number"] == 5
    book.page("/part-3", "Part 3", "<p>Part 3 is about step 3, again.</p>", links=menu)
    assert changed(read(site, out, diff=True), site) == {"added": ["/part-3"]}
    back = entries(out, site)["/part-3"]
    assert (back["number"], back["file"]) == (4, gone["file"]), "it is still that page's number"


def test_a_page_that_does_not_answer_today_stays(site: Site, book: Handbook, out: Path) -> None:
    book.write(9)
    read(site, out)
    files = {name: data for name, data in tree(out).items() if name.startswith(("pages/", "full.md"))}
    site.reply("/part-1", status=500)
    site.misbehave("/part-2", "drop")
    gate = site.hold("/part-3")
    site.reply("/part-4", status=403)
    site.reply("/part-5", status=401, headers={"WWW-Authenticate": "Basic"})
    site.redirect("/part-6", "/sign-in", status=302)
    book.page("/sign-in", "Sign in", "<p>Who are you?</p>")
    site.html("/part-7", "")
    # Only these led to part 8.
    book.page("/part-8", "Part 8", f"<p>Part 8 is about step 8. {PROSE * 4}</p><h2>Detail 8</h2><p>Wait 8 minutes.</p>",
              code="# step 8\nkettle --minutes 8")  # fmt: skip
    book.page("/", "The handbook", links=["/", *(f"/part-{number}" for number in range(1, 8))])
    done = read(site, out, diff=True, timeout=0.5, retries=0)
    gate.release()
    assert changed(done, site) == {"added": ["/sign-in"]}
    failed = {url.removeprefix(site.url("")): cause for url, cause in done.failed}
    assert {"/part-1": "HTTP 500", "/part-4": "HTTP 403", "/part-5": "HTTP 401"}.items() <= failed.items()
    assert {"/part-2", "/part-3"} <= failed.keys()
    kept = tree(out)
    assert {name: data for name, data in kept.items() if name in files and name != "full.md"} == {
        name: data for name, data in files.items() if name != "full.md"
    }
    assert set(entries(out, site)) == {"/", "/sign-in", *(f"/part-{number}" for number in range(1, 9))}


def test_a_page_that_nothing_leads_to_any_more_is_removed_after_a_complete_crawl(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/a", "/b"])
    book.page("/a", "A")
    book.page("/b", "B")
    read(site, out)
    book.page("/", "Start", links=["/a"])
    assert changed(read(site, out, diff=True), site) == {"removed": ["/b"]}
    assert list(entries(out, site)) == ["/", "/a"]


def test_a_page_that_moved_for_good_is_where_it_is_now(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/old"])
    book.page("/old", "Old")
    read(site, out)
    site.redirect("/old", "/new", status=301)
    book.page("/new", "New")
    assert changed(read(site, out, diff=True), site) == {"added": ["/new"], "removed": ["/old"]}


@pytest.mark.parametrize("trouble", ["sitemap", "robots", "start", "start gone"])
def test_what_only_a_sitemap_named_survives_a_day_without_it(trouble: str, site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/a"])
    book.page("/a", "A")
    book.page("/hidden", "Hidden")
    site.sitemap("/sitemap.xml", ["/hidden"])
    read(site, out)
    assert set(entries(out, site)) == {"/", "/a", "/hidden"}
    path = {"sitemap": "/sitemap.xml", "robots": "/robots.txt"}.get(trouble, "/")
    site.reply(path, status=404 if trouble == "start gone" else 500)
    if trouble == "robots":
        with pytest.raises(NothingToCrawl, match=r"robots\.txt"):
            read(site, out, diff=True)
    else:
        assert changed(read(site, out, diff=True), site) == ({"removed": ["/"]} if trouble == "start gone" else {})
    assert set(entries(out, site)) == {"/", "/a", "/hidden"} - ({"/"} if trouble == "start gone" else set())


def test_reading_it_again_without_diff_asks_for_everything_and_says_nothing_of_changes(
    site: Site, book: Handbook, out: Path
) -> None:
    book.write(4)
    read(site, out)
    before = marks(out)
    book.forget()
    read(site, out)
    assert set(book.sent) >= set(entries(out, site))
    assert not (out / "changes.md").exists()
    after = marks(out)
    assert {name for name in after if after[name] != before[name]} == {"index.json"}


def test_a_file_that_somebody_edited_is_put_right_without_asking_for_it(site: Site, book: Handbook, out: Path) -> None:
    book.write(3)
    read(site, out)
    before = tree(out)
    (out / "full.md").write_text("mine")
    (out / "pages" / "page-002-part-1.md").unlink()
    book.forget()
    read(site, out, diff=True)
    assert book.sent == []
    assert tree(out) == before


def test_pages_that_are_read_otherwise_now_are_asked_for_again(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start")
    book.file("/index.md", f"# Start\n\nFrom Markdown. {PROSE * 4}\n", "text/markdown")
    read(site, out, own_markdown=False)
    assert entries(out, site)["/"]["source"] == "html"
    read(site, out)
    assert entries(out, site)["/"]["source"] == "markdown"
    book.forget()
    read(site, out, diff=True, own_markdown=False)
    assert entries(out, site)["/"]["source"] == "html"
    assert book.sent == ["/"]
