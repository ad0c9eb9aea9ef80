"""Formulas once and unescaped, signatures of an API as code, footnotes on both sides."""

from __future__ import annotations

import pytest

from tests.jobs.docs_markdown.pages import converted, markdown

KATEX = (
    '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow>'
    '<annotation encoding="application/x-tex">x_1^2</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true"><span class="base">x12</span></span></span>'
)
MATH: dict[str, tuple[str, str]] = {
    "Sphinx in a line": ('<p>so <span class="math notranslate nohighlight">\\(a_1 * b_2\\)</span>.</p>', "so $a_1 * b_2$."),
    "Sphinx on its own": (
        '<div class="math notranslate nohighlight" id="e">'
        '<span class="eqno">(1)<a class="headerlink" href="#e">¶</a></span>\\[a = b_1\\]</div>',
        "$$\na = b_1\n$$",
    ),
    "KaTeX in a line": (f"<p>so {KATEX}.</p>", "so $x_1^2$."),
    "KaTeX on its own": (f'<div><span class="katex-display">{KATEX}</span></div>', "$$\nx_1^2\n$$"),
    "KaTeX on its own in a paragraph": (f'<p><span class="katex-display">{KATEX}</span></p>', "$$x_1^2$$"),
    "MathJax 2": (
        '<p>so <span class="MathJax_Preview">x</span><span class="MathJax" id="m"><nobr>xx</nobr></span>'
        '<script type="math/tex">x_1^2</script>.</p>',
        "so $x_1^2$.",
    ),
    "MathJax 2 on its own": (
        '<div class="MathJax_Display">xx</div><script type="math/tex; mode=display">x_1^2</script>',
        "$$x_1^2$$",
    ),
    "arithmatex": (
        '<p><span class="arithmatex">\\(x_1\\)</span></p><div class="arithmatex">\\[y_2\\]</div>',
        "$x_1$\n\n$$\ny_2\n$$",
    ),
    "pandoc": ('<p><span class="math inline">\\(x_1\\)</span> <span class="math inline">$y$</span></p>', "$x_1$ $y$"),
    "MathML with TeX": ('<p><math alttext="x_1"><mi>x</mi><mn>1</mn></math></p>', "$x_1$"),
    "MathML alone": ("<p><math><mi>x</mi><mo>=</mo><mn>1</mn></math></p>", "$x = 1$"),
    "drawn formula": ('<p><img class="math" src="/m.png" alt="x_1"></p>', "$x_1$"),
    "several lines": (
        '<div class="math">\\[\\begin{split}a\n\n  b\\end{split}\\]</div>',
        "$$\n\\begin{split}a\n  b\\end{split}\n$$",
    ),
}


@pytest.mark.parametrize("body, expected", MATH.values(), ids=MATH)
def test_a_formula_is_written_once_as_its_source(body: str, expected: str) -> None:
    assert markdown(body) == expected


SIGNATURES: dict[str, tuple[str, str]] = {
    "Sphinx function": (
        '<dl class="py function"><dt class="sig sig-object py" id="m.f">'
        '<span class="sig-prename descclassname"><span class="pre">m.</span></span>'
        '<span class="sig-name descname"><span class="pre">f</span></span>'
        '<span class="sig-paren">(</span><em class="sig-param"><span class="n"><span class="pre">a</span>'
        '</span></em>, <em class="sig-param"><span class="n"><span class="pre">b</span></span>'
        '<span class="o"><span class="pre">=</span></span>'
        '<span class="default_value"><span class="pre">None</span></span></em>'
        '<span class="sig-paren">)</span>'
        '<span class="sig-return"> <span class="sig-return-icon">→</span> <span>int</span></span>'
        '<a class="reference internal" href="x"><span class="viewcode-link">[source]</span></a>'
        '<a class="headerlink" href="#m.f">¶</a></dt><dd><p>Does it.</p></dd></dl>',
        "```python\nm.f(a, b=None) -> int\n```\n\nDoes it.",
    ),
    "Sphinx class with a method": (
        '<dl class="py class"><dt class="sig"><em class="property"><span class="pre">class</span>'
        '<span class="w"> </span></em>C</dt><dd><p>One.</p><dl class="py method"><dt class="sig">m()</dt>'
        "<dd><p>Two.</p></dd></dl></dd></dl>",
        "```python\nclass C\n```\n\nOne.\n\n```python\nm()\n```\n\nTwo.",
    ),
    "two signatures, one description": (
        '<dl class="c function"><dt class="sig">int a(void)</dt><dt class="sig">int b(void)</dt><dd><p>Both.</p></dd></dl>',
        "```c\nint a(void)\nint b(void)\n```\n\nBoth.",
    ),
    "JavaScript": ('<dl class="js function"><dt class="sig">f(x)</dt><dd><p>a</p></dd></dl>', "```javascript\nf(x)\n```\n\na"),
    "an option": ('<dl class="std option"><dt class="sig">--all</dt><dd><p>a</p></dd></dl>', "```\n--all\n```\n\na"),
    "parameters on lines": (
        '<dl class="py function"><dt class="sig">f<span class="sig-paren">(</span><dl><dd>'
        '<em class="sig-param">a</em>,</dd><dd><em class="sig-param">b</em>,</dd></dl>'
        '<span class="sig-paren">)</span> → int</dt><dd><p>x</p></dd></dl>',
        "```python\nf(\n    a,\n    b,\n) -> int\n```\n\nx",
    ),
    "fields": (
        '<dl class="py function"><dt class="sig">f(a)</dt><dd><p>x</p><dl class="field-list simple">'
        "<dt>Parameters</dt><dd><p><strong>a</strong> – one</p></dd></dl></dd></dl>",
        "```python\nf(a)\n```\n\nx\n\n- **Parameters**\n  **a** – one",
    ),
    "Doxygen": (
        '<div class="memitem"><div class="memproto"><table class="memname"><tr>'
        '<td class="memname">int add</td><td>(</td><td class="paramtype">int&#160;</td>'
        '<td class="paramname"><em>a</em>, </td></tr>'
        '<tr><td class="paramkey"></td><td></td><td class="paramtype">int&#160;</td><td class="paramname">'
        '<em>b</em></td></tr><tr><td></td><td>)</td><td></td></tr></table></div><div class="memdoc">'
        "<p>Adds.</p></div></div>",
        "```cpp\nint add (int a, int b)\n```\n\nAdds.",
    ),
    "Javadoc": (
        '<section class="detail" id="f()"><h3>f</h3><div class="member-signature">'
        '<span class="modifiers">public</span>&nbsp;<span class="return-type">int</span>&nbsp;<span '
        'class="element-name">f</span><wbr><span class="parameters">(int&nbsp;a)</span></div>'
        '<div class="block">Does it.</div></section>',
        "### f\n\n```java\npublic int f(int a)\n```\n\nDoes it.",
    ),
    "rustdoc": (
        '<section id="method.new" class="method has-srclink"><span class="rightside">'
        '<span class="since">1.0.0</span> · <a class="srclink" href="s">source</a></span>'
        '<a href="#method.new" class="anchor"></a>'
        '<h4 class="code-header">pub fn <a href="#method.new" class="fnname">new</a>() -&gt; <a '
        'href="v">Vec</a>&lt;T&gt;</h4></section><div class="docblock"><p>Makes one.</p></div>',
        "#### `pub fn new() -> Vec<T>`\n\nMakes one.",
    ),
    "mkdocstrings": (
        '<h3 id="m.f" class="doc doc-heading"><code class="highlight language-python">f(a, b)</code>'
        '<a href="#m.f" class="headerlink">¶</a></h3><div class="doc doc-contents"><p>Does it.</p></div>',
        "### `f(a, b)`\n\nDoes it.",
    ),
}


@pytest.mark.parametrize("body, expected", SIGNATURES.values(), ids=SIGNATURES)
def test_a_signature_is_code_with_its_words_apart(body: str, expected: str) -> None:
    assert markdown(body) == expected


NOTES: dict[str, tuple[str, str]] = {
    "Sphinx": (
        '<p>a <a class="footnote-reference brackets" href="#id2" id="id1" role="doc-noteref">'
        '<span class="fn-bracket">[</span>1<span class="fn-bracket">]</span></a>.</p>'
        '<aside class="footnote brackets" id="id2" role="note"><span class="label">'
        '<span class="fn-bracket">[</span><a role="doc-backlink" href="#id1">1</a>'
        '<span class="fn-bracket">]</span></span><p>note</p></aside>',
        "a [^1].\n\n[^1]: note",
    ),
    "Sphinx of old": (
        '<p>a<a class="footnote-reference brackets" href="#id2">1</a></p><dl class="footnote brackets">'
        '<dt class="label" id="id2"><span class="brackets"><a class="fn-backref" href="#id1">1</a></span>'
        "</dt><dd><p>note</p></dd></dl>",
        "a[^1]\n\n[^1]: note",
    ),
    "Sphinx, several": (
        '<aside class="footnote-list brackets"><aside class="footnote brackets" id="a">'
        '<span class="label">[1]</span><p>one</p></aside>'
        '<aside class="footnote brackets" id="b"><span class="label">[2]</span><p>two</p></aside></aside>',
        "[^1]: one\n\n[^2]: two",
    ),
    "citation": (
        '<p>a <a class="reference internal citation-reference" href="#k">[Knu84]</a></p>'
        '<div class="citation" id="k"><span class="label">[Knu84]</span><p>Book</p></div>',
        "a [^Knu84]\n\n[^Knu84]: Book",
    ),
    "Markdown": (
        '<p>a<sup id="fnref:1"><a class="footnote-ref" href="#fn:1">1</a></sup></p><div class="footnote">'
        '<hr><ol><li id="fn:1"><p>note&#160;<a class="footnote-backref" href="#fnref:1">↩</a></p></li></ol>'
        "</div>",
        "a[^1]\n\n[^1]: note",
    ),
    "GitHub": (
        '<p>a<sup><a href="#user-content-fn-x" id="r" data-footnote-ref>1</a></sup></p>'
        '<section data-footnotes class="footnotes"><h2 class="sr-only">Footnotes</h2><ol>'
        '<li id="user-content-fn-x"><p>note <a href="#r" data-footnote-backref>↩</a></p></li></ol></section>',
        "a[^1]\n\n[^1]: note",
    ),
    "a note in its number": (
        '<p>a<sup class="fn">84<span class="fn-text">a <em>long</em> note</span></sup> b</p>',
        "a[^1] b\n\n[^1]: a *long* note",
    ),
    "a bold reference": (
        '<p>a<sup><strong><a class="reference internal" href="#footnote-x">[1]</a></strong></sup></p>'
        '<div class="footnote-group"><div id="footnote-x"><div class="footnote-label"><sup><strong><a href="#footnote-x">[1]</a>'
        "</strong></sup></div> &ensp; note</div></div>",
        "a[^1]\n\n[^1]: note",
    ),
    "several paragraphs": (
        '<section class="footnotes"><ol><li id="fn-1"><p>one</p><p>two</p></li><li id="fn-2">three</li></ol></section>',
        "[^1]: one\n\n    two\n\n[^2]: three",
    ),
    "an ordinary power": ('<p>x<sup><a href="#two">2</a></sup></p>', "x<sup>[2](https://docs.example/guide/page.html#two)</sup>"),
}


@pytest.mark.parametrize("body, expected", NOTES.values(), ids=NOTES)
def test_a_footnote_and_its_reference_have_one_label(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_signatures_and_terms_keep_their_fragments() -> None:
    found = converted(
        '<dl class="py class"><dt class="sig" id="m.Box">class m.Box(size)<a class="headerlink" href="#m.Box">¶</a></dt>'
        "<dd><p>A box.</p>"
        '<dl class="py method"><dt class="sig" id="m.Box.open">open()</dt><dd><p>Open it.</p></dd></dl></dd></dl>'
        '<dl><dt><a name="opt-f"></a><code>-f</code></dt><dt><code>--force</code></dt><dd>Overwrite files.</dd>'
        "<dt><code>-v</code></dt><dd>Verbose.</dd></dl>"
    )
    assert [(one.text, one.anchor) for one in found.definitions] == [
        ("class m.Box(size)", "m.Box"), ("open()", "m.Box.open"), ("`-f`, `--force`", "opt-f"),
    ]  # fmt: skip
