"""The charts of the HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tadoru.jobs.audit.report.phrases import bound_words, class_names, time_words
from tadoru.jobs.audit.report.summary import TIME_BOUNDS, Summary
from tadoru.jobs.audit.report.texts import GROUPS, INDEXABILITIES, Words
from tadoru.jobs.report.charts import Piece, bar, columns
from tadoru.model.finding import Severity

_CLASSES = {
    "2xx": "ok", "3xx": "redirect", "4xx": "broken", "5xx": "broken", "no answer": "blocked", "not requested": "unread",
    "waiting": "unread",
}  # fmt: skip


def charts(summary: Summary, words: Words) -> Iterator[str]:
    """Every chart, in two columns where there is room."""
    yield '<div class="two">\n<div class="stack">\n'
    yield _panel(words.answers, words.answers_lead, _answers(summary, words))
    depths = [(str(depth), count) for depth, count in summary.depths]
    if summary.unlinked:
        depths.append((words.unlinked, summary.unlinked))
    yield _panel(words.depth, words.depth_lead, columns(depths))
    if summary.times.count:
        yield _panel(words.times, words.times_lead, f"{_percentiles(summary, words)}{columns(_times(summary))}")
    yield '</div>\n<div class="stack">\n'
    yield _panel(words.indexability, words.indexability_lead, _indexability(summary, words))
    yield _panel(words.by_group, "", _groups(summary, words))
    yield "</div>\n</div>\n"


def _times(summary: Summary) -> list[tuple[str, int]]:
    """The classes of response times without those at the end that are empty. Each is named by its upper end."""
    classes = [(bound_words(bound), count) for bound, count in zip(TIME_BOUNDS, summary.times.classes, strict=False)]
    classes.append((f"> {bound_words(TIME_BOUNDS[-1])}", summary.times.classes[-1]))
    while not classes[-1][1]:
        classes.pop()
    return classes


def _panel(heading: str, lead: str, content: str) -> str:
    told = f'<p class="note">{escape(lead)}</p>' if lead else ""
    return f'<div class="panel"><h3>{escape(heading)}</h3>{content}{told}</div>\n' if content else ""


def _bars(rows: Sequence[tuple[str, Sequence[Piece]]]) -> str:
    """A bar for each row, as long as its share of the longest."""
    totals = [sum(piece.size for piece in pieces) for _, pieces in rows]
    most = max(totals, default=0)
    if not most:
        return ""
    lines = "".join(
        f"<dt>{escape(name)}</dt><dd>{bar(pieces, total / most)}</dd><dd>{total:,}</dd>"
        for (name, pieces), total in zip(rows, totals, strict=True)
    )
    return f'<dl class="bars">{lines}</dl>'


def _answers(summary: Summary, words: Words) -> str:
    names = class_names(words)
    rows = [(names.get(name, name), count, _CLASSES.get(name, "unread")) for name, count in summary.classes.items() if count]
    codes: dict[int, int] = {}
    for state in summary.states:
        if state.internal and state.status_code is not None:
            codes[state.status_code] = codes.get(state.status_code, 0) + state.urls
    told = "".join(f"<span>{code}: {count:,}</span>" for code, count in sorted(codes.items()))
    listed = f'<p class="codes">{told}</p>' if told else ""
    return _bars([(name, [Piece(kind, name, count)]) for name, count, kind in rows]) + listed


def _indexability(summary: Summary, words: Words) -> str:
    return _bars(
        [
            (words.named(INDEXABILITIES, reason), [Piece("ok" if good else "unread", words.named(INDEXABILITIES, reason), count)])
            for reason, good, count in summary.indexability
        ]
    )


def _groups(summary: Summary, words: Words) -> str:
    counts: dict[str, dict[Severity, int]] = {}
    for result in summary.found:
        severities = counts.setdefault(result.check.group, dict.fromkeys(Severity, 0))
        severities[result.check.severity] += result.count
    ordered = sorted(counts.items(), key=lambda item: [-item[1][severity] for severity in Severity])
    rows = [
        (words.named(GROUPS, group), [Piece(each, words.severities[each][0], found[each]) for each in Severity])
        for group, found in ordered
    ]
    legend = "".join(
        f'<li><svg class="{each}" viewBox="0 0 12 12"><circle cx="6" cy="6" r="5.5"/></svg>{escape(words.severities[each][1])} '
        f"<b>{summary.count(each):,}</b></li>"
        for each in Severity
        if summary.count(each)
    )
    drawn = _bars(rows)
    return f'{drawn}<ul class="legend">{legend}</ul>' if drawn else ""


def _percentiles(summary: Summary, words: Words) -> str:
    times = summary.times
    items = "".join(
        f"<li><b>{escape(time_words(time))}</b>{escape(words.percentile.format(percent=share))}</li>"
        for share, time in ((50, times.p50), (90, times.p90), (99, times.p99))
    )
    return f'<ul class="percentiles">{items}</ul>'
