"""Wrong calls that the check of types must find: it reads this folder, and an ignored error that is none is an error itself.

Nothing imports this module.
"""

from __future__ import annotations

from tadoru.jobs.audit.crawl_results.queries import cached_while_unchanged


@cached_while_unchanged()
def read(path: str, *, lang: str = "en") -> str:
    return f"{path} {lang}"


def check_that_the_cache_keeps_the_types_of_arguments() -> None:
    read("crawl.db", lang="ja")
    read("crawl.db", "ja")  # type: ignore[call-arg]
    read(3)  # type: ignore[arg-type]
