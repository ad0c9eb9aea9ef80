"""Settings of Scrapy that both spiders share."""

from __future__ import annotations

SPARED = {
    "COOKIES_ENABLED": False,
    "MEMUSAGE_ENABLED": False,
    "REFERER_ENABLED": False,
    "STATS_DUMP": False,
    "TELNETCONSOLE_ENABLED": False,
}
"""What a tuned spider does without."""
