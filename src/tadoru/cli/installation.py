"""`tadoru plugins`, `tadoru completion` and `tadoru doctor`: commands about the installation itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.output import format_option, write_json
from tadoru.cli.table import write_pairs
from tadoru.errors import ConfigError
from tadoru.log import printable
from tadoru.plugins import CHECKS_GROUP, Plugin, list_plugins

if TYPE_CHECKING:
    from tadoru.jobs.doctor import DoctorCheck


SHELLS = ("bash", "zsh", "fish")


@click.command(
    cls=DocumentedCommand, short_help="Let your shell complete commands, options and files.",
    examples=(
        ('eval "$(tadoru completion bash)"', "in ~/.bashrc"),
        ('eval "$(tadoru completion zsh)"', "in ~/.zshrc, after compinit"),
        ("tadoru completion fish > ~/.config/fish/completions/tadoru.fish", "once"),
    ),
)  # fmt: skip
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> int:
    """Print the script that lets a shell complete the commands of Tadoru, their options, and the values and files they take."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    root = click.get_current_context().find_root()
    assert kind is not None
    sys.stdout.write(kind(root.command, {}, "tadoru", "_TADORU_COMPLETE").source() + "\n")
    return 0


@click.command(
    cls=DocumentedCommand, short_help="List the plugins that are installed.",
    examples=(("tadoru plugins", "the checks that other packages add"),),
)  # fmt: skip
@format_option("text", "json", or_json=True)
def plugins(form: str) -> int:
    """List the plugins that are installed, with the checks they add to `tadoru audit`."""
    found = [_plugin_record(plugin) for plugin in list_plugins()]
    if form == "json":
        write_json(found)
        return 0
    if not found:
        sys.stdout.write(f"No plugins are installed. A package adds checks by an entry point of the group {CHECKS_GROUP}.\n")
    for one in found:
        sys.stdout.write(printable(f"{one['package']} {one['version']}: {one['name']}") + "\n")
        if one["problem"]:
            sys.stdout.write(f"  {printable(one['problem'])}\n")
        for check in one["checks"]:
            sys.stdout.write(printable(f"  {check['severity']:<8} {check['id']:<32} {check['title']}") + "\n")
    return 0


def _plugin_record(plugin: Plugin) -> dict[str, Any]:
    try:
        checks, problem = plugin.load().checks, None
    except ConfigError as error:
        checks, problem = (), str(error)
    return {
        "name": plugin.name,
        "package": plugin.package,
        "version": plugin.version,
        "problem": problem,
        "checks": [
            {"id": check.id, "group": check.group, "severity": str(check.severity), "title": check.title} for check in checks
        ],
    }


@click.command(
    cls=DocumentedCommand, short_help="Check this installation.",
    examples=(
        ("tadoru doctor", "browser, folder, clock, certificates, packages"),
        ("tadoru doctor -d postgresql://me@localhost/sites", "and whether that database can be used"),
    ),
)  # fmt: skip
@click.option("-d", "--database", metavar="FILE|URL", help="Try this database as well. [TADORU_DATABASE]")
@format_option("text", "json")
def doctor(database: str | None, form: str) -> int:
    """Check this installation and say how to mend what is wrong. The exit code is 1 when something is bad."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.doctor import diagnose

    return print_diagnosis(
        list(diagnose(Path.cwd(), database or os.environ.get("TADORU_DATABASE"), os.environ, SystemClock())), form
    )


def print_diagnosis(found: Sequence[DoctorCheck], form: str) -> int:
    """What a doctor found, and the exit code."""
    from tadoru.jobs.doctor import CheckState

    if form == "json":
        write_json([{"what": one.what, "state": one.state.value, "words": one.words} for one in found])
    else:
        signs = {CheckState.GOOD: "ok", CheckState.DOUBTFUL: "look", CheckState.BAD: "BAD"}
        write_pairs(sys.stdout, ((f"{signs[one.state]:4}  {one.what}", one.words) for one in found))
    return 1 if any(one.state is CheckState.BAD for one in found) else 0
