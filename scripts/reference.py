"""Writes docs/reference/ from the code: options, exit codes, names of failures, the database. A test fails when it is stale.

.venv/bin/python scripts/reference.py          write
.venv/bin/python scripts/reference.py --check  exit 1 when something would change
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import database
import graphql_reference
import live_messages

from tadoru import errors
from tadoru.config.options import AuditOptions, DocsOptions, EventsOptions, LinksOptions, ServeOptions, WorkerOptions
from tadoru.config.settings import JOB_SETTINGS, Setting
from tadoru.jobs.audit import score
from tadoru.jobs.audit.catalogue import CheckCatalogue
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.model.finding import Check
from tadoru.model.web import FailureKind
from tadoru.serve.roles import ROLES, ROUTES, SCOPES, Role

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
NOTE = "<!-- Written by scripts/reference.py from the code; change it there. -->\n"


def pages() -> dict[str, str]:
    """File name → text."""
    return {
        "links.md": _options("links", LinksOptions()),
        "audit.md": _options("audit", AuditOptions()),
        "docs.md": _options("docs", DocsOptions()),
        "events.md": _options("events", EventsOptions()),
        "serve.md": _options("serve", ServeOptions()),
        "worker.md": _options("worker", WorkerOptions()),
        "access.md": _access(),
        "live.md": f"{NOTE}\n{live_messages.page()}",
        "graphql.md": f"{NOTE}\n{graphql_reference.page()}",
        "checks.md": _checks(),
        "exit-codes.md": _exit_codes(),
        "failures.md": _failures(),
        "database.md": f"{NOTE}\n{database.page()}",
    }


def _options(job: str, defaults: object) -> str:
    lines = [NOTE, f"# `tadoru {job}`: every option\n"]
    lines.append(
        f"Each option is a flag, a variable (`TADORU_DELAY` for `--delay`), and a key of the sections `crawl` or `{job}` in"
    )
    lines.append(
        "`tadoru.yml` or `tadoru.toml`. Flags win over variables, variables over the file. What is repeatable is a list in a file"
    )
    lines.append("and one a line in a variable. Times are `1.5`, `500ms`, `2s`, `10m`; sizes are `512k`, `10MB`.\n")
    groups: dict[str, list[Setting]] = {}
    for setting in JOB_SETTINGS[job]:
        groups.setdefault(setting.group, []).append(setting)
    for group, settings in groups.items():
        lines += [f"## {group}\n", "| option | also | key | default | what it does |", "|---|---|---|---|---|"]
        lines += [_row(setting, getattr(defaults, setting.name)) for setting in settings]
        lines.append("")
    return "\n".join(lines)


def _row(setting: Setting, default: object) -> str:
    first, *rest = sorted(setting.flags, key=lambda name: not name.startswith("--"))
    also = ", ".join(f"`{name}`" for name in rest)
    takes = "" if setting.is_flag else f" {setting.metavar}".replace("|", "\\|")
    if default is None:
        shown = "auto" if setting.name == "processes" else ""
    elif isinstance(default, bool) or default == ():
        shown = ""
    elif setting.name == "user_agent":
        shown = "`Tadoru/<version> (+<project>)`"
    else:
        shown = f"`{default:g}`" if isinstance(default, float) else f"`{default}`"
    return f"| `{first}{takes}` | {also} | `{setting.name}` | {shown} | {setting.help} |"


def _checks() -> str:
    """The whole catalogue, by group."""
    page, groups = CheckCatalogue().checks, dict[str, list[Check]]()
    every = [*page.values(), *SITE_CHECKS.values()]
    for check in every:
        groups.setdefault(check.group, []).append(check)
    lines = [
        NOTE,
        "# Checks of an audit\n",
        f"{len(every)} checks: {len(page)} run on each page during the crawl, {len(SITE_CHECKS)} on the whole site afterwards "
        "(*site*). The id of a\ncheck never changes: the database, `--fail-on`, suppressions and baselines refer to it. Set a "
        "threshold with `--threshold ID=NUMBER`.\n",
        "`error`: broken for visitors or search engines. `warning`: likely to cost visits, trust or security. `notice`: worth\n"
        "improving. `info`: may be intended.\n",
        "## Health score\n",
        (score.__doc__ or "").partition("\n\n")[2].strip() + "\n",
    ]
    for group, checks in groups.items():
        lines += [f"## {group}\n", "| id | severity | meaning | fix |", "|---|---|---|---|"]
        lines += [_check_row(check, is_site=check.id in SITE_CHECKS) for check in checks]
        lines.append("")
    return "\n".join(lines)


def _check_row(check: Check, *, is_site: bool) -> str:
    limit = f" (threshold {check.threshold.default:g} {check.threshold.unit})" if check.threshold else ""
    meaning = f"**{_cell(check.title)}**{' *site*' if is_site else ''}. {_cell(check.why)}{limit}"
    return f"| `{check.id}` | {check.severity} | {meaning} | {_cell(check.fix)} |"


def _cell(text: str) -> str:
    """A text in a cell of a Markdown table: `<title>` is no HTML there."""
    return text.replace("|", "\\|").replace("<", "\\<")


def _access() -> str:
    """Every route of the service, and who may call it."""
    lines = [NOTE, "# `tadoru serve`: who may do what\n"]
    lines.append(
        "Each role may do all that those before it may. A key may do what its scopes say, and never more than its owner.\n"
    )
    lines += ["| role | what it is for |", "|---|---|"]
    lines += [f"| {role.label} | {words} |" for role, words in ROLES.items()]
    lines += ["", "## Scopes of keys\n", "| scope | least role of its owner | what it allows |", "|---|---|---|"]
    lines += [f"| `{scope}` | {role.label} | {words} |" for scope, (role, words) in SCOPES.items()]
    lines += ["", "## Routes\n", "| | path | who | scope of a key | what it does |", "|---|---|---|---|---|"]
    for route in ROUTES:
        who = f"{route.role.label}, or this machine itself" if route.loopback else route.role.label
        scopes = " or ".join(f"`{scope}`" for scope in route.scopes if scope)
        scope = scopes or ("" if route.role is Role.PUBLIC else "none will do")
        lines.append(f"| {route.method} | `{route.path}` | {who} | {scope} | {route.what} |")
    return "\n".join([*lines, ""])


def _exit_codes() -> str:
    rows = {0: "done"}
    for _, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.TadoruError) and kind is not errors.TadoruError:
            sentence = (kind.__doc__ or "").strip().splitlines()[0].rstrip(".")
            rows[kind.exit_code] = f"{rows[kind.exit_code]}; {sentence}" if kind.exit_code in rows else sentence
    table = [f"| {code} | {words} |" for code, words in sorted(rows.items())]
    return "\n".join([NOTE, "# Exit codes\n", "| code | when |", "|---|---|", *table, ""])


def _failures() -> str:
    source = inspect.getsource(FailureKind).splitlines()
    rows, name = [], ""
    for line in source[2:]:
        text = line.strip()
        if " = " in text:
            name = text.split('"')[1]
            rows.append([name, ""])
        elif text.startswith('"""') and rows:
            rows[-1][1] = text.strip('"')
    table = [f"| `{name}` | {words} |" for name, words in rows]
    text = "What a site does wrong is data: a URL without a usable answer is recorded under one of these names.\n"
    return "\n".join([NOTE, "# Names of failures\n", text, "| name | when |", "|---|---|", *table, ""])


def main() -> int:
    """Write the pages, or say which are stale."""
    stale = [
        name
        for name, text in pages().items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        for name in stale:
            sys.stderr.write(f"docs/reference/{name} is stale: run scripts/reference.py\n")
        return int(bool(stale))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
