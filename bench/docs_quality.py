"""Measures how well the documentation on a page is found and written: words of our Markdown against words of a ground truth.

The corpus is a folder with `html/ID.html.gz` and `ground-truth/ID.json` (WCXB, its documentation pages). The score of a page is
the F1 of the two multisets of words; of the Markdown only what a reader would see counts: no addresses of links, no languages of
fences, no marks of callouts. Prints a table, the worst page first; `--page ID` shows what is too much and what is missing on one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tadoru.jobs.docs.content import MainContent, find_main_content
from tadoru.jobs.docs.markdown import ConvertOptions, convert
from tadoru.parse.html import HtmlDocument

CORPUS = Path(__file__).resolve().parent.parent.parent / "shared" / "corpora" / "wcxb-docs-dev"
CONTENT_TYPE = "text/html; charset=utf-8"

_WORD = re.compile(r"\w+")
_FENCE = re.compile(r"[ >]*(`{3,}|~{3,})")
_TARGET = re.compile(r"\]\((?:<[^>]*>|(?:[^()\s]|\([^()]*\))*)(?:\s+\"[^\"]*\")?\)")
_CALLOUT = re.compile(r"\[!(?:NOTE|TIP|WARNING|IMPORTANT|CAUTION)\]")
_BARE_LINK = re.compile(r"<https?://[^>]*>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


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
    """Markdown without what only a program reads: targets of links, languages of fences, marks of callouts, escapes."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" >`~"):
                fence = ""
            else:
                lines.append(line)
        elif mark:
            fence = mark[1]
        else:
            plain = _BARE_LINK.sub("", _TARGET.sub("]", _CALLOUT.sub("", line)))
            lines.append(_ESCAPE.sub(r"\1", plain))
    return "\n".join(lines)


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
    print(
        f"mean of {len(results)}: F1 {statistics.fmean(result.score.f1 for result in results):.4f}"
        f"  P {statistics.fmean(result.score.precision for result in results):.4f}"
        f"  R {statistics.fmean(result.score.recall for result in results):.4f}"
        f"  {statistics.fmean(result.seconds for result in results) * 1000:.1f} ms a page"
    )


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
