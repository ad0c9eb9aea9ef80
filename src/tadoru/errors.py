"""All errors that Tadoru raises, with one base class, and the exit code that each ends a command with.

    TadoruError                    1
    ├── UsageError                 2   input: option, URL, file, configuration
    │   └── ConfigError            2   a configuration file or variable, named with its key
    ├── SeedUnreachable            1   the start URL could not be resolved, connected to or read
    ├── NothingToCrawl             4   robots.txt or the scope excludes every URL
    ├── BrowserMissing             3   pages need a browser and none is installed
    ├── GateExceeded              10   a condition of `--fail-on` was met
    ├── StoreError                 1   the database: locked, full, corrupt, not Tadoru's
    │   └── NewerFormat            1   it was written by a newer version
    └── Interrupted              130   stopped by a signal; results are kept

What a *site* does wrong is not here: a broken response is data (`model.web.Failure`), never an exception.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_PASSWORD = re.compile(
    # A password in a database URL is often not escaped, so it may contain / and #. Our own examples use “password”.
    r'(\bpostgres(?:ql)?(?:\+\w{1,20})?://[^\s":/]{0,100}:)(?!password@)[^\s"]{0,300}@'
    r'|(://[^\s":/?#]*:)(?!password@)[^\s"/?#]*@',
    re.IGNORECASE,
)
_PASSWORD_IN_QUERY = re.compile(r'([?&](?:ssl)?passw(?:or)?d=)[^&\s"”]*', re.IGNORECASE)


def without_passwords(text: str) -> str:
    """A text in which `***` replaces the passwords of its URLs."""
    if "://" not in text:
        return text
    return _PASSWORD_IN_QUERY.sub(r"\1***", _PASSWORD.sub(r"\1\2***@", text))


def quoted(text: object) -> str:
    """A text in quotation marks, its control characters escaped so that a terminal does not interpret them."""
    return f"“{''.join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(text))}”"


class Message(str):
    """A text that can be translated: the English text, with the template and the values that it was made from."""

    __slots__ = ("template", "values")
    template: str
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> Message:
        kept: dict[str, object] = {
            name: value if isinstance(value, Message | TadoruError) else without_passwords(str(value))
            for name, value in values.items()
        }
        message = super().__new__(cls, without_passwords(template.format_map(kept) if values else template))
        message.template, message.values = template, kept
        return message

    def __reduce__(self) -> tuple[object, ...]:
        return _message, (self.template, self.values)

    def map_values(self, change: Callable[[str], str]) -> Message:
        """The message with other values, also those of messages and errors among them."""
        changed = {
            name: message_of(value).map_values(change) if isinstance(value, Message | TadoruError) else change(str(value))
            for name, value in self.values.items()
        }
        return Message(self.template, **changed)

    def to_json(self) -> dict[str, Any]:
        """As JSON, to be stored beside the English text."""
        values = {
            name: message_of(value).to_json() if isinstance(value, Message | TadoruError) else str(value)
            for name, value in self.values.items()
        }
        return {"message": self.template, "values": values}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Message:
        """The message that was stored. Raises KeyError, TypeError or ValueError if it is none."""
        values = {
            str(name): cls.from_json(value) if isinstance(value, Mapping) else str(value)
            for name, value in stored["values"].items()
        }
        return cls(str(stored["message"]), **values)


def _message(template: str, values: dict[str, object]) -> Message:
    return Message(template, **values)


def message_of(text: Message | TadoruError) -> Message:
    """The message of an error; a message as it is."""
    return text if isinstance(text, Message) else _message(text.message, text.values)


def clip_message(text: str, length: int) -> str:
    """A text of limited length; a message that is short enough stays one."""
    return text if len(text) <= length else text[:length]


def restore_message(text: str, stored: object) -> str:
    """A stored English text as the message it was made from; the text itself if `stored` is not that message as JSON."""
    try:
        message = Message.from_json(stored)  # type: ignore[arg-type]  # What is no mapping raises one of these errors.
    except (AttributeError, KeyError, TypeError, ValueError):
        return text
    return message if message == text else text


def describe_unknown(problem: Message, name: object, known: Iterable[object]) -> Message:
    """A message about an unknown name, with the closest known one."""
    from difflib import get_close_matches  # Only now: few commands end with an error.

    if near := get_close_matches(str(name), map(str, known), n=1):
        return Message("{problem}; did you mean “{near}”?", problem=problem, near=near[0])
    return Message("{problem}.", problem=problem)


class TadoruError(Exception):
    """The base class: what failed, why, and what to do. Passwords in its URLs are hidden.

    `message` is the English text with `{name}` for each of `values`, so that it can be translated:
    `UsageError("{file} is empty.", file=file)`. A value may be a `Message` or an error itself.
    """

    exit_code = 1
    code = "error"
    """What a program recognises the error by; `code=` replaces it for a single error."""

    def __init__(self, message: object = "", /, *, code: str | None = None, **values: object) -> None:
        text = message if isinstance(message, Message) else Message(str(message), **values)
        self.message, self.values = text.template, text.values
        if code is not None:
            self.code = code
        super().__init__(str(text))


class UsageError(TadoruError):
    """An option, a URL, a file or a configuration cannot be used."""

    exit_code = 2
    code = "usage"


@contextmanager
def reading_errors(file: object) -> Iterator[None]:
    """Turn the errors of reading a text file that a user named into a UsageError."""
    try:
        yield
    except UnicodeDecodeError:
        raise UsageError("Cannot read {file}: it is not UTF-8 text. Save it as UTF-8.", file=file) from None
    except OSError as error:
        raise UsageError("Cannot read {file} ({reason}). Check its name.", file=file, reason=error.strerror) from None


class ConfigError(UsageError):
    """A configuration key is unknown, or a key or variable has an invalid value (an unknown variable is only a warning)."""

    code = "configuration"


class SeedUnreachable(TadoruError):
    """The start URL did not respond."""

    code = "start_url_unreachable"


class NothingToCrawl(TadoruError):
    """robots.txt or the scope excludes every URL."""

    exit_code = 4
    code = "nothing_to_crawl"


class BrowserMissing(TadoruError):
    """Pages need a browser and none is installed."""

    exit_code = 3
    code = "browser_missing"


class GateExceeded(TadoruError):
    """A condition of `--fail-on` was met."""

    exit_code = 10
    code = "gate_exceeded"


class StoreError(TadoruError):
    """The database cannot be read or written."""

    code = "database"


class NewerFormat(StoreError):
    """The database was written by a newer version of Tadoru."""

    code = "newer_database_format"


class Interrupted(TadoruError):
    """Stopped by Ctrl-C or SIGTERM; all results so far are kept."""

    exit_code = 130
    code = "interrupted"
