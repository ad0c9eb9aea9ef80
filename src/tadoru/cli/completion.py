"""`tadoru completion bash | zsh | fish`: the script by which a shell asks us what may come next."""

from __future__ import annotations

import sys

import click

from tadoru.cli.help import GroupedCommand

SHELLS = ("bash", "zsh", "fish")


@click.command(
    cls=GroupedCommand, short_help="Let your shell complete commands, options and files.",
    examples=(
        ('eval "$(tadoru completion bash)"', "in ~/.bashrc"),
        ('eval "$(tadoru completion zsh)"', "in ~/.zshrc, after compinit"),
        ("tadoru completion fish > ~/.config/fish/completions/tadoru.fish", "once"),
    ),
)  # fmt: skip
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> int:
    """Print the script that lets a shell complete the commands of Tadoru, their options, and the values and files they take."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    root = click.get_current_context().find_root()
    assert kind is not None
    sys.stdout.write(kind(root.command, {}, "tadoru", "_TADORU_COMPLETE").source() + "\n")
    return 0
