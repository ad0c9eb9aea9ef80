"""GitHub workflow annotations for an audit: one per check, because GitHub shows at most ten errors and ten warnings per step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from tadoru.i18n.translation import translator
from tadoru.jobs.audit.criteria import CheckCount
from tadoru.jobs.reporting.escape import printable
from tadoru.jobs.reporting.output import MAX_ANNOTATIONS, workflow_command
from tadoru.model.finding import Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning"}


def write_annotations(found: Iterable[CheckCount], out: TextIO, *, lang: str = "en") -> None:
    """Write an annotation for each check with errors or warnings, and a notice with the number of checks beyond the limit."""
    out.writelines(line + "\n" for line in format_annotations(found, lang))


def format_annotations(found: Iterable[CheckCount], lang: str = "en") -> Iterator[str]:
    """The workflow commands, checks with the most findings first."""
    _ = translator(lang)
    seen = dict.fromkeys(_LEVELS.values(), 0)
    for each in sorted(found, key=lambda each: (-each.count, each.check.id)):
        level = _LEVELS.get(Severity(each.check.severity))
        if level is None:
            continue
        seen[level] += 1
        if seen[level] <= MAX_ANNOTATIONS:
            title = printable((each.check.title_ja if lang == "ja" else "") or each.check.title)
            text = _.ngettext(
                "{count} finding ({check}), first {url}",
                "{count} findings ({check}), first {url}",
                each.count,
                check=each.check.id,
                url=printable(each.url),
            )
            yield workflow_command(level, title, text)
    hidden = sum(max(0, count - MAX_ANNOTATIONS) for count in seen.values())
    if hidden:
        text = _.ngettext(
            "{count} more check has findings. The report lists all of them.",
            "{count} more checks have findings. The report lists all of them.",
            hidden,
        )
        yield workflow_command("notice", _("More checks"), text)
