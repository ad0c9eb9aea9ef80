"""Measures how well the documentation on a page is found and written: words of our Markdown against words of a ground truth.

The corpus is a folder with `html/ID.html.gz` and `ground-truth/ID.json` (WCXB, its documentation pages). The score of a page is
the F1 of the two multisets of words; of the Markdown, which is parsed, only what a reader would see counts: no targets of links,
no alternatives of images, no languages of fences, no marks of callouts. Prints a table, the worst page first, and the means of
all pages and of those whose ground truth is complete; `--page ID` shows what is too much and what is missing on one.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from tadoru.jobs.docs.content import MainContent, find_main_content
from tadoru.jobs.docs.markdown import ConvertOptions, convert
from tadoru.parse.html import HtmlDocument

CORPUS = Path(__file__).resolve().parent.parent.parent / "shared" / "corpora" / "wcxb-docs-dev"
CONTENT_TYPE = "text/html; charset=utf-8"

_WORD = re.compile(r"\w+")
_CALLOUT = re.compile(r"\[!(?:NOTE|TIP|WARNING|IMPORTANT|CAUTION)\]")


INCOMPLETE = {
    "0670": "ends before the last fifth of the page",
    "2854": "has no code of the examples",
    "2855": "ends before the second half of the page",
    "2857": "of another page than its URL, of which it has the first third",
    "2861": "has the signatures of the methods and not their texts",
    "2863": "has a quarter of the page, with gaps",
    "2866": "has four fifths of the page, with gaps",
    "2871": "has half of the page, with gaps",
}
"""Pages of the corpus whose ground truth is not that of the whole page, and why."""


class Sample(NamedTuple):
    """A page of the corpus and what a reader takes for its content."""

    name: str
    url: str
    body: bytes
    truth: str


class Score(NamedTuple):
    """How two texts agree, word by word."""

    f1: float
    precision: float
    recall: float
    extra: Counter[str]
    missing: Counter[str]


class Result(NamedTuple):
    """One page, scored. `seconds`: CPU for finding and cleaning alone."""

    sample: Sample
    score: Score
    main: MainContent
    seconds: float


def samples(corpus: Path = CORPUS) -> Iterator[Sample]:
    """The pages of a corpus, by name."""
    for file in sorted((corpus / "ground-truth").glob("*.json")):
        truth = json.loads(file.read_text("utf-8"))
        body = gzip.decompress((corpus / "html" / f"{file.stem}.html.gz").read_bytes())
        yield Sample(file.stem, truth["url"], body, truth["ground_truth"]["main_content"])


def score(text: str, truth: str) -> Score:
    """F1 of two multisets of words."""
    found, wanted = Counter(_WORD.findall(text.lower())), Counter(_WORD.findall(truth.lower()))
    shared = (found & wanted).total()
    precision, recall = shared / max(1, found.total()), shared / max(1, wanted.total())
    f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    return Score(f1, precision, recall, found - wanted, wanted - found)


def readable(markdown: str) -> str:
    """What a reader sees of Markdown, parsed: texts and code, without targets of links, languages of fences, images and marks."""
    parts: list[str] = []
    for token in _PARSER.parse(_CALLOUT.sub("", markdown)):
        if token.type in ("fence", "code_block"):
            parts.append(token.content)
        elif token.type == "html_block":
            parts.append(_TAG.sub(" ", token.content))
        elif token.type == "inline":
            inner = token.children or []
            parts.append("".join("\n" if "break" in one.type else one.content for one in inner if one.type in _SHOWN))
    return html.unescape("\n".join(parts))


_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_SHOWN = frozenset(("text", "code_inline", "softbreak", "hardbreak"))
_TAG = re.compile(r"<[^>]*>")


def measure(sample: Sample) -> Result:
    """Read one page as the docs job does, and score it."""
    document = HtmlDocument.parse(sample.body, CONTENT_TYPE)
    started = time.process_time()
    main = find_main_content(document, sample.url)
    seconds = time.process_time() - started
    first = main.root.css_first("h1,h2")
    repeats = first is not None and " ".join(first.text().split()).startswith(main.title)
    markdown = convert(main.root, base=sample.url, options=ConvertOptions(title=None if repeats else main.title))
    return Result(sample, score(readable(markdown.text), sample.truth), main, seconds)


def show(results: list[Result], *, words: bool) -> None:
    """The table, worst first, and the means."""
    for result in sorted(results, key=lambda result: result.score.f1):
        found, milliseconds = result.score, result.seconds * 1000
        print(
            f"{result.sample.name}  {found.f1:.3f}  P {found.precision:.3f}  R {found.recall:.3f}  {milliseconds:5.1f} ms"
            f"  {result.main.generator or '-':20}  {result.sample.url[:80]}"
        )
        if words:
            print("   too much:", dict(found.extra.most_common(40)))
            print("   missing: ", dict(found.missing.most_common(40)))
            print("   because: ", result.main.reason)
    complete = [result for result in results if result.sample.name not in INCOMPLETE]
    for name, part in (("all", results), ("with a complete ground truth", complete)):
        if part:
            means = (statistics.fmean(getattr(result.score, which) for result in part) for which in ("f1", "precision", "recall"))
            figures = "  ".join(f"{letter} {mean:.4f}" for letter, mean in zip(("F1", "P", "R"), means, strict=True))
            seconds = statistics.fmean(result.seconds for result in part)
            print(f"mean of {len(part)} {name}: {figures}  {seconds * 1000:.1f} ms a page")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--page", action="append", default=[], help="only this page, with its words; may be repeated")
    options = parser.parse_args()
    if not options.corpus.is_dir():
        print(f"There is no corpus in {options.corpus}. Give its folder with --corpus.", file=sys.stderr)
        return 2
    chosen = [sample for sample in samples(options.corpus) if not options.page or sample.name in options.page]
    if not chosen:
        print("No page of the corpus has this name.", file=sys.stderr)
        return 2
    show([measure(sample) for sample in chosen], words=bool(options.page))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
