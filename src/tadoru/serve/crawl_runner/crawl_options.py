"""What a person may choose for a crawl that the service runs, and how far. Routes, forms and GraphQL all ask here.

Less may be said over the network than on the command line. Nothing that names a file, a proxy, a credential or a header can be
said at all; a host is never crawled beyond the site; and a private address is reached only when the operator allows it
(`--crawl-private`): that somebody typed it into a form does not make it theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from tadoru.config.settings import JOB_SETTINGS as SETTINGS
from tadoru.errors import Message, UsageError, quoted
from tadoru.fetch.guard import is_literal
from tadoru.rules.address import Exemptions, block_reason
from tadoru.rules.url import parse_typed_url
from tadoru.serve.service import Service

JOBS = ("audit", "links", "docs")
MAX_START_URLS, MAX_LISTED_URLS = 20, 1000
MAX_LIST_ITEMS, MAX_TEXT_LENGTH = 20, 300
MIN_INTERVAL, MAX_INTERVAL = 15 * 60, 366 * 24 * 3600
"""Seconds from one run of a crawl to the next."""
DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptionSpec:
    """One thing to choose."""

    name: str
    """As the job's options have it."""
    kind: str
    """`whole`, `seconds`, `flag`, `one` (of `values`), `text`, or `texts` (a list)."""
    default: Any
    words: str
    """What it means, in English."""
    ja: str
    least: float | None = None
    most: float | None = None
    values: tuple[str, ...] = ()
    admin: bool = False
    """Only an admin may choose it."""


_DEPTH = CrawlOptionSpec(name="depth", kind="whole", least=0, most=100, default=None, words="Links to follow from the start, at most.",
    ja="開始ページからたどるリンクの深さの上限。")  # fmt: skip
_LIMIT = CrawlOptionSpec(name="limit", kind="whole", least=1, most=1_000_000, default=10_000, words="Pages to request, at most.",
    ja="取得するページ数の上限。")  # fmt: skip
_SHARED: tuple[CrawlOptionSpec, ...] = (
    CrawlOptionSpec(name="max_time", kind="seconds", least=1.0, most=7 * DAY, default=DAY, words="Stop after so many seconds.",
        ja="この秒数が過ぎたら終える。"),
    CrawlOptionSpec(name="scope", kind="one", values=("host", "domain", "path"), default="host",
        words="What belongs to the site: its host, its whole domain, or only below the start's path.",
        ja="サイトの範囲：ホスト、ドメイン全体、または開始パスの下だけ。"),
    CrawlOptionSpec(name="include", kind="texts", default=[], words="Request only URLs that match one of these regular expressions.",
        ja="これらの正規表現のどれかに合うURLだけを取得する。"),
    CrawlOptionSpec(name="exclude", kind="texts", default=[], words="Never request URLs that match one of these regular expressions.",
        ja="これらの正規表現に合うURLは取得しない。"),
    CrawlOptionSpec(name="strip_tracking", kind="flag", default=False, words="Drop utm_*, gclid and other tracking parameters from URLs.",
        ja="URLからutm_*やgclidなどの追跡用パラメータを除く。"),
    CrawlOptionSpec(name="strip_sessions", kind="flag", default=False, words="Drop session ids from URLs.",
        ja="URLからセッションIDを除く。"),
    CrawlOptionSpec(name="delay", kind="seconds", least=0.1, most=60.0, default=1.0, words="Seconds between two requests to a host.",
        ja="同じホストへの取得の間隔（秒）。"),
    CrawlOptionSpec(name="concurrency", kind="whole", least=1, most=20, default=4, words="Requests in flight at a time.",
        ja="同時に行う取得の数。"),
    CrawlOptionSpec(name="timeout", kind="seconds", least=1.0, most=120.0, default=30.0,
        words="Patience for connecting, for an answer, and for its body, in seconds.", ja="接続と応答を待つ秒数。"),
    CrawlOptionSpec(name="ignore_robots", kind="flag", default=False, admin=True,
        words="Do not read robots.txt: only for sites that are yours.", ja="robots.txtを読まない。自分のサイトに限る。"),
)  # fmt: skip
_SITEMAP = CrawlOptionSpec(name="sitemap", kind="one", values=("auto", "only", "off"), default="auto",
    words="Crawl what the sitemaps name too, only that, or leave them alone.",
    ja="サイトマップにあるページも、それだけを、または使わない。")  # fmt: skip
_SITEMAP_URL = CrawlOptionSpec(name="sitemap_url", kind="texts", default=[], words="Read these sitemaps instead of those of robots.txt.",
    ja="robots.txtのものの代わりに読むサイトマップ。")  # fmt: skip
_RENDER = CrawlOptionSpec(name="render", kind="one", values=("auto", "always", "never"), default="never",
    words="Read pages as a browser shows them: those that are empty without, all, or none.",
    ja="ブラウザーで表示して読むページ：必要なものだけ、すべて、なし。")  # fmt: skip
_LIST = CrawlOptionSpec(name="list", kind="flag", default=False, words="Request exactly the given URLs and follow nothing.",
    ja="与えたURLだけを取得し、リンクをたどらない。")  # fmt: skip
_FRAGMENTS = CrawlOptionSpec(name="fragments", kind="flag", default=False,
    words="Check that #fragments exist on the pages they point into.", ja="リンク先に#で示した場所があるか調べる。")  # fmt: skip


def _with(choice: CrawlOptionSpec, default: Any) -> CrawlOptionSpec:
    return replace(choice, default=default)


def _shared(**defaults: Any) -> tuple[CrawlOptionSpec, ...]:
    return tuple(_with(one, defaults[one.name]) if one.name in defaults else one for one in _SHARED)


CRAWL_OPTIONS: dict[str, tuple[CrawlOptionSpec, ...]] = {
    "audit": (
        _DEPTH, _LIMIT, *_shared(delay=0.1, concurrency=10), _LIST, _SITEMAP, _SITEMAP_URL, _RENDER, _FRAGMENTS,
        CrawlOptionSpec(name="check_external", kind="flag", default=False,
            words="Request external links and resources too, to see whether they answer.",
            ja="外部のリンクや画像なども取得して、応答を確かめる。"),
        CrawlOptionSpec(name="resources", kind="whole", least=0, most=10_000, default=1000,
            words="Images, scripts and styles to try once the pages are done; 0 for none.",
            ja="ページの後で確かめる画像・スクリプト・スタイルの数。0なら確かめない。"),
        CrawlOptionSpec(name="store_bodies", kind="flag", default=False, words="Keep the pages themselves, for an export as WARC.",
            ja="ページそのものを保存する（WARCで書き出すため）。"),
    ),
    "links": (
        _with(_DEPTH, 3), _with(_LIMIT, 1000), *_shared(timeout=10.0), _LIST, _FRAGMENTS,
        CrawlOptionSpec(name="check", kind="flag", default=False,
            words="Request external links too and report every broken link with the pages that lead to it.",
            ja="外部のリンクも取得し、切れたリンクをすべて、元のページとともに示す。"),
        CrawlOptionSpec(name="accept", kind="text", default="200..299", words="Status codes that count as working.",
            ja="正常とみなす応答コード。"),
        CrawlOptionSpec(name="ignore", kind="texts", default=[], words="Do not report links that match one of these regular expressions.",
            ja="これらの正規表現に合うリンクは報告しない。"),
    ),
    "docs": (
        _with(_DEPTH, 2), _LIMIT, *_shared(delay=0.5), _SITEMAP, _SITEMAP_URL, _with(_RENDER, "auto"),
        CrawlOptionSpec(name="variants", kind="texts", default=[], values=("version", "language", "print", "index", "source", "all"),
            words="Read pages too that say again what others say: other versions, other languages, books on one page.",
            ja="同じ内容のページも読む：別の版、別の言語、全体を一つにしたページなど。"),
        CrawlOptionSpec(name="language", kind="text", default=None, words="The language to read; the start page's when left out.",
            ja="読む言語。なければ開始ページの言語。"),
        CrawlOptionSpec(name="own_markdown", kind="flag", default=True, words="Prefer the site's own Markdown where it is complete.",
            ja="サイト自身のMarkdownが揃っていればそれを使う。"),
        CrawlOptionSpec(name="chunk_tokens", kind="whole", least=50, most=100_000, default=None,
            words="Pieces of at most so many tokens.", ja="一片のトークン数の上限。"),
    ),
}  # fmt: skip
"""By job, in the order of a form."""


def validate_options(job: str, given: Mapping[str, Any], *, admin: bool = False) -> dict[str, Any]:
    """What was chosen, checked, by the names of the job's options; how many pages at most is always said. Raises UsageError."""
    if job not in CRAWL_OPTIONS:
        raise UsageError("Unknown job {job}. Use one of {jobs}.", job=quoted(job), jobs=", ".join(JOBS))
    choices = {choice.name: choice for choice in CRAWL_OPTIONS[job]}
    for name in given:
        if name not in choices:
            raise UsageError(
                "The job {job} has no option {name}. Use one of {options}.",
                job=job,
                name=quoted(name),
                options=", ".join(choices),
            )
    found = {name: _value(job, choices[name], value, admin) for name, value in given.items() if value is not None}
    for name in ("limit", "max_time"):
        found.setdefault(name, choices[name].default)
    if job == "docs" and "depth" in found:
        found.setdefault("sitemap", "off")  # So many links from the start is what was asked for.
    return found


def _value(job: str, choice: CrawlOptionSpec, value: Any, admin: bool) -> Any:
    if choice.admin and not admin and value not in (False, "false", "0", "off", ""):
        raise UsageError("Only an administrator can set {option}. Remove it.", option=choice.name)
    try:
        if choice.kind == "texts":
            return _texts(job, choice, value)
        parsed = _parsed(job, choice.name, value)
    except UsageError as error:
        raise UsageError("{option} {problem}.", option=choice.name, problem=error) from None
    if choice.least is not None and choice.most is not None and not choice.least <= parsed <= choice.most:
        raise UsageError(
            "{option} must be from {least} to {most}.", option=choice.name, least=f"{choice.least:,}", most=f"{choice.most:,}"
        )
    if isinstance(parsed, str) and len(parsed) > MAX_TEXT_LENGTH:
        raise UsageError("{option} must have at most {limit} characters.", option=choice.name, limit=MAX_TEXT_LENGTH)
    return parsed


def _texts(job: str, choice: CrawlOptionSpec, value: Any) -> list[str]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(one, str) for one in items):
        raise UsageError("must be a list of strings")
    if len(items) > MAX_LIST_ITEMS or any(len(one) > MAX_TEXT_LENGTH for one in items):
        raise UsageError(
            "must have at most {count} entries of at most {limit} characters", count=MAX_LIST_ITEMS, limit=MAX_TEXT_LENGTH
        )
    if choice.name == "sitemap_url":
        return [_address(one) for one in items]
    return [str(_parsed(job, choice.name, one)) for one in items]


def _address(text: str) -> str:
    try:
        return parse_typed_url(text)
    except UsageError as error:
        raise UsageError("must be sitemap URLs: {problem}", problem=Message(error.message.rstrip("."), **error.values)) from None


def _parsed(job: str, name: str, value: Any) -> Any:
    if isinstance(value, list | tuple | dict):
        raise UsageError("must be a single value")
    parsed = next(setting for setting in SETTINGS[job] if setting.name == name).parse(value)
    if name == "accept":
        from tadoru.jobs.links.broken import AcceptedCodes

        try:
            AcceptedCodes.parse(parsed)
        except UsageError:
            raise UsageError("must be status codes and ranges such as 200..299,403") from None
    return parsed


def validate_start_urls(service: Service, job: str, starts: Sequence[str], *, listed: bool = False) -> tuple[str, ...]:
    """The starts of a crawl in their one spelling. What is private by its very address is refused here; a name that leads to a
    private address is refused when it is connected to. Raises UsageError."""
    most = 1 if job == "docs" else MAX_LISTED_URLS if listed else 1 if job == "links" else MAX_START_URLS
    found = tuple(dict.fromkeys(_start(one) for one in starts))
    if not found:
        raise UsageError("Enter a start URL, such as https://example.com/.")
    if len(found) > most:
        if listed or job == "docs":
            raise UsageError("Too many start URLs. The maximum is {limit}.", limit=f"{most:,}")
        raise UsageError("Too many start URLs. The maximum is {limit}. Use list mode to check more URLs.", limit=most)
    exempt = Exemptions.from_list(service.options.crawl_private)
    for url in found:
        reject_private_url(url, exempt)
    return found


def _start(text: Any) -> str:
    if not isinstance(text, str) or len(text) > 2000:
        raise UsageError("A start URL must have at most 2,000 characters.")
    return parse_typed_url(text)


def reject_private_url(url: str, exempt: Exemptions) -> None:
    """Refuse a canonical URL whose host is a private address itself, or this machine by name. Raises UsageError."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if exempt.covers(host, port):
        return
    why: str | None = Message("it is this machine") if host == "localhost" or host.endswith(".localhost") else None
    if is_literal(host):
        why = block_reason(host)
    if why is not None:
        raise UsageError("Cannot crawl {url}: {reason}. The operator can allow it with --crawl-private.", url=url, reason=why)
