"""Which URLs belong to a crawl, in each mode, and what a person is told about the others."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.rules.scope import Admission, Scope, ScopeDecision, ScopeMode, domain_key

FOLLOW, EXTERNAL, OUTSIDE, REFUSED = Admission.FOLLOW, Admission.EXTERNAL, Admission.OUTSIDE, Admission.REFUSED
HOST = Scope("host", ("https://www.example.com/start",))
DOMAIN = Scope("domain", ("https://www.example.co.uk/start",))


@pytest.mark.parametrize(
    "url,admission",
    [
        ("https://www.example.com/start", FOLLOW),
        ("https://www.example.com/", FOLLOW),
        ("http://www.example.com/other?x=1", FOLLOW),
        ("https://www.example.com:8443/", EXTERNAL),
        ("http://www.example.com:443/", EXTERNAL),
        ("https://example.com/", EXTERNAL),
        ("https://sub.www.example.com/", EXTERNAL),
        ("https://www.example.com.evil.example/", EXTERNAL),
        ("https://other.example/?u=https://www.example.com/", EXTERNAL),
    ],
)
def test_the_host_scope_is_one_host_and_port_with_either_scheme(url: str, admission: Admission) -> None:
    assert HOST.decide(url).admission is admission
    assert HOST.is_internal(url) is (admission is FOLLOW)


@pytest.mark.parametrize(
    "url,admission",
    [
        ("https://example.co.uk/", FOLLOW),
        ("http://a.b.example.co.uk/", FOLLOW),
        ("https://other.co.uk/", EXTERNAL),
        ("https://co.uk/", EXTERNAL),
        ("https://notexample.co.uk/", EXTERNAL),
        ("https://a.example.co.uk:8443/", EXTERNAL),
    ],
)
def test_the_domain_scope_knows_public_suffixes(url: str, admission: Admission) -> None:
    assert DOMAIN.decide(url).admission is admission


@pytest.mark.parametrize(
    "url,key",
    [
        ("http://a.b.example.com/", "example.com"),
        ("http://example.com:81/", "example.com:81"),
        ("http://one.github.io/", "one.github.io"),
        ("http://a.one.github.io/", "one.github.io"),
        ("http://github.io/", "github.io"),
        ("http://city.kawasaki.jp/", "city.kawasaki.jp"),
        ("http://www.town.kawasaki.jp/", "www.town.kawasaki.jp"),
        ("http://www.xn--85x722f.xn--55qx5d.cn/", "xn--85x722f.xn--55qx5d.cn"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://127.0.0.1:8000/", "127.0.0.1:8000"),
        ("http://[2001:db8::1]/", "[2001:db8::1]"),
        ("http://[::1]:81/", "[::1]:81"),
        ("http://localhost:8000/", "localhost:8000"),
        ("http://a.localhost/", "a.localhost"),
        ("http://intranet/", "intranet"),
    ],
)
def test_the_registrable_domain_falls_back_to_the_host(url: str, key: str) -> None:
    assert domain_key(url) == key


@pytest.mark.parametrize(
    "start,url,inside",
    [
        ("/docs/intro.html", "/docs/", True),
        ("/docs/intro.html", "/docs/a/b", True),
        ("/docs/intro.html", "/docs", False),
        ("/docs/intro.html", "/docs-old/", False),
        ("/docs/intro.html", "/", False),
        ("/docs", "/docs", True),
        ("/docs", "/docs?page=2", True),
        ("/docs", "/docs/a", True),
        ("/docs", "/docs-old", False),
        ("/docs/", "/docs/a", True),
        ("/docs/", "/docs", False),
        ("/docs/v1.2", "/docs/v1.2/a", True),
        ("/docs/v1.2", "/docs/v1.3/a", False),
        ("/index.html", "/anything", True),
        ("/", "/anything", True),
        ("/docs/?next=/a/b.html", "/docs/c", True),
        ("/.well-known", "/other", False),
    ],
)
def test_the_path_scope_is_below_the_start(start: str, url: str, inside: bool) -> None:
    scope = Scope("path", (f"http://a.example{start}",))
    verdict = scope.decide(f"https://a.example{url}")
    assert verdict.admission is (FOLLOW if inside else OUTSIDE)
    assert scope.is_internal(f"http://a.example{url}")


def test_the_path_scope_of_one_host_says_nothing_about_another() -> None:
    scope = Scope("path", ("http://a.example/x/", "http://b.example/y/", "http://a.example/z/"))
    assert scope.decide("http://b.example/y/1").admission is FOLLOW
    assert scope.decide("http://a.example/z/1").admission is FOLLOW
    assert scope.decide("http://b.example/x/1") == (OUTSIDE, "outside the path /y/")
    assert scope.decide("http://a.example/y/1") == (OUTSIDE, "outside the path /x/ and /z/")


def test_the_scope_all_follows_every_host() -> None:
    scope = Scope("all", ("http://a.example/",))
    assert scope.decide("https://b.example:81/x").admission is FOLLOW
    assert scope.is_internal("https://b.example:81/x")


@pytest.mark.parametrize(
    "scope,url,verdict",
    [
        (HOST, "http://b.example/", (EXTERNAL, "external: b.example is not www.example.com")),
        (HOST, "http://www.example.com:81/", (EXTERNAL, "external: www.example.com:81 is not www.example.com")),
        (DOMAIN, "http://www.b.example/", (EXTERNAL, "external: www.b.example is not in example.co.uk")),
        (
            Scope("host", ("http://a.example/", "https://b.example/")),
            "http://c.example/",
            (EXTERNAL, "external: c.example is none of the 2 sites"),
        ),
        (Scope("path", ("http://a.example/docs/x.html",)), "http://a.example/", (OUTSIDE, "outside the path /docs/")),
        (
            Scope("host", ("http://a.example/",), exclude=("/foo/",)),
            "http://a.example/foo/",
            (REFUSED, "excluded by pattern /foo/"),
        ),
        (
            Scope("host", ("http://a.example/",), include=("/docs/", "/api/")),
            "http://a.example/blog/",
            (REFUSED, "not matched by any --include pattern"),
        ),
        (HOST, "https://www.example.com/start", (FOLLOW, "a start URL")),
        (HOST, "https://www.example.com/x", (FOLLOW, "in scope")),
    ],
)
def test_each_verdict_gives_its_reason(scope: Scope, url: str, verdict: ScopeDecision) -> None:
    assert scope.decide(url) == verdict


@pytest.mark.parametrize(
    "include,exclude,url,admission",
    [
        ((r"/docs/",), (), "http://a.example/docs/x", FOLLOW),
        ((r"/docs/", r"\.pdf$"), (), "http://a.example/x.pdf", FOLLOW),
        ((r"/docs/",), (), "http://a.example/x", REFUSED),
        ((r"/docs/",), (r"\.pdf$",), "http://a.example/docs/x.pdf", REFUSED),
        ((), (r"\?.*print=1",), "http://a.example/x?a=b&print=1", REFUSED),
        ((), (r"^https:",), "http://a.example/x", FOLLOW),
        ((), (r"print",), "http://b.example/print", REFUSED),
        ((r"b\.example",), (), "http://b.example/", EXTERNAL),
        ((r"/docs/",), (), "http://a.example/start", FOLLOW),
        ((), (r"start",), "http://a.example/start", REFUSED),
        ((r"start",), (r"start",), "http://a.example/start", REFUSED),
    ],
)
def test_patterns_choose_among_internal_urls_and_exclude_applies_to_all(
    include: tuple[str, ...], exclude: tuple[str, ...], url: str, admission: Admission
) -> None:
    scope = Scope("host", ("http://a.example/start",), include, exclude)
    assert scope.decide(url).admission is admission


def test_patterns_do_not_make_a_url_external() -> None:
    scope = Scope("host", ("http://a.example/",), include=("/docs/",), exclude=("/x",))
    assert scope.is_internal("http://a.example/x")


@pytest.mark.parametrize("option", ["include", "exclude"])
def test_a_bad_pattern_is_refused_by_name_before_the_crawl(option: str) -> None:
    with pytest.raises(UsageError, match=rf"The --{option} pattern “\(a” is not a valid regular expression: .+\.$"):
        Scope("host", ("http://a.example/",), **{option: ("fine", "(a")})


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"“site” is not a valid scope\. Use one of host, domain, path, all"):
        Scope.from_dict({"mode": "site", "sites": [], "include": [], "exclude": []})


def test_a_start_that_moves_to_another_host_takes_the_site_with_it() -> None:
    scope = Scope("host", ("http://example.com/", "http://b.example/"), ("x",), ("y",))
    moved = scope.moved("http://example.com/", "https://www.example.com/home")
    assert moved == Scope("host", ("https://www.example.com/home", "http://b.example/"), ("x",), ("y",))
    assert moved.decide("https://www.example.com/x").admission is FOLLOW
    assert moved.decide("http://example.com/x").admission is EXTERNAL
    assert scope.decide("http://example.com/x").admission is FOLLOW


@pytest.mark.parametrize(
    "mode,old,new",
    [
        ("host", "http://a.example/", "https://a.example/en/"),
        ("domain", "http://a.example/", "https://www.a.example/"),
        ("path", "http://a.example/", "http://a.example/en/"),
        ("all", "http://a.example/", "http://b.example/"),
        ("host", "http://a.example/page", "http://b.example/"),
    ],
    ids=["same host", "same domain", "below the path", "every host", "not a start"],
)
def test_a_move_that_stays_in_scope_or_is_not_of_a_start_changes_nothing(mode: ScopeMode, old: str, new: str) -> None:
    scope = Scope(mode, ("http://a.example/",))
    assert scope.moved(old, new) is scope


def test_a_start_that_moves_out_of_its_path_or_patterns_is_followed() -> None:
    path = Scope("path", ("http://a.example/docs",)).moved("http://a.example/docs", "http://a.example/manual/")
    assert path.decide("http://a.example/manual/x").admission is FOLLOW
    patterns = Scope("host", ("http://a.example/",), include=("/docs/",)).moved("http://a.example/", "http://a.example/home")
    assert patterns.decide("http://a.example/home").admission is FOLLOW
    assert patterns.decide("http://a.example/blog").admission is REFUSED


def test_two_starts_that_move_to_one_place_become_one() -> None:
    scope = Scope("host", ("http://a.example/", "http://b.example/"))
    moved = scope.moved("http://a.example/", "http://c.example/").moved("http://b.example/", "http://c.example/")
    assert moved.decide("http://c.example/").admission is FOLLOW
    merged = Scope("path", ("http://a.example/x", "http://a.example/x"), ()).moved("http://a.example/x", "http://b.example/")
    assert merged.sites == ("http://b.example/",)


@given(
    st.sampled_from(get_args(ScopeMode)),
    st.lists(st.sampled_from(["http://a.example/", "http://[::1]:81/x/y.html", "https://b.co.uk/d"]), max_size=3).map(tuple),
    st.lists(st.sampled_from(["/docs/", r"\.pdf$"]), max_size=2).map(tuple),
    st.lists(st.sampled_from(["/x", "é"]), max_size=2).map(tuple),
)
def test_a_scope_survives_being_stored_as_json_and_sent_to_another_process(
    mode: ScopeMode, sites: tuple[str, ...], include: tuple[str, ...], exclude: tuple[str, ...]
) -> None:
    scope = Scope(mode, sites, include, exclude)
    urls = ["http://a.example/docs/", "http://a.example/x", "https://b.co.uk/d/e", "http://[::1]:81/x/"]
    verdicts = [scope.decide(url) for url in urls]
    for copy in (Scope.from_dict(json.loads(json.dumps(scope.to_dict()))), pickle.loads(pickle.dumps(scope))):
        assert copy == scope
        assert [copy.decide(url) for url in urls] == verdicts


def test_the_public_suffix_list_is_not_loaded_for_a_host_scope() -> None:
    program = (
        "import sys; from tadoru.rules.scope import Scope\n"
        "Scope('host', ('http://a.example/',)).decide('http://b.example/')\n"
        "print('publicsuffixlist' in sys.modules)\n"
        "Scope('domain', ('http://a.example/',)).decide('http://b.example/')\n"
        "print('publicsuffixlist' in sys.modules)"
    )
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["False", "True"]
