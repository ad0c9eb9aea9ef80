"""Blocks of code: the text of every highlighter byte for byte, with its language, in a fence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.jobs.docs_markdown.pages import converted, fences, markdown

CODE = "def f(x):\n    if x:\n        return 1\n"

LANGUAGES: dict[str, tuple[str, str]] = {
    "class of the code": ('<pre><code class="language-python">{}</code></pre>', "python"),
    "lang- class": ('<pre class="lang-python"><code>{}</code></pre>', "python"),
    "Sphinx": (
        '<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>{}</pre></div></div>',
        "python",
    ),
    "Sphinx python3": ('<div class="highlight-python3"><div class="highlight"><pre>{}</pre></div></div>', "python"),
    "Sphinx default": ('<div class="highlight-default notranslate"><div class="highlight"><pre>{}</pre></div></div>', "python"),
    "Sphinx none": ('<div class="highlight-none notranslate"><div class="highlight"><pre>{}</pre></div></div>', ""),
    "Sphinx text": ('<div class="highlight-text"><div class="highlight"><pre>{}</pre></div></div>', "text"),
    "Sphinx ipython3": ('<div class="highlight-ipython3"><div class="highlight"><pre>{}</pre></div></div>', "python"),
    "Sphinx console": ('<div class="highlight-console"><div class="highlight"><pre>{}</pre></div></div>', "console"),
    "Sphinx pycon": ('<div class="highlight-pycon3"><div class="highlight"><pre>{}</pre></div></div>', "pycon"),
    "GitHub": ('<div class="highlight highlight-source-python"><pre>{}</pre></div>', "python"),
    "GitHub html": ('<div class="highlight highlight-text-html-basic"><pre>{}</pre></div>', "html"),
    "MkDocs": ('<div class="language-python highlight"><pre><span></span><code>{}</code></pre></div>', "python"),
    "Docusaurus": (
        '<div class="language-python codeBlockContainer_x"><pre class="prism-code language-python"><code>{}</code></pre></div>',
        "python",
    ),
    "Shiki": ('<pre class="shiki nord" data-language="python"><code>{}</code></pre>', "python"),
    "VitePress": (
        '<div class="language-py vp-adaptive-theme"><button title="Copy Code" class="copy"></button>'
        '<span class="lang">py</span><pre class="shiki"><code>{}</code></pre></div>',
        "py",
    ),
    "rehype-pretty-code": (
        '<figure data-rehype-pretty-code-figure=""><pre data-language="python">'
        '<code data-language="python">{}</code></pre></figure>',
        "python",
    ),
    "hljs": ('<pre><code class="hljs python">{}</code></pre>', "python"),
    "Rouge": (
        '<div class="language-python highlighter-rouge"><div class="highlight"><pre class="highlight">'
        "<code>{}</code></pre></div></div>",
        "python",
    ),
    "Chroma": (
        '<div class="highlight"><pre class="chroma"><code class="language-python" data-lang="python">{}</code></pre></div>',
        "python",
    ),
    "mdBook": ('<pre><code class="language-rust ignore">{}</code></pre>', "rust"),
    "mdBook playground": ('<pre><pre class="playground"><code class="language-rust ignore">{}</code></pre></pre>', "rust"),
    "rustdoc": ('<div class="example-wrap"><pre class="rust rust-example-rendered"><code>{}</code></pre></div>', "rust"),
    "Asciidoctor": (
        '<div class="listingblock"><div class="content"><pre class="highlight">'
        '<code class="language-python" data-lang="python">{}</code></pre></div></div>',
        "python",
    ),
    "MDN": ('<pre class="brush: js notranslate"><code>{}</code></pre>', "js"),
    "pandoc": (
        '<div class="sourceCode"><pre class="sourceCode python"><code class="sourceCode python">{}</code></pre></div>',
        "python",
    ),
    "DocBook": ('<pre class="programlisting">{}</pre>', "python"),
    "texinfo": ('<div class="example"><pre class="example">{}</pre></div>', "python"),
    "org-mode": ('<div class="org-src-container"><pre class="src src-python">{}</pre></div>', "python"),
    "expressive-code": (
        '<div class="expressive-code"><figure class="frame"><pre data-language="python"><code>{}</code></pre></figure></div>',
        "python",
    ),
    "Mintlify": ('<div class="code-block" language="python"><pre><code>{}</code></pre></div>', "python"),
    "C++": ('<pre><code class="language-c++">{}</code></pre>', "cpp"),
    "no language": ("<pre>{}</pre>", "python"),
    "not a language": ('<pre class="wrap code"><code class="code">{}</code></pre>', "python"),
    "the page around it is no language": ('<article class="language-ruby"><div><p>x</p></div><pre>{}</pre></article>', "python"),
}


@pytest.mark.parametrize("wrapping, language", LANGUAGES.values(), ids=LANGUAGES)
def test_a_block_keeps_its_text_and_the_language_the_page_tells(wrapping: str, language: str) -> None:
    assert fences(markdown(wrapping.format(CODE))) == [(language, CODE)]


MARKUPS: dict[str, tuple[str, str]] = {
    "prism lines with a copy button": (
        '<pre class="prism-code language-js"><code><span class="token-line" style="color:#fff">'
        '<span class="token plain">a {</span><br></span>'
        '<span class="token-line"><span class="token plain" style="display:inline-block"></span><br></span>'
        '<span class="token-line"><span class="token plain">  b</span><br></span></code></pre>'
        '<div class="buttonGroup__atx"><button>Copy</button></div>',
        "a {\n\n  b\n",
    ),
    "Shiki lines": (
        '<pre class="shiki"><code><span class="line"><span>a</span></span>\n<span class="line">'
        '</span>\n<span class="line">  b</span></code></pre>',
        "a\n\n  b\n",
    ),
    "Shiki lines without line breaks": (
        '<pre class="shiki"><code><span class="line">a</span><span class="line">  b</span></code></pre>',
        "a\n  b\n",
    ),
    "rehype lines": (
        '<pre><code style="display:grid"><span data-line="">a</span>\n<span data-line="">  b</span></code></pre>',
        "a\n  b\n",
    ),
    "expressive-code lines": (
        '<pre><code><div class="ec-line"><div class="gutter"><div class="ln">1</div></div><div class="code">a</div></div>'
        '<div class="ec-line"><div class="code">  b</div></div></code></pre>',
        "a\n  b\n",
    ),
    "Pygments table of line numbers": (
        '<div class="highlight-python"><table class="highlighttable"><tr><td class="linenos">'
        '<div class="linenodiv"><pre>1\n2</pre></div></td>'
        '<td class="code"><div class="highlight"><pre><span></span>a\n  b\n</pre></div></td></tr></table></div>',
        "a\n  b\n",
    ),
    "Pygments numbers in lines": ('<pre><span class="linenos">1</span>a\n<span class="linenos">2</span>  b\n</pre>', "a\n  b\n"),
    "Pygments linked numbers": (
        '<pre><a href="#l-1"><span class="linenos" data-linenos="1 "></span></a>a\n<a href="#l-2">'
        '<span class="lineno">2 </span></a>b\n</pre>',
        "a\nb\n",
    ),
    "Chroma table": (
        '<div class="highlight"><div class="chroma"><table class="lntable"><tr><td class="lntd">'
        '<pre class="chroma"><code><span class="lnt">1\n</span>'
        '<span class="lnt">2\n</span></code></pre></td><td class="lntd"><pre class="chroma">'
        "<code>a\n  b\n</code></pre></td></tr></table></div></div>",
        "a\n  b\n",
    ),
    "Chroma numbers by style": (
        '<pre><code><span style="white-space:pre;user-select:none">1</span>a\n<span '
        'style="user-select:none">2</span>  b\n</code></pre>',
        "a\n  b\n",
    ),
    "Rouge table": (
        '<div class="highlight"><pre class="highlight"><code><table class="rouge-table"><tbody><tr>'
        '<td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td>'
        '<td class="rouge-code"><pre>a\n  b\n</pre></td></tr></tbody></table></code></pre></div>',
        "a\n  b\n",
    ),
    "hljs table": (
        '<pre><code class="hljs"><table class="hljs-ln"><tbody><tr>'
        '<td class="hljs-ln-numbers" data-line-number="1"></td><td class="hljs-ln-code">a</td></tr>'
        '<tr><td class="hljs-ln-numbers" data-line-number="2"></td><td class="hljs-ln-code">  b</td></tr>'
        "</tbody></table></code></pre>",
        "a\n  b\n",
    ),
    "prettify list": (
        '<pre class="prettyprint"><ol class="linenums"><li class="L0"><span>a</span></li><li class="L1">'
        "<span>  b</span></li></ol></pre>",
        "a\n  b\n",
    ),
    "mdBook playground": (
        '<pre><pre class="playground"><code class="language-rust">'
        '<span class="boring">fn main() {\n</span>a\n  b\n<span class="boring">}</span></code></pre></pre>',
        "a\n  b\n",
    ),
    "mdBook with the hidden part first": (
        '<pre><pre class="playground">'
        '<code class="language-rust edition2021">\n<span class="boring">#![allow(unused)]\n</span>a\n  '
        "b\n</code></pre></pre>",
        "a\n  b\n",
    ),
    "Doxygen": (
        '<div class="fragment"><div class="line"><a name="l1"></a>'
        '<span class="lineno">    1</span>a</div>\n<div class="line"> </div>\n<div class="line">  '
        "b</div>\n</div><!-- fragment -->",
        "a\n \n  b\n",
    ),
    "br as line break": ("<pre>a<br>  b<br/></pre>", "a\n  b\n"),
    "code of several lines without pre": ('<div class="code"><code>a<br>b</code></div>', "a\nb\n"),
    "buttons and anchors": (
        '<pre><code>a <a href="#x" id="x">b</a>\n</code><button>Copy</button><button class="run">Run</button></pre>',
        "a b\n",
    ),
    "script in code": ("<pre>a<script>alert(1)</script><style>p{}</style>\nb</pre>", "a\nb\n"),
    "tabs and spaces": ("<pre>\ta  \n\n\n \tb   \n</pre>", "\ta  \n\n\n \tb   \n"),
    "non-breaking spaces": ("<pre>a&nbsp;b\u3000c</pre>", "a\u00a0b\u3000c\n"),
    "first line break is the parser's": ("<pre>\n\na\n</pre>", "\na\n"),
    "windows line ends": ("<pre>a&#13;\nb\r\nc</pre>", "a\nb\nc\n"),
    "prompts": ("<pre>&gt;&gt;&gt; 1\n1\n$ ls\n</pre>", ">>> 1\n1\n$ ls\n"),
    "diff": (
        '<pre><code class="language-diff"><span class="gd">- a</span>\n<span class="gi">+ b</span>\n</code></pre>',
        "- a\n+ b\n",
    ),
    "markdown in code": (
        "<pre># not a heading\n* _x_ [a](b) &lt;div&gt; &amp;amp;\n</pre>",
        "# not a heading\n* _x_ [a](b) <div> &amp;\n",
    ),
    "blank lines at the end": ("<pre>a\n\n\n</pre>", "a\n\n\n"),
    "inside a list": ("<ol><li><p>x</p><pre>a\n\n  b  \n   \nc</pre></li></ol>", "a\n\n  b  \n   \nc\n"),
    "inside a quote in a list": ("<ul><li><blockquote><pre>a\n\n  b</pre></blockquote></li></ul>", "a\n\n  b\n"),
    "inside a callout": ('<div class="admonition tip"><pre>\ta\n\n\n  b</pre></div>', "\ta\n\n\n  b\n"),
}


@pytest.mark.parametrize("body, code", MARKUPS.values(), ids=MARKUPS)
def test_the_text_of_a_block_is_what_its_author_wrote(body: str, code: str) -> None:
    assert [content for _, content in fences(markdown(body))] == [code]


@pytest.mark.parametrize("ticks", [3, 4, 7])
def test_a_fence_is_longer_than_any_run_of_backticks_in_the_code(ticks: int) -> None:
    code = f"a\n{'`' * ticks}python\nb\n{'`' * ticks}\n"

    assert fences(markdown(f"<pre>{code}</pre>")) == [("", code)]


@given(
    st.text(st.sampled_from("ab \t`~>#-*\n|<&\\"), min_size=1, max_size=60),
    st.sampled_from(["{}", "<ul><li>x{}</li></ul>", "<blockquote>{}</blockquote>"]),
)
def test_whatever_the_code_is_it_is_read_back_as_it_was(code: str, around: str) -> None:
    escaped = code.replace("&", "&amp;").replace("<", "&lt;")
    found = fences(markdown(around.format(f"<pre>\n{escaped}</pre>")))

    assert found == ([("", code if code.endswith("\n") else code + "\n")] if code.strip() else [])


TITLES = {
    "Sphinx": (
        '<div class="literal-block-wrapper"><div class="code-block-caption">'
        '<span class="caption-text">app.py</span><a class="headerlink" href="#x">¶</a></div>'
        '<div class="highlight-python"><pre>a</pre></div></div>'
    ),
    "MkDocs": '<div class="language-python highlight"><span class="filename">app.py</span><pre>a</pre></div>',
    "MkDocs table": (
        '<div class="language-python highlight"><table class="highlighttable"><tr>'
        '<th class="filename" colspan="2">app.py</th></tr><tr><td class="linenos"><pre>1</pre></td>'
        '<td class="code"><pre>a</pre></td></tr></table></div>'
    ),
    "Docusaurus": '<div class="language-python"><div class="codeBlockTitle_Ktv7">app.py</div><pre>a</pre></div>',
    "rehype": (
        "<figure data-rehype-pretty-code-figure>"
        '<figcaption data-rehype-pretty-code-title>app.py</figcaption><pre data-language="python">a</pre>'
        "</figure>"
    ),
    "expressive-code": (
        '<figure class="frame has-title"><figcaption class="header"><span class="title">app.py</span>'
        '</figcaption><pre data-language="python">a</pre></figure>'
    ),
    "Asciidoctor": (
        '<div class="listingblock"><div class="title">app.py</div><div class="content"><pre>'
        '<code data-lang="python">a</code></pre></div></div>'
    ),
}


@pytest.mark.parametrize("body", TITLES.values(), ids=TITLES)
def test_the_title_of_a_block_stands_before_it_in_bold(body: str) -> None:
    assert markdown(body) == "**app.py**\n\n```python\na\n```"


def test_an_empty_block_is_not_written() -> None:
    assert markdown("<p>x</p><pre> \n </pre>") == "x"


def test_blocks_are_counted_and_signatures_are_not() -> None:
    page = converted('<pre>a</pre><dl class="py function"><dt class="sig">f()</dt><dd><pre>b</pre></dd></dl>')

    assert page.code_blocks == 2


def test_the_source_of_a_diagram_is_kept() -> None:
    assert markdown('<pre class="mermaid">graph TD;\n  A--&gt;B;</pre>') == "```mermaid\ngraph TD;\n  A-->B;\n```"
    assert markdown('<div class="mermaid"><svg><text>A</text></svg></div>') == ""


def test_colours_that_the_output_of_a_terminal_has_as_text_are_left_out() -> None:
    session = (
        '<div class="termy"><div class="language-console highlight"><pre><span></span><code><span class="gp">$ </span>tea brew\n'
        '<span class="go">&lt;span style=&quot;background-color:#007166&quot;&gt;&lt;font color=&quot;#D3D7CF&quot;&gt;'
        " pot &lt;/font&gt;"
        "&lt;/span&gt; is &lt;b&gt;hot&lt;/b&gt;</span>\n</code></pre></div></div>"
    )
    assert markdown(session) == "```console\n$ tea brew\n pot  is hot\n```"
    other = '<pre><code class="language-html">&lt;font color=&quot;red&quot;&gt;x&lt;/font&gt;\n</code></pre>'
    assert markdown(other) == '```html\n<font color="red">x</font>\n```'
