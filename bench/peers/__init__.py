"""The crawlers that are compared, one driver each. A driver knows how to get its crawler, start it, and count what it wrote."""

from __future__ import annotations

from bench.peers import crawlee, linkchecker, scrapy, tadoru, wget2
from bench.peers.base import Peer

PEERS: tuple[Peer, ...] = (tadoru.PEER, wget2.PEER, scrapy.ORDINARY, scrapy.TUNED, crawlee.PEER, linkchecker.PEER)
"""In the order of the table; the first is what the others are compared to."""
