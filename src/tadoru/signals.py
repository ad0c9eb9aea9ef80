"""What a process asks of the system: the signals that stop it (handled in `jobs.launch` and `cli.main`), and its priority."""

from __future__ import annotations

import os
import signal


def stop_signals() -> tuple[signal.Signals, ...]:
    """SIGTERM, and SIGHUP (terminal closed) unless it is ignored, as under `nohup`. Python itself handles Ctrl-C."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or signal.getsignal(hangup) is signal.SIG_IGN:
        return (signal.SIGTERM,)
    return signal.SIGTERM, hangup


def yield_cores() -> None:
    """Let the process that started this one run first when there are too few cores: it may have users to respond to."""
    if hasattr(os, "nice"):
        os.nice(5)
