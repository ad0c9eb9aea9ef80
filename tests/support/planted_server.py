"""A whole town of sites behind one proxy: `https://bakery.example/`, its `www.` and its `http:` twin, all served from loopback.

The command is sent through `town.proxy` and told to trust the certificates of `town.authority`; so its URLs are those of real
sites, without a port, and every wall of the product stays up. A path of the town is a whole URL:

    with Town(folder, "bakery.example") as town:
        town.page("https://bakery.example/", links=["/bread"])

What is not defined is 404, on every host; a host of `town.closed` cannot be reached.
"""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import trustme

from tests.support.site import Site


class ProxiedSite(Site):
    """The programmable site, asked through a proxy."""

    def __init__(self, folder: Path, *hosts: str) -> None:
        super().__init__()
        self.authority = folder / "authority.pem"
        self.closed: set[str] = set()
        self._origins: dict[int, str] = {}
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.authority))
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*hosts).configure_cert(self._context)

    @property
    def proxy(self) -> str:
        """For `--proxy`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What makes a command trust the town."""
        return {"SSL_CERT_FILE": str(self.authority)}

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.split(" ", 2)
        if method != "CONNECT":
            return await self.answer(reader, writer, head, number, self._origins.get(number, ""))
        host = target.removesuffix(":443")
        if host in self.closed:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return False
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await writer.start_tls(self._context)
        self._origins[number] = f"https://{host}"
        return True
