"""Commands that start in a tenth of the time, because a process that has imported everything forks them (`warm_start.py`).

What only a fresh interpreter can show is started as one: another locale or path of modules, and options of the process that take
effect between a fork and an exec.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.support import warm_start

_SET_CHILD_SUBREAPER = 36
_READ_AT_START = ("PYTHON", "LC_", "LD_", "SSL_")
_READ_AT_START_TOO = ("LANG", "LANGUAGE")
_UNDERSTOOD = {"stdin", "stdout", "stderr", "encoding", "start_new_session"}


def start(arguments: Sequence[str], env: Mapping[str, str], folder: Path, **options: Any) -> subprocess.Popen[str]:
    """`tadoru` with these arguments, as a process of its own and a child of this one."""
    if sys.platform == "linux" and set(options) <= _UNDERSTOOD and _at_start(env) == (server := _server()).read_at_start:
        return _Forked([*arguments], env=dict(env), cwd=folder, server=server, **options)
    return subprocess.Popen([sys.executable, "-P", "-m", "tadoru", *arguments], env=dict(env), cwd=folder, **options)


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    """What the interpreter, a library or the C library reads once, when it is loaded."""
    return {name: value for name, value in env.items() if name.startswith(_READ_AT_START) or name in _READ_AT_START_TOO}


class _Server:
    """The process that forks, started with the first command of a test process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket, self._lock = ours, threading.Lock()
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent.parent / "src")}
        self.read_at_start = _at_start(env)
        command = [sys.executable, "-P", warm_start.__file__, str(theirs.fileno())]
        self._process = subprocess.Popen(command, env=env, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        atexit.register(self.stop)

    def fork(self, request: Mapping[str, object], streams: Sequence[int]) -> int:
        """The number of a process that runs the command, and is our child."""
        libc = ctypes.CDLL(None, use_errno=True)
        with self._lock:
            # Only for this moment: what else is orphaned meanwhile would wait for us, and look alive.
            libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            try:
                socket.send_fds(self._socket, [json.dumps(request).encode()], streams)
                return int(self._socket.recv(32))
            finally:
                libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def stop(self) -> None:
        self._socket.close()
        self._process.wait()


_server = cache(_Server)


class _Forked(subprocess.Popen[str]):
    """A process like any other that was started; only how it comes to be is another."""

    def __init__(self, arguments: list[str], *, server: _Server, **options: Any) -> None:
        self._server = server
        super().__init__(arguments, **options)

    def _execute_child(  # type: ignore[override,unused-ignore]
        self, args: list[str], executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any, cwd: Path, env: dict[str, str],
        startupinfo: Any, creationflags: Any, shell: Any, p2cread: int, p2cwrite: int, c2pread: int, c2pwrite: int, errread: int,
        errwrite: int, restore_signals: Any, gid: Any, gids: Any, uid: Any, umask: Any, start_new_session: bool, *more: Any,
    ) -> None:  # fmt: skip
        given = [p2cread, c2pwrite, errwrite]
        request = {"arguments": args, "env": env, "folder": str(cwd), "session": start_new_session}
        try:
            self.pid = self._server.fork(request, [own if own != -1 else number for number, own in enumerate(given)])
            self._child_created = True
        finally:
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]
