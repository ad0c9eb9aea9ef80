"""changes.md: what a run with `--diff` found added, changed and removed, by name. No time is in it: same crawl, same bytes."""

from __future__ import annotations

from tadoru.jobs.docs.bundle.base import Change, Changes, one_line


def render(changes: Changes, *, pages: bool) -> str:
    """The file. `pages` says whether the pages have files to link to."""
    counts = f"{len(changes.added)} added, {len(changes.changed)} changed, {len(changes.removed)} removed"
    parts = [f"# Changes\n\n{counts} since the crawl before.\n"]
    for name, found, linked in (
        ("Added", changes.added, pages), ("Changed", changes.changed, pages), ("Removed", changes.removed, False)
    ):  # fmt: skip
        if found:
            parts.append(f"\n## {name}\n\n" + "".join(_line(change, linked) for change in found))
    return "".join(parts)


def _line(change: Change, linked: bool) -> str:
    return f"- {link(change.title or change.url, change.url)}{f' · {change.file}' if linked else ''}\n"


def link(text: str, url: str) -> str:
    """A link whose text is a stranger's: nothing in it ends the link or begins another."""
    safe = one_line(text, 300).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("<", "\\<")
    target = url.replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")
    return f"[{safe}]({target})"
