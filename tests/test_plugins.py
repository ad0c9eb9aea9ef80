"""Third-party checks: how they are found, what is refused, and that none of them can harm a crawl."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tadoru import plugins
from tadoru.errors import ConfigError
from tadoru.i18n.translation import translator
from tadoru.jobs.audit.catalogue import CheckCatalogue
from tadoru.jobs.audit.context import CheckGroup, Limits, PageContext
from tadoru.model.finding import Finding, Severity, define
from tadoru.plugins import PLUGIN_FAILED, Plugin, PluginChecks
from tests.support.packages import plugin

GOOD = """
from tadoru.jobs.audit.context import CheckGroup
from tadoru.model.finding import Severity, define

ONE = define("good-one", Severity.NOTICE, en=("One", "Why", "Fix"), ja=("一", "理由", "対処"), group="content")

def run(context):
    yield ONE.on(context.url, "seen")

CHECKS = CheckGroup((ONE,), run)

def make():
    return CHECKS
"""
JAPANESE = ("一", "理由", "対処")
NEW_FORM = GOOD.replace('en=("One", "Why", "Fix"), ja=("一", "理由", "対処")', 'title="One", why="Why", fix="Fix"')
CHECK = define("mine-own", Severity.WARNING, en=("Own", "Why", "Fix"), ja=("自", "理由", "対処"), group="content")
CONTEXT = PageContext(url="https://a.example/", limits=Limits(()))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose packages are installed."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


@pytest.mark.parametrize("entry", ["CHECKS", "make"], ids=["a set of checks", "a function that returns one"])
def test_an_installed_plugin_is_loaded_and_looks_at_pages(entry: str, installed: Path) -> None:
    plugin(installed, "tadoru-good", GOOD, entry)
    [found] = plugins.list_plugins()
    assert (found.name, found.package, found.version) == ("checks", "tadoru-good", "1.0")
    assert "tadoru_good" not in sys.modules, "nothing is imported before it is needed"
    loaded = plugins.load_checks()
    assert [check.id for check in loaded.checks] == ["good-one", "plugin-failed"]
    assert [(finding.check_id, finding.detail) for finding in loaded.run(CONTEXT)] == [("good-one", "seen")]
    assert {"good-one", "plugin-failed", "title-missing"} <= CheckCatalogue([loaded]).checks.keys()


@pytest.mark.parametrize(
    "source, japanese",
    [
        pytest.param(GOOD, JAPANESE, id="the older form, with English and Japanese"),
        pytest.param(NEW_FORM, ("One", "Why", "Fix"), id="English only"),
        pytest.param(
            NEW_FORM.replace('fix="Fix"', 'fix="Fix", ja=("一", "理由", "対処")'), ("一", "理由", "対処"), id="with Japanese"
        ),
    ],
)
def test_the_texts_of_a_plugin_are_its_own(source: str, japanese: tuple[str, str, str], installed: Path) -> None:
    plugin(installed, "tadoru-good", source)
    check = plugins.load_checks().checks[0]
    assert translator("en").check(check) == ("One", "Why", "Fix")
    assert translator("ja").check(check) == japanese


def test_without_plugins_nothing_is_added(installed: Path) -> None:
    assert plugins.load_checks().checks == ()
    plugin(installed, "tadoru-good", GOOD)
    assert plugins.load_checks(enabled=False).checks == ()
    assert "tadoru_good" not in sys.modules
    assert list(plugins.load_checks(enabled=False).run(CONTEXT)) == []


def test_plugins_come_in_the_order_of_their_packages(installed: Path) -> None:
    for name in ("tadoru-zebra", "Tadoru-ant", "tadoru-bee"):
        plugin(installed, name, GOOD.replace("good-one", f"{name.lower()}-one"))
    assert [found.package for found in plugins.list_plugins()] == ["Tadoru-ant", "tadoru-bee", "tadoru-zebra"]


def test_another_process_gets_the_same_plugins(installed: Path) -> None:
    plugin(installed, "tadoru-good", GOOD)
    again = pickle.loads(pickle.dumps(plugins.load_checks()))
    assert [check.id for check in again.checks] == ["good-one", "plugin-failed"]
    assert pickle.loads(pickle.dumps(plugins.load_checks(enabled=False))).checks == ()


BROKEN = {
    "a module that raises": ("raise RuntimeError('out of\\n order')", "RuntimeError: out of order"),
    "a module that ends the process": ("import sys\nsys.exit('bye')", "SystemExit: bye"),
    "a module that lacks something": ("import nothing_of_that_name", "ModuleNotFoundError: No module named"),
    "no such name": ("x = 1", "AttributeError: module 'tadoru_bad' has no attribute 'CHECKS'"),
    "no set of checks": ("CHECKS = 5", "it is not a set of checks"),
    "a function that fails": ("def CHECKS():\n    return 1 / 0", "ZeroDivisionError: division by zero"),
    "a function that returns nothing": ("def CHECKS():\n    pass", "it is not a set of checks"),
    "no run": ("class CHECKS:\n    checks = ()", "it is not a set of checks"),
    "checks that are none": (GOOD.replace("(ONE,)", "('x',)"), "'x' is not a check"),
    "an odd id": (GOOD.replace("good-one", "Good One"), "the id “Good One” may only contain lowercase letters"),
    "an odd severity": (GOOD.replace("Severity.NOTICE", "'fatal'"), "good-one has the invalid severity “fatal”"),
    "no Japanese": (GOOD.replace("一", ""), "good-one has no title, reason or fix"),
    "a title that is no text": (GOOD + "from dataclasses import replace\nCHECKS = CheckGroup((replace(ONE, title=5),), run)",
                                "good-one has no title"),
}  # fmt: skip


@pytest.mark.parametrize("source, problem", BROKEN.values(), ids=BROKEN)
def test_a_plugin_that_cannot_be_used_is_named_in_one_sentence(source: str, problem: str, installed: Path) -> None:
    plugin(installed, "tadoru-bad", source)
    with pytest.raises(ConfigError) as refused:
        plugins.load_checks()
    told = str(refused.value)
    assert told.startswith("Cannot load the plugin checks of tadoru-bad 1.0: ")
    assert problem in told
    assert told.endswith(". Update it, uninstall it, or use --no-plugins.")
    assert "\n" not in told


def test_an_id_that_is_taken_is_refused(installed: Path) -> None:
    plugin(installed, "tadoru-good", GOOD.replace("good-one", "title-missing"))
    with pytest.raises(ConfigError, match="Two checks have the id “title-missing”"):
        CheckCatalogue([plugins.load_checks()])


@dataclass(frozen=True)
class FunctionChecks:
    """A set of checks made of any function."""

    run: Callable[[Any], Any]
    checks: tuple[Any, ...] = (CHECK,)


def of(*runs: Callable[[Any], Any]) -> PluginChecks:
    entry: Any = None
    return PluginChecks(
        tuple((Plugin("checks", f"package-{number}", "1", entry), FunctionChecks(run)) for number, run in enumerate(runs))
    )


def raising(context: PageContext) -> Iterator[Finding]:
    yield CHECK.on(context.url)
    raise ValueError("no\n luck")


def exiting(context: PageContext) -> Iterator[Finding]:
    raise SystemExit(3)


def deep(context: PageContext) -> Iterator[Finding]:
    return deep(context)


def finding(detail: Any = "", check: str = "mine-own", **data: Any) -> Callable[[Any], Any]:
    return lambda context: [Finding(check, context.url, detail, data)]


FAILING = {
    "raises": (raising, "ValueError: no luck"),
    "ends the process": (exiting, "SystemExit: 3"),
    "returns nothing": (lambda context: None, "TypeError: 'NoneType' object is not iterable"),
    "returns no findings": (lambda context: ["x"], "TypeError: str is not a finding; use check.on(url)"),
    "finds what is not its own": (finding(check="title-missing"), "ValueError: “title-missing” is not a check of this plugin"),
    "a detail that is no text": (finding(5), "TypeError: the detail of a finding must be a string"),
    "data that cannot be stored": (finding(a={1, 2}), "TypeError: Object of type set"),
    "a number that is none": (finding(a=float("nan")), "ValueError: Out of range float"),
    "half a letter": (finding("\ud800"), "UnicodeEncodeError"),
    "no end to its depth": (deep, "RecursionError: maximum recursion depth exceeded"),
}  # fmt: skip


@pytest.mark.parametrize("run, told", FAILING.values(), ids=FAILING)
def test_a_check_that_fails_on_a_page_reports_so_and_others_go_on(run: Callable[[Any], Any], told: str) -> None:
    good = CheckGroup((CHECK,), lambda context: iter([CHECK.on(context.url, "found")]))
    first, failed = of(run, good.run).run(CONTEXT)
    assert (first.check_id, first.detail) == ("mine-own", "found")
    assert (failed.check_id, failed.url) == ("plugin-failed", CONTEXT.url)
    assert failed.detail.startswith(f"package-0: {told}")
    assert "\n" not in failed.detail


def test_failures_of_several_plugins_are_one_finding_of_the_page() -> None:
    [failed] = of(raising, exiting, raising).run(CONTEXT)
    assert failed.data["count"] == 3
    assert failed.data["examples"] == (
        "package-0: ValueError: no luck", "package-1: SystemExit: 3", "package-2: ValueError: no luck",
    )  # fmt: skip


def test_a_failure_does_not_touch_the_score() -> None:
    assert PLUGIN_FAILED.severity is Severity.INFO
    assert replace(PLUGIN_FAILED).id == "plugin-failed"


def test_a_keyboard_interrupt_is_not_the_plugins() -> None:
    def interrupted(context: PageContext) -> Iterator[Finding]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(of(interrupted).run(CONTEXT))
