"""The signals that stop a command. They are handled in `jobs.launch` and `cli.main`."""

from __future__ import annotations

import signal


def stop_signals() -> tuple[signal.Signals, ...]:
    """SIGTERM, and SIGHUP (terminal closed) unless it is ignored, as under `nohup`. Python itself handles Ctrl-C."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or signal.getsignal(hangup) is signal.SIG_IGN:
        return (signal.SIGTERM,)
    return signal.SIGTERM, hangup
