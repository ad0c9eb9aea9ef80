"""The crawlers that are compared, one driver each. A driver knows how to get its crawler, start it, and count what it wrote."""

from __future__ import annotations

from bench.peers import advertools, crawlee, linkchecker, scrapy, tadoru, wget2
from bench.peers.base import Peer

PEERS: tuple[Peer, ...] = (tadoru.PEER, wget2.PEER, scrapy.ORDINARY, scrapy.TUNED, crawlee.PEER, linkchecker.PEER)
"""In the order of the table; the first is what the others are compared to."""
AUDIT_PEERS: tuple[Peer, ...] = (
    tadoru.AUDIT_PEER,
    scrapy.LINES_AUDIT,
    scrapy.ORDINARY_AUDIT,
    scrapy.TUNED_AUDIT,
    advertools.PEER,
)
"""Those that keep what an audit starts from."""
