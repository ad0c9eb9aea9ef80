"""What the tests of rendering ask of a browser, and of its answer."""

from __future__ import annotations

from typing import Any

from tadoru.fetch.browser.browser import Browser
from tadoru.model.web import Failure, FailureKind, RenderedPage


def rendered(answer: RenderedPage | Failure) -> RenderedPage:
    """The page, which must have been rendered."""
    assert isinstance(answer, RenderedPage), answer
    return answer


def shown(answer: RenderedPage | Failure) -> str:
    """Its HTML."""
    return rendered(answer).html.decode()


def kind(answer: RenderedPage | Failure) -> FailureKind:
    """Why there is none."""
    assert isinstance(answer, Failure), answer
    return answer.kind


async def render(browser: Browser, url: str, **options: Any) -> RenderedPage | Failure:
    """Render a page that is simple enough to be done soon."""
    return await browser.render(url, **{"wait": 0.2, **options})
