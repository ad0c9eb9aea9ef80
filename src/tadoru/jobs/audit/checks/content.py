"""Checks of the text of a page: too little of it, placeholder text, soft 404s."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding, Threshold
from tadoru.model.web import LinkKind
from tadoru.parse.page import SAMPLE_TEXT, PageView

_define = CheckDefinitions("content")

EMPTY = _define.error(
    "content-empty",
    title=N_("Empty page"),
    why=N_("Apart from navigation, the page has no text to read or to index."),
    fix=N_("Add content or remove the page."),
)
NEEDS_SCRIPT = _define.warning(
    "content-needs-javascript",
    title=N_("Content requires JavaScript"),
    why=N_("The HTML is an empty shell that scripts fill. Crawlers that do not run scripts see nothing."),
    fix=N_("Render the page on the server. To audit what browsers see, crawl with --render."),
)
THIN = _define.notice(
    "content-thin",
    title=N_("Thin content"),
    why=N_("Pages with little text of their own rarely satisfy a search query and may rank poorly."),
    fix=N_("Add useful content, or merge the page with a related one."),
    threshold=Threshold(100, "words, two Chinese or Japanese characters counted as one"),
)
LOREM_IPSUM = _define.warning(
    "content-lorem-ipsum",
    title=N_("Placeholder text (lorem ipsum)"),
    why=N_("Placeholder text was left on the page."),
    fix=N_("Replace it with the real text."),
)
SOFT_404 = _define.warning(
    "content-soft-404",
    title=N_("Soft 404"),
    why=N_('The page displays a "not found" message but returns a success status, so it stays in search results.'),
    fix=N_("Return status 404 or 410."),
)
PLACEHOLDER = _define.notice(
    "content-placeholder",
    title=N_("Page under construction"),
    why=N_('The page contains nothing but a "coming soon" notice.'),
    fix=N_("Publish the page when it is ready, or set it to noindex until then."),
)
LOW_RATIO = _define.info(
    "content-text-ratio-low",
    title=N_("Low text-to-HTML ratio"),
    why=N_("Almost all of the page is markup. It loads slowly, and the code may be bloated."),
    fix=N_("Remove unused markup, inline styles and inline scripts."),
    threshold=Threshold(2, "percent"),
)

_THING = r"(?:page|file|directory|document|resource|article|product|item|content|url|link)"
_NOT = r"(?:could\s+not|couldn't|cannot|can\s+not|can't)"
_GAP = r"(?:\s++[\w']++){0,5}?\s++"
"""Up to five words between two others."""
_NOT_FOUND = re.compile(
    "|".join(
        (
            rf"\b{_THING}(?:{_GAP}(?:was|is|has\s+been))?\s+not\s+(?:be\s+)?(?:found|available)\b",
            rf"\b{_THING}{_GAP}{_NOT}\s+be\s+(?:found|displayed)\b",
            rf"\b{_THING}\s+(?:does\s+not|doesn't|no\s+longer)\s+exists?\b|\bno\s+such\s+{_THING}\b",
            rf"\b{_THING}\s+isn't\s+(?:available|here|found)\b|^\W*+(?:(?:whoops|oops)\W*+)?nothing\s+here\b",
            rf"\b(?:we|i)\s+{_NOT}\s+(?:seem\s+to\s+)?find\s+(?:the|that|this|your)\s+page\b",
            rf"\b(?:we|i)\s+{_NOT}\s+find\s+what\s+you(?:'re|\s+are|\s+were)\s+looking\s+for\b",
            rf"\b{_THING}\s+(?:is\s+)?(?:missing|gone|no\s+longer\s+available)\b|\bnothing\s+(?:was\s+)?found\s+here\b",
            r"^\W*(?:http\s+|error\s+|erreur\s+|fehler\s+|errore\s+|erro\s+|fout\s+)?404\b(?:\W+error(?:\s+page)?)?\W*(?:$|(?:\w+\s+){0,3}?not\s+found)",
            r"^\W*(?:404\W+)?not\s+found\W*$|^\W*404\s*エラー",
            rf"\bseite{_GAP}nicht\s+(?:mehr\s+)?(?:gefunden|verfügbar)\b",
            r"\bseite\s+(?:existiert|gibt\s+es)\s+(?:leider\s+)?nicht\b",
            rf"\bpage(?:{_GAP}est)?\s+(?:introuvable|non\s+trouvée|indisponible)\b|\bpage\s+n'existe\s+(?:pas|plus)\b",
            r"\bpage(?:\s+\w+)?\s+n'a\s+pas\s+été\s+trouvée\b",
            rf"\bpágina{_GAP}(?:no|não)\s+(?:fue\s+|foi\s+|está\s+)?(?:encontrada|existe|disponible|disponível)\b",
            r"\b(?:no\s+se\s+ha\s+encontrado|no\s+encontramos|no\s+se\s+encontró|não\s+encontramos)\s+(?:la|a|esta)\s+página\b",
            rf"\bpagina{_GAP}non\s+(?:è\s+stata\s+|è\s+)?(?:trovata|disponibile|esiste)\b|\bimpossibile\s+trovare\s+la\s+pagina\b",
            r"\bpagina\s+(?:kon\s+|is\s+|bestaat\s+)?niet(?:\s+(?:worden\s+)?(?:gevonden|beschikbaar|meer)\b|\W*$)",
            r"\bsidan\s+(?:kunde\s+inte\s+hittas|hittades\s+inte)\b|\bstrona\s+nie\s+(?:została\s+znaleziona|istnieje)\b",
            r"\bстраница\s+не\s+(?:найдена|существует)",
            r"(?:页面|頁面|网页|網頁)(?:不存在|未找到|找不到|已删除)|(?:找不到|无法找到|無法找到)[^，。,.!！]{0,8}(?:页面|頁面|网页|網頁)",
            r"페이지를\s*찾을\s*수\s*없|페이지가\s*(?:존재하지\s*않|없습니다)|존재하지\s*않는\s*페이지",
            r"ページ[がは]?見つかりません|ページ[がは](?:存在しません|ありません|削除されました)|お探しのページ|存在しないページ",
        )
    ),
    re.IGNORECASE,
)
"""The apostrophes of a name are straightened before."""
_MAX_NOT_FOUND_WORDS = 150
"""In words. A page about errors is longer than an error page."""
_MAX_PLACEHOLDER_WORDS = 60
_CONSTRUCTION = re.compile(r"\bcoming soon\b|\bunder construction\b|工事中|準備中|近日公開", re.IGNORECASE)
_DUMMY = (SAMPLE_TEXT + b" dolor", "これはダミーテキスト".encode(), "テキストが入ります".encode())


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    text = _searchable_text(page)
    dummies = _DUMMY if page.content.characters else _DUMMY[:1]
    # In code it is an example, as in the documentation of string functions.
    if dummy := next((dummy for dummy in dummies if text.count(dummy) > page.code.count(dummy)), None):
        yield LOREM_IPSUM.on(page.url, dummy.decode())
    if context.is_indexable:
        yield from _check_amount(context, page)


def _searchable_text(page: PageView) -> bytes:
    """The normalised text. If it contains Japanese, it is repeated without the spaces between characters."""
    normal = page.content.normal
    return normal if page.content.characters < 2 else normal + b" " + normal.replace(b" ", b"")


def _check_amount(context: PageContext, page: PageView) -> Iterator[Finding]:
    words = page.content.words
    names = " | ".join(filter(None, (page.head.title, *(heading.text for heading in page.headings if heading.level == 1))))
    if page.app_root and words < 20 and _has_scripts(context, page):
        yield NEEDS_SCRIPT.on(page.url, page.app_root, words=words)
    elif not words and not page.images:
        yield EMPTY.on(page.url)
    elif words < _MAX_NOT_FOUND_WORDS and any(_NOT_FOUND.search(name) for name in names.replace("’", "'").split(" | ")):
        yield SOFT_404.on(page.url, names, words=words)
    elif words < _MAX_PLACEHOLDER_WORDS and _CONSTRUCTION.search(f"{names} {_searchable_text(page).decode('utf-8', 'replace')}"):
        yield PLACEHOLDER.on(page.url, names, words=words)
    elif words < (limit := context.limits[THIN]):
        yield THIN.on(page.url, words=words, limit=limit)
    percent = round(100 * page.text_share, 1)
    if percent < (limit := context.limits[LOW_RATIO]) and words and page.size > 20_000:
        yield LOW_RATIO.on(page.url, f"{percent} %", percent=percent, limit=limit)


def _has_scripts(context: PageContext, page: PageView) -> bool:
    return bool(context.links[LinkKind.SCRIPT]) or page.inline_script_bytes > 0


GROUP = CheckGroup(_define.checks, run)
