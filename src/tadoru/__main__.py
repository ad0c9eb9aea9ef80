"""What `python -m tadoru` and `./tadoru` run: the version at once, everything else by the command line's own room."""

from __future__ import annotations

import sys

from tadoru.version import VERSION


def main() -> None:
    """Run the command in `sys.argv`."""
    if sys.argv[1:] in (["--version"], ["-V"]) and sys.stdout is not None:
        # Answered here, because importing the command line costs more than the answer.
        sys.stdout.write(f"tadoru {VERSION}\n")
        return
    from tadoru.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
