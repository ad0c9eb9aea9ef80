"""Every error Tadoru raises, one root, and the exit code each one ends a command with.

    TadoruError                    1
    ├── UsageError                 2   the person's input: option, URL, file, configuration
    │   └── ConfigError            2   a configuration file or variable, named with its key
    ├── SeedUnreachable            1   the start could not be resolved, connected to or read
    ├── NothingToCrawl             4   robots.txt or the scope leave nothing
    ├── BrowserMissing             3   pages need a browser and there is none
    ├── GateExceeded              10   a limit the person asked for (`--fail-on`) was passed
    ├── StoreError                 1   the database: locked, full, corrupt, foreign
    │   └── NewerFormat            1   it was written by a newer program
    └── Interrupted              130   stopped by the person; state is kept

What a *site* does wrong is not here: a broken answer is data (`model.web.Failure`), never an exception.
"""

from __future__ import annotations

import re

_PASSWORD = re.compile(
    # In the URL of a database a password is often not escaped, so that it may hold / and #. Our own examples say “password”.
    r'(\bpostgres(?:ql)?(?:\+\w{1,20})?://[^\s":/]{0,100}:)(?!password@)[^\s"]{0,300}@'
    r'|(://[^\s":/?#]*:)(?!password@)[^\s"/?#]*@',
    re.IGNORECASE,
)
_PASSWORD_IN_QUERY = re.compile(r'([?&](?:ssl)?passw(?:or)?d=)[^&\s"”]*', re.IGNORECASE)


def without_passwords(words: str) -> str:
    """A text in which `***` stands for the passwords of its URLs."""
    if "://" not in words:
        return words
    return _PASSWORD_IN_QUERY.sub(r"\1***", _PASSWORD.sub(r"\1\2***@", words))


def quoted(words: object) -> str:
    """Somebody's words in a sentence of ours: marked as theirs, and without anything that a terminal would obey."""
    return f"“{''.join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(words))}”"


class TadoruError(Exception):
    """The root: what failed, why, and what to do. Passwords in its URLs are hidden.

    `message` is the English text with `{name}` for each of `values`, so that it can be translated:
    `UsageError("{file} is empty.", file=file)`.
    """

    exit_code = 1

    def __init__(self, message: object = "", /, **values: object) -> None:
        self.message = str(message)
        self.values = {name: without_passwords(str(value)) for name, value in values.items()}
        super().__init__(without_passwords(self.message.format_map(self.values) if values else self.message))


class UsageError(TadoruError):
    """The command was given something it can not use."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration key or variable is unknown or has a value that does not fit."""


class SeedUnreachable(TadoruError):
    """The start URL gave no answer at all."""


class NothingToCrawl(TadoruError):
    """Robots rules or the chosen scope leave no page to request."""

    exit_code = 4


class BrowserMissing(TadoruError):
    """Pages need a browser to be read and none is installed."""

    exit_code = 3


class GateExceeded(TadoruError):
    """A gate set with `--fail-on` was exceeded."""

    exit_code = 10


class StoreError(TadoruError):
    """The database can not be read or written."""


class NewerFormat(StoreError):
    """A newer program wrote it, in a way that this one can not read."""


class Interrupted(TadoruError):
    """Stopped by Ctrl-C or SIGTERM; everything done so far is kept."""

    exit_code = 130
