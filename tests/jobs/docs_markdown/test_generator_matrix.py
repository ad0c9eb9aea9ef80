"""Callouts, footnotes, mathematics and code in the markup of some dozen generators, read as a whole page.

The markup is that of the generators, the text is our own.
"""

from __future__ import annotations

import pytest

from tadoru.jobs.docs.job import read_doc_page
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


MATHJAX = '<script id="MathJax-script" src="https://cdn.example/mathjax@3/es5/tex-mml-chtml.js"></script>'
MATHEMATICS: dict[str, tuple[str, str, str]] = {
    "MathJax 3 CHTML with MathML": (
        (
            '<p>So <mjx-container class="MathJax" jax="CHTML" tabindex="0" style="font-size: 119%"><mjx-math class="MJX-TEX" '
            'aria-hidden="true"><mjx-msup><mjx-mi class="mjx-i"><mjx-c class="mjx-c1D465 TEX-I"></mjx-c></mjx-mi><mjx-script '
            'style="vertical-align: 0.363em;"><mjx-mn class="mjx-n" size="s"><mjx-c class="mjx-c32"></mjx-c></mjx-mn>'
            '</mjx-script></mjx-msup></mjx-math><mjx-assistive-mml unselectable="on" display="inline"><math '
            'xmlns="http://www.w3.org/1998/Math/MathML"><mrow><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mover><mi>y</mi>'
            '<mo stretchy="false">¯</mo></mover></mrow></math></mjx-assistive-mml></mjx-container> it is.</p>'
        ),
        "",
        "So $x^2 + \\overline{y}$ it is.",
    ),
    "MathJax 3 CHTML": (
        (
            '<p>So <mjx-container class="MathJax" jax="CHTML"><mjx-math class="MJX-TEX"><mjx-msup><mjx-mi class="mjx-i">'
            '<mjx-c class="mjx-c1D465 TEX-I"></mjx-c></mjx-mi><mjx-script style="vertical-align: 0.363em;"><mjx-mn '
            'class="mjx-n" size="s"><mjx-c class="mjx-c32"></mjx-c></mjx-mn></mjx-script></mjx-msup><mjx-mo class="mjx-n" '
            'space="4"><mjx-c class="mjx-c3D"></mjx-c></mjx-mo><mjx-mfrac space="4"><mjx-frac><mjx-num><mjx-nstrut>'
            '</mjx-nstrut><mjx-mn class="mjx-n" size="s"><mjx-c class="mjx-c31"></mjx-c></mjx-mn></mjx-num><mjx-dbox>'
            '<mjx-dtable><mjx-line></mjx-line><mjx-row><mjx-den><mjx-dstrut></mjx-dstrut><mjx-mi class="mjx-i" size="s">'
            '<mjx-c class="mjx-c1D466 TEX-I"></mjx-c></mjx-mi></mjx-den></mjx-row></mjx-dtable></mjx-dbox></mjx-frac>'
            "</mjx-mfrac></mjx-math></mjx-container> it is.</p>"
        ),
        "",
        "So $x^2 = \\frac{1}{y}$ it is.",
    ),
    "MathJax 3 SVG": (
        (
            '<p>So <mjx-container class="MathJax" jax="SVG"><svg xmlns="http://www.w3.org/2000/svg" width="2ex" role="img" '
            'focusable="false"><defs><path id="MJX-1-TEX-I-1D465" d="M1"></path></defs><g stroke="currentColor"><g '
            'data-mml-node="math"><g data-mml-node="msup"><g data-mml-node="mi"><use data-c="1D465" xlink:href="#MJX-1">'
            '</use></g><g data-mml-node="mn" transform="x"><use data-c="32"></use></g></g></g></g></svg></mjx-container> it '
            "is.</p>"
        ),
        "",
        "So $x^2$ it is.",
    ),
    "MathJax 2 with its source": (
        (
            '<p>So <span class="MathJax_Preview" style="color: inherit;"></span><span class="mjx-chtml MathJax_CHTML" '
            'id="MathJax-Element-1-Frame" tabindex="0" data-mathml="&lt;math '
            "xmlns=&quot;http://www.w3.org/1998/Math/MathML&quot;&gt;&lt;mrow&gt;&lt;msup&gt;&lt;mi&gt;x&lt;/mi&gt;&lt;mn&gt;"
            "2&lt;/mn&gt;&lt;/msup&gt;&lt;mo&gt;+&lt;/mo&gt;&lt;mover&gt;&lt;mi&gt;y&lt;/mi&gt;&lt;mo "
            'stretchy=&quot;false&quot;&gt;¯&lt;/mo&gt;&lt;/mover&gt;&lt;/mrow&gt;&lt;/math&gt;" role="presentation" '
            'style="font-size: 119%;"><span id="MJXc-Node-1" class="mjx-math" aria-hidden="true"><span '
            'class="mjx-char">x</span></span><span class="MJX_Assistive_MathML" role="presentation"><math '
            'xmlns="http://www.w3.org/1998/Math/MathML"><mrow><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mover><mi>y</mi>'
            '<mo stretchy="false">¯</mo></mover></mrow></math></span></span><script type="math/tex" '
            'id="MathJax-Element-1">x^2+\\bar y</script> it is.</p>'
        ),
        "",
        "So $x^2+\\bar y$ it is.",
    ),
    "MathJax 2 CHTML": (
        (
            '<p>So <span class="mjx-chtml MathJax_CHTML" id="MathJax-Element-1-Frame" tabindex="0" data-mathml="&lt;math '
            "xmlns=&quot;http://www.w3.org/1998/Math/MathML&quot;&gt;&lt;mrow&gt;&lt;msup&gt;&lt;mi&gt;x&lt;/mi&gt;&lt;mn&gt;"
            "2&lt;/mn&gt;&lt;/msup&gt;&lt;mo&gt;+&lt;/mo&gt;&lt;mover&gt;&lt;mi&gt;y&lt;/mi&gt;&lt;mo "
            'stretchy=&quot;false&quot;&gt;¯&lt;/mo&gt;&lt;/mover&gt;&lt;/mrow&gt;&lt;/math&gt;" role="presentation"><span '
            'class="mjx-math" aria-hidden="true"><span class="mjx-char">x</span></span></span> it is.</p>'
        ),
        "",
        "So $x^2 + \\overline{y}$ it is.",
    ),
    "MathJax 2 SVG": (
        (
            '<p>So <span class="MathJax_SVG" id="MathJax-Element-1-Frame" tabindex="0" data-mathml="&lt;math '
            "xmlns=&quot;http://www.w3.org/1998/Math/MathML&quot;&gt;&lt;mrow&gt;&lt;msup&gt;&lt;mi&gt;x&lt;/mi&gt;&lt;mn&gt;"
            "2&lt;/mn&gt;&lt;/msup&gt;&lt;mo&gt;+&lt;/mo&gt;&lt;mover&gt;&lt;mi&gt;y&lt;/mi&gt;&lt;mo "
            'stretchy=&quot;false&quot;&gt;¯&lt;/mo&gt;&lt;/mover&gt;&lt;/mrow&gt;&lt;/math&gt;"><svg></svg><span '
            'class="MJX_Assistive_MathML"><math xmlns="http://www.w3.org/1998/Math/MathML"><mrow><msup><mi>x</mi><mn>2</mn>'
            '</msup><mo>+</mo><mover><mi>y</mi><mo stretchy="false">¯</mo></mover></mrow></math></span></span> it is.</p>'
        ),
        "",
        "So $x^2 + \\overline{y}$ it is.",
    ),
    "data-math": (
        '<p>So <span class="math-node" data-math="x^2+\\bar{y}"><span class="katex-like">x2+y</span></span> it is.</p>',
        "",
        "So $x^2+\\bar{y}$ it is.",
    ),
    "data-tex": (
        '<p>So <span data-tex="x^2">x2</span> it is.</p><div data-tex="x^2">x2</div>',
        "",
        "So $x^2$ it is.\n\n$$\nx^2\n$$",
    ),
    "data-latex": ('<p>So <img data-latex="x^2" src="a.png"> it is.</p>', "", "So $x^2$ it is."),
    "alttext": ('<p>So <math alttext="x^{2}"><msup><mi>x</mi><mn>2</mn></msup></math> it is.</p>', "", "So $x^{2}$ it is."),
    "dollars with a script": (
        "<p>So $a_i * b_i * c$ and $\\alpha_1 [x] < y$ it is. Costs $5 and $6. $$\\sum_{i=1}^n x_i$$</p>",
        MATHJAX,
        "So $a_i * b_i * c$ and $\\alpha_1 [x] < y$ it is. Costs $5 and $6. $$\\sum_{i=1}^n x_i$$",
    ),
    "dollars without a script": (
        "<p>So $a_i * b_i * c$ and $\\frac{a}{b}$ it is. Costs $5 and $6 or $HOME_DIR/$USER_NAME*x* too.</p>",
        "",
        "So $a_i * b_i * c$ and $\\frac{a}{b}$ it is. Costs $5 and $6 or $HOME_DIR/$USER_NAME\\*x\\* too.",
    ),
    "a display formula in the text": (
        "<p>$$\nx_1 * y_2 = \\begin{matrix} a & b \\\\ c & d \\end{matrix}\n$$</p>",
        MATHJAX,
        "$$x_1 * y_2 = \\begin{matrix} a & b \\\\ c & d \\end{matrix}$$",
    ),
    "KaTeX auto-render": (
        "<p>So \\(a_i * b_i\\) and $$x_1*y_1*z$$ it is.</p>",
        '<script defer src="https://cdn.example/katex/contrib/auto-render.min.js"></script>',
        "So $a_i * b_i$ and $$x_1*y_1*z$$ it is.",
    ),
    "MathML accents": (
        (
            '<p>So <math><mover accent="true"><mrow><mi>A</mi><mi>B</mi></mrow><mo stretchy="true">‾</mo></mover></math>, '
            "<math><mover><mi>x</mi><mo>―</mo></mover></math>, <math><mover><mi>x</mi><mo>_</mo></mover></math>, <math>"
            '<munder><mi>x</mi><mo>_</mo></munder></math>, <math><menclose notation="top"><mi>x</mi></menclose></math>, '
            "<math><mover><mi>x</mi><mo>⏞</mo></mover></math>, <math><mover><mi>x</mi><mo>&#xAF;</mo></mover></math>, <math>"
            "<mover><mi>x</mi><mo>¯</mo></mover></math></p>"
        ),
        "",
        (
            "So $\\overline{AB}$, $\\overline{x}$, $\\overline{x}$, $\\underline{x}$, $\\overline{x}$, $\\overbrace{x}$, "
            "$\\overline{x}$, $\\overline{x}$"
        ),
    ),
    "images": (
        (
            '<p>So <img class="tex" alt="x^2" src="https://latex.codecogs.com/svg.image?x^2"> and <img '
            'src="https://s0.wp.com/latex.php?latex=x%5E2" alt="x^2" class="latex"> and <img class="formula" alt="$x^2$" '
            'src="f.png"> and <img alt="\\frac{a}{b}" src="eq1.png">.</p>'
        ),
        "",
        "So $x^2$ and $x^2$ and $x^2$ and $\\frac{a}{b}$.",
    ),
    "MediaWiki": (
        (
            '<p>So <span class="mwe-math-element"><span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: '
            'none;"><math xmlns="http://www.w3.org/1998/Math/MathML" alttext="{\\displaystyle x^{2}}"><semantics><mrow><msup>'
            '<mi>x</mi><mn>2</mn></msup></mrow><annotation encoding="application/x-tex">{\\displaystyle x^{2}}</annotation>'
            '</semantics></math></span><img src="https://wikimedia.example/svg/abc" class="mwe-math-fallback-image-inline" '
            'aria-hidden="true" alt="{\\displaystyle x^{2}}"></span> it is.</p>'
        ),
        "",
        "So ${\\displaystyle x^{2}}$ it is.",
    ),
    "KaTeX": (
        (
            '<p>So <span class="katex"><span class="katex-mathml"><math xmlns="x"><semantics><mrow><msup><mi>x</mi>'
            '<mn>2</mn></msup></mrow><annotation encoding="application/x-tex">x^2</annotation></semantics></math></span>'
            '<span class="katex-html" aria-hidden="true"><span class="base">x2</span></span></span> it is.</p>'
        ),
        "",
        "So $x^2$ it is.",
    ),
    "KaTeX display": (
        (
            '<p><span class="katex-display"><span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi>'
            '</mrow><annotation encoding="application/x-tex">x * y * z</annotation></semantics></math></span><span '
            'class="katex-html" aria-hidden="true">x</span></span></span></p>'
        ),
        "",
        "$$x * y * z$$",
    ),
    "Sphinx": (
        (
            '<p>So <span class="math notranslate nohighlight">\\(x^2 * y_1 * z\\)</span> it is.</p><div class="math '
            'notranslate nohighlight">\n\\[x_1 * y\\]</div>'
        ),
        "",
        "So $x^2 * y_1 * z$ it is.\n\n$$\nx_1 * y\n$$",
    ),
    "Sphinx imgmath": (
        (
            '<p>So <img class="math" src="_images/math/a.png" alt="x^2"/> it is.</p><div class="math"><p><img '
            'src="_images/math/b.png" alt="y_1 * z"/></p></div>'
        ),
        "",
        "So $x^2$ it is.\n\n$$\ny_1 * z\n$$",
    ),
    "mdBook": (
        "<p>So \\(a_i\\) it is. \\[ x_1*x_2*y \\]</p>",
        ('<script async src="https://cdnjs.example/ajax/libs/mathjax/2.7.1/MathJax.js?config=TeX-AMS-MML_HTMLorMML"></script>'),
        "So $a_i$ it is. $$x_1*x_2*y$$",
    ),
    "Quarto": (
        '<p>So <span class="math inline">\\(x_1*y_1*z\\)</span> it is. <span class="math display">\\[x_1*y\\]</span></p>',
        "",
        "So $x_1*y_1*z$ it is. $$x_1*y$$",
    ),
    "MkDocs arithmatex": (
        '<p>So <span class="arithmatex">\\(x_1*y_1*z\\)</span> it is.</p><div class="arithmatex">\\[x_1*y\\]</div>',
        "",
        "So $x_1*y_1*z$ it is.\n\n$$\nx_1*y\n$$",
    ),
    "GitLab": (
        (
            '<p>So <code class="code math js-render-math" data-math-style="inline">x^2</code> it is.</p><pre class="code '
            'math js-render-math" data-math-style="display">x_1*y</pre>'
        ),
        "",
        "So $x^2$ it is.\n\n$$\nx_1*y\n$$",
    ),
    "GitHub": (
        (
            '<p>So <math-renderer class="js-inline-math" style="display: inline">$x_1*y_1*z$</math-renderer> it is. '
            '<math-renderer class="js-display-math">$$x_1*y$$</math-renderer></p>'
        ),
        "",
        "So $x_1*y_1*z$ it is. $$x_1*y$$",
    ),
    "LaTeXML": (
        (
            '<table class="ltx_equation ltx_eqn_table"><tr class="ltx_equation ltx_eqn_row"><td class="ltx_eqn_cell '
            'ltx_eqn_center_padleft"></td><td class="ltx_eqn_cell ltx_align_center"><math alttext="x_{1}y" class="ltx_Math" '
            'display="block"><mi>x</mi></math></td><td class="ltx_eqn_cell ltx_eqn_center_padright"></td><td rowspan="1" '
            'class="ltx_eqn_cell ltx_eqn_eqno ltx_align_middle ltx_align_right"><span class="ltx_tag ltx_tag_equation '
            'ltx_align_right">(1)</span></td></tr></table>'
        ),
        "",
        "$$\nx_{1}y\n$$",
    ),
}


@pytest.mark.parametrize("content, head, expected", MATHEMATICS.values(), ids=MATHEMATICS)
def test_a_formula_keeps_its_source_or_its_structure(content: str, head: str, expected: str) -> None:
    assert body_of(content, head) == expected


FOOTNOTES: dict[str, str] = {
    "mdBook 0.4": (
        '<p>Tea<sup class="footnote-reference"><a href="#1">1</a></sup> is hot.</p><div class="footnote-definition" '
        'id="1"><sup class="footnote-definition-label">1</sup><p>Very hot.</p></div>'
    ),
    "mdBook 0.5": (
        '<p>Tea<sup class="footnote-reference" id="fr-1-1"><a href="#footnote-1">1</a></sup> is hot.</p><hr><ol '
        'class="footnote-definition"><li id="footnote-1"><p>Very hot. <a href="#fr-1-1">↩</a></p></li></ol>'
    ),
    "WordPress": (
        '<p>Tea<sup data-fn="a1b2" class="fn"><a href="#a1b2" id="a1b2-link">1</a></sup> is hot.</p><ol '
        'class="wp-block-footnotes"><li id="a1b2">Very hot. <a href="#a1b2-link" aria-label="Jump to footnote reference '
        '1">↩︎</a></li></ol>'
    ),
    "WordPress, Modern Footnotes": (
        '<p>Tea<sup class="modern-footnotes-footnote " data-mfn="1"><a href="javascript:void(0)" title="Very hot." '
        'role="button" aria-pressed="false">1</a></sup><span id="mfn-content-1" role="tooltip" '
        'class="modern-footnotes-footnote__note" tabindex="0" data-mfn="1">Very hot.</span> is hot.</p>'
    ),
    "Tufte CSS": (
        '<p>Tea<label for="sn-1" class="margin-toggle sidenote-number"></label><input type="checkbox" id="sn-1" '
        'class="margin-toggle"/><span class="sidenote">Very hot.</span> is hot.</p>'
    ),
    "Gwern": (
        '<p>Tea<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a> is hot.</p><section '
        'class="footnotes" role="doc-endnotes" id="footnotes"><hr><ol><li id="fn1"><p><a class="footnote-self-link" '
        'href="#fn1" title="Link"></a>Very hot.<a href="#fnref1" class="footnote-back" role="doc-backlink">↩</a></p>'
        "</li></ol></section>"
    ),
    "Substack": (
        '<p>Tea<a class="footnote-anchor" data-component-name="FootnoteAnchorToDOM" id="footnote-anchor-1" '
        'href="#footnote-1" target="_self">1</a> is hot.</p><div class="footnote" data-component-name="FootnoteToDOM"><a '
        'id="footnote-1" href="#footnote-anchor-1" class="footnote-number" contenteditable="false" target="_self">1</a>'
        '<div class="footnote-content"><p>Very hot.</p></div></div>'
    ),
    "MediaWiki": (
        '<p>Tea<sup id="cite_ref-1" class="reference"><a href="#cite_note-1"><span class="cite-bracket">[</span>1<span '
        'class="cite-bracket">]</span></a></sup> is hot.</p><div class="mw-references-wrap"><ol class="references"><li '
        'id="cite_note-1"><span class="mw-cite-backlink"><b><a href="#cite_ref-1">^</a></b></span> <span '
        'class="reference-text">Very hot.</span></li></ol></div>'
    ),
    "Jekyll": (
        '<p>Tea<sup id="fnref:1"><a href="#fn:1" class="footnote" rel="footnote" role="doc-noteref">1</a></sup> is '
        'hot.</p><div class="footnotes" role="doc-endnotes"><ol><li id="fn:1"><p>Very hot. <a href="#fnref:1" '
        'class="reversefootnote" role="doc-backlink">&#8617;</a></p></li></ol></div>'
    ),
    "Hugo": (
        '<p>Tea<sup id="fnref:1"><a href="#fn:1" class="footnote-ref" role="doc-noteref">1</a></sup> is hot.</p><div '
        'class="footnotes" role="doc-endnotes"><hr><ol><li id="fn:1"><p>Very hot.&#160;<a href="#fnref:1" '
        'class="footnote-backref" role="doc-backlink">&#x21a9;&#xfe0e;</a></p></li></ol></div>'
    ),
    "remark: Docusaurus, Starlight, Nextra": (
        '<p>Tea<sup><a href="#user-content-fn-1" id="user-content-fnref-1" data-footnote-ref="" '
        'aria-describedby="footnote-label">1</a></sup> is hot.</p><section data-footnotes="" class="footnotes"><h2 '
        'class="sr-only" id="footnote-label">Footnotes</h2><ol><li id="user-content-fn-1"><p>Very hot. <a '
        'href="#user-content-fnref-1" data-footnote-backref="" aria-label="Back to reference 1" '
        'class="data-footnote-backref">↩</a></p></li></ol></section>'
    ),
    "markdown-it: VitePress": (
        '<p>Tea<sup class="footnote-ref"><a href="#fn1" id="fnref1">[1]</a></sup> is hot.</p><hr class="footnotes-sep">'
        '<section class="footnotes"><ol class="footnotes-list"><li id="fn1" class="footnote-item"><p>Very hot. <a '
        'href="#fnref1" class="footnote-backref">↩︎</a></p></li></ol></section>'
    ),
    "Word": (
        '<p>Tea<a href="#_ftn1" name="_ftnref1" title=""><span class="MsoFootnoteReference">[1]</span></a> is hot.</p>'
        '<div><br clear="all"><hr align="left" size="1" width="33%"><div id="ftn1"><p class="MsoFootnoteText"><a '
        'href="#_ftnref1" name="_ftn1" title=""><span>[1]</span></a> Very hot.</p></div></div>'
    ),
    "Google Docs": (
        '<p>Tea<sup><a href="#ftnt1" id="ftnt_ref1">[1]</a></sup> is hot.</p><hr><div><p><a href="#ftnt_ref1" '
        'id="ftnt1">[1]</a><span>&nbsp;Very hot.</span></p></div>'
    ),
    "LaTeXML": (
        '<p>Tea<span class="ltx_note ltx_role_footnote" id="footnote1"><sup class="ltx_note_mark">1</sup><span '
        'class="ltx_note_outer"><span class="ltx_note_content"><sup class="ltx_note_mark">1</sup><span class="ltx_tag '
        'ltx_tag_note">1</span>Very hot.</span></span></span> is hot.</p>'
    ),
    "Scribble": '<p>Tea<span class="NoteBox"><span class="NoteContent">Very hot.</span></span> is hot.</p>',
    "Antora": (
        '<p>Tea<sup class="footnote">[<a id="_footnoteref_1" class="footnote" href="#_footnotedef_1" title="View '
        'footnote.">1</a>]</sup> is hot.</p><div id="footnotes"><hr><div class="footnote" id="_footnotedef_1"><a '
        'href="#_footnoteref_1">1</a>. Very hot.</div></div>'
    ),
    "Quarto": (
        '<p>Tea<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a> is hot.</p><section '
        'id="footnotes" class="footnotes footnotes-end-of-document" role="doc-endnotes"><hr /><ol><li id="fn1"><p>Very '
        'hot.<a href="#fnref1" class="footnote-back" role="doc-backlink">↩︎</a></p></li></ol></section>'
    ),
    "by hand, without a link back": '<p>Tea<sup><a href="#n1">1</a></sup> is hot.</p><p><a name="n1"></a>1. Very hot.</p>',
    "by hand, in a list": '<p>Tea<sup><a href="#footnote1">1</a></sup> is hot.</p><ol><li id="footnote1">Very hot.</li></ol>',
    "MkDocs": (
        '<p>Tea<sup id="fnref:tea"><a class="footnote-ref" href="#fn:tea">1</a></sup> is hot.</p><div class="footnote">'
        '<hr /><ol><li id="fn:tea"><p>Very hot.&#160;<a class="footnote-backref" href="#fnref:tea" title="Jump back to '
        'footnote 1 in the text">&#8617;</a></p></li></ol></div>'
    ),
    "DocBook": (
        '<p>Tea<a href="#ftn.idm1" class="footnote" id="idm1"><sup class="footnote">[1]</sup></a> is hot.</p><div '
        'class="footnotes"><br><hr style="width:100; text-align:left;"><div id="ftn.idm1" class="footnote"><p><a '
        'href="#idm1" class="para"><sup class="para">[1] </sup></a>Very hot.</p></div></div>'
    ),
    "bookdown": (
        '<p>Tea<sup class="footnote-ref" data-bs-toggle="popover" data-bs-content="Very hot."><a href="#fn1" '
        'id="fnref1">1</a></sup> is hot.</p><section class="footnotes"><ol><li id="fn1"><p>Very hot.<a href="#fnref1" '
        'class="footnote-back">↩︎</a></p></li></ol></section>'
    ),
    "by hand, in a definition list": '<p>Tea<a href="#n1" id="r1">[1]</a> is hot.</p>'
    '<dl><dt id="n1"><a href="#r1">[1]</a></dt><dd>Very hot.</dd></dl>',
}


@pytest.mark.parametrize("content", FOOTNOTES.values(), ids=FOOTNOTES)
def test_a_footnote_keeps_its_reference_and_its_text(content: str) -> None:
    assert body_of(content) == "Tea[^1] is hot.\n\n[^1]: Very hot."


def test_a_footnote_of_sphinx_and_a_second_reference_to_one_note_keep_their_label() -> None:
    sphinx = (
        '<p>Tea <a class="footnote-reference brackets" href="#id2" id="id1" role="doc-noteref">[1]</a> is hot.</p><aside '
        'class="footnote brackets" id="id2"><span class="label"><a href="#id1">1</a></span><p>Very.</p></aside>'
    )
    twice = (
        '<p>Tea<sup id="r0"><a href="#n1">[1]</a></sup> is<sup id="r1"><a href="#n1">[1]</a></sup> hot.</p>'
        '<ol><li id="n1">^ <a href="#r0">a</a> <a href="#r1">b</a> Very.</li></ol>'
    )
    assert body_of(sphinx) == "Tea [^1] is hot.\n\n[^1]: Very."
    assert body_of(twice) == "Tea[^1] is[^1] hot.\n\n[^1]: Very."


def test_a_number_that_links_to_a_section_is_no_footnote() -> None:
    content = '<p>See <a href="#s2">2</a>.</p><h2 id="s2">2 Pots</h2><p>They are hot.</p>'

    assert body_of(content) == "See [2](https://docs.example/guide/page.html#s2).\n\n## 2 Pots\n\nThey are hot."
