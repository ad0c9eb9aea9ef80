"""A plugin for Tadoru with one check: pages whose copyright line shows a year long past.

A check is a value: a stable id, how grave it is, and what it is, why it matters and how to mend it, in English and Japanese. The
function is given everything that is known about one URL and returns what it found. It asks nobody for anything and keeps nothing:
the same page gives the same findings, whenever and in whichever process it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define

YEAR = re.compile(rb"(?:\xc2\xa9|&copy;|\(c\)|copyright)\s*(?:\d{4}\s*[-\xe2\x80\x93]+\s*)?((?:19|20)\d{2})", re.IGNORECASE)

OLD_COPYRIGHT = define(
    "example-old-copyright",
    Severity.NOTICE,
    en=(
        "Old copyright year",
        "A year long past makes visitors doubt whether anybody still looks after the site.",
        "Let the page show the present year, or leave the year out.",
    ),
    ja=(
        "著作権表示の年が古い",
        "古い年が表示されていると、サイトが管理されていないのではないかと訪問者に思われます。",
        "現在の年を表示するか、年を省いてください。",
    ),
    group="content",
    # `tadoru audit --threshold example-old-copyright=2020` sets another one.
    threshold=Threshold(2024, "year"),
)


def run(context: PageContext) -> Iterator[Finding]:
    """Look at one URL. `document` is None for redirects, error pages, and whatever is no HTML."""
    response = context.response
    if context.document is None or response is None:
        return
    found = YEAR.search(response.body)
    oldest = int(context.limits[OLD_COPYRIGHT])
    if found is not None and int(found[1]) < oldest:
        # The detail is evidence, a value of the page, so that it needs no translation.
        yield OLD_COPYRIGHT.on(context.url, found[1].decode(), oldest=oldest)


CHECKS = CheckGroup((OLD_COPYRIGHT,), run)
