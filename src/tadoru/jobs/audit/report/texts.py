"""Every word of an audit's reports, in English and Japanese. What a check has to say comes with the check.

Both languages are values of one type, so that a text which is missing in one of them does not pass the type checker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from tadoru.i18n.translation import translator
from tadoru.jobs.report.escape import printable
from tadoru.model.finding import Check, CheckText, Severity, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The texts of one language. Braces are filled in by whoever shows them."""

    lang: str
    over: str
    title: str
    crawled: str
    duration: str
    again: str
    date: str
    suspended: str
    """The crawl still runs, or was killed."""
    outcomes: Mapping[str, str]
    score: str
    score_of: str
    no_score: str
    score_formula: str
    score_how: str
    grades: tuple[tuple[float, str], ...]
    summary: str
    pages: str
    indexable: str
    links: str
    external: str
    severities: Mapping[Severity, tuple[str, str]]
    """One of them, and the heading of several."""
    severity: str
    check: str
    group: str
    found: str
    findings: str
    findings_lead: str
    nothing: str
    passed: str
    passed_lead: str
    why: str
    fix: str
    limit: str
    page: str
    evidence: str
    linked_from: str
    no_inlinks: str
    more: str
    more_command: str
    on_paper: str
    examples: str
    no_answer: str
    refused: str
    waiting: str
    not_requested: str
    answers: str
    answers_lead: str
    by_group: str
    depth: str
    depth_lead: str
    unlinked: str
    times: str
    times_lead: str
    percentile: str
    indexability: str
    indexability_lead: str
    graph: str
    graph_lead: str
    graph_bounded: str
    graph_menu: str
    graph_hint: str
    slowest: str
    largest: str
    time: str
    first_byte: str
    size: str
    redirects: str
    redirects_lead: str
    redirect_to: str
    sitemaps: str
    sitemaps_lead: str
    sitemap_figures: str
    sitemap_states: Mapping[str, str]
    duplicates: str
    duplicates_lead: str
    cluster: str
    traps: str
    trap: str
    skipped: str
    suppressed: str
    unused: str
    suppressed_here: str
    filter_hint: str
    all_severities: str
    all_groups: str
    shown: str
    made_by: str
    contents: str
    next_html: str
    next_check: str
    outcome_names: Mapping[str, str]
    counts: Mapping[str, tuple[str, str]]
    """One, and any other number."""

    def count(self, what: str, number: int) -> str:
        """`1 page`, `2,000 pages`."""
        return self.counts[what][number != 1].format(f"{number:,}")

    def text(self, text: Text) -> str:
        """The text of a check in this language; in English when a plugin has no other."""
        return printable((text.ja if self.lang == "ja" else text.en) or text.en)

    def check_text(self, check: Check) -> CheckText:
        """The title, reason and fix of a check in this language."""
        return CheckText(*map(printable, translator(self.lang).check(check)))

    def when(self, moment: datetime) -> str:
        """A date and a time."""
        return self.date.format(moment)

    def named(self, names: Mapping[str, Text], name: str) -> str:
        """One of the names that are stored in English; as it is when it is unknown."""
        found = names.get(name)
        return self.text(found) if found is not None else printable(name.replace("-", " "))

    def grade(self, score: float) -> str:
        """What a score amounts to."""
        return next(words for least, words in self.grades if score >= least)


GROUPS: Mapping[str, Text] = {
    "responses": Text("Response codes", "応答コード"),
    "redirects": Text("Redirects", "リダイレクト"),
    "urls": Text("URLs", "URL"),
    "titles": Text("Page titles", "ページタイトル"),
    "descriptions": Text("Meta descriptions", "メタディスクリプション"),
    "headings": Text("Headings", "見出し"),
    "content": Text("Content", "コンテンツ"),
    "images": Text("Images", "画像"),
    "canonicals": Text("Canonicals", "canonical（正規URL）"),
    "pagination": Text("Pagination", "ページ送り"),
    "directives": Text("Directives", "robots指示"),
    "hreflang": Text("Languages (hreflang)", "多言語（hreflang）"),
    "links": Text("Links", "リンク"),
    "sitemaps": Text("Sitemaps", "サイトマップ"),
    "structured-data": Text("Structured data", "構造化データ"),
    "security": Text("Security", "セキュリティ"),
    "html": Text("HTML", "HTML"),
    "resources": Text("Resources", "リソース"),
    "site": Text("The site itself", "サイト全体"),
    "performance": Text("Performance", "パフォーマンス"),
    "plugins": Text("Plugins", "プラグイン"),
}
INDEXABILITIES: Mapping[str, Text] = {
    "indexable": Text("Indexable", "インデックス可能"),
    "noindex": Text("noindex", "noindex指定"),
    "canonicalised": Text("Canonicalised to another URL", "canonicalが別のURL"),
    "redirected": Text("Redirected", "リダイレクト"),
    "client error": Text("Client error (4xx)", "クライアントエラー（4xx）"),
    "server error": Text("Server error (5xx)", "サーバーエラー（5xx）"),
    "no response": Text("No response", "応答なし"),
    "no content": Text("No content", "本文なし"),
    "blocked by robots.txt": Text("Blocked by robots.txt", "robots.txtによるブロック"),
}
UNITS: Mapping[str, Text] = {
    "bytes": Text("bytes", "バイト"),
    "characters": Text("characters", "文字"),
    "elements": Text("elements", "要素"),
    "files": Text("files", "ファイル"),
    "links": Text("links", "リンク"),
    "parameters": Text("parameters", "個のパラメーター"),
    "percent": Text("%", "%"),
    "pixels": Text("pixels", "ピクセル"),
    "scripts": Text("scripts", "スクリプト"),
    "seconds": Text("seconds", "秒"),
    "words": Text("words", "語"),
    "clicks": Text("clicks", "クリック"),
    "redirects": Text("redirects", "回のリダイレクト"),
    "URLs": Text("URLs", "件のURL"),
    "words, two Chinese or Japanese characters counted as one": Text(
        "words, two Chinese or Japanese characters counted as one", "語（日本語・中国語は2文字を1語とする）"
    ),
    "characters, full-width ones counted twice": Text("characters, full-width ones counted twice", "文字（全角は2文字とする）"),
    "pages": Text("pages", "ページ"),
}
EVIDENCE: Mapping[str, Text] = {
    "count": Text("count", "件数"),
    "length": Text("length", "長さ"),
    "limit": Text("limit", "上限"),
    "pixels": Text("pixels", "ピクセル"),
    "words": Text("words", "語数"),
    "seconds": Text("seconds", "秒"),
    "size": Text("bytes", "バイト"),
    "percent": Text("%", "%"),
    "status": Text("status", "ステータス"),
    "source": Text("source", "場所"),
    "message": Text("message", "メッセージ"),
    "characters": Text("characters", "文字数"),
    "html": Text("in HTML", "HTML内"),
    "hops": Text("redirects", "リダイレクト数"),
    "clicks": Text("clicks", "クリック数"),
    "pages": Text("pages", "ページ数"),
    "sitemaps": Text("sitemaps", "サイトマップ数"),
    "named_by": Text("named by", "記載元"),
    "median": Text("median", "中央値"),
    "percentile": Text("percentile", "パーセンタイル"),
}
"""Names of a finding's data."""
