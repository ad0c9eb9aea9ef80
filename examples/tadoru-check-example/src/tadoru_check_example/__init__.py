"""A plugin for Tadoru with one check: pages with an outdated copyright year.

A check is a value: a stable id, a severity, a title, why it matters and how to fix it. A translation into Japanese is optional.
The function receives everything that is known about one URL and yields findings. It makes no requests and keeps no state: the
same page gives the same findings, at any time and in any process.
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
    title="Outdated copyright year",
    why="An old year makes visitors doubt whether the site is still maintained.",
    fix="Show the current year, or remove the year.",
    ja=(
        "著作権表示の年が古い",
        "古い年が表示されていると、サイトが管理されていないのではないかと訪問者に思われます。",
        "現在の年を表示するか、年を省いてください。",
    ),
    group="content",
    # `tadoru audit --threshold example-old-copyright=2020` overrides it.
    threshold=Threshold(2024, "year"),
)


def run(context: PageContext) -> Iterator[Finding]:
    """The findings of one URL. `document` is None for redirects, error pages and anything that is not HTML."""
    response = context.response
    if context.document is None or response is None:
        return
    found = YEAR.search(response.body)
    oldest = int(context.limits[OLD_COPYRIGHT])
    if found is not None and int(found[1]) < oldest:
        # The detail is evidence, such as a value of the page, and is not translated.
        yield OLD_COPYRIGHT.on(context.url, found[1].decode(), oldest=oldest)


CHECKS = CheckGroup((OLD_COPYRIGHT,), run)
