"""Which paths a robots.txt rule matches: RFC 9309 and the rules that large crawlers publish, as tables."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.robots import read


def allowed(text: str, path: str) -> bool:
    return read(status=200, failure=None, body=text.encode()).allows(f"https://example.com{path}").allowed


# Each pattern with paths that it matches and paths that it does not.
MATCHING = {
    "/": (["/", "/fish", "/?q", "/fish/a.html"], []),
    "/*": (["/", "/fish", "/?q"], []),
    "/$": (["/"], ["/a", "/?q", "/index.html"]),
    "/fish": (
        ["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.php?id=anything"],
        ["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"],
    ),
    "/fish*": (
        ["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.php?id=anything"],
        ["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"],
    ),
    "/fish/": (
        ["/fish/", "/fish/?id=anything", "/fish/salmon.htm"],
        ["/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"],
    ),
    "/*.php": (
        [
            "/index.php",
            "/filename.php",
            "/folder/filename.php",
            "/folder/filename.php?parameters",
            "/folder/any.php.file.html",
            "/filename.php/",
        ],
        ["/", "/windows.PHP"],
    ),
    "/*.php$": (
        ["/filename.php", "/folder/filename.php"],
        ["/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP", "/filename.php$"],
    ),
    "/fish*.php": (["/fish.php", "/fishheads/catfish.php?parameters"], ["/Fish.PHP", "/fish"]),
    "*.gif$": (["/a.gif", "/b/c.gif"], ["/a.gif?x", "/a.gifs"]),
    "*": (["/", "/a"], []),
    "/a*b*c": (["/abc", "/a-b-c-d", "/abbc"], ["/acb", "/ab", "/a"]),
    "/a*b*c$": (["/abc", "/abcbc"], ["/abcd", "/ac"]),
    "/a*a$": (["/aa", "/axa"], ["/a"]),
    "/a**b": (["/ab", "/axb"], ["/a"]),
    "/fish$": (["/fish"], ["/fish/", "/fish?a", "/fishes"]),
    "/fish*$": (["/fish", "/fishes", "/fish?x"], ["/fis"]),
    "/a$b": (["/a$b", "/a$bc", "/a%24b"], ["/a", "/ab"]),
    "/search?q=": (["/search?q=1", "/search?q="], ["/search", "/search?p=1&q=1"]),
    "/*?": (["/a?b", "/?", "/a/b?"], ["/a", "/a%3Fb"]),
    "fish": ([], ["/fish", "/a/fish"]),
    "$": ([], ["/", "/a"]),
    # Percent-encoding: RFC 9309 section 2.2.2 and the older draft's table.
    "/foo/bar?baz=quz": (["/foo/bar?baz=quz"], ["/foo/bar"]),
    "/foo/bar?baz=http://foo.bar": (["/foo/bar?baz=http%3A%2F%2Ffoo.bar", "/foo/bar?baz=http://foo.bar"], ["/foo/bar?baz=https"]),
    "/foo/bar?baz=http%3A%2F%2Ffoo.bar": (["/foo/bar?baz=http://foo.bar"], ["/foo/bar?baz=ftp"]),
    "/foo/bar/ツ": (["/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", "/foo/bar/ツ"], ["/foo/bar/%E3%83%85"]),
    "/foo/bar/%E3%83%84": (["/foo/bar/%E3%83%84", "/foo/bar/ツ"], ["/foo/bar/"]),
    "/foo/bar/%62%61%7A": (["/foo/bar/baz", "/foo/bar/%62%61%7A"], ["/foo/bar/ba"]),
    "/a%3cd.html": (["/a%3Cd.html", "/a%3cd.html", "/a<d.html"], ["/a/d.html"]),
    "/a%3Cd.html": (["/a%3cd.html"], ["/a%3Dd.html"]),
    "/a<d": (["/a%3Cd.html", "/a<d.html"], ["/a>d"]),
    "/a%2fb.html": (["/a%2Fb.html", "/a%2fb.html"], ["/a/b.html"]),
    "/a/b.html": (["/a/b.html"], ["/a%2fb.html"]),
    "/%7ejoe/": (["/~joe/index.html", "/%7Ejoe/"], ["/joe/"]),
    "/~joe/": (["/%7Ejoe/index.html"], ["/joe"]),
    "/a b": (["/a%20b", "/a b"], ["/ab", "/a+b"]),
    "/100%": (["/100%", "/100%25"], ["/100"]),
    # The special characters, meant literally.
    "/path/file-with-a-%2A.html": (["/path/file-with-a-*.html", "/path/file-with-a-%2A.html"], ["/path/file-with-a-b.html"]),
    "/path/foo-%24": (["/path/foo-$", "/path/foo-$1"], ["/path/foo-"]),
    "/a%23b": (["/a%23b"], ["/a"]),
}
CASES = [
    pytest.param(pattern, path, matches, id=f"{pattern} {'matches' if matches else 'misses'} {path}")
    for pattern, (hits, misses) in MATCHING.items()
    for matches, paths in ((True, hits), (False, misses))
    for path in paths
]


@pytest.mark.parametrize("pattern, path, matches", CASES)
def test_a_pattern_matches_what_the_specification_says(pattern: str, path: str, matches: bool) -> None:
    assert allowed(f"User-agent: *\nDisallow: {pattern}\n", path) is not matches


PRECEDENCE = [
    ("allow: /p\ndisallow: /", "/page", True),
    ("allow: /folder\ndisallow: /folder", "/folder/page", True),
    ("disallow: /folder\nallow: /folder", "/folder/page", True),
    ("allow: /page\ndisallow: /*.htm", "/page.htm", False),
    ("allow: /page\ndisallow: /*.ph", "/page.php5", True),
    ("allow: /$\ndisallow: /", "/", True),
    ("allow: /$\ndisallow: /", "/page.htm", False),
    ("allow: /$\ndisallow: /", "/$", False),
    ("allow: /example/page/\ndisallow: /example/page/disallowed.gif", "/example/page/disallowed.gif", False),
    ("allow: /example/page/\ndisallow: /example/page/disallowed.gif", "/example/page/other.gif", True),
    ("disallow: /a/\nallow: /a/b/\ndisallow: /a/b/c/", "/a/b/x", True),
    ("disallow: /a/\nallow: /a/b/\ndisallow: /a/b/c/", "/a/b/c/x", False),
    ("disallow: /a/\nallow: /a/b/\ndisallow: /a/b/c/", "/a/x", False),
    ("allow: /fish\ndisallow: /fish*", "/fishes", False),
    ("allow: /é\ndisallow: /*bcd", "/ébcd", True),
    ("allow: /a/index.html\ndisallow: /a/", "/a/", False),
    ("allow: /x\nallow: /y", "/z", True),
]


@pytest.mark.parametrize("rules, path, verdict", PRECEDENCE, ids=[f"{r!r} {p}" for r, p, _ in PRECEDENCE])
def test_the_longest_match_decides_and_allow_wins_a_tie(rules: str, path: str, verdict: bool) -> None:
    assert allowed(f"user-agent: *\n{rules}", path) is verdict


patterns = st.builds("/{}{}".format, st.text("ab/*.", max_size=8), st.sampled_from(["", "$"]))
paths = st.text("ab/.", max_size=10).map("/{}".format)


def as_expression(pattern: str) -> str:
    """The meaning of a pattern, written a second way."""
    body = re.escape(pattern.removesuffix("$")).replace(r"\*", ".*")
    return body + (r"\Z" if pattern.endswith("$") else "")


@given(st.lists(st.tuples(st.booleans(), patterns), max_size=6), paths)
def test_verdicts_agree_with_the_definition(rules: list[tuple[bool, str]], path: str) -> None:
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules]
    matching = [(len(pattern), allow) for allow, pattern in rules if re.match(as_expression(pattern), path)]
    expected = max(matching)[1] if matching else True
    assert allowed("\n".join(["User-agent: *", *lines]), path) is expected


@given(st.text(max_size=20))
def test_a_rule_forbids_the_path_it_spells_however_that_is_encoded(name: str) -> None:
    encoded = "/" + "".join(f"%{octet:02x}" for octet in name.encode("utf-8", "surrogatepass"))
    assert not allowed(f"User-agent: *\nDisallow: {encoded}\n", encoded)
