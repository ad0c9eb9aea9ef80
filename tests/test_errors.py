"""Errors: quoted input, templates with values, and codes."""

from __future__ import annotations

import inspect
import pickle

import pytest

from tadoru import errors
from tadoru.errors import Message, TadoruError, UsageError, quoted


@pytest.mark.parametrize("words, wanted", [
    ("星町", "“星町”"),
    ("it's “so”", "“it's “so””"),
    ("two\nlines\x1b[31m", r"“two\nlines\x1b[31m”"),
    ("half a \udcff letter", r"“half a \udcff letter”"),
    (None, "“None”"),
])  # fmt: skip
def test_input_is_quoted_and_can_be_printed_anywhere(words: object, wanted: str) -> None:
    assert quoted(words) == wanted


def test_an_error_is_made_of_a_template_and_values_and_hides_passwords() -> None:
    error = UsageError("Cannot open {url} ({reason}).", url="https://me:secret@example.com/", reason=Message("no response"))
    assert str(error) == "Cannot open https://me:***@example.com/ (no response)."
    assert error.message == "Cannot open {url} ({reason})."
    assert (error.code, error.exit_code) == ("usage", 2)
    assert UsageError("Not found.", code="not_found").code == "not_found"


def test_an_error_takes_the_template_of_a_message() -> None:
    message = Message("Install {package}.", package="x")
    error = UsageError(message)
    assert (str(error), error.message, error.values) == ("Install x.", "Install {package}.", {"package": "x"})


def test_an_error_and_a_message_survive_another_process() -> None:
    error = pickle.loads(pickle.dumps(UsageError("Install {package}.", package=Message("{name}!", name="x"))))
    assert (str(error), error.message) == ("Install x!.", "Install {package}.")
    assert error.values["package"].template == "{name}!"


def test_every_kind_of_error_has_a_code_of_its_own() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, TadoruError)]
    assert len({kind.code for kind in kinds}) == len(kinds)
