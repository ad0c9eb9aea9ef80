"""Callouts, footnotes, mathematics and code in the markup of some dozen generators, read as a whole page.

The markup is that of the generators, the text is our own.
"""

from __future__ import annotations

import pytest

from tadoru.jobs.docs.page import read_doc_page
from tadoru.rules.url import UrlResolver
from tests.jobs.docs_markdown.pages import BASE


def body_of(content: str, head: str = "") -> str:
    """The Markdown of a page with this content below its title and first paragraph."""
    page = (
        f"<!doctype html><html><head><title>Tea</title>{head}</head><body><main><h1>Tea</h1>"
        f"<p>How to make tea in pots that hold enough of it.</p>{content}</main></body></html>"
    )
    text = read_doc_page(page.encode(), "text/html; charset=utf-8", BASE, UrlResolver()).markdown.text
    return text.partition("enough of it.\n")[2].strip()


CALLOUTS: dict[str, tuple[str, str]] = {
    "Hugo DoIt": (
        "CAUTION",
        (
            '<div class="details admonition danger open"><div class="details-summary admonition-title"><i class="icon fas '
            'fa-bolt"></i>Danger<i class="details-icon"></i></div><div class="details-content"><div '
            'class="admonition-content">Hot water.</div></div></div>'
        ),
    ),
    "Hugo, folded": (
        "CAUTION",
        '<details class="admonition danger"><summary class="admonition-title">Danger</summary><p>Hot water.</p></details>',
    ),
    "Nextra 4": (
        "CAUTION",
        (
            '<div class="nextra-callout x:overflow-x-auto x:mt-6 x:flex x:rounded-lg x:border x:py-2 x:border-red-200 '
            'x:bg-red-100 x:text-red-900"><div class="x:select-none x:text-xl"><svg></svg></div><div class="x:w-full"><p>Hot '
            "water.</p></div></div>"
        ),
    ),
    "Nextra 3": (
        "WARNING",
        '<div class="nextra-callout nx-mt-6"><div class="select-none">⚠️</div><div><p>Hot water.</p></div></div>',
    ),
    "Nextra 2": (
        "TIP",
        (
            '<div class="overflow-x-auto mt-6 flex rounded-lg border py-2 border-orange-100 bg-orange-50 text-orange-800 '
            'nextra-callout"><div class="select-none text-xl">💡</div><div class="w-full"><p>Hot water.</p></div></div>'
        ),
    ),
    "Obsidian Publish, folded": (
        "WARNING",
        (
            '<div data-callout-metadata="" data-callout-fold="-" data-callout="warning" class="callout is-collapsible '
            'is-collapsed"><div class="callout-title"><div class="callout-icon"><svg></svg></div><div '
            'class="callout-title-inner">Warning</div><div class="callout-fold"></div></div><div class="callout-content" '
            'style="display: none;"><p>Hot water.</p></div></div>'
        ),
    ),
    "Quartz": (
        "CAUTION",
        (
            '<blockquote class="callout danger is-collapsible is-collapsed" data-callout="danger"><div '
            'class="callout-title"><div class="callout-icon"></div><div class="callout-title-inner"><p>Danger</p></div>'
            '</div><div class="callout-content"><p>Hot water.</p></div></blockquote>'
        ),
    ),
    "Mintlify": (
        "WARNING",
        (
            '<div class="callout my-4 px-5 py-4 overflow-hidden rounded-2xl flex gap-3 border border-yellow-200 '
            'bg-yellow-50" data-callout-type="warning"><div class="mt-0.5 w-4"><svg aria-label="Warning"></svg></div><div '
            'class="text-sm prose min-w-0 w-full"><span data-as="p">Hot water.</span></div></div>'
        ),
    ),
    "GitBook, legacy": ("CAUTION", '<div class="hint hint-danger"><p>Hot water.</p></div>'),
    "GitBook": (
        "CAUTION",
        (
            '<div class="px-4 py-4 transition-colors rounded-md hint hint-style-danger"><div class="grid"><svg></svg><p>Hot '
            "water.</p></div></div>"
        ),
    ),
    "Antora": (
        "CAUTION",
        (
            '<div class="admonitionblock caution"><table><tbody><tr><td class="icon"><i class="fa icon-caution" '
            'title="Caution"></i></td><td class="content"><div class="paragraph"><p>Hot water.</p></div></td></tr></tbody>'
            "</table></div>"
        ),
    ),
    "Quarto": (
        "IMPORTANT",
        (
            '<div class="callout callout-style-default callout-important callout-titled"><div class="callout-header d-flex '
            'align-content-center"><div class="callout-icon-container"><i class="callout-icon"></i></div><div '
            'class="callout-title-container flex-fill">Important</div></div><div class="callout-body-container '
            'callout-body"><p>Hot water.</p></div></div>'
        ),
    ),
    "Starlight": (
        "CAUTION",
        (
            '<aside aria-label="Danger" class="starlight-aside starlight-aside--danger"><p class="starlight-aside__title" '
            'aria-hidden="true"><svg></svg>Danger</p><div class="starlight-aside__content"><p>Hot water.</p></div></aside>'
        ),
    ),
    "Docusaurus": (
        "CAUTION",
        (
            '<div class="theme-admonition theme-admonition-danger admonition_xJq3 alert alert--danger"><div '
            'class="admonitionHeading_Gvgb"><span class="admonitionIcon_Rf37"><svg></svg></span>danger</div><div '
            'class="admonitionContent_BuS1"><p>Hot water.</p></div></div>'
        ),
    ),
    "Writerside": ("WARNING", '<aside class="prompt" data-type="warning" data-title=""><p>Hot water.</p></aside>'),
    "Bootstrap": ("CAUTION", '<div class="bd-callout bd-callout-danger"><p>Hot water.</p></div>'),
    "DocFX": ("WARNING", '<div class="WARNING"><p>Warning</p><p>Hot water.</p></div>'),
    "Docsy": (
        "CAUTION",
        '<div class="alert alert-danger" role="alert"><h4 class="alert-heading">Danger</h4><p>Hot water.</p></div>',
    ),
    "mdbook-admonish": (
        "CAUTION",
        (
            '<div id="admonition-default" class="admonition admonish-danger" role="note"><div class="admonition-title"><div>'
            "<p>Danger</p></div></div><div><p>Hot water.</p></div></div>"
        ),
    ),
    "mdBook": (
        "CAUTION",
        (
            '<blockquote class="blockquote-tag blockquote-tag-caution"><p class="blockquote-tag-title"><svg>'
            "</svg>Caution</p><p>Hot water.</p></blockquote>"
        ),
    ),
    "Hugo Book": ("CAUTION", '<blockquote class="book-hint danger"><p>Hot water.</p></blockquote>'),
    "Hextra": (
        "CAUTION",
        (
            '<div class="hextra-callout hx:overflow-x-auto hx:mt-6 hx:flex hx:rounded-lg hx:border hx:py-2 hx:border-red-200 '
            'hx:bg-red-100 hx:text-red-900"><div class="hx:pl-3"><svg></svg></div><div class="hx:w-full"><p>Hot water.</p>'
            "</div></div>"
        ),
    ),
    "MkDocs, folded": ("WARNING", '<details class="warning" open><summary>Warning</summary><p>Hot water.</p></details>'),
    "Fern": ("WARNING", '<div class="fern-callout" data-intent="warning"><p>Hot water.</p></div>'),
    "Radix Themes": ("CAUTION", '<div role="note" data-variant="danger" class="Callout"><p>Hot water.</p></div>'),
    "Confluence": (
        "WARNING",
        (
            '<div class="confluence-information-macro confluence-information-macro-warning"><span class="aui-icon"></span>'
            '<div class="confluence-information-macro-body"><p>Hot water.</p></div></div>'
        ),
    ),
    "Fumadocs": (
        "WARNING",
        (
            '<div class="flex gap-2 my-4 rounded-xl border bg-fd-card p-3" data-callout="true" '
            'style="--callout-color:var(--color-fd-warning, var(--color-fd-muted))"><div role="none" class="w-0.5"></div>'
            '<svg class="lucide size-5 fill-(--callout-color)"></svg><div class="flex flex-col"><p>Hot water.</p></div></div>'
        ),
    ),
}


@pytest.mark.parametrize("mark, content", CALLOUTS.values(), ids=CALLOUTS)
def test_a_callout_keeps_its_kind_and_its_text(mark: str, content: str) -> None:
    assert body_of(content) == f"> [!{mark}]\n> Hot water."
