"""`tadoru plugins`, `tadoru completion` and `tadoru doctor`: commands about the installation."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.output import _, format_option, translate_error, translate_text, write_json
from tadoru.errors import ConfigError
from tadoru.log import printable
from tadoru.plugins import CHECKS_GROUP, Plugin, list_plugins

if TYPE_CHECKING:
    from tadoru.jobs.doctor import DoctorCheck


SHELLS = ("bash", "zsh", "fish")


@click.command(
    cls=DocumentedCommand, short_help="Print a shell completion script.",
    examples=(
        ('eval "$(tadoru completion bash)"', "in ~/.bashrc"),
        ('eval "$(tadoru completion zsh)"', "in ~/.zshrc, after compinit"),
        ("tadoru completion fish > ~/.config/fish/completions/tadoru.fish", "run once"),
    ),
)  # fmt: skip
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete commands, options, values and file names."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    root = click.get_current_context().find_root()
    assert kind is not None
    sys.stdout.write(kind(root.command, {}, "tadoru", "_TADORU_COMPLETE").source() + "\n")


@click.command(
    cls=DocumentedCommand, short_help="List installed plugins.",
    examples=(("tadoru plugins", "checks added by other packages"),),
)  # fmt: skip
@format_option("text", "json", or_json=True)
def plugins(form: str) -> None:
    """List installed plugins and the checks they add to `tadoru audit`."""
    found = [_plugin_record(plugin) for plugin in list_plugins()]
    if form == "json":
        write_json(found)
        return
    if not found:
        sys.stdout.write(
            _("No plugins installed. Packages add checks with an entry point of the group {group}.", group=CHECKS_GROUP) + "\n"
        )
    for one in found:
        sys.stdout.write(printable(f"{one['package']} {one['version']}: {one['name']}") + "\n")
        if one["problem"]:
            sys.stdout.write(f"  {printable(one['problem'])}\n")
        for check in one["checks"]:
            sys.stdout.write(printable(f"  {check['severity']:<8} {check['id']:<32} {check['title']}") + "\n")


def _plugin_record(plugin: Plugin) -> dict[str, Any]:
    try:
        checks, problem = plugin.load().checks, None
    except ConfigError as error:
        checks, problem = (), translate_error(error)
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
    cls=DocumentedCommand, short_help="Check the installation and suggest fixes.",
    examples=(
        ("tadoru doctor", "browser, folder, clock, certificates, packages"),
        ("tadoru doctor -d postgresql://me@localhost/sites", "also check a database"),
    ),
)  # fmt: skip
@click.option("-d", "--database", metavar="FILE|URL", help="Check this database too. [TADORU_DATABASE]")
@format_option("text", "json")
def doctor(database: str | None, form: str) -> int:
    """Check the installation and suggest fixes. Exits with status 1 if a check fails."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.doctor import diagnose

    return print_diagnosis(
        list(diagnose(Path.cwd(), database or os.environ.get("TADORU_DATABASE"), os.environ, SystemClock())), form
    )


def print_diagnosis(found: Sequence[DoctorCheck], form: str) -> int:
    """Print the results of checks; returns the exit code."""
    from tadoru.cli.table import write_pairs
    from tadoru.jobs.doctor import CheckState

    if form == "json":
        write_json([{"what": one.what, "state": one.state.value, "words": translate_text(one.words)} for one in found])
    else:
        signs = {CheckState.GOOD: "ok", CheckState.DOUBTFUL: "warn", CheckState.BAD: "FAIL"}
        write_pairs(sys.stdout, ((f"{signs[one.state]:4}  {one.what}", translate_text(one.words)) for one in found))
    return 1 if any(one.state is CheckState.BAD for one in found) else 0
