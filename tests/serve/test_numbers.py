"""Numbers that callers write: what Python cannot read as one is refused or ignored, and never an error of the service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from starlette.testclient import TestClient

from tadoru.serve.roles import ROUTES
from tadoru.serve.web.request_input import preferred_language
from tadoru.store.accounts.audit_log import Actor
from tests.support.serving import BASE, ServiceHarness

LONG = "9" * 5000
"""More digits than Python reads."""
STRANGE = ("²", "٣", "1e999", "nan", "-1", "1_0", ".", LONG)
PARAMETERS = ("cursor", "limit", "before", "after", "page", "source", "target", "depth", "days", "number", "near", "run")


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceHarness]:
    made = ServiceHarness(tmp_path_factory.mktemp("numbers") / "events.db")
    yield made
    made.close()


@pytest.fixture(scope="module")
def admin(harness: ServiceHarness) -> TestClient:
    user = harness.store.users.add("ann", "admin", Actor(who="test"))
    cookie = f"tadoru={harness.store.sessions.start(user, Actor(who='test'))}"
    return TestClient(
        harness.app, base_url=BASE, headers={"cookie": cookie}, raise_server_exceptions=False, follow_redirects=False
    )


@pytest.mark.parametrize("weight", STRANGE)
async def test_a_weight_that_is_no_number_counts_as_none(harness: ServiceHarness, weight: str) -> None:
    accepted = f"text/html;q={weight}, application/json;q=0.1".encode("latin-1", "ignore")
    transport = httpx.ASGITransport(harness.app, raise_app_exceptions=False)  # It sends the bytes of a header as they are.
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        told = await client.get("/nothing-here", headers={"accept": accepted})
    assert (told.status_code, told.headers["content-type"]) == (404, "application/problem+json")
    assert preferred_language(f"en;q=0.1, ja;q={weight}") == "en"


def test_weights_are_read(harness: ServiceHarness) -> None:
    for weight, kind in (("1", "text/html"), ("0.9", "text/html"), (".9", "text/html"), ("1.", "text/html"), ("0.1", "json")):
        told = harness.anybody.get("/nothing-here", headers={"accept": f"text/html;q={weight}, application/json;q=0.5"})
        assert kind in told.headers["content-type"]


@pytest.mark.parametrize("number", STRANGE)
def test_no_number_in_an_address_breaks_a_page(admin: TestClient, number: str) -> None:
    broken = []
    for route in ROUTES:
        if route.method == "GET":
            one = re.sub(r"\{[^}]+\}", quote(number), route.path)
            broken += [one for told in (admin.get(one),) if told.status_code >= 500]
            there = re.sub(r"\{[^}]+\}", "1", route.path)
            told = admin.get(there, params=dict.fromkeys(PARAMETERS, number))
            each = PARAMETERS if told.status_code == 422 else ()  # One of them hid the others.
            answers = [told, *(admin.get(there, params={name: number}) for name in each)]
            broken += [str(told.request.url)[:80] for told in answers if told.status_code >= 500 and "ready" not in there]
    assert not broken


@pytest.mark.parametrize("number", [LONG, "²"])
def test_no_number_in_a_form_breaks_a_page(admin: TestClient, harness: ServiceHarness, number: str) -> None:
    csrf = _csrf(admin)
    forms = {
        "/manage/keys": {"name": "ci", "scopes": "events:read", "days": number},
        "/manage/crawls/new": {"job": "audit", "starts": "https://site.example/", "every": number, "limit": number},
        "/manage/sources/new": {"name": "a", "type": "ics", "url": "https://a.example/", "priority": number},
    }
    for path, fields in forms.items():
        told = admin.post(path, data={**fields, "csrf": csrf})
        assert told.status_code == 400, path


def _csrf(client: TestClient) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get("/manage/keys").text)
    assert found is not None
    return found[1]
