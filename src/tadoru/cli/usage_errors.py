"""Messages for mistyped commands: what is wrong and what to do, with the closest known name where there is one.

click finds the mistakes; its own messages are written for programmers.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

import click

from tadoru.cli.output import _, translate_text
from tadoru.errors import UsageError
from tadoru.extras import PACKAGES, not_installed, repair_instructions


def format_usage_error(error: click.ClickException) -> str:
    """The message of an error of click."""
    match error:
        case click.NoSuchOption():
            return _no_such_option(error)
        case click.MissingParameter():
            return _missing(error)
        case click.BadParameter():
            return _bad_value(error)
        case click.BadOptionUsage():
            ctx, name = error.ctx, error.option_name
            if "does not take a value" in error.message:
                return _("{name} takes no value: write {name} alone.", name=name)
            option = None if ctx is None else next((one for one in ctx.command.get_params(ctx) if name in one.opts), None)
            shape = "VALUE" if option is None or ctx is None else option.make_metavar(ctx)
            return _("{name} needs a value: {name} {shape}.", name=name, shape=shape)
        case click.UsageError() if error.message.startswith("Got unexpected extra"):
            return _too_many(error)
        case click.UsageError() if error.message.startswith("Missing command"):
            return _("“{path}” needs a command: `{path} --help` lists them.", path=_path(error))
    return error.format_message()


def no_such_command(path: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for an unknown command of the group at this path."""
    near = closest_match(name, known)
    if near:
        return UsageError("Unknown command “{path} {name}”; did you mean “{path} {near}”?", path=path, name=name, near=near)
    return UsageError("Unknown command “{path} {name}”; `{path} --help` lists them.", path=path, name=name)


def nested_command(name: str, groups: Sequence[str]) -> UsageError:
    """The error for a command that belongs to a group."""
    first, *more = (f"“tadoru {group} {name}”" for group in groups)
    if more:
        return UsageError(
            "Unknown command “tadoru {name}”; did you mean {first} or {second}?", name=name, first=first, second=more[0]
        )
    return UsageError("Unknown command “tadoru {name}”; did you mean {near}?", name=name, near=first)


def missing_package(error: ModuleNotFoundError) -> tuple[str, int]:
    """The message and the exit code for a package that is not installed."""
    name = (error.name or "").partition(".")[0]
    if name not in PACKAGES:
        return _("The installation is incomplete ({error}). {fix}", error=error, fix=translate_text(repair_instructions())), 1
    extra, purpose = PACKAGES[name]
    return translate_text(not_installed(purpose, extra)), UsageError.exit_code


def url_without_command(url: str) -> UsageError:
    """The error for a URL where a command is expected."""
    return UsageError(
        "Choose a command for {url}: `tadoru links {url}` to map its links, `tadoru audit {url}` to find its problems, "
        "`tadoru docs {url}` to download its documentation.",
        url=url,
    )


def closest_match(word: str, known: Iterable[str]) -> str | None:
    """The known word that is closest to a word, if one is close enough."""
    words = list(known)
    lower = word.lower()
    near = difflib.get_close_matches(lower, words, n=1)
    begun = [one for one in words if len(lower) > 1 and one.startswith(lower)]
    return near[0] if near else begun[0] if len(begun) == 1 else None


def _path(error: click.UsageError) -> str:
    return error.ctx.command_path if error.ctx is not None else "tadoru"


def _no_such_option(error: click.NoSuchOption) -> str:
    ctx, name = error.ctx, error.option_name
    if ctx is None:
        return _("Unknown option {name}.", name=name)
    above = next((one for one in _parents(ctx) if name in _names(one.command.get_params(one))), None)
    if above is not None and ctx.info_name:
        child = ctx.command_path.removeprefix(above.command_path).split()[0]
        return _("{name} goes before “{child}”: {path} {name} … {child}.", name=name, child=child, path=above.command_path)
    near = _closest_option(name, ctx)
    if near:
        return _("“{path}” has no option {name}; did you mean {near}?", path=ctx.command_path, name=name, near=near)
    if isinstance(ctx.command, click.Group) and ctx.parent is None:
        return _("“tadoru” has no option {name}: options go after the command, as in `tadoru links URL --depth 2`.", name=name)
    return _("“{path}” has no option {name}; `{path} --help-all` lists them.", path=ctx.command_path, name=name)


def _closest_option(name: str, ctx: click.Context) -> str | None:
    """The closest option, preferably one that the help shows; `-depth` is likely `--depth`."""
    shown = [one for one in ctx.command.get_params(ctx) if isinstance(one, click.Option) and not one.hidden]
    every = [one for one in ctx.command.get_params(ctx) if isinstance(one, click.Option)]
    word = f"--{name.lstrip('-')}" if len(name) > 2 else name
    if len(word) < 4:
        return None
    for options in (shown, every):
        names = [one for one in _names(options) if one.startswith("--")]
        near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.75 if options is shown else 0.6)
        if near:
            return near[0]
    return None


def _names(parameters: Iterable[click.Parameter]) -> list[str]:
    return [name for one in parameters if isinstance(one, click.Option) for name in (*one.opts, *one.secondary_opts)]


def _parents(ctx: click.Context) -> Iterator[click.Context]:
    while ctx.parent is not None:
        ctx = ctx.parent
        yield ctx


def _missing(error: click.MissingParameter) -> str:
    path, parameter = _path(error), error.param
    if parameter is None or error.ctx is None:
        return _("“{path}” needs more input. See `{path} --help`.", path=path)
    name = _parameter_name(parameter, error.ctx)
    if isinstance(parameter.type, click.Choice):
        name += f" ({', '.join(map(str, parameter.type.choices))})"
    examples = getattr(error.ctx.command, "examples", ())
    if examples:
        return _("“{path}” needs {name}, for example `{example}`.", path=path, name=name, example=examples[0][0])
    return _("“{path}” needs {name}. See `{path} --help`.", path=path, name=name)


def _bad_value(error: click.BadParameter) -> str:
    parameter, path = error.param, _path(error)
    if parameter is None or error.ctx is None:
        return _("{reason}: see `{path} --help`.", reason=error.message.rstrip("."), path=path)
    name, kind = _parameter_name(parameter, error.ctx), parameter.type
    if isinstance(kind, click.Choice):
        return _("{name} must be one of {choices}.", name=name, choices=", ".join(map(str, kind.choices)))
    if isinstance(kind, click.types.IntParamType):
        least, most = getattr(kind, "min", None), getattr(kind, "max", None)
        if least is not None and most is not None:
            return _("{name} must be a whole number from {least} to {most}.", name=name, least=f"{least:,}", most=f"{most:,}")
        if least is not None:
            return _("{name} must be a whole number of at least {least}.", name=name, least=f"{least:,}")
        return _("{name} must be a whole number.", name=name)
    if isinstance(kind, click.types.FloatParamType):
        return _("{name} must be a number.", name=name)
    return _("{name} cannot be used ({reason}). See `{path} --help`.", name=name, reason=error.message.rstrip("."), path=path)


def _too_many(error: click.UsageError) -> str:
    # Only the first word is repeated: a value that was not quoted may be followed by a secret.
    first = error.message.partition("(")[2].rstrip(")").split(" ")[0]
    path, ctx = _path(error), error.ctx
    arguments = [] if ctx is None else [one for one in ctx.command.get_params(ctx) if isinstance(one, click.Argument)]
    takes = " ".join(one.make_metavar(ctx) for one in arguments) if ctx is not None else ""
    if takes:
        return _(
            "“{path}” takes only {takes}; “{word}” is too many. Quote values that contain spaces; see `{path} --help`.",
            path=path, takes=takes, word=first,
        )  # fmt: skip
    return _(
        "“{path}” takes only options; “{word}” is too many. Quote values that contain spaces; see `{path} --help`.",
        path=path, word=first,
    )  # fmt: skip


def _parameter_name(parameter: click.Parameter, ctx: click.Context) -> str:
    """The parameter as it is written: the metavar of an argument, the longest name of an option."""
    if isinstance(parameter, click.Argument):
        is_choice = isinstance(parameter.type, click.Choice)
        return (parameter.name or "").upper() if is_choice else parameter.make_metavar(ctx).partition(" | ")[0]
    return max(parameter.opts, key=len)
