"""Lets Python believe that it runs on another system: `sys.platform`, missing modules and missing functions.

A `sitecustomize` does it, so that processes which a command starts believe it too. Libraries that look at the system while being
imported are imported first: they stay those of this system.
"""

from __future__ import annotations

import os
from pathlib import Path

_POSIX_ONLY = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "uvloop")
_NOT_ON_WINDOWS = {
    "os": "chown fchmod fork forkpty getegid geteuid getgid getloadavg getpgid getuid kill killpg mkfifo nice setsid",
    "signal": "SIGALRM SIGHUP SIGKILL SIGQUIT SIGUSR1 SIGUSR2 alarm pthread_sigmask setitimer",
}
_PROGRAM = '''"""Written by tests/support/other_systems.py."""
import asyncio, concurrent.futures.thread, multiprocessing.popen_spawn_posix, multiprocessing.resource_tracker
import multiprocessing.spawn, multiprocessing.synchronize, os, platform, shutil, signal, subprocess, sys, tempfile, uuid
import aiohttp, click, numpy, psutil, rich.console, sqlalchemy

platform.uname(), uuid.getnode()
sys.platform = {system!r}
for name in {modules!r}:
    sys.modules[name] = None
for name, functions in {missing!r}.items():
    for function in functions.split():
        delattr(sys.modules[name], function)


def refuse(*_given):
    raise NotImplementedError


if {system!r} == "win32":
    for name in ("add_signal_handler", "remove_signal_handler", "add_reader", "remove_reader"):
        setattr(asyncio.SelectorEventLoop, name, refuse)
'''


def pretend(system: str, folder: Path) -> dict[str, str]:
    """The environment of a process that believes to run on `darwin` or `win32`; `folder` gets the module that does it."""
    missing = _NOT_ON_WINDOWS if system == "win32" else {}
    modules = _POSIX_ONLY if system == "win32" else ("fcntl", "uvloop")
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(_PROGRAM.format(system=system, modules=modules, missing=missing), "utf-8")
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).resolve().parents[2] / "src")])}
