"""The Python API as its users call it: from a plain script, from the cells of a notebook, and in asyncio."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, get_type_hints

import pytest

import tadoru
from tadoru.errors import NothingToCrawl, SeedUnreachable, UsageError
from tests.support.site import Site

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", REFERENCE.read_text("utf-8"), re.DOTALL)
CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//town//\r\nBEGIN:VEVENT\r\nUID:1@town\r\nSUMMARY:Summer fair\r\n"
    "DTSTART:20260801T100000Z\r\nDTEND:20260801T120000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
SCRIPT = """
import sys
import tadoru

base = sys.argv[1]
result = tadoru.links(f"{base}/", depth=2, delay=0)
print(sorted(page.url.removeprefix(base) for page in result.internal_urls))
audited = tadoru.audit(f"{base}/", database="site.db", delay=0, sitemap="off")
findings = audited.findings(check="response-client-error")
print(audited.pages, audited.stopped, [finding.url.removeprefix(base) for finding in findings])
print(tadoru.audit(database="site.db", recrawl=True, delay=0, sitemap="off").pages)
site = tadoru.docs(f"{base}/docs/", output="site", delay=0, sitemap="off", depth=1)
print(site.pages, [url.removeprefix(base) for url, markdown in site.markdown() if "rate limit" in markdown])
with tadoru.events("events.db", delay=0, allow_private=True) as calendar:
    calendar.add_source("Town", "ics", f"{base}/events.ics")
    calendar.run()
    print([event["title"] for event in calendar.list()])
"""


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        site.page("/", links=["/docs/", "/gone"])
        site.page("/docs/", links=["/docs/a", "/"])
        site.page("/docs/a", body="<h1>Limits</h1><p>The rate limit is ten requests a second, for everybody who calls it.</p>")
        site.reply("/events.ics", body=CALENDAR.encode(), content_type="text/calendar")
        yield site


def run_script(text: str, folder: Path, *arguments: str) -> str:
    """What a script prints that is run as `python script.py`."""
    script = folder / "script.py"
    script.write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, script, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


async def run_cell(text: str, names: dict[str, Any]) -> None:
    """Run the cell of a notebook as IPython does: in the running loop, with `await` outside a function."""
    code = compile(text, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    ended = FunctionType(code, names)()
    if inspect.isawaitable(ended):
        await ended


def test_a_script_uses_all_four_jobs(site: Site, tmp_path: Path) -> None:
    assert run_script(SCRIPT, tmp_path, site.base).splitlines() == [
        "['/', '/docs/', '/docs/a', '/gone']",
        "4 False ['/gone']",
        "4",
        "3 ['/docs/a']",
        "['Summer fair']",
    ]


def test_the_script_of_the_reference_runs(site: Site, tmp_path: Path) -> None:
    script = EXAMPLES[0].replace("https://example.com", site.base).replace("depth=2", "depth=2, delay=0")
    assert f"0 {site.base}/ 200\n" in run_script(script, tmp_path)


async def test_a_notebook_awaits_what_is_refused_without_await(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"base": site.base}
    await run_cell("import tadoru", names)
    await run_cell("calendar = tadoru.events('events.db', delay=0, allow_private=True)", names)
    for cell in ("links(base)", "audit(base)", "docs(base)"):
        with pytest.raises(UsageError, match=f"Await {cell.partition('(')[0]}_async"):
            await run_cell(f"tadoru.{cell}", names)
    with pytest.raises(UsageError, match="Await add_source_async"):
        await run_cell("calendar.add_source('Town', 'ics', f'{base}/events.ics')", names)
    with pytest.raises(UsageError, match="Await run_async"):
        await run_cell("calendar.run()", names)
    assert not site.paths
    await run_cell("result = await tadoru.links_async(f'{base}/', delay=0)", names)
    await run_cell("source = await calendar.add_source_async('Town', 'ics', f'{base}/events.ics')", names)
    await run_cell("await calendar.run_async(source.id)", names)
    await run_cell("titles = [event['title'] for event in calendar.list()]", names)
    await run_cell("calendar.close()", names)
    assert (names["result"].total_processed, names["titles"]) == (4, ["Summer fair"])


async def test_the_cell_of_the_reference_runs(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"tadoru": tadoru}
    await run_cell(EXAMPLES[1].replace("https://example.com", site.base).replace('", ', '", delay=0, '), names)
    assert (names["audited"].pages, names["site"].pages) == (4, 3)
    assert isinstance(names["audited"], tadoru.AuditResult)
    assert isinstance(names["site"], tadoru.DocsResult)


def test_asyncio_cancels_an_audit_and_resumes_it(site: Site, tmp_path: Path) -> None:
    database = str(tmp_path / "site.db")

    async def main() -> tadoru.AuditResult:
        gate = site.hold("/docs/a")
        audit = asyncio.create_task(tadoru.audit_async(f"{site.base}/", database=database, delay=0, sitemap="off"))
        await site.requested("/docs/a")
        audit.cancel()
        with pytest.raises(asyncio.CancelledError):
            await audit
        gate.release()
        return await tadoru.audit_async(database=database, delay=0, sitemap="off")

    result = asyncio.run(main())
    assert (result.pages, result.stopped, site.hits("/docs/")) == (4, False, 1)
    assert {check.id for check in result.checks()} >= {finding.check_id for finding in result.findings(severity="error")}


async def test_a_site_without_documentation_is_an_error_with_its_reason(tmp_path: Path) -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /\n")
        with pytest.raises(NothingToCrawl, match=site.base):
            await tadoru.docs_async(f"{site.base}/docs/", output=str(tmp_path / "refused"), delay=0)
    with pytest.raises(SeedUnreachable, match=site.base):
        await tadoru.docs_async(f"{site.base}/docs/", output=str(tmp_path / "gone"), delay=0)


@pytest.mark.parametrize("name", [name for name in tadoru.__all__ if not name.startswith("_")])
def test_everything_public_is_typed_and_documented(name: str) -> None:
    public = getattr(tadoru, name)
    assert public.__doc__
    functions = [public] if inspect.isfunction(public) else [one for _, one in inspect.getmembers(public, inspect.isfunction)]
    for function in functions:
        hints = get_type_hints(function)
        if function.__name__.startswith("_"):
            continue
        missing = {*inspect.signature(function).parameters, "return"} - {*hints, "self"}
        assert not missing, f"{function.__qualname__}: {missing}"


@pytest.mark.parametrize("job", ["audit", "docs"])
def test_a_password_is_not_stored_with_the_crawl(job: str, site: Site, tmp_path: Path) -> None:
    secret = {"auth_type": "basic", "auth_username": "ann", "auth_password": "hunter2", "header": ["X-Key: hunter2"]}
    if job == "audit":
        tadoru.audit(site.url(), database=str(tmp_path / "crawl.db"), delay=0, **secret)
    else:
        tadoru.docs(site.url(), output=str(tmp_path), delay=0, **secret)
    stored = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert stored
    assert not [file.name for file in stored if b"hunter2" in file.read_bytes()]
