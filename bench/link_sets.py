"""Compares the broken links that Tadoru and LinkChecker find in the same sites, and names the cause of each difference.

    apt-get download git-doc debian-policy developers-reference sqlite3-doc; dpkg-deb -x each of them into ROOT/NAME
    python -m bench.link_sets --root ROOT [--markdown FOLDER]… [--keep FOLDER]

nginx serves the manuals on loopback; Markdown is read from the disk. Links to other hosts are not requested by either.
LinkChecker is slow with fragments (it reads a page again for each), so they are compared on small manuals only. With `--keep`
outputs are kept, and what is there already is not run again. The result is a section of `bench/LINK_CHECK.md`; the command fails
on a difference without cause.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from bench.install import environment, version
from bench.link_check import CACHE, REPORT, replace_section
from bench.peers.linkchecker import SETTINGS
from bench.peers.tadoru import PROGRAM
from bench.server import serve
from bench.site import Site

OPTIONS = ["--check", "--exclude", r"^https?://(?!127\.0\.0\.1|files\.invalid)", "-f", "json", "-q"]
CRAWL = ["--delay", "0", "--limit", "0", "--depth", "100", "--scope", "path", "--ignore-robots"]
BOX = 1800
MAX_PARSED = 1024 * 1024
"""Characters of a page that LinkChecker reads."""
MOST_SHOWN = 3
"""References that are named of many with the same cause."""


class Manual(NamedTuple):
    """A manual of a Debian package."""

    package: str
    start: str
    """Below `usr/share`."""
    fragments: bool = True


MANUALS = (
    Manual("git-doc", "doc/git-doc/index.html"),
    Manual("debian-policy", "doc/debian-policy/policy.html/index.html"),
    Manual("developers-reference", "developers-reference/index.html"),
    Manual("sqlite3-doc", "doc/sqlite3/index.html", fragments=False),
    Manual("python3.11-doc", "doc/python3.11/html/index.html", fragments=False),
)


@dataclass(frozen=True, slots=True)
class BrokenReference:
    """A broken link, and where it was found."""

    url: str
    """Decoded; without the origin of the server, or the folder of the files."""
    sources: frozenset[str]
    """The pages, likewise. LinkChecker names the first one only."""
    kinds: frozenset[str] = frozenset()
    """What Tadoru calls the references."""


BrokenSet = dict[str, BrokenReference]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What both found on a site."""

    name: str
    pages: int
    fragments: bool
    linkchecker: BrokenSet
    tadoru: BrokenSet
    text: Callable[[str], str]
    """The text of a page of the site."""

    @property
    def both(self) -> list[str]:
        return sorted(self.linkchecker.keys() & self.tadoru.keys())

    def differences(self) -> Iterator[tuple[str, str, str | None]]:
        """Each difference: who found it alone, what, and why; None without a known cause."""
        for url in sorted(self.tadoru.keys() - self.linkchecker.keys()):
            yield "Tadoru", url, _cause_in_tadoru(self.tadoru[url], self.text)
        for url in sorted(self.linkchecker.keys() - self.tadoru.keys()):
            yield "LinkChecker", url, _cause_in_linkchecker(self.linkchecker[url], self.text)
        for url in self.both:
            if missing := self.linkchecker[url].sources - self.tadoru[url].sources:
                yield "LinkChecker", f"{url} on {sorted(missing)[0]}", None


_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_UNREAD_KINDS = {
    "preview": "LinkChecker does not read Open Graph images.",
    "media": "LinkChecker does not read `poster`.",
    "css": "LinkChecker does not read `url()` of this style sheet.",
}


def _cause_in_tadoru(found: BrokenReference, text: Callable[[str], str]) -> str | None:
    if found.url == '""':
        return "An empty `href` with a text. Tadoru reports it as malformed; LinkChecker skips it."
    if found.url.startswith("file:"):
        return "A `file:` link on a page from a server, which only works on the author's computer. LinkChecker skips it."
    if re.match("https?://[^/]*[<>]", found.url):
        return "A placeholder that no host can be called. For LinkChecker it is on another host, and not looked at."
    if (scheme := _SCHEME.match(found.url)) is not None and scheme[1] not in ("http", "https"):
        return "A scheme that browsers do not open. LinkChecker skips it."
    if found.url.startswith("/"):
        return "Beside the folder of the start page, and therefore external to LinkChecker."
    if all(len(text(source)) > MAX_PARSED for source in found.sources):
        return "On a page of more than 1 MiB, which LinkChecker does not read (`maxfilesizeparse`)."
    return next((_UNREAD_KINDS[kind] for kind in found.kinds if kind in _UNREAD_KINDS), None)


_CODE = re.compile(r"^(```+|~~~+).*?^\1|^(?: {4}|\t)[^\n]*$|`+[^`\n]+`+", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def _cause_in_linkchecker(found: BrokenReference, text: Callable[[str], str]) -> str | None:
    name = found.url.rpartition("/")[2]
    for source in found.sources:
        page = text(source)
        if source.endswith(".md") and name in page and name not in _CODE.sub("", page):
            return "An example in a code block, which is no link. LinkChecker reads Markdown with regular expressions."
        if name in page and name not in _COMMENT.sub("", page):
            return "In a comment of the page."
    return None


def read_linkchecker(output: Path, base: str) -> BrokenSet:
    """The links that LinkChecker calls invalid, and the anchors that it did not find."""
    found: BrokenSet = {}
    with output.open(encoding="utf-8") as file:
        for row in csv.DictReader((line for line in file if not line.startswith("#")), delimiter=";"):
            if row["valid"] == "False" or "Anchor" in row["warningstring"]:
                url = _short(row["url"] or row["urlname"], base)
                found[url] = BrokenReference(url, frozenset({_short(row["parentname"], base)}))
    return found


def read_tadoru(output: Path, base: str) -> tuple[BrokenSet, int]:
    """The broken links of Tadoru, and the number of pages."""
    result = json.loads(output.read_text("utf-8"))
    found: BrokenSet = {}
    for link in [*result["broken_links"], *result["blocked_links"]]:
        sources = frozenset(_short(source["page_url"], base) for source in link["sources"])
        url = _short(link["url"], base)
        found[url] = BrokenReference(url, sources, frozenset(source["kind"] for source in link["sources"]))
    return found, sum(info["content_type"] is not None for info in result["internal_urls"])


def _short(url: str, base: str) -> str:
    """A URL without what is the same for all: the folder. What is beside it on a loopback server begins with a slash."""
    path = unquote(re.sub(r"^http://127\.0\.0\.1:[0-9]+/", "/", url))
    return path.removeprefix(unquote(base))


def _linkchecker(url: str, output: Path, sections: Iterable[str]) -> str:
    """Run LinkChecker unless its output is there; returns its version."""
    programs = environment(CACHE, "linkchecker", "linkchecker")
    if not output.exists():
        settings = output.with_suffix(".rc")
        settings.write_text(SETTINGS.format(threads=4) + "".join(f"[{name}]\n" for name in sections))
        command = [str(programs / "linkchecker"), "--config", str(settings), "--no-robots", "--no-status", "--output", "none"]
        subprocess.run([*command, "--file-output", f"csv/utf-8/{output}", url], check=False, timeout=BOX)
    return version(programs, "linkchecker")


def _tadoru(start: str, output: Path, more: Iterable[str]) -> None:
    if not output.exists():
        subprocess.run([str(PROGRAM), "links", start, *OPTIONS, *more, "-o", str(output)], check=True, timeout=BOX)


def compare_manual(root: Path, manual: Manual, keep: Path) -> Comparison:
    """Both on a manual behind nginx."""
    share = root / manual.package / "usr" / "share"
    folder, checks, found = (share / manual.start).parent, keep / f"{manual.package}.csv", keep / f"{manual.package}.json"
    done = checks.exists() and found.exists()
    with nullcontext() if done else serve(Site(manual.package, share, None, ""), keep / "server") as server:
        url = "" if server is None else server.url.removesuffix("index.html") + manual.start
        _linkchecker(url, checks, ["AnchorCheck"] if manual.fragments else [])
        _tadoru(url, found, [*CRAWL, *(["--fragments"] if manual.fragments else [])])
    start = f"/{Path(manual.start).parent}/"
    links, pages = read_tadoru(found, start)
    checked = {url: each for url, each in read_linkchecker(checks, start).items() if manual.fragments or "#" not in url}
    return Comparison(
        manual.package, pages, manual.fragments, checked, links, lambda page: (folder / page).read_text("utf-8", "replace")
    )


def compare_markdown(folder: Path, keep: Path) -> Comparison:
    """Both on a folder of Markdown."""
    name = folder.name
    base, checks, found = folder.resolve().as_uri() + "/", keep / f"{name}.csv", keep / f"{name}.json"
    _linkchecker(base, checks, ["MarkdownCheck"])
    _tadoru(str(folder), found, [])
    links, pages = read_tadoru(found, base)
    checked = read_linkchecker(checks, base)
    return Comparison(name, pages, False, checked, links, lambda page: (folder / page).read_text("utf-8", "replace"))


def report(comparisons: list[Comparison], peer: str) -> str:
    lines = [
        "",
        f"Generated by `python -m bench.link_sets`, with LinkChecker {peer}; links to other hosts left out.",
        "",
        "| site | pages | fragments | Tadoru | LinkChecker | both | different, cause known | without cause |",
        "| --- | ---: | :-: | ---: | ---: | ---: | ---: | ---: |",
    ]
    causes: list[str] = []
    for each in comparisons:
        differences = list(each.differences())
        unknown = sum(why is None for _, _, why in differences)
        figures = (each.pages, "yes" if each.fragments else "no", len(each.tadoru), len(each.linkchecker), len(each.both))
        cells = " | ".join(str(figure) for figure in (*figures, len(differences) - unknown, unknown))
        lines.append(f"| {each.name} | {cells} |")
        alike: dict[tuple[str, str | None], list[str]] = {}
        for who, what, why in differences:
            alike.setdefault((who, why), []).append(f"`{what}`")
        for (who, why), found in alike.items():
            more = f" and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
            causes.append(f"| {each.name} | {who} | {', '.join(found[:MOST_SHOWN])}{more} | {why or '**unknown**'} |")
    lines += [
        "",
        "LinkChecker names one page for each broken URL, Tadoru all of them; the page of LinkChecker is always among them.",
        "",
    ]
    if causes:
        lines += ["| site | found only by | references | cause |", "| --- | --- | --- | --- |", *causes]
    return "\n".join(lines) + "\n"


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.link_sets", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="folder with the files of each package in a folder of its name")
    parser.add_argument("--markdown", type=Path, action="append", default=[], help="folder of Markdown files (repeatable)")
    parser.add_argument("--keep", type=Path, help="folder for the outputs")
    chosen = parser.parse_args(given)
    with tempfile.TemporaryDirectory(prefix="tadoru-bench-") as scratch:
        keep = chosen.keep or Path(scratch)
        keep.mkdir(parents=True, exist_ok=True)
        keep.chmod(0o777)  # Started by root, LinkChecker becomes another user.
        present = [manual for manual in MANUALS if (chosen.root / manual.package).is_dir()]
        comparisons = [compare_manual(chosen.root, manual, keep) for manual in present]
        comparisons += [compare_markdown(folder, keep) for folder in chosen.markdown]
        peer = version(environment(CACHE, "linkchecker", "linkchecker"), "linkchecker")
    replace_section(REPORT, "## The same broken links as LinkChecker", report(comparisons, peer))
    return int(any(why is None for each in comparisons for _, _, why in each.differences()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
