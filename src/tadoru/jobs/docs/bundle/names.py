"""Names of files: readable, the same every time, and good on every file system."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection
from urllib.parse import unquote, urlsplit

_MOST_BYTES = 72
_ENDINGS = re.compile(r"\.(?:html?|xhtml|md|mdx|markdown|php|aspx?|jsp)$", re.I)
_RESERVED = frozenset("con prn aux nul conin$ conout$".split()) | {
    f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"
}


def slug(text: str, most_bytes: int = _MOST_BYTES) -> str:
    """Letters and digits of any script, lower case, joined by hyphens; empty when there are none."""
    kept = "".join(char if _is_letter(char) else "-" for char in unicodedata.normalize("NFKC", text).lower())
    # Lower case may take a letter apart (İ); composed again, the name is the same on systems that compare it as bytes.
    name = re.sub(r"-{2,}", "-", unicodedata.normalize("NFC", kept)).strip("-")
    return name.encode()[:most_bytes].decode(errors="ignore").strip("-")


def _is_letter(char: str) -> bool:
    return unicodedata.category(char) in {"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Mn", "Mc"}


def page_file(number: int, url: str) -> str:
    """Where a page is written: by its number, which makes it unique, and its path, which makes it readable."""
    parts = urlsplit(url)
    path = _ENDINGS.sub("", unquote(parts.path).rstrip("/")).removesuffix("/index")
    name = slug(f"{path} {unquote(parts.query)}") or "index"
    return f"pages/page-{number:03}-{name}.md"


def spec_file(url: str, ending: str, taken: Collection[str]) -> str:
    """Where a specification is written: by its own name, with a short hash of its URL when another has that name."""
    last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    name = slug(re.sub(r"\.(?:json|ya?ml|graphqls?|gql)$", "", last, flags=re.I)) or "spec"
    if name.split("-")[0] in _RESERVED:
        name = f"spec-{name}"
    plain = f"specs/{name}.{ending}"
    return plain if plain not in taken else f"specs/{name}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.{ending}"


def skill_name(folder: str) -> str:
    """The name of a skill: lower-case ASCII, digits and hyphens, at most 64, never empty."""
    ascii_only = unicodedata.normalize("NFKD", folder).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only)[:64].strip("-") or "documentation"
