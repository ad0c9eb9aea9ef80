"""The browser as a process: found or missed with a sentence, restarted when it dies, and gone when we are gone."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tadoru.errors import BrowserMissing
from tadoru.fetch.base import BrowserOptions
from tadoru.fetch.browser import browser as browser_module
from tadoru.fetch.browser.browser import Browser
from tadoru.rules.address import Exemptions
from tests.browser.pages import render, rendered, shown
from tests.support.site import Site

PATIENCE = 30.0


def browser_for(site: Site, **options: object) -> Browser:
    return Browser(**{"user_agent": "x", "exemptions": Exemptions.for_urls([site.url()]), **options})  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a killed browser leaves behind goes with the test. A short name: the browser's sockets are in it."""
    with TemporaryDirectory(prefix="td-", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield


async def test_no_browser_anywhere_is_said_with_how_to_install_one(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    missing = browser_for(site)
    with pytest.raises(BrowserMissing, match=r"apt-get install chromium") as raised:
        await missing.render(site.url())
    assert raised.value.exit_code == 3
    monkeypatch.undo()
    with pytest.raises(BrowserMissing):  # Not looked for again with every page.
        await missing.render(site.url())
    await missing.close()


async def test_a_browser_that_was_named_and_is_not_there(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TADORU_CHROMIUM", "/nowhere/chromium")
    missing = browser_for(site)
    with pytest.raises(BrowserMissing, match=r"TADORU_CHROMIUM is /nowhere/chromium"):
        await missing.start()
    await missing.close()


async def test_a_browser_that_does_not_start(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho no display >&2\nexit 7\n")
    broken.chmod(0o755)
    monkeypatch.setenv("TADORU_CHROMIUM", str(broken))
    missing = browser_for(site)
    with pytest.raises(BrowserMissing, match=r"The browser did not start: no display\.") as raised:
        await missing.start()
    assert "\n" not in str(raised.value)
    await missing.close()


async def test_without_the_extra_it_is_said_how_to_get_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    missing = browser_for(site)
    with pytest.raises(BrowserMissing, match=r"Packages for rendering pages are not installed\. .*pip install .*\[render\]'"):
        await missing.start()
    await missing.close()


async def test_it_starts_with_the_first_page_without_our_secrets_and_leaves_nothing_behind(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TADORU_AUTH_PASSWORD", "hidden")
    site.html("/", "<p>text")
    before = descendants(os.getpid())
    running = browser_for(site)
    assert descendants(os.getpid()) == before
    rendered(await render(running, site.url()))
    started = descendants(os.getpid()) - before
    assert len(started) > 3
    assert not any(b"hidden" in environment(pid) for pid in started if "chrom" in command(pid))
    await running.close()
    gone(started)
    assert not [task for task in asyncio.all_tasks() if "tadoru/fetch" in repr(task)]


async def test_a_browser_that_dies_is_started_again_and_the_page_gets_a_second_chance(site: Site) -> None:
    gate = site.hold("/held.js")
    site.html("/waits", "<p id=p><script src=/held.js></script>")
    site.reply("/held.js", body="p.textContent = 'done'", content_type="text/javascript")
    before = descendants(os.getpid())
    running = browser_for(site)
    rendering = asyncio.create_task(render(running, site.url("/waits")))
    await site.requested("/held.js")
    kill(before, "chrom")
    gate.release()
    assert '<p id="p">done</p>' in shown(await rendering)
    await running.close()


async def test_after_many_pages_another_process_takes_over(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_module, "PAGES_PER_PROCESS", 2)
    site.html("/", "<p>text")
    before = descendants(os.getpid())
    running = browser_for(site)
    answers = await asyncio.gather(*(render(running, site.url()) for _ in range(2)))
    first = descendants(os.getpid()) - before
    answers += await asyncio.gather(*(render(running, site.url()) for _ in range(3)))
    assert ["<p>text" in shown(answer) for answer in answers] == [True] * 5
    gone(first)
    await running.close()


async def test_a_driver_that_dies_is_started_again_too(site: Site) -> None:
    site.html("/", "<p>text")
    before = descendants(os.getpid())
    running = browser_for(site)
    rendered(await render(running, site.url()))
    kill(before, "node")
    assert "<p>text" in shown(await render(running, site.url()))
    await running.close()


async def test_a_browser_that_hangs_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_module, "HANG_MARGIN", 0.5)
    monkeypatch.setattr(browser_module, "CLOSE_TIMEOUT", 1.0)
    gate = site.hold("/stuck.js")
    site.html("/stuck", "<p id=p><script src=/stuck.js></script>")
    site.reply("/stuck.js", body="p.textContent = 'done'", content_type="text/javascript")
    before = descendants(os.getpid())
    running = browser_for(site)
    rendering = asyncio.create_task(render(running, site.url("/stuck"), timeout=2.0))
    await site.requested("/stuck.js")
    stopped = {pid for pid in descendants(os.getpid()) - before if "chrom" in command(pid)}
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    gate.release()
    monkeypatch.setattr(browser_module, "HANG_MARGIN", PATIENCE)
    await rendering
    await running.close()
    gone(stopped)


async def test_a_kept_session_is_there_for_the_next_page_and_the_next_run(site: Site, tmp_path: Path) -> None:
    script = "p.textContent = document.cookie || 'new'; document.cookie = 'seen=1; max-age=9999'"
    site.html("/session", f"<p id=p><script>{script}</script>")
    for expected in ("new", "seen=1"):
        running = browser_for(site, options=BrowserOptions(profile=tmp_path / "profile"))
        assert f'<p id="p">{expected}</p>' in shown(await render(running, site.url("/session")))
        assert '<p id="p">seen=1</p>' in shown(await render(running, site.url("/session")))
        await running.close()


async def test_a_kept_session_survives_the_end_of_its_browser(site: Site, tmp_path: Path) -> None:
    site.html("/", "<p>text")
    before = descendants(os.getpid())
    running = browser_for(site, options=BrowserOptions(profile=tmp_path / "profile"))
    for _ in range(2):
        assert "<p>text" in shown(await render(running, site.url()))
        kill(before, "chrom")
    await running.close()


def test_when_we_are_killed_the_browser_goes_too(checkout: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.browser.test_process"],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "rendered\n"
    started = descendants(process.pid)
    assert len(started) > 3
    process.kill()
    process.wait()
    process.stdout.close()
    gone(started)


# -- processes --------------------------------------------------------------------------------------------------------


def descendants(root: int) -> set[int]:
    """The processes below one, however deep; those that have ended do not count."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(folder.name)] = int(parent)
    found, level = set(), {root}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level}
        found |= level
    return found


def command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").partition(" ")[0]
    return ""


def environment(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""


def kill(before: set[int], name: str) -> None:
    """Kill -9 those of our new processes that go by this name."""
    killed = [pid for pid in descendants(os.getpid()) - before if name in command(pid)]
    assert killed
    for pid in killed:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def gone(processes: set[int]) -> None:
    """Until all of them have ended."""
    for pid in processes:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ready, _, _ = select.select([handle], [], [], PATIENCE)
        os.close(handle)
        assert ready, f"{command(pid)} ({pid}) is still there"


async def render_and_stay() -> None:
    """What is killed."""
    async with Site() as site:
        site.html("/", "<p>text<script>setInterval(() => { document.title = Date.now() }, 10)</script>")
        running = browser_for(site)
        rendered(await render(running, site.url()))
        page = asyncio.create_task(render(running, site.url("/bad/never")))
        await site.requested("/bad/never")
        print("rendered", flush=True)
        await page


if __name__ == "__main__":
    asyncio.run(render_and_stay())
