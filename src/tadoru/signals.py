"""Which signals ask a command to stop. What a command does then is told in `jobs.launch` and `cli.main`."""

from __future__ import annotations

import signal


def stop_signals() -> tuple[signal.Signals, ...]:
    """SIGTERM, and SIGHUP (the terminal is gone) unless it is ignored, as under `nohup`. Ctrl-C is Python's own."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or signal.getsignal(hangup) is signal.SIG_IGN:
        return (signal.SIGTERM,)
    return signal.SIGTERM, hangup
