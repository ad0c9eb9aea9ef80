"""A comparison as text, Markdown and JSON, and the messages that all formats use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from tadoru.clock import iso
from tadoru.errors import without_passwords
from tadoru.jobs.audit.compare.changes import FINDING_CHANGES, REGRESSIONS, ChangedValue, ChangeKind, PageChange
from tadoru.jobs.audit.compare.comparison import CheckChange, CrawlComparison
from tadoru.jobs.audit.compare.run_handles import RunHandle
from tadoru.jobs.audit.report.json_report import encode_json
from tadoru.jobs.audit.report.markdown import escape_markdown
from tadoru.jobs.audit.report.messages import INDEXABILITIES, LANGUAGES, Words
from tadoru.jobs.reporting.escape import clip, printable, readable_url
from tadoru.jobs.reporting.formatting import display_width, pad_text
from tadoru.jobs.reporting.terminal import Palette
from tadoru.model.finding import Severity, Text
from tadoru.store.crawl.run_pages import CheckTexts

LONGEST = 80
"""Characters shown of a title, say."""

_URLS = frozenset({ChangeKind.CANONICAL, ChangeKind.REDIRECTED})
_REASONS = frozenset({ChangeKind.DEINDEXED, ChangeKind.INDEXED, ChangeKind.INDEXABILITY})
_QUOTED = frozenset({ChangeKind.TITLE, ChangeKind.DESCRIPTION, ChangeKind.H1, ChangeKind.ROBOTS})
_UNITS = {
    ChangeKind.SLOWER: Text("{:,.0f} ms", "{:,.0f} ミリ秒"),
    ChangeKind.FASTER: Text("{:,.0f} ms", "{:,.0f} ミリ秒"),
    ChangeKind.LARGER: Text("{:,} bytes", "{:,} バイト"),
    ChangeKind.SMALLER: Text("{:,} bytes", "{:,} バイト"),
    ChangeKind.INLINKS: Text("links: {:,}", "リンク {:,}"),
    ChangeKind.CONTENT: Text("words: {:,}", "{:,} 語"),
    ChangeKind.DEPTH: Text("depth {:,}", "深さ {:,}"),
}
_STATES = {"no answer": Text("no answer", "応答なし"), "not requested": Text("not requested", "未取得")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """The texts of one language. Braces are filled in by whoever shows them."""

    words: Words
    over: str
    title: str
    before: str
    after: str
    run: str
    score: str
    no_score: str
    stopped: Mapping[str, str]
    """By how the crawl ended; '' when it still runs or was killed."""
    partial_before: str
    partial_after: str
    unseen: str
    twins: str
    changes: str
    nothing: str
    findings: str
    findings_lead: str
    new: str
    fixed: str
    totals: str
    check: str
    severity: str
    number: str
    url: str
    none: str
    unlinked: str
    more: str
    kinds: Mapping[ChangeKind, str]

    def text(self, text: Text) -> str:
        return self.words.text(text)

    def check_title(self, check: CheckTexts) -> str:
        return printable((check.title_ja if self.words.lang == "ja" else check.title) or check.title)

    def side(self, side: RunHandle, pages: int) -> str:
        """A run in one line."""
        parts = [printable(side.name), self.run.format(number=side.run.number), self.words.when(side.run.started_at)]
        parts.append(self.words.count("page", pages))
        if side.run.partial:
            parts.append(self.stopped.get(side.run.outcome or "", self.stopped[""]))
        return ", ".join(parts)

    def values(self, change: PageChange) -> str:
        """What something was, and what it is."""
        if change.kind is ChangeKind.ADDED:
            return self.value(change.kind, change.after)
        if change.kind is ChangeKind.REMOVED:
            return self.value(change.kind, change.before)
        return f"{self.value(change.kind, change.before)} → {self.value(change.kind, change.after)}"

    def value(self, kind: ChangeKind, value: ChangedValue) -> str:
        if value is None:
            return self.unlinked if kind is ChangeKind.DEPTH else self.none
        if kind in _UNITS:
            return self.text(_UNITS[kind]).format(value)
        shown = str(value)
        if kind in _REASONS:
            return self.words.named(INDEXABILITIES, shown)
        if kind in _QUOTED:
            return f"“{clip(printable(shown), LONGEST)}”"
        if shown in _STATES:
            return self.text(_STATES[shown])
        return readable_url(shown) if kind in _URLS else printable(shown)


ENGLISH = Sentences(
    words=LANGUAGES["en"],
    over="Crawl comparison",
    title="{before} and {after} compared",
    before="before",
    after="after",
    run="run {number}",
    score="score",
    no_score="none",
    stopped={
        "": "not finished",
        "limit": "stopped at its limit of pages",
        "time": "stopped at its time limit",
        "interrupted": "interrupted",
    },
    partial_before="The first crawl did not come to its end: a page that only the second one has seen is not called added.",
    partial_after="The second crawl did not come to its end: a page that only the first one has seen is not called removed.",
    unseen="Seen by one crawl only, and left out: {pages}.",
    twins="The same as another URL by --map, and left out: {urls}.",
    changes="Pages",
    nothing="Nothing has changed.",
    findings="Findings",
    findings_lead="{new} new, {fixed} fixed",
    new="new",
    fixed="fixed",
    totals="before → after",
    check="Check",
    severity="Severity",
    number="Number",
    url="URL",
    none="none",
    unlinked="not linked",
    more="and {number} more",
    kinds={
        ChangeKind.BROKEN: "Broken",
        ChangeKind.REMOVED: "Removed",
        ChangeKind.DEINDEXED: "No longer indexable",
        ChangeKind.REDIRECTED: "Newly redirected",
        ChangeKind.STATUS: "Other status",
        ChangeKind.FIXED: "Working again",
        ChangeKind.ADDED: "Added",
        ChangeKind.INDEXED: "Newly indexable",
        ChangeKind.INDEXABILITY: "Not indexable for another reason",
        ChangeKind.TITLE: "Title changed",
        ChangeKind.DESCRIPTION: "Description changed",
        ChangeKind.H1: "H1 changed",
        ChangeKind.CANONICAL: "Canonical changed",
        ChangeKind.ROBOTS: "Robots directives changed",
        ChangeKind.CONTENT: "Content changed",
        ChangeKind.DEPTH: "Depth changed",
        ChangeKind.INLINKS: "Links to it changed",
        ChangeKind.SLOWER: "Slower",
        ChangeKind.FASTER: "Faster",
        ChangeKind.LARGER: "Larger",
        ChangeKind.SMALLER: "Smaller",
        ChangeKind.NEW_FINDING: "New findings",
        ChangeKind.FIXED_FINDING: "Fixed findings",
    },
)

JAPANESE = Sentences(
    words=LANGUAGES["ja"],
    over="クロールの比較",
    title="{before} と {after} の比較",
    before="前回",
    after="今回",
    run="{number}回目",
    score="スコア",
    no_score="なし",
    stopped={"": "未完了", "limit": "ページ数の上限で終了", "time": "制限時間で終了", "interrupted": "中断"},
    partial_before="前回のクロールは最後まで終わっていません。今回だけ取得したページは追加として数えません。",
    partial_after="今回のクロールは最後まで終わっていません。前回だけ取得したページは削除として数えません。",
    unseen="片方のクロールだけが取得した {pages}は比較から除きました。",
    twins="--map により別のURLと同じになった {urls}は比較から除きました。",
    changes="ページ",
    nothing="変化はありません。",
    findings="検出された問題",
    findings_lead="新規 {new} 件、解消 {fixed} 件",
    new="新規",
    fixed="解消",
    totals="前回 → 今回",
    check="検査項目",
    severity="重大度",
    number="件数",
    url="URL",
    none="なし",
    unlinked="リンクなし",
    more="ほか {number} 件",
    kinds={
        ChangeKind.BROKEN: "リンク切れになったページ",
        ChangeKind.REMOVED: "削除されたページ",
        ChangeKind.DEINDEXED: "インデックス不可になったページ",
        ChangeKind.REDIRECTED: "リダイレクトされるようになったページ",
        ChangeKind.STATUS: "ステータスの変化",
        ChangeKind.FIXED: "復旧したページ",
        ChangeKind.ADDED: "追加されたページ",
        ChangeKind.INDEXED: "インデックス可能になったページ",
        ChangeKind.INDEXABILITY: "インデックス不可の理由の変化",
        ChangeKind.TITLE: "タイトルの変化",
        ChangeKind.DESCRIPTION: "ディスクリプションの変化",
        ChangeKind.H1: "h1の変化",
        ChangeKind.CANONICAL: "canonicalの変化",
        ChangeKind.ROBOTS: "robots指示の変化",
        ChangeKind.CONTENT: "本文の変化",
        ChangeKind.DEPTH: "深さの変化",
        ChangeKind.INLINKS: "被リンク数の変化",
        ChangeKind.SLOWER: "遅くなったページ",
        ChangeKind.FASTER: "速くなったページ",
        ChangeKind.LARGER: "大きくなったページ",
        ChangeKind.SMALLER: "小さくなったページ",
        ChangeKind.NEW_FINDING: "新しい問題",
        ChangeKind.FIXED_FINDING: "解消した問題",
    },
)

SENTENCES = {"en": ENGLISH, "ja": JAPANESE}


_GOOD = frozenset({ChangeKind.FIXED, ChangeKind.INDEXED})


def write_text(result: CrawlComparison, say: Sentences, out: TextIO, *, colour: bool = False) -> None:
    out.writelines(f"{line.rstrip()}\n" for line in _text_lines(result, say, Palette(colour)))


def format_score_change(result: CrawlComparison, say: Sentences) -> str:
    """`81.2 → 84.0 (+2.8)`."""
    was, now = result.before.run.score, result.after.run.score
    shown = [say.no_score if score is None else f"{score:.1f}" for score in (was, now)]
    difference = f" ({now - was:+.1f})" if was is not None and now is not None else ""
    return f"{shown[0]} → {shown[1]}{difference}"


def describe_limits(result: CrawlComparison, say: Sentences) -> Iterator[str]:
    """What a reader must know before believing the rest."""
    if result.before.run.partial:
        yield say.partial_before
    if result.after.run.partial:
        yield say.partial_after
    if result.unseen:
        yield say.unseen.format(pages=say.words.count("page", result.unseen))
    if result.twins:
        yield say.twins.format(urls=say.words.count("url", result.twins))


def _text_lines(result: CrawlComparison, say: Sentences, paint: Palette) -> Iterator[str]:
    facts = (
        (say.before, say.side(result.before, result.pages_before)),
        (say.after, say.side(result.after, result.pages_after)),
        (say.score, format_score_change(result, say)),
    )
    width = max(display_width(name) for name, _ in facts) + 2
    yield from (f"{paint.faint(pad_text(name, width))}{words}" for name, words in facts)
    yield from (paint.yellow(f"! {remark}") for remark in describe_limits(result, say))
    kinds = [kind for kind in ChangeKind if kind not in FINDING_CHANGES and result.counts[kind]]
    checks = result.changed_checks()
    if not kinds and not checks:
        yield from ("", say.nothing)
    for kind in kinds:
        yield from ("", _heading(kind, result.counts[kind], say, paint))
        yield from _examples(result.examples[kind], result.counts[kind], say)
    if checks:
        counts = {"new": f"{result.counts[ChangeKind.NEW_FINDING]:,}", "fixed": f"{result.counts[ChangeKind.FIXED_FINDING]:,}"}
        yield from ("", f"{paint.bold(say.findings)}  {say.findings_lead.format(**counts)}")
        for change in checks:
            yield from _check_lines(change, say, paint)


def _heading(kind: ChangeKind, count: int, say: Sentences, paint: Palette) -> str:
    name = f"{say.kinds[kind]} ({count:,})"
    return paint.red(name) if kind in REGRESSIONS else paint.green(name) if kind in _GOOD else paint.bold(name)


def _examples(changes: list[PageChange], count: int, say: Sentences) -> Iterator[str]:
    for change in changes:
        yield f"  {readable_url(change.url)}  {say.values(change)}"
    if count > len(changes):
        yield f"  {say.more.format(number=f'{count - len(changes):,}')}"


def _check_lines(change: CheckChange, say: Sentences, paint: Palette) -> Iterator[str]:
    severity = say.words.severities[Severity(change.check.severity)][0]
    counts = [f"{number:,} {word}" for number, word in ((change.new, say.new), (change.fixed, say.fixed)) if number]
    totals = f"{change.before:,} → {change.after:,}"
    yield f"  {severity}: {say.check_title(change.check)} ({change.check.id}): {', '.join(counts)}, {totals}"
    for example in change.examples:
        sign = paint.red("+") if example.kind is ChangeKind.NEW_FINDING else paint.green("−")
        subject = example.after if example.kind is ChangeKind.NEW_FINDING else example.before
        yield f"    {sign} {readable_url(example.url)}" + (f"  {readable_url(str(subject))}" if subject else "")
    hidden = change.new + change.fixed - len(change.examples)
    if hidden > 0:
        yield f"    {say.more.format(number=f'{hidden:,}')}"


def write_markdown(result: CrawlComparison, say: Sentences, out: TextIO) -> None:
    out.writelines(f"{line}\n" for line in _markdown_lines(result, say))


def _markdown_lines(result: CrawlComparison, say: Sentences) -> Iterator[str]:
    yield from (f"## {say.over}", "")
    yield f"- **{say.before}**: {escape_markdown(say.side(result.before, result.pages_before))}"
    yield f"- **{say.after}**: {escape_markdown(say.side(result.after, result.pages_after))}"
    yield f"- **{say.score}**: {format_score_change(result, say)}"
    for remark in describe_limits(result, say):
        yield from ("", f"> {escape_markdown(remark)}")
    kinds = [kind for kind in ChangeKind if result.counts[kind]]
    if not kinds:
        yield from ("", say.nothing)
        return
    yield from ("", f"| {say.changes} | {say.number} |", "|---|---:|")
    yield from (f"| {say.kinds[kind]} | {result.counts[kind]:,} |" for kind in kinds)
    for kind in kinds:
        if kind not in FINDING_CHANGES:
            yield from _section(say.kinds[kind], result.examples[kind], result.counts[kind], say)
    checks = result.changed_checks()
    if checks:
        yield from ("", f"### {say.findings}", "")
        yield f"| {say.severity} | {say.check} | {say.new} | {say.fixed} | {say.totals} |"
        yield "|---|---|---:|---:|---:|"
        yield from (_row(change, say) for change in checks)


def _section(heading: str, changes: list[PageChange], count: int, say: Sentences) -> Iterator[str]:
    yield from ("", "<details>", f"<summary>{heading} ({count:,})</summary>", "")
    for change in changes:
        yield f"- {escape_markdown(readable_url(change.url))}: {escape_markdown(say.values(change))}"
    if count > len(changes):
        yield f"- {say.more.format(number=f'{count - len(changes):,}')}"
    yield from ("", "</details>")


def _row(change: CheckChange, say: Sentences) -> str:
    severity = say.words.severities[Severity(change.check.severity)][0]
    name = f"{escape_markdown(say.check_title(change.check))} (`{change.check.id}`)"
    return f"| {severity} | {name} | {change.new:,} | {change.fixed:,} | {change.before:,} → {change.after:,} |"


SCHEMA = "tadoru-comparison"
SCHEMA_VERSION = 1


class ComparisonJsonWriter:
    """Writes one comparison."""

    def __init__(self, before: RunHandle, after: RunHandle, severities: Mapping[str, str], out: TextIO) -> None:
        self._out = out
        self._severities = severities
        self._first = True
        head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "before": _run_json(before), "after": _run_json(after)}
        self._out.write(f"{encode_json(head)[:-1]},\n")
        self._out.write('"changes": [')

    def change(self, change: PageChange) -> None:
        self._out.write("\n" if self._first else ",\n")
        self._first = False
        self._out.write(encode_json(self._plain(change)))

    def end(self, result: CrawlComparison, say: Sentences) -> None:
        tail = {
            "totals": {str(kind): result.counts[kind] for kind in ChangeKind},
            "checks": [
                {
                    "check": one.check.id, "severity": one.check.severity, "group": one.check.group,
                    "title": say.check_title(one.check), "before": one.before, "after": one.after, "new": one.new,
                    "fixed": one.fixed, "gone": one.gone,
                }
                for one in sorted(result.checks.values(), key=lambda one: one.check.id)
                if one.before or one.after
            ],
            "pages_before": result.pages_before, "pages_after": result.pages_after, "compared": result.compared,
            "unseen": result.unseen, "twins": result.twins,
        }  # fmt: skip
        self._out.write(f"\n],\n{encode_json(tail)[1:]}\n")

    def _plain(self, change: PageChange) -> dict[str, Any]:
        if change.kind not in FINDING_CHANGES:
            return {"kind": str(change.kind), "url": change.url, "before": change.before, "after": change.after}
        subject = change.after if change.kind is ChangeKind.NEW_FINDING else change.before
        return {
            "kind": str(change.kind), "url": change.url, "check": change.check_id,
            "severity": self._severities[change.check_id], "subject": subject or "",
        }  # fmt: skip


def _run_json(side: RunHandle) -> dict[str, Any]:
    run = side.run
    return {
        "database": without_passwords(side.name),
        "run": run.number,
        "started_at": iso(run.started_at),
        "ended_at": iso(run.ended_at) if run.ended_at else None,
        "outcome": run.outcome,
        "partial": run.partial,
        "score": run.score,
    }
