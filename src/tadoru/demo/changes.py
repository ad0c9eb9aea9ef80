"""Files that take the place of the town's own, so that somebody can mend the demo site and crawl it again.

The folder is read anew for each request: a page is mended by saving a file. What is asked for is looked up among the files that
are there; no address of a request is ever made into a path.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from tadoru.demo.pages import TYPES, Answer

_TYPES = {**TYPES, "html": "text/html; charset=utf-8"}


class Changes:
    """The files of a folder as answers; of no folder, none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def answer(self, target: str) -> Answer | None:
        """What the folder has for a request target such as `/town/` or `/docs/limits.html`."""
        path = unquote(target.partition("?")[0])
        file = self._files().get(f"{path}index.html" if path.endswith("/") else path)
        if file is None:
            return None
        try:
            return Answer(type=_TYPES[file.suffix[1:]], body=file.read_bytes())
        except OSError:  # It was taken away just now.
            return None

    def _files(self) -> dict[str, Path]:
        """Every file by the path that it is asked for with."""
        if self._folder is None:
            return {}
        # One without content is being written just now, perhaps from the very answer that is asked for.
        files = (file for file in self._folder.rglob("*") if file.suffix[1:] in _TYPES and file.is_file() and file.stat().st_size)
        return {f"/{file.relative_to(self._folder).as_posix()}": file for file in files}
