"""The 38 things that converters were found to lose or damage, a small page for each.

A page is the inside of its `<main>`, and its Markdown.
"""

from __future__ import annotations

NAV = (
    '<header><a href="/">Kettle</a></header><nav><ul><li><a href="/a">Fill</a></li><li><a href="/b">Heat</a></li></ul></nav>'
    '<aside class="sidebar"><a href="/a">Fill</a> <a href="/b">Heat</a></aside>'
    "<main><h1>Title</h1><p>Intro.</p><p>Only this is text.</p></main>"
    '<footer>The makers, 2026. <a href="/privacy">Privacy</a></footer>'
)
"""The one page that is told with everything around it."""

CHECKS: dict[str, tuple[str, str]] = {
    "code lang: language-x class": (
        '<pre><code class="language-python">import kettle\n</code></pre>',
        "```python\nimport kettle\n```",
    ),
    "code lang: Sphinx highlight-python": (
        '<div class="highlight-python notranslate"><div class="highlight"><pre><span></span><span class="kn">import</span> '
        '<span class="nn">kettle</span>\n</pre></div></div>',
        "```python\nimport kettle\n```",
    ),
    "code lang: GitHub highlight-source-python": (
        '<div class="highlight highlight-source-python"><pre><span class="pl-k">import</span> kettle</pre></div>',
        "```python\nimport kettle\n```",
    ),
    "code lang: MkDocs div.language-python": (
        '<div class="language-python highlight"><pre><span></span><code>'
        '<span class="kn">import</span> kettle\n</code></pre></div>',
        "```python\nimport kettle\n```",
    ),
    "code: Docusaurus/prism token-line + copy button": (
        '<div class="language-js codeBlockContainer_Ckt0"><div class="codeBlockContent_biex"><pre class="prism-code language-js">'
        '<code class="codeBlockLines_e6Vv"><span class="token-line" style="color:#393">'
        '<span class="token plain">if (hot) {</span><br></span>'
        '<span class="token-line"><span class="token plain">  pour();</span><br></span><span class="token-line">'
        '<span class="token plain">}</span><br></span></code></pre><div class="buttonGroup__atx">'
        '<button type="button" aria-label="Copy code to clipboard" class="clean-btn">Copy</button></div></div></div>',
        "```js\nif (hot) {\n  pour();\n}\n```",
    ),
    "code: Shiki span.line data-language": (
        '<pre class="shiki" data-language="ts"><code><span class="line"><span style="color:#D73A49">let</span> x</span>\n'
        '<span class="line"></span>\n<span class="line">  y</span></code></pre>',
        "```ts\nlet x\n\n  y\n```",
    ),
    "code: rehype-pretty-code (figure, data-line)": (
        '<figure data-rehype-pretty-code-figure=""><pre data-language="rust" data-theme="x">'
        '<code data-language="rust" style="display:grid">'
        '<span data-line=""><span>fn main() {</span></span>\n<span data-line=""><span>}</span></span></code></pre></figure>',
        "```rust\nfn main() {\n}\n```",
    ),
    "code: Pygments linenos table": (
        '<div class="highlight"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv">'
        "<pre>1\n2</pre></div></td>"
        '<td class="code"><div class="highlight"><pre><span></span>first\nsecond\n</pre></div></td></tr></table></div>',
        "```\nfirst\nsecond\n```",
    ),
    "code: indentation kept": (
        "<pre>def f():\n    if x:\n        return  (1,\n                 2)\n</pre>",
        "```python\ndef f():\n    if x:\n        return  (1,\n                 2)\n```",
    ),
    "code: contains ``` inside": (
        "<pre>```python\nx\n```\n</pre>",
        "````\n```python\nx\n```\n````",
    ),
    "inline code with backtick / pipe": (
        "<p>Write <code>a `b` c</code> or <code>x | y</code>.</p>",
        "Write ``a `b` c`` or `x | y`.",
    ),
    "table: simple GFM": (
        "<table><thead><tr><th>Tea</th><th>Time</th></tr></thead><tbody><tr><td>Green</td><td>2</td></tr></tbody></table>",
        "| Tea | Time |\n| --- | --- |\n| Green | 2 |",
    ),
    "table: pipe in cell escaped": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>x | y</td><td><code>p|q</code></td></tr></table>",
        "| a | b |\n| --- | --- |\n| x \\| y | `p\\|q` |",
    ),
    "table: <br>/list/para in cell on one row": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>one<br>two</td><td><p>p</p><p>q</p><ul><li>r</li><li>s</li></ul></td></tr></table>",
        "| a | b |\n| --- | --- |\n| one<br>two | p<br>q<br>- r<br>- s |",
    ),
    "table: code block in cell keeps row": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td><pre>x = 1\ny = 2</pre></td><td>z</td></tr></table>",
        "| a | b |\n| --- | --- |\n| `x = 1`<br>`y = 2` | z |",
    ),
    "table: no thead (first row header)": (
        "<table><tr><td>Tea</td><td>Time</td></tr><tr><td>Green</td><td>2</td></tr></table>",
        "| Tea | Time |\n| --- | --- |\n| Green | 2 |",
    ),
    "table: colspan/rowspan cells count": (
        "<table><tr><th>a</th><th>b</th><th>c</th></tr><tr><td rowspan=2>x</td><td colspan=2>y</td></tr><tr><td>z</td>"
        "<td>w</td></tr></table>",
        "| a | b | c |\n| --- | --- | --- |\n| x | y |  |\n| x | z | w |",
    ),
    "nested lists (ol>ul>code)": (
        "<ol><li>one<ul><li>a<pre>x\n  y</pre></li><li>b</li></ul></li><li>two</li></ol>",
        "1. one\n\n   - a\n\n     ```\n     x\n       y\n     ```\n\n   - b\n\n2. two",
    ),
    "ol start attr": (
        '<ol start="5"><li>five</li><li>six</li></ol>',
        "5. five\n6. six",
    ),
    "definition list readable": (
        "<dl><dt>Lid</dt><dd>on top</dd><dt>Base</dt><dd>below</dd></dl>",
        "- **Lid**\n  on top\n- **Base**\n  below",
    ),
    "Sphinx API dl (signature as code/heading, no glue)": (
        '<dl class="py function"><dt class="sig sig-object py" id="m.f"><span class="sig-prename descclassname">'
        '<span class="pre">m.</span></span>'
        '<span class="sig-name descname"><span class="pre">f</span></span><span class="sig-paren">(</span>'
        '<em class="sig-param"><span class="n">'
        '<span class="pre">a</span></span></em>, <em class="sig-param"><span class="n"><span class="pre">b</span></span>'
        '<span class="o">'
        '<span class="pre">=</span></span><span class="default_value"><span class="pre">1</span></span></em>'
        '<span class="sig-paren">)</span>'
        '<a class="headerlink" href="#m.f">¶</a></dt><dd><p>Does it.</p></dd></dl>',
        "```python\nm.f(a, b=1)\n```\n\nDoes it.",
    ),
    "Sphinx admonition kept as callout": (
        '<div class="admonition warning"><p class="admonition-title">Warning</p><p>It is hot.</p></div>',
        "> [!WARNING]\n> It is hot.",
    ),
    "MkDocs details admonition": (
        '<details class="note"><summary>More</summary><p>It folds.</p></details>',
        "> [!NOTE]\n> **More**\n>\n> It folds.",
    ),
    "Docusaurus admonition": (
        '<div class="theme-admonition theme-admonition-tip admonition_xJq3 alert alert--success">'
        '<div class="admonitionHeading_Gvgb">'
        '<span class="admonitionIcon_Rf37"><svg viewBox="0 0 1 1"><path d="M0 0"></path></svg></span>tip</div>'
        '<div class="admonitionContent_BuS1"><p>Descale it.</p></div></div>',
        "> [!TIP]\n> Descale it.",
    ),
    "tabs: labels tied to panels": (
        '<div class="tabs-container"><ul role="tablist" class="tabs">'
        '<li role="tab" aria-selected="true" class="tabs__item">npm</li>'
        '<li role="tab" class="tabs__item">yarn</li></ul><div><div role="tabpanel"><pre>npm i</pre></div>'
        '<div role="tabpanel" hidden=""><pre>yarn add</pre></div></div></div>',
        "**npm**\n\n```sh\nnpm i\n```\n\n**yarn**\n\n```sh\nyarn add\n```",
    ),
    "tabs: hidden panel content kept": (
        '<div class="sphinx-tabs"><div role="tablist"><button role="tab" id="t0" class="sphinx-tabs-tab">A</button>'
        '<button role="tab" id="t1" class="sphinx-tabs-tab">B</button></div>'
        '<div class="sphinx-tabs-panel" role="tabpanel" aria-labelledby="t0">'
        '<p>First.</p></div><div class="sphinx-tabs-panel" role="tabpanel" aria-labelledby="t1" hidden="true">'
        "<p>Second.</p></div></div>",
        "**A**\n\nFirst.\n\n**B**\n\nSecond.",
    ),
    "math: MathJax/Sphinx \\(..\\)": (
        '<p>So <span class="math notranslate nohighlight">\\(a_1 * b\\)</span>.</p>'
        '<div class="math notranslate nohighlight">\\[x = y\\]</div>',
        "So $a_1 * b$.\n\n$$\nx = y\n$$",
    ),
    "math: KaTeX (annotation, no duplication)": (
        '<p>So <span class="katex"><span class="katex-mathml"><math><semantics><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow>'
        '<annotation encoding="application/x-tex">x^2</annotation></semantics></math></span>'
        '<span class="katex-html" aria-hidden="true">'
        "<span>x</span><span>2</span></span></span>.</p>",
        "So $x^2$.",
    ),
    "heading permalink ¶ removed": (
        '<h2>Lid<a class="headerlink" href="#lid" title="Permalink to this heading">¶</a></h2>',
        "## Lid",
    ),
    "heading anchor '#' (VitePress/Docusaurus) removed": (
        '<h2 id="lid">Lid <a class="header-anchor" href="#lid" aria-label="Permalink to &quot;Lid&quot;">\u200b</a></h2>'
        '<h3 id="top"><a class="hash-link" href="#top">#</a>Top</h3>',
        "## Lid\n\n### Top",
    ),
    "rel link text and url kept": (
        '<p>See <a href="../lid.html#top">the lid</a>.</p>',
        "See [the lid](https://docs.example/lid.html#top).",
    ),
    "image alt kept": (
        '<p><img src="/k.png" alt="A kettle"></p>',
        "![A kettle](https://docs.example/k.png)",
    ),
    "del/sub/sup/kbd kept": (
        "<p><del>old</del> H<sub>2</sub>O, x<sup>2</sup>, <kbd>Ctrl</kbd>+<kbd>C</kbd></p>",
        "~~old~~ H<sub>2</sub>O, x<sup>2</sup>, `Ctrl`+`C`",
    ),
    "task list": (
        '<ul class="contains-task-list"><li><input type="checkbox" checked disabled> fill</li><li>'
        '<input type="checkbox" disabled> heat</li></ul>',
        "- [x] fill\n- [ ] heat",
    ),
    "blockquote nested": (
        "<blockquote><p>one</p><blockquote><p>two</p></blockquote></blockquote>",
        "> one\n>\n> > two",
    ),
    "escaping: literal * _ < #": (
        "<p>2*3*4, _x_, &lt;b&gt; and [a](b)</p><p># not a heading</p><p>1. not a list</p>",
        "2\\*3\\*4, \\_x\\_, \\<b> and [a\\](b)\n\n\\# not a heading\n\n1\\. not a list",
    ),
    "footnote ref kept": (
        '<p>Old<sup id="r1"><a class="footnote-ref" href="#fn:1">1</a></sup>.</p>'
        '<div class="footnote"><hr><ol><li id="fn:1"><p>Very.&#160;'
        '<a class="footnote-backref" href="#r1">↩</a></p></li></ol></div>',
        "Old[^1].\n\n[^1]: Very.",
    ),
    "nav/sidebar/footer dropped": (NAV, "Only this is text."),
}
