"""A service with documentation sites: one that changed between two crawls, one that means harm, one that is still to come."""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.jobs.docs.bundle.model import StoredDoc
from tadoru.serve.crawl_runner.crawl_files import crawl_path
from tadoru.serve.docs_sites.sites import get_docs_site, list_pages
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.served_crawls.schema import CrawlState
from tests.jobs.docs_bundle.sites import page, write
from tests.support.handbook import PROSE, Handbook, read
from tests.support.serving import ServiceHarness
from tests.support.site import Site

BY = Actor(who="test")
BOOK, EVIL, COMING, AUDIT = 1, 2, 3, 4
"""The numbers of the crawls."""
API = "/api/v1/docs-sites"
RICH = f"""<p>{PROSE} See <a href="/part-1#detail-1">part one</a>, or
 <a href="https://elsewhere.example/x?a=1&amp;b=2">elsewhere</a>.</p>
<h2 id="lid">The lid</h2><div class="admonition warning"><p class="admonition-title">Warning</p><p>It is hot.</p></div>
<dl><dt>spout</dt><dd>Where it sings.</dd></dl>
<table><tr><th>part</th><th>weight</th></tr><tr><td>lid</td><td>20</td></tr></table>
<h2 id="grip">The grip</h2><p>Hold it. <img src="/grip.png" alt="A grip"></p>"""
HARM = """# Harm <script>document.title = 'owned'</script>

<script>document.title = 'owned'</script>
<img src=x onerror="document.title='owned'"> <svg onload="document.title='owned'"></svg>
[click](javascript:document.title='owned') [data](data:text/html,<script>1</script>)
<a href="JaVaScRiPt:document.title=1" id="raw">raw</a>
<style>body { display: none }</style><div style="position:fixed;inset:0" class="skip" id="main">cover</div>
<form action="https://elsewhere.example/"><input name="q"><button>send</button></form>
<iframe src="https://elsewhere.example/"></iframe><link rel="stylesheet" href="https://elsewhere.example/x.css">
<base href="https://elsewhere.example/"><meta http-equiv="refresh" content="0; url=https://elsewhere.example/">
![picture](https://elsewhere.example/beacon.png) <video src="https://elsewhere.example/v.mp4" autoplay></video>

<h2 onclick="document.title='owned'">A heading</h2>

## Another {{ 7 * 7 }} & <b onmouseover="document.title='owned'">bold</b>

<table background="https://elsewhere.example/t.png"><tr><td>cell

</main></body></html><div><p><b><a href="/manage/log">
"""


def hostile() -> list[StoredDoc]:
    """Two pages: what a site of ill will would have us show."""
    title = "<script>document.title='owned'</script>\"'><img src=x onerror=alert(1)>"
    return [page(1, HARM, "harm.html", title=title, breadcrumbs=(title,)), page(2, "# Plain\n\nHarmless text.\n", "plain.html")]


@dataclass(slots=True)
class DocsHarness:
    """The service and the site that was crawled."""

    harness: ServiceHarness
    book_url: str
    numbers: dict[str, int]
    """Of the handbook's pages, by their path."""

    def page(self, path: str) -> str:
        return f"{API}/{BOOK}/pages/{self.numbers[path]}"


def filled(harness: ServiceHarness) -> DocsHarness:
    """The shelf of a service that tests call without a network."""
    return DocsHarness(harness, *fill(harness.service))


def fill(service: Service) -> tuple[str, dict[str, int]]:
    """The sites, and the address and the numbers of the handbook. Part 2 went, part 3 changed, and a page came, between its two
    crawls."""
    store = service.store
    with Site() as site:
        book = Handbook(site)
        book.write(6)
        menu = ["/", *(f"/part-{number}" for number in range(1, 6)), "/rich"]
        book.page("/part-1", "Part 1", f'<p>{PROSE}</p><h2 id="detail-1">Detail 1</h2><p>Wait a minute.</p>', links=menu)
        book.page("/rich", "Everything & more", RICH, links=menu)
        crawl = store.crawls.add("やかんの手引き", "docs", [site.url("/")], {}, BY, state=CrawlState.FINISHED)
        read(site, crawl_path(service, crawl))
        book.page("/part-3", "Part 3", f"<p>Part 3 is about step three. {PROSE * 4}</p>", links=[*menu, "/whistle"])
        book.page("/whistle", "Whistle", f"<p>Now with a whistle. {PROSE}</p>", links=menu)
        site.reply("/part-2", status=404)
        changes = read(site, crawl_path(service, crawl), diff=True).changes
        assert [len(found) for found in (changes.added, changes.changed, changes.removed)] == [1, 1, 1]
        numbers = {one.url.removeprefix(site.base): one.number for one in list_pages(get_docs_site(service, crawl.id))}
        numbers["/part-2"] = int(changes.removed[0].file.split("-")[1])
    evil = store.crawls.add("", "docs", ["https://docs.example.com/"], {}, BY, state=CrawlState.FINISHED)
    write(crawl_path(service, evil), hostile())
    store.crawls.add("Still to come", "docs", ["https://coming.example/"], {}, BY, state=CrawlState.PAUSED)
    store.crawls.add("An audit", "audit", ["https://audited.example/"], {}, BY, state=CrawlState.FINISHED)
    return site.base, numbers
