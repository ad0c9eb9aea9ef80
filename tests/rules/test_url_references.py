"""References on pages: joined as in a browser, and remembered by a resolver that must always equal joining them directly."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tadoru.rules.url import UrlCleaner, UrlResolver, canonical

BASE = "http://a.example/b/c/d;p?q=1"
RELATIVE = {
    # the reference, and what it is against BASE
    "name": ("g", "http://a.example/b/c/g"),
    "dot name": ("./g", "http://a.example/b/c/g"),
    "folder": ("g/", "http://a.example/b/c/g/"),
    "rooted": ("/g", "http://a.example/g"),
    "other host": ("//g.example", "http://g.example/"),
    "other host with a path": ("//g.example/x/../y", "http://g.example/y"),
    "query only": ("?y", "http://a.example/b/c/d;p?y"),
    "empty query only": ("?", "http://a.example/b/c/d;p"),
    "name and query": ("g?y", "http://a.example/b/c/g?y"),
    "fragment only": ("#s", "http://a.example/b/c/d;p?q=1"),
    "name and fragment": ("g#s", "http://a.example/b/c/g"),
    "parameter": (";x", "http://a.example/b/c/;x"),
    "name and parameter": ("g;x", "http://a.example/b/c/g;x"),
    "empty": ("", "http://a.example/b/c/d;p?q=1"),
    "spaces only": (" \t\n", "http://a.example/b/c/d;p?q=1"),
    "dot": (".", "http://a.example/b/c/"),
    "dot slash": ("./", "http://a.example/b/c/"),
    "up": ("..", "http://a.example/b/"),
    "up and a name": ("../g", "http://a.example/b/g"),
    "two up": ("../..", "http://a.example/"),
    "two up and a name": ("../../g", "http://a.example/g"),
    "beyond the root": ("../../../../g", "http://a.example/g"),
    "rooted beyond the root": ("/../g", "http://a.example/g"),
    "name with a final dot": ("g.", "http://a.example/b/c/g."),
    "name with leading dots": ("..g", "http://a.example/b/c/..g"),
    "dots within": ("g/./h/../i", "http://a.example/b/c/g/i"),
    "dots in the query": ("g?y/../x", "http://a.example/b/c/g?y/../x"),
    "same scheme and a name": ("http:g", "http://a.example/b/c/g"),
    "same scheme and a query": ("http:?y", "http://a.example/b/c/d;p?y"),
    "same scheme alone": ("HTTP:", "http://a.example/b/c/d;p?q=1"),
    "same scheme, rooted": ("http:/g", "http://a.example/g"),
    "other scheme without slashes": ("https:g.example", "https://g.example/"),
    "absolute": ("https://g.example/x", "https://g.example/x"),
    "backslash rooted": ("\\g", "http://a.example/g"),
    "backslash host": ("\\\\g.example\\x", "http://g.example/x"),
    "mixed slashes host": ("/\\g.example", "http://g.example/"),
    "space before a name": ("  g ", "http://a.example/b/c/g"),
    "newline in a name": ("g\nh", "http://a.example/b/c/gh"),
    "newline before a query": ("\n?y", "http://a.example/b/c/d;p?y"),
    "tab within the slashes": ("/\t/g.example", "http://g.example/"),
    "colon later in a name": ("./g:h", "http://a.example/b/c/g:h"),
    "digits before a colon": ("80:g", "http://a.example/b/c/80:g"),
    "non-ASCII name": ("é", "http://a.example/b/c/%C3%A9"),
    "port only of another host": ("//g.example:80/", "http://g.example/"),
}

FRAGMENTS = {
    "none": ("g", ""),
    "empty": ("g#", ""),
    "plain": ("g#top", "top"),
    "alone": ("#top", "top"),
    "alone after spaces": (" \n#top ", "top"),
    "escaped": ("g#caf%C3%A9", "café"),
    "not escaped": ("g#café", "café"),
    "escaped alone": ("#a%20b", "a b"),
    "space alone": ("#a b", "a b"),
    "second hash": ("g#a#b", "a#b"),
    "question mark": ("#a?b", "a?b"),
    "newline within": ("#to\np", "top"),
    "after a query": ("?x#y", "y"),
}


@pytest.mark.parametrize("reference,expected", RELATIVE.values(), ids=RELATIVE)
def test_a_reference_resolves_as_in_a_browser(reference: str, expected: str) -> None:
    assert canonical(reference, BASE) == expected


@pytest.mark.parametrize(
    "base,expected",
    [
        ("http://a.example/b/c", "http://a.example/b/g"),
        ("http://a.example/b/c/", "http://a.example/b/c/g"),
        ("http://a.example/", "http://a.example/g"),
        ("http://a.example/?x=/y/", "http://a.example/g"),
        ("http://[::1]:81/b/c", "http://[::1]:81/b/g"),
    ],
)
def test_a_name_replaces_the_last_segment_of_the_base(base: str, expected: str) -> None:
    assert canonical("g", base) == expected
    assert UrlResolver().resolve("g", base) == (expected, "")


@pytest.mark.parametrize("reference,fragment", FRAGMENTS.values(), ids=FRAGMENTS)
def test_the_resolver_hands_over_the_decoded_fragment(reference: str, fragment: str) -> None:
    resolved = UrlResolver().resolve(reference, BASE)
    assert resolved is not None
    assert resolved[1] == fragment


@pytest.mark.parametrize(
    "reference", ["mailto:a@b.example", "javascript:void(0)", "data:,x", "tel:1", "http://[", "//", "ftp:/x", "#\ud800"]
)
def test_the_resolver_follows_nothing_but_http(reference: str) -> None:
    resolver = UrlResolver()
    assert resolver.resolve(reference, BASE) is None
    assert resolver.resolve(reference, BASE) is None


BASES = [
    BASE,
    "http://a.example/b/c/d;p?q=2",
    "http://a.example/b/c/other?x=/y/z",
    "http://a.example/b/",
    "http://a.example/",
    "https://a.example/b/c/d;p?q=1",
    "https://a.example:8443/b/c/",
    "http://[::1]:81/b",
]


@pytest.mark.parametrize("reference", [reference for reference, _ in RELATIVE.values()], ids=RELATIVE)
def test_what_the_resolver_remembers_holds_for_every_base(reference: str) -> None:
    resolver = UrlResolver()
    for base in BASES * 2:
        resolved = resolver.resolve(reference, base)
        assert (resolved and resolved[0]) == canonical(reference, base)


WORDS = ["http:", "https:", "//", "..", "%2e", "%%", "%4", "%41", "%7e", "41", "127.1", "[::1]", ":80", "a.example"]
PARAMETERS = ["utm_a=1", "sid=2", ";jsessionid=3"]
PIECES = st.lists(st.sampled_from([*"/\\.%?#&=:@ \t;~aé\ud800", *WORDS, *PARAMETERS]), max_size=10).map("".join)
TEXTS = st.one_of(PIECES, st.text(max_size=12))
CLEANINGS = st.builds(UrlCleaner, strip_tracking=st.booleans(), strip_sessions=st.booleans())


@example([("g #s", BASE), ("/ #", BASE), (" #s", BASE)], UrlCleaner(), 1)
@given(st.lists(st.tuples(TEXTS, st.sampled_from(BASES)), max_size=12), CLEANINGS, st.integers(1, 20))
def test_the_resolver_always_equals_joining_directly(pairs: list[tuple[str, str]], cleaning: UrlCleaner, capacity: int) -> None:
    resolver = UrlResolver(cleaning, capacity)
    for reference, base in pairs * 2:
        resolved = resolver.resolve(reference, base)
        assert (resolved and resolved[0]) == canonical(reference, base, cleaning=cleaning)


@pytest.mark.parametrize("cleaning", [UrlCleaner(), UrlCleaner(strip_tracking=True)], ids=["none", "tracking"])
def test_what_a_page_says_of_itself_can_be_resolved_without_cleaning(cleaning: UrlCleaner) -> None:
    resolver = UrlResolver(cleaning)
    assert resolver.uncleaned.resolve("g?utm_source=x", BASE) == ("http://a.example/b/c/g?utm_source=x", "")
    assert resolver.uncleaned is resolver.uncleaned


def test_the_resolver_stays_within_its_capacity() -> None:
    resolver = UrlResolver(capacity=100)
    for number in range(1_000):
        base = f"http://a.example/{number // 7}/"
        assert resolver.resolve(f"{number}.html", base) == (f"{base}{number}.html", "")
        assert resolver.resolve(f"/{number}", base) == (f"http://a.example/{number}", "")
        assert len(resolver) <= 102


def test_pages_that_only_exist_to_fill_the_cache_with_directories_do_not() -> None:
    resolver = UrlResolver(capacity=100)
    for number in range(1_000):
        resolver.resolve("#top", f"http://a.example/{number}/")
    assert 0 < len(resolver) <= 102


def test_very_long_references_are_resolved_but_not_kept() -> None:
    resolver = UrlResolver()
    reference = "a" * 5_000
    assert resolver.resolve(reference, BASE) == (f"http://a.example/b/c/{reference}", "")
    before = len(resolver)
    resolver.resolve("b" * 5_000, BASE)
    assert len(resolver) == before


def test_a_remembered_reference_is_not_joined_again() -> None:
    resolver = UrlResolver()
    first = resolver.resolve("g?h", "http://a.example/b/c")
    assert resolver.resolve("g?h", "http://a.example/b/d?x") is first
    rooted = resolver.resolve("/g?h", "http://a.example/b/c")
    assert resolver.resolve("/g?h", "http://a.example/other/folder/") is rooted


@given(
    st.from_regex(r"(\.\./){0,12}/?[a-z0-9_~-][a-z._~-]{0,3}(/[a-z0-9_~.-]?[a-z.]{0,2}){0,3}/?", fullmatch=True),
    st.integers(0, 12),
)
def test_a_plain_reference_joins_as_the_parser_joins_it(reference: str, depth: int) -> None:
    base = f"http://a.example/{'f/' * depth}page?q=/x/"
    assert UrlResolver().resolve(reference, base) == (canonical(reference, base), "")
