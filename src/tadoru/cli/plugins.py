"""`tadoru plugins`: which packages add checks, which checks, and which can not be loaded."""

from __future__ import annotations

import sys
from typing import Any

import click

from tadoru.cli.forms import format_option, write_json
from tadoru.cli.help import GroupedCommand
from tadoru.errors import ConfigError
from tadoru.log import printable
from tadoru.plugins import GROUP, Plugin, declared


@click.command(
    cls=GroupedCommand, short_help="List the plugins that are installed.",
    examples=(("tadoru plugins", "the checks that other packages add"),),
)  # fmt: skip
@format_option("text", "json", or_json=True)
def plugins(form: str) -> int:
    """List the plugins that are installed, with the checks they add to `tadoru audit`."""
    found = [_described(plugin) for plugin in declared()]
    if form == "json":
        write_json(found)
        return 0
    if not found:
        sys.stdout.write(f"No plugins are installed. A package adds checks by an entry point of the group {GROUP}.\n")
    for one in found:
        sys.stdout.write(printable(f"{one['package']} {one['version']}: {one['name']}") + "\n")
        if one["problem"]:
            sys.stdout.write(f"  {printable(one['problem'])}\n")
        for check in one["checks"]:
            sys.stdout.write(printable(f"  {check['severity']:<8} {check['id']:<32} {check['title']}") + "\n")
    return 0


def _described(plugin: Plugin) -> dict[str, Any]:
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
