"""Every word of a comparison, in English and Japanese, and how a change reads in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tadoru.jobs.audit.compare.changes import Change, Kind, Value
from tadoru.jobs.audit.compare.sides import Side
from tadoru.jobs.audit.report.language import LANGUAGES
from tadoru.jobs.audit.report.texts import INDEXABILITIES, Words
from tadoru.jobs.report.escape import clip, printable, readable_url
from tadoru.model.finding import Text
from tadoru.store.states import CheckWords

LONGEST = 80
"""Characters shown of a title, say."""

_URLS = frozenset({Kind.CANONICAL, Kind.REDIRECTED})
_REASONS = frozenset({Kind.DEINDEXED, Kind.INDEXED, Kind.INDEXABILITY})
_QUOTED = frozenset({Kind.TITLE, Kind.DESCRIPTION, Kind.H1, Kind.ROBOTS})
_UNITS = {
    Kind.SLOWER: Text("{:,.0f} ms", "{:,.0f} ミリ秒"),
    Kind.FASTER: Text("{:,.0f} ms", "{:,.0f} ミリ秒"),
    Kind.LARGER: Text("{:,} bytes", "{:,} バイト"),
    Kind.SMALLER: Text("{:,} bytes", "{:,} バイト"),
    Kind.INLINKS: Text("links: {:,}", "リンク {:,}"),
    Kind.CONTENT: Text("words: {:,}", "{:,} 語"),
    Kind.DEPTH: Text("depth {:,}", "深さ {:,}"),
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
    kinds: Mapping[Kind, str]

    def text(self, text: Text) -> str:
        return self.words.text(text)

    def check_title(self, check: CheckWords) -> str:
        return printable((check.title_ja if self.words.lang == "ja" else check.title) or check.title)

    def side(self, side: Side, pages: int) -> str:
        """A run in one line."""
        parts = [printable(side.name), self.run.format(number=side.run.number), self.words.when(side.run.started_at)]
        parts.append(self.words.count("page", pages))
        if side.run.partial:
            parts.append(self.stopped.get(side.run.outcome or "", self.stopped[""]))
        return ", ".join(parts)

    def values(self, change: Change) -> str:
        """What something was, and what it is."""
        if change.kind is Kind.ADDED:
            return self.value(change.kind, change.after)
        if change.kind is Kind.REMOVED:
            return self.value(change.kind, change.before)
        return f"{self.value(change.kind, change.before)} → {self.value(change.kind, change.after)}"

    def value(self, kind: Kind, value: Value) -> str:
        if value is None:
            return self.unlinked if kind is Kind.DEPTH else self.none
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
        Kind.BROKEN: "Broken",
        Kind.REMOVED: "Removed",
        Kind.DEINDEXED: "No longer indexable",
        Kind.REDIRECTED: "Newly redirected",
        Kind.STATUS: "Other status",
        Kind.FIXED: "Working again",
        Kind.ADDED: "Added",
        Kind.INDEXED: "Newly indexable",
        Kind.INDEXABILITY: "Not indexable for another reason",
        Kind.TITLE: "Title changed",
        Kind.DESCRIPTION: "Description changed",
        Kind.H1: "H1 changed",
        Kind.CANONICAL: "Canonical changed",
        Kind.ROBOTS: "Robots directives changed",
        Kind.CONTENT: "Content changed",
        Kind.DEPTH: "Depth changed",
        Kind.INLINKS: "Links to it changed",
        Kind.SLOWER: "Slower",
        Kind.FASTER: "Faster",
        Kind.LARGER: "Larger",
        Kind.SMALLER: "Smaller",
        Kind.NEW_FINDING: "New findings",
        Kind.FIXED_FINDING: "Fixed findings",
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
        Kind.BROKEN: "リンク切れになったページ",
        Kind.REMOVED: "削除されたページ",
        Kind.DEINDEXED: "インデックス不可になったページ",
        Kind.REDIRECTED: "リダイレクトされるようになったページ",
        Kind.STATUS: "ステータスの変化",
        Kind.FIXED: "復旧したページ",
        Kind.ADDED: "追加されたページ",
        Kind.INDEXED: "インデックス可能になったページ",
        Kind.INDEXABILITY: "インデックス不可の理由の変化",
        Kind.TITLE: "タイトルの変化",
        Kind.DESCRIPTION: "ディスクリプションの変化",
        Kind.H1: "h1の変化",
        Kind.CANONICAL: "canonicalの変化",
        Kind.ROBOTS: "robots指示の変化",
        Kind.CONTENT: "本文の変化",
        Kind.DEPTH: "深さの変化",
        Kind.INLINKS: "被リンク数の変化",
        Kind.SLOWER: "遅くなったページ",
        Kind.FASTER: "速くなったページ",
        Kind.LARGER: "大きくなったページ",
        Kind.SMALLER: "小さくなったページ",
        Kind.NEW_FINDING: "新しい問題",
        Kind.FIXED_FINDING: "解消した問題",
    },
)

SENTENCES = {"en": ENGLISH, "ja": JAPANESE}
