"""Builds the site that is crawled: pages that look like a documentation site, the same bytes for the same seed.

An article is 60–100 KB with about 150–300 anchors: navigation, a sidebar of its chapter, a table of contents, permalinks,
links in the text (relative, many with `../` and a fragment, targets repeated) and a few to other hosts. Every page is three
clicks from the index at most. Nothing here serves or measures.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

PAGES_PER_SECTION = 96
PAGES_PER_CHAPTER = 16
STATIC = {
    "_static/style.css": "body{font:16px/1.5 sans-serif;max-width:72rem;margin:auto}pre{overflow:auto}\n",
    "_static/doc.js": "document.documentElement.classList.add('js');\n",
    "_static/logo.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="3"/></svg>\n',
}


@dataclass(frozen=True, slots=True)
class Page:
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Section:
    index: Page
    chapters: tuple[tuple[Page, ...], ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A site on disk."""

    name: str
    root: Path
    pages: int | None
    """How many HTML pages a complete crawl finds; None when nobody has counted."""
    description: str


class Prose:
    """A stock of sentences, code blocks and tables: making them once keeps the building of thousands of pages quick."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(f"{seed}:prose")
        syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
        self.words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(1500)]
        self.sentences = [self._sentence(rng) for _ in range(800)]
        self.blocks = [self._code(rng) for _ in range(160)] + [self._table(rng) for _ in range(60)]

    def _sentence(self, rng: random.Random) -> str:
        words = rng.choices(self.words, k=rng.randint(9, 24))
        words[rng.randrange(len(words))] = f'<code class="literal"><span class="pre">{rng.choice(self.words)}</span></code>'
        if rng.random() < 0.3:
            words[rng.randrange(len(words))] = f"<em>{rng.choice(self.words)}</em>"
        return " ".join(words).capitalize() + "."

    def _code(self, rng: random.Random) -> str:
        lines = []
        for number in range(rng.randint(5, 16)):
            name, call, value = rng.choices(self.words, k=3)
            lines.append(
                f'{"    " * (number % 3)}<span class="n">{name}</span> <span class="o">=</span> <span class="n">{call}</span>'
                f'<span class="p">(</span><span class="s1">&#39;{value}&#39;</span><span class="p">)</span>'
            )
        return '<div class="highlight"><pre>' + "\n".join(lines) + "\n</pre></div>"

    def _table(self, rng: random.Random) -> str:
        def row() -> str:
            return "<tr>" + "".join(f"<td><p>{' '.join(rng.choices(self.words, k=3))}</p></td>" for _ in range(4)) + "</tr>"

        rows = [row() for _ in range(rng.randint(4, 10))]
        return '<table class="docutils"><tbody>\n' + "\n".join(rows) + "\n</tbody></table>"


def relative(source: str, target: str) -> str:
    """The shortest relative reference from one page to another."""
    here, there = source.split("/")[:-1], target.split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return "../" * (len(here) - shared) + "/".join(there[shared:])


def anchor(source: str, target: Page, fragment: str = "", text: str = "") -> str:
    hash_part = f"#{fragment}" if fragment else ""
    return f'<a class="reference internal" href="{relative(source, target.path)}{hash_part}">{text or target.title}</a>'


def plan(pages: int, seed: int) -> tuple[Page, list[Section]]:
    """The index and the sections: exactly `pages` pages together."""
    rng = random.Random(f"{seed}:plan")
    count = max(1, round(pages / (PAGES_PER_SECTION + 1)))
    articles, sections = pages - 1 - count, []
    for number in range(count):
        share = articles // count + (1 if number < articles % count else 0)
        folder = f"section-{number:02d}"
        made = [
            Page(
                f"{folder}/chapter-{n // PAGES_PER_CHAPTER}/article-{n:03d}.html", f"Article {number}.{n}: {rng.randrange(10**6)}"
            )
            for n in range(share)
        ]
        chapters = tuple(tuple(made[at : at + PAGES_PER_CHAPTER]) for at in range(0, share, PAGES_PER_CHAPTER))
        sections.append(Section(Page(f"{folder}/index.html", f"Section {number}"), chapters))
    return Page("index.html", "The documentation"), sections


class Writer:
    """Writes the pages of one plan."""

    def __init__(self, root: Path, pages: int, seed: int) -> None:
        self.root, self.seed = root, seed
        self.index, self.sections = plan(pages, seed)
        self.prose = Prose(seed)
        self.everything = [page for section in self.sections for chapter in section.chapters for page in chapter]
        self.digest = hashlib.sha256()

    def write_all(self) -> None:
        for path, content in STATIC.items():
            self._write(path, content)
        self._write(self.index.path, self._listing(self.index, [section.index for section in self.sections]))
        for section in self.sections:
            openers = [chapter[0] for chapter in section.chapters]
            self._write(section.index.path, self._listing(section.index, openers))
            for chapter in section.chapters:
                for page in chapter:
                    self._write(page.path, self._article(page, section, chapter))

    def _write(self, path: str, content: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode()
        self.digest.update(path.encode() + b"\0" + data)
        target.write_bytes(data)

    def _frame(self, page: Page, sidebar: str, body: str) -> str:
        up = relative(page.path, "_static/")
        near = [section.index for section in self.sections[:12]]
        navigation = "".join(f"<li>{anchor(page.path, other)}</li>" for other in [self.index, *near])
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{page.title} — documentation</title>\n'
            f'<link rel="stylesheet" href="{up}style.css"><script src="{up}doc.js" defer></script></head>\n'
            f'<body><header><img src="{up}logo.svg" alt="Logo"><nav><ul>{navigation}</ul></nav></header>\n'
            f'<aside class="sidebar">{sidebar}</aside>\n<main>'
            f'<h1 id="top">{page.title}<a class="headerlink" href="#top">¶</a></h1>\n'
            f'{body}\n</main>\n<footer><a href="#top">Top</a> {anchor(page.path, self.index, text="Home")} '
            f'<a href="https://www.example.org/about">About</a> <a href="https://www.example.org/licence">Licence</a></footer>'
            f"</body></html>\n"
        )

    def _listing(self, page: Page, targets: list[Page]) -> str:
        notes = random.Random(f"{self.seed}:{page.path}").choices(self.prose.sentences, k=len(targets))
        entries = [f"<li><p>{anchor(page.path, target)} {note}</p></li>" for target, note in zip(targets, notes, strict=True)]
        return self._frame(page, "", '<ul class="toctree">\n' + "\n".join(entries) + "\n</ul>")

    def _article(self, page: Page, section: Section, chapter: tuple[Page, ...]) -> str:
        rng = random.Random(f"{self.seed}:{page.path}")
        size = rng.randint(52_000, 90_000)
        near = [other for part in section.chapters for other in part]
        targets = rng.choices(near, k=30) + rng.choices(self.everything, k=rng.randint(10, 60))
        parts: list[str] = []
        contents: list[str] = []
        while size > 0:
            part = self._part(page, f"part-{len(parts)}", targets, rng)
            contents.append(f'<li><a class="reference" href="#part-{len(parts)}">{rng.choice(self.prose.words)}</a></li>')
            parts.append(part)
            size -= len(part)
        return self._frame(page, self._sidebar(page, section, chapter), f"<ul>{''.join(contents)}</ul>\n" + "\n".join(parts))

    def _sidebar(self, page: Page, section: Section, chapter: tuple[Page, ...]) -> str:
        entries = [anchor(page.path, section.index)] + [anchor(page.path, part[0]) for part in section.chapters]
        for other in chapter:
            entries.append(anchor(page.path, other))
            entries += [anchor(page.path, other, f"part-{n}", f"Part {n}") for n in (1, 2)]
        return "<ul>\n" + "\n".join(f"<li>{entry}</li>" for entry in entries) + "\n</ul>"

    def _part(self, page: Page, name: str, targets: list[Page], rng: random.Random) -> str:
        paragraphs = []
        for _ in range(rng.randint(2, 4)):
            text = rng.choices(self.prose.sentences, k=rng.randint(2, 5))
            links = [
                anchor(page.path, target, rng.choice(("", "part-0", "part-3")), f"<code>{rng.choice(self.prose.words)}()</code>")
                for target in rng.choices(targets, k=rng.randint(1, 3))
            ]
            paragraphs.append(f"<p>{' '.join(text)} See {', '.join(links)}.</p>")
        outside = f'<a href="https://www.example.org/{rng.randrange(2000)}">source</a>' if rng.random() < 0.2 else ""
        heading = f'<h2>{rng.choice(self.prose.words)}<a class="headerlink" href="#{name}" title="Permalink">¶</a></h2>'
        blocks = "\n".join(rng.choices(self.prose.blocks, k=rng.randint(0, 2)))
        return f'<section id="{name}">{heading}\n' + "\n".join(paragraphs) + f"\n{blocks}{outside}</section>"


def build(cache: Path, pages: int, seed: int) -> Site:
    """The generated site, built once for each size and seed."""
    if pages < 20:
        raise ValueError("the generated site needs 20 pages or more")
    root = cache / "sites" / f"generated-{pages}-{seed}"
    manifest = root.with_suffix(".json")
    source = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    if not manifest.exists() or json.loads(manifest.read_text())["source"] != source:
        shutil.rmtree(root, ignore_errors=True)
        writer = Writer(root, pages, seed)
        writer.write_all()
        manifest.write_text(json.dumps({"source": source, "digest": writer.digest.hexdigest()}))
    digest = json.loads(manifest.read_text())["digest"]
    return Site("generated", root, pages, f"{pages:,} pages, seed {seed}, digest {digest[:12]}")


def python_doc() -> Site | None:
    """The HTML of Debian's package python3-doc, where it is installed."""
    for root in sorted(Path("/usr/share/doc").glob("python3*/html")):
        if (root / "index.html").exists():
            return Site("python3-doc", root.resolve(), None, "Debian's package python3-doc")
    return None
