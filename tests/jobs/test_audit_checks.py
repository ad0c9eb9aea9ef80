"""Every page check finds what it is for, on a page where nothing else is wrong; and nothing on a page with nothing wrong."""

from __future__ import annotations

import json
import pickle
import re

import pytest

from tadoru.errors import ConfigError
from tadoru.i18n.translation import translator
from tadoru.jobs.audit.catalogue import PAGE_CHECKS, CheckCatalogue
from tadoru.jobs.audit.context import CheckGroup, Limits, PageContext
from tadoru.model.finding import Check, Finding, Severity
from tests.browser.rendered_site import TWINS
from tests.jobs.audit_pages import HEALTHY, Change, body, findings, head, header, response_to
from tests.jobs.audit_triggers import COMPANIONS, H1, TITLE_TAG, TRIGGERS, description, title

CHECKS = CheckCatalogue().checks
JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


def found(change: Change, limits: dict[str, float] | None = None) -> set[str]:
    return {finding.check_id for finding in findings(change, limits)}


def the(check_id: str, change: Change) -> Finding:
    return next(finding for finding in findings(change) if finding.check_id == check_id)


def test_a_healthy_page_yields_no_finding_of_any_kind() -> None:
    assert findings(Change()) == []


@pytest.mark.parametrize("check_id", sorted(TRIGGERS))
def test_a_page_with_one_fault_yields_that_finding_and_no_other(check_id: str) -> None:
    assert found(TRIGGERS[check_id]) == {check_id} | COMPANIONS.get(check_id, set())


@pytest.mark.parametrize("check_id", sorted(TRIGGERS))
def test_a_check_yields_one_finding_for_a_page_and_names_it(check_id: str) -> None:
    change = TRIGGERS[check_id]
    mine = [finding for finding in findings(change) if finding.check_id == check_id]
    assert [finding.url for finding in mine] == [change.url]


def test_every_check_of_the_catalogue_has_a_page_that_triggers_it() -> None:
    # Those of rendering have their pages in `tests/browser/rendered_site.py`.
    assert set(TRIGGERS) | set(TWINS) == {check.id for check in CHECKS.values() if not check.merged_into}


def test_there_are_enough_checks() -> None:
    assert len(CHECKS) >= 120


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_check_is_fully_described_in_both_languages(check: Check) -> None:
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", check.id)
    assert check.group
    assert check.severity in Severity
    english, japanese = translator("en").check(check), translator("ja").check(check)
    for text in english:
        assert text
        assert not JAPANESE.search(text)
    assert all(japanese)
    for text in english[1:]:
        assert text.endswith(".")
    for text in japanese[1:]:
        assert JAPANESE.search(text)
        assert text.endswith(("。", "。)"))
    assert not english.title.endswith(".")


def test_no_two_checks_have_the_same_title() -> None:
    for language in ("en", "ja"):
        titles = [translator(language).check(check).title for check in CHECKS.values()]
        assert len(set(titles)) == len(titles)


def test_ids_are_unique_and_every_group_is_in_the_catalogue() -> None:
    ids = [check.id for group in PAGE_CHECKS for check in group.checks]
    assert len(ids) == len(set(ids)) == len(CHECKS)


# ---------------------------------------------------------------------------------------------------------------------
# The same faults, where they are none.

HARMLESS = {
    "an empty alt text of a decoration": body('<img src="/a.png" alt="" width="1" height="1">'),
    "an image hidden from screen readers": body('<img src="/a.png" aria-hidden="true" width="1" height="1">'),
    "an icon link with a label": body('<a href="/cart" aria-label="Cart"><svg></svg></a>'),
    "a linked image with alt text": body('<a href="/a"><img src="/a.png" alt="Loaf" width="1" height="1"></a>'),
    "an inline image": body('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="">'),
    "a heading with a permalink sign": body('<h2>Crust<a href="#story">¶</a></h2>'),
    "a sidebar with headings of its own": body("<aside><h5>News</h5></aside>"),
    "the title of a drawing": body("<svg><title>A loaf</title></svg>"),
    "a word about 404 in a long page": body("<h2>404 Not Found</h2>"),
    "a body tag in a script": body('<script>document.write("<body><head></head>")</script>'),
    "a body tag in a comment": body("<!-- <body> -->"),
    "a link to the top": body('<a href="#top">To the top</a> <a href="#">Up again</a>'),
    "a fragment for a script": body('<a href="#!/loaf/1">Loaf</a> <a href="#page=2">Two</a>'),
    "an external link over http": body('<a href="http://mill.example/">The mill</a>'),
    "an external link with nofollow": body('<a href="https://mill.example/" rel="nofollow">The mill</a>'),
    "a mail link without text": body('<a href="mailto:a@bakery.example"></a>'),
    "a canonical over http elsewhere in a header": header("Link", "</style.css>; rel=preload; as=style"),
    "directives with values": head('<meta name="robots" content="index, follow, max-snippet:-1, max-image-preview:large">'),
    "a directive for another crawler": header("X-Robots-Tag", "otherbot: noindex"),
    "a frame policy in the older header": Change(
        headers=(("Content-Security-Policy", "default-src 'self'"), ("X-Frame-Options", "SAMEORIGIN"))
    ),
    "a policy in the page": Change(
        "</head>",
        '<meta http-equiv="Content-Security-Policy" content="default-src https:"><meta name="referrer" content="origin"></head>',
        (("Content-Security-Policy", None), ("Referrer-Policy", None), ("X-Frame-Options", "DENY")),
    ),
    "a cookie that scripts must read": header("Set-Cookie", "XSRF-TOKEN=1; Secure; SameSite=Strict"),
    "a cookie being removed": header("Set-Cookie", "session=; Max-Age=0"),
    "a repeated number in the path": Change(url="https://bakery.example/tiles/1/1/1"),
    "a thing within a thing of its name": Change(url="https://bakery.example/bread/bread/rye"),
    "a product with a reference by id": head(
        '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Article", "headline": "Rye",'
        '"author": {"@type": "Person", "@id": "#ada"}}</script>'
    ),
    "a page of a show that goes on after a while": head('<meta http-equiv="refresh" content="60; url=/bread">'),
    "an id with escapes": body("""<h2 id="impl-%3C'a%3E">Crust</h2><a href="#impl-%3C'a%3E">Crust</a>"""),
    "a page that refreshes itself": head('<meta http-equiv="refresh" content="300">'),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_looks_like_a_fault_is_none(name: str) -> None:
    assert found(HARMLESS[name]) == set()


def test_a_page_kept_out_of_the_index_is_not_checked_by_its_words() -> None:
    change = Change(
        "<title>Rye bread from a stone oven | Village bakery</title>", "<title>Rye</title><meta name=robots content=noindex>"
    )
    assert found(change) == {"directive-noindex"}


def test_an_error_page_is_not_checked_by_its_head() -> None:
    change = Change("<title>Rye bread from a stone oven | Village bakery</title>", "", status=404)
    assert found(change) == {"response-client-error"}


def test_a_page_that_only_sends_on_is_not_checked_by_its_words() -> None:
    markup = '<title>Moved</title><meta http-equiv="refresh" content="0;url=/bread">'
    change = Change("<title>Rye bread from a stone oven | Village bakery</title>", markup)
    assert found(change) == {"redirect-meta-refresh"}


def test_japanese_titles_are_measured_by_their_width() -> None:
    tag = "<title>Rye bread from a stone oven | Village bakery</title>"
    assert found(Change(tag, "<title>石窯で焼くライ麦パン｜村のパン屋</title>")) == set()
    assert found(Change(tag, f"<title>{'石窯で焼くライ麦パン' * 4}</title>")) == {"title-too-long"}


@pytest.mark.parametrize(
    "text",
    [
        "Page not found",
        "404 Not Found",
        "Error 404",
        "ページが見つかりません",
        "Sorry, this page does not exist",
        "The page can’t be found",
        "We couldn’t find that page",
        "This page doesn’t exist",
        "The page you are looking for is not available",
        "No such page",
        "Seite nicht gefunden",
        "Page introuvable",
        "Página no encontrada",
        "Página não encontrada",
        "Pagina non trovata",
        "Pagina niet gevonden",
        "Sidan hittades inte",
        "Страница не найдена",
        "页面不存在",
        "페이지를 찾을 수 없습니다",
        "This page no longer exists",
        "Oops! That page can’t be found.",
        "Sorry, we can't find the page you're looking for",
        "We couldn’t find what you’re looking for",
        "Whoops, nothing here",
        "This page isn’t available",
        "This page isn't here anymore",
        "The requested URL was not found on this server",
        "Sorry, the page you requested was not found",
        "Page does not exist",
        "This content is no longer available",
        "This product is no longer available",
        "Hmm, we can't find that page",
        "404 – File or directory not found",
        "404 error page",
        "HTTP 404",
        "Not Found",
        "Page Not Found | Example",
        "お探しのページは見つかりませんでした",
        "ページが見つかりませんでした",
        "指定されたページは存在しません",
        "ご指定のページが見つかりません",
        "このページは削除されました",
        "404エラー",
        "Die Seite wurde nicht gefunden",
        "Diese Seite existiert nicht",
        "Seite nicht verfügbar",
        "Die angeforderte Seite konnte nicht gefunden werden",
        "Hoppla! Diese Seite gibt es nicht (mehr)",
        "Page non trouvée",
        "Cette page n’existe pas",
        "Oups ! La page que vous cherchez est introuvable",
        "La page demandée n'a pas été trouvée",
        "Erreur 404",
        "La página que buscas no existe",
        "No se ha encontrado la página",
        "No encontramos la página que buscas",
        "Error 404: página no disponible",
        "La pagina che cerchi non esiste",
        "La pagina richiesta non è disponibile",
        "Impossibile trovare la pagina",
        "A página que você procura não existe",
        "A página não foi encontrada",
        "Não encontramos a página",
        "Deze pagina bestaat niet",
        "De pagina kon niet worden gevonden",
        "Oeps, deze pagina is niet beschikbaar",
        "页面未找到",
        "您访问的页面不存在",
        "找不到该页面",
        "抱歉，找不到您要访问的页面",
        "網頁不存在",
        "无法找到该网页",
        "요청하신 페이지가 존재하지 않습니다",
        "존재하지 않는 페이지입니다",
        "Sidan kunde inte hittas",
    ],
)
def test_a_missing_page_by_any_wording(text: str) -> None:
    assert "content-soft-404" in found(Change(TRIGGERS["content-soft-404"].find, f"<main><h1>{text}</h1></main>"))


@pytest.mark.parametrize(
    "text",
    [
        "Lost and found",
        "Our 404 Main Street store",
        "Die Seite des Monats",
        "La page du produit",
        "ページの作り方",
        "페이지 안내",
    ],
)
def test_a_page_whose_words_only_remind_of_a_missing_one(text: str) -> None:
    assert "content-soft-404" not in found(Change(TRIGGERS["content-soft-404"].find, f"<main><h1>{text}</h1></main>"))


@pytest.mark.parametrize("text", ["<p>Under construction</p>", "<p>このページは準備中です。</p>"])
def test_a_page_that_is_not_there_yet(text: str) -> None:
    change = Change(TRIGGERS["content-placeholder"].find, f"<main><h1>Bread</h1>{text}</main>")
    assert found(change) == {"content-placeholder"}


@pytest.mark.parametrize("text", ["これはダミーテキストです。", "<b>パン</b> Lorem ipsum dolor sit amet"])
def test_dummy_text_on_a_page_with_japanese(text: str) -> None:
    assert found(body(f"<p>{text}</p>")) == {"content-lorem-ipsum"}


@pytest.mark.parametrize(
    "markup, expected",
    [
        pytest.param("<pre><code>wrap('Lorem ipsum dolor sit amet')</code></pre>", set(), id="in an example"),
        pytest.param("<p>Try <code>lorem ipsum dolor</code> and see.</p>", set(), id="in code within a line"),
        pytest.param(
            "<pre><code>Lorem ipsum dolor</code></pre><p>Lorem ipsum dolor sit amet.</p>", {"content-lorem-ipsum"}, id="beside it"
        ),
    ],
)
def test_dummy_text_in_code_is_an_example(markup: str, expected: set[str]) -> None:
    assert found(body(markup)) == expected


def test_a_path_that_a_relative_link_makes_longer_for_ever_is_repetitive_from_its_second_segment_on() -> None:
    longer = Change("</main>", '<p><a href="bread/rye">More bread</a></p></main>', url="https://bakery.example/bread/bread/rye")
    assert "url-repetitive-path" in found(longer)


def test_the_index_of_a_book_may_be_called_index() -> None:
    named = HEALTHY.replace(TITLE_TAG, "<title>Index</title>")
    assert "title-placeholder" in found(Change(HEALTHY, named))
    assert "title-placeholder" not in found(Change(HEALTHY, named.replace(H1, "<h1>Index</h1>")))


# ---------------------------------------------------------------------------------------------------------------------
# Evidence, thresholds and the door for others.


def test_a_finding_carries_its_evidence() -> None:
    assert the("image-alt-missing", TRIGGERS["image-alt-missing"]).detail == "/a.jpg"
    assert the("title-too-short", TRIGGERS["title-too-short"]).data == {"length": 16, "limit": 20}
    assert the("server-version-leaked", TRIGGERS["server-version-leaked"]).detail == "server: nginx/1.18.0"
    assert the("structured-data-required-missing", TRIGGERS["structured-data-required-missing"]).detail == "Product.name"
    assert the("link-broken-bookmark", TRIGGERS["link-broken-bookmark"]).data == {"count": 1, "examples": ("#recipe",)}


def test_many_places_on_one_page_are_one_finding_with_a_few_examples() -> None:
    many = the("image-alt-missing", body("".join(f'<img src="/{n}.jpg" width="1" height="1">' for n in range(30))))
    assert many.data == {"count": 30, "examples": ("/0.jpg", "/1.jpg", "/2.jpg", "/3.jpg", "/4.jpg")}


def test_findings_travel_between_processes_and_into_a_database() -> None:
    sent = findings(TRIGGERS["image-alt-missing"])
    assert pickle.loads(pickle.dumps(sent)) == sent
    assert json.loads(json.dumps(dict(sent[0].data))) == {"count": 1, "examples": ["/a.jpg"]}


def test_a_threshold_can_be_set() -> None:
    assert found(TRIGGERS["title-too-short"], {"title-too-short": 10}) == set()
    assert found(Change(), {"title-too-long": 30}) == {"title-too-long"}


def test_a_title_or_description_that_is_too_wide_is_too_long() -> None:
    wide = title("WHOLEMEAL WORKSHOP WITH MOM, WWW.MUM.EXAMPLE")
    assert found(wide) == {"title-too-long"}
    assert found(wide, {"title-too-wide": 900}) == set()
    text = "WE MAKE WHOLEMEAL WONDERS WITH WARM MILK AND MUCH MORE FOR EVERYONE. " + "MMMM WWWW " * 5
    assert found(description(text)) == {"description-too-long"}
    assert found(description(text), {"description-too-wide": 2000}) == set()


def test_checks_of_spelling_are_off_by_default() -> None:
    context = PageContext(url="https://bakery.example/Rye_Bread", limits=Limits(CHECKS.values()), answer=response_to(Change()))
    assert {finding.check_id for finding in CheckCatalogue().run(context)}.isdisjoint({"url-underscores", "url-uppercase"})
    assert {"url-underscores", "url-uppercase"}.isdisjoint(check.id for check in CheckCatalogue().page_checks)


def test_a_page_on_this_machine_needs_no_https() -> None:
    hosts = ("127.0.0.1:8000", "localhost", "docs.localhost:8080", "[::1]:9000", "127.0.0.1.example")
    served = [host for host in hosts if "url-http" in found(Change(url=f"http://{host}/bread/rye"))]
    assert served == ["127.0.0.1.example"]


def test_an_article_with_a_body_only_lacks_nothing() -> None:
    article = '<div itemscope itemtype="http://schema.org/Article"><div itemprop="articleBody">Rye</div></div>'
    assert found(body(article)) == set()


def test_a_threshold_of_an_unknown_check_is_refused() -> None:
    with pytest.raises(ConfigError, match="title-to-long"):
        Limits(CHECKS.values(), {"title-to-long": 3})


def test_a_check_of_a_third_party_runs_with_the_others() -> None:
    own = Check("rye-only", "bread", Severity.INFO, *(CHECKS["title-missing"].title,) * 3)
    catalogue = CheckCatalogue([CheckGroup((own,), lambda context: iter([own.on(context.url, "rye")]))])
    context = PageContext(url="https://bakery.example/", limits=Limits(catalogue.checks.values()))
    assert catalogue.checks["rye-only"] is own
    assert list(catalogue.run(context)) == [Finding("rye-only", "https://bakery.example/", "rye")]


def test_two_checks_with_one_id_are_refused() -> None:
    again = CheckGroup((CHECKS["title-missing"],), lambda context: iter(()))
    with pytest.raises(ConfigError, match="title-missing"):
        CheckCatalogue([again])
