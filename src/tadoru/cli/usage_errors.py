"""What to say when a command was typed wrongly: what is wrong, and what to do, with the likely word where there is one.

click finds the mistakes; its own words for them are a programmer's.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

import click

from tadoru.errors import UsageError
from tadoru.extras import PACKAGES, not_installed, repair_instructions

URL_COMMANDS = (("map its links", "links"), ("find its problems", "audit"), ("read its documentation", "docs"))
"""What can be done with the address of a site."""
_NUMBERS = {click.types.IntParamType: "a whole number", click.types.FloatParamType: "a number"}


def format_usage_error(error: click.ClickException) -> str:
    """The mistake in our words."""
    match error:
        case click.NoSuchOption():
            return _no_such_option(error)
        case click.MissingParameter():
            return _missing(error)
        case click.BadParameter():
            return _bad_value(error)
        case click.BadOptionUsage():
            return _bad_option_use(error)
        case click.UsageError() if error.message.startswith("Got unexpected extra"):
            return _too_many(error)
        case click.UsageError() if error.message.startswith("Missing command"):
            return f"“{_path(error)}” needs a command: `{_path(error)} --help` lists them."
    return error.format_message()


def no_such_command(path: str, name: str, known: Iterable[str]) -> UsageError:
    """A word that is no command of the group at this path."""
    near = closest_match(name, known)
    if near:
        return UsageError(f"There is no command “{path} {name}”; did you mean “{path} {near}”?")
    return UsageError(f"There is no command “{path} {name}”; `{path} --help` lists them.")


def nested_command(name: str, groups: Sequence[str]) -> UsageError:
    """A command that stands below another one."""
    meant = " or ".join(f"“tadoru {group} {name}”" for group in groups)
    return UsageError(f"There is no command “tadoru {name}”; did you mean {meant}?")


def missing_package(error: ModuleNotFoundError) -> tuple[str, int]:
    """A package that an option needs and that is not installed, and the exit code."""
    name = (error.name or "").partition(".")[0]
    if name not in PACKAGES:
        return f"Tadoru is not whole ({error}): {repair_instructions()}.", 1
    extra, purpose = PACKAGES[name]
    return not_installed(purpose, extra), UsageError.exit_code


def url_without_command(address: str) -> UsageError:
    """The address of a site where a command should be."""
    ways = ", ".join(f"`tadoru {command} {address}` to {what}" for what, command in URL_COMMANDS)
    return UsageError(f"Say what to do with {address}: {ways}.")


def closest_match(word: str, known: Iterable[str]) -> str | None:
    """The word that was likely meant, if there is one."""
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
        return f"There is no option {name}."
    above = next((one for one in _parents(ctx) if name in _names(one.command.get_params(one))), None)
    if above is not None and ctx.info_name:
        child = ctx.command_path.removeprefix(above.command_path).split()[0]
        return f"{name} stands before “{child}”: {above.command_path} {name} … {child}."
    near = _closest_option(name, ctx)
    if near:
        return f"“{ctx.command_path}” has no option {name}; did you mean {near}?"
    if isinstance(ctx.command, click.Group) and ctx.parent is None:
        return f"“tadoru” itself has no option {name}: options stand after the command, as in `tadoru links URL --depth 2`."
    return f"“{ctx.command_path}” has no option {name}; `{ctx.command_path} --help-all` lists them."


def _closest_option(name: str, ctx: click.Context) -> str | None:
    """A visible option where one is as near as another that is not shown; `-depth` is likely `--depth`."""
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
        return f"“{path}” needs something more: see `{path} --help`."
    what = _parameter_name(parameter, error.ctx)
    if isinstance(parameter.type, click.Choice):
        what += f" ({', '.join(map(str, parameter.type.choices))})"
    examples = getattr(error.ctx.command, "examples", ())
    return f"“{path}” needs {what}: " + (f"for example `{examples[0][0]}`." if examples else f"see `{path} --help`.")


def _bad_value(error: click.BadParameter) -> str:
    parameter, path = error.param, _path(error)
    if parameter is None or error.ctx is None:
        return f"{error.message.rstrip('.')}: see `{path} --help`."
    what, kind = _parameter_name(parameter, error.ctx), parameter.type
    if isinstance(kind, click.Choice):
        return f"{what} must be one of {', '.join(map(str, kind.choices))}."
    for number, words in _NUMBERS.items():
        if isinstance(kind, number):
            return f"{what} must be {words}{_bounds(kind)}."
    return f"{what} can not be used ({error.message.rstrip('.')}): see `{path} --help`."


def _bounds(kind: click.ParamType[object]) -> str:
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    return (f" from {least:,}" if least is not None else "") + (f" to {most:,}" if most is not None else "")


def _bad_option_use(error: click.BadOptionUsage) -> str:
    ctx, name = error.ctx, error.option_name
    if "does not take a value" in error.message:
        return f"{name} is on or off and takes no value: write {name} alone."
    option = None if ctx is None else next((one for one in ctx.command.get_params(ctx) if name in one.opts), None)
    shape = "VALUE" if option is None or ctx is None else option.make_metavar(ctx)
    return f"{name} needs a value: {name} {shape}."


def _too_many(error: click.UsageError) -> str:
    # Only the first of them is repeated: a value that was not quoted may be followed by a secret.
    first = error.message.partition("(")[2].rstrip(")").split(" ")[0]
    path, ctx = _path(error), error.ctx
    arguments = [] if ctx is None else [one for one in ctx.command.get_params(ctx) if isinstance(one, click.Argument)]
    takes = " ".join(one.make_metavar(ctx) for one in arguments) if ctx is not None else ""
    wants = f"takes only {takes}" if takes else "takes options only"
    return f"“{path}” {wants}, and “{first}” is more than that: a value with spaces stands in quotes; see `{path} --help`."


def _parameter_name(parameter: click.Parameter, ctx: click.Context) -> str:
    """The parameter as a person would name it."""
    if isinstance(parameter, click.Argument):
        is_choice = isinstance(parameter.type, click.Choice)
        return (parameter.name or "").upper() if is_choice else parameter.make_metavar(ctx).partition(" | ")[0]
    return max(parameter.opts, key=len)
