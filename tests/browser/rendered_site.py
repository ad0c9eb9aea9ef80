"""A site whose scripts change it: what must be found on each page by rendering, and pages on which nothing may be found."""

from __future__ import annotations

from tests.support.site import Site

PROSE = "A loaf of rye takes two days from the first stir of the sour dough to the last minute in the oven. " * 4
TWINS = {
    "js-title-only-rendered": ("", "", "document.title = 'Rye'"),
    "js-title-changed": ("<title>Bread</title>", "", "document.title = 'Rye'"),
    "js-description-changed": (
        '<meta name="description" content="Old">', "", "document.querySelector('[name=description]').content = 'New'",
    ),
    "js-h1-changed": ("", "<h1>Bread</h1>", "document.querySelector('h1').textContent = 'Rye'"),
    "js-canonical-only-rendered": ("", "", "add('link', {rel: 'canonical', href: location.href})"),
    "js-canonical-changed": (
        '<link rel="canonical" href="{here}">', "", "document.querySelector('[rel=canonical]').href = '/other'",
    ),
    "js-noindex-removed": ('<meta name="robots" content="noindex">', "", "document.querySelector('[name=robots]').remove()"),
    "js-noindex-added": ("", "", "add('meta', {name: 'robots', content: 'noindex'})"),
    "js-robots-changed": ("", "", "add('meta', {name: 'robots', content: 'nofollow'})"),
    "js-hreflang-changed": ("", "", "add('link', {rel: 'alternate', hreflang: 'de', href: '/de'})"),
    "js-links-only-rendered": ("", "", "document.body.append(add('a', {href: '/other', textContent: 'Other'}))"),
    "js-content-only-rendered": ("", "", f"document.querySelector('main').append({(PROSE * 2)!r})"),
    "js-content-late": ("", "", "setTimeout(() => document.querySelector('main').append('Late.'), 1500)"),
    "js-redirect": ("", "", "location.href = '/other'"),
    "js-hash-routing": ("", '<a href="#/one">One</a><a href="#/two">Two</a>', ""),
    "js-exception": ("", "", "throw new Error('broken')"),
    "js-console-error": ("", "", "console.error('odd')"),
    "js-request-failed": ("", "", "fetch('/missing.json')"),
    "js-request-blocked": ("", "", "fetch('/private/data.json').catch(() => 0)"),
}  # fmt: skip
"""By check: what the head and the body of a page hold besides the usual, and what its script does."""
QUIET = {
    "plain": ("", "", ""),
    "class": ("", "", "document.body.className = 'ready'"),
    "fragment": ("", '<a href="#top">Top</a><p id="top"></p>', "location.hash = 'top'"),
    "state": ("", "", "history.replaceState({}, '', '/quiet/state?seen=1')"),
    "few": ("", "", "document.querySelector('main').append('Five more words by scripts.')"),
    "same": ("<title>Same</title>", "", "document.title = 'Same'"),
    "caught": ("", "", "try { missing() } catch (error) { console.log('fine') }"),
    "data": ("", "", "fetch('/data.json').then(answer => answer.json())"),
}
_ADD = "const add = (name, values) => { const one = Object.assign(document.createElement(name), values);" \
    " if (name !== 'a') document.head.append(one); return one }; "  # fmt: skip


def serve(site: Site) -> dict[str, str]:
    """Define the pages; the check that must be found on each, by path, empty for none."""
    pages = {f"/{check}": (check, *parts) for check, parts in TWINS.items()}
    pages |= {f"/quiet/{name}": ("", *parts) for name, parts in QUIET.items()}
    for path, (check, head, body, script) in pages.items():
        named = "" if "<title>" in head or check == "js-title-only-rendered" else f"<title>Page {path}</title>"
        site.html(
            path,
            f"<!doctype html><html lang=en><head>{named}{head.format(here=site.url(path))}</head><body>"
            f"<main>{body}<p>{PROSE}</p></main><script>{_ADD}{script}</script></body></html>",
        )
    site.page("/", links=sorted(pages))
    site.page("/other", body=PROSE)
    site.page("/de", body=PROSE)
    site.robots("User-agent: *\nDisallow: /private/\n")
    site.reply("/data.json", body="{}", content_type="application/json")
    return {path: check for path, (check, *_) in pages.items()}
