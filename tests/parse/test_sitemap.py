"""Sitemaps: one at a time, and all of a site."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable, Mapping
from time import process_time
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.web import Answer, Failure, FailureKind, Response
from tadoru.parse.sitemap import MAX_TAG_BYTES, MAX_URLS, Sitemap, SitemapEntry, SitemapSearch, read

SITE = "http://site.example"
URL = f"{SITE}/sitemap.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*paths: str) -> bytes:
    return f"<urlset {NAMESPACE}>{''.join(f'<url><loc>{SITE}{path}</loc></url>' for path in paths)}</urlset>".encode()


def index(*paths: str) -> bytes:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{SITE}{path}</loc></sitemap>' for path in paths)}</sitemapindex>".encode()


def paths(sitemap: Sitemap | DiscoveryResult) -> list[str]:
    return [entry.url.removeprefix(SITE) for entry in sitemap.entries]


def test_a_urlset_gives_urls_with_their_dates() -> None:
    body = f"""<?xml version="1.0" encoding="UTF-8"?>
    <urlset {NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
      <url><loc> {SITE}/a?x=1&amp;y=2 </loc><lastmod>2024-05-01</lastmod><priority>0.5</priority></url>
      <url><image:image><image:loc>{SITE}/picture.png</image:loc></image:image><loc><![CDATA[{SITE}/b]]></loc></url>
    </urlset>""".encode()
    assert read(body, URL) == Sitemap(
        "urlset", (SitemapEntry(f"{SITE}/a?x=1&y=2", "2024-05-01"), SitemapEntry(f"{SITE}/b", None)), (), ()
    )


def test_an_index_gives_sitemaps() -> None:
    assert read(index("/1.xml", "/2.xml.gz"), URL) == Sitemap("index", (), (f"{SITE}/1.xml", f"{SITE}/2.xml.gz"), ())


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(urlset("/a", "/b"), id="namespace"),
        pytest.param(urlset("/a", "/b").replace(NAMESPACE.encode(), b""), id="no-namespace"),
        pytest.param(
            f'<s:urlset xmlns:s="x"><s:url><s:loc>{SITE}/a</s:loc></s:url>'
            f"<s:url><s:loc>{SITE}/b</s:loc></s:url></s:urlset>".encode(),
            id="prefix",
        ),
        pytest.param(b"\n " + urlset("/a", "/b"), id="white-space-first"),
        pytest.param(b"\xef\xbb\xbf" + urlset("/a", "/b"), id="utf-8-mark"),
        pytest.param(urlset("/a", "/b").decode().encode("utf-16"), id="utf-16"),
        pytest.param(b'<?xml version="1.0" encoding="windows-1251"?>' + urlset("/a", "/b"), id="single-byte-encoding"),
        pytest.param(b"<!DOCTYPE urlset>" + urlset("/a", "/b"), id="doctype-without-entities"),
        pytest.param(gzip.compress(urlset("/a", "/b")), id="gzip"),
        pytest.param(gzip.compress(urlset("/a", "/b")[:40]) + gzip.compress(urlset("/a", "/b")[40:]), id="gzip-in-two-members"),
        pytest.param(gzip.compress(urlset("/a", "/b")) + b"\x00" * 100, id="gzip-with-padding"),
        pytest.param(f"{SITE}/a\r\n\r\n  {SITE}/b".encode(), id="text"),
        pytest.param(gzip.compress(f"{SITE}/a\n{SITE}/b\n".encode()), id="text-gzip"),
        pytest.param(
            f"<rss><channel><link>{SITE}/home</link><item><link>{SITE}/a</link></item><item><link>{SITE}/b</link></item></channel></rss>".encode(),
            id="rss",
        ),
        pytest.param(
            f'<feed xmlns="http://www.w3.org/2005/Atom"><link href="{SITE}/home"/><entry><link rel="self" href="{SITE}/x"/>'
            f'<link href="{SITE}/a"/></entry><entry><link rel="alternate" href="{SITE}/b"/></entry></feed>'.encode(),
            id="atom",
        ),
    ],
)
def test_every_form_a_sitemap_comes_in(body: bytes) -> None:
    found = read(body, URL)
    assert (paths(found), found.problems) == (["/a", "/b"], ())


@pytest.mark.parametrize(
    "body, kind",
    [
        pytest.param(urlset("/"), "urlset", id="urlset"),
        pytest.param(index("/x"), "index", id="index"),
        pytest.param(b"http://site.example/", "text", id="text"),
        pytest.param(b"<rss/>", "feed", id="rss"),
        pytest.param(b'<rdf:RDF xmlns:rdf="x"/>', "feed", id="rdf"),
    ],
)
def test_the_kind_is_told(body: bytes, kind: str) -> None:
    assert read(body, URL).kind == kind


def test_feeds_give_dates_too() -> None:
    body = f"<rss><channel><item><link>{SITE}/a</link><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate></item></channel></rss>"
    assert read(body.encode(), URL).entries == (SitemapEntry(f"{SITE}/a", "Mon, 01 Jan 2024 00:00:00 GMT"),)


BOMB = b"".join(
    [
        b"<!DOCTYPE urlset [<!ENTITY a0 'lol'>",
        *(b"<!ENTITY a%d '%s'>" % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 12)),
        b"]>",
    ]
)


@pytest.mark.parametrize(
    "body, problem, read_before",
    [
        pytest.param(urlset("/a", "/b")[:-20], "Broken XML", ["/a"], id="cut-off"),
        pytest.param(urlset("/a") + b"<oops", "Broken XML", ["/a"], id="rubbish-after"),
        pytest.param(urlset("/a", "/b?x=1&y=2", "/c"), "Broken XML", ["/a"], id="bare-ampersand"),
        pytest.param(BOMB + urlset("/&a11;"), "entities", [], id="entity-bomb"),
        pytest.param(
            b"<!DOCTYPE urlset [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>" + urlset("/&x;"), "entities", [], id="external-entity"
        ),
        pytest.param(b"<!DOCTYPE html><html><body>Not found</body></html>", "root element is <html>", [], id="an-html-page"),
        pytest.param(b"<urlset>" + b"<a>" * 100_000, "nested", [], id="deep"),
        pytest.param(b'<?xml version="1.0" encoding="no-such"?>' + urlset("/a"), "encoding", [], id="unknown-encoding"),
        pytest.param(b"\x1f\x8bnot gzip", "Broken gzip", [], id="not-gzip"),
        pytest.param(gzip.compress(urlset("/a"))[:-12], "gzip data is cut off", ["/a"], id="gzip-cut-off"),
        pytest.param(b"", "Names no URL", [], id="empty"),
        pytest.param(b"<urlset/>", "Names no URL", [], id="no-urls"),
        pytest.param(b"Nothing to see here.\n", "not a URL: 1", [], id="prose"),
        pytest.param(b"<urlset><url></url></urlset>", "not a URL: 1", [], id="url-without-loc"),
        pytest.param(b"<urlset><url><loc>/rel</loc></url></urlset>", "relative", ["/rel"], id="relative"),
        pytest.param(b"<urlset><url><loc>mailto:x</loc></url></urlset>", "not a URL: 1", [], id="other-scheme"),
    ],
)
def test_what_is_wrong_is_said_and_what_could_be_read_is_kept(body: bytes, problem: str, read_before: list[str]) -> None:
    found = read(body, URL)
    assert len(found.problems) == 1
    assert problem in found.problems[0]
    assert paths(found) == read_before


def test_urls_of_other_sites_are_kept_and_reported_once() -> None:
    found = read(b"http://other.example/1\nhttp://other.example/2\nhttps://site.example/3\n", URL)
    assert len(found.entries) == 3
    assert found.problems == ("URLs of another site: 2, the first is “http://other.example/1”.",)


def test_the_limit_on_urls_is_exact() -> None:
    body = urlset(*(f"/{n}" for n in range(10)))
    assert read(body, URL, max_urls=10).problems == ()
    found = read(body, URL, max_urls=9)
    assert len(found.entries) == 9
    assert found.problems == ("More than 9 URLs: the rest is not read.",)


def test_what_is_no_url_counts_towards_the_limit_as_well() -> None:
    found = read(b"nothing\n" * 20 + b"https://site.example/1\n", URL, max_urls=9)
    assert found.entries == ()
    assert found.problems == ("URLs not a URL: 9, the first is “nothing”.", "More than 9 URLs: the rest is not read.")


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("make", [urlset, lambda *each: "\n".join(SITE + path for path in each).encode()], ids=["xml", "text"])
def test_reading_stops_at_the_cap_on_bytes(make: Callable[..., bytes], pack: Callable[[bytes], bytes]) -> None:
    body = make(*(f"/{n:06}" for n in range(5_000)))
    assert read(pack(body), URL, max_bytes=len(body)).problems == ()
    found = read(pack(body), URL, max_bytes=len(body) // 2)
    assert "bytes: the rest is not read" in found.problems[-1]
    assert 2_000 < len(found.entries) < 2_600


def test_a_gzip_bomb_stops_at_the_cap() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 30_000_000)
    assert len(bomb) < 50_000
    assert "Larger than 1000000 bytes" in read(bomb, URL, max_bytes=1_000_000).problems[0]


def test_gzip_of_many_empty_members_ends() -> None:
    assert read(gzip.compress(b"") * 100_000, URL).entries == ()


def test_a_gzip_member_whose_output_fills_the_chunks_exactly_is_complete() -> None:
    line = f"{SITE}/a\n".encode()
    body = (line * (65536 * 2 // len(line) + 1))[: 65536 * 2]
    assert not any("gzip" in problem for problem in read(gzip.compress(body), URL).problems)


@given(
    st.binary(max_size=500),
    st.sampled_from([b"", b"<urlset><url><loc>", b"\x1f\x8b", b"<rss>", b"\xff\xfe<\x00", b"<?xml version='1.0'?>"]),
)
def test_any_bytes_can_be_read(junk: bytes, start: bytes) -> None:
    for body in (start + junk, gzip.compress(start + junk)):
        found = read(body, URL)
        assert all(entry.url.startswith(("http://", "https://")) for entry in found.entries)
        assert found.entries or found.sitemaps or found.problems


# ---------------------------------------------------------------------------------------------------- discovering


class DiscoveryResult(NamedTuple):
    """All that a search came to."""

    entries: tuple[SitemapEntry, ...]
    sitemaps: tuple[str, ...]
    problems: tuple[str, ...]


def explore(site: Mapping[str, bytes | int | FailureKind], *robots: str, **limits: int) -> tuple[DiscoveryResult, list[str]]:
    """Search a site given as path to body, status or failure; what was found and what was asked for."""
    search = SitemapSearch([(f"{SITE}{path}", "robots.txt") for path in robots], [SITE], **limits)
    asked: list[str] = []
    entries: dict[str, SitemapEntry] = {}
    read, problems = [], []
    while (url := search.next()) is not None:
        asked.append(url.removeprefix(SITE))
        file = search.take(answer(url, site.get(asked[-1], 404)))
        problems += [f"{file.url}: {problem}" for problem in file.problems]
        if file.sitemap is not None:
            read.append(file.url)
            entries |= {entry.url: entry for entry in file.sitemap.entries}
    return DiscoveryResult(tuple(entries.values()), tuple(read), (*problems, *search.problems)), asked


def answer(url: str, what: bytes | int | FailureKind) -> Answer:
    if isinstance(what, FailureKind):
        return Failure(url=url, kind=what, message="No answer in time.")
    if isinstance(what, int):
        return Response(url=url, status=what, headers=())
    return Response(url=url, status=200, headers=(), body=what)


def test_without_robots_the_usual_place_is_tried() -> None:
    found, asked = explore({"/sitemap.xml": urlset("/a", "/b", "/a")})
    assert asked == ["/sitemap.xml"]
    assert (paths(found), found.sitemaps, found.problems) == (["/a", "/b"], (URL,), ())


def test_a_site_without_a_sitemap_has_no_problem() -> None:
    found, asked = explore({})
    assert (found, asked) == (DiscoveryResult((), (), ()), ["/sitemap.xml"])


def test_the_sitemaps_of_robots_are_read_instead_of_the_usual_place() -> None:
    found, asked = explore({"/1": urlset("/a"), "/2": gzip.compress(urlset("/b"))}, "/1", "/2")
    assert asked == ["/1", "/2"]
    assert paths(found) == ["/a", "/b"]


def test_indexes_are_followed() -> None:
    found, asked = explore({"/sitemap.xml": index("/1", "/2"), "/1": urlset("/a"), "/2": index("/3"), "/3": urlset("/b")})
    assert asked == ["/sitemap.xml", "/1", "/2", "/3"]
    assert (paths(found), found.problems) == (["/a", "/b"], ())


def test_each_sitemap_is_read_once_also_in_a_loop() -> None:
    found, asked = explore({"/sitemap.xml": index("/1", "/sitemap.xml"), "/1": index("/sitemap.xml", "/2"), "/2": urlset("/a")})
    assert asked == ["/sitemap.xml", "/1", "/2"]
    assert paths(found) == ["/a"]
    again = f"{URL} is named more than once, or by itself; it is read once."
    assert found.problems == (f"{URL}: {again}", f"{SITE}/1: {again}")


def test_nesting_without_end_is_cut_off() -> None:
    found, asked = explore({"/sitemap.xml": index("/1")} | {f"/{n}": index(f"/{n + 1}") for n in range(1, 50)})
    assert asked == ["/sitemap.xml", "/1", "/2", "/3", "/4", "/5"]
    assert found.problems == (f"{SITE}/5: {SITE}/6 is nested more than 5 indexes deep and not read.",)


def test_answers_that_are_no_sitemap_are_reported_and_the_rest_is_read() -> None:
    site: dict[str, bytes | int | FailureKind] = {
        "/1": 503,
        "/2": FailureKind.RESPONSE_TIMEOUT,
        "/3": b"<html/>",
        "/4": urlset("/a"),
    }
    found, _ = explore(site, "/0", "/1", "/2", "/3", "/4")
    assert paths(found) == ["/a"]
    assert [problem.removeprefix(SITE) for problem in found.problems] == [
        "/0: answered with status 404",
        "/1: answered with status 503",
        "/2: No answer in time.",
        "/3: Not a sitemap: the root element is <html>.",
    ]


def test_a_sitemap_line_of_robots_that_is_no_url_is_reported() -> None:
    search = SitemapSearch([("mailto:x", "robots.txt")], [SITE])
    assert search.next() is None
    assert search.problems == ("robots.txt names “mailto:x” as a sitemap, which is not a URL.",)


def test_the_number_of_sitemaps_is_bounded() -> None:
    found, asked = explore({"/sitemap.xml": index(*(f"/{n}" for n in range(10)))}, max_sitemaps=4)
    assert len(asked) == 4
    assert f"{URL}: More than 4 sitemaps: the rest is not read." in found.problems


def test_the_number_of_urls_is_bounded() -> None:
    found, asked = explore({"/1": urlset("/a", "/b"), "/2": urlset("/c", "/d"), "/3": urlset("/e")}, "/1", "/2", "/3", max_urls=3)
    assert (paths(found), asked) == (["/a", "/b", "/c"], ["/1", "/2"])
    assert any("the rest of the sitemaps is left out" in problem for problem in found.problems)


def test_relative_urls_are_read_until_they_are_too_long_in_all() -> None:
    url = f"{SITE}/{'x' * 2_000}/sitemap.xml"
    body = f"<urlset>{''.join(f'<url><loc>{number}</loc></url>' for number in range(10_000))}</urlset>".encode()
    sitemap = read(body, url)
    assert sum(len(entry.url) for entry in sitemap.entries) <= 2_500_000
    assert sitemap.problems[-1] == "The relative URLs have more than 2,500,000 characters: the rest is not read."


def test_a_tag_without_end_is_read_up_to_a_limit_that_is_told() -> None:
    attributes = "".join(f" a{number}='{number}'" for number in range(150_000))
    found = read(f"<urlset{attributes}><url><loc>{SITE}/</loc></url></urlset>".encode(), URL)
    assert found.problems == (f"A tag has more than {MAX_TAG_BYTES:,} bytes: the rest is not read.",)


def test_texts_and_comments_of_any_length_are_read_past() -> None:
    long = " " * (MAX_TAG_BYTES + 100_000)
    body = f"<urlset><url><loc>{SITE}/a</loc></url>{long}<!-- > -->{long}<url><loc>{SITE}/b</loc></url></urlset>"
    assert paths(read(body.encode(), URL)) == ["/a", "/b"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028"])
def test_a_long_text_is_read_line_by_line(end: str) -> None:
    lines = [f"{SITE}/{number}" for number in range(MAX_URLS - 1)]
    assert paths(read(end.join(lines).encode(), URL)) == [line.removeprefix(SITE) for line in lines]


def test_a_text_of_millions_of_lines_takes_a_few_times_its_size_in_memory() -> None:
    body = b"\n" * 3_000_000
    tracemalloc.start()
    try:
        read(body, URL)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 10 * len(body)


def test_a_line_without_end_is_one_fault_and_what_follows_is_read() -> None:
    found = read(b"x" * 3_000_000 + f"\n{SITE}/a\n{'y' * 3_000_000}".encode(), URL)
    assert paths(found) == ["/a"]
    (problem,) = found.problems
    assert problem.startswith("URLs not a URL: 2, the first is")


def test_a_line_of_fifty_megabytes_takes_seconds() -> None:
    began = process_time()
    read(gzip.compress(bytes(50_000_000), 1), URL)
    assert process_time() - began < 4, "twice what it may take on a quiet machine"
