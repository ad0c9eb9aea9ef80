"""Options given to a Python function, checked by the same rules as on the command line."""

from __future__ import annotations

from typing import Any, TypeVar

from tadoru.errors import UsageError
from tadoru.options import CrawlOptions, EventsOptions
from tadoru.settings import JOBS

Options = TypeVar("Options", bound=CrawlOptions | EventsOptions)


def checked(job: str, kind: type[Options], options: dict[str, Any]) -> Options:
    """The options of a job. Raises UsageError."""
    known = {setting.name: setting for setting in JOBS[job]}
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            raise UsageError(f"{job}() was given an option it does not know: {name}.")
        setting = known[name]
        try:
            if value is None:
                found[name] = None
            elif setting.many:
                found[name] = tuple(setting.parse(item) for item in ((value,) if isinstance(value, str) else value))
            else:
                found[name] = setting.parse(value)
        except UsageError as error:
            raise UsageError(f"{job}(): {name} {error}.") from None
    return kind(**found)
