"""How an option is declared: once, as a field of a job's options (`options`). The command line, `TADORU_*` variables,
configuration files, `--show-config`, the forms and the API of the service, and the generated reference read the declaration.
Texts are translated when they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, TypeVar, dataclass_transform

from tadoru.config.parsers import Parser, parse_flag, parse_text

T = TypeVar("T")


class SettingRole(StrEnum):
    """How a setting relates to secrets. It decides what a discovered file, which nobody named, may set (`config.resolve`)."""

    PLAIN = "plain"
    """Not at all."""
    CREDENTIAL = "credential"
    """It holds a secret, or may hold one."""
    CREDENTIAL_NAME = "credential name"
    """It names the variable or the file that holds a secret."""
    DESTINATION = "destination"
    """It decides where data is sent, by which route, or how well protected."""
    START = "start"
    """It decides where a crawl starts if the command line has no URL."""
    STORAGE = "storage"
    """A path, or the URL of a server that the credentials of the environment (`PGPASSWORD`, `AWS_*`) are sent to."""


_KEPT_GROUPS = frozenset({"Scope", "Politeness", "Checks", "Content"})
"""The groups of options that describe a crawl."""


@dataclass(frozen=True, slots=True)
class CrawlField:
    """The field of an option in the forms and the API of the service. What is not given is that of the option."""

    label: str
    description: str = ""
    default: Any = None
    least: float | None = None
    most: float | None = None
    value_labels: tuple[str, ...] = ()
    """The labels of the values, if one of them is chosen."""
    admin: bool = False
    """Only an administrator may set it."""
    name: str = ""
    kind: str = ""
    """`whole`, `seconds`, `flag`, `one` (of `values`), `text`, or `texts` (a list)."""
    values: tuple[str, ...] = ()
    parse: Parser[Any] = parse_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One option."""

    default: Any
    group: str
    help: str
    parse: Parser[Any]
    flags: tuple[str, ...]
    """The first is the name everywhere; the others are accepted for compatibility with older tools."""
    metavar: str
    secret: bool = False
    """Whether its value is never shown."""
    role: SettingRole = SettingRole.PLAIN
    linktadoru: str | None = None
    """LinkTadoru's keys for it, separated by spaces, in its file and (upper case, after `LT_`) its environment."""
    form: CrawlField | None = None
    """Its field in the service; None if users of the service cannot set it."""
    per_run: bool = False
    """Whether it is about one run, and not about the crawl."""
    name: str = ""
    """The field of the job's options, and the key in a configuration file."""

    @property
    def many(self) -> bool:
        return isinstance(self.default, tuple)

    def convert(self, value: Any) -> Any:
        """The value of the option from a file, a variable or Python: of a repeatable one all values. Raises UsageError."""
        if not self.many:
            return self.parse(value)
        is_list = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
        return tuple(self.parse(one) for one in (value if is_list else [value]))

    @property
    def is_kept(self) -> bool:
        """Whether a crawl keeps its value for later runs: what is crawled and how, without secrets, destinations and outputs."""
        return not (self.per_run or self.secret) and self.role is SettingRole.PLAIN and self.group in _KEPT_GROUPS

    @property
    def linktadoru_keys(self) -> tuple[str, ...]:
        return tuple((self.linktadoru or "").split())

    @property
    def is_flag(self) -> bool:
        return self.parse is parse_flag

    @property
    def negated(self) -> str:
        """The flag that turns it off, if it is on by default."""
        return f"--no-{self.flags[0][2:]}" if self.default is True else ""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class JobOptions:
    """The options of a job, given by name. Its methods are written once: compiling them for each job takes a millisecond."""

    def __init__(self, **values: Any) -> None:
        known = self.__dataclass_fields__
        if unknown := values.keys() - known.keys():
            raise TypeError(f"{type(self).__name__} has no option {min(unknown)!r}")
        self.__dict__.update({name: one.default for name, one in known.items()} | values)

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


@dataclass_transform(kw_only_default=True, frozen_default=True)
def job_options(kind: type[T]) -> type[T]:
    """Make a dataclass with the methods of `JobOptions` from a class that declares options."""
    return dataclass(frozen=True, init=False, repr=False, eq=False)(kind)


def option(  # noqa: PLR0913 - the parts of a declaration
    default: T, group: str, text: str, parse: Parser[Any] | None = None, *, flag: str = "", flags: str = "",
    metavar: str = "", secret: bool = False, role: SettingRole = SettingRole.PLAIN, linktadoru: str | None = None,
    form: CrawlField | None = None, per_run: bool = False,
) -> T:  # fmt: skip
    """Declare an option as a field of a dataclass. `flag` is that of its name if not given; `flags` are its other names."""
    parse = parse or (parse_flag if isinstance(default, bool) else parse_text)
    setting = Setting(
        default=default, group=group, help=text, parse=parse, flags=(flag, *flags.split()), metavar=metavar or parse.metavar,
        secret=secret, role=role, linktadoru=linktadoru, form=form, per_run=per_run,
    )  # fmt: skip
    declared: T = field(default=default, metadata={"setting": setting})
    return declared


def option_of(kind: type[Any], name: str, *, default: Any = ..., flags: str = "", **changes: Any) -> Any:
    """Declare the option of another class again: with a default of its own, for the service too, and more names."""
    setting: Setting = kind.__dataclass_fields__[name].metadata["setting"]
    if default is not ...:
        form = setting.form
        changes |= {"default": default, "form": form and replace(form, default=default)}
    setting = replace(setting, flags=(*setting.flags, *flags.split()), **changes)
    return field(default=setting.default, metadata={"setting": setting})


def settings_of(kind: type[Any]) -> tuple[Setting, ...]:
    """The options of a job in the order of their declaration."""
    return tuple(_named(one.name, one.metadata["setting"]) for one in fields(kind))


def _named(name: str, setting: Setting) -> Setting:
    flags = (setting.flags[0] or f"--{name.replace('_', '-')}", *setting.flags[1:])
    form = setting.form
    if form is not None:
        default = setting.default if form.default is None else form.default
        form = replace(
            form, name=name, description=form.description or setting.help, parse=setting.parse, values=setting.parse.values,
            kind="texts" if setting.many else setting.parse.kind, default=list(default) if setting.many else default,
        )  # fmt: skip
    return replace(setting, name=name, flags=flags, form=form)
