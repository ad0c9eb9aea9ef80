"""Errors: quoted input, templates with values, and codes."""

from __future__ import annotations

import inspect
import json
import pickle

import pytest

from tadoru import errors
from tadoru.errors import Message, TadoruError, UsageError, clip_message, quoted, restore_message


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


def test_a_message_is_stored_as_json_with_the_messages_and_errors_in_it() -> None:
    inner = UsageError("{file} is empty.", file="a.db")
    message = Message("{why} ({count}): {error}", why=Message("No {thing}", thing="pages"), count=2, error=inner)
    stored = json.loads(json.dumps(message.to_json()))
    restored = Message.from_json(stored)
    assert (restored, restored.template) == (message, message.template)
    assert isinstance(restored.values["why"], Message)
    assert isinstance(restored.values["error"], Message)
    assert restored.values["error"].template == "{file} is empty."


def test_values_of_a_message_are_changed_at_every_depth() -> None:
    message = Message("{a}: {b}", a="secret", b=Message("{c} of {d}", c="a secret", d="me"))
    changed = message.map_values(lambda text: text.replace("secret", "***"))
    assert (changed, changed.template) == ("***: a *** of me", "{a}: {b}")


@pytest.mark.parametrize("stored", [
    None, "text", 3, [], {}, {"message": "x"}, {"values": {}}, {"message": "{a}", "values": {}},
    {"message": "{a}", "values": {"b": "1"}}, {"message": "Another text.", "values": {}}, {"message": "{", "values": {"a": "1"}},
    {"message": 1, "values": {}},
])  # fmt: skip
def test_a_text_is_shown_as_it_is_when_its_message_is_not_there(stored: object) -> None:
    found = restore_message("The text.", stored)
    assert (found, type(found)) == ("The text.", str)


def test_a_stored_text_becomes_its_message() -> None:
    found = restore_message("1 of 2", {"message": "{a} of {b}", "values": {"a": "1", "b": "2"}})
    assert isinstance(found, Message)
    assert found.values == {"a": "1", "b": "2"}


def test_a_long_message_is_clipped_and_a_short_one_stays_a_message() -> None:
    message = Message("{a} of {b}", a="1", b="2")
    assert clip_message(message, 6) is message
    assert clip_message(message, 3) == "1 o"
