"""Runs `python -m tadoru` and `./tadoru`: prints the version directly, and passes everything else to `tadoru.cli.main`."""

from __future__ import annotations

import sys

from tadoru.version import VERSION


def main() -> None:
    """Run the command in `sys.argv`."""
    if sys.argv[1:] in (["--version"], ["-V"]) and sys.stdout is not None:
        # Handled here, because importing the command line takes longer than printing it.
        sys.stdout.write(f"tadoru {VERSION}\n")
        return
    from tadoru.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
