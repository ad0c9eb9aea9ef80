"""Values of options from all sources: flags, then `TADORU_*` (and LinkTadoru's `LT_*`) variables, then a file, then defaults.

A file has a `[crawl]` section for all jobs and one section per job; an unknown key is an error that names the closest one.
LinkTadoru's flat keys are accepted in `linktadoru.yml`, in a `config.yaml` without others, and in a file named with `--config`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from tadoru.config.options import JOB_SETTINGS, CrawlOptions, EventsOptions, ServeOptions, WorkerOptions
from tadoru.config.settings import Setting, SettingRole
from tadoru.errors import ConfigError, Message, UsageError, describe_unknown, without_passwords

DISCOVERED_FILES = ("tadoru.yml", "tadoru.toml", "linktadoru.yml", "linktadoru.yaml")
LINKTADORU_CONFIG = "config.yaml"
"""The name of LinkTadoru's file in its first versions. Files of other programs have it too."""
DOCS_CONFIG = "crawl.config.json"
"""The file of other documentation crawlers: flat keys in camel case, durations in milliseconds."""
_DOCS_KEYS = {
    "max_depth": "depth", "max_pages": "limit", "output_dir": "output", "out_dir": "output", "output_path": "output",
    "include_pattern": "include", "include_patterns": "include", "exclude_pattern": "exclude", "exclude_patterns": "exclude",
    "max_concurrency": "concurrency",
}  # fmt: skip
_MILLISECONDS = frozenset({"spa_wait", "timeout", "delay"})
_URL_KEYS = frozenset({"url", "start_url"})
_START_KEYS = _URL_KEYS | {"schema", "name"}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
SECTIONS = ("crawl", *JOB_SETTINGS)
_LINKTADORU_KEYS = frozenset({
    *(key for settings in JOB_SETTINGS.values() for setting in settings for key in setting.linktadoru_keys),
    "respect_robots", "allowed_schemes", "auth", "log_level", "log_console", "log_max_size", "log_max_backups",
})  # fmt: skip
"""The keys of LinkTadoru. Those for which a job has no option are ignored."""
_LINKTADORU_AUTH = {"basic": "basic", "bearer": "bearer", "api-key": "apikey"}
"""The section of each type of authentication."""

CREDENTIALS = frozenset(
    setting.name
    for job in JOB_SETTINGS.values()
    for setting in job
    if setting.role in (SettingRole.CREDENTIAL, SettingRole.CREDENTIAL_NAME)
)
"""Options that hold secrets, may hold them, or name what holds them."""

_CREDENTIAL_NAMES = frozenset(
    setting.name for job in JOB_SETTINGS.values() for setting in job if setting.role is SettingRole.CREDENTIAL_NAME
)

BROWSER_VARIABLE = "TADORU_CHROMIUM"
"""Names the browser program; not an option of a job (`fetch.browser.browser`)."""

Options = TypeVar("Options", bound=CrawlOptions | EventsOptions | ServeOptions | WorkerOptions)


@dataclass(frozen=True, slots=True)
class ResolvedConfig:
    """The values of options, and the source of each."""

    values: dict[str, Any]
    sources: dict[str, str]
    file: Path | None
    warnings: tuple[str, ...] = ()
    is_discovered: bool = False
    """Whether the file was discovered in the working folder, where anybody may have put it, and not named by the user."""

    def is_from_discovered_file(self, name: str) -> bool:
        """Whether a discovered file sets this option."""
        return self.is_discovered and self.file is not None and self.sources.get(name) == self.file.name

    def has_other_credentials(self) -> bool:
        """Whether a credential does not come from the discovered file itself; what that file only names is outside it too."""
        names = {name for name in CREDENTIALS if name in self.sources}
        return any(name in _CREDENTIAL_NAMES or not self.is_from_discovered_file(name) for name in names)


def resolve_config(
    job: str, flags: Mapping[str, Any], environ: Mapping[str, str], file: Path | None, folder: Path
) -> ResolvedConfig:
    """Combine the values of all sources. `flags` has only the options that were given, parsed."""
    settings = {setting.name: setting for setting in JOB_SETTINGS[job]}
    found = file or _discover_file(folder, job)
    layers: list[dict[str, tuple[Any, str]]] = []
    if found is not None:
        chosen = flags.get("auth_type") or environ.get("TADORU_AUTH_TYPE") or environ.get("LT_AUTH_TYPE")
        from_file, lent = _from_file(found, job, settings, environ, chosen, given=file is not None)
        layers.append({name: (value, lent.get(name, found.name)) for name, value in from_file.items()})
    layers.append(_from_environ(environ, settings))
    layers.append({name: (value, "flag") for name, value in flags.items()})
    merged: dict[str, tuple[Any, str]] = {}
    for layer in layers:
        if "scope" in layer:
            merged.pop("subdomains", None)  # Two options for the same thing: the stronger source wins.
        merged |= layer
    values = {name: value for name, (value, _) in merged.items()}
    sources = {name: source for name, (_, source) in merged.items()}
    effective = ResolvedConfig(
        values, sources, found, _unknown_variables(environ), is_discovered=found is not None and file is None
    )
    _check_discovered_file(effective, settings.values())
    return effective


def add_stored_options(effective: ResolvedConfig, job: str, stored: Mapping[str, Any], source: str) -> ResolvedConfig:
    """The same with what an earlier run of the crawl used, where no source gives a value."""
    values: dict[str, Any] = {}
    for setting in JOB_SETTINGS[job]:
        if setting.name in stored and setting.name not in effective.values:
            value = stored[setting.name]
            try:
                values[setting.name] = None if value is None else setting.convert(value)
            except UsageError:
                continue  # Another version of Tadoru understood it.
    if "scope" in effective.values:
        values.pop("subdomains", None)
    return replace(effective, values=values | effective.values, sources=dict.fromkeys(values, source) | effective.sources)


def stored_flags(effective: ResolvedConfig, job: str, source: str) -> list[str]:
    """The options that come from the crawl and differ from their defaults, as on a command line."""
    flags: list[str] = []
    for setting in JOB_SETTINGS[job]:
        value = effective.values.get(setting.name)
        if effective.sources.get(setting.name) != source or value == setting.default:
            continue
        if setting.is_flag:
            flags.append(setting.flags[0] if value else setting.negated or f"{setting.flags[0]} false")
        else:
            each = value if isinstance(value, tuple) else (value,)
            flags += [f"{setting.flags[0]} {'none' if one is None else _shown_number(one)}" for one in each]
    return flags


def _shown_number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _discover_file(folder: Path, job: str) -> Path | None:
    """The configuration in the working folder, if there is one."""
    names: tuple[str, ...] = (*DISCOVERED_FILES, DOCS_CONFIG) if job == "docs" else DISCOVERED_FILES
    for name in names:
        if (folder / name).is_file():
            return folder / name
    path = folder / LINKTADORU_CONFIG
    try:
        return path if path.is_file() and (data := _load(path)) and _LINKTADORU_KEYS.issuperset(map(str, data)) else None
    except ConfigError:
        return None  # A file of another program.


def find_start_url(file: Path | None, folder: Path) -> str | None:
    """The start URL in the configuration of another documentation crawler; None if there is none."""
    found = file or _discover_file(folder, "docs")
    if found is None or found.name != DOCS_CONFIG or not found.is_file():
        return None
    named = (value for key, value in _load(found).items() if _option_name(key) in _URL_KEYS)
    return next((value for value in named if isinstance(value, str) and value), None)


def check_discovered_url(effective: ResolvedConfig) -> None:
    """A start URL of a discovered file must not receive credentials that are not of that file."""
    if effective.is_discovered and effective.file is not None and effective.has_other_credentials():
        raise _outside_credentials(file=effective.file.name, key="url", option="URL")


def _outside_credentials(**values: str) -> ConfigError:
    return ConfigError(
        "{file} in this folder sets {key}, but credentials come from outside this file. Pass {option} on the command "
        "line, or name the file with --config.",
        **values,
    )


def _check_discovered_file(effective: ResolvedConfig, settings: Iterable[Setting]) -> None:
    """A discovered file must not decide where credentials are sent that are not its own."""
    for setting in settings:
        if not effective.is_from_discovered_file(setting.name):
            continue
        is_server = setting.role is SettingRole.STORAGE and "://" in effective.values[setting.name]
        if is_server or (setting.role is SettingRole.DESTINATION and effective.has_other_credentials()):
            assert effective.file is not None
            values = {"file": effective.file.name, "key": setting.name, "option": setting.flags[0]}
            if is_server:
                raise ConfigError(
                    "{file} in this folder sets {key}, and that server would receive credentials of the environment. Pass "
                    "{option} on the command line, or name the file with --config.",
                    **values,
                )
            raise _outside_credentials(**values)


def describe_options(options: Options, effective: ResolvedConfig, job: str) -> dict[str, dict[str, Any]]:
    """All options with their value, secrets hidden, and their source, for `--show-config`."""
    return {
        name: {"value": value, "source": effective.sources.get(name, "default")}
        for name, value in shown_values(options, job).items()
    }


def shown_values(options: Options, job: str) -> dict[str, Any]:
    """All options with their value, secrets hidden, as they are stored with a crawl."""
    secret = {setting.name for setting in JOB_SETTINGS[job] if setting.secret}
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: "***" if name in secret and value else _without_passwords(value) for name, value in values.items()}


def _without_passwords(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_without_passwords(one) for one in value]
    return without_passwords(value) if isinstance(value, str) else value


def _parse_value(setting: Setting, value: Any, where: str) -> Any:
    try:
        if setting.name == "header" and isinstance(value, Mapping):  # Headers may be written as keys and values.
            value = [f"{name}: {content}" for name, content in value.items()]
        return setting.convert(value)
    except UsageError as error:
        raise ConfigError("{option} {problem}.", option=where, problem=error) from None


def _from_environ(environ: Mapping[str, str], settings: Mapping[str, Setting]) -> dict[str, tuple[Any, str]]:
    found = {}
    for setting in settings.values():
        ours, theirs = f"TADORU_{setting.name.upper()}", [f"LT_{key.upper()}" for key in setting.linktadoru_keys]
        variable = ours if ours in environ else next((name for name in theirs if name in environ), "")
        if variable and environ.get(variable):
            raw = environ[variable]
            # One per line: a comma may be part of a regular expression or of a header.
            value: Any = [line for line in raw.splitlines() if line.strip()] if setting.many else raw
            parse = _parse_value if variable == ours else _parse_linktadoru_value
            found[setting.name] = (parse(setting, value, variable), variable)
    headers = [
        f"{name.removeprefix('LT_HEADER_').replace('_', '-').title()}: {value}"
        for name, value in sorted(environ.items())
        if name.startswith("LT_HEADER_") and value
    ]
    if headers and "header" in settings and "header" not in found:
        found["header"] = (tuple(headers), "LT_HEADER_*")
    return found


def _unknown_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Warnings about unknown `TADORU_*` variables: a misspelt one would be ignored silently."""
    every = {f"TADORU_{setting.name.upper()}" for group in JOB_SETTINGS.values() for setting in group} | {BROWSER_VARIABLE}
    return tuple(
        describe_unknown(Message("Unknown variable {name}", name=name), name, every)
        for name in sorted(environ)
        if name.startswith("TADORU_") and name not in every
    )


def _from_file(
    path: Path, job: str, settings: Mapping[str, Setting], environ: Mapping[str, str], auth_type: str | None, *, given: bool
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values, and the variables that the file reads some of them from; `auth_type` is that of a stronger source."""
    data = _load(path)
    is_other = path.name == DOCS_CONFIG
    is_theirs = path.stem == "linktadoru" or (path.name == LINKTADORU_CONFIG and not given)
    if is_theirs or (given and data and not is_other and not any(name in SECTIONS for name in data)):
        return _from_linktadoru(path, data, settings, environ, auth_type)
    if path.name == DOCS_CONFIG and job == "docs":
        return _from_docs_config(path, data, settings), {}
    values: dict[str, Any] = {}
    for section, content in data.items():
        if section not in SECTIONS:
            raise ConfigError(
                describe_unknown(Message("{file}: unknown section “{section}”", file=path, section=section), section, SECTIONS)
            )
        if content is not None and not isinstance(content, Mapping):
            raise ConfigError("{file}: the section “{section}” must contain keys and values.", file=path, section=section)
    shared = CrawlOptions.__dataclass_fields__
    for section in ("crawl", job):
        for key, value in (data.get(section) or {}).items():
            name = _option_name(key)
            if name not in settings and section == "crawl" and name in shared:
                continue  # For the jobs that have it.
            if name not in settings:
                unknown = Message("{file}: unknown key “{key}” in [{section}]", file=path, key=key, section=section)
                raise ConfigError(describe_unknown(unknown, name, settings))
            values[name] = _parse_value(settings[name], value, f"{path}: {section}.{key}")
    return values, {}


def _option_name(key: Any) -> str:
    """The name of the option that a key stands for: `chunk-tokens` and `chunkTokens` are `chunk_tokens`."""
    return _CAMEL.sub("_", str(key)).lower().replace("-", "_").lstrip("$")


def _from_docs_config(path: Path, data: Mapping[str, Any], settings: Mapping[str, Setting]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in data.items():
        name = _DOCS_KEYS.get(_option_name(key), _option_name(key))
        if value is None or (name in _START_KEYS and name not in settings):
            continue
        where = f"{path}: {key}"
        if name == "respect_robots":
            values["ignore_robots"] = not _parse_value(settings["ignore_robots"], value, where)
        elif name not in settings:
            raise ConfigError(describe_unknown(Message("{file}: unknown key “{key}”", file=path, key=key), name, settings))
        else:
            is_number = name in _MILLISECONDS and isinstance(value, (int, float)) and not isinstance(value, bool)
            values[name] = _parse_value(settings[name], f"{value}ms" if is_number else value, where)
    return values


def _from_linktadoru(
    path: Path, data: Mapping[str, Any], settings: Mapping[str, Setting], environ: Mapping[str, str], auth_type: str | None
) -> tuple[dict[str, Any], dict[str, str]]:
    by_key = {key: setting for setting in settings.values() for key in setting.linktadoru_keys}
    flat = {str(key): value for key, value in data.items()}
    flat |= _linktadoru_auth(flat, auth_type)
    values: dict[str, Any] = {}
    lent: dict[str, str] = {}
    for key, value in flat.items():
        if value is None or value == "":
            continue  # As if the key were not there.
        if key.startswith("auth_") and key.endswith("_env") and key[:-4] in by_key:
            setting, variable = by_key[key[:-4]], str(value)
            if not environ.get(variable):
                raise ConfigError(
                    "{file}: {key} names the variable {variable}, which is not set.", file=path, key=key, variable=variable
                )
            values[setting.name], lent[setting.name] = _parse_value(setting, environ[variable], variable), variable
        elif key in by_key:
            values[by_key[key].name] = _parse_linktadoru_value(by_key[key], value, f"{path}: {key}")
        elif key == "respect_robots" and "ignore_robots" in settings:
            values["ignore_robots"] = not _parse_value(settings["ignore_robots"], value, f"{path}: {key}")
        elif key not in _LINKTADORU_KEYS:
            unknown = Message("{file}: unknown key “{key}”", file=path, key=key)
            raise ConfigError(describe_unknown(unknown, key, _LINKTADORU_KEYS))
    if (schemes := flat.get("allowed_schemes")) and "exclude" in settings:
        values["exclude"] = (*values.get("exclude", ()), *_excluded_schemes(schemes, f"{path}: allowed_schemes"))
    return values, lent


def _linktadoru_auth(flat: Mapping[str, Any], auth_type: str | None) -> dict[str, Any]:
    """The keys of the section `auth` as `auth_basic_username` and so on; only those of the type that is chosen."""
    auth = flat.get("auth")
    if not isinstance(auth, Mapping):
        return {}
    kind = auth_type or auth.get("type") or flat.get("auth_type") or ""
    section = _LINKTADORU_AUTH.get(str(kind), str(kind))
    chosen = auth.get(section)
    keys = {f"auth_{section}_{key}": value for key, value in chosen.items()} if isinstance(chosen, Mapping) else {}
    return {"auth_type": kind, **keys}


def _excluded_schemes(value: Any, where: str) -> list[str]:
    """The patterns that exclude what is not among the allowed schemes, which are `https://` and `http://`."""
    allowed = {str(scheme).partition(":")[0].lower() for scheme in (value if isinstance(value, list) else [value])}
    if not allowed & {"http", "https"}:
        raise ConfigError("{option} must contain https:// or http://.", option=where)
    return [f"^{scheme}://" for scheme in ("http", "https") if scheme not in allowed]


def _parse_linktadoru_value(setting: Setting, value: Any, where: str) -> Any:
    """The value of an option from LinkTadoru's file or environment, where a depth of 0 is no limit."""
    parsed = _parse_value(setting, value, where)
    return None if setting.name == "depth" and parsed == 0 else parsed


def _load(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else Message("not UTF-8 text")
        raise ConfigError("Cannot read the configuration {file} ({reason}). Check --config.", file=path, reason=reason) from None
    data: Any
    if path.suffix == ".toml":
        import tomllib

        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError("{file} is not valid TOML: {error}.", file=path, error=error) from None
    elif path.suffix == ".json":
        try:
            data = json.loads(text)
        except ValueError:
            raise ConfigError("{file} is not valid JSON. Check its commas and quotation marks.", file=path) from None
    else:
        import yaml

        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            # Without the message of the library: it quotes the line, which may contain a password.
            mark = getattr(error, "problem_mark", None)
            if mark is None:
                raise ConfigError("{file} is not valid YAML.", file=path) from None
            raise ConfigError(
                "{file} is not valid YAML. Fix line {line}, column {column}.",
                file=path,
                line=mark.line + 1,
                column=mark.column + 1,
            ) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError("{file} must contain keys and values.", file=path)
    return data
