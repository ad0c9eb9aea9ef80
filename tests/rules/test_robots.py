"""RFC 9309: what statuses, groups, odd bytes, delays and sitemaps mean. Paths are in `test_robots_matching`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.web import FailureKind
from tadoru.rules import robots
from tadoru.rules.robots import Robots, read

HOST = "https://example.com"


def parsed(text: str | bytes, token: str = robots.PRODUCT_TOKEN) -> Robots:
    body = text.encode() if isinstance(text, str) else text
    return read(status=200, failure=None, body=body, token=token)


def allowed(text: str | bytes, path: str, token: str = robots.PRODUCT_TOKEN) -> bool:
    return parsed(text, token).allows(HOST + path).allowed


# --- status and failure -------------------------------------------------------------------------------------------------

DISALLOW_ALL = b"User-agent: *\nDisallow: /\n"


@pytest.mark.parametrize("status", [200, 201, 203, 206, 299])
def test_a_success_is_parsed(status: int) -> None:
    rules = read(status=status, failure=None, body=DISALLOW_ALL)
    assert not rules.allows(f"{HOST}/x").allowed
    assert not rules.unreachable


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 408, 410, 418, 451, 499])
def test_an_unavailable_robots_txt_allows_everything(status: int) -> None:
    rules = read(status=status, failure=None, body=DISALLOW_ALL)
    verdict = rules.allows(f"{HOST}/x")
    assert verdict == (True, f"robots.txt returned status {status}, which means everything is allowed", "")
    assert not rules.unreachable


@pytest.mark.parametrize("status", [429, 500, 501, 502, 503, 504, 520, 599, 100, 600, 999])
def test_a_server_in_trouble_disallows_everything(status: int) -> None:
    rules = read(status=status, failure=None, body=b"")
    verdict = rules.allows(f"{HOST}/x")
    assert verdict == (False, f"robots.txt returned status {status}, which means everything is disallowed", "")
    assert rules.unreachable


REDIRECTED = {FailureKind.BAD_REDIRECT, FailureKind.TOO_MANY_REDIRECTS, FailureKind.REDIRECT_LOOP}


@pytest.mark.parametrize("kind", sorted(set(FailureKind) - REDIRECTED))
def test_no_answer_disallows_everything_and_says_why(kind: FailureKind) -> None:
    rules = read(status=None, failure=kind, body=b"")
    verdict = rules.allows(f"{HOST}/x")
    assert not verdict.allowed
    assert kind.value in verdict.reason
    assert rules.unreachable


@pytest.mark.parametrize("kind", sorted(REDIRECTED))
def test_redirects_that_lead_nowhere_count_as_no_robots_txt(kind: FailureKind) -> None:
    rules = read(status=None, failure=kind, body=b"")
    assert rules.allows(f"{HOST}/x").allowed
    assert not rules.unreachable


def test_neither_status_nor_failure_is_no_answer() -> None:
    assert not read(status=None, failure=None, body=b"").allows(HOST).allowed


@pytest.mark.parametrize("status", [200, 404, 503])
def test_robots_txt_itself_is_always_allowed(status: int) -> None:
    assert read(status=status, failure=None, body=DISALLOW_ALL).allows(f"{HOST}/robots.txt").allowed


def test_only_the_robots_txt_at_the_root_is_always_allowed() -> None:
    assert not allowed(DISALLOW_ALL, "/a/robots.txt")


# --- groups ---------------------------------------------------------------------------------------------------------------

RFC_EXAMPLE = """\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@pytest.mark.parametrize(
    "token, path, verdict",
    [
        ("Tadoru", "/a.gif", False),
        ("Tadoru", "/example/x", False),
        ("Tadoru", "/publications/", True),
        ("Tadoru", "/publications/a.gif", True),
        ("Tadoru", "/other", True),
        ("foobot", "/", False),
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("foobot", "/publications/", False),
        ("barbot", "/example/page.html", False),
        ("bazbot", "/example/page.html", False),
        ("bazbot", "/example/a.gif", True),
        ("quxbot", "/example/a.gif", True),
    ],
)
def test_the_example_of_the_rfc_reads_as_it_explains(token: str, path: str, verdict: bool) -> None:
    assert allowed(RFC_EXAMPLE, path, token) is verdict


@pytest.mark.parametrize(
    "agent, ours",
    [
        ("Tadoru", True),
        ("tadoru", True),
        ("TADORU", True),
        ("Tadoru/1.0", True),
        ("Tadoru Images", True),
        ("tadoru # that one", True),
        ("tadorubot", False),
        ("tadoru-news", False),
        ("tado", False),
        ("t", False),
        ("mytadoru", False),
        ("*tadoru", False),
        ("tadoru*", True),
        ("", False),
        ("/", False),
    ],
)
def test_a_group_is_ours_when_its_product_token_equals_ours(agent: str, ours: bool) -> None:
    assert allowed(f"User-agent: {agent}\nDisallow: /\n", "/x") is not ours


def test_a_token_with_a_version_is_the_same_token() -> None:
    assert not allowed("User-agent: otherbot\nDisallow: /", "/", token="OtherBot/2.1 (+https://example.com)")


def test_a_token_without_letters_has_only_the_star_group() -> None:
    assert allowed("User-agent: 1\nDisallow: /\n", "/", token="2")


SCATTERED = "User-agent: tadoru\nDisallow: /a\n\nUser-agent: b\nDisallow: /\nUser-agent: TADORU\nDisallow: /c"
GROUPS = [
    ("own group hides the star group", "User-agent: *\nDisallow: /\n\nUser-agent: tadoru\nDisallow: /p", "/x", True),
    ("own group binds", "User-agent: *\nDisallow:\n\nUser-agent: tadoru\nDisallow: /p", "/p", False),
    ("own group comes first", "User-agent: tadoru\nDisallow: /p\n\nUser-agent: *\nDisallow: /", "/x", True),
    ("own group may be empty", "User-agent: *\nDisallow: /\n\nUser-agent: tadoru\n", "/x", True),
    ("groups merge: first", SCATTERED, "/a", False),
    ("groups merge: last", SCATTERED, "/c", False),
    ("groups merge: not others", SCATTERED, "/d", True),
    ("star groups merge", "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: *\nDisallow: /c", "/a", False),
    ("star with trailing words", "User-agent: * (all)\nDisallow: /", "/x", False),
    ("star with a letter is no star", "User-agent: *x\nDisallow: /", "/x", True),
    ("nobody is meant", "User-agent: other\nDisallow: /", "/x", True),
    ("rules before any agent", "Disallow: /\nUser-agent: *\nDisallow: /a", "/x", True),
    ("agents share rules over a blank line", "User-agent: tadoru\n\nUser-agent: *\nDisallow: /", "/x", False),
    ("a sitemap does not end a run of agents", "User-agent: tadoru\nSitemap: /s\nUser-agent: b\nDisallow: /", "/x", False),
    ("a delay does not end a run of agents", "User-agent: tadoru\nCrawl-delay: 1\nUser-agent: b\nDisallow: /", "/x", False),
    ("an unknown line does not end a group", "User-agent: *\nNoindex: /b\nDisallow: /a", "/a", False),
    ("an empty disallow does end a run of agents", "User-agent: tadoru\nDisallow:\nUser-agent: b\nDisallow: /", "/x", True),
    ("a blank line does not end a group", "User-agent: *\n\n\nDisallow: /a", "/a", False),
    ("empty disallow forbids nothing", "User-agent: *\nDisallow:", "/x", True),
    ("empty allow permits nothing", "User-agent: *\nAllow:\nDisallow: /", "/x", False),
    ("directives of any case", "USER-AGENT: *\nDISALLOW: /a\naLLow: /a/b", "/a", False),
    ("spaces everywhere", "  User-agent  :  *  \n\t Disallow \t:\t /a \t", "/a", False),
    ("no space at all", "User-agent:*\nDisallow:/a", "/a", False),
    ("comments", "# hello\nUser-agent: * # all\nDisallow: /a # private\n# Disallow: /", "/b", True),
    ("comment glued to the path", "User-agent: *\nDisallow: /a#b", "/a", False),
    ("missing colon", "User-agent *\nDisallow /a", "/a", False),
    ("missing colon in prose means nothing", "User-agent: *\nDisallow / is what we say to bad robots", "/x", True),
    ("path with a colon and none after the name", "User-agent: *\nDisallow /a:b", "/a:b", False),
    ("misspelt disallow", "User-agent: *\nDissallow: /a", "/a", False),
    ("misspelt agent", "Useragent: *\nDisallow: /a", "/a", False),
    ("unknown directive", "User-agent: *\nForbid: /a", "/a", True),
]


@pytest.mark.parametrize("text, path, verdict", [case[1:] for case in GROUPS], ids=[case[0] for case in GROUPS])
def test_lines_form_groups(text: str, path: str, verdict: bool) -> None:
    assert allowed(text, path) is verdict


# --- bytes ----------------------------------------------------------------------------------------------------------------

BYTES = [
    ("utf-8 bom", b"\xef\xbb\xbfUser-agent: *\nDisallow: /a", "/a", False),
    ("utf-16 le", "\ufeffUser-agent: *\nDisallow: /a".encode("utf-16-le"), "/a", False),
    ("utf-16 be", "\ufeffUser-agent: *\nDisallow: /a".encode("utf-16-be"), "/a", False),
    ("crlf", b"User-agent: *\r\nDisallow: /a$\r\n", "/a", False),
    ("cr", b"User-agent: *\rDisallow: /a$\r", "/a", False),
    ("mixed line ends", b"User-agent: *\r\rDisallow: /b\n\r\nDisallow: /a$\r", "/a", False),
    ("a form feed ends no line", b"User-agent: *\nDisallow: /b\x0cDisallow: /a", "/a", True),
    ("nothing", b"", "/a", True),
    ("a nul inside a path", b"User-agent: *\nDisallow: /a\x00b", "/a%00b", False),
    ("nuls between lines", b"\x00\x00\nUser-agent: *\n\x00\nDisallow: /a", "/a", False),
    ("latin-1 path", b"User-agent: *\nDisallow: /caf\xe9", "/caf%E9", False),
    ("invalid utf-8 elsewhere", b"\xff\xfa\n\xc3\x28\nUser-agent: *\nDisallow: /a", "/a", False),
    ("html", b"<!doctype html><html><body><p>User-agent: *</p>\n<p>Disallow: /</p></body></html>", "/a", True),
]


@pytest.mark.parametrize("body, path, verdict", [case[1:] for case in BYTES], ids=[case[0] for case in BYTES])
def test_strange_bytes_are_survived(body: bytes, path: str, verdict: bool) -> None:
    assert allowed(body, path) is verdict


def test_only_the_first_500_kib_are_parsed_and_a_cut_line_is_no_rule() -> None:
    head = b"User-agent: *\nDisallow: /early\n"
    filler = b"#" * (robots.MAX_BYTES - len(head) - len(b"\nDisallow: /l")) + b"\n"
    rules = parsed(head + filler + b"Disallow: /late\nDisallow: /later\n")
    assert not rules.allows(f"{HOST}/early").allowed
    assert rules.allows(f"{HOST}/late").allowed
    assert rules.allows(f"{HOST}/l").allowed


def test_a_last_line_that_ends_at_the_cap_counts() -> None:
    tail = b"\nUser-agent: *\nDisallow: /late"
    body = b"#" * (robots.MAX_BYTES - len(tail)) + tail
    assert not allowed(body, "/late")


@given(st.binary(max_size=300), st.text(max_size=30))
def test_any_bytes_and_any_url_get_a_verdict(body: bytes, path: str) -> None:
    verdict = read(status=200, failure=None, body=b"User-agent: *\nDisallow: /" + body).allows(f"{HOST}/{path}")
    assert verdict.allowed or verdict.line
    assert verdict.reason.isprintable()


# --- reasons, delay, sitemaps ---------------------------------------------------------------------------------------------


def test_a_refusal_names_the_line_that_forbids() -> None:
    verdict = parsed("User-agent: *\nDisallow: /tmp\nDISALLOW :/private/  # ours\n").allows(f"{HOST}/private/x")
    assert verdict == (False, "robots.txt line 3: Disallow: /private/", "Disallow: /private/")


def test_line_numbers_are_those_an_editor_shows() -> None:
    verdict = parsed("# one\r\n\r\nUser-agent: *\r\n\r\nDisallow: /\r\n").allows(f"{HOST}/x")
    assert verdict.reason == "robots.txt line 5: Disallow: /"


def test_a_permission_against_a_prohibition_names_its_line_too() -> None:
    verdict = parsed("User-agent: *\nDisallow: /\nAllow: /open\n").allows(f"{HOST}/open/x")
    assert verdict == (True, "robots.txt line 3: Allow: /open", "Allow: /open")


def test_the_line_of_a_refusal_is_fit_to_be_printed() -> None:
    verdict = parsed(b"User-agent: *\nDisallow: /\x1b[31m\xff*\n").allows(f"{HOST}/%1B[31m%FF")
    assert not verdict.allowed
    assert verdict.line == "Disallow: /\ufffd[31m\ufffd*"


def test_the_line_of_a_refusal_is_not_endless() -> None:
    verdict = parsed(b"User-agent: *\nDisallow: /" + b"*" * 100_000).allows(f"{HOST}/x")
    assert not verdict.allowed
    assert len(verdict.reason) < 300


@pytest.mark.parametrize(
    "url", [HOST, f"{HOST}/", f"{HOST}?a/b", f"{HOST}:8443/#/x", f"{HOST}#a", "http://user:pw@[::1]:80/?"], ids=str
)
def test_a_url_without_a_path_is_its_root(url: str) -> None:
    assert parsed("User-agent: *\nDisallow: /").allows(url).line == "Disallow: /"
    assert parsed("User-agent: *\nDisallow: /x\nDisallow: /a\nDisallow: //").allows(url).allowed


def test_a_fragment_is_no_part_of_the_match() -> None:
    assert parsed("User-agent: *\nDisallow: /*private").allows(f"{HOST}/a#private").allowed


@pytest.mark.parametrize(
    "written, delay",
    [("5", 5.0), ("0.5", 0.5), (".5", 0.5), ("2.", 2.0), ("0", 0.0), ("3 # slow", 3.0), ("-1", None), ("soon", None),
     ("", None), ("nan", None), ("inf", None), ("1_0", None), ("٣", None), ("9" * 400, 1e9)],
)  # fmt: skip
def test_a_crawl_delay_is_a_plain_number_of_seconds(written: str, delay: float | None) -> None:
    assert parsed(f"User-agent: *\nCrawl-delay: {written}\n").crawl_delay == delay


DELAYS = [
    ("ours and not the star's", "User-agent: *\nCrawl-delay: 9\n\nUser-agent: tadoru\nCrawl-delay: 2\nDisallow:", 2.0),
    ("our group without one", "User-agent: *\nCrawl-delay: 9\nDisallow:\n\nUser-agent: tadoru\nDisallow: /a", None),
    ("the longest of several", "User-agent: *\nCrawl-delay: 3\nDisallow:\nCrawl-delay: 7\nCrawl-delay: 4", 7.0),
    ("not one of another group", "User-agent: b\nCrawl-delay: 9\nDisallow: /\nUser-agent: *\nDisallow:", None),
    ("one before any group", "Crawl-delay: 9\nUser-agent: *\nDisallow:", None),
]


@pytest.mark.parametrize("text, delay", [case[1:] for case in DELAYS], ids=[case[0] for case in DELAYS])
def test_the_crawl_delay_is_that_of_our_group(text: str, delay: float | None) -> None:
    assert parsed(text).crawl_delay == delay


@pytest.mark.parametrize("written, paced", [("59", 59.0), ("60", 60.0), ("61", 60.0), ("3600", 60.0)])
def test_a_crawl_delay_is_honoured_up_to_a_minute(written: str, paced: float) -> None:
    rules = parsed(f"User-agent: *\nCrawl-delay: {written}\n")
    assert (rules.crawl_delay, rules.paced_delay) == (float(written), paced)


def test_without_a_crawl_delay_there_is_nothing_to_cap() -> None:
    assert parsed("").paced_delay is None


def test_sitemaps_stand_anywhere_and_are_told_once_in_order() -> None:
    text = (
        "Sitemap: https://e.com/1.xml\nUser-agent: b\nsitemap:https://e.com/2.xml?a=b:c\nSITEMAP: https://e.com/1.xml\nSitemap:\n"
    )
    assert parsed(text).sitemaps == ("https://e.com/1.xml", "https://e.com/2.xml?a=b:c")
