"""Every word of an audit's reports, in English and Japanese. What a check has to say comes with the check.

Both languages are values of one type, so that a text which is missing in one of them does not pass the type checker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from tadoru.i18n.translation import translator
from tadoru.jobs.audit.report.summary import AuditSummary
from tadoru.jobs.reporting.escape import clip, printable
from tadoru.jobs.reporting.formatting import format_duration
from tadoru.model.finding import Check, CheckText, Severity, Text, Threshold
from tadoru.store.crawl.findings import FindingRow, Inlink


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


ENGLISH = Words(
    lang="en",
    over="Site audit",
    title="Audit of {site}",
    crawled="Crawled on {date}",
    duration="took {time}",
    again="crawl {number} of this site",
    date="{0.day} {0:%B %Y, %H:%M} UTC",
    suspended="This crawl is not finished: {urls} still to be requested. What follows is what is known so far.",
    outcomes={
        "limit": "The crawl ended at its limit of pages: {urls} more, known and not requested.",
        "time": "The crawl ended at its time limit: {urls} more, known and not requested.",
        "interrupted": "The crawl was interrupted: {urls} still to be requested. What follows is what is known so far.",
    },
    score="Health score",
    score_of="{score} of 100",
    no_score="No score yet: it is worked out when the crawl has ended.",
    score_how="How the score is worked out",
    score_formula="Each page of the site that answered counts 1; with an error on it {error:g}, with a warning at worst "
    "{warning:g}, with a notice at worst {notice:g}. What is only good to know takes nothing away. The mean of all pages, times "
    "100, is the score. For each check that is about the site as a whole and found something, {site_error:g} points are taken "
    "away when it is an error, {site_warning:g} when it is a warning and {site_notice:g} when it is a notice.",
    grades=((90, "Very good"), (75, "Good"), (50, "Needs work"), (0, "In trouble")),
    summary="Summary",
    pages="Pages",
    indexable="Indexable",
    links="Links",
    external="External URLs",
    severities={
        Severity.ERROR: ("Error", "Errors"),
        Severity.WARNING: ("Warning", "Warnings"),
        Severity.NOTICE: ("Notice", "Notices"),
        Severity.INFO: ("Info", "Good to know"),
    },
    severity="Severity",
    check="Check",
    group="Group",
    found="Found",
    findings="Findings",
    findings_lead="What was found, gravest first. Open a line to see why it matters, how to mend it, and where it is.",
    nothing="Nothing was found.",
    passed="Passed",
    passed_lead="{checks} found nothing.",
    why="Why it matters",
    fix="How to fix it",
    limit="Threshold: {limit}",
    page="Page",
    evidence="Evidence",
    linked_from="Linked from",
    no_inlinks="No link leads here.",
    more="and {number} more",
    more_command="{number} more, listed by",
    on_paper="On paper the first {number} are shown.",
    examples="among them",
    no_answer="No answer",
    refused="Not requested",
    waiting="Waiting",
    not_requested="not requested",
    answers="How the pages answered",
    answers_lead="Every URL of the site by what its server said.",
    by_group="Findings by group",
    depth="Clicks from the start page",
    depth_lead="The further away a page is, the fewer visitors and search engines come to it.",
    unlinked="no link",
    times="Response times",
    times_lead="From the request to the last byte, as this crawl measured it.",
    percentile="{percent} % of the pages within",
    indexability="Indexability",
    indexability_lead="Whether a search engine may show a page, and if not, why.",
    graph="How the site hangs together",
    graph_lead="The start page is in the middle, each ring is one click further away, and a bigger dot has a higher link score. "
    "Point at a dot to see its links.",
    graph_bounded="{drawn} of {pages} are drawn: the start, what is broken, and those with the highest link score.",
    graph_menu="Links to {pages} that very many pages link to, usually a menu, are not drawn.",
    graph_hint="{status} · depth {depth} · link score {score:.0f} · {links}",
    slowest="Slowest pages",
    largest="Largest pages",
    time="Time",
    first_byte="First byte",
    size="Size",
    redirects="Redirects",
    redirects_lead="Each costs a visitor a detour: link to where it ends. Those that most links lead to come first.",
    redirect_to="Leads to",
    sitemaps="Sitemaps",
    sitemaps_lead="What the site tells search engines to look at, against what is there.",
    sitemap_figures="They name {pages}: {closed} not indexable, {unlinked} that no link leads to. "
    "{missing} indexable in no sitemap.",
    sitemap_states={"read": "read", "failed": "could not be read", "queued": "not read yet"},
    duplicates="Near duplicates",
    duplicates_lead="Pages that say nearly the same compete with each other.",
    cluster="{pages} that are nearly the same",
    traps="What was left out",
    trap="URLs without end were cut off: {pattern} ({reason}), {urls} left out.",
    skipped="{urls} not requested: {reason}.",
    suppressed="{findings} suppressed as known and accepted.",
    unused="{file}, line {line}: nothing matched “{text}”; it can go.",
    suppressed_here="{findings} suppressed",
    filter_hint="Filter by words or URL",
    all_severities="Every severity",
    all_groups="Every group",
    shown="{count} of {all}",
    contents="Contents",
    made_by="Made by Tadoru {version}.",
    next_html="A page to read and to send: {command}",
    next_check="Every page of a check, and where it is linked: {command}",
    outcome_names={"ok": "Fine", "redirect": "Redirected", "broken": "Broken", "blocked": "Refused", "unread": "Not requested"},
    counts={
        "page": ("{} page", "{} pages"),
        "url": ("{} URL", "{} URLs"),
        "link": ("{} link", "{} links"),
        "check": ("{} check", "{} checks"),
        "finding": ("{} finding", "{} findings"),
    },
)


JAPANESE = Words(
    lang="ja",
    over="サイト監査レポート",
    title="{site} の監査レポート",
    crawled="クロール日時: {date}",
    duration="所要時間 {time}",
    again="このサイトの{number}回目のクロール",
    date="{0.year}年{0.month}月{0.day}日 {0:%H:%M} UTC",
    suspended="このクロールは完了していません（未取得 {urls}）。以下は現時点でわかっている内容です。",
    outcomes={
        "limit": "ページ数の上限に達したためクロールを終了しました。ほかに {urls} が見つかっていますが、取得していません。",
        "time": "制限時間に達したためクロールを終了しました。ほかに {urls} が見つかっていますが、取得していません。",
        "interrupted": "クロールは中断されました（未取得 {urls}）。以下は現時点でわかっている内容です。",
    },
    score="健全性スコア",
    score_of="100点中 {score}点",
    no_score="スコアはクロールの完了後に計算されます。",
    score_how="スコアの計算方法",
    score_formula="応答したページはそれぞれ1点です。エラーがあれば{error:g}点、最も重い問題が警告なら{warning:g}点、注意なら{notice:g}点とし、"
    "参考情報では減点しません。全ページの平均を100倍した値がスコアです。サイト全体に関する検査で問題が見つかった場合は、"
    "1件につきエラーで{site_error:g}点、警告で{site_warning:g}点、注意で{site_notice:g}点を差し引きます。",
    grades=((90, "とても良い"), (75, "良い"), (50, "改善が必要"), (0, "問題あり")),
    summary="概要",
    pages="ページ",
    indexable="インデックス可能",
    links="リンク",
    external="外部URL",
    severities={
        Severity.ERROR: ("エラー", "エラー"),
        Severity.WARNING: ("警告", "警告"),
        Severity.NOTICE: ("注意", "注意"),
        Severity.INFO: ("情報", "参考情報"),
    },
    severity="重大度",
    check="検査項目",
    group="分類",
    found="件数",
    findings="検出された問題",
    findings_lead="重大なものから順に並んでいます。行を開くと、理由、直し方、該当ページが表示されます。",
    nothing="問題は見つかりませんでした。",
    passed="問題のなかった検査",
    passed_lead="{checks}で問題は見つかりませんでした。",
    why="なぜ重要か",
    fix="直し方",
    limit="しきい値: {limit}",
    page="ページ",
    evidence="根拠",
    linked_from="リンク元",
    no_inlinks="このページへのリンクはありません。",
    more="ほか {number} 件",
    more_command="残り {number} 件は次のコマンドで表示できます:",
    on_paper="印刷では最初の{number}件だけを表示しています。",
    examples="例",
    no_answer="応答なし",
    refused="未取得",
    waiting="待機中",
    not_requested="未取得",
    answers="ページの応答",
    answers_lead="サイトのすべてのURLを、サーバーの応答ごとに数えたものです。",
    by_group="分類ごとの検出数",
    depth="開始ページからのクリック数",
    depth_lead="遠いページほど、訪問者にも検索エンジンにも見つけてもらいにくくなります。",
    unlinked="リンクなし",
    times="応答時間",
    times_lead="要求を送ってから最後の1バイトを受け取るまでの、このクロールでの実測値です。",
    percentile="{percent}%のページがこの時間以内",
    indexability="インデックス可否",
    indexability_lead="検索エンジンがページを表示できるかどうか、できない場合はその理由です。",
    graph="サイトの構造",
    graph_lead="中心が開始ページで、輪が1つ外側になるごとに1クリック遠くなります。大きな点ほどリンクスコアが高いページです。"
    "点に触れると、そのリンクが強調されます。",
    graph_bounded="{pages}のうち{drawn}を描いています。開始ページ、壊れているページ、リンクスコアの高いページです。",
    graph_menu="非常に多くのページから張られている{pages}へのリンク（多くはメニュー）は描いていません。",
    graph_hint="{status} · 深さ {depth} · リンクスコア {score:.0f} · {links}",
    slowest="応答の遅いページ",
    largest="サイズの大きいページ",
    time="時間",
    first_byte="最初のバイト",
    size="サイズ",
    redirects="リダイレクト",
    redirects_lead="訪問者は遠回りをします。最終的なURLへ直接リンクしてください。リンクの多いものから順に並んでいます。",
    redirect_to="行き先",
    sitemaps="サイトマップ",
    sitemaps_lead="検索エンジンに伝えている内容と、実際のサイトを比べた結果です。",
    sitemap_figures="掲載は{pages}です。うちインデックス不可 {closed}、リンクのないもの {unlinked}。"
    "サイトマップにないインデックス可能なページは{missing}です。",
    sitemap_states={"read": "読み取り済み", "failed": "読み取り不可", "queued": "未読"},
    duplicates="ほぼ同じ内容のページ",
    duplicates_lead="内容がほぼ同じページは、互いに競合します。",
    cluster="ほぼ同じ{pages}",
    traps="対象から外したもの",
    trap="際限なく続くURLを打ち切りました: {pattern}（{reason}）、{urls}を除外。",
    skipped="{urls}は取得していません: {reason}",
    suppressed="{findings}は既知のものとして抑制されています。",
    unused="{file} の{line}行目「{text}」に一致するものはありません。削除できます。",
    suppressed_here="抑制 {findings}",
    filter_hint="語句やURLで絞り込む",
    all_severities="すべての重大度",
    all_groups="すべての分類",
    shown="{all}件中 {count}件",
    contents="目次",
    made_by="Tadoru {version} で作成しました。",
    next_html="閲覧・共有用のページを作るには: {command}",
    next_check="ある検査の全ページとリンク元を見るには: {command}",
    outcome_names={"ok": "正常", "redirect": "リダイレクト", "broken": "エラー", "blocked": "アクセス拒否", "unread": "未取得"},
    counts={
        "page": ("{}ページ", "{}ページ"),
        "url": ("{}件のURL", "{}件のURL"),
        "link": ("リンク{}件", "リンク{}件"),
        "check": ("{}件の検査", "{}件の検査"),
        "finding": ("{}件", "{}件"),
    },
)


LANGUAGES: dict[str, Words] = {"en": ENGLISH, "ja": JAPANESE}


LONGEST_TEXT = 160


def site_name(summary: AuditSummary) -> str:
    """The host of the site, with its port."""
    return url_host(summary.crawl.start_url)


def url_host(start_url: str) -> str:
    """The host of a URL, with its port; the URL itself when it has none."""
    try:
        host = urlsplit(start_url).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    return printable(host or start_url)


def describe_crawl(summary: AuditSummary, words: Words) -> str:
    """When the site was crawled, and how long that took."""
    crawl = summary.crawl
    parts = []
    if crawl.started is not None:
        parts.append(words.crawled.format(date=words.when(crawl.started)))
        if crawl.ended is not None:
            parts.append(words.duration.format(time=format_duration((crawl.ended - crawl.started).total_seconds())))
    if crawl.runs > 1:
        parts.append(words.again.format(number=crawl.runs))
    return " · ".join(parts)


def describe_unfinished(summary: AuditSummary, words: Words) -> str:
    """What to know before reading on, when not everything was crawled; empty otherwise."""
    outcome, waiting = summary.crawl.outcome, words.count("url", summary.waiting)
    if outcome is not None and outcome in words.outcomes and (summary.waiting or outcome == "interrupted"):
        return words.outcomes[outcome].format(urls=waiting)
    return words.suspended.format(urls=waiting) if summary.waiting or (outcome is None and summary.crawl.runs) else ""


def describe_exclusions(summary: AuditSummary, words: Words) -> Iterator[str]:
    """What the crawl did not request, and what was suppressed."""
    for reason, count in summary.skipped:
        yield words.skipped.format(urls=words.count("url", count), reason=printable(reason).rstrip("."))
    for trap in summary.traps:
        urls = words.count("url", trap.refused)
        yield words.trap.format(pattern=printable(trap.key), reason=printable(trap.why), urls=urls)
    if summary.suppressed:
        yield words.suppressed.format(findings=words.count("finding", summary.suppressed))


def describe_evidence(row: FindingRow, words: Words) -> str:
    """What was found there, in one line."""
    facts = ", ".join(_facts(row, words))
    detail = clip(printable(row.detail), 2 * LONGEST_TEXT)
    subject = clip(printable(row.subject), 2 * LONGEST_TEXT) if row.page_id and row.subject != row.detail else ""
    return " · ".join(part for part in (subject, detail, facts) if part)


def _facts(row: FindingRow, words: Words) -> Iterator[str]:
    for name, value in row.data.items():
        if isinstance(value, list | tuple):
            others = [clip(printable(str(each)), LONGEST_TEXT) for each in value if each != row.detail]
            if others:
                yield f"{words.examples} {' · '.join(others)}"
        elif not (name == "count" and value == 1):
            yield f"{words.named(EVIDENCE, name)} {clip(printable(format_amount(value)), LONGEST_TEXT)}"


def format_amount(value: object) -> str:
    """A number with its thousands apart, anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) or not value.is_integer() else f"{int(value):,}"


def describe_threshold(threshold: Threshold, words: Words) -> str:
    """The threshold of a check with its unit."""
    unit = words.named(UNITS, threshold.unit)
    return words.limit.format(limit=f"{format_amount(threshold.default)} {unit}".strip())


def describe_inlink(link: Inlink, name: str) -> str:
    """A page that links, and the words that are linked there."""
    text = clip(printable(link.text), 80)
    return f"{name} “{text}”" if text else name


def format_size(size: float) -> str:
    """`512 B`, `34.1 kB`, `2.3 MB`."""
    if size < 1000:
        return f"{size:.0f} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def format_milliseconds(ms: float) -> str:
    """`120 ms`, `1.24 s`."""
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.2f} s"


def format_time_bound(ms: int) -> str:
    """`200 ms`, `2 s`."""
    return f"{ms} ms" if ms < 1000 else f"{ms / 1000:g} s"


def response_class_names(words: Words) -> dict[str, str]:
    """What each class of answers is called; those of status codes are called what they are."""
    return {"no answer": words.no_answer, "not requested": words.refused, "waiting": words.waiting}
