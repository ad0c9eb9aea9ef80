from __future__ import annotations

import pytest

from tadoru.model.web import Response
from tadoru.rules.bot_blocking import bot_blocker


@pytest.mark.parametrize(
    "url, status, headers, blocker",
    [
        ("https://a.example/", 503, (("CF-Mitigated", "challenge"),), "Cloudflare"),
        ("https://a.example/", 405, (("x-amzn-waf-action", "captcha"),), "AWS WAF"),
        ("https://a.example/", 406, (("X-DataDome", "protected"),), "DataDome"),
        ("https://www.linkedin.com/in/x", 405, (), "linkedin.com"),
        ("https://facebook.com/x", 400, (), "facebook.com"),
        ("https://www.amazon.com/dp/1", 503, (), "amazon.com"),
        ("https://notlinkedin.com/", 405, (), None),
        ("https://linkedin.com.a.example/", 405, (), None),
        ("https://x.com/gone", 404, (), None),
        ("https://a.example/", 404, (("CF-Mitigated", "challenge"),), None),
        ("https://a.example/", 200, (("X-DataDome", "protected"),), None),
        ("https://a.example/", 503, (), None),
        ("https://127.0.0.1/", 503, (), None),
    ],
)
def test_a_challenge_and_the_errors_of_sites_that_block_crawlers_are_recognised(
    url: str, status: int, headers: tuple[tuple[str, str], ...], blocker: str | None
) -> None:
    assert bot_blocker(Response(url=url, status=status, headers=headers)) == blocker
