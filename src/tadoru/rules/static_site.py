"""Which file a web server would send for a URL of a folder, and as what. Pure: whether the file exists is asked elsewhere.

The rules are those that static servers and hosts have in common: a path is a file below the folder, a path that ends with a slash
is the index file of a folder, and a folder without its slash redirects to it. Many hosts serve `about.html` for `/about` too.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from tadoru.rules.url import origin

INDEX_NAMES = ("index.html", "index.htm", "index.xhtml")
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
MARKDOWN_SUFFIXES = (".md", ".markdown")
DOCUMENT_SUFFIXES = (*HTML_SUFFIXES, *MARKDOWN_SUFFIXES)
"""The endings of the names of files whose links are read."""
MARKDOWN_TYPE = "text/markdown"
_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".css": "text/css",
    **dict.fromkeys(MARKDOWN_SUFFIXES, MARKDOWN_TYPE),
}
_OTHER_TYPE = "application/octet-stream"
_SAFE = "/:@!$&'()*+,;=~"
"""Characters of a path, besides letters and digits, that a canonical URL does not escape."""


def content_type(name: str) -> str:
    """The media type of a file by the ending of its name; one type for all files whose content is not read."""
    dot = name.rfind(".")
    return _TYPES.get(name[dot:].lower(), _OTHER_TYPE) if dot > name.rfind("/") else _OTHER_TYPE


@dataclass(frozen=True, slots=True)
class StaticSite:
    """The URLs of a folder."""

    base: str
    """The URL of the folder, without the slash at its end."""
    extensionless: bool = False
    """Whether `/about` is also `about.html`."""
    listings: bool = False
    """Whether a folder without an index file can be opened, as in the web view of a repository."""

    def holds(self, url: str) -> bool:
        """Whether a canonical URL is one of the folder."""
        return url.startswith(self.base) and url[len(self.base) : len(self.base) + 1] == "/"

    @property
    def robots_url(self) -> str:
        """The URL of the robots.txt of the host."""
        return f"{origin(self.base + '/')}/robots.txt"

    def url(self, name: str) -> str:
        """The URL of a file, by its name below the folder with slashes. An index file has the URL of its folder."""
        folder, slash, last = name.rpartition("/")
        return f"{self.base}/{quote(folder + slash if last == INDEX_NAMES[0] else name, safe=_SAFE)}"

    def path(self, url: str) -> str | None:
        """The path below the folder, decoded, without the first slash; None for one that no file can have."""
        segments = [unquote(segment) for segment in url[len(self.base) + 1 :].partition("?")[0].split("/")]
        if any(segment in (".", "..") or "/" in segment or "\0" in segment or "\\" in segment for segment in segments):
            return None
        # Without slashes before it: an absolute path would leave the folder.
        return "/".join(segments).lstrip("/")

    def candidates(self, path: str) -> tuple[str, ...]:
        """The names of the files that a path may mean, best first. A folder without its slash is not among them."""
        if not path or path.endswith("/"):
            return tuple(path + name for name in INDEX_NAMES)
        return (path, path + ".html") if self.extensionless else (path,)
