"""For each page check a change to the healthy page that it finds, and no other check does."""

from __future__ import annotations

from tadoru.model.web import FailureKind
from tests.jobs.audit_pages import HEALTHY, PROSE, URL, Change, body, head, header, to_body

HOST = "https://bakery.example"
TITLE = "Rye bread from a stone oven | Village bakery"
TITLE_TAG = f"<title>{TITLE}</title>"
DESCRIPTION = "Dark rye bread with a long rest and a stone oven crust, baked thrice a week in the village."
DESCRIPTION_TAG = f'<meta name="description" content="{DESCRIPTION}">'
CANONICAL = f'<link rel="canonical" href="{URL}">\n'
SELF = f'<link rel="alternate" hreflang="en" href="{URL}">\n'
DEFAULT = f'<link rel="alternate" hreflang="x-default" href="{URL}">\n'
ALTERNATES = SELF + '<link rel="alternate" hreflang="de" href="https://bakery.example/de/brot/roggen">\n' + DEFAULT
H1 = "<h1>Rye bread</h1>"
IMAGE = '<img src="/rye.jpg" alt="A dark loaf of rye bread" width="640" height="480">'
VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
JSON_LD = HEALTHY[HEALTHY.index('{"@context"') : HEALTHY.index("\n</script>\n</head>")]
NEXT = '<link rel="next" href="/bread/wheat">'
MAIN = HEALTHY[HEALTHY.index("<main>") : HEALTHY.index("</main>") + 7]
COOKIE = "Set-Cookie"


def title(text: str) -> Change:
    return Change(TITLE_TAG, f"<title>{text}</title>")


def description(text: str) -> Change:
    return Change(DESCRIPTION, text)


def robots(content: str) -> Change:
    return head(f'<meta name="robots" content="{content}">')


def http(find: str = "", put: str = "") -> Change:
    return Change(find, put, (("Strict-Transport-Security", None), (COOKIE, None)), "http://bakery.example/bread/rye")


RESPONSES = {
    "response-client-error": Change(status=404),
    "response-server-error": Change(status=503),
    "response-forbidden": Change(status=403),
    "response-missing": Change(failure=FailureKind.DNS),
    "response-blocked-by-robots": Change(robots_rule="Disallow: /bread"),
    "response-content-type-missing": header("Content-Type", None),
    "redirect-temporary": Change(status=302, headers=(("Location", "/bread"),)),
    "redirect-to-http": Change(status=301, headers=(("Location", "http://bakery.example/"),)),
    "redirect-meta-refresh": head('<meta http-equiv="refresh" content="0; url=/bread">'),
    "redirect-refresh-header": header("Refresh", "0; url=/bread"),
    "redirect-broken": Change(failure=FailureKind.BAD_REDIRECT),
    "redirect-chain-too-long": Change(failure=FailureKind.TOO_MANY_REDIRECTS),
}
URLS = {
    "url-non-ascii": Change(url=f"{HOST}/%E3%83%91%E3%83%B3"),
    "url-underscores": Change(url=f"{HOST}/rye_bread"),
    "url-uppercase": Change(url=f"{HOST}/Rye"),
    "url-multiple-slashes": Change(url=f"{HOST}/bread//rye"),
    "url-repetitive-path": Change(url=f"{HOST}/bread/bread/bread/rye"),
    "url-space": Change(url=f"{HOST}/rye%20bread"),
    "url-parameters-many": Change(url=f"{HOST}/bread?a=1&b=2&c=3&d=4"),
    "url-tracking-parameters": Change(url=f"{HOST}/bread?utm_source=news"),
    "url-session-id": Change(url=f"{HOST}/bread?PHPSESSID=abc"),
    "url-too-long": Change(url=f"{HOST}/bread/{'rye-' * 30}"),
    "url-internal-search": Change(url=f"{HOST}/search?q=rye"),
    "url-encoded-twice": Change(url=f"{HOST}/rye%2520bread"),
    "url-http": http(HEALTHY[HEALTHY.index("<form") : HEALTHY.index("</form>") + 7], ""),
}
HEADS = {
    "title-missing": Change(TITLE_TAG, ""),
    "title-multiple": head("<title>Another title of the page</title>"),
    "title-too-long": title("iljt " * 13),
    "title-too-short": title("Rye bread, fresh"),
    "title-same-as-h1": Change("<h1>Rye bread</h1>", f"<h1>{TITLE}</h1>"),
    "title-outside-head": to_body(TITLE_TAG),
    "title-placeholder": title("Untitled document"),
    "description-missing": Change(DESCRIPTION_TAG, ""),
    "description-multiple": head('<meta name="description" content="Another one.">'),
    "description-too-long": description("It fills little jilted tills. " * 6),
    "description-too-short": description("Dark rye bread with a crust."),
    "description-outside-head": to_body(DESCRIPTION_TAG),
    "description-same-as-title": description(TITLE),
    "meta-keywords-present": head('<meta name="keywords" content="bread, rye">'),
    "canonical-missing": Change(CANONICAL, ""),
    "canonical-multiple": head(CANONICAL),
    "canonical-conflicting": head(f'<link rel="canonical" href="{HOST}/other">'),
    "canonical-relative": Change(CANONICAL, '<link rel="canonical" href="/bread/rye">'),
    "canonical-fragment": Change(CANONICAL, f'<link rel="canonical" href="{URL}#top">'),
    "canonical-invalid": Change(CANONICAL, '<link rel="canonical" href="file:///srv/rye.html">'),
    "canonical-outside-head": to_body(CANONICAL),
    "canonical-header-mismatch": header("Link", f'<{HOST}/other>; rel="canonical"'),
    "canonicalised": Change(CANONICAL + ALTERNATES, f'<link rel="canonical" href="{HOST}/bread">'),
    "canonical-to-other-host": Change(CANONICAL + ALTERNATES, '<link rel="canonical" href="https://test.example/bread/rye">'),
    "canonical-with-noindex": Change(
        CANONICAL + ALTERNATES, f'<link rel="canonical" href="{HOST}/bread"><meta name="robots" content="noindex">'
    ),
    "canonical-to-http": Change(CANONICAL + ALTERNATES, f'<link rel="canonical" href="http{URL[5:]}">'),
    "pagination-multiple": Change(NEXT, f'{NEXT}<link rel="next" href="/keeping">'),
    "pagination-to-self": Change(NEXT, f'<link rel="next" href="{URL}">'),
    "pagination-not-in-anchor": Change(NEXT, '<link rel="next" href="/bread/corn">'),
    "directive-noindex": robots("noindex"),
    "directive-nofollow": robots("nofollow"),
    "directive-none": header("X-Robots-Tag", "none"),
    "directive-noarchive": robots("noarchive"),
    "directive-nosnippet": robots("nosnippet"),
    "directive-noimageindex": robots("noimageindex"),
    "directive-notranslate": robots("notranslate"),
    "directive-unavailable-after": header("X-Robots-Tag", "unavailable_after: Wed, 03 Dec 2031 13:09:53 GMT"),
    "directive-conflicting": robots("index, noindex"),
    "directive-outside-head": body('<meta name="robots" content="max-snippet:50">'),
    "directive-unknown": robots("no-index"),
    "hreflang-invalid-code": head(f'<link rel="alternate" hreflang="en-UK" href="{HOST}/uk">'),
    "hreflang-missing-self": Change(ALTERNATES, ALTERNATES.replace(URL, f"{HOST}/bread")),
    "hreflang-missing-x-default": Change(DEFAULT, ""),
    "hreflang-multiple": head(f'<link rel="alternate" hreflang="de" href="{HOST}/de/brot">'),
    "hreflang-not-canonical": Change(CANONICAL, f'<link rel="canonical" href="{HOST}/bread">'),
    "hreflang-outside-head": to_body(DEFAULT),
    "hreflang-relative": head('<link rel="alternate" hreflang="fr" href="/fr/pain/seigle">'),
    "hreflang-lang-mismatch": Change('<html lang="en">', '<html lang="fr">'),
}
BODIES = {
    "h1-missing": Change(H1, ""),
    "h1-empty": Change(H1, "<h1> </h1>"),
    "h1-multiple": body("<h1>Another heading</h1>"),
    "h1-too-long": Change(H1, f"<h1>{PROSE[:90]}</h1>"),
    "h1-image-only": Change(H1, '<h1><img src="/rye.svg" alt="Rye bread" width="9" height="9"></h1>'),
    "h2-missing": Change("<h2>How to keep it</h2>", f"<p>{PROSE * 10}</p>"),
    "headings-nonsequential": Change("<h2>How to keep it</h2>", "<h3>How to keep it</h3>"),
    "heading-empty": body("<h2></h2>"),
    "content-empty": Change(MAIN[6:-7], ""),
    "content-needs-javascript": Change(MAIN, '<div id="root"></div>'),
    "content-thin": Change(PROSE, PROSE[:250]),
    "content-lorem-ipsum": body("<p>Lorem ipsum dolor sit amet.</p>"),
    "content-soft-404": Change(
        MAIN, f'<main>{H1.replace("Rye bread", "Page not found")}<p>Try the <a href="/">start</a>.</p></main>'
    ),
    "content-placeholder": Change(MAIN, f"<main>{H1}<p>Coming soon!</p></main>"),
    "content-text-ratio-low": body(f"<p {'data-x=y ' * 7000}></p>"),
    "image-alt-missing": body('<img src="/a.jpg" width="1" height="1">'),
    "image-alt-too-long": body(f'<img src="/a.jpg" width="1" height="1" alt="{PROSE[:120]}">'),
    "image-alt-file-name": body('<img src="/a.jpg" width="1" height="1" alt="IMG_2041.jpg">'),
    "image-size-missing": body('<img src="/a.jpg" alt="A loaf">'),
    "image-link-without-text": body('<a href="/a"><img src="/a.jpg" width="1" height="1" alt=""></a>'),
    "image-source-missing": body('<img alt="A loaf" width="1" height="1">'),
    "picture-without-img": body('<picture><source srcset="/a.webp"></picture>'),
    "links-no-outgoing": Change(
        HEALTHY[HEALTHY.index("<body>") :], f"<body><main>{H1}<p>{PROSE}</p></main></body></html>", more=((NEXT, ""),)
    ),
    "links-too-many": body("".join(f'<a href="/loaf/{n}">Loaf {n}</a> ' for n in range(1001))),
    "links-external-too-many": body("".join(f'<a href="https://shop{n}.example/">Shop {n}</a> ' for n in range(101))),
    "link-without-text": body('<a href="/a"><i></i></a>'),
    "link-generic-text": body('<a href="/a">Click here</a>'),
    "link-internal-nofollow": body('<a href="/a" rel="nofollow">Loaves</a>'),
    "link-javascript": body('<a href="javascript:order()">Order now</a>'),
    "link-localhost": body('<a href="http://localhost:3000/a">Preview of the loaf</a>'),
    "link-to-http": body('<a href="http://bakery.example/a">Loaves</a>'),
    "link-malformed": body('<a href="http://http://mill.example/">The mill</a>'),
    "link-broken-bookmark": body('<a href="#recipe">Recipe</a>'),
    "structured-data-parse-error": Change('"name": "Rye bread",\n', '"name": "Rye bread"\n'),
    "structured-data-without-context": Change('"@context": "https://schema.org", ', ""),
    "structured-data-required-missing": Change('"name": "Rye bread",', ""),
    "structured-data-invalid-value": Change('"4.80"', '"4,80 €"'),
}
SAFETY = {
    "security-hsts-missing": header("Strict-Transport-Security", None),
    "security-hsts-short": header("Strict-Transport-Security", "max-age=3600"),
    "security-csp-missing": Change(headers=(("Content-Security-Policy", None), ("X-Frame-Options", "DENY"))),
    "security-content-type-options-missing": header("X-Content-Type-Options", None),
    "security-frame-options-missing": header("Content-Security-Policy", "default-src 'self'"),
    "security-referrer-policy-missing": header("Referrer-Policy", None),
    "mixed-content-active": body('<script src="http://cdn.example/a.js"></script>'),
    "mixed-content-passive": Change("/rye.jpg", "http://cdn.example/rye.jpg"),
    "form-insecure-action": Change('action="/order"', 'action="http://orders.example/"'),
    "form-on-http-page": http(),
    "password-on-http-page": http('<input name="loaves">', '<input type="password">'),
    "protocol-relative-resource": Change("/rye.jpg", "//cdn.example/rye.jpg"),
    "server-version-leaked": header("Server", "nginx/1.18.0"),
    "cookie-not-secure": header(COOKIE, "session=1; HttpOnly; SameSite=Lax"),
    "cookie-not-http-only": header(COOKIE, "session=1; Secure; SameSite=Lax"),
    "cookie-without-same-site": header(COOKIE, "session=1; Secure; HttpOnly"),
    "html-doctype-missing": Change("<!doctype html>\n", ""),
    "html-lang-missing": Change('<html lang="en">', "<html>"),
    "html-lang-invalid": Change('<html lang="en">', '<html lang="english-please-thanks">'),
    "html-charset-missing": Change('<meta charset="utf-8">', "", (("Content-Type", "text/html"),)),
    "html-charset-late": Change(
        '<meta charset="utf-8">', f'<!-- {"-" * 1100} --><meta charset="utf-8">', (("Content-Type", "text/html"),)
    ),
    "html-duplicate-ids": body('<p id="story"></p>'),
    "html-deprecated-elements": body("<center>Fresh!</center>"),
    "html-viewport-missing": Change(VIEWPORT, ""),
    "html-viewport-no-zoom": Change(VIEWPORT, VIEWPORT.replace("initial-scale=1", "user-scalable=no")),
    "html-multiple-heads": Change("</head>", "</head><head></head>"),
    "html-multiple-bodies": Change("</main>", "</main><body>"),
    "html-invalid-elements-in-head": head("<div></div>"),
    "ttfb-slow": Change(ttfb=1.5),
    "html-too-large": body(f"<p>{(PROSE + ' ') * 1500}</p>"),
    "text-uncompressed": header("Content-Encoding", None),
    "resources-too-many": head("".join(f'<link rel="stylesheet" href="/{n}.css">' for n in range(50))),
    "scripts-render-blocking": head("".join(f'<script src="/{n}.js"></script>' for n in range(3))),
    "caching-headers-missing": header("Cache-Control", None),
    "inline-code-too-large": body(f"<script>{'x = 1;' * 20_000}</script><p>{(PROSE + ' ') * 20}</p>"),
    "dom-too-large": body("<p>Rye <b>bread</b>.</p>" * 5_000),
}
TRIGGERS: dict[str, Change] = {**RESPONSES, **URLS, **HEADS, **BODIES, **SAFETY}

# Some faults never come alone: what else is found with them.
COMPANIONS: dict[str, set[str]] = {
    "canonical-with-noindex": {"directive-noindex"},
    "directive-conflicting": {"directive-noindex"},
    "form-on-http-page": {"url-http"},
    "hreflang-not-canonical": {"canonicalised"},
    "password-on-http-page": {"url-http", "form-on-http-page"},
}
