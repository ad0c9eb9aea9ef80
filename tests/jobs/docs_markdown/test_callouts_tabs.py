"""Callouts of every generator as quotes with a mark, what folds, and tabs with each panel below its label."""

from __future__ import annotations

import pytest

from tests.jobs.docs_markdown.pages import markdown

CALLOUTS: dict[str, tuple[str, str]] = {
    "Sphinx note": (
        '<div class="admonition note"><p class="admonition-title">Note</p><p>Mind it.</p></div>',
        "> [!NOTE]\n> Mind it.",
    ),
    "Sphinx warning": (
        '<div class="admonition warning"><p class="admonition-title">Warning</p><p>Mind it.</p></div>',
        "> [!WARNING]\n> Mind it.",
    ),
    "Sphinx danger": (
        '<div class="admonition danger"><p class="admonition-title">Danger</p><p>Mind it.</p></div>',
        "> [!CAUTION]\n> Mind it.",
    ),
    "Sphinx important": (
        '<div class="admonition important"><p class="admonition-title">Important</p><p>Mind it.</p></div>',
        "> [!IMPORTANT]\n> Mind it.",
    ),
    "Sphinx see also": (
        '<div class="admonition seealso"><p class="admonition-title">See also</p><p>Mind it.</p></div>',
        "> [!NOTE]\n> **See also**\n>\n> Mind it.",
    ),
    "Sphinx own title": (
        '<div class="admonition-read-this admonition"><p class="admonition-title">Read this</p><p>Mind it.</p></div>',
        "> [!NOTE]\n> **Read this**\n>\n> Mind it.",
    ),
    "MkDocs": ('<div class="admonition tip"><p class="admonition-title">Tip</p><p>Mind it.</p></div>', "> [!TIP]\n> Mind it."),
    "MkDocs that folds": (
        '<details class="warning" open><summary>Warning</summary><p>Mind it.</p></details>',
        "> [!WARNING]\n> Mind it.",
    ),
    "Docusaurus": (
        '<div class="theme-admonition theme-admonition-danger admonition_xJq3 alert alert--danger">'
        '<div class="admonitionHeading_Gvgb"><span class="admonitionIcon_Rf37">'
        '<svg></svg></span>danger</div><div class="admonitionContent_BuS1"><p>Mind it.</p></div></div>',
        "> [!CAUTION]\n> Mind it.",
    ),
    "VitePress": (
        '<div class="tip custom-block"><p class="custom-block-title">TIP</p><p>Mind it.</p></div>',
        "> [!TIP]\n> Mind it.",
    ),
    "VuePress": (
        '<div class="custom-block warning"><p class="custom-block-title">Hold on</p><p>Mind it.</p></div>',
        "> [!WARNING]\n> **Hold on**\n>\n> Mind it.",
    ),
    "VitePress details": (
        '<details class="details custom-block"><summary>More</summary><p>Mind it.</p></details>',
        "> [!NOTE]\n> **More**\n>\n> Mind it.",
    ),
    "GitBook": ('<div class="hint hint-info"><p>Mind it.</p></div>', "> [!NOTE]\n> Mind it."),
    "Starlight": (
        '<aside aria-label="Caution" class="starlight-aside starlight-aside--caution">'
        '<p class="starlight-aside__title" aria-hidden="true"><svg></svg>Caution</p>'
        '<div class="starlight-aside__content"><p>Mind it.</p></div></aside>',
        "> [!CAUTION]\n> Mind it.",
    ),
    "GitHub": (
        '<div class="markdown-alert markdown-alert-important"><p class="markdown-alert-title"><svg>'
        "</svg>Important</p><p>Mind it.</p></div>",
        "> [!IMPORTANT]\n> Mind it.",
    ),
    "Asciidoctor": (
        '<div class="admonitionblock warning"><table><tr><td class="icon"><div class="title">Warning</div>'
        '</td><td class="content">Mind it.</td></tr></table></div>',
        "> [!WARNING]\n> Mind it.",
    ),
    "Bootstrap": (
        '<div class="alert alert-warning" role="alert"><h4 class="alert-heading">Warning</h4><p>Mind it.</p></div>',
        "> [!WARNING]\n> Mind it.",
    ),
    "MDN": ('<div class="notecard note"><p>Mind it.</p></div>', "> [!NOTE]\n> Mind it."),
    "DocBook": ('<div class="note"><h3 class="title">Note</h3><p>Mind it.</p></div>', "> [!NOTE]\n> Mind it."),
    "mdBook": ('<div class="warning"><p>Mind it.</p></div>', "> [!WARNING]\n> Mind it."),
    "Doxygen": ('<dl class="section note"><dt>Note</dt><dd>Mind it.</dd></dl>', "> [!NOTE]\n> Mind it."),
    "Nextra": ('<div class="nextra-callout warning"><div>Mind it.</div></div>', "> [!WARNING]\n> Mind it."),
    "the first words are the title": (
        '<div class="admonition note"><p><b>Note: </b>Mind <i>it</i>.</p></div>',
        "> [!NOTE]\n> Mind *it*.",
    ),
    "the first words are the kind": ('<div class="admonition"><p><b>Warning:</b> Mind it.</p></div>', "> [!WARNING]\n> Mind it."),
    "the first words are a part of the sentence": (
        '<div class="note"><p><b>Note that</b> it is hot.</p></div>',
        "> [!NOTE]\n> **Note that** it is hot.",
    ),
    "one inside another": (
        '<div class="admonition note"><p class="admonition-title">Note</p><p>a</p>'
        '<div class="admonition tip"><p class="admonition-title">Tip</p><p>b</p></div></div>',
        "> [!NOTE]\n> a\n>\n> > [!TIP]\n> > b",
    ),
    "with code and a list": (
        '<div class="admonition note"><p class="admonition-title">Note</p><pre>a\n\n b</pre><ul><li>c</li></ul></div>',
        "> [!NOTE]\n> ```\n> a\n>\n>  b\n> ```\n>\n> - c",
    ),
    "an alert without a kind is text": ('<div class="alert"><p>Mind it.</p></div>', "Mind it."),
    "a class that only sounds like one": ('<div class="note-list"><p>Mind it.</p></div>', "Mind it."),
}


@pytest.mark.parametrize("body, expected", CALLOUTS.values(), ids=CALLOUTS)
def test_a_callout_is_a_quote_with_its_mark(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_what_folds_is_written_open_below_its_summary() -> None:
    assert (
        markdown("<details><summary>More <code>x</code></summary><p>a</p><pre>b</pre></details>")
        == "**More `x`**\n\na\n\n```\nb\n```"
    )


def test_a_heading_in_a_summary_stays_a_heading() -> None:
    assert markdown('<details><summary><h3 id="m">More</h3></summary><p>a</p></details>') == "### More\n\na"


TABS: dict[str, str] = {
    "sphinx-design": (
        '<div class="sd-tab-set docutils"><input checked type="radio" id="a">'
        '<label class="sd-tab-label" for="a">One</label><div class="sd-tab-content"><p>first</p></div>'
        '<input type="radio" id="b"><label class="sd-tab-label" for="b">Two</label>'
        '<div class="sd-tab-content"><p>second</p></div></div>'
    ),
    "sphinx-tabs": (
        '<div class="sphinx-tabs"><div role="tablist" class="closeable">'
        '<button class="sphinx-tabs-tab" id="t0" role="tab">One</button>'
        '<button class="sphinx-tabs-tab" id="t1" role="tab">Two</button></div>'
        '<div class="sphinx-tabs-panel" role="tabpanel" aria-labelledby="t0"><p>first</p></div>'
        '<div class="sphinx-tabs-panel" role="tabpanel" aria-labelledby="t1" hidden><p>second</p></div></div>'
    ),
    "MkDocs": (
        '<div class="tabbed-set tabbed-alternate"><input type="radio" id="x"><input type="radio" id="y">'
        '<div class="tabbed-labels"><label for="x">One</label><label for="y">Two</label></div>'
        '<div class="tabbed-content"><div class="tabbed-block"><p>first</p></div><div class="tabbed-block">'
        "<p>second</p></div></div></div>"
    ),
    "MkDocs of old": (
        '<div class="tabbed-set"><input type="radio" id="x"><label for="x">One</label>'
        '<div class="tabbed-content"><p>first</p></div>'
        '<input type="radio" id="y"><label for="y">Two</label><div class="tabbed-content"><p>second</p></div></div>'
    ),
    "Docusaurus": (
        '<div class="theme-tabs-container tabs-container tabList__CuJ"><ul role="tablist" class="tabs">'
        '<li role="tab" class="tabs__item">One</li><li role="tab" class="tabs__item">Two</li></ul>'
        '<div class="margin-top--md"><div role="tabpanel" class="tabItem_Ymn6"><p>first</p></div>'
        '<div role="tabpanel" hidden><p>second</p></div></div></div>'
    ),
    "VitePress": (
        '<div class="vp-code-group"><div class="tabs"><input type="radio" id="g1" checked>'
        '<label for="g1">One</label><input type="radio" id="g2"><label for="g2">Two</label></div>'
        '<div class="blocks"><div class="active"><p>first</p></div><div><p>second</p></div></div></div>'
    ),
    "Starlight": (
        '<starlight-tabs><div class="tablist-wrapper"><ul role="tablist">'
        '<li role="presentation" class="tab"><a role="tab" id="s1" href="#p1">One</a></li>'
        '<li role="presentation" class="tab"><a role="tab" id="s2" href="#p2">Two</a></li></ul></div>'
        '<div id="p1" role="tabpanel" aria-labelledby="s1"><p>first</p></div>'
        '<div id="p2" role="tabpanel" aria-labelledby="s2" hidden><p>second</p></div></starlight-tabs>'
    ),
    "Docsy": (
        '<ul class="nav nav-tabs" role="tablist"><li class="nav-item">'
        '<button class="nav-link active" id="n1" role="tab">One</button></li><li class="nav-item">'
        '<button class="nav-link" id="n2" role="tab">Two</button></li></ul>'
        '<div class="tab-content"><div class="tab-pane active" role="tabpanel" aria-labelledby="n1">'
        '<p>first</p></div><div class="tab-pane" role="tabpanel" aria-labelledby="n2"><p>second</p></div>'
        "</div>"
    ),
    "Mintlify": (
        '<div class="tabs tab-container"><ul role="tablist"><li id="m1" role="tab">One</li><li id="m2" role="tab">Two</li></ul>'
        '<div role="tabpanel" aria-labelledby="m1"><p>first</p></div>'
        '<div role="tabpanel" aria-labelledby="m2" style="display: none"><p>second</p></div></div>'
    ),
}


@pytest.mark.parametrize("body", TABS.values(), ids=TABS)
def test_each_panel_follows_its_label_also_when_it_is_hidden(body: str) -> None:
    assert markdown(f"<p>a</p>{body}<p>b</p>") == "a\n\n**One**\n\nfirst\n\n**Two**\n\nsecond\n\nb"


def test_tabs_in_tabs_keep_their_own_labels() -> None:
    inner = '<div class="tabbed-labels"><label>In</label></div><div class="tabbed-block"><p>c</p></div>'
    outer = (
        f'<div class="tabbed-labels"><label>A</label><label>B</label></div><div class="tabbed-block">'
        f'<p>a</p>{inner}</div><div class="tabbed-block"><p>b</p></div>'
    )

    assert markdown(outer) == "**A**\n\na\n\n**In**\n\nc\n\n**B**\n\nb"


def test_a_group_of_code_keeps_the_name_of_each_block() -> None:
    body = (
        '<div class="vp-code-group"><div class="tabs"><label>npm</label><label>pnpm</label></div><div class="blocks">'
        '<div class="language-sh"><span class="lang">sh</span><pre>npm i</pre></div>'
        '<div class="language-sh"><pre>pnpm i</pre></div></div></div>'
    )

    assert markdown(body) == "**npm**\n\n```sh\nnpm i\n```\n\n**pnpm**\n\n```sh\npnpm i\n```"
