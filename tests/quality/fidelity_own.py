"""What we found that is lost or damaged easily, beyond the known checks: the inside of a `<main>`, and its Markdown."""

from __future__ import annotations

CODE: dict[str, tuple[str, str]] = {
    "mdBook: a playground is one block, without its hidden lines": (
        '<pre><pre class="playground"><code class="language-rust edition2021">'
        '<span class="boring">fn main() {\n</span>let x = 1;\n'
        '<span class="boring">}</span></code></pre></pre>',
        "```rust\nlet x = 1;\n```",
    ),
    "Hugo: a table of line numbers": (
        '<div class="highlight"><div class="chroma"><table class="lntable"><tr><td class="lntd"><pre class="chroma"><code>'
        '<span class="lnt">1\n</span>'
        '<span class="lnt">2\n</span></code></pre></td><td class="lntd"><pre class="chroma">'
        '<code class="language-go" data-lang="go">'
        '<span class="line"><span class="cl">a\n</span></span><span class="line">'
        '<span class="cl">\tb\n</span></span></code></pre></td></tr></table></div></div>',
        "```go\na\n\tb\n```",
    ),
    "Hugo: line numbers in the lines": (
        '<div class="highlight"><pre class="chroma"><code class="language-sh" data-lang="sh"><span class="line">'
        '<span class="ln">1</span><span class="cl">ls\n'
        '</span></span><span class="line"><span class="ln">2</span><span class="cl">cd\n</span></span></code></pre></div>',
        "```sh\nls\ncd\n```",
    ),
    "Jekyll: Rouge with a gutter": (
        '<div class="language-ruby highlighter-rouge"><div class="highlight"><pre class="highlight"><code>'
        '<table class="rouge-table"><tbody><tr>'
        '<td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td><td class="rouge-code">'
        "<pre>puts 1\nputs 2\n</pre></td></tr></tbody></table>"
        "</code></pre></div></div>",
        "```ruby\nputs 1\nputs 2\n```",
    ),
    "Starlight: a frame with a title and a copy button": (
        '<div class="expressive-code"><figure class="frame has-title"><figcaption class="header">'
        '<span class="title">kettle.js</span></figcaption>'
        '<pre data-language="js"><code><div class="ec-line"><div class="code"><span>fill();</span></div></div>'
        '<div class="ec-line"><div class="code">\n</div></div>'
        '<div class="ec-line"><div class="code"><span class="indent">  </span><span>heat();</span></div></div></code></pre>'
        '<div class="copy"><button title="Copy to clipboard" data-copied="Copied!"><div></div></button></div></figure></div>',
        "**kettle.js**\n\n```js\nfill();\n\n  heat();\n```",
    ),
    "Starlight: lines marked as added and removed": (
        '<div class="expressive-code"><figure class="frame"><pre data-language="js"><code><div class="ec-line">'
        '<div class="code">a</div></div>'
        '<div class="ec-line highlight del"><div class="code">b</div></div><div class="ec-line highlight ins">'
        '<div class="code">c</div></div></code></pre></figure></div>',
        "```diff\n a\n-b\n+c\n```",
    ),
    "Docusaurus: the title of a block": (
        '<div class="language-js codeBlockContainer_x"><div class="codeBlockTitle_Ktv7">src/kettle.js</div>'
        '<div class="codeBlockContent_y">'
        '<pre class="prism-code language-js"><code><span class="token-line">fill();<br></span></code></pre></div></div>',
        "**src/kettle.js**\n\n```js\nfill();\n```",
    ),
    "Docusaurus: line numbers": (
        '<pre class="prism-code language-py"><code class="codeBlockLines_z codeBlockLinesWithNumbering_w">'
        '<span class="token-line codeLine_l">'
        '<span class="codeLineNumber_n"></span><span class="codeLineContent_c">x = 1</span><br></span></code></pre>',
        "```py\nx = 1\n```",
    ),
    "VuePress: numbers beside the block": (
        '<div class="language-yaml line-numbers-mode" data-ext="yml"><pre class="language-yaml"><code>a: 1\nb: 2\n</code></pre>'
        '<div class="line-numbers" aria-hidden="true"><div class="line-number"></div><div class="line-number"></div></div></div>',
        "```yaml\na: 1\nb: 2\n```",
    ),
    "Asciidoctor: a listing with a title and numbers of remarks": (
        '<div class="listingblock"><div class="title">Kettle.java</div><div class="content"><pre class="highlightjs highlight">'
        '<code class="language-java hljs" data-lang="java">fill(); <i class="conum" data-value="1"></i>'
        "<b>(1)</b>\n</code></pre></div></div>",
        "**Kettle.java**\n\n```java\nfill(); (1)\n```",
    ),
    "Doxygen: lines in divs, with numbers": (
        '<div class="fragment"><div class="line"><a id="l1"></a><span class="lineno">    1</span>int x;</div>'
        '<div class="line"><span class="lineno">    2</span></div>'
        '<div class="line"><span class="lineno">    3</span>  y();</div></div>',
        "```\nint x;\n\n  y();\n```",
    ),
    "GitHub: a button beside the block": (
        '<div class="highlight highlight-source-shell notranslate"><pre>ls -l</pre><div class="zeroclipboard-container">'
        '<clipboard-copy aria-label="Copy" value="ls -l">Copy</clipboard-copy></div></div>',
        "```shell\nls -l\n```",
    ),
    "MediaWiki: a block": (
        '<div class="mw-highlight mw-highlight-lang-python mw-content-ltr" dir="ltr"><pre><span></span>x = 1\n</pre></div>',
        "```python\nx = 1\n```",
    ),
    "an old highlighter: brush": ('<pre class="brush: sql">SELECT 1;</pre>', "```sql\nSELECT 1;\n```"),
    "lines that only br ends": ("<pre>a<br>  b<br><br>c</pre>", "```\na\n  b\n\nc\n```"),
    "an empty line at the end, tabs, and spaces at the ends": ("<pre>\n\ta  \n \t\n\n</pre>", "```\n\ta  \n \t\n\n```"),
    "a console keeps its prompts": (
        '<div class="highlight-console notranslate"><div class="highlight"><pre><span></span><span class="gp">$ </span>ls\n'
        '<span class="go">a</span>\n</pre></div></div>',
        "```console\n$ ls\na\n```",
    ),
    "a diff keeps its signs": (
        '<pre><code class="language-diff"><span class="hljs-deletion">-a</span>\n'
        '<span class="hljs-addition">+b</span>\n c</code></pre>',
        "```diff\n-a\n+b\n c\n```",
    ),
    "links in code are only their words": (
        '<pre>use <a href="/kettle">kettle</a>::<a href="/lid">Lid</a>;</pre>',
        "```\nuse kettle::Lid;\n```",
    ),
    "signs of HTML in code": (
        "<pre>&lt;p class=&quot;a&quot;&gt;&amp;amp;&lt;/p&gt;</pre>",
        '```html\n<p class="a">&amp;</p>\n```',
    ),
    "a language that only the wrapper around it names": (
        '<div data-lang="kotlin"><pre><code>val x = 1</code></pre></div>',
        "```kotlin\nval x = 1\n```",
    ),
    "mermaid stays its source": ('<pre class="mermaid">graph LR\n  a --&gt; b</pre>', "```mermaid\ngraph LR\n  a --> b\n```"),
}
BLOCKS: dict[str, tuple[str, str]] = {
    "Asciidoctor: an admonition is a table in the page": (
        '<div class="admonitionblock warning"><table><tr><td class="icon"><div class="title">Warning</div></td>'
        '<td class="content">Hot.</td></tr></table></div>',
        "> [!WARNING]\n> Hot.",
    ),
    "GitHub: an alert": (
        '<div class="markdown-alert markdown-alert-caution"><p class="markdown-alert-title"><svg></svg>Caution</p>'
        "<p>Steam.</p></div>",
        "> [!CAUTION]\n> Steam.",
    ),
    "Starlight: an aside": (
        '<aside aria-label="Tip" class="starlight-aside starlight-aside--tip">'
        '<p class="starlight-aside__title" aria-hidden="true"><svg></svg>Tip</p>'
        '<div class="starlight-aside__content"><p>Cold water.</p></div></aside>',
        "> [!TIP]\n> Cold water.",
    ),
    "Bootstrap: an alert": (
        '<div class="alert alert-warning" role="alert"><h4 class="alert-heading">Hot</h4>Steam.</div>',
        "> [!WARNING]\n> **Hot**\n>\n> Steam.",
    ),
    "a box in a box": (
        '<div class="admonition note"><p class="admonition-title">Note</p><p>a</p><div class="admonition danger">'
        '<p class="admonition-title">Danger</p><p>b</p></div></div>',
        "> [!NOTE]\n> a\n>\n> > [!CAUTION]\n> > b",
    ),
    "code in a box": (
        '<div class="admonition tip"><p class="admonition-title">Tip</p><pre>a\n\nb\n</pre></div>',
        "> [!TIP]\n> ```\n> a\n>\n> b\n> ```",
    ),
    "what folds is written open": (
        "<details><summary>More</summary><p>Text.</p><pre>x</pre></details>",
        "**More**\n\nText.\n\n```\nx\n```",
    ),
    "Bootstrap: tabs": (
        '<ul class="nav nav-tabs"><li class="nav-item"><a class="nav-link active" href="#a">One</a></li><li class="nav-item">'
        '<a class="nav-link" href="#b">Two</a></li></ul>'
        '<div class="tab-content"><div class="tab-pane active" id="a"><p>First.</p></div><div class="tab-pane" id="b">'
        "<p>Second.</p></div></div>",
        "**One**\n\nFirst.\n\n**Two**\n\nSecond.",
    ),
    "MkDocs: tabs": (
        '<div class="tabbed-set tabbed-alternate" data-tabs="1:2"><input checked id="t1" name="t" type="radio">'
        '<input id="t2" name="t" type="radio">'
        '<div class="tabbed-labels"><label for="t1">One</label><label for="t2">Two</label></div><div class="tabbed-content">'
        '<div class="tabbed-block"><p>First.</p></div><div class="tabbed-block"><p>Second.</p></div></div></div>',
        "**One**\n\nFirst.\n\n**Two**\n\nSecond.",
    ),
    "Sphinx: tabs of labels and panels in turn": (
        '<div class="sd-tab-set"><input id="i0" type="radio"><label class="sd-tab-label" for="i0">One</label>'
        '<div class="sd-tab-content"><p>First.</p></div>'
        '<input id="i1" type="radio"><label class="sd-tab-label" for="i1">Two</label><div class="sd-tab-content">'
        "<p>Second.</p></div></div>",
        "**One**\n\nFirst.\n\n**Two**\n\nSecond.",
    ),
    "Sphinx: inline tabs": (
        '<div class="tab-set"><input class="tab-input" type="radio"><label class="tab-label">One</label>'
        '<div class="tab-content"><p>First.</p></div>'
        '<input class="tab-input" type="radio"><label class="tab-label">Two</label><div class="tab-content">'
        "<p>Second.</p></div></div>",
        "**One**\n\nFirst.\n\n**Two**\n\nSecond.",
    ),
    "VitePress: a group of code": (
        '<div class="vp-code-group"><div class="tabs"><input type="radio" id="a" checked><label for="a">npm</label>'
        '<input type="radio" id="b"><label for="b">yarn</label></div>'
        '<div class="blocks"><div class="language-sh active"><button title="Copy Code" class="copy"></button>'
        '<span class="lang">sh</span><pre><code>npm i</code></pre></div>'
        '<div class="language-sh"><button title="Copy Code" class="copy"></button><span class="lang">sh</span><pre>'
        "<code>yarn</code></pre></div></div></div>",
        "**npm**\n\n```sh\nnpm i\n```\n\n**yarn**\n\n```sh\nyarn\n```",
    ),
    "two descriptions of one term": ("<dl><dt>Spout</dt><dd>pours</dd><dd>drips</dd></dl>", "- **Spout**\n\n  pours\n\n  drips"),
    "the class of a term": (
        '<dl><dt>lid<span class="classifier">part</span></dt><dd>on top</dd></dl>',
        "- **lid : part**\n  on top",
    ),
    "the parameters of a Sphinx object": (
        '<dl class="field-list simple"><dt class="field-odd">Parameters<span class="colon">:</span></dt><dd class="field-odd">'
        "<p><strong>litres</strong> – how much</p></dd></dl>",
        "- **Parameters:**\n  **litres** – how much",
    ),
    "a signature over several lines": (
        '<dl class="py function"><dt class="sig sig-object py"><span class="sig-name descname">f</span>'
        '<span class="sig-paren">(</span><dl><dd><em class="sig-param">a</em>,</dd>'
        '<dd><em class="sig-param">b</em>,</dd></dl><span class="sig-paren">)</span></dt><dd><p>x</p></dd></dl>',
        "```python\nf(\n    a,\n    b,\n)\n```\n\nx",
    ),
    "a signature of C++ with a template": (
        '<dl class="cpp function"><dt class="sig sig-object cpp"><span class="k">template</span>&lt;'
        '<span class="n">T</span>&gt;<br/><span class="n">T</span> f()</dt><dd><p>x</p></dd></dl>',
        "```cpp\ntemplate<T> T f()\n```\n\nx",
    ),
    "Doxygen: a signature is a table in the page": (
        '<div class="memproto"><table class="memname"><tr><td class="memname">int heat </td><td>(</td>'
        '<td class="paramtype">double&#160;</td>'
        '<td class="paramname"><em>degrees</em></td><td>)</td><td></td></tr></table></div><div class="memdoc">'
        "<p>Heats.</p></div>",
        "```cpp\nint heat (double degrees)\n```\n\nHeats.",
    ),
    "Javadoc: a signature in spans": (
        '<div class="member-signature"><span class="modifiers">public</span>&nbsp;<span class="return-type">int</span>&nbsp;'
        '<span class="element-name">heat</span>()</div><div class="block">Heats.</div>',
        "```java\npublic int heat()\n```\n\nHeats.",
    ),
    "a numbered list with a paragraph, code and a table in an item": (
        "<ol><li><p>One:</p><pre>x</pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></li><li>Two</li></ol>",
        "1. One:\n\n   ```\n   x\n   ```\n\n   | a | b |\n   | --- | --- |\n   | 1 | 2 |\n\n2. Two",
    ),
    "a list that counts down": ("<ol reversed><li>three</li><li>two</li><li>one</li></ol>", "3. three\n2. two\n1. one"),
    "two rows of headings": (
        "<table><thead><tr><th colspan=2>In</th><th>Out</th></tr><tr><th>a</th><th>b</th><th>c</th></tr></thead><tbody><tr>"
        "<td>1</td><td>2</td><td>3</td></tr></tbody></table>",
        "| In a | In b | Out c |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
    ),
    "names of rows": (
        "<table><tr><th>Red</th><td>1</td></tr><tr><th>Blue</th><td>2</td></tr></table>",
        "|  |  |\n| --- | --- |\n| Red | 1 |\n| Blue | 2 |",
    ),
    "the caption of a table, and how columns are aligned": (
        '<table><caption>Prices</caption><thead><tr><th style="text-align:left">a</th>'
        '<th style="text-align: right">b</th></tr></thead><tbody><tr><td>x</td><td>1</td></tr></tbody></table>',
        "**Prices**\n\n| a | b |\n| :--- | ---: |\n| x | 1 |",
    ),
    "a table that only lays out": (
        '<table role="presentation"><tr><td><p>Left.</p></td><td><p>Right.</p></td></tr></table>',
        "Left.\n\nRight.",
    ),
    "a figure and its caption": (
        '<figure><img src="k.png" alt="A kettle"><figcaption>On its base.</figcaption></figure>',
        "![A kettle](https://docs.example/guide/k.png)\n\n**On its base.**",
    ),
    "code in a quote": ("<blockquote><p>So:</p><pre>a\nb</pre></blockquote>", "> So:\n>\n> ```\n> a\n> b\n> ```"),
    "a formula of MathJax 3 that is drawn": (
        '<p>So <mjx-container class="MathJax" jax="CHTML"><mjx-math aria-hidden="true"><mjx-mi></mjx-mi></mjx-math>'
        "<mjx-assistive-mml><math><msup><mi>x</mi><mn>2</mn></msup>"
        "</math></mjx-assistive-mml></mjx-container>.</p>",
        "So $x^2$.",
    ),
    "MathML alone": (
        "<p><math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><msqrt><mi>b</mi></msqrt></mfrac><mo>≤</mo><msub><mi>c</mi><mn>10</mn></msub></math></p>",
        "$\\frac{a + 1}{\\sqrt{b}} ≤ c_{10}$",
    ),
    "notes of GitHub": (
        '<p>Old<sup><a href="#user-content-fn-a" id="user-content-fnref-a" data-footnote-ref>1</a></sup>.</p>'
        '<section data-footnotes class="footnotes"><h2 class="sr-only">Footnotes</h2>'
        '<ol><li id="user-content-fn-a"><p>Very. '
        '<a href="#user-content-fnref-a" data-footnote-backref>↩</a></p></li></ol></section>',
        "Old[^1].\n\n[^1]: Very.",
    ),
    "a citation and what it cites": (
        '<p>So <a class="reference internal" href="#tea" id="id1"><span>[Tea]</span></a>.</p>'
        '<div role="list" class="citation-list"><div class="citation" id="tea" role="doc-biblioentry">'
        '<span class="label"><span class="fn-bracket">[</span><a role="doc-backlink" href="#id1">Tea</a>'
        '<span class="fn-bracket">]</span></span><p>A book.</p></div></div>',
        "So [^Tea].\n\n[^Tea]: A book.",
    ),
}
WORDS: dict[str, tuple[str, str]] = {
    "emphasis beside words": (
        "<p>un<b>believ</b>able <i> spaced </i>end, <b>Note:</b>text</p>",
        "un**believ**able *spaced* end, **Note**:text",
    ),
    "emphasis in emphasis": ("<p><b>very <i>hot</i></b> <b><b>tea</b></b></p>", "**very *hot*** **tea**"),
    "a link with brackets and parentheses": (
        '<p><a href="/a_(b)?x=[1]">see [1] (here)</a></p>',
        "[see \\[1\\] (here)](https://docs.example/a_%28b%29?x=[1])",
    ),
    "a link around code": ('<p><a href="k.html"><code>Kettle</code></a></p>', "[`Kettle`](https://docs.example/guide/k.html)"),
    "an image that is a link": (
        '<p><a href="/k"><img src="/k.png" alt="A kettle"></a></p>',
        "[![A kettle](https://docs.example/k.png)](https://docs.example/k)",
    ),
    "an image that loads late": (
        '<p><img data-src="/k.png" src="data:image/gif;base64,R0lGOD" alt="A kettle"></p>',
        "![A kettle](https://docs.example/k.png)",
    ),
    "a link that runs a program is only its words": ('<p><a href="javascript:alert(1)">press</a></p>', "press"),
    "lines of a paragraph": ("<p>one<br>two<br/>three</p>", "one  \ntwo  \nthree"),
    "white space between Japanese lines is none": ("<p>お湯を\n   沸かす。</p>", "お湯を沸かす。"),
    "signs that no reader sees": ("<p>ket\u00adtle \u200bhot\ufeff</p>", "kettle hot"),
    "entities that were meant as text": (
        "<p>Write &amp;lt; for &lt;, &amp;amp; for &amp;.</p>",
        "Write \\&lt; for <, \\&amp; for &.",
    ),
    "a heading with code and a link": (
        '<h2><code>heat()</code> and <a href="/lid">the lid</a></h2>',
        "## `heat()` and [the lid](https://docs.example/lid)",
    ),
    "a reading over its characters": ("<p><ruby>湯<rp>(</rp><rt>ゆ</rt><rp>)</rp></ruby></p>", "湯(ゆ)"),
    "a line that begins with a sign of a list": (
        "<p>- 5 degrees<br>+ 3 degrees<br>&gt; 2</p>",
        "\\- 5 degrees  \n\\+ 3 degrees  \n\\> 2",
    ),
    "snake_case, globs and prices": (
        "<p>my_long_name, **/*.py, $5 and $6, a ~ b, C:\\new</p>",
        "my_long_name, \\*\\*/\\*.py, $5 and $6, a ~ b, C:\\new",
    ),
    "a word that is code up to its ending": ("<p><code>Kettle</code>s</p>", "`Kettle`s"),
}
CHECKS: dict[str, tuple[str, str]] = {**CODE, **BLOCKS, **WORDS}
