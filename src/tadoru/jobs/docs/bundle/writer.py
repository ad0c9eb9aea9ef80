"""Writes all files of a site from its stored pages, with at most one page in memory.

The pages are read two or three times: to detect changes, to count repeated text, and to write them. If nothing has changed, only
the time of the check is written.

Text that most pages repeat is removed: a paragraph that is on at least 60 % of the pages, and on at least five, and a table that
has only links. Code and other tables are not changed. A paragraph below the same heading on most pages is a section that they
share, as the methods of every type in a reference: it stays. A page that would lose more than half of its text is not changed. No
heading is left without content: if such a paragraph is all that a section contains, the section is removed with its heading at
the end of a page (a colophon), and stays elsewhere.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from math import ceil
from pathlib import Path
from typing import BinaryIO

from tadoru.errors import StoreError
from tadoru.jobs.docs import semantic
from tadoru.jobs.docs.bundle import chunks, model, site_files
from tadoru.jobs.docs.bundle.api_specs import ApiSpec, name_specs
from tadoru.jobs.docs.bundle.links import LinkedFile, linked_file, linked_urls, rewrite_links, with_local_links
from tadoru.jobs.docs.bundle.markdown_blocks import MarkdownBlock, split_blocks
from tadoru.jobs.docs.bundle.output_folder import BundleManifest, ManifestPage, OutputFolder, copy_scratch, page_file_name
from tadoru.jobs.docs.bundle.tokens import TokenCounter, round_tokens, token_counter
from tadoru.jobs.docs.search import SectionIndexer, index_path, index_row
from tadoru.store.docs_search import IndexedPage, is_current

MIN_PAGE_SHARE = 0.6
MIN_PAGES = 5
_MIN_LENGTH = 40
"""Characters; shorter paragraphs ("Returns:", "See also") are part of how reference pages are written."""
_MAX_COUNTERS = 60_000
_Key = int | tuple[int, int] | None
"""The hash of a block, or the hashes of a heading and a block below it."""


class RepeatedBlocks:
    """Counts blocks in one pass over a site's pages, in constant memory.

    Frequent blocks are found by the Misra–Gries algorithm: when all counters are in use, each is lowered by one. Blocks that are
    on most pages remain; their counts may be too low, so the pages are counted once more (`needs_recount`).
    """

    def __init__(self, most_counters: int = _MAX_COUNTERS) -> None:
        self._most = most_counters
        self._counts: dict[_Key, int] = {}
        self._is_closed = False
        self._lowered = 0
        self.pages = 0

    def add(self, markdown: str) -> None:
        """Count a page: each of its blocks once."""
        self.pages += not self._is_closed
        counts = self._counts
        for key in {key for _, block, below in _candidates(markdown) for key in (block, below)} - {None}:
            if key in counts:
                counts[key] += 1
            elif not self._is_closed:
                counts[key] = 1
        if len(counts) > self._most:
            self._lower()

    def _lower(self) -> None:
        self._counts = {key: count - 1 for key, count in self._counts.items() if count > 1}
        self._lowered += 1

    @property
    def needs_recount(self) -> bool:
        """Whether the pages must be added again to get exact counts."""
        return self._lowered > 0 and not self._is_closed

    def recount(self) -> None:
        """Restart the counts of the blocks that may be frequent."""
        self._counts = {key: 0 for key, count in self._counts.items() if count + self._lowered >= self._least}
        self._is_closed = True

    @property
    def _least(self) -> int:
        return max(MIN_PAGES, ceil(MIN_PAGE_SHARE * self.pages - 1e-9))

    def found(self) -> frozenset[int]:
        """The hashes of blocks that are on most pages and not below the same heading there."""
        frequent = [key for key, count in self._counts.items() if count >= self._least]
        shared = {key[1] for key in frequent if isinstance(key, tuple)}
        return frozenset(key for key in frequent if isinstance(key, int) and key not in shared)


def drop_repeated(markdown: str, repeated: frozenset[int]) -> tuple[str, int]:
    """A page without repeated blocks, and the number of removed blocks."""
    if not repeated or not (found := {at for at, block, _ in _candidates(markdown) if block in repeated}):
        return markdown, 0
    parts = list(split_blocks(markdown))
    drop = _whole_sections(parts, found)
    kept = [block for at, block in enumerate(parts) if at not in drop]
    left = sum(len(block.text) for block in kept if block.kind != "heading")
    if not drop or left < sum(len(block.text) for at, block in enumerate(parts) if at in drop):
        return markdown, 0
    text = "".join(block.text for block in kept)
    return text.rstrip("\n") + "\n" if len(parts) - 1 in drop else text, len(drop)


def _whole_sections(parts: list[MarkdownBlock], found: set[int]) -> set[int]:
    """The blocks to remove: sections without other content are removed whole at the end of a page, and stay elsewhere."""
    drop = set(found)
    end = len(parts)
    below = 0  # The level of a removed heading below this one; 0 if something remains there.
    is_end = True
    for at in reversed(range(len(parts))):
        heading = parts[at]
        if heading.kind != "heading":
            continue
        section = range(at + 1, end)
        is_lost = all(text in drop for text in section) and (bool(section) or below > heading.level)
        if heading.level > 1 and is_lost and is_end:
            drop.add(at)
            below = heading.level
        else:
            if heading.level > 1 and section and is_lost:
                drop.difference_update(section)
            is_end, below = False, 0
        end = at
    return drop


def _candidates(markdown: str) -> Iterator[tuple[int, int, tuple[int, int] | None]]:
    """The index of each removable block of a page, its hash, and the hashes of its heading and itself.

    The latter is None for blocks above all headings or directly below the title, and for the last block (a colophon).
    """
    heading = ""
    headings = 0
    parts = list(split_blocks(markdown))
    for at, block in enumerate(parts):
        if block.kind == "heading":
            heading = block.title
            headings += 1
        elif (block.kind == "text" and _is_paragraph(block)) or (block.kind == "table" and _is_menu(block.text)):
            text = " ".join(block.text.split())
            key = _hash_text(text)
            yield at, key, (_hash_text(heading), key) if headings > 1 and at < len(parts) - 1 else None


def _hash_text(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest())


_MENU_LINK = re.compile(r"!?\[[^\[\]]*+\]\([^()\s]*+\)")
_MAX_MENU_LETTERS = 40
"""Characters of a menu besides its links: the name of a manual."""


def _is_menu(table: str) -> bool:
    """Whether a table has links to other pages, and hardly anything else."""
    rest, links = _MENU_LINK.subn("", table)
    return links > 1 and sum(map(str.isalnum, rest)) < _MAX_MENU_LETTERS


def _is_paragraph(block: MarkdownBlock) -> bool:
    text = block.text
    if text[:1] in " \t" or text.startswith("[^"):  # Part of a list, or a footnote.
        return False
    if text.rstrip().endswith((":", "：")):  # It introduces what follows, which differs between pages.
        return False
    length = len(text.strip())
    if length >= _MIN_LENGTH or text.isascii():
        return length >= _MIN_LENGTH
    return length + sum(char >= "\u2e80" for char in text) >= _MIN_LENGTH  # A Japanese sentence has half as many characters.


StoredSpecs = Callable[[], Iterable[model.StoredSpec]]
ChangeCallback = Callable[[model.DocChanges], None]
_FORMAT_VERSION = "4"
"""Incremented when the same pages are to be written differently."""


def write_bundle(
    root: Path,
    site: model.BundleSite,
    docs: model.StoredDocs,
    options: model.BundleOptions,
    specs: StoredSpecs = tuple,
    note: ChangeCallback | None = None,
) -> model.BundleSummary:
    """Write the folder of a site. Raises UsageError for a folder with other files, StoreError if writing fails.

    `note` receives the changes since the previous run before the manifest is saved: after a crash in between, it is called again.
    """
    weigh = token_counter(options.tokenizer)
    try:
        folder = OutputFolder(root)
        fingerprint, count = _fingerprint(site, docs, options, specs)
        if folder.earlier.fingerprint == fingerprint and folder.is_intact() and is_current(index_path(root)):
            return _record_check(folder, site)
        written = _BundleWriter(folder, site, options, weigh).write(docs, specs, fingerprint, count, note)
        if semantic.is_available():
            semantic.add_vectors(index_path(root))
        return written
    except OSError as error:
        where = error.filename or root
        raise StoreError(
            "Cannot write {path}: {reason}. Check the disk and rerun the command.", path=where, reason=error.strerror or error
        ) from error


def _record_check(folder: OutputFolder, site: model.BundleSite) -> model.BundleSummary:
    earlier = folder.earlier
    folder.touch(site_files.LAST_CHECKED_KEY, site_files.last_checked_line(site.checked_at))
    tokens = sum(kept.tokens for kept in earlier.pages.values())
    return model.BundleSummary(
        len(earlier.pages), tokens, len(earlier.specs), model.DocChanges(), 0, earlier.repeated, earlier.left_out
    )


def _fingerprint(
    site: model.BundleSite, docs: model.StoredDocs, options: model.BundleOptions, specs: StoredSpecs
) -> tuple[str, int]:
    """A hash of everything that the files depend on except times, and the number of pages."""
    digest = hashlib.sha256()

    def add(value: object) -> None:
        digest.update(repr(value).encode("utf-8", "replace") + b"\n")

    add(
        (
            _FORMAT_VERSION,
            asdict(replace(options, diff=False)),
            site.base_url,
            site.title,
            site.description,
            site.label,
            sorted(site.config.items()),
        )
    )
    count = 0
    for doc in docs():
        add(replace(doc, markdown="", crawled_at=0.0, etag=None, last_modified=None))
        count += 1
    for spec in specs():
        add((spec.url, spec.content_type, hashlib.sha256(spec.body).hexdigest()))
    return digest.hexdigest(), count


def find_repeated_blocks(docs: model.StoredDocs, count: int) -> frozenset[int]:
    """The hashes of blocks that most pages repeat, counted in one pass; a very large site needs a second one."""
    if count < MIN_PAGES:
        return frozenset()
    seen = RepeatedBlocks()
    for doc in docs():
        seen.add(doc.markdown)
    if seen.needs_recount:
        seen.recount()
        for doc in docs():
            seen.add(doc.markdown)
    return seen.found()


class _BundleWriter:
    """Writes all files once."""

    def __init__(self, folder: OutputFolder, site: model.BundleSite, options: model.BundleOptions, weigh: TokenCounter) -> None:
        self.folder = folder
        self.site = site
        self.options = options
        self.weigh = weigh
        self.entries: list[site_files.LlmsEntry] = []
        self.kept: dict[str, ManifestPage] = {}
        self.files: dict[str, LinkedFile] = {}
        """The file of each page by its URL, if links point to files."""
        self.merged_urls: frozenset[str] | None = None
        """The pages of full.md, if it has a budget."""
        self.left_out: list[site_files.LlmsEntry] = []
        self.full: BinaryIO | None = None
        self.llms_full: BinaryIO | None = None
        self.chunk_lines: BinaryIO | None = None
        self.languages: dict[str, int] = {}
        self.versions: dict[str, int] = {}
        self.dropped = 0
        self.chunk = 0
        self.added: list[model.DocChange] = []
        self.changed: list[model.DocChange] = []

    def write(
        self, docs: model.StoredDocs, specs: StoredSpecs, fingerprint: str, count: int, note: ChangeCallback | None
    ) -> model.BundleSummary:
        repeated = find_repeated_blocks(docs, count) if self.options.boilerplate else frozenset()
        if self.options.local_links:
            self.files = {doc.url: linked_file(page_file_name(doc.number, doc.url), doc.headings) for doc in docs()}
            self.files |= {copy: self.files[url] for copy, url in self.site.copies.items() if url in self.files}
        if self.options.merge and self.options.max_tokens:
            self.merged_urls = self._choose_merged(docs, repeated)
        with self.folder.scratch() as entries:
            with ExitStack() as stack:
                self.search = stack.enter_context(SectionIndexer(self.folder.root))
                if self.options.merge:
                    self.full = stack.enter_context(self.folder.stream("full.md"))
                    self.llms_full = stack.enter_context(self.folder.stream("llms-full.txt"))
                if self.options.chunks:
                    self.chunk_lines = stack.enter_context(self.folder.stream("chunks.jsonl"))
                for doc in docs():
                    markdown, dropped = drop_repeated(doc.markdown, repeated)
                    self.dropped += dropped
                    digest = hashlib.sha256(_bytes(markdown)).hexdigest() if dropped else doc.hash
                    entry = self._page(replace(doc, markdown=markdown), digest)
                    entries.write((b",\n" if len(self.entries) > 1 else b"\n") + entry)
                self._end_merged()
            found = self._specs(specs)
            changed = model.DocChanges(tuple(self.added), tuple(self.changed), self._removed())
            self._write_descriptions(found, changed)
            earlier = self.folder.earlier.crawled_at
            crawled_at = earlier if earlier and not changed else model.format_timestamp(self.site.checked_at)
            with self.folder.stream("index.json", counts=False) as out:
                out.write(site_files.index_head(self.site, crawled_at, self._facts(len(repeated))))
                copy_scratch(entries, out)
                out.write(site_files.index_tail(found, any_pages=bool(self.entries)))
        if note is not None and changed and self.folder.earlier.pages:
            note(changed)
        spec_files = {spec.url: spec.file for spec in found}
        left_out = len(self.left_out)
        self.folder.finish(BundleManifest(fingerprint, crawled_at, {}, self.kept, spec_files, self.dropped, left_out))
        tokens = sum(entry.tokens for entry in self.entries)
        return model.BundleSummary(len(self.entries), tokens, len(found), changed, self.folder.rewritten, self.dropped, left_out)

    def _choose_merged(self, docs: model.StoredDocs, repeated: frozenset[int]) -> frozenset[str]:
        """The pages that fit into the budget of full.md: the first, then those that most pages link to in their text."""
        linked: Counter[str] = Counter()
        sizes: dict[str, float] = {}
        for doc in docs():
            markdown = drop_repeated(doc.markdown, repeated)[0]
            linked.update(self.site.copies.get(url, url) for url in linked_urls(markdown) if url != doc.url)
            shown = rewrite_links(markdown, doc.url, self.options.links)
            sizes[doc.url] = self.weigh(site_files.FULL_SEPARATOR + site_files.full_section(doc.title, doc.url, shown) + "\n")
        return site_files.choose_pages(sizes, linked, self.options.max_tokens)

    def _page(self, doc: model.StoredDoc, digest: str) -> bytes:
        """Write a page to every file that contains it, and return its entry in the index."""
        file = page_file_name(doc.number, doc.url)
        shown = rewrite_links(doc.markdown, doc.url, self.options.links)
        tokens = round_tokens(self.weigh(shown))
        crawled_at = self._compare(doc, digest, file)
        self.kept[doc.url] = ManifestPage(doc.number, digest, doc.title, crawled_at, tokens)
        self.entries.append(site_files.llms_entry(doc, self.site.base_url, file, tokens))
        if doc.language:
            self.languages[doc.language] = self.languages.get(doc.language, 0) + 1
        if doc.version:
            self.versions[doc.version] = self.versions.get(doc.version, 0) + 1
        if self.options.pages:
            fields = site_files.page_frontmatter(doc, digest=digest, tokens=tokens, crawled_at=crawled_at)
            local = with_local_links(doc.markdown, self.files) if self.files else ""
            markdown = rewrite_links(local, doc.url, self.options.links) if local else shown
            self.folder.write(file, _bytes(site_files.render_page_file(fields, markdown)))
        self._merge(doc, shown)
        if self.options.chunks:
            self._chunks(doc, shown, file if self.options.pages else None)
        crumbs = tuple(model.one_line(crumb, 200) for crumb in doc.breadcrumbs)
        row = IndexedPage(
            doc.url, model.one_line(doc.title) or doc.url, file, tokens, number=doc.number, hash=digest, crawled_at=crawled_at,
            crumbs=crumbs,
        )  # fmt: skip
        self.search.add(index_row(row, doc.headings), doc.markdown, doc.headings)
        return site_files.index_entry(
            doc, file=file if self.options.pages else None, digest=digest, tokens=tokens, crawled_at=crawled_at
        )

    def _compare(self, doc: model.StoredDoc, digest: str, file: str) -> str:
        """Record whether a page is new or changed, and return its crawl time, which changes only then."""
        before = self.folder.earlier.pages.get(doc.url)
        if before and (before.hash, before.title) == (digest, doc.title):
            return before.crawled_at
        if before is None:
            self.added.append(model.DocChange(doc.url, doc.title, file))
        else:
            sections = self.search.changed_sections(doc.url, model.one_line(doc.title) or doc.url, doc.markdown, doc.headings)
            self.changed.append(model.DocChange(doc.url, doc.title, file, sections))
        return model.format_timestamp(doc.crawled_at)

    def _merge(self, doc: model.StoredDoc, markdown: str) -> None:
        """Add a page to full.md and llms-full.txt, unless it does not fit."""
        if not (self.full and self.llms_full):
            return
        if self.merged_urls is not None and doc.url not in self.merged_urls:
            self.left_out.append(self.entries[-1])
            return
        first = len(self.entries) - len(self.left_out) == 1
        section = site_files.full_section(doc.title, doc.url, markdown)
        self.full.write(_bytes(section if first else site_files.FULL_SEPARATOR + section))
        self.llms_full.write(_bytes(("" if first else "\n\n") + site_files.llms_full_section(doc.title, doc.url, markdown)))

    def _end_merged(self) -> None:
        if not (self.full and self.llms_full and self.entries):
            return
        note = ""
        if self.left_out:
            note = site_files.render_left_out(
                self.left_out, self.site.base_url, self.options.max_tokens, pages=self.options.pages
            )
        self.full.write(_bytes((site_files.FULL_SEPARATOR if note else "") + note + "\n"))
        self.llms_full.write(_bytes(("\n\n" if note else "") + note.replace("\n\n> Source", "\nSource", 1) + "\n"))

    def _chunks(self, doc: model.StoredDoc, markdown: str, file: str | None) -> None:
        """Write the chunks of a page as files and as lines of chunks.jsonl."""
        assert self.chunk_lines
        title = model.one_line(doc.title) or doc.url
        crumbs = tuple(crumb for crumb in (model.one_line(text, 200) for text in doc.breadcrumbs) if crumb and crumb != title)
        page, budget = chunks.ChunkedPage(doc.url, title, crumbs, file), self.options.chunk_tokens
        parts = (
            chunks.split_by_tokens(markdown, page, doc.headings, budget, self.weigh)
            if budget
            else chunks.split_at_titles(site_files.full_section(doc.title, doc.url, markdown), title)
        )
        for name, text, line in chunks.chunk_files(page, parts, self._next_chunk, self.weigh, with_header=bool(budget)):
            self.folder.write(name, _bytes(text))
            self.chunk_lines.write(_bytes(line))

    def _next_chunk(self) -> str:
        self.chunk += 1
        return f"chunks/chunk-{self.chunk:03}.md"

    def _specs(self, specs: StoredSpecs) -> list[ApiSpec]:
        found = []
        for spec in name_specs(specs(), self.folder.earlier.specs):
            self.folder.write(spec.file, spec.body)
            found.append(replace(spec, body=b""))
        return found

    def _write_descriptions(self, specs: list[ApiSpec], changed: model.DocChanges) -> None:
        """Write the files that describe the others."""
        self.folder.write("llms.txt", _bytes(site_files.render_llms(self.site, self.entries, pages=self.options.pages)))
        text = site_files.render_skill(self.site, self.folder.root.resolve().name, self.entries, len(specs), self.options)
        self.folder.write("SKILL.md", _bytes(text))
        if self.options.diff and changed and self.folder.earlier.pages:
            self.folder.write("changes.md", _bytes(site_files.render_changes(changed, pages=self.options.pages)))
        elif self.options.diff:
            self.folder.keep("changes.md")

    def _removed(self) -> tuple[model.DocChange, ...]:
        gone = ((url, kept) for url, kept in self.folder.earlier.pages.items() if url not in self.kept)
        return tuple(model.DocChange(url, kept.title, page_file_name(kept.number, url)) for url, kept in sorted(gone))

    def _facts(self, repeated: int) -> dict[str, object]:
        return {
            "title": site_files.site_title(self.site),
            "language": _most_frequent(self.languages),
            "version": self.site.label or _most_frequent(self.versions),
            "totalPages": len(self.entries),
            "totalTokens": sum(entry.tokens for entry in self.entries),
            "tokenizer": self.options.tokenizer,
            "links": self.options.links,
            "leftOutOfFull": len(self.left_out),
            "repeatedBlocks": repeated,
        }


def _most_frequent(counts: Mapping[str, int]) -> str | None:
    return max(sorted(counts), key=counts.__getitem__) if counts else None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # Lone surrogates cannot be encoded.
