"""Extracts the messages of the source, updates every catalogue with them, and compiles the catalogues.

python scripts/messages.py           update src/tadoru/i18n/catalogs
python scripts/messages.py --check   change nothing; print what is out of date or not translated, and exit with 1 if anything is
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from itertools import chain
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from tadoru.cli.help import help_messages
from tadoru.cli.main import tadoru
from tadoru.config.options import JOB_SETTINGS
from tadoru.i18n.translation import CALENDAR_LANGUAGES, CATALOGS, DOMAIN, LANGUAGES, SOURCE_LANGUAGE

SOURCE = Path(__file__).parent.parent / "src" / "tadoru"
METHODS = [("**/templates/**.html", "jinja2"), ("**.py", "python")]
KEYWORDS = {
    "_": None, "N_": None, "gettext": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2), "Message": None,
}  # fmt: skip
"""The functions whose arguments are messages, besides the errors."""
CALENDAR = (
    "serve/problems.py", "serve/templates/accounts/sign_in.html", "serve/templates/accounts/welcome.html",
    "serve/templates/base.html", "serve/templates/calendar/", "serve/templates/error.html", "serve/web/calendar/pages.py",
    "serve/web/calendar/view_models.py", "serve/web/rendering.py",
)  # fmt: skip
"""Where the messages of the public calendar pages are: paths below the package, by their beginning."""
_HEADER = {"project": "Tadoru", "version": "1", "msgid_bugs_address": "", "last_translator": "", "language_team": ""}
_WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)  # A fixed date: a catalogue changes only when a message does.


def extract() -> Catalog:
    """All messages of the source, with the files that use them."""
    catalog = Catalog(domain=DOMAIN, **_HEADER, creation_date=_WRITTEN, fuzzy=False)
    keywords = KEYWORDS | dict.fromkeys(subclasses("TadoruError")) | dict.fromkeys(subclasses("HttpProblem"), (2,))
    found = extract_from_dir(
        str(SOURCE), method_map=METHODS, keywords=keywords, comment_tags=("Translators:",), strip_comment_tags=True
    )
    for file, line, message, comments, context in found:
        catalog.add(message, None, [(file, line)], auto_comments=comments, context=context)
    for file, heading in column_headings():
        catalog.add(heading, None, [(file, 0)])
    root = tadoru.make_context("tadoru", [], resilient_parsing=True)
    for message in help_messages(root):
        catalog.add(message, None, [("cli/help.py", 0)])
    for field in (setting.form for settings in JOB_SETTINGS.values() for setting in settings if setting.form):
        for message in (field.label, field.description, *field.value_labels):
            catalog.add(message, None, [("config/options.py", 0)])
    return catalog


@cache
def source_nodes() -> dict[str, list[ast.Call | ast.ClassDef]]:
    """The calls and classes of each file of the source."""
    return {
        file.relative_to(SOURCE).as_posix(): [
            node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call | ast.ClassDef)
        ]
        for file in sorted(SOURCE.rglob("*.py"))
    }


def calls(*names: str) -> Iterator[tuple[str, ast.Call]]:
    """The calls of these functions and classes, with the files that they stand in."""
    for file, nodes in source_nodes().items():
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield file, node


def column_headings() -> Iterator[tuple[str, str]]:
    """The headings of the tables of commands, with the files that use them."""
    for file, node in calls("table_columns"):
        headings = [str(one.value).rstrip(">~") for one in node.args if isinstance(one, ast.Constant)]
        yield from ((file, heading) for heading in headings if heading)


def subclasses(root: str) -> set[str]:
    """A class of the source and everything that derives from it: errors, whose text is a message."""
    bases: dict[str, set[str]] = {}
    for node in chain.from_iterable(source_nodes().values()):
        if isinstance(node, ast.ClassDef):
            bases.setdefault(node.name, set()).update(base.id for base in node.bases if isinstance(base, ast.Name))
    found = {root}
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    return found


def updated(known: Catalog, lang: str, template: Catalog) -> Catalog:
    """The catalogue of a language with the messages of the source: translations stay, what is gone goes."""
    catalog = Catalog(locale=lang, domain=DOMAIN, **_HEADER, creation_date=_WRITTEN, revision_date=_WRITTEN, fuzzy=False)
    catalog.header_comment = f"# {catalog.locale.english_name if catalog.locale else lang} messages of Tadoru."
    for message in template:
        if not message.id or (lang not in LANGUAGES and not is_calendar(message.locations)):
            continue
        old = known.get(message.id if isinstance(message.id, str) else message.id[0], message.context)
        catalog.add(
            message.id,
            old.string if old and isinstance(old.id, str) == isinstance(message.id, str) else None,
            message.locations,
            message.flags - {"python-format"},
            message.auto_comments,
            context=message.context,
        )
    return catalog


def is_calendar(locations: list[tuple[str, int]]) -> bool:
    """Whether a message is on a public calendar page."""
    return any(file.startswith(CALENDAR) for file, _ in locations)


def po_file(lang: str) -> Path:
    """The catalogue that people edit."""
    return CATALOGS / lang / "LC_MESSAGES" / f"{DOMAIN}.po"


def untranslated(catalog: Catalog) -> Iterator[str]:
    """Messages without a translation."""
    for message in catalog:
        texts = message.string if isinstance(message.string, (tuple, list)) else (message.string,)
        if message.id and not all(texts):
            yield str(message.id)


def differences(before: Catalog, after: Catalog) -> Iterator[str]:
    """How a catalogue differs from what the source needs."""
    keys = [{(str(message.id), message.context or "") for message in one if message.id} for one in (before, after)]
    yield from (f"missing: {text}" for text, _ in sorted(keys[1] - keys[0]))
    yield from (f"no longer used: {text}" for text, _ in sorted(keys[0] - keys[1]))
    if keys[0] == keys[1]:
        yield "the files or the order of its messages have changed, or it is not compiled"


def read_catalog(lang: str) -> Catalog:
    """The catalogue of a language as it is; empty if there is none."""
    path = po_file(lang)
    return read_po(BytesIO(path.read_bytes()), locale=lang) if path.exists() else Catalog(locale=lang)


def main(check: bool) -> int:
    template, problems, is_stale = extract(), [], False
    for lang in CALENDAR_LANGUAGES:
        if lang == SOURCE_LANGUAGE:
            continue
        before = read_catalog(lang)
        catalog, po, mo = updated(before, lang, template), BytesIO(), BytesIO()
        write_po(po, catalog, width=120, include_lineno=False, sort_by_file=True)
        write_mo(mo, catalog)
        problems += [f"{lang}: not translated: {message}" for message in untranslated(catalog)]
        files = ((po_file(lang), po.getvalue()), (po_file(lang).with_suffix(".mo"), mo.getvalue()))
        changed = [(path, content) for path, content in files if not path.exists() or path.read_bytes() != content]
        if changed and check:
            is_stale = True
            problems += [f"{lang}: {text}" for text in differences(before, catalog)]
        for path, content in () if check else changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    if is_stale:
        problems.append("The catalogues are out of date. Run: python scripts/messages.py")
    elif problems:
        problems.append(f"Translate these messages in {CATALOGS.relative_to(SOURCE.parent.parent)}, then run it again.")
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
