"""Times every regular expression of a package on inputs made to be hard for it; prints those that are not linear.

Run by an interpreter of its own: an expression that backtracks cannot be interrupted, so that it is tried in a forked process
which a timer of CPU time ends. Expressions that a module compiles when it is imported are recorded then; those that stand in the
arguments of `re.search` and the like are read from the source. The inputs are made of the expression itself: what it begins with,
then what it repeats, and an end that it does not want.

An expression whose digest is among the known ones was tried before, and is not tried again.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import json
import mmap
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from re import _constants as ops  # The inputs have to follow the structure, which nothing public describes.
from re import _parser
from typing import Any

SHORT, LONG, FULL = 4_000, 16_000, 100_000
NOTICED = 0.002
"""Seconds for SHORT from which on growth is measured; a linear expression takes a tenth of it."""
GROWTH = 8.0
"""From SHORT to LONG: linear is 4, quadratic is 16."""
BUDGET = 1.5
"""Seconds for FULL, and a share of it for less: the slowest linear ones take a tenth, the fastest quadratic ones 2.7."""
LEAST = 0.25
KILLED_AFTER = 4.0
"""Seconds for one input."""
WHOLE = frozenset({"match", "fullmatch"})
"""Methods that begin at one place only."""
METHODS = WHOLE | {"search", "sub", "subn", "findall", "finditer"}
COMMON = " \na0-<\"'/.,:*|`\\([{=\t"


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression, where it stands, and how it is used."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]

    def digest(self, most: int) -> str:
        """What the result of its trial depends on: the expression, its use, the longest text, how it is tried, and Python."""
        how = [repr(self.pattern.pattern), self.pattern.flags, *sorted(self.methods), most, sys.version_info[:2], _limits()]
        return sha256(f"{how}{_way_of_trying()}".encode()).hexdigest()[:16]


def _limits() -> tuple[object, ...]:
    return SHORT, LONG, FULL, NOTICED, GROWTH, BUDGET, LEAST, KILLED_AFTER, COMMON


@cache
def _way_of_trying() -> str:
    return inspect.getsource(inputs) + inspect.getsource(slow)


# --------------------------------------------------------------------------------------------------------- finding them
def expressions(source: Path, varying: list[str]) -> list[Expression]:
    """All of a tree of modules; `varying` gets the functions whose expressions are made when they are called."""
    compiled: dict[tuple[str, int], re.Pattern[Any]] = {}
    original = re.compile

    def recorded(pattern: Any, flags: Any = 0) -> re.Pattern[Any]:
        made = original(pattern, flags)
        frame = inspect.currentframe()
        caller = frame.f_back if frame else None
        while caller and caller.f_code.co_name in {"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>"}:
            caller = caller.f_back
        if caller:
            compiled[caller.f_code.co_filename, id(made)] = made
        return made

    files = {named(file, source): file for file in sorted(source.rglob("*.py"))}
    re.compile = recorded  # type: ignore[assignment]
    try:
        modules = {name: importlib.import_module(name) for name in sorted(files) if not name.endswith("__main__")}
    finally:
        re.compile = original
    trees = {name: ast.parse(file.read_bytes()) for name, file in files.items()}
    names = {
        (str(files[module]), id(value)): (module, name)
        for module in modules
        for name, value in vars(modules[module]).items()
        if isinstance(value, re.Pattern)
    }
    found = {}
    for (file, _), pattern in compiled.items():
        if Path(file).is_relative_to(source):
            module, name = names.get((file, id(pattern)), ("", ""))
            place = f"{Path(file).relative_to(source)}:{name or repr(pattern.pattern[:60])}"
            readers = [tree for at, tree in trees.items() if str(files[at]) == file or (name and not name.startswith("_"))]
            methods = used(readers, name, {other for at, other in names.values() if at == module})
            found[file, pattern] = Expression(place, pattern, methods)
    inline = (written(trees[name], files[name].relative_to(source), vars(module), varying) for name, module in modules.items())
    return [*found.values(), *itertools.chain.from_iterable(inline)]


@cache
def names_of(tree: ast.Module) -> tuple[dict[ast.Name, str], dict[str, list[ast.Name]]]:
    """The attributes that are read of names, and where each name is read."""
    nodes = list(ast.walk(tree))
    called = {node.value: node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)}
    loaded: dict[str, list[ast.Name]] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loaded.setdefault(node.id, []).append(node)
    return called, loaded


def used(trees: list[ast.Module], name: str, others: set[str]) -> frozenset[str]:
    """The methods that are called on a name, or on what has no name when it is handed on or has none itself."""
    methods: set[str] = set()
    for tree in trees:
        called, loaded = names_of(tree)
        loads = loaded.get(name, [])
        methods |= {called[node] for node in loads if node in called}
        if not name or any(node not in called for node in loads):
            handed = {method for node, method in called.items() if node.id not in others | {"re"} and method in METHODS}
            methods |= handed or {"search"}
    return frozenset(methods & METHODS or {"search"})


def written(tree: ast.Module, file: Path, names: dict[str, Any], varying: list[str]) -> Iterator[Expression]:
    """The expressions that stand in the arguments of functions of `re`, inside the functions of a module."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    seen = set()
    for function in functions:
        for node in ast.walk(function):
            if not (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
            ):
                continue
            if node.func.value.id != "re" or node.func.attr in {"escape", "purge"} or node in seen:
                continue
            seen.add(node)
            flags = [word.value for word in node.keywords if word.arg == "flags"]
            named_flags = (one for one in node.args[1:] if isinstance(one, ast.Attribute | ast.BinOp))
            flags = flags or [one for one in named_flags if ast.unparse(one).startswith("re.")]
            try:
                pattern, *flag = (eval(compile(ast.Expression(one), file, "eval"), names) for one in (node.args[0], *flags))
                made = re.compile(pattern, *flag)
            except (NameError, TypeError):
                varying.append(f"{file}:{function.name}")
            else:
                yield Expression(f"{file}:{node.lineno}", made, frozenset({node.func.attr}))


# --------------------------------------------------------------------------------------------------- inputs that are hard
def inputs(pattern: re.Pattern[Any]) -> dict[str, Callable[[int], str]]:
    """What is tried: by a short description, a text of about so many characters."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    signs = alphabet(tree)
    pieces: dict[tuple[str, str], None] = dict.fromkeys(("", sign) for sign in signs)
    pieces.update(dict.fromkeys(("", a + b) for a, b in itertools.permutations(signs[:9], 2)))
    for before, body in itertools.chain(repeats(tree, "", signs, full=False), repeats(tree, "", signs, full=True)):
        for pump in pumps(body, signs):
            pieces.update(dict.fromkeys([(before, pump), ("", before + pump), (signs[0], pump)]))
    for start in beginnings(tree, signs):
        pieces["", start] = None
    made: dict[str, Callable[[int], str]] = {}
    for before, pump in pieces:
        if pump:
            made[f"{before!r} + {pump!r} * n"] = lambda size, before=before, pump=pump: before + pump * (size // len(pump))
            ended = made[f"{before!r} + {pump!r} * n"]
            made[f"{before!r} + {pump!r} * n + '\\0'"] = lambda size, ended=ended: ended(size) + "\0"
    for sign in signs[:8]:
        made[f"growing runs of {sign!r}"] = lambda size, sign=sign: ".".join(sign * n for n in range(1, int((2 * size) ** 0.5)))
    return made


def alphabet(tree: Any) -> list[str]:
    """Characters that matter to it, those that it names first."""
    named: dict[str, None] = {}

    def walk(node: Any) -> None:
        for op, arg in node:
            if op in (ops.LITERAL, ops.NOT_LITERAL):
                named[chr(arg)] = None
            elif op is ops.IN:
                for kind, value in arg:
                    if kind is ops.LITERAL:
                        named[chr(value)] = None
                    elif kind is ops.RANGE:
                        named[chr(value[0])] = None
            for child in children(op, arg):
                walk(child)

    walk(tree)
    literals = list(named)
    picked = literals if len(literals) <= 24 else literals[:16] + literals[16 :: max(1, len(literals) // 8)][:8]
    return list(dict.fromkeys([*picked, *COMMON]))


def children(op: Any, arg: Any) -> list[Any]:
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        return [arg[2]]
    if op is ops.SUBPATTERN:
        return [arg[3]]
    if op is ops.ATOMIC_GROUP:
        return [arg]
    if op is ops.BRANCH:
        return list(arg[1])
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        return [arg[1]]
    if op is ops.GROUPREF_EXISTS:
        return [part for part in arg[1:] if part is not None]
    return []


def is_in(kinds: Any, sign: str) -> bool:
    """Whether a set of the tree holds a character."""
    negated = kinds[0][0] is ops.NEGATE
    checks = {
        ops.CATEGORY_DIGIT: sign.isdigit(), ops.CATEGORY_NOT_DIGIT: not sign.isdigit(),
        ops.CATEGORY_SPACE: sign.isspace(), ops.CATEGORY_NOT_SPACE: not sign.isspace(),
        ops.CATEGORY_WORD: sign.isalnum() or sign == "_", ops.CATEGORY_NOT_WORD: not (sign.isalnum() or sign == "_"),
    }  # fmt: skip
    held = any(
        (kind is ops.LITERAL and value == ord(sign))
        or (kind is ops.RANGE and value[0] <= ord(sign) <= value[1])
        or (kind is ops.CATEGORY and checks[value])
        for kind, value in kinds
    )
    return held != negated


def fitting(op: Any, arg: Any, signs: list[str]) -> list[str]:
    """Characters that one place of the expression takes."""
    if op is ops.LITERAL:
        return [chr(arg)]
    if op is ops.NOT_LITERAL:
        return [sign for sign in signs if ord(sign) != arg]
    if op is ops.ANY:
        return [sign for sign in signs if sign != "\n"]
    return [sign for sign in signs if is_in(arg, sign)]


def sample(tree: Any, signs: list[str], *, full: bool = False, branch: int = 0) -> str:
    """A text that it matches, mostly: with what is optional when `full`, of the alternatives the one of that number."""
    text, groups = "", {}
    for op, arg in tree:
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            text += (fitting(op, arg, signs) or [""])[0]
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            text += sample(arg[2], signs, full=full, branch=branch) * max(min(arg[0], 40), 1 if full else 0)
        elif op is ops.SUBPATTERN:
            groups[arg[0]] = sample(arg[3], signs, full=full, branch=branch)
            text += groups[arg[0]]
        elif op is ops.ATOMIC_GROUP:
            text += sample(arg, signs, full=full, branch=branch)
        elif op is ops.BRANCH:
            text += sample(arg[1][branch % len(arg[1])], signs, full=full, branch=branch)
        elif op is ops.GROUPREF:
            text += groups.get(arg, "")
    return text


def repeats(tree: Any, before: str, signs: list[str], full: bool) -> Iterator[tuple[str, Any]]:
    """What is repeated without a small bound, and a text that leads to it."""
    for op, arg in tree:
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT) and arg[1] > 16:
            yield before, arg[2]
        for child in children(op, arg):
            yield from repeats(child, before, signs, full)
        before += sample([(op, arg)], signs, full=full)


def pumps(body: Any, signs: list[str]) -> list[str]:
    """Texts that a repeated part takes."""
    if len(body) == 1 and body[0][0] in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
        return fitting(*body[0], signs)[:8]
    return list(dict.fromkeys(sample(body, signs, full=full, branch=branch) for full in (False, True) for branch in range(3)))


def beginnings(tree: Any, signs: list[str]) -> list[str]:
    """Texts that it would match if they went on."""
    found: dict[str, None] = {}
    for full, branch in itertools.product((False, True), range(3)):
        text = ""
        for op, arg in tree:
            text += sample([(op, arg)], signs, full=full, branch=branch)
            found[text] = None
    return list(found)


# -------------------------------------------------------------------------------------------------------- timing them
def run(expression: Expression, text: str) -> float:
    """Seconds of CPU time for the slowest way in which it is used."""
    subject: Any = text.encode("utf-8", "replace") if isinstance(expression.pattern.pattern, bytes) else text
    slowest = 0.0
    for method in {method if method in WHOLE else "finditer" for method in expression.methods}:
        begun = time.process_time()
        if method in WHOLE:
            getattr(expression.pattern, method)(subject)
        else:
            for _ in expression.pattern.finditer(subject):
                pass
        slowest = max(slowest, time.process_time() - begun)
    return slowest


def slow(expression: Expression, most: int, announce: Callable[[str], None]) -> str | None:
    """The input on which it is slower than linear."""
    taken: list[tuple[float, str, Callable[[int], str]]] = []
    for name, text in inputs(expression.pattern).items():
        announce(name)
        seconds = run(expression, text(min(SHORT, most)))
        if seconds > NOTICED and most >= LONG:
            longer = run(expression, text(LONG))
            if longer > GROWTH * seconds and longer * (FULL / LONG) ** 2 > KILLED_AFTER:
                return f"{name}: {seconds:.4f} s for {SHORT}, {longer:.4f} s for {LONG}"
            seconds = max(seconds, longer * SHORT / LONG)
        taken.append((seconds, name, text))
    budget = max(BUDGET * most / FULL, LEAST)
    for _, name, text in sorted(taken, key=lambda one: -one[0])[:3]:
        announce(name)
        if (seconds := run(expression, text(most))) > budget:
            return f"{name}: {seconds:.3f} s for {most}"
    return None


def tried(found: list[tuple[Expression, int]]) -> Iterator[str]:
    """The slow ones, each with its input; a process that had to be ended is followed by one that continues behind it."""
    now = mmap.mmap(-1, 10_000)  # What the process is at: shared with it, so that it is known when it is ended.
    at = 0
    while at < len(found):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "w") as told:
                for number in range(at, len(found)):

                    def announce(name: str, number: int = number) -> None:
                        signal.setitimer(signal.ITIMER_PROF, KILLED_AFTER)
                        now.seek(0)
                        now.write(f"{number} {ascii(name)[:5_000]}\n".encode())

                    expression, most = found[number]
                    if problem := slow(expression, most, announce):
                        print(f"{expression.place}: {problem}", file=told, flush=True)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as told:
            yield from (line.rstrip("\n") for line in told)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return
        number, name = now[:].decode().partition("\n")[0].split(" ", 1)
        yield f"{found[int(number)][0].place}: {name}: ended after {KILLED_AFTER:g} s"
        at = int(number) + 1


def named(file: Path, source: Path) -> str:
    return ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def main() -> None:
    source, bounds, known = Path(sys.argv[1]).resolve(), json.loads(sys.argv[2]), frozenset(sys.stdin.read().split())
    varying: list[str] = []
    found = [
        (one, next((size for place, size in bounds.items() if one.place.startswith(place)), FULL))
        for one in expressions(source, varying)
    ]
    digests = [one.digest(most) for one, most in found]
    new = [one for one, digest in zip(found, digests, strict=True) if digest not in known]
    print(json.dumps({"varying": varying, "digests": sorted({*digests}), "slow": list(tried(new))}))


if __name__ == "__main__":
    main()
