"""Small charts of the HTML page, as SVG: how the URLs came out, and how deep they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tadoru.jobs.links.report.figures import Outcome

WORDS = {
    Outcome.OK: "Fine",
    Outcome.REDIRECT: "Redirected",
    Outcome.BROKEN: "Broken",
    Outcome.BLOCKED: "Blocked",
    Outcome.UNREAD: "Not requested",
}

_WIDTH = 520.0
_MOST_COLUMNS = 24


def outcome_bar(outcomes: Mapping[Outcome, int]) -> str:
    """One bar, a piece for each outcome that occurs."""
    total = sum(outcomes.values())
    if not total:
        return ""
    return (
        f'<svg class="bar" viewBox="0 0 {_WIDTH:.0f} 26" preserveAspectRatio="none" role="img" '
        f'aria-label="{_spoken(outcomes)}">{"".join(_pieces(outcomes, total))}</svg>'
    )


def _pieces(outcomes: Mapping[Outcome, int], total: int) -> Iterator[str]:
    # A piece is never thinner than a finger's breadth of pixels: one broken page in a thousand must still be seen.
    shown = [(outcome, outcomes.get(outcome, 0)) for outcome in WORDS if outcomes.get(outcome, 0)]
    widths = [max(6.0, _WIDTH * count / total) for _, count in shown]
    scale = _WIDTH / sum(widths)
    x = 0.0
    for (outcome, count), least in zip(shown, widths, strict=True):
        width = least * scale
        hint = f"<title>{WORDS[outcome]}: {count:,}</title>"
        yield f'<rect class="{outcome}" x="{x:.1f}" width="{max(1.0, width - 2):.1f}" height="26">{hint}</rect>'
        x += width


def _spoken(outcomes: Mapping[Outcome, int]) -> str:
    return ", ".join(f"{WORDS[outcome]}: {outcomes[outcome]:,}" for outcome in WORDS if outcomes.get(outcome, 0))


def depth_columns(depths: tuple[tuple[int, int], ...]) -> str:
    """A column for each depth; on a very deep site the last one holds all the rest."""
    columns = [(str(depth), count) for depth, count in depths]
    if len(columns) > _MOST_COLUMNS:
        rest = columns[_MOST_COLUMNS - 1 :]
        columns = [*columns[: _MOST_COLUMNS - 1], (f"{rest[0][0]}+", sum(count for _, count in rest))]
    if not columns:
        return ""
    most = max(count for _, count in columns) or 1
    slot = _WIDTH / max(len(columns), 5)
    pieces = []
    for number, (label, count) in enumerate(columns):
        high = max(2.0, 120 * count / most) if count else 0.0
        middle = slot * (number + 0.5)
        wide = min(54.0, slot * 0.72)
        place = f'x="{middle - wide / 2:.1f}" y="{142 - high:.1f}" width="{wide:.1f}" height="{high:.1f}"'
        pieces.append(
            f'<rect class="column" {place} rx="3"/>'
            f'<text class="count" x="{middle:.1f}" y="{136 - high:.1f}">{count:,}</text>'
            f'<text class="axis" x="{middle:.1f}" y="160">{label}</text>'
        )
    spoken = ", ".join(f"depth {label}: {count:,}" for label, count in columns)
    return f'<svg class="columns" viewBox="0 0 {_WIDTH:.0f} 166" role="img" aria-label="{spoken}">{"".join(pieces)}</svg>'
