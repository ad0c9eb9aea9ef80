"""Checks that schemathesis does not have, loaded by it (`hooks` of schemathesis.toml)."""

from __future__ import annotations

from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, GenerationMode, Response

_OWN = "Value error, "
"""How a sentence of our own begins among those of the library that reads values."""


@schemathesis.check
def what_the_description_allows_is_allowed(ctx: CheckContext, response: Response, case: Case) -> None:
    """What fits its schema may make no sense, which a sentence says; but it is not refused as a value of the wrong kind."""
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE or response.status_code != 422:
        return
    told: dict[str, Any] = response.json()
    # A number in a path may be one that an earlier answer did not have: then it is the word None, which no description allows.
    strange = [one for one in told.get("errors", ()) if not one["what"].startswith(_OWN) and one["where"][0] != "path"]
    assert not strange, f"The description allows it, the service does not: {strange}"


@schemathesis.check
def every_refusal_is_a_problem_with_a_sentence(ctx: CheckContext, response: Response, case: Case) -> None:
    """Whatever is refused is told in the one form, with a sentence for whoever reads it."""
    if response.status_code >= 400:
        kind = response.headers.get("content-type", [""])[0]
        assert kind == "application/problem+json", kind
        assert response.json().get("detail"), "There is no sentence."
