"""Which pages are empty without scripts: the shells of the usual frameworks; not short pages that say all they have to say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.web import Response
from tadoru.parse.html import HtmlDocument
from tadoru.parse.page import PageView, read_page
from tadoru.parse.rendering import FEW, needs_rendering
from tadoru.rules.url import UrlResolver

URL = "https://site.example/"
BUNDLE = "<script type=module src=/assets/index-4f2a.js></script>"
TRACKER = (
    "<script async src=https://tags.example/tag.js></script><script>window.q = []; function t() { q.push(arguments) }</script>"
)
TEXT = "word " * FEW


def view(markup: str) -> PageView:
    body = f"<!DOCTYPE html><html lang=en>{markup}".encode()
    response = Response(url=URL, status=200, headers=(("Content-Type", "text/html; charset=utf-8"),), body=body)
    return read_page(HtmlDocument.parse(body, "text/html; charset=utf-8"), response, UrlResolver())


SHELLS = {
    "Create React App": "<title>React App</title><script defer src=/static/js/main.1f.js></script><body>"
    "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
    "Vite": f"<title>Vite + React</title>{BUNDLE}<link rel=stylesheet href=/assets/index.css><body><div id=root></div>",
    "Vue CLI": "<title>shop</title><body><noscript><strong>We're sorry but shop doesn't work properly without JavaScript. "
    "Please enable it to continue.</strong></noscript><div id=app></div><script src=/js/chunk-vendors.js></script>",
    "Angular": "<title>App</title><base href=/><body><app-root></app-root><script src=runtime.js type=module></script>",
    "Next without a server": "<body><div id=__next></div><script id=__NEXT_DATA__ type=application/json>{}</script>",
    "Nuxt without a server": "<body><div id=__nuxt><div>Loading...</div></div><script src=/_nuxt/entry.js></script>",
    "Gatsby": "<body><noscript>This app works best with JavaScript enabled.</noscript><div id=___gatsby></div>"
    "<script>window.pagePath='/'</script>",
    "SvelteKit": "<link rel=modulepreload href=/_app/start.js><body><div style='display: contents'><script>"
    "{ Promise.all([import('/_app/start.js'), import('/_app/app.js')]).then(([kit, app]) => kit.start(app)) }</script></div>",
    "Ember": "<title>Ember</title><body><script src=/assets/vendor.js></script><script src=/assets/app.js></script>",
    "Swagger UI": "<title>API</title><body><div id=swagger-ui></div><script src=./swagger-ui-bundle.js></script>",
    "Redoc": "<title>API</title><body><redoc spec-url=/openapi.yaml></redoc><script src=https://cdn.example/redoc.js></script>",
    "docsify": "<title>Doc</title><body><div id=app>Please wait...</div><script>window.$docsify = {}</script>"
    "<script src=//cdn.example/docsify.js></script>",
    "an unknown one with a message": "<body><noscript>このサイトを利用するには JavaScript を有効にしてください。</noscript>"
    f"<main id=haupt><a href=/>Home</a></main>{BUNDLE}",
    "a menu around an empty middle": f"<body><header><h1>Shop</h1><nav>{'<a href=/x>Tea and more</a>' * 20}</nav></header>"
    f"<div id=app></div><footer>© Shop, all rights reserved {TEXT}</footer>{BUNDLE}",
    "a loading message": f"<body><p>Loading, please wait</p>{BUNDLE}",
}


@pytest.mark.parametrize("markup", SHELLS.values(), ids=SHELLS)
def test_a_shell_needs_a_browser(markup: str) -> None:
    assert needs_rendering(view(markup))


COMPLETE = {
    "an empty page": "<body>",
    "two words": "<body>It works!",
    "a heading and a tracker": f"<title>Soon</title>{TRACKER}<body><h1>Coming soon</h1>",
    "a short text with links": f"{TRACKER}<body><p>We have moved.</p><a href=https://new.example/>Here</a>",
    "a picture with a caption": f"{TRACKER}<body><img src=/a.jpg alt=Tea><p>Tea</p>",
    "a page made on the server": f"<body><div id=__next><h1>Tea</h1><p>{TEXT}</p></div><script src=/_next/main.js></script>",
    "a page made on the server without a heading": f"<body><div id=app><p>{TEXT}</p></div>{BUNDLE}",
    "a long text that mentions scripts": f"<body><noscript>Please enable JavaScript</noscript><p>{TEXT}</p>{BUNDLE}",
    "a form to sign in": f"<body><form action=/login><input name=user><button>Sign in</button></form>{BUNDLE}",
    "a root and no scripts": "<body><div id=root></div>",
    "a refresh": "<meta http-equiv=refresh content='0; url=/next'><body>",
    "Japanese": f"<body><div id=app><p>{'辿る道を辿って行く。' * 10}</p></div>{BUNDLE}",
    "a page of frames": "<frameset><frame src=/a></frameset>",
}


@pytest.mark.parametrize("markup", COMPLETE.values(), ids=COMPLETE)
def test_a_page_that_is_complete_needs_none(markup: str) -> None:
    assert needs_rendering(view(markup)) is None


def test_the_reason_is_said() -> None:
    assert needs_rendering(view(f"<body><div id=root></div>{BUNDLE}")) == "the element “root” is empty until scripts fill it"


@given(st.lists(st.sampled_from([*SHELLS.values(), *COMPLETE.values()]), max_size=3), st.integers(0, 3))
def test_enough_text_is_always_enough(pieces: list[str], headings: int) -> None:
    page = view("".join(pieces) + f"<main><p>{TEXT}</p></main>" + "<h2>x</h2>" * headings)
    if page.content.words >= FEW:
        assert needs_rendering(page) is None
