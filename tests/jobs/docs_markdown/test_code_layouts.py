"""Blocks of code outside a plain `<pre>`: line-number tables, boxes, changed lines, and languages that leave no doubt."""

from __future__ import annotations

import pytest

from tests.jobs.docs_markdown.pages import fences, markdown

BREW = "brew {\n  steep 3\n}\n"
ROWS = "".join(f'<tr><td>{at}</td><td class="code">{line}</td></tr>' for at, line in enumerate(BREW.split("\n")[:3], 1))
NUMBERS = "1\n2\n3\n"

LAYOUTS: dict[str, str] = {
    "pre in code": f"<code><pre>{BREW}</pre></code>",
    "pre in code in a paragraph": f"<p><code><pre>{BREW}</pre></code></p>",
    "Rouge table": (
        '<div class="highlighter-rouge"><div class="highlight"><pre class="highlight"><code>'
        '<table class="rouge-table"><tbody><tr>'
        f'<td class="rouge-gutter gl"><pre class="lineno">{NUMBERS}</pre></td><td class="rouge-code"><pre>{BREW}</pre></td>'
        "</tr></tbody></table></code></pre></div></div>"
    ),
    "Hugo table": (
        '<div class="highlight"><div class="chroma"><table class="lntable"><tr><td class="lntd"><pre><code>'
        f'<span class="lnt">1\n</span><span class="lnt">2\n</span><span class="lnt">3\n</span></code></pre></td>'
        f'<td class="lntd"><pre><code>{BREW}</code></pre></td></tr></table></div></div>'
    ),
    "Hugo table without classes": (
        '<div class="highlight"><div style="color:#fff"><table><tr><td style="padding:0"><pre><code><span style="color:#777">1\n'
        '</span><span style="color:#777">2\n</span><span style="color:#777">3\n</span></code></pre></td>'
        f"<td><pre><code>{BREW}</code></pre></td></tr></table></div></div>"
    ),
    "Hexo gutter": (
        '<figure class="highlight"><table><tr><td class="gutter"><pre><span class="line">1</span><br><span class="line">2</span>'
        '<br><span class="line">3</span><br></pre></td><td class="code"><pre><span class="line">brew {</span><br>'
        '<span class="line">  steep 3</span><br><span class="line">}</span><br></pre></td></tr></table></figure>'
    ),
    "a row for each line": f"<table>{ROWS}</table>",
    "numbers beside the code": f"<div><pre>{NUMBERS}</pre><pre>{BREW}</pre></div>",
    "a prompt on each line": (
        f'<table><tr><td><pre>&gt;\n&gt;\n&gt;</pre></td><td class="code"><pre>{BREW}</pre></td></tr></table>'
    ),
    "Writerside": f'<div class="code-block">{BREW}</div>',
    "code.block": f'<p>Then</p><code class="block">{BREW}</code>',
    "code in div.highlight": f'<div class="highlight"><code>{BREW}</code></div>',
    "indented code alone in its box": f"<div><code>{BREW}</code></div>",
    "white-space of a style": f'<div style="white-space: pre">{BREW}</div>',
    "a fixed width that wraps": f'<div style="font-family: monospace; white-space: pre-wrap">{BREW}</div>',
    "lines as boxes": '<div class="codeblock"><div>brew {</div><div>  steep 3</div><div>}</div></div>',
    "lines as a list": '<ol class="linenums"><li>brew {</li><li><span>  steep 3</span></li><li>}</li></ol>',
    "breaks in tt": "<tt>brew {<br>&nbsp;&nbsp;steep 3<br>}</tt>",
    "breaks and lines of the source in tt": "<tt>brew {<br>\n   &nbsp;&nbsp;steep 3<br>\n   }</tt>",
    "lines as paragraphs": "<pre><code>\n   <p>brew {</p>\n   <p>  steep 3</p>\n   <p>}</p>\n</code></pre>",
    "code that a script numbers": f'<pre><code class="language-x line-numbers">{BREW}</code></pre>',
    "numbers in elements before the lines": (
        '<pre><a name="l1">  1: </a><b>brew</b> {\n<a name="l2">  2: </a>  steep 3\n<a name="l4">  4: </a>}\n</pre>'
    ),
    "types that a pointer shows": (
        '<pre><span class="annot"><span class="annottext">brew :: Cup</span><a href="#b">brew</a></span> {\n  steep 3\n}\n</pre>'
    ),
    "Scribble verbatim": (
        '<table cellspacing="0" class="SVerbatim"><tbody><tr><td><p><span class="stt">brew {</span></p></td></tr><tr><td><p>'
        '<span class="hspace">&nbsp;&nbsp;</span><span class="stt">steep 3</span></p></td></tr>'
        '<tr><td><p><span class="stt">}</span></p></td></tr></tbody></table>'
    ),
}


@pytest.mark.parametrize("body", LAYOUTS.values(), ids=LAYOUTS)
def test_a_block_of_code_in_any_layout_keeps_its_lines(body: str) -> None:
    assert [code.rstrip("\n") for _, code in fences(markdown(body))] == [BREW.rstrip("\n")]


PROSE = {
    "a wrapped line of source": "<p>The <code>long\nname</code> is in a sentence.</p>",
    "highlighted prose": '<div class="highlight">Never boil\n it twice.</div>',
    "a box with a paragraph": '<div class="code-block"><p>Not code\nat all.</p></div>',
    "prose that keeps its lines": '<div style="white-space: pre-wrap">One\ntwo</div>',
    "a table of numbers and names": (
        "<table><tr><td>1</td><td><code>on</code></td></tr><tr><td>2</td><td><code>off</code></td></tr></table>"
    ),
    "a table of numbers that do not count": (
        '<table><tr><td>404</td><td class="code">gone</td></tr><tr><td>500</td><td class="code">spilt</td></tr></table>'
    ),
    "a table whose second column has headlines": (
        '<table><tr><td>1</td><td class="headline">Warm</td></tr><tr><td>2</td><td class="headline">Pour</td></tr></table>'
    ),
}


@pytest.mark.parametrize("body", PROSE.values(), ids=PROSE)
def test_prose_that_looks_like_code_stays_prose(body: str) -> None:
    assert fences(markdown(body)) == []


def test_a_numbered_list_in_highlighted_code_keeps_its_numbers() -> None:
    body = '<pre><span class="m">1.</span> warm\n<span class="m">2.</span> pour\n<span class="m">3.</span> wait\n</pre>'
    assert fences(markdown(body)) == [("", "1. warm\n2. pour\n3. wait\n")]


def test_a_box_of_several_lines_of_code_adds_no_empty_line_after_it() -> None:
    body = '<pre>import tea\n\n<div class="block">def pour():\n    return tea</div>\n\npour()\n</pre>'
    assert fences(markdown(body))[0][1] == "import tea\n\ndef pour():\n    return tea\n\npour()\n"


def test_the_code_of_scribble_keeps_its_indentation_and_its_prompts() -> None:
    body = (
        '<blockquote class="SCodeFlow"><table class="RktBlk"><tbody><tr><td><span class="RktPn">(</span><span class="RktSym">'
        '<a href="d.html">define</a></span><span class="hspace">&nbsp;</span><span class="RktSym">tea</span></td></tr><tr><td>'
        '<span class="hspace">&nbsp;&nbsp;</span><span class="RktVal">3</span><span class="RktPn">)</span></td></tr></tbody>'
        '</table></blockquote><blockquote class="SCodeFlow"><p><span class="stt">&gt; </span><span class="RktSym">tea</span></p>'
        '<p><span class="RktRes">3</span></p></blockquote>'
    )
    assert fences(markdown(body)) == [("racket", "(define tea\n  3)\n"), ("racket", "> tea\n3\n")]


@pytest.mark.parametrize(
    "body",
    [
        '<pre><div class="code__header">bash</div><code>{}</code></pre>',
        '<div class="code"><div class="code__header"><span>bash</span><button>Copy</button></div><pre>{}</pre></div>',
        '<figure><figcaption class="code-title">brew.bash</figcaption><pre>{}</pre></figure>',
    ],
)
def test_the_label_of_a_block_is_its_language_and_not_its_first_line(body: str) -> None:
    assert fences(markdown(body.format(BREW))) == [("bash", BREW)]


CHANGES = {
    "VitePress": (
        '<span class="line diff remove">old</span>\n<span class="line diff add">new</span>\n<span class="line">same</span>'
    ),
    "Shiki": '<span class="diff remove line">old</span>\n<span class="diff add line">new</span>\n<span class="line">same</span>',
    "Docusaurus": (
        '<span class="token-line code-block-diff-remove-line"><span>old</span><br></span>'
        '<span class="token-line code-block-diff-add-line">new<br></span><span class="token-line">same<br></span>'
    ),
    "Nextra": '<span class="line removed">old</span>\n<span class="line added">new</span>\n<span class="line">same</span>',
    "marked by hand": "<del>old</del>\n<ins>new</ins>\nsame\n",
    "data attributes": (
        '<span data-line data-diff="remove">old</span>\n<span data-line data-diff="add">new</span>\n<span data-line>same</span>'
    ),
}


@pytest.mark.parametrize("lines", CHANGES.values(), ids=CHANGES)
def test_lines_that_a_page_marks_as_removed_do_not_look_live(lines: str) -> None:
    body = f'<pre class="language-js"><code>{lines}</code></pre>'

    assert fences(markdown(body)) == [("diff", "-old\n+new\n same\n")]


def test_a_change_in_a_part_of_a_line_is_written_as_the_line_before_and_after_it() -> None:
    body = "<pre>cup = <del>1</del><ins>2</ins>\npour()\n</pre>"

    assert fences(markdown(body)) == [("diff", "-cup = 1\n+cup = 2\n pour()\n")]


def test_removed_and_added_lines_stand_where_they_were() -> None:
    body = "<pre>warm<del>\nboil</del>\n<ins>rest\n</ins>pour\n\n<del>spill\n</del>\nend\n</pre>"

    assert fences(markdown(body)) == [("diff", " warm\n-boil\n+rest\n pour\n \n-spill\n \n end\n")]


def test_lines_within_lines_are_written_once() -> None:
    body = "<pre>" + '<span class="line add">x' * 2_000 + "</span>" * 2_000 + "</pre>"

    ((_, code),) = fences(markdown(body))
    assert code.count("x") == 2_000


def test_many_equal_lines_beside_a_change_are_compared_in_linear_time() -> None:
    body = "<pre><del>x</del>\n" + "a\n" * 20_000 + "<ins>y</ins></pre>"

    ((language, code),) = fences(markdown(body))
    assert (language, code.count("\n")) == ("diff", 20_002)


def test_a_block_that_is_a_diff_already_gets_no_second_signs() -> None:
    body = '<pre class="language-diff"><span class="line removed">-old</span>\n<span class="line added">+new</span></pre>'

    assert fences(markdown(body)) == [("diff", "-old\n+new\n")]


CERTAIN = {
    ">>> brew()\n3\n": "pycon",
    "$ brew --tea\ndone\n": "console",
    "mia@pot:~/tea$ ls\n": "console",
    "PS C:\\tea> Get-Pot\n": "powershell",
    "irb(main):001:0> pot\n": "irb",
    "iex(1)> Pot.tea()\n": "iex",
    "#!/usr/bin/env python3\nprint(1)\n": "python",
    "#!/bin/sh\nls\n": "sh",
    '{"pot": {"size": 3}}\n': "json",
    '[{"pot": 1}, {"pot": 2}]\n': "json",
    "<?xml version='1.0'?>\n<pot/>\n": "xml",
    '<pot xmlns="urn:tea"><lid/></pot>\n': "xml",
    "<!DOCTYPE html>\n<p>Tea\n": "html",
    "<ul>\n  <li>Tea</li>\n</ul>\n": "html",
    "<?php echo 1;\n": "php",
    "GET /tea HTTP/1.1\nHost: pot\n": "http",
    "diff --git a/pot b/pot\n": "diff",
    "from pot import tea\ntea.brew()\n": "python",
    "def tea(pot):\n    return pot\n": "python",
    ">>> import pot\n>>> for cup in pot.cups:\n...     print('\\t', cup)\n3\n": "pycon",
    "SELECT tea\n  FROM pots WHERE size > 3;\n": "sql",
    "CREATE TABLE pots(size INT);\n": "sql",
    "package pot\n\nimport tea\n": "go",
    "#include <iostream>\nint main() {}\n": "cpp",
    "-module(pot).\n-export([tea/0]).\n": "erlang",
}
DOUBTFUL = [
    "$5 for a pot\n",
    "$ x^2 $\n",
    "[1, 2, 3]\n",
    "[pot]\nsize = 3\n",
    "{}\n",
    "{pot: 1}\n",
    "<Pot lid={true} />\n",
    '<pot v-if="tea">{{ tea }}</pot>\n',
    "<pot>\n",
    "<Figure size 3x3 with 1 Axes>\n",
    "import tea\n",
    "tea = brew(3)\n",
    "class Pot {\n}\n",
    ">>> brew [1,2,3]\n[3]\n",  # Haskell.
    ">>> import Data.Tea\n>>> pour (cup 3)\n4\n",
    "ALTER TABLE name [RENAME TO other]\n",
    "CREATE VIEW ... AS ...\n",
    "SELECT a pot and go on\n",
]


@pytest.mark.parametrize("code, language", CERTAIN.items())
def test_a_language_is_guessed_where_the_code_leaves_no_doubt(code: str, language: str) -> None:
    escaped = code.replace("&", "&amp;").replace("<", "&lt;")

    assert fences(markdown(f"<pre>{escaped}</pre>")) == [(language, code)]
    assert fences(markdown(f'<div class="highlight-none"><pre>{escaped}</pre></div>')) == [("", code)]


@pytest.mark.parametrize("code", DOUBTFUL)
def test_a_language_is_not_guessed_in_doubt(code: str) -> None:
    escaped = code.replace("&", "&amp;").replace("<", "&lt;")

    assert fences(markdown(f"<pre>{escaped}</pre>")) == [("", code)]


def test_code_that_is_parsed_to_guess_its_language_causes_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    code = "def tea(pot):\n    return pot[0x1for x in 3]\n"

    assert fences(markdown(f"<pre>{code}</pre>")) == [("", code)]
    assert not recwarn.list


def test_the_default_language_of_sphinx_is_python_if_the_code_is() -> None:
    def default(code: str) -> str:
        return fences(
            markdown(f'<div class="highlight-default notranslate"><div class="highlight"><pre>{code}</pre></div></div>')
        )[0][0]

    assert [default("tea = brew(3)\n"), default("import tea\n"), default("size = large\n"), default("pour the tea\n")] == [
        "python",
        "python",
        "",
        "",
    ]
