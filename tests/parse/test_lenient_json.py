"""JSON that is nearly JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.lenient_json import loads


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param('{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}, id="right as it is"),
        pytest.param('{"a": 1,}', {"a": 1}, id="comma before the end of an object"),
        pytest.param('{"a": [1, 2,, 3,],, "b": 4}', {"a": [1, 2, 3], "b": 4}, id="commas too many"),
        pytest.param('{"a": 1 /* one */, // two\n "b": 2}', {"a": 1, "b": 2}, id="comments"),
        pytest.param('/* first */ {"a": 1} // last', {"a": 1}, id="comments around"),
        pytest.param('{"a": "x" <!-- y --> , "b": 1}', {"a": "x", "b": 1}, id="comment of HTML after a text"),
        pytest.param('{"a": "one\ntwo\tthree\x01"}', {"a": "one\ntwo\tthree\x01"}, id="control characters"),
        pytest.param('{"a": "one\ntwo",}', {"a": "one\ntwo"}, id="control characters and a comma"),
        pytest.param('{"a": {"b": [1, 2', {"a": {"b": [1, 2]}}, id="never closed"),
        pytest.param('{"a": {"b": 1}, "c": [{"d": 2], "e": 3}', {"a": {"b": 1}, "c": [{"d": 2}], "e": 3}, id="object not closed"),
        pytest.param('{"a": [1, 2, "b": 3}', {"a": [1, 2, "b", 3]}, id="list not closed"),
        pytest.param('{"a": 1}}', {"a": 1}, id="closed twice"),
        pytest.param('{"a": 1};', {"a": 1}, id="semicolon of a script"),
        pytest.param('{"a": 1}\n{"b": 2}', [{"a": 1}, {"b": 2}], id="two in a row"),
        pytest.param('{"a": "the "best" of it", "b": 1}', {"a": 'the "best" of it', "b": 1}, id="quotes in a text"),
        pytest.param('{"a": "x"\n "b": "y"}', {"a": "x", "b": "y"}, id="comma forgotten at the end of a line"),
        pytest.param('{"a": 1 "b": 2}', {"a": 1, "b": 2}, id="comma forgotten after a number"),
        pytest.param("{'a': 'x', 'b': \"it's\"}", {"a": "x", "b": "it's"}, id="single quotes"),
        pytest.param("{a: 1, @type: Event}", {"a": 1, "@type": "Event"}, id="names without quotes"),
        pytest.param('{"a": , "b": 1}', {"b": 1}, id="value forgotten"),
        pytest.param('{"a": undefined, "b": NaN,}', {"a": None, "b": None}, id="words of a script"),
        pytest.param('{"a": "https://x.test/y",}', {"a": "https://x.test/y"}, id="slashes in a text are no comment"),
        pytest.param('{"a": "\\u661f \\ud83c\\udf38 \\/ \\" \\q",}', {"a": '星 🌸 / " q'}, id="escapes"),
        pytest.param('{"a": "\\ud83c",}', {"a": "\ufffd"}, id="half a character"),
        pytest.param('\ufeff{"a": 1}', {"a": 1}, id="byte order mark"),
        pytest.param('var x = {"a": 1};', {"a": 1}, id="a script around it"),
    ],
)
def test_it_is_read_as_it_was_meant(text: str, expected: object) -> None:
    assert loads(text) == expected


@pytest.mark.parametrize("text", ["", "   ", "none", "<p>Not found</p>", "[" * 5_000, '{"a":' * 500 + "1,", "[" * 100 + "1,,"])
def test_what_has_no_meaning_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**25), 10**25) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_right_json_is_read_as_the_standard_library_reads_it(value: object) -> None:
    assert loads(json.dumps(value)) == value


@given(st.dictionaries(st.text(max_size=5), _JSON, min_size=1, max_size=4))
def test_one_comma_too_many_changes_nothing(value: dict[str, object]) -> None:
    assert loads(json.dumps(value)[:-1] + ",}") == value


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), _JSON, min_size=1, max_size=4), st.integers(min_value=1))
def test_whatever_is_cut_off_the_start_is_kept(value: dict[str, object], cut: int) -> None:
    text = json.dumps(value)
    found = loads(text[: 1 + cut % len(text)])
    assert isinstance(found, dict)
    assert set(found) <= set(value)


@given(st.text(st.sampled_from("{}[]\"',:/*\\ u0a1\n<!-"), max_size=60))
def test_whatever_is_written_is_a_value_that_json_can_hold_or_a_value_error(text: str) -> None:
    try:
        found = loads(text)
    except ValueError:
        return
    assert json.loads(json.dumps(found)) == found
