"""How well the search of documentation answers questions: `python -m bench.docs_search`.

`search_questions/*.tsv` has questions about eight manuals of Debian: kind, question, and the pages that answer it. `words` use
the words of the manual, `identifier`s and `keyword`s are names or a few words, `paraphrase`s use other words. The manuals are
downloaded with apt-get, crawled by `tadoru docs` over loopback and kept below `.bench/`. Printed are the shares of questions
whose first page, or one of the first five, is right, the mean reciprocal rank, and the CPU of a search beside that of a bare FTS5
query for the same words: by words, and with the word vectors of `tadoru[semantic]` if it is installed.
"""

from __future__ import annotations

import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from bench.server import serve
from bench.site import Site
from tadoru import docs
from tadoru.jobs.docs.search import ensure_index, index_path, search_site
from tadoru.jobs.docs.semantic import is_available
from tadoru.store.search_terms import asked

QUESTIONS = Path(__file__).parent / "search_questions"
CACHE = Path(__file__).parent.parent / ".bench" / "search"
MANUALS = {
    "git": ("git-doc", "usr/share/doc/git-doc"),
    "postgres": ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    "python": ("python3.11-doc", "usr/share/doc/python3.11/html"),
    "sqlite": ("sqlite3-doc", "usr/share/doc/sqlite3"),
}
HELD_OUT = {"django": ("python-django-doc", "usr/share/doc/python-django-doc/html")}
"""A manual whose questions were written before the weights were chosen on those of the others, and on none of its own."""
FRESH = {
    "apache": ("apache2-doc", "usr/share/doc/apache2-doc/manual/en"),
    "octave": ("octave-doc", "usr/share/doc/octave/octave.html"),
    "rust": ("rust-doc", "usr/share/doc/rust-doc/html/book"),
}
"""Manuals whose questions were written without a look at the program; weights may be chosen on the even rows, not on the odd."""
OTHER_EDITIONS = [r"/print\.html$", r"-edition/"]
"""Pages of the manual of Rust that repeat others."""
BARE = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10"


class Question(NamedTuple):
    """A question and the pages that answer it, as paths without `.html`."""

    kind: str
    text: str
    pages: frozenset[str]


class Answer(NamedTuple):
    """The place of the first right page, 0 if it is not among the first ten hits, and seconds of CPU."""

    kind: str
    rank: int
    seconds: float
    bare_seconds: float


def crawled(manual: str) -> Path:
    """The folder of a manual, crawled if it is not there."""
    folder = CACHE / "sites" / manual
    if (folder / "index.json").exists():
        ensure_index(folder)
        return folder
    package, inside = (MANUALS | HELD_OUT | FRESH)[manual]
    files = CACHE / "packages" / manual
    files.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", "-q", package], cwd=files, check=True, capture_output=True)
    subprocess.run(["dpkg", "-x", str(next(files.glob("*.deb"))), str(files)], check=True)
    site = Site(manual, files / inside, None, package)
    with tempfile.TemporaryDirectory() as logs, serve(site, Path(logs)) as server:
        docs(server.url, output=str(folder), scope="path", delay=0.0, depth=20, limit=0, render="never", exclude=OTHER_EDITIONS)
    return folder


def questions(manual: str) -> list[Question]:
    """The questions about a manual."""
    lines = (QUESTIONS / f"{manual}.tsv").read_text("utf-8").splitlines()
    return [Question(kind, text, frozenset(pages.split())) for kind, text, pages in (line.split("\t") for line in lines)]


def answer(folder: Path, index: sqlite3.Connection, question: Question, *, by_meaning: bool) -> Answer:
    """Ask a question."""
    begun = time.process_time()
    hits = search_site(folder, question.text, 10, by_meaning=by_meaning).hits
    seconds = time.process_time() - begun
    begun = time.process_time()
    index.execute(BARE, (asked(question.text).expression(every=False),)).fetchall()
    bare = time.process_time() - begun
    paths = dict.fromkeys(hit.url.partition("#")[0].partition("://")[2].partition("/")[2].removesuffix(".html") for hit in hits)
    rank = next((place for place, path in enumerate(paths, 1) if path in question.pages), 0)
    return Answer(question.kind, rank, seconds, bare)


def report(name: str, answers: list[Answer]) -> str:
    """One line of figures."""
    number = len(answers)
    first = sum(one.rank == 1 for one in answers) / number
    five = sum(0 < one.rank <= 5 for one in answers) / number
    mean = sum(1 / one.rank for one in answers if one.rank) / number
    cost = sum(one.seconds for one in answers) / sum(one.bare_seconds for one in answers)
    return f"| {name} | {number} | {first:.3f} | {five:.3f} | {mean:.3f} | {cost:.1f} |"


def ask(manuals: Iterable[str], *, by_meaning: bool, rows: slice = slice(None)) -> list[Answer]:
    """Ask the questions about some manuals, all or some rows of them."""
    answers: list[Answer] = []
    for manual in manuals:
        folder = crawled(manual)
        search_site(folder, "to load what a process loads once", by_meaning=by_meaning)
        with closing(sqlite3.connect(f"{index_path(folder).absolute().as_uri()}?mode=ro", uri=True)) as index:
            asked_here = [answer(folder, index, question, by_meaning=by_meaning) for question in questions(manual)[rows]]
        print(report(manual, asked_here), flush=True)
        answers += asked_here
    return answers


def main() -> None:
    for by_meaning in (False, True) if is_available() else (False,):
        print(f"\n{'By words and meaning' if by_meaning else 'By words'}:\n")
        print("| questions | number | hit@1 | hit@5 | MRR | CPU of a bare query |\n|---|--:|--:|--:|--:|--:|")
        every = ask(MANUALS, by_meaning=by_meaning)
        for kind in dict.fromkeys(one.kind for one in every):
            print(report(kind, [one for one in every if one.kind == kind]))
        print(report("all", every))
        held_out = ask(HELD_OUT, by_meaning=by_meaning)
        for kind in dict.fromkeys(one.kind for one in held_out):
            print(report(f"held out, {kind}", [one for one in held_out if one.kind == kind]))
        for name, rows in (("even rows", slice(1, None, 2)), ("odd rows", slice(0, None, 2))):
            fresh = ask(FRESH, by_meaning=by_meaning, rows=rows)
            for kind in dict.fromkeys(one.kind for one in fresh):
                print(report(f"{name}, {kind}", [one for one in fresh if one.kind == kind]))
            print(report(name, fresh))


if __name__ == "__main__":
    main()
