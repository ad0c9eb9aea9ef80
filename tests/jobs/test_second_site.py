"""A second planted site, after the issue lists of other SEO tools and the documentation of search engines, in unusual spellings.

Each page has one fault that must be found, or none although it looks like one. The first planted site (`planted_site`) is exact;
this one counts: at least 98 % are found, and at most 1 % of the pages without a fault have a finding of the check they look like.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.support.auditing import Audit
from tests.support.site import Site

PROSE = " ".join(
    f"Sentence {number} of this page tells of {word}, and of what else a reader of it may want to know today."
    for number, word in enumerate("flour water salt heat time patience tools shops friends money ovens weather".split())
)


class Case(NamedTuple):
    """A page: what its head and body hold besides the usual, its headers, and the check that it is for."""

    check: str
    is_faulty: bool
    head: str = ""
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    title: str = "-"
    lang: str = "lang=en"
    raw: str = ""


def bad(check: str, head: str = "", body: str = "", **more: object) -> Case:
    return Case(check, True, head, body, **more)  # type: ignore[arg-type]


def good(check: str, head: str = "", body: str = "", **more: object) -> Case:
    return Case(check, False, head, body, **more)  # type: ignore[arg-type]


OWN = "<link rel=alternate hreflang=en href={here}>"
LD = '<script type=application/ld+json>{"@context":"https://schema.org",'
CASES = [
    # -- titles and descriptions
    bad("title-missing", title=""),
    bad("title-missing", title="<TITLE> \n </TITLE>"),
    good("title-missing", title="<TITLE\n>Bread &amp; butter for everybody</TITLE>"),
    bad("title-multiple", head="<title>Another one of them</title>"),
    good("title-multiple", body="<svg><title>A drawing of bread</title></svg>"),
    bad("title-too-long", title=f"<title>{'Bread and butter ' * 8}</title>"),
    bad("title-too-long", title="<title>" + "パンとバターの作り方とその歴史" * 4 + "</title>"),
    bad("title-too-short", title="<title>Hi</title>"),
    bad("title-placeholder", title="<title>Untitled Document</title>"),
    bad("description-missing", head=""),
    good("description-missing", head="<META CONTENT='What matters about bread to all who eat it today' NAME=Description>"),
    good("description-multiple", head="<meta property=og:description content='What others see of this page on bread'>"),
    good("mixed-content-passive", body="<img src='//127.0.0.1/x.png' alt=Bread width=1 height=1>"),
    bad("description-multiple", head='<meta name=description content="What matters about bread here and now for all">' * 2),
    bad("description-too-long", head=f"<META NAME='Description' CONTENT='{'Long words about bread. ' * 12}'>"),
    bad("description-too-short", head='<meta content="Bread." name="DESCRIPTION">'),
    # -- headings
    bad("h1-missing", body="<h2>Only a second heading</h2>", raw="h1"),
    bad("h1-multiple", body="<h1>Another first heading</h1>"),
    bad("h1-empty", body="<h1> &nbsp; </h1>", raw="h1"),
    good("h1-empty", body='<h1><img src="/there.png" alt="Bread" width=1 height=1></h1>', raw="h1"),
    bad("h1-image-only", body='<h1><img src="/there.png" alt="Bread" width=1 height=1></h1>', raw="h1"),
    bad("headings-nonsequential", body="<h4>Too deep at once</h4>"),
    # -- canonicals
    bad("canonical-multiple", head="<link rel=canonical href={here}><link rel=canonical href={here}>"),
    bad("canonical-conflicting", head="<link rel=canonical href={here}><link rel=canonical href=/fine/1>"),
    bad("canonical-relative", head="<link rel='canonical' href='fine'>"),
    good("canonical-relative", head="<link rel='canonical' href='{here}'>"),
    bad("canonical-fragment", head="<link rel=canonical href='{here}#part'>"),
    bad("canonical-header-mismatch", head="<link rel=canonical href={here}>", headers=(("Link", "</fine/1>; rel=canonical"),)),
    bad("canonical-to-error", head="<link rel=canonical href=/nothing-here>"),
    bad("canonical-to-redirect", head="<link rel=canonical href=/moved>"),
    bad("canonical-outside-head", body="<link rel=canonical href={here}>"),
    bad("canonicalised", headers=(("Link", '</fine/1>; rel="canonical"'),)),
    bad("canonical-invalid", head="<link rel=canonical href='http://'>"),
    bad("canonical-with-noindex", head="<link rel=canonical href=/fine/1><meta name=robots content=noindex>"),
    # -- directives
    bad("directive-noindex", head="<meta name=GOOGLEBOT content='follow , NoIndex'>"),
    bad("directive-noindex", headers=(("X-Robots-Tag", "googlebot: noindex, nofollow"),)),
    good("directive-noindex", head="<meta name=bingbot content=noindex>"),
    good("directive-noindex", headers=(("X-Robots-Tag", "otherbot: noindex"),)),
    good("directive-noindex", body="<!-- <meta name=robots content=noindex> -->"),
    bad("directive-none", head="<meta name=robots content=none>"),
    bad("directive-conflicting", head="<meta name=robots content='index, noindex'>"),
    bad("directive-unknown", head="<meta name=robots content='nofolow'>"),
    bad("directive-nosnippet", head="<meta name=robots content='max-snippet:0'>"),
    good("directive-nosnippet", head="<meta name=robots content='max-snippet:-1'>"),
    # -- languages
    bad("hreflang-invalid-code", head="<link rel=alternate hreflang=en-UK href={here}>"),
    bad("hreflang-invalid-code", head="<link rel=alternate hreflang=en_US href={here}>"),
    good("hreflang-invalid-code", head="<link rel=alternate hreflang=zh-Hant-TW href={here}>"),
    good("hreflang-invalid-code", head="<link rel=alternate hreflang=es-419 href={here}>"),
    bad("hreflang-missing-self", head="<link rel=alternate hreflang=de href=/fine/1>"),
    bad("hreflang-multiple", head="<link rel=alternate hreflang=en href={here}><link rel=alternate hreflang=en href=/fine/1>"),
    bad("hreflang-to-error", head=f"{OWN}<link rel=alternate hreflang=fr href=/no-french>"),
    bad("hreflang-to-redirect", head=f"{OWN}<link rel=alternate hreflang=fr href=/moved>"),
    bad("hreflang-missing-return", head=f"{OWN}<link rel=alternate hreflang=fr href=/fine/2>"),
    bad("hreflang-relative", head=f"{OWN}<link rel=alternate hreflang=fr href=../fine/2>"),
    bad("hreflang-outside-head", body="<link rel=alternate hreflang=en href={here}>"),
    bad("html-lang-invalid", lang="lang=english"),
    good("html-lang-invalid", lang="lang=EN-us"),
    # -- content
    bad("content-soft-404", body="<h1>Whoops! We can’t find that page</h1>", raw="short"),
    bad("content-soft-404", body="<h1>Diese Seite wurde leider nicht gefunden</h1>", raw="short"),
    bad("content-thin", body="<h1>Short notice about bread</h1><p>There is not much to say.</p>", raw="short"),
    bad("content-lorem-ipsum", body="<p>Lorem ipsum dolor sit amet, consectetur</p>"),
    good("content-lorem-ipsum", body="<pre>lorem ipsum dolor</pre>"),
    bad("content-placeholder", body="<h1>New shop</h1><p>Coming soon</p>", raw="short"),
    bad("content-empty", body="", raw="short"),
    # -- links
    bad("link-broken", body="<a href='/nowhere'>To nowhere at all</a>"),
    bad("link-broken", body="<map><area href=/nowhere-else alt=Nowhere></map>"),
    good("link-broken", body="<a href='javascript:void(0)'>Menu</a><a href='mailto:a@b.example'>Mail</a>"),
    bad("link-to-redirect", body="<a href=/moved>To the moved page</a>"),
    bad("link-broken-bookmark", body="<a href='#no-such-part'>Down</a>"),
    good("link-broken-bookmark", body="<a href='#Top'>Up</a><a href='#:~:text=bread'>Words</a>"),
    bad("link-broken-fragment", body="<a href='/fine/1#no-such-part'>A part of it</a>"),
    good("link-broken-fragment", body="<a href='/fine/1#part'>A part of it</a>"),
    bad("link-without-text", body="<a href=/fine/1><span></span></a>"),
    good("link-without-text", body="<a href=/fine/1 aria-label='Fine page'><i></i></a>"),
    bad("link-generic-text", body="<a href=/fine/1>Click here »</a>"),
    bad("link-internal-nofollow", body="<a rel='NOFOLLOW noopener' href=/fine/1>A fine page</a>"),
    bad("link-javascript", body="<a href=' JavaScript:go()'>Go</a>"),
    good("link-localhost", body="<a href='http://localhost:8080/x'>Test server of a site that is on this machine itself</a>"),
    bad("link-malformed", body="<a href='http://fine page.example/'>Broken</a>"),
    bad("link-malformed", body="<a href='file:///C:/bread.html'>On my disk</a>"),
    bad("js-hash-routing", body="<a href='#!/one'>One</a><a href='#!/two'>Two</a>"),
    good("js-hash-routing", body="<a href='#/only'>One anchor</a>"),
    # -- images and resources
    bad("image-alt-missing", body="<img src=/there.png width=1 height=1>"),
    good("image-alt-missing", body="<img src=/there.png alt='' width=1 height=1>"),
    good("image-alt-missing", body="<img src=/there.png role=presentation width=1 height=1>"),
    bad("image-alt-file-name", body="<img src=/there.png alt=there.png width=1 height=1>"),
    bad("image-size-missing", body="<img src=/there.png alt=Bread>"),
    bad("image-source-missing", body="<img alt=Bread width=1 height=1>"),
    good("image-source-missing", body="<img data-src=/there.png alt=Bread width=1 height=1>"),
    bad("picture-without-img", body="<picture><source srcset=/there.png></picture>"),
    # -- HTML
    bad("html-duplicate-ids", body="<p id=x>One</p><p id=x>Two</p>"),
    bad("html-deprecated-elements", body="<center>Middle</center>"),
    bad("html-invalid-elements-in-head", head="<img src=/there.png alt=Bread width=1 height=1>"),
    bad("meta-keywords-present", head="<meta name=Keywords content='bread, butter'>"),
    # -- structured data
    bad("structured-data-parse-error", head="<script type='application/ld+json'>{\"@type\": \"Thing\",}</script>"),
    bad("structured-data-required-missing", head=LD + '"@type":"Product","sku":"7"}</script>'),
    good("structured-data-parse-error", head=LD + '"@type":"Thing","name":"x"}</script>'),
    # -- redirects
    bad("redirect-meta-refresh", head="<meta http-equiv='REFRESH' content='0; URL=/fine/1'>"),
    good("redirect-meta-refresh", head="<meta http-equiv=refresh content=600>"),
    bad("redirect-refresh-header", headers=(("Refresh", "0; url=/fine/1"),)),
    # -- cookies
    bad("cookie-not-http-only", headers=(("Set-Cookie", "session=1; Path=/; SameSite=Lax"),)),
    bad("cookie-without-same-site", headers=(("Set-Cookie", "session=1; Path=/; HttpOnly"),)),
    good("cookie-not-http-only", headers=(("Set-Cookie", "session=1; Path=/; httponly; samesite=lax"),)),
]  # fmt: skip


def document(case: Case, number: int, here: str) -> str:
    title = f"<title>Bread number {number} and all about it</title>" if case.title == "-" else case.title
    described = case.check.startswith("description") or "description" in case.head.lower()
    about = (
        f"<meta name=description content='All there is to say about bread {number}, from the dough to the table of the guests.'>"
    )
    about = "" if described else about
    body = case.body.replace("{here}", here)
    if case.raw != "short":
        heading = "" if case.raw == "h1" else f"<h1>About bread {number}</h1>"
        body = f"{heading}<h2>In short</h2><p>Bread {number}. {PROSE} {number}</p>{body}"
    head = case.head.replace("{here}", here)
    head = f"<head><meta charset=utf-8>{title}{about}{head}</head>"
    return f"<!doctype html><html {case.lang}>{head}<body><main>{body}</main></body></html>"


async def test_nearly_all_faults_of_a_second_site_are_found_and_hardly_any_in_vain(tmp_path: Path) -> None:
    async with Site() as site:
        pages = {f"/case/{number}": case for number, case in enumerate(CASES)}
        for number, (path, case) in enumerate(pages.items()):
            site.reply(path, body=document(case, number, site.url(path)), headers=case.headers)
        site.page("/", links=[*pages, "/fine/1", "/fine/2"], body=PROSE)
        site.page("/fine/1", body=f"<p id=part>{PROSE}</p><p>One of two.</p>")
        site.page("/fine/2", body=f"<p>Two of two.</p><p>{PROSE}</p>")
        site.redirect("/moved", "/fine/1", 301)
        site.reply("/there.png", body=b"\x89PNG", content_type="image/png")
        audit = Audit(site, tmp_path)
        await audit.run("/", fragments=True, resources=50)
    found = set(audit.select("url, check_id FROM findings"))
    missed = [(path, case.check) for path, case in pages.items() if case.is_faulty and (path, case.check) not in found]
    in_vain = [(path, case.check) for path, case in pages.items() if not case.is_faulty and (path, case.check) in found]
    faulty = sum(case.is_faulty for case in CASES)
    assert len(missed) <= 0.02 * faulty, missed
    assert len(in_vain) <= 0.01 * len(CASES), in_vain
    assert faulty >= 75
    assert len(CASES) - faulty >= 25
