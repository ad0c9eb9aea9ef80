"""Notifies of regressions and recoveries of crawled sites: the operator's `--notify` targets and the crawl's webhook.

Each run is reported once, by the process that claims it (`mark_run_notified`). A webhook URL is user input: its request
goes through the address guard, follows no redirects, and is signed if there is a secret. The URL may be a secret and is in no
message.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote, urlsplit

from tadoru.clock import iso
from tadoru.config.options import USER_AGENT
from tadoru.errors import StoreError, UsageError
from tadoru.jobs.events.notify import Send, create_sender
from tadoru.model.web import Failure, FailureKind, Headers, Request
from tadoru.rules.address import Exemptions
from tadoru.rules.url import parse_typed_url
from tadoru.serve.auth.http_security import public_url
from tadoru.serve.crawl_runner.crawl_options import reject_private_url
from tadoru.serve.service import Service
from tadoru.store.served_crawls.annotations import SCHEDULE
from tadoru.store.served_crawls.register import CrawlNotFound
from tadoru.store.served_crawls.schema import CrawlRun, ServedCrawl

BACKOFF = (2.0, 10.0, 60.0)
"""Seconds before each retry."""
TIMEOUT = 15.0
SIGNATURE_HEADER, TIMESTAMP_HEADER = "X-Tadoru-Signature", "X-Tadoru-Timestamp"
REPORT_DAYS = 30
"""How long the link in a report by e-mail works."""
_FIGURES = (("findings.error", "Errors"), ("findings.warning", "Warnings"), ("broken_links", "Broken links"))
MAX_REASONS = 20


def validate_webhook(service: Service, text: str | None) -> str:
    """A webhook URL in canonical form; empty for none. Raises UsageError."""
    if not text or not text.strip():
        return ""
    if len(text) > 2000 or not text.strip().lower().startswith(("http://", "https://")):
        raise UsageError("A webhook URL must start with https:// or http://.")
    url = parse_typed_url(text)
    try:
        reject_private_url(url, Exemptions.from_list(service.options.crawl_private))
    except UsageError:
        raise UsageError(
            "A webhook URL must not lead to a private address. The operator can allow it with --crawl-private."
        ) from None
    return url


def webhook_message(service: Service, crawl: ServedCrawl, run: CrawlRun) -> dict[str, Any]:
    """The JSON message to a webhook."""
    base = (service.options.base_url or "").rstrip("/")
    return {
        "event": "crawl.recovered" if run.changes.get("recovered") else "crawl.regression",
        "crawl": {"id": crawl.id, "name": crawl.name, "job": crawl.job, "starts": list(crawl.starts[:MAX_REASONS])},
        "run": {
            "id": run.id, "outcome": run.outcome, "started_at": iso(run.started_at),
            "ended_at": iso(run.ended_at) if run.ended_at else None,
        },
        "reasons": list(run.changes.get("reasons") or ())[:MAX_REASONS],
        "figures": dict(run.figures),
        "url": f"{base}/manage/crawls/{crawl.id}" if base else None,
    }  # fmt: skip


def sign_message(secret: str, moment: str, body: bytes) -> str:
    """The signature of a message: HMAC-SHA-256 of its timestamp, a dot, and its body."""
    return "sha256=" + hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()


def post_webhook(service: Service, address: str, message: dict[str, Any]) -> tuple[bool, str]:
    """Send a message to a webhook once: whether a retry is pointless, and the error (empty if it succeeded)."""
    from tadoru.jobs.launch import NetworkAccess, build_fetcher, run_loop  # Late: pages do not wait for the HTTP client.

    body = json.dumps(message, ensure_ascii=False).encode()
    headers: Headers = (("Content-Type", "application/json"),)
    if service.options.webhook_secret:
        moment = str(round(service.clock.now()))
        headers = (
            *headers,
            (TIMESTAMP_HEADER, moment),
            (SIGNATURE_HEADER, sign_message(service.options.webhook_secret, moment, body)),
        )
    request = Request(url=address, method="POST", headers=headers, body=body, timeout=TIMEOUT, max_bytes=64 * 1024)

    async def send() -> tuple[bool, str]:
        fetcher = build_fetcher(
            NetworkAccess(user_agent=USER_AGENT, exemptions=Exemptions.from_list(service.options.crawl_private)), 1
        )
        try:
            answer = await fetcher.fetch(request)
        finally:
            await fetcher.close()
        if isinstance(answer, Failure):
            is_final = answer.kind is FailureKind.BLOCKED_ADDRESS
            return is_final, f"no response from {urlsplit(address).hostname} ({answer.kind.replace('_', ' ')})"
        if 200 <= answer.status < 300:
            return True, ""
        return answer.status < 500 and answer.status not in (408, 429), f"status {answer.status}"

    return run_loop(send())


def report_text(crawl: ServedCrawl, run: CrawlRun, link: str) -> str:
    """The text of a report by e-mail: the figures of a run, what changed, and the link."""
    figures, changes = run.figures, run.changes
    lines = [f"{crawl.name}: {crawl.starts[0] if crawl.starts else ''}", f"Pages: {figures.get('pages', 0):,.0f}"]
    if "score" in figures:
        lines.append(f"Health score: {figures['score']:.1f} of 100")
    lines += [f"{label}: {figures[name]:,.0f}" for name, label in _FIGURES if name in figures]
    if changes.get("new") or changes.get("fixed"):
        lines.append(f"Since the previous run: {changes.get('new', 0):,} new, {changes.get('fixed', 0):,} fixed.")
    lines += [str(one) for one in changes.get("reasons") or ()][:MAX_REASONS]
    return "\n".join([*lines, "", f"Report (for {REPORT_DAYS} days): {link}"])


class WebhookNotifier:
    """Sends notifications of runs, in its own threads."""

    def __init__(self, service: Service, backoff: tuple[float, ...] = BACKOFF) -> None:
        self._service, self._backoff = service, backoff
        self._stopping = threading.Event()
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="notifier")
        self._send: Send | None = None
        try:
            self._send = create_sender(service.options.notify)
        except UsageError as error:
            service.log.write("error", "notifications are disabled", error=str(error))

    def poll(self) -> None:
        """Claim the pending notifications and send them."""
        store = self._service.store
        for run in store.claims.unnotified_runs():
            if not self._stopping.is_set() and store.claims.mark_notified(run.id):
                self._threads.submit(self._notify_of, run)

    def stop(self) -> None:
        """Finish what is being sent; pending retries are left to the next start."""
        self._stopping.set()
        self._threads.shutdown()

    def _notify_of(self, run: CrawlRun) -> None:
        service = self._service
        try:
            crawl = service.store.crawls.get(run.crawl_id)
            has_news = bool(run.changes.get("regression") or run.changes.get("recovered"))
            if self._send is not None and has_news:
                self._notify_operator(self._send, crawl, run)
            if crawl.webhook and has_news:
                self._post_webhook(crawl, run)
            if crawl.report_to and crawl.every and run.outcome == "finished":
                self._mail_report(crawl, run)
        except CrawlNotFound:
            return
        except StoreError as error:
            service.log.write("error", "notification failed", crawl_id=run.crawl_id, error=str(error))

    def _notify_operator(self, send: Send, crawl: ServedCrawl, run: CrawlRun) -> None:
        is_recovery = bool(run.changes.get("recovered"))
        title = f"{crawl.name}: {'recovered' if is_recovery else 'regression'}"
        where = crawl.starts[0] if crawl.starts else ""
        text = " ".join([f"Crawl {crawl.id} of {where}.", *map(str, run.changes.get("reasons") or ())][: MAX_REASONS + 1])
        try:
            is_sent = send(title, text, "success" if is_recovery else "warning")
        except Exception as error:  # The library of many services may raise anything; crawls continue.
            self._service.log.write("error", "notification not sent", crawl_id=crawl.id, error=type(error).__name__)
            is_sent = False
        self._add_notice(crawl, is_sent, "Notification sent." if is_sent else "The notification could not be sent.")

    def _mail_report(self, crawl: ServedCrawl, run: CrawlRun) -> None:
        """Send the figures of a run and a link to its report, by the operator's mail server."""
        servers = [url for url in self._service.options.notify if url.startswith(("mailto://", "mailtos://"))]
        if not servers:
            self._add_notice(crawl, False, "The report could not be sent: start the service with --notify mailto://….")
            return
        to = ",".join(crawl.report_to.split())
        token = self._service.store.annotations.share(crawl.id, SCHEDULE, label=to[:80], days=REPORT_DAYS)
        link = f"{public_url(self._service.options).rstrip('/')}/shared?key={token}"
        try:
            send = create_sender([f"{servers[0]}{'&' if '?' in servers[0] else '?'}to={quote(to, safe='@,')}"])
            is_sent = send is not None and send(f"{crawl.name}: report", report_text(crawl, run, link), "info")
        except Exception as error:  # The library of many services may raise anything; crawls continue.
            self._service.log.write("error", "report not sent", crawl_id=crawl.id, error=type(error).__name__)
            is_sent = False
        self._add_notice(crawl, is_sent, "Report sent." if is_sent else "The report could not be sent.")

    def _post_webhook(self, crawl: ServedCrawl, run: CrawlRun) -> None:
        message = webhook_message(self._service, crawl, run)
        why = ""
        for pause in (*self._backoff, None):
            is_final, why = post_webhook(self._service, crawl.webhook, message)
            if not why:
                self._add_notice(crawl, True, "Webhook notified.")
                return
            if is_final or pause is None:
                break
            if self._stopping.wait(pause):
                self._service.store.claims.mark_unnotified(run.id)
                return
        self._add_notice(crawl, False, f"The webhook could not be notified: {why}.")

    def _add_notice(self, crawl: ServedCrawl, is_recovery: bool, text: str) -> None:
        body = {"crawl_id": crawl.id, "level": "info" if is_recovery else "warning", "text": text}
        self._service.store.messages.publish("crawl.notice", f"crawl/{crawl.id}", body)
