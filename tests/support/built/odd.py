"""Code that careless programs damage, spelled out with escapes so that no editor can damage it first.

Each is written to a file beside the sources of every site before it is built, and included by its pages.
"""

from __future__ import annotations

from pathlib import Path

ODD: dict[str, str] = {
    "tabs.mk": "boil: kettle\n\tkettle --fill 1\t# one tab here\n\n\tkettle --heat 96\n",
    "trailing.txt": "two spaces  \nthree spaces   \nnone\n  \nafter a line of spaces\n",
    "gaps.py": 'import kettle\n\n\n\n# begin\nclass Pot:\n    """A pot."""\n\n    lid = None\n\n\n# finish\n\npour = Pot()\n',
    "long.json": '{"leaves": [' + ", ".join(f'"leaf number {number:04d}"' for number in range(400)) + "]}\n",
    "unicode.txt": "お湯を沸かす 100 ℃\nchaud ≥ 96 °C — “très”\n🫖☕ 👩🏽\u200d🔬\ne\u0301 = é? a\u00a0b\u3000c\nשלום ← مرحبا\n",
    "ticks.md": "Write `code` and\n\n```python\nkettle.heat()\n```\n\n````\n```\n````\n\n~~~~\nend\n~~~~\n",
    "markup.html": (
        '<script>alert("hot & <b>cold</b>")</script>\n<!-- a remark -->\n'
        "<p title='&quot;'>&lt;tea&gt; &amp;amp;</p>\n</pre></code>\n"
    ),
    "template.j2": "{% for cup in cups %}\n  {{ cup.name | upper }}{# note #}\n{% endfor %}\n{{ '{{' }}\n",
    "slashes.txt": 'C:\\kettle\\new\\tea "\\d+\\\\"\n\\(not math\\) $x$ $$y$$ \\[z\\]\n\\\n',
    "marks.txt": (
        "# not a heading\n* not a list\n1. nor this\n> nor a quote\n| nor | a | table |\n|---|---|---|\n"
        "**not bold** _x_ [a](b) ![c](d)\n---\n[^1]: no note\n"
    ),
}

_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000000000500015e45"
    "8b0f0000000049454e44ae426082"
)


def write(folder: Path) -> None:
    """Put the files, and a picture, where the pages of a site look for them."""
    for name, text in ODD.items():
        target = folder / "_odd" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    picture = folder / "_pictures" / "kettle.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_bytes(_PIXEL)
