"""What the tests of rendering ask of a browser, and of its answer."""

from __future__ import annotations

from typing import Any

from tadoru.fetch.browser import Browser
from tadoru.model.web import Failure, FailureKind, Rendered


def rendered(answer: Rendered | Failure) -> Rendered:
    """The page, which must have been rendered."""
    assert isinstance(answer, Rendered), answer
    return answer


def shown(answer: Rendered | Failure) -> str:
    """Its HTML."""
    return rendered(answer).html.decode()


def kind(answer: Rendered | Failure) -> FailureKind:
    """Why there is none."""
    assert isinstance(answer, Failure), answer
    return answer.kind


async def render(browser: Browser, url: str, **options: Any) -> Rendered | Failure:
    """Render a page that is simple enough to be done soon."""
    return await browser.render(url, **{"wait": 0.2, **options})
