"""Built sites on loopback: every file at its address, and for the site that a browser fills, `index.html` everywhere else."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from tests.support.built.builders import built_spa
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site


def built_site(folder: Path) -> Site:
    """A site that serves a folder, to be entered by the test."""
    site = Site()
    for file in folder.rglob("*"):
        if file.is_file():
            path = f"/{file.relative_to(folder).as_posix()}"
            for address in {path, path.removesuffix("index.html")}:
                site.reply(address, body=file.read_bytes(), content_type=_type_of(file))
    return site


def spa_site() -> Site:
    """The site that a browser must fill. Addresses without a file behind them are its pages; a name with a dot in it is none."""
    folder = built_spa()
    site = built_site(folder)
    shell = (folder / "index.html").read_bytes()

    async def page(exchange: Exchange, rest: str) -> None:
        missing = "." in rest.partition("?")[0].rpartition("/")[2]
        await exchange.send(Reply(404, b"", "text/plain") if missing else Reply(200, shell, "text/html; charset=utf-8"))

    site.handle("/*", page)
    return site


def _type_of(file: Path) -> str:
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") or kind.endswith(("json", "javascript")) else kind
