"""Checks of the hreflang entries of a page. The pages they point to are checked in `site_checks.hreflang`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding
from tadoru.parse.page import PageView
from tadoru.rules.url import canonical

_define = CheckDefinitions("hreflang")

INVALID = _define.error(
    "hreflang-invalid-code",
    title=N_("Invalid hreflang code"),
    why=N_("A code that is not a language, optionally with a region, is ignored."),
    fix=N_("Use codes such as en, en-GB or x-default. The region code of the United Kingdom is GB; uk is Ukrainian."),
)
NO_SELF = _define.warning(
    "hreflang-missing-self",
    title=N_("Missing self-referencing hreflang"),
    why=N_("Each page of a set must list itself as well, or the whole set may be ignored."),
    fix=N_("Add an entry with the language and URL of the page itself."),
)
NO_DEFAULT = _define.info(
    "hreflang-missing-x-default",
    title=N_("Missing x-default hreflang"),
    why=N_("There is no default page for visitors whose language is not listed."),
    fix=N_("Add an x-default entry."),
)
MULTIPLE = _define.warning(
    "hreflang-multiple",
    title=N_("Multiple URLs for one hreflang code"),
    why=N_("The same language code is used with different URLs."),
    fix=N_("Keep one URL for each code."),
)
NOT_CANONICAL = _define.warning(
    "hreflang-not-canonical",
    title=N_("hreflang on non-canonical page"),
    why=N_("The page declares another canonical URL, so its hreflang entries are ignored."),
    fix=N_("Use hreflang only on canonical pages."),
)
OUTSIDE_HEAD = _define.warning(
    "hreflang-outside-head",
    title=N_("hreflang outside <head>"),
    why=N_("Search engines ignore hreflang links in the body."),
    fix=N_("Move the elements into the <head>."),
)
RELATIVE = _define.warning(
    "hreflang-relative",
    title=N_("Relative hreflang URL"),
    why=N_("hreflang requires absolute URLs that include the scheme."),
    fix=N_("Use absolute URLs."),
)
LANG_MISMATCH = _define.notice(
    "hreflang-lang-mismatch",
    title=N_("hreflang and lang mismatch"),
    why=N_("The hreflang entry of the page and its <html lang> name different languages."),
    fix=N_("Use the same language in both."),
)

_CODE = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?")
_LANGUAGES = frozenset(
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo "
    "es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu iw ja jv ka "
    "kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl "
    "nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv "
    "sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu".split()
)
_INVALID_REGIONS = frozenset({"uk", "en", "eu", "ap", "xx", "ja", "zh"})
"""Codes that are mistaken for regions."""


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    in_header = [(link.hreflang, link.url) for link in page.header_links if "alternate" in link.rel and link.hreflang]
    alternates = [*page.head.hreflang, *in_header]
    if not alternates and not page.hreflang_references:
        return
    urls: dict[str, set[str]] = {}
    for code, url in alternates:
        urls.setdefault(code, set()).add(url)
    if invalid := [code for code in urls if not is_valid_code(code)]:
        yield INVALID.among(page.url, invalid)
    if several := [code for code, targets in urls.items() if len(targets) > 1]:
        yield MULTIPLE.among(page.url, several)
    if "hreflang" in page.outside_head:
        yield OUTSIDE_HEAD.on(page.url, page.hreflang_references[0])
    if relative := [one for one in page.hreflang_references if canonical(one) is None and canonical(one, page.url) is not None]:
        yield RELATIVE.among(page.url, relative)
    yield from _check_set(page, urls)


def _check_set(page: PageView, urls: dict[str, set[str]]) -> Iterator[Finding]:
    """Findings about the entries as a set, compared with the page that contains them."""
    if page.head.canonical not in (None, page.url):
        yield NOT_CANONICAL.on(page.url, page.head.canonical or "")
        return
    own = [code for code, targets in urls.items() if page.url in targets]
    if not own:
        yield NO_SELF.on(page.url)
    if "x-default" not in urls:
        yield NO_DEFAULT.on(page.url, ", ".join(urls))
    spoken = (page.head.lang or "").lower().partition("-")[0]
    languages = {code.partition("-")[0] for code in own if code != "x-default"}
    if is_valid_code(spoken) and languages and spoken not in languages:
        yield LANG_MISMATCH.on(page.url, f"{spoken} / {', '.join(sorted(languages))}")


def is_valid_code(code: str) -> bool:
    """Whether a code in lower case is x-default or a language, optionally with a script and a region."""
    if code == "x-default":
        return True
    if not _CODE.fullmatch(code):
        return False
    language, *rest = code.split("-")
    return (len(language) == 3 or language in _LANGUAGES) and not (rest and rest[-1] in _INVALID_REGIONS)


GROUP = CheckGroup(_define.checks, run)
