"""Links between the pages of a site, made to lead to their files. Code is left alone, in blocks and in lines."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tadoru.jobs.docs.bundle.outline import replaced_outside_code

_TARGET = re.compile(r"\]\(<?(https?://[^\s()<>]++(?:\([^\s()<>]*+\)[^\s()<>]*+)*+)>?(?=[\s)])")


def with_local_links(markdown: str, files: Mapping[str, str]) -> str:
    """A page of `pages/` whose links to other pages name their files; `files` has the file of each page by its URL."""

    def replaced(match: re.Match[str]) -> str:
        url, mark, fragment = match[1].partition("#")
        file = files.get(url)
        if file is None:
            return match[0]
        return f"]({file.rpartition('/')[2]}{mark}{fragment}"

    return replaced_outside_code(markdown, _TARGET, replaced)
