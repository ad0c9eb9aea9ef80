"""The program that commands of tests start from: it imports what they need once, and each command is a fork of it.

A start of the command costs most of a second, nearly all of it for importing the same modules again, and the tests start it a
thousand times. Each command is still a process of its own, with its own folder, environment, streams, signals and end: only the
importing was done before. What a command imported is told when it ends, and imported here before the next one; so the first of a
kind is a cold start.

Started by `tests/support/warm.py`, which says what it asks for.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

LONGEST = 1 << 20
ALONE = ("pyarrow", "playwright", "greenlet", "wordllama")
"""Not imported before a fork: they begin threads, are bound to one, or configure the logging of the process."""

ROOMS = tuple(str(Path(folder).resolve()) for folder in sys.path if folder.endswith(("src", "site-packages")))


def main() -> None:
    """Fork a command for each request, until whoever asks is gone. The command itself returns from here, and runs."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    heard, told = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    told.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST)
    heard.setblocking(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is for the tests and for the commands.
    while True:
        message, streams, _, _ = socket.recv_fds(asked, LONGEST, 3)
        if not message:
            os._exit(0)
        learn(heard)
        request = json.loads(message)
        if child := fork(request["session"]):
            asked.sendall(b"%d" % child)
            for stream in streams:
                os.close(stream)
            continue
        asked.close()
        heard.close()
        become(request, streams)
        before = set(sys.modules)
        atexit.register(tell, told, before, os.getpid())
        return


def leave(codes: list[int]) -> None:
    """End once everything else has ended: taking apart what was imported would cost more than most commands do."""
    with contextlib.suppress(ValueError, OSError):  # Nobody reads it any more: Python itself says so, with a code of its own.
        sys.stdout.flush()
        sys.stderr.flush()
        if codes:
            os._exit(codes[0])


def fork(session: bool) -> int:
    """The command's process, or 0 inside of it. Its parent ends at once, so that it becomes a child of whoever asked. It tells
    its number itself, once it leads a session if it is to lead one: whoever knows the number may signal the whole group."""
    reading, writing = os.pipe()
    gc.freeze()
    between = os.fork()
    if not between:
        if os.fork():
            os._exit(0)
        if session:
            os.setsid()
        os.write(writing, b"%d" % os.getpid())
        os.close(reading)
        os.close(writing)
        return 0
    os.close(writing)
    os.waitpid(between, 0)
    child = int(os.read(reading, 32))
    os.close(reading)
    return child


def become(request: dict[str, Any], streams: list[int]) -> None:
    """A process like one that was started by hand."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    connector: Any = sys.modules.get("aiohttp.connector")
    if connector is not None:  # It reads at its import whom the environment trusts.
        connector._SSL_CONTEXT_VERIFIED = connector._make_ssl_context(True)
    os.chdir(request["folder"])
    sys.argv = [str(Path(importlib.import_module("tadoru").__path__[0]) / "__main__.py"), *request["arguments"]]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = text(number, "w" if number else "r", getattr(sys, name))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def text(number: int, mode: str, like: Any) -> Any:
    """A stream as Python makes it at its start: by lines for people, stderr always."""
    raw = open(number, mode + "b", closefd=False)  # noqa: SIM115 - a stream of the process
    return io.TextIOWrapper(raw, encoding=like.encoding, errors=like.errors, line_buffering=number == 2 or raw.isatty())


def tell(told: socket.socket, before: set[str], process: int) -> None:
    """Which modules a command had to import."""
    if os.getpid() == process:
        found = [name for name, module in list(sys.modules.items()) if name not in before and is_ours(name, module)]
        with contextlib.suppress(OSError):
            told.send("\n".join(found).encode())


def is_ours(name: str, module: Any) -> bool:
    origin = getattr(getattr(module, "__spec__", None), "origin", None) or ""
    return origin.startswith(ROOMS) and name.partition(".")[0] not in ALONE


def learn(heard: socket.socket) -> None:
    """Import what commands that ended had to import."""
    with contextlib.suppress(BlockingIOError):
        while names := heard.recv(LONGEST).decode():
            for name in names.split("\n"):
                with contextlib.suppress(Exception):  # A module that cannot stand alone is left to the command.
                    importlib.import_module(name)


if __name__ == "__main__":
    code: list[int] = []
    atexit.register(leave, code)  # The first to be registered is the last to be called.
    main()
    from tadoru.__main__ import main as command

    started = os.getpid()
    try:
        command()
    except SystemExit as end:
        if os.getpid() == started and isinstance(end.code, int | None):
            code.append(end.code or 0)
        raise
