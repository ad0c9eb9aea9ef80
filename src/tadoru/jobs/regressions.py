"""Why a run is worse than the one before it: codes with parameters, stored with the run and translated where they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tadoru.i18n.translation import Translator, translator

Regression = Mapping[str, Any]
"""One reason as JSON: its `code` and its `parameters`."""


def regression(code: str, **parameters: float) -> Regression:
    """One reason."""
    return {"code": code, "parameters": parameters}


def regression_changes(reasons: Iterable[Regression]) -> dict[str, Any]:
    """The changes of a run that these reasons make: whether it is a regression, and why, in English and as codes."""
    codes, english = list(reasons), translator("en")
    return {"regression": bool(codes), "reasons": [format_regression(one, english) for one in codes], "reason_codes": codes}


def format_regression(reason: Regression, messages: Translator) -> str:
    """A reason as a sentence. Raises KeyError if the code or a parameter is unknown, as in a database of a newer version."""
    ngettext, parameters = messages.ngettext, reason["parameters"]
    match reason["code"]:
        case "pages_broke":
            return ngettext("{count} page broke.", "{count} pages broke.", parameters["count"])
        case "pages_vanished":
            return ngettext("{count} page vanished.", "{count} pages vanished.", parameters["count"])
        case "pages_deindexed":
            return ngettext(
                "{count} page can no longer be found by search engines.",
                "{count} pages can no longer be found by search engines.",
                parameters["count"],
            )
        case "new_errors":
            return ngettext("{count} new error.", "{count} new errors.", parameters["count"])
        case "pages_gone":
            gone, all_pages = messages.number(parameters["gone"]), messages.number(parameters["pages"])
            return messages.gettext("{gone} of {pages} pages are gone.", gone=gone, pages=all_pages)
        case "broken_links":
            before = messages.number(parameters["before"])
            return ngettext(
                "{count} broken link; {before} before.",
                "{count} broken links; {before} before.",
                parameters["count"],
                before=before,
            )
        case "score_fell":
            before, after = f"{parameters['before']:.1f}", f"{parameters['after']:.1f}"
            return messages.gettext("The score fell from {before} to {after}.", before=before, after=after)
    raise KeyError(reason["code"])
