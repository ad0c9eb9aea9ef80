"""Writing the files of a site: from its stored pages to everything in its folder, with no more than one page in memory.

The pages are asked for two or three times: to see whether anything is new at all, to count what they repeat, and to write them.
When nothing is new, nothing is written but the time of the check.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO

from tadoru.errors import StoreError
from tadoru.jobs.docs.bundle import changes, chunks, full, index, llms, pages, skill
from tadoru.jobs.docs.bundle.base import (
    BundleOptions,
    Change,
    Changes,
    Pages,
    Site,
    StoredDoc,
    StoredSpec,
    Written,
    one_line,
    stamp,
)
from tadoru.jobs.docs.bundle.boilerplate import LEAST_PAGES, Repeated, without_repeated
from tadoru.jobs.docs.bundle.files import Folder, Kept, Manifest, copy
from tadoru.jobs.docs.bundle.local import with_local_links
from tadoru.jobs.docs.bundle.names import page_file
from tadoru.jobs.docs.bundle.specs import Spec, named
from tadoru.jobs.docs.bundle.tokens import Weigh, rounded, weigher
from tadoru.jobs.docs.search import Indexing, index_path, page_row
from tadoru.store.docs_search import PageRow, is_current

Specs = Callable[[], Iterable[StoredSpec]]
Note = Callable[[Changes], None]
_FORM = "1"
"""Counts up when the same pages are to be written differently."""


def write_bundle(
    root: Path, site: Site, docs: Pages, options: BundleOptions, specs: Specs = tuple, note: Note | None = None
) -> Written:
    """Write the folder of a site. Raises UsageError for a folder that is not ours, StoreError for a disk that fails.

    `note` is told what is different from the run before, ahead of that being forgotten: who is killed in between is told again.
    """
    weigh = weigher(options.tokenizer)
    try:
        folder = Folder(root)
        fingerprint, count = _fingerprint(site, docs, options, specs)
        if folder.earlier.fingerprint == fingerprint and folder.is_intact() and is_current(index_path(root)):
            return _checked(folder, site)
        return _Run(folder, site, options, weigh).write(docs, specs, fingerprint, count, note)
    except OSError as error:
        where = error.filename or root
        raise StoreError(
            f"{where} could not be written ({error.strerror or error}): see to the disk and run the same command again."
        ) from error


def _checked(folder: Folder, site: Site) -> Written:
    earlier = folder.earlier
    folder.touch(index.LAST_CHECKED, index.last_checked(site.checked_at))
    tokens = sum(kept.tokens for kept in earlier.pages.values())
    return Written(len(earlier.pages), tokens, len(earlier.specs), Changes(), 0, earlier.repeated)


def _fingerprint(site: Site, docs: Pages, options: BundleOptions, specs: Specs) -> tuple[str, int]:
    """Everything the files depend on but the times, as one hash; and how many pages there are."""
    digest = hashlib.sha256()

    def add(value: object) -> None:
        digest.update(repr(value).encode("utf-8", "replace") + b"\n")

    add((_FORM, asdict(replace(options, diff=False)), site.base_url, site.title, site.description, sorted(site.config.items())))
    count = 0
    for doc in docs():
        add(replace(doc, markdown="", crawled_at=0.0, etag=None, last_modified=None))
        count += 1
    for spec in specs():
        add((spec.url, spec.content_type, hashlib.sha256(spec.body).hexdigest()))
    return digest.hexdigest(), count


def repeated_blocks(docs: Pages, count: int) -> frozenset[int]:
    """What most pages say, counted in one pass; a very large site takes a second one."""
    if count < LEAST_PAGES:
        return frozenset()
    seen = Repeated()
    for doc in docs():
        seen.add(doc.markdown)
    if seen.needs_recount:
        seen.recount()
        for doc in docs():
            seen.add(doc.markdown)
    return seen.found()


class _Run:
    """One writing of all files."""

    def __init__(self, folder: Folder, site: Site, options: BundleOptions, weigh: Weigh) -> None:
        self.folder = folder
        self.site = site
        self.options = options
        self.weigh = weigh
        self.entries: list[llms.Entry] = []
        self.kept: dict[str, Kept] = {}
        self.files: dict[str, str] = {}
        """Where each page is, when links lead to files."""
        self.languages: dict[str, int] = {}
        self.dropped = 0
        self.chunk = 0
        self.added: list[Change] = []
        self.changed: list[Change] = []

    def write(self, docs: Pages, specs: Specs, fingerprint: str, count: int, note: Note | None) -> Written:
        repeated = repeated_blocks(docs, count) if self.options.boilerplate else frozenset()
        if self.options.local_links:
            self.files = {doc.url: page_file(doc.number, doc.url) for doc in docs()}
        with self.folder.scratch() as entries:
            with ExitStack() as stack:
                self.search = stack.enter_context(Indexing(self.folder.root))
                merged = stack.enter_context(self.folder.stream("full.md")) if self.options.merge else None
                together = stack.enter_context(self.folder.stream("llms-full.txt")) if self.options.merge else None
                for doc in docs():
                    markdown, dropped = without_repeated(doc.markdown, repeated)
                    self.dropped += dropped
                    digest = _hash(markdown) if dropped else doc.hash
                    entry = self._page(replace(doc, markdown=markdown), digest, merged, together)
                    entries.write((b",\n" if len(self.entries) > 1 else b"\n") + entry)
                if merged and together and self.entries:
                    merged.write(b"\n")
                    together.write(b"\n")
            found = self._specs(specs)
            changed = Changes(tuple(self.added), tuple(self.changed), self._removed())
            self._about(found, changed)
            crawled_at = self._crawled_at(changed)
            with self.folder.stream("index.json", counts=False) as out:
                out.write(index.head(self.site, crawled_at, self._facts(len(repeated))))
                copy(entries, out)
                out.write(index.tail(found, any_pages=bool(self.entries)))
        if note is not None and changed and self.folder.earlier.pages:
            note(changed)
        self.folder.finish(Manifest(fingerprint, crawled_at, {}, self.kept, {s.url: s.file for s in found}, self.dropped))
        tokens = sum(entry.tokens for entry in self.entries)
        return Written(len(self.entries), tokens, len(found), changed, self.folder.rewritten, self.dropped)

    def _page(self, doc: StoredDoc, digest: str, merged: BinaryIO | None, together: BinaryIO | None) -> bytes:
        """Write everything a page is in, and give its entry in the index."""
        file = page_file(doc.number, doc.url)
        tokens = rounded(self.weigh(doc.markdown))
        crawled_at = self._compare(doc, digest, file)
        self.kept[doc.url] = Kept(doc.number, digest, doc.title, crawled_at, tokens)
        self.entries.append(llms.entry(doc, self.site.base_url, file, tokens))
        if doc.language:
            self.languages[doc.language] = self.languages.get(doc.language, 0) + 1
        if self.options.pages:
            fields = pages.frontmatter(doc, digest=digest, tokens=tokens, crawled_at=crawled_at)
            markdown = with_local_links(doc.markdown, self.files) if self.files else doc.markdown
            self.folder.write(file, _bytes(pages.render(fields, markdown)))
        section = full.section(doc.title, doc.url, doc.markdown)
        if merged and together:
            first = len(self.entries) == 1
            merged.write(_bytes(section if first else full.SEPARATOR + section))
            together.write(_bytes(("" if first else "\n\n") + full.llms_section(doc.title, doc.url, doc.markdown)))
        if self.options.chunks:
            self._chunks(doc, section)
        crumbs = tuple(one_line(crumb, 200) for crumb in doc.breadcrumbs)
        row = PageRow(
            doc.url, one_line(doc.title) or doc.url, file, tokens, number=doc.number, hash=digest, crawled_at=crawled_at,
            crumbs=crumbs,
        )  # fmt: skip
        self.search.add(page_row(row, doc.headings), doc.markdown, doc.headings)
        return index.page_entry(doc, file=file, digest=digest, tokens=tokens, crawled_at=crawled_at)

    def _compare(self, doc: StoredDoc, digest: str, file: str) -> str:
        """Note what is new about a page; the time it is said to be crawled at moves only then."""
        before = self.folder.earlier.pages.get(doc.url)
        if before and (before.hash, before.title) == (digest, doc.title):
            return before.crawled_at
        (self.changed if before else self.added).append(Change(doc.url, doc.title, file))
        return stamp(doc.crawled_at)

    def _chunks(self, doc: StoredDoc, section: str) -> None:
        budget = self.options.chunk_tokens
        title = one_line(doc.title) or doc.url
        parts = chunks.by_tokens(doc.markdown, title, doc.url, budget, self.weigh) if budget else chunks.at_titles(section)
        for part in parts:
            self.chunk += 1
            self.folder.write(f"chunks/chunk-{self.chunk:03}.md", _bytes(part))

    def _specs(self, specs: Specs) -> list[Spec]:
        found = []
        for spec in named(specs(), self.folder.earlier.specs):
            self.folder.write(spec.file, spec.body)
            found.append(replace(spec, body=b""))
        return found

    def _about(self, specs: list[Spec], changed: Changes) -> None:
        """The files that speak of the others."""
        self.folder.write("llms.txt", _bytes(llms.render(self.site, self.entries, pages=self.options.pages)))
        told = skill.render(self.site, self.folder.root.resolve().name, self.entries, len(specs), self.options)
        self.folder.write("SKILL.md", _bytes(told))
        if self.options.diff and changed and self.folder.earlier.pages:
            self.folder.write("changes.md", _bytes(changes.render(changed, pages=self.options.pages)))
        elif self.options.diff:
            self.folder.keep("changes.md")

    def _removed(self) -> tuple[Change, ...]:
        gone = ((url, kept) for url, kept in self.folder.earlier.pages.items() if url not in self.kept)
        return tuple(Change(url, kept.title, page_file(kept.number, url)) for url, kept in sorted(gone))

    def _crawled_at(self, changed: Changes) -> str:
        earlier = self.folder.earlier.crawled_at
        return earlier if earlier and not changed else stamp(self.site.checked_at)

    def _facts(self, repeated: int) -> dict[str, object]:
        language = max(sorted(self.languages), key=self.languages.__getitem__) if self.languages else None
        return {
            "title": llms.site_title(self.site),
            "language": language,
            "totalPages": len(self.entries),
            "totalTokens": sum(entry.tokens for entry in self.entries),
            "tokenizer": self.options.tokenizer,
            "repeatedBlocks": repeated,
        }


def _hash(markdown: str) -> str:
    return hashlib.sha256(_bytes(markdown)).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # half a surrogate pair is no character in any file
