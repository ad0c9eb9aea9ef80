"""Links between the pages of a site, made to lead to their files. Code is left alone, in blocks and in lines."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tadoru.jobs.docs.bundle.outline import blocks

_ADDRESS = r"https?://[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*"
_PIECE = re.compile(rf"(`+)(?:(?!\1(?!`)).)+?\1(?!`)|\]\(<?({_ADDRESS})>?(?=[\s)])", re.DOTALL)


def with_local_links(markdown: str, files: Mapping[str, str]) -> str:
    """A page of `pages/` whose links to other pages name their files; `files` has the file of each page by its URL."""

    def replaced(match: re.Match[str]) -> str:
        url, mark, fragment = (match[2] or "").partition("#")
        file = files.get(url)
        if file is None:
            return match[0]
        return f"]({file.rpartition('/')[2]}{mark}{fragment}"

    return "".join(block.text if block.kind == "code" else _PIECE.sub(replaced, block.text) for block in blocks(markdown))
